"""A primitive: one forward function, and beside it one line of NumPy for the derivative of each argument.

    tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))

A rule is a vector-Jacobian product: from ``g``, the cotangent of the output, it makes the cotangent of one input. The
names of its parameters say what the tape has to keep for it: ``ans`` (the output), the primitive's own array arguments,
``<argument>_shape``, or one of its keywords such as ``axis``. Rules are read once, when they are declared.

The same rule runs on NumPy arrays, on arrays of another library, and on Tensors: first-order backward hands it raw
arrays, ``create_graph=True`` hands it Tensors, and second and higher orders come out for free. Un-broadcasting, casting
and taking real parts happen in one place, ``tape.fit``; no rule mentions them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError
from . import observers
from .arrays import NUMBERS, SCALARS, operand, owned
from .binding import Bound
from .kernels import Kernel, choose
from .messages import explained
from .modes import recording
from .observers import in_any_thread
from .outputs import as_arrays, first_floating, outputs
from .pickling import ByReference
from .plan import Plan
from .registry import operators, primitives, registry, when_declared
from .signatures import arrays_of, check_order, check_rule, parameters_of
from .tape import NO_KEYWORDS, new_entry
from .tensor import Tensor, make_tensor
from .types import Rule

ndarray = np.ndarray
_RESERVED = {"g", "ans", "i", "args", "needs", "saved"}


class Primitive(ByReference, Bound):
    """An operation that the tape records. Made by :func:`primitive`.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.relu, mg.relu.arguments
        (<primitive relu>, ('x',))
        >>> rule = mg.relu.rules["x"]  # from the cotangent g of the output to that of x
        >>> rule(g=np.array([10.0, 10.0]), ans=np.array([0.0, 2.0]))
        array([ 0., 10.])
    """

    def __init__(self, function: Callable[..., Any], name: str, numpy: Iterable[Any], bind: Any) -> None:
        self.function = function
        self.name = name
        self.arguments = ()
        self.arity = 0  # the number of array arguments; 0 for any number
        self.rules: dict[str, Rule] = {}
        self.rule_for_each: Rule | None = None
        self.composition: Callable[..., Any] | None = None
        self.kernels: dict[type | str, Kernel] = {}
        self._plans: dict[int, Plan] = {}
        self._bind_call = bind
        self.__name__ = self.__qualname__ = name
        self.__doc__ = function.__doc__
        self.defaults = {}
        self.parameters = self._by_place = tuple[str, ...]()
        if not isinstance(function, np.ufunc):
            self._told_by = function
            names, self.arguments, self.defaults, self._by_place, collecting = parameters_of(function)
            self.parameters = tuple([name for name in names if name not in collecting])
            self._check_names(names)
            self.arity = len(self.arguments)
            self._numpy = list(numpy)
        self._slash = bool(self.arguments)
        for f in numpy:
            registry[f] = self
            if f in operators:
                operators[f] = self  # until its own form, if it gets one
        primitives.setdefault(name, self)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def argument_names(self, count: int) -> tuple[str, ...]:
        """The names of the array arguments of a call with so many."""
        return self.arguments or tuple(f"args{i}" for i in range(count))

    # Declaring derivatives

    def vjp(self, **rules: Rule | None) -> Primitive:
        """Declare, by the name of each array argument, the rule for its derivative (None: it has none).

        Raises:
            ArgumentError: there is no such argument, or a rule asks for what there is not; nothing has been declared then.
        """
        self._check_names(rules)
        arguments = self.arguments if self._slash else arrays_of(self.function, self.name, rules)
        if unknown := set(rules) - set(arguments):
            raise ArgumentError(f"{self.name} has no array argument {unknown}; it has {arguments}")
        given = {name: rule for name, rule in rules.items() if rule is not None}
        for name, rule in given.items():
            check_rule(rule, f"the rule for '{name}' of {self.name}", self._known(arguments, "ans"), 1)
        self._start_anew(self.composition)
        self.arguments, self.arity = arguments, len(arguments)
        self.rules, self.rule_for_each = given, None
        for told in when_declared:
            told(self)
        return self

    def vjp_each(self, rule: Rule) -> Primitive:
        """Declare one rule for the i-th of any number of array arguments; it may ask for ``i`` and ``args``."""
        known = self._known(self.arguments, "ans", "i", "args")
        check_rule(rule, f"the rule of {self.name}", known.difference(() if self.arguments else self._by_place), 1)
        self._start_anew(self.composition)
        self.rules, self.rule_for_each = {}, rule
        return self

    def reference(self, composition: Callable[..., Any]) -> Primitive:
        """Declare the derivatives by writing the forward function as a composition of other primitives.

        Raises:
            ArgumentError: there are rules already; or it has the same arguments in another order.
        """
        check_order(composition, self.arguments or self._by_place, f"the composition of {self.name}")
        self._start_anew(self.rules or self.rule_for_each)
        self.composition = composition
        return self

    def _start_anew(self, other: Any) -> None:
        """Before derivatives are declared: plans made of earlier ones are forgotten, and ``other`` ones must not exist."""
        if other:
            raise ArgumentError(f"{self.name} has its derivatives already: declare rules or a reference, not both")
        for plans in (self._plans, *(kernel.plans for kernel in self.kernels.values())):
            plans.clear()

    def kernel(
        self, array_type: type | str, forward: Callable[..., Any], backward: Rule | None = None, **when: Any
    ) -> Primitive:
        """Declare a faster forward and backward for raw arrays of one type; without the latter the plain rules follow.

        ``array_type`` is the type, or "compiled" for what takes the place of NumPy's while :func:`compiled_kernels` is on.
        ``forward(*arrays, **keywords) -> (ans, saved)``, where ``saved`` is for the backward, or NotImplemented for a case
        it leaves to the plain rules.
        ``backward(g, needs, ...) -> tuple`` gives the gradients of all arguments at once, None where ``needs`` is False;
        it may ask for ``saved``. A kernel is never differentiated: the plain rules are. ``when``: see :class:`Kernel`.
        """
        check_order(forward, self.arguments or self._by_place, f"the kernel's forward of {self.name}")
        if backward is not None:
            check_rule(
                backward, f"the kernel's backward of {self.name}", self._known(self.arguments, "ans", "saved"), 2
            )
        self.kernels[array_type] = Kernel(forward, backward, {} if backward else self._plans, **when)
        for told in when_declared:
            told(self)
        return self

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name in _RESERVED or name.endswith("_shape"):
                raise ArgumentError(
                    f"'{name}' is a name that rules use for themselves; rename this argument of {self.name}"
                )

    def _known(self, arguments: tuple[str, ...], *more: str) -> set[str]:
        """What a rule can ask for."""
        return {*more, *arguments, *(f"{name}_shape" for name in arguments), *self.parameters}

    # Calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Compute, and record if an argument requires a gradient.

        ``needs`` has a bit for each argument that does; behind the last one ``bit`` is a leading 1, which tells the plan of
        two arguments from that of three.
        """
        if len(args) != self.arity and self.arity:
            args, keywords = self.bind(args, keywords)
        started = perf_counter() if in_any_thread else 0.0
        arrays, parents, needs, bit, tensors = [], [], 0, 1, False
        for arg in args:
            if isinstance(arg, Tensor):
                arrays.append(arg._array)
                parents.append(arg._node)
                tensors = True
                if arg._node is not None:
                    needs |= bit
            else:
                arrays.append(self._taken(arg, len(arrays)))
                parents.append(None)
            bit += bit
        kernel = choose(self, arrays) if self.kernels else None
        try:
            if kernel is None or (computed := kernel.forward(*arrays, **keywords)) is NotImplemented:
                kernel, computed = None, (self.function(*arrays, **keywords), None)
        except (ValueError, TypeError, IndexError, MemoryError) as error:
            raise explained(self, error, arrays, keywords) from error
        ans, saved = computed
        if not tensors:
            return ans
        ans = ans if type(ans) is ndarray else as_arrays(ans)
        first = ans if type(ans) is ndarray else first_floating(ans)
        if not needs or first.dtype.kind not in "fc" or (in_any_thread and not recording()):
            return make_tensor(ans, None) if first is ans else outputs(ans, None)
        plan = (self._plans if kernel is None else kernel.plans).get(needs + bit) or self._plan(needs, bit, kernel)
        given: Mapping[str, Any] = owned(keywords) if keywords else NO_KEYWORDS
        values = [*arrays, ans, saved, given]
        entry = new_entry(plan, parents, plan.keep(values), first, given)
        if started:
            observers.tell_recorded(entry, values, ans, perf_counter() - started)
        return make_tensor(ans, entry) if first is ans else outputs(ans, entry)

    def _taken(self, arg: Any, i: int) -> Any:
        """The i-th argument as what rules can compute with; None stays None where it is the default."""
        if type(arg) in SCALARS or (type(arg) is ndarray and arg.dtype.kind in NUMBERS):
            return arg
        name = self.arguments[i] if self.arguments else f"argument {i}"
        if arg is None and self.defaults.get(name, self) is None:
            return None
        try:
            return operand(arg)
        except DTypeError as error:
            raise DTypeError(f"{self.name}, {name}: {error}") from error.__cause__

    def _plan(self, needs: int, bit: int, kernel: Kernel | None) -> Plan:
        """Made once for each choice of inputs that need a gradient; ``bit`` is 2 to the number of arguments."""
        needed = [bool(needs >> i & 1) for i in range(bit.bit_length() - 1)]
        plan = Plan(self, needed) if kernel is None else kernel.plan(self, needed)
        for told in observers.plan_made:
            told(plan)
        (self._plans if kernel is None else kernel.plans)[needs + bit] = plan
        return plan


def primitive(
    function: Callable[..., Any],
    forward: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    also: Sequence[Callable[..., Any]] = (),
    bind: Callable[..., Any] | None = None,
) -> Primitive:
    """Declare ``function`` as one operation of the tape; its derivatives follow with ``.vjp(...)``.

    Array arguments come first. They are the arguments before a ``/`` in the signature, or else those ``.vjp`` names;
    what follows is metadata, given by keyword. Called with a Tensor among its arguments the primitive gives a Tensor;
    called with plain arrays only, it computes with them.

    Args:
        function: a NumPy function or ufunc, whose place the primitive takes when an argument is a Tensor; or a function of
            your own on arrays.
        forward: what to compute, if not ``function`` itself: with fewer keywords, or with ``/`` after the arrays.
        name: shown in graphs and messages; by default the function's own.
        also: other NumPy functions that mean the same (``np.amax``).
        bind: for a function of any number of arrays: from a call's arguments to ``(arrays, keywords)``.

    Raises:
        ArgumentError: an argument has a name that rules use for themselves (``g``, ``ans`` ...).

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
