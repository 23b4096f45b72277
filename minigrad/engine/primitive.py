"""A primitive is one forward function with one line of NumPy for the derivative of each argument.

    tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))

A rule is a vector-Jacobian product: it computes the cotangent of one input from ``g``, the cotangent of the output. The
names of its parameters tell the tape which values to keep. They may be ``ans`` (the output), an array argument of the
primitive, ``<argument>_shape``, or a keyword of the primitive such as ``axis``. The engine reads these names once, when the
rule is declared.

The same rule runs on NumPy arrays, on arrays of another library, and on Tensors. A first-order backward pass calls it with
raw arrays, and ``create_graph=True`` calls it with Tensors, so second and higher orders need no further code. Rules do not
un-broadcast, cast or take real parts: ``fitting.fit`` does that for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError
from . import observers
from .arrays import NUMBERS, SCALARS, operand, owned_keywords
from .functions import Bound
from .kernels import Kernel, choose
from .messages import explained
from .modes import recording
from .observers import open_contexts
from .plan import Plan
from .registry import ByReference, operators, primitives, registry, when_declared
from .signatures import arrays_of, check_names, check_order, check_rule, parameters_of
from .tape import NO_KEYWORDS, Entry
from .tensor import Tensor, as_arrays, first_floating, make_tensor, outputs
from .types import Rule

ndarray = np.ndarray


class Primitive(ByReference, Bound):
    """An operation that the tape records. Use :func:`primitive` to make one.

    It is pickled by its name (``ByReference``), and ``bind`` splits a call into arrays and keywords (``Bound``).

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.relu, mg.relu.arguments
        (<primitive relu>, ('x',))
        >>> rule = mg.relu.rules["x"]  # computes the cotangent of x from g
        >>> rule(g=np.array([10.0, 10.0]), ans=np.array([0.0, 2.0]))
        array([ 0., 10.])
    """

    def __init__(self, function: Callable[..., Any], name: str, replaced: Iterable[Any], bind: Any) -> None:
        first = [*replaced, function][0]
        self.compute = function
        self.function = first if isinstance(first, np.ufunc) else function  # whose signature counts
        self.name = self.__name__ = self.__qualname__ = name
        self.arguments = ()
        self.arity = 0  # the number of array arguments; 0 for any number
        self.rules: dict[str, Rule] = {}
        self.rule_for_each: Rule | None = None
        self.composition: Callable[..., Any] | None = None
        self.kernels: dict[type | str, Kernel] = {}
        self._plans: dict[int, Plan] = {}
        self._bind_call = bind
        self.__doc__ = function.__doc__
        self.defaults = {}
        self.parameters = self._by_position = tuple[str, ...]()
        if not isinstance(self.function, np.ufunc):
            self._signature_of = function
            names, self.arguments, self.defaults, self._by_position, collecting = parameters_of(function)
            self.parameters = tuple([name for name in names if name not in collecting])
            check_names(names, name)
            self.arity = len(self.arguments)
            self._numpy = list(replaced)
        self._slash = bool(self.arguments)  # a / in the signature says which arguments are arrays
        for f in replaced:
            registry[f] = operators[f] = self
        primitives.setdefault(name, self)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def argument_names(self, count: int) -> tuple[str, ...]:
        """Return the names of the array arguments of a call with ``count`` arrays."""
        return self.arguments or tuple(f"args{i}" for i in range(count))

    # Declaring derivatives

    def vjp(self, **rules: Rule | None) -> Primitive:
        """Declare a rule for each array argument, by name. None means that the argument has no derivative.

        Raises:
            ArgumentError: there is no argument of this name, or a rule has a parameter of an unknown name. Then no rule is
                declared.
        """
        check_names(rules, self.name)
        arguments = self.arguments if self._slash else arrays_of(self.function, self.name, rules)
        if unknown := set(rules) - set(arguments):
            raise ArgumentError(f"{self.name} has no array argument {unknown}; it has {arguments}")
        declared = {name: rule for name, rule in rules.items() if rule is not None}
        for name, rule in declared.items():
            check_rule(rule, f"the rule for '{name}' of {self.name}", self._known(arguments, "ans"), skip=1)
        self._redeclare(self.composition)
        self.arguments, self.arity = arguments, len(arguments)
        self.rules, self.rule_for_each = declared, None
        for callback in when_declared:
            callback(self)
        return self

    def vjp_each(self, rule: Rule) -> Primitive:
        """Declare one rule for all array arguments. It may also read ``i``, the argument's index, and ``args``, all of them."""
        known = self._known(self.arguments, "ans", "i", "args")
        check_rule(
            rule, f"the rule of {self.name}", known.difference(() if self.arguments else self._by_position), skip=1
        )
        self._redeclare(self.composition)
        self.rules, self.rule_for_each = {}, rule
        return self

    def reference(self, composition: Callable[..., Any]) -> Primitive:
        """Declare the derivatives by writing the forward function as a composition of other primitives.

        Raises:
            ArgumentError: the primitive already has rules, or the composition has the same arguments in another order.
        """
        check_order(composition, self.arguments or self._by_position, f"the composition of {self.name}")
        self._redeclare(self.rules or self.rule_for_each)
        self.composition = composition
        return self

    def _redeclare(self, other: Any) -> None:
        """Raise ArgumentError if derivatives of the ``other`` kind exist. Otherwise forget the plans of earlier ones."""
        if other:
            raise ArgumentError(f"{self.name} has its derivatives already: declare rules or a reference, not both")
        for plans in (self._plans, *(kernel.plans for kernel in self.kernels.values())):
            plans.clear()

    def kernel(
        self, array_type: type | str, forward: Callable[..., Any], backward: Rule | None = None, **when: Any
    ) -> Primitive:
        """Declare a faster forward and backward for raw arrays of one type. Without ``backward`` the plain rules are used.

        ``array_type`` is the type, or "compiled" for a kernel that replaces NumPy's while :func:`compiled_kernels` is on.
        ``forward(*arrays, **keywords)`` returns ``(ans, saved)``, where ``saved`` is what ``backward`` needs. It
        returns NotImplemented to leave a case to the plain rules.
        ``backward(g, needs, ...)`` returns the gradients of all arguments as a tuple, with None where ``needs`` is False.
        Like a rule, it gets further values by the names of its parameters: the arguments, ``ans`` and ``saved``.
        Higher derivatives differentiate the plain rules, never a kernel. For ``when`` see :class:`Kernel`.
        """
        check_order(forward, self.arguments or self._by_position, f"the kernel's forward of {self.name}")
        if backward is not None:
            check_rule(
                backward, f"the kernel's backward of {self.name}", self._known(self.arguments, "ans", "saved"), skip=2
            )
        self.kernels[array_type] = Kernel(forward, backward, {} if backward else self._plans, **when)
        for callback in when_declared:
            callback(self)
        return self

    def _known(self, arguments: tuple[str, ...], *more: str) -> set[str]:
        """Return the names that a rule's parameters may have."""
        return {*more, *arguments, *(f"{name}_shape" for name in arguments), *self.parameters}

    # Calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Compute the result, and record the call if an argument requires a gradient."""
        if len(args) != self.arity and self.arity:  # NumPy's protocols have bound their calls already
            args, keywords = self.bind(args, keywords)
        started = perf_counter() if open_contexts else 0.0
        arrays, parents, tensors = [], [], False
        key = 1  # of a plan, in binary: a leading 1, then a digit for each argument, 1 if it needs a gradient
        for arg in args:
            if isinstance(arg, Tensor):
                arrays.append(arg._array)
                parents.append(arg._node)
                tensors = True
                key += key + (arg._node is not None)
            else:
                arrays.append(self._operand(arg, len(arrays)))
                parents.append(None)
                key += key
        kernel = choose(self, arrays) if self.kernels else None
        try:
            if kernel is None or (computed := kernel.forward(*arrays, **keywords)) is NotImplemented:
                kernel, computed = None, (self.compute(*arrays, **keywords), None)
        except (ValueError, TypeError, IndexError, MemoryError) as error:
            raise explained(self, error, arrays, keywords) from error
        ans, saved = computed
        if not tensors:
            return ans
        ans = ans if type(ans) is ndarray else as_arrays(ans)
        first = ans if type(ans) is ndarray else first_floating(ans)
        if not any(parents) or first.dtype.kind not in "fc" or (open_contexts and not recording()):
            return outputs(ans, None)
        plan = (self._plans if kernel is None else kernel.plans).get(key) or self._plan(key, kernel)
        recorded: Mapping[str, Any] = owned_keywords(keywords) if keywords else NO_KEYWORDS
        values = [*arrays, ans, saved, recorded]
        entry = Entry(plan, parents, plan.keep(values), first, recorded)
        if started:
            observers.tell_recorded(entry, values, ans, perf_counter() - started)
        return make_tensor(ans, entry) if first is ans else outputs(ans, entry)

    def _operand(self, arg: Any, i: int) -> Any:
        """Return the i-th argument as a number or array. None stays None if it is the default of this argument."""
        if type(arg) in SCALARS or (type(arg) is ndarray and arg.dtype.kind in NUMBERS):
            return arg
        name = self.arguments[i] if self.arguments else f"argument {i}"
        if arg is None and self.defaults.get(name, self) is None:
            return None
        try:
            return operand(arg)
        except DTypeError as error:
            raise DTypeError(f"{self.name}, {name}: {error}") from error.__cause__

    def _plan(self, key: int, kernel: Kernel | None) -> Plan:
        """Make the plan for one set of inputs that need a gradient: the arguments whose binary digit in the key is 1."""
        needs = [digit == "1" for digit in f"{key:b}"[1:]]
        plan = Plan(self, needs) if kernel is None else kernel.plan(self, needs)
        for callback in observers.plan_made:
            callback(plan)
        (self._plans if kernel is None else kernel.plans)[key] = plan
        return plan


def primitive(
    function: Callable[..., Any],
    forward: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    also: Sequence[Callable[..., Any]] = (),
    bind: Callable[..., Any] | None = None,
) -> Primitive:
    """Declare ``function`` as one operation of the tape. Declare its derivatives with ``.vjp(...)``.

    Array arguments come first. They are the arguments before a ``/`` in the signature, or else the arguments that ``.vjp``
    names. All further arguments are passed by keyword. The primitive returns a Tensor if one of its arguments is a Tensor,
    and the plain result of ``function`` otherwise.

    Args:
        function: your own function on arrays, or NumPy's, which then calls the primitive whenever an argument is a Tensor.
        forward: the function to compute with, if it differs from ``function``: it may have fewer keywords, or a ``/`` after
            the arrays.
        name: shown in graphs and messages, by default the function's.
        also: other NumPy functions that do the same (``np.amax``).
        bind: for calls that the signature cannot split, such as those with any number of arrays. ``bind(*args, **kwargs)``
            returns ``(arrays, keywords)``.

    Raises:
        ArgumentError: an argument has a name that is reserved for rules (``g``, ``ans`` ...).

    Example:
        >>> import minigrad as mg
        >>> cube = mg.primitive(lambda x: x * x * x, name="cube").vjp(x=lambda g, x: g * 3 * x * x)
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> cube(x).backward()
        >>> x.grad.item()
        12.0
    """
    of_numpy = (
        isinstance(function, np.ufunc) or (getattr(function, "__module__", "") or "").partition(".")[0] == "numpy"
    )
    replaced = [function, *also] if of_numpy or forward is not None else list(also)
    return Primitive(forward or function, name or function.__name__, replaced, bind)
