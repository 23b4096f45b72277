"""A strict stand-in for `cupy.ndarray`: the tests meet a GPU's habits on a machine that has none.

A `FakeArray` is a NumPy array behind CuPy's rules. It never turns into a host array on its own, never mixes with one,
knows the functions, keywords and ufunc methods of CuPy and no others, wraps out-of-range index arrays, and gives 0-d
arrays where NumPy gives scalars. `host_syncs` notes whatever makes the host wait for the GPU.

The facts are those of CuPy 14.0, the oldest release that the `gpu` extra admits (read in its `cupy/__init__.py`,
`cupy/_core/core.pyx`, `_kernel.pyx` and `_routines_indexing.pyx`), and of CuPy 14.2 on an NVIDIA H200. Where CuPy
quietly uploads a host array, as for an index, the fake raises: such an upload is never meant. One habit it lacks:
`linalg` of a singular matrix raises here, where a GPU gives NaN.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np


class _Syncs(list[str]):
    forbidden = False

    def append(self, name: str) -> None:
        if self.forbidden:
            raise AssertionError(f"the host waits for the device: {name}")
        super().append(name)


# What made the host wait for the device, in order: clear it, run a step, and assert that it is still empty.
host_syncs = _Syncs()


@contextmanager
def no_waiting() -> Iterator[None]:
    """A wait inside the block is an error, whose traceback leads to the line that waits."""
    host_syncs.forbidden = True
    try:
        yield
    finally:
        host_syncs.forbidden = False


def _words(text: str) -> set[str]:
    return set(text.split())


_UFUNCS = _words(
    """absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_count bitwise_or
    bitwise_xor cbrt ceil conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs
    float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite
    isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor matmul maximum minimum modf multiply negative nextafter not_equal positive
    power rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh sqrt square subtract tan tanh
    trunc"""
)
# No ufunc takes `where=`, and only these fold or scatter. With an index array `at` is an atomic operation of the GPU,
# which knows few dtypes: neither int64 nor complex128 can be added.
_UFUNC_KEYWORDS = {
    **dict.fromkeys(("__call__", "outer"), _words("out dtype casting")),
    **dict.fromkeys(("accumulate", "reduceat"), _words("axis dtype out")),
    "reduce": _words("axis dtype out keepdims"),
    "at": set(),
}
_MATMUL_KEYWORDS = _words("out dtype casting axes axis keepdims order signature")
_FOLDING = {"reduce": {"add", "multiply"}, "accumulate": {"add", "multiply"}, "reduceat": {"add"}}
_ATOMIC = {
    "add": "int32 uint32 uint64 float16 float32 float64",
    "subtract": "int32 uint32",
    **dict.fromkeys(("maximum", "minimum"), "int32 uint32 uint64 float32 float64"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "int32 int64 uint32 uint64"),
}

_FFT = [
    f"fft.{name}" for name in _words("fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn")
]
# Left out though CuPy has them: what saves or prints (call `.get()`), what takes a callback, and `unique_*`.
_FUNCTIONS = _words(
    """all allclose amax amin angle any append argmax argmin argpartition argsort argwhere around array_equal
    array_equiv array_split astype atleast_1d atleast_2d atleast_3d average bincount broadcast_arrays broadcast_to
    can_cast choose clip column_stack common_type compress concatenate convolve copy copyto corrcoef correlate
    count_nonzero cov cross cumprod cumsum delete diag diag_indices_from diagflat diagonal diff digitize dot dsplit
    dstack ediff1d einsum empty_like expand_dims extract fill_diagonal fix flatnonzero flip fliplr flipud full_like
    gradient histogram histogram2d histogramdd hsplit hstack i0 imag inner interp intersect1d isclose iscomplex
    iscomplexobj isin isneginf isposinf isreal isrealobj ix_ kron lexsort linspace logspace max may_share_memory
    mean median meshgrid min min_scalar_type moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax
    nanmean nanmedian nanmin nanprod nanstd nansum nanvar ndim nonzero ones_like outer packbits pad partition
    percentile place poly polyadd polyfit polymul polysub polyval prod ptp put put_along_axis putmask quantile ravel
    ravel_multi_index real real_if_close repeat reshape resize result_type roll rollaxis roots rot90 round
    searchsorted select setdiff1d setxor1d shape shares_memory sinc size sort sort_complex split squeeze stack std
    sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tril tril_indices_from trim_zeros
    triu triu_indices_from union1d unique unpackbits unravel_index unwrap vander var vdot vsplit vstack where
    zeros_like lib.stride_tricks.sliding_window_view fft.fftshift fft.ifftshift linalg.cholesky linalg.cond
    linalg.cross linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq
    linalg.matrix_power linalg.matrix_rank linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd
    linalg.tensorinv linalg.tensorsolve"""
) | set(_FFT)
# Called with `like=` a device array (NEP 35): the one way onto the device besides `asarray`, and an explicit one.
_CREATING = _words("arange array asarray empty eye full identity ones zeros")
_HOST_VALUED = _words(
    """can_cast common_type iscomplexobj isrealobj may_share_memory min_scalar_type ndim result_type shape
    shares_memory size"""
)
# The shape of the result, or whether it is an error, depends on values.
_SYNCHRONISING = _words(
    """argwhere bincount choose compress delete extract flatnonzero histogram histogram2d histogramdd intersect1d
    nanmax nanmin nonzero place setdiff1d setxor1d tril_indices_from trim_zeros triu_indices_from union1d unique"""
)
# NumPy's keywords that CuPy's function of the same name lacks. (Arrays go by position: their names differ too.)
_MISSING_KEYWORDS = {
    "all any mean nanmean": "where",
    "amax amin max min nanmax nanmin nanprod nansum prod sum": "initial where",
    "nanstd nanvar std var": "correction mean where",
    "argsort sort": "order stable",
    "argpartition partition": "kind order",
    "clip": "min max casting dtype order subok where",
    "broadcast_arrays broadcast_to copy": "subok",
    "empty_like full_like ones_like zeros_like": "device subok",
    "linspace": "device",
    "eye full ones": "device",  # NumPy hands these three on with device=None
    "einsum": "casting order out",
    "take": "mode",
    "count_nonzero": "keepdims",
    "isin": "kind",
    "percentile quantile": "weights",
    "unique": "sorted",
    "linalg.cholesky": "upper",
    "linalg.pinv linalg.matrix_rank linalg.svd": "hermitian rtol",
    " ".join(_FFT): "out",
    "reshape": "copy shape",
    "unravel_index": "shape",
}
_MISSING = {name: _words(words) for names, words in _MISSING_KEYWORDS.items() for name in _words(names)}
# So many leading arguments must be device arrays, where NumPy would take a list or a number.
_OPERANDS = {"cross": 2, "dot": 2, "inner": 2, "outer": 2, "tensordot": 2, "vdot": 2, "linalg.solve": 2, "where": 1}
_JOINING = {"column_stack", "concatenate", "dstack", "hstack", "stack", "vstack"}

_DTYPES = "?bBhHiIlLqQefdFD"
_SCALARS = {bool, int, float, complex} | {np.dtype(char).type for char in _DTYPES}


@dataclass(frozen=True)
class FakeDevice:
    """`with FakeDevice(1):` makes it the current one, where arrays are made; what computes takes arrays from there only."""

    id: int

    def __enter__(self) -> "FakeDevice":
        _current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.pop()

    def __str__(self) -> str:
        return f"fake:{self.id}"


_current = [FakeDevice(0)]


class FakeArray:
    """A device array: `asarray` makes one, `.get()` brings it home. Members that are alike are added further down."""

    __slots__ = ("__weakref__", "_array", "device")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray, device: FakeDevice | None = None) -> None:
        if array.dtype.char not in _DTYPES:
            raise ValueError(f"Unsupported dtype {array.dtype}")
        self._array = array
        self.device = device or _current[-1]

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name, out = ufunc.__name__, kwargs.get("out", ())
        known = all(isinstance(x, FakeArray | np.ndarray) or type(x) in _SCALARS for x in inputs + out)
        if name not in _UFUNCS or not known or (name == "matmul" and method != "__call__"):
            return NotImplemented  # CuPy's answer to `np.add.at(x, (i, j), y)` too: a tuple is neither array nor scalar
        if len(out) > 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        if name not in _FOLDING.get(method, {name}) or (method == "at" and name not in _ATOMIC):
            raise NotImplementedError(f"`cupy_{name}.{method}` is not supported yet")
        unexpected = kwargs.keys() - (_MATMUL_KEYWORDS if name == "matmul" else _UFUNC_KEYWORDS[method])
        if unexpected:
            raise TypeError(f"{name}: wrong arguments {sorted(unexpected)}")
        if method == "at":
            return _at(ufunc, *inputs)
        result = _run(getattr(ufunc, method), inputs, kwargs)
        return out[0] if out else _to_device(result)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{func.__module__}.{func.__name__}".removeprefix("numpy.")
        known = name in _CREATING or name in _FUNCTIONS
        if not known or not all(issubclass(t, FakeArray | np.ndarray) for t in types):
            return NotImplemented
        unexpected = kwargs.keys() & _MISSING.get(name, set())
        if unexpected:
            raise TypeError(f"{name}() of the device has no keyword {sorted(unexpected)}")
        if name in _CREATING:
            return FakeArray(np.array(func(*(x._array if isinstance(x, FakeArray) else x for x in args), **kwargs)))
        _check_operands(name, args, kwargs)
        if name in _SYNCHRONISING or (name == "where" and len(args) == 1):
            host_syncs.append(name)
        result = _run(_ADAPTED.get(name, func), args, kwargs)
        if kwargs.get("out") is not None:
            return kwargs["out"]
        return result if name in _HOST_VALUED else _to_device(result)

    def get(self) -> np.ndarray:
        """A copy on the host. Whatever else reads values goes through here."""
        host_syncs.append("get")
        return self._array.copy()

    def set(self, arr: np.ndarray) -> None:
        if (arr.shape, arr.dtype) != (self._array.shape, self._array.dtype):
            raise ValueError(f"set() got {arr.dtype} of shape {arr.shape}")
        self._array[...] = arr

    def __format__(self, format_spec: str) -> str:
        return format(self.get(), format_spec)

    def __reduce__(self) -> Any:
        return asarray, (self.get(),)

    def __deepcopy__(self, memo: Any) -> "FakeArray":
        return FakeArray(self._array.copy(), self.device)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator["FakeArray"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> "FakeArray":
        index, has_array = _to_host_index(self._array.shape, index)
        result = self._array[index]
        if has_array:
            result = result.copy()  # NumPy gives a view for a 0-d index array
        return FakeArray(result, self.device)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, FakeArray) and type(value) not in _SCALARS:
            raise TypeError(f"Unsupported type {type(value)}: only device arrays and scalars can be assigned")
        self._array[_to_host_index(self._array.shape, index)[0]] = _to_host(value)

    def astype(self, dtype: Any, order: Any = "K", *, copy: bool = True) -> "FakeArray":
        result = self._array.astype(dtype, order, copy=copy)
        return self if result is self._array else FakeArray(result, self.device)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        return np.clip(self, min, max, out=out)

    def fill(self, value: Any) -> None:
        if isinstance(value, FakeArray) and len(value._array.shape):
            raise ValueError("non-scalar device array cannot be used for fill")
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        self._array.sort(axis, kind)

    @property
    def flags(self) -> SimpleNamespace:
        """CuPy's flags. There is no `writeable`: a device array cannot be locked."""
        own = self._array.flags
        return SimpleNamespace(c_contiguous=own.c_contiguous, f_contiguous=own.f_contiguous, owndata=own.owndata)


def asarray(host: Any) -> Any:
    """A copy of `host` (an array, a list or a number) on the current fake device; an array that is there as it is."""
    if isinstance(host, FakeArray):
        return host if host.device == _current[-1] else FakeArray(host._array.copy())
    return FakeArray(np.array(host))


def _to_host(value: Any) -> Any:
    """`value` with the device arrays in it unwrapped. A host array among them is refused."""
    if isinstance(value, FakeArray):
        if value.device != _current[-1]:
            raise ValueError(f"Array device must be same as the current device: {value.device}, not {_current[-1]}")
        return value._array
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {np.ndarray}: a host array of shape {value.shape} meets a device array")
    if isinstance(value, tuple | list):
        return type(value)(_to_host(x) for x in value)
    return {key: _to_host(x) for key, x in value.items()} if isinstance(value, dict) else value


def _to_device(result: Any) -> Any:
    """Arrays and numbers as device arrays, and NumPy's namedtuples as the plain tuples that CuPy gives."""
    if isinstance(result, tuple | list):
        return (tuple if isinstance(result, tuple) else list)(_to_device(x) for x in result)
    is_array = isinstance(result, np.ndarray | np.number | np.bool | int | float)
    return FakeArray(np.asarray(result)) if is_array else result


def _run(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with np.errstate(all="ignore"):  # a GPU does not warn
        return function(*_to_host(args), **_to_host(kwargs))


def _check_operands(name: str, args: Any, kwargs: Any) -> None:
    operands = args[0] if name in _JOINING else args[: _OPERANDS.get(name, 0)]
    refused = [x for x in operands if not isinstance(x, FakeArray)]
    if name == "where":
        refused += [x for x in args if isinstance(x, tuple | list)]
    if refused:
        raise TypeError(f"{name}() of the device takes device arrays, not {type(refused[0])}")
    if name == "repeat" and any(isinstance(x, FakeArray) for x in (*args[1:], *kwargs.values())):
        raise ValueError("a device array cannot be specified as `repeats` argument.")


def _wrap(indices: np.ndarray, a: np.ndarray, axis: int | None) -> np.ndarray:
    return indices % (a.size if axis is None else a.shape[axis])


def _made_like(name: str) -> Callable[..., Any]:
    """`zeros_like(a, shape=())` of CuPy has the shape of `a`."""
    return lambda a, *args, shape=None, **kwargs: getattr(np, name)(a, *args, shape=shape or a.shape, **kwargs)


def _pad(array: np.ndarray, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> np.ndarray:
    """CuPy's "wrap" repeats another part where the padding is wide at both ends, as NumPy's did before 1.25."""
    if mode in ("empty", "median"):
        raise ValueError(f"mode '{mode}' is not supported")
    if mode != "wrap" or not array.size:
        return np.pad(array, pad_width, mode, **kwargs)
    for axis, (before, after) in enumerate(np.broadcast_to(pad_width, (array.ndim, 2)).tolist()):
        while before or after:  # wraps what is there by now, the first copies with it
            n = array.shape[axis]
            first, last = min(n, before), min(n, after)
            array = np.take(array, [*range(n - first, n), *range(n), *range(last)], axis)
            before, after = before - first, after - last
    return array


def _solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if b.ndim > 1 and a.shape[:-2] != b.shape[:-2]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")
    return np.linalg.solve(a, b)


def _tensordot(a: np.ndarray, b: np.ndarray, axes: Any = 2) -> Any:
    if (a.ndim == 0 or b.ndim == 0) and axes != 0:
        raise ValueError("An input is zero-dim while axes has dimensions")
    return np.tensordot(a, b, axes)


def _windows(x: np.ndarray, window_shape: Any, axis: Any = None, **kwargs: Any) -> np.ndarray:
    if isinstance(axis, tuple) and len(set(axis)) < len(axis):
        raise ValueError("duplicate value in 'axis'")
    return np.lib.stride_tricks.sliding_window_view(x, window_shape, axis, **kwargs)


_ADAPTED: dict[str, Callable[..., Any]] = {
    **{name: _made_like(name) for name in ("empty_like", "full_like", "ones_like", "zeros_like")},
    "lib.stride_tricks.sliding_window_view": _windows,
    "linalg.solve": _solve,
    "pad": _pad,
    "tensordot": _tensordot,
    "put": lambda a, ind, v, mode="wrap": np.put(a, ind, v, mode),
    "put_along_axis": lambda a, indices, values, axis: np.put_along_axis(a, _wrap(indices, a, axis), values, axis),
    "ravel_multi_index": lambda indices, dims, mode="wrap", order="C": np.ravel_multi_index(indices, dims, mode, order),
    "take": lambda a, indices, axis=None, out=None: np.take(a, indices, axis, out, "wrap"),
    "take_along_axis": lambda a, indices, axis=-1: np.take_along_axis(a, _wrap(indices, a, axis), axis),
}


def _to_host_index(shape: tuple[int, ...], index: Any) -> tuple[tuple[Any, ...], bool]:
    """The index for the array inside, and whether an array is in it. As on CuPy, index arrays wrap; integers do not."""
    parts = [_to_index_part(part) for part in (index if isinstance(index, tuple) else (index,))]
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)  # so that a full index gives a 0-d view, not a scalar
    arrays = [part._array if isinstance(part, FakeArray) else None for part in parts]
    uses = [
        array.ndim if array is not None and array.dtype == bool else 0 if part is None or part is Ellipsis else 1
        for part, array in zip(parts, arrays, strict=True)
    ]
    axis, host_index = 0, []
    for part, array, used in zip(parts, arrays, uses, strict=True):
        if array is not None and array.dtype == bool:
            host_syncs.append("boolean mask")
        elif array is not None and array.dtype.kind in "iu" and axis < len(shape) and shape[axis]:
            array = array % shape[axis]
        host_index.append(_to_host(part) if array is None else array)
        axis += len(shape) - sum(uses) if part is Ellipsis else used
    return tuple(host_index), any(array is not None for array in arrays)


def _to_index_part(part: Any) -> Any:
    """As on CuPy, a list is an index array; so is a bool, which is a 0-d mask and no integer."""
    if isinstance(part, tuple | list):
        return asarray(np.asarray(part, dtype=None if len(part) else np.int32))
    return asarray(part) if isinstance(part, bool | np.bool) else part


def _at(ufunc: np.ufunc, array: Any, indices: Any, *values: Any) -> None:
    is_scatter = isinstance(indices, FakeArray) and indices._array.dtype != bool
    if is_scatter and array.dtype.name not in _ATOMIC[ufunc.__name__].split():
        raise TypeError(f"cupy.{ufunc.__name__}.at only supports {_ATOMIC[ufunc.__name__]}, not {array.dtype}")
    ufunc.at(_to_host(array), _to_host_index(array.shape, indices)[0], *_to_host(values))


def _operators(ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """`x + y`, `y + x` and `x += y` for a ufunc."""

    def defers(other: Any) -> bool:
        """Whether the other operand goes first: NEP 13, and the older `__array_priority__`."""
        if hasattr(other, "__array_ufunc__"):
            return other.__array_ufunc__ is None
        return getattr(other, "__array_priority__", 0) > FakeArray.__array_priority__

    def forward(self: FakeArray, other: Any) -> Any:
        return NotImplemented if defers(other) else ufunc(self, other)

    def reflected(self: FakeArray, other: Any) -> Any:
        return NotImplemented if defers(other) else ufunc(other, self)

    def in_place(self: FakeArray, other: Any) -> Any:  # asks no other operand's protocol
        result = self.__array_ufunc__(ufunc, "__call__", self, other, out=(self,))
        if result is NotImplemented:
            raise TypeError(f"Unsupported type {type(other)}")
        return result

    return forward, reflected, in_place


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: function(self, *args, **kwargs)


def _own_method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: FakeArray(getattr(self._array, name)(*_to_host(args), **kwargs), self.device)


def _reader(convert: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
    return lambda self: convert(self.get())


def _attribute(name: str) -> property:
    def read(self: FakeArray) -> Any:
        value = getattr(self._array, name)
        return FakeArray(value, self.device) if isinstance(value, np.ndarray) else value

    return property(read)


_ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "divmod": np.divmod, "pow": np.power, "matmul": np.matmul, "lshift": np.left_shift,
    "rshift": np.right_shift, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_COMPARISONS = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater
}  # fmt: skip
_members: dict[str, Any] = {}
for _name, _ufunc in _ARITHMETIC.items():
    _members[f"__{_name}__"], _members[f"__r{_name}__"], _members[f"__i{_name}__"] = _operators(_ufunc)
del _members["__imatmul__"], _members["__idivmod__"]  # as on CuPy: `x @= y` binds a new array
_members |= {f"__{name}__": _operators(ufunc)[0] for name, ufunc in _COMPARISONS.items()}
_members |= {"__neg__": _method(np.negative), "__pos__": _method(np.positive), "__abs__": _method(np.absolute)}
_members |= {"__invert__": _method(np.invert), "conj": _method(np.conjugate), "conjugate": _method(np.conjugate)}
for _name in _words(
    """all any argmax argmin argsort cumprod cumsum diagonal dot max mean min nonzero prod put ravel repeat round
    searchsorted squeeze std sum swapaxes take trace var"""
):
    _members[_name] = _method(getattr(np, _name))
_members |= {name: _own_method(name) for name in _words("copy flatten reshape transpose view")}
_members["__copy__"] = _own_method("copy")
_members |= {f"__{convert.__name__}__": _reader(convert) for convert in (bool, int, float, complex, repr, str)}
_members |= {name: _reader(getattr(np.ndarray, name)) for name in ("item", "tolist", "tobytes")}
for _name in _words("base dtype imag itemsize mT nbytes ndim real shape size strides T"):
    _members[_name] = _attribute(_name)
for _name, _member in _members.items():
    setattr(FakeArray, _name, _member)
