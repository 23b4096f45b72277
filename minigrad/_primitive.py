"""A primitive: one forward function, and beside it one line of NumPy for the derivative of each argument.

    tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))

A rule is a vector-Jacobian product: from ``g``, the cotangent of the output, it makes the cotangent of one input. The
names of its parameters say what the tape has to keep for it: ``ans`` (the output), the primitive's own array arguments,
``<argument>_shape``, or one of its keywords such as ``axis``. Rules are read once, when they are declared.

The same rule runs on NumPy arrays, on arrays of another library, and on Tensors: first-order backward hands it raw
arrays, ``create_graph=True`` hands it Tensors, and second and higher orders come out for free. Un-broadcasting, casting
and taking real parts happen in one place, ``_tape.fit``; no rule mentions them.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ._inplace import seal_shared, shared
from ._operands import NUMBERS, SCALARS, as_array, operand, owned
from ._operators import unrolled
from ._plan import Kernel, Plan, Rule, record
from ._signatures import Signed, parameters_of, signature_or_none
from ._tape import NO_KEYWORDS, Entry, Output, active, in_any_thread, recording
from .device import mixed_devices, out_of_memory
from .errors import ArgumentError, DTypeError, LinAlgError, MinigradError, OutOfRangeError, ShapeError, UnsupportedError
from .tensor import Tensor, _make, operators, registry

_ndarray = np.ndarray
primitives: weakref.WeakValueDictionary[str, Primitive] = weakref.WeakValueDictionary()  # by name, the first of each
# Called once with each array type but NumPy's that a kernel is sought for: a foreign library's kernels hang themselves up then.
first_array_of_type: list[Callable[[type], None]] = []
_types_met: weakref.WeakSet[type] = weakref.WeakSet()
_RESERVED = {"g", "ans", "i", "args", "needs", "saved"}


class Primitive(Signed):
    """An operation that the tape records. Made by :func:`primitive`."""

    def __init__(self, function: Callable[..., Any], name: str, numpy: Iterable[Any], bind: Any) -> None:
        self.function = function
        self.name = name
        self.arguments: tuple[str, ...] = ()  # the array arguments; empty for a variadic primitive
        self.arity = 0  # the number of those; 0 for any number
        self.rules: dict[str, Rule] = {}
        self.rule_for_each: Rule | None = None
        self.composition: Callable[..., Any] | None = None
        self.kernels: dict[type | str, Kernel] = {}
        self._plans: dict[int, Plan] = {}
        self._bind_call = bind
        self.__name__ = self.__qualname__ = name
        self.__doc__ = function.__doc__
        self._is_ufunc = isinstance(function, np.ufunc)
        self.defaults: dict[str, Any] = {}
        self._parameters: tuple[str, ...] = ()
        if not self._is_ufunc:
            self._told_by = function
            self._parameters, self.arguments, self.defaults = parameters_of(function)
            self._check_names(self._parameters)
            self.arity = len(self.arguments)
            self._numpy = list(numpy)
        for f in numpy:
            registry[f] = self
        primitives.setdefault(name, self)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    # Declaring derivatives

    def vjp(self, **rules: Rule | None) -> Primitive:
        """Declare for each array argument, in order, the rule for its derivative (None: it has none)."""
        self._check_names(rules)
        self.arguments = self.arguments or tuple(rules)
        self.arity = len(self.arguments)
        self.rules = {name: rule for name, rule in rules.items() if rule is not None}
        unknown = set(rules) - set(self.arguments)
        if unknown:
            raise ArgumentError(f"{self.name} has no array argument {unknown}; it has {self.arguments}")
        for name, rule in self.rules.items():
            self._check_rule(rule, f"the rule for '{name}'", {"ans", *self.arguments}, 1)
        if isinstance(self.function, np.ufunc) and self.arity <= 2 and self.function.nout == 1:
            operators[self.function] = unrolled(self)
        return self

    def vjp_each(self, rule: Rule) -> Primitive:
        """Declare one rule for the i-th of any number of array arguments; it may ask for ``i`` and ``args``."""
        self._check_rule(rule, "the rule", {"ans", "i", "args"}, 1)
        self.rule_for_each = rule
        return self

    def reference(self, composition: Callable[..., Any]) -> Primitive:
        """Declare the derivatives by writing the forward function as a composition of other primitives."""
        self.composition = composition
        return self

    def kernel(self, array_type: type | str, forward: Callable[..., Any], backward: Rule) -> Primitive:
        """Declare a faster forward and backward for raw arrays of one type.

        ``array_type`` is the type, or "compiled" for what takes the place of NumPy's while :func:`compiled_kernels` is on, or
        "cuda" for what computes on CuPy's arrays while :func:`cuda_kernels` is on.
        ``forward(*arrays, **keywords) -> (ans, saved)``, or NotImplemented for a case it leaves to the plain rules.
        ``backward(g, needs, ...) -> tuple`` gives the gradients of all arguments at once, None where ``needs`` is False;
        it may ask for ``saved``. Each array it returns is one of its own, that nothing else holds and no two share: the sweep
        may add into it, and at a leaf it becomes the ``grad``. A kernel is never differentiated; that is what the plain
        rules beside it are for.
        """
        self._check_rule(backward, "the kernel's backward", {"ans", "saved", *self.arguments}, 2)
        self.kernels[array_type] = Kernel(forward, backward)
        return self

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name in _RESERVED or name.endswith("_shape"):
                raise ArgumentError(
                    f"'{name}' is a name that rules use for themselves; rename this argument of {self.name}"
                )

    def _check_rule(self, rule: Rule, what: str, values: set[str], skip: int) -> None:
        names = parameters_of(rule).names
        known = values | {f"{name}_shape" for name in self.arguments} | set(self._parameters)
        unknown = [name for name in names[skip:] if name not in known]
        if names[:1] != ("g",) or unknown:
            raise ArgumentError(
                f"{what} of {self.name} has the parameters {list(names)}: the first must be 'g', "
                f"the others among {sorted(known)}"
            )

    # Calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(args) != self.arity and self.arity:
            args, keywords = self.bind(args, keywords)
        started = perf_counter() if in_any_thread else 0.0
        arrays, parents, needs, bit = [], [], 0, 1
        tensors = False
        for arg in args:
            if isinstance(arg, Tensor):
                node = arg._node
                arrays.append(arg._array)
                parents.append(node)
                tensors = True
                if node is not None:
                    needs |= bit
            else:
                arrays.append(
                    arg if type(arg) is _ndarray and arg.dtype.kind in NUMBERS else self._operand(arg, len(arrays))
                )
                parents.append(None)
            bit += bit
        try:
            kernel = self._choose_kernel(arrays) if self.kernels else None
            computed = NotImplemented if kernel is None else kernel.forward(*arrays, **keywords)
            if computed is NotImplemented:
                ans, saved, kernel = self.function(*arrays, **keywords), None, None
            else:
                ans, saved = computed
        except (ValueError, TypeError, IndexError, MemoryError) as error:
            raise self._explain(error, arrays, keywords) from error
        if not tensors:
            return ans
        several = False
        if type(ans) is not _ndarray:
            ans = _as_arrays(ans)
            several = isinstance(ans, (tuple, list))
        first = next((a for a in ans if a.dtype.kind in "fc"), ans[0]) if several else ans
        if not needs or first.dtype.kind not in "fc" or (in_any_thread and not recording()):
            return _outputs(ans, None)
        if keywords:
            keywords = owned(keywords)
        plans = self._plans if kernel is None else kernel.plans
        plan = plans.get(needs + bit) or self._plan(plans, needs, bit, kernel)
        arrays.append(ans)
        arrays.append(saved)
        if plan.extras:
            arrays += [extra(arrays, keywords) for extra in plan.extras]
        result = record(first, plan, parents, plan.pick(arrays), keywords or NO_KEYWORDS)
        if in_any_thread:
            _notify(result._node, arrays, ans, perf_counter() - started)
        return _outputs(ans, result._node) if several else result

    def _operand(self, arg: Any, i: int) -> Any:
        """The i-th argument as what rules can compute with; None stays None where it is the default."""
        if type(arg) in SCALARS:
            return arg
        name = self.arguments[i] if self.arguments else f"argument {i}"
        if arg is None and self.defaults.get(name, self) is None:
            return None
        try:
            return operand(arg)
        except DTypeError as error:
            raise DTypeError(f"{self.name}, {name}: {error}") from error.__cause__

    def _plan(self, plans: dict[int, Plan], needs: int, bit: int, kernel: Kernel | None) -> Plan:
        """Made once for each choice of inputs that need a gradient; ``bit`` is 2 to the number of arguments."""
        count = bit.bit_length() - 1
        plan = plans[needs + bit] = Plan(self, [bool(needs >> i & 1) for i in range(count)], kernel)
        return plan

    def _choose_kernel(self, arrays: list[Any]) -> Kernel | None:
        """The kernel for these arrays: all of one library, the floating ones of one dtype."""
        first = arrays[0]
        kind = type(first)
        kernel = self.kernels.get(kind) or self._foreign_kernel(kind)
        if kernel is None or not first.ndim or (in_any_thread and reference_mode.active()):
            return None  # kernels work in place, which the scalars that NumPy makes of 0-d arrays do not allow
        dtype = first.dtype
        for array in arrays:
            if array is None or (type(array) is kind and array.dtype is dtype):
                continue
            if type(array) is not kind or (array.dtype != dtype and array.dtype.kind not in "biu"):
                return None
        if dtype.char in "fdg":
            return kernel
        if dtype.char != "e":
            return None
        return kernel.in_float32 if kind is _ndarray else kernel

    def _foreign_kernel(self, kind: type) -> Kernel | None:
        """For an array type without a kernel so far: the first time one is met, a foreign library's kernels may be hung up."""
        if kind is not _ndarray and kind not in _types_met:
            _types_met.add(kind)
            for announce in first_array_of_type:
                announce(kind)
        return self.kernels.get(kind)

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call as NumPy's protocols deliver it."""
        if self._is_ufunc:
            for name, value in kwargs.items():
                if name not in ("dtype", "casting"):
                    raise UnsupportedError(
                        f"np.{self.name} of a Tensor does not take {name}={_short(value)}: "
                        + ("write t = t + u rather than an in-place operation" if name == "out" else "use np.where")
                    )
            return self(*args, **kwargs)
        arrays, keywords = self.bind(args, kwargs)
        return self(*arrays, **keywords)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort a call, given in any of the ways NumPy allows, into array arguments and keywords.

        Raises:
            UnsupportedError: a keyword this primitive does not know, or a Tensor where only plain values may stand.
        """
        if self._bind_call is not None:
            try:
                arrays, keywords = self._bind_call(*args, **kwargs)
            except TypeError as error:
                raise UnsupportedError(f"{self.name} of a Tensor: {error}") from error
            return tuple(arrays), self._checked_keywords(keywords)
        if self._is_ufunc:
            raise UnsupportedError(f"np.{self.name} takes {len(self.arguments)} array(s), got {len(args)}")
        rest = self.arguments[len(args) :]
        if rest and args and not self._numpy and all(name in self.defaults and name not in kwargs for name in rest):
            return (*args, *[self.defaults[name] for name in rest]), self._checked_keywords(kwargs)
        arguments = self._bound_arguments(args, kwargs)
        missing = [name for name in self.arguments if name not in arguments and name not in self.defaults]
        if missing:
            raise UnsupportedError(f"{self.name}{self.__signature__} of a Tensor needs {', '.join(missing)}")
        arrays = tuple(arguments.pop(name, self.defaults.get(name)) for name in self.arguments)
        return arrays, self._checked_keywords(arguments)

    def _bound_arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        try:
            return _bind_as(self._call_signature, args, kwargs).arguments
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error

    @functools.cached_property
    def _call_signature(self) -> inspect.Signature:
        """NumPy's own, where it can be read; only then, as reading them all would be a third of the import."""
        found = [signature for function in self._numpy if (signature := signature_or_none(function))]
        own: inspect.Signature = self.__signature__
        return found[-1] if found else own

    def _checked_keywords(self, keywords: dict[str, Any]) -> dict[str, Any]:
        for name, value in keywords.items():
            if name not in self._parameters:
                raise UnsupportedError(f"{self.name} of a Tensor does not take {name}={_short(value)}")
            if isinstance(value, Tensor):
                raise UnsupportedError(
                    f"{self.name} takes plain values for '{name}', got a Tensor: use t.item() or t.numpy()"
                )
        return keywords

    def _explain(self, error: Exception, arrays: list[Any], keywords: dict[str, Any]) -> Exception:
        """NumPy's message, with the name, shape and dtype of each argument and, where it is plain, the way out."""
        if isinstance(error, MinigradError):
            return error
        unknown = [name for name in keywords if not self._is_ufunc and name not in self._parameters]
        if unknown:
            return UnsupportedError(f"{self.name}{self.__signature__} has no keyword {', '.join(unknown)}")
        names = self.arguments or [f"argument {i}" for i in range(len(arrays))]
        if isinstance(error, MemoryError):
            return out_of_memory(error, self.name, arrays)
        if mixed := mixed_devices(self.name, names, arrays):
            return mixed
        described = ", ".join(f"{name}: {_short(array)}" for name, array in zip(names, arrays))
        message = f"{self.name}({described}): {str(error).rstrip('. ')}"
        if isinstance(error, (IndexError, TypeError, np.linalg.LinAlgError)):
            return _own_error(error, message)
        if self.name == "matmul":
            message += ". The last axis of x must be as long as the second-to-last of y (or y's only) one"
        elif "broadcast" in str(error):
            message += (
                ". Axes are compared from the right and must be equal or 1: reshape, transpose or add an axis with None"
            )
        return ShapeError(message)


def _as_arrays(ans: Any) -> Any:
    """NumPy gives scalars where a result has no dimension; a Tensor holds a 0-d array."""
    if isinstance(ans, np.generic):
        return np.asarray(ans)
    if isinstance(ans, (tuple, list)):
        return _like(ans, [_as_arrays(array) for array in ans])
    return ans


def _outputs(ans: Any, entry: Entry | None) -> Any:
    """The result as a Tensor, or, of a primitive with several outputs, as a tuple, namedtuple or list of them."""
    if not isinstance(ans, (tuple, list)):
        return _make(ans, entry)
    nodes = [
        Output(entry, i, a.shape, a.dtype) if entry is not None and a.dtype.kind in "fc" else None
        for i, a in enumerate(ans)
    ]
    return _like(ans, [_make(array, node) for array, node in zip(ans, nodes)])


def _like(container: Any, items: list[Any]) -> Any:
    kind = type(container)
    return kind(*items) if hasattr(container, "_fields") else kind(items)


def _notify(entry: Entry, arrays: list[Any], ans: Any, seconds: float) -> None:
    for context in active.contexts:
        if hasattr(context, "record"):
            context.record(entry, arrays, ans, seconds)
    if shared:
        seal_shared(entry)


def _bind_as(signature: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    """The arguments of a call by name, without those that are the default itself."""
    flexible = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
        for p in signature.parameters.values()
    ]
    bound = signature.replace(parameters=flexible).bind(*args, **kwargs)
    for name, value in list(bound.arguments.items()):
        if value is signature.parameters[name].default:
            del bound.arguments[name]
    return bound


def _own_error(error: Exception, message: str) -> MinigradError:
    kinds = {IndexError: OutOfRangeError, TypeError: DTypeError, np.linalg.LinAlgError: LinAlgError}
    return next((own for kind, own in kinds.items() if isinstance(error, kind)), ShapeError)(message)


def _short(value: Any) -> str:
    if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype"):
        return f"shape {value.shape} {value.dtype}"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


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

    Example:
        >>> cube = primitive(lambda x: x * x * x, name="cube").vjp(x=lambda g, x: g * 3 * x * x)
    """
    of_numpy = (
        isinstance(function, np.ufunc) or (getattr(function, "__module__", "") or "").partition(".")[0] == "numpy"
    )
    replaced = [function, *also] if of_numpy or forward is not None else list(also)
    return Primitive(forward or function, name or function.__name__, replaced, bind)


class Composite(Signed):
    """A NumPy function that on Tensors is a composition of others; made by :func:`composite`."""

    def __init__(self, function: Callable[..., Any], composition: Callable[..., Any]) -> None:
        module = getattr(function, "__module__", None) or "numpy"
        self.name = f"{module.replace('numpy', 'np', 1)}.{function.__name__}"
        self.function = function
        self.composition = self._told_by = composition
        registry[function] = self

    def __repr__(self) -> str:
        return f"<composite {self.name}>"

    @functools.cached_property
    def numpys_signature(self) -> inspect.Signature:
        """Read at the first call, which would be late for a mistake of ours: a test calls every composite.

        Raises:
            ArgumentError: the composition has an argument that NumPy's function has not.
        """
        own: inspect.Signature = self.__signature__
        numpys = signature_or_none(self.function) or own
        unknown = own.parameters.keys() - numpys.parameters.keys()
        if unknown:
            raise ArgumentError(f"{self.name}{numpys} has no argument {', '.join(sorted(unknown))}")
        return numpys

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_numpy(args, kwargs)

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call as NumPy's protocols deliver it."""
        try:
            bound = _bind_as(self.numpys_signature, args, kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error
        for name, value in bound.arguments.items():
            if name not in self.__signature__.parameters:
                raise UnsupportedError(f"{self.name} of a Tensor does not take {name}={_short(value)}")
        try:
            return self.composition(*bound.args, **bound.kwargs)
        except MinigradError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise _own_error(error, f"{self.name}: {str(error).rstrip('. ')}") from error


def composite(function: Callable[..., Any], composition: Callable[..., Any]) -> Composite:
    """Declare that on Tensors the NumPy function is this composition of others, which the tape records in its place.

    The composition bears NumPy's names for the arguments it takes; a call with another one (``out=``) is refused.

    Example:
        >>> flipud = composite(np.flipud, lambda m: np.flip(m, 0))
    """
    return Composite(function, composition)


class PlainFunction:
    """A NumPy function that has no derivative and sees the arrays themselves: ``np.shape``, ``np.argmax`` ..."""

    def __init__(self, function: Callable[..., Any], gives_tensor: bool) -> None:
        self.function = function
        self.gives_tensor = gives_tensor
        registry[function] = self

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        result = self.function(*_plain(list(args)), **{name: _plain(value) for name, value in kwargs.items()})
        return _make(as_array(result), None) if self.gives_tensor else result


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value)
    return value


class reference_mode:
    """``with reference_mode():`` no kernels, only the plain rules: slower, and the same numbers to rounding."""

    def __enter__(self) -> None:
        active.enter(self)

    def __exit__(self, *_: object) -> None:
        active.leave(self)

    @staticmethod
    def active() -> bool:
        """Whether such a block is active in this thread."""
        return any(isinstance(context, reference_mode) for context in active.contexts)
