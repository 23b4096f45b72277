"""minigrad.numpy on Tensors, for editors and type checkers. Written by `python -m docs.make_stubs`, never by hand."""

from typing import Any, TypeAlias

from numpy import (
    all as all,
    allclose as allclose,
    any as any,
    argmax as argmax,
    argmin as argmin,
    argpartition as argpartition,
    argsort as argsort,
    argwhere as argwhere,
    array2string as array2string,
    array_equal as array_equal,
    array_equiv as array_equiv,
    array_repr as array_repr,
    array_str as array_str,
    can_cast as can_cast,
    count_nonzero as count_nonzero,
    diag_indices_from as diag_indices_from,
    digitize as digitize,
    equal as equal,
    flatnonzero as flatnonzero,
    greater as greater,
    greater_equal as greater_equal,
    isclose as isclose,
    iscomplex as iscomplex,
    iscomplexobj as iscomplexobj,
    isfinite as isfinite,
    isin as isin,
    isinf as isinf,
    isnan as isnan,
    isneginf as isneginf,
    isposinf as isposinf,
    isreal as isreal,
    isrealobj as isrealobj,
    ix_ as ix_,
    less as less,
    less_equal as less_equal,
    lexsort as lexsort,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    may_share_memory as may_share_memory,
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    ndim as ndim,
    nonzero as nonzero,
    not_equal as not_equal,
    ravel_multi_index as ravel_multi_index,
    result_type as result_type,
    searchsorted as searchsorted,
    shape as shape,
    shares_memory as shares_memory,
    signbit as signbit,
    size as size,
    tril_indices_from as tril_indices_from,
    triu_indices_from as triu_indices_from,
    unravel_index as unravel_index,
)
from numpy.typing import ArrayLike, DTypeLike

from minigrad import Tensor

from . import fft as fft, linalg as linalg

Operand: TypeAlias = Tensor | ArrayLike
Axis: TypeAlias = int | tuple[int, ...] | None

def abs(x: Operand, /) -> Tensor:
    """NumPy's absolute: with a derivative in x."""

def absolute(x: Operand, /) -> Tensor:
    """NumPy's absolute: with a derivative in x."""

def acos(x: Operand, /) -> Tensor:
    """NumPy's arccos: with a derivative in x."""

def acosh(x: Operand, /) -> Tensor:
    """NumPy's arccosh: with a derivative in x."""

def add(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's add: with a derivative in x, y."""

def amax(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's amax: with a derivative in a."""

def amin(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's amin: with a derivative in a."""

def angle(z: Operand, deg: Any = False) -> Tensor:
    """NumPy's angle: a composition of differentiable functions."""

def append(arr: Operand, values: Operand, axis: Axis = None) -> Tensor:
    """NumPy's append: a composition of differentiable functions."""

def arccos(x: Operand, /) -> Tensor:
    """NumPy's arccos: with a derivative in x."""

def arccosh(x: Operand, /) -> Tensor:
    """NumPy's arccosh: with a derivative in x."""

def arcsin(x: Operand, /) -> Tensor:
    """NumPy's arcsin: with a derivative in x."""

def arcsinh(x: Operand, /) -> Tensor:
    """NumPy's arcsinh: with a derivative in x."""

def arctan(x: Operand, /) -> Tensor:
    """NumPy's arctan: with a derivative in x."""

def arctan2(y: Operand, x: Operand, /) -> Tensor:
    """NumPy's arctan2: with a derivative in y, x."""

def arctanh(x: Operand, /) -> Tensor:
    """NumPy's arctanh: with a derivative in x."""

def around(a: Operand, /, decimals: Any = 0) -> Tensor:
    """NumPy's around: with a derivative in a."""

def array_split(ary: Operand, indices_or_sections: Any, axis: Axis = 0) -> list[Tensor]:
    """NumPy's array_split: a composition of differentiable functions."""

def asin(x: Operand, /) -> Tensor:
    """NumPy's arcsin: with a derivative in x."""

def asinh(x: Operand, /) -> Tensor:
    """NumPy's arcsinh: with a derivative in x."""

def astype(x: Operand, /, dtype: DTypeLike | None) -> Tensor:
    """NumPy's astype: with a derivative in x."""

def atan(x: Operand, /) -> Tensor:
    """NumPy's arctan: with a derivative in x."""

def atan2(y: Operand, x: Operand, /) -> Tensor:
    """NumPy's arctan2: with a derivative in y, x."""

def atanh(x: Operand, /) -> Tensor:
    """NumPy's arctanh: with a derivative in x."""

def atleast_1d(*arys: Any) -> Any:
    """NumPy's atleast_1d: a composition of differentiable functions."""

def atleast_2d(*arys: Any) -> Any:
    """NumPy's atleast_2d: a composition of differentiable functions."""

def atleast_3d(*arys: Any) -> Any:
    """NumPy's atleast_3d: a composition of differentiable functions."""

def average(a: Operand, axis: Axis = None, weights: Any = None, returned: Any = False, *, keepdims: bool = False) -> Any:
    """NumPy's average: a composition of differentiable functions."""

def bitwise_and(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's bitwise_and: a Tensor of its own, without a gradient."""

def bitwise_invert(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's invert: a Tensor of its own, without a gradient."""

def bitwise_left_shift(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's left_shift: a Tensor of its own, without a gradient."""

def bitwise_not(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's invert: a Tensor of its own, without a gradient."""

def bitwise_or(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's bitwise_or: a Tensor of its own, without a gradient."""

def bitwise_right_shift(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's right_shift: a Tensor of its own, without a gradient."""

def bitwise_xor(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's bitwise_xor: a Tensor of its own, without a gradient."""

def block(arrays: Any) -> Tensor:
    """NumPy's block: a composition of differentiable functions."""

def broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    """NumPy's broadcast_arrays: a composition of differentiable functions."""

def broadcast_to(array: Operand, /, shape: Any) -> Tensor:
    """NumPy's broadcast_to: with a derivative in array."""

def cbrt(x: Operand, /) -> Tensor:
    """NumPy's cbrt: with a derivative in x."""

def ceil(x: Operand, /) -> Tensor:
    """NumPy's ceil: with a derivative in x."""

def choose(a: Operand, choices: Any, mode: Any = "raise") -> Tensor:
    """NumPy's choose: a composition of differentiable functions."""

def clip(a: Operand, a_min: Operand | None = None, a_max: Operand | None = None) -> Tensor:
    """NumPy's clip: with a derivative in a, a_min, a_max."""

def column_stack(tup: Any) -> Tensor:
    """NumPy's column_stack: a composition of differentiable functions."""

def compress(condition: Any, a: Operand, axis: Axis = None) -> Tensor:
    """NumPy's compress: a composition of differentiable functions."""

def concat(arrays: Any, /, axis: int | None = 0) -> Tensor:
    """NumPy's concatenate: with a derivative in each array."""

def concatenate(arrays: Any, /, axis: int | None = 0) -> Tensor:
    """NumPy's concatenate: with a derivative in each array."""

def conj(x: Operand, /) -> Tensor:
    """NumPy's conjugate: with a derivative in x."""

def conjugate(x: Operand, /) -> Tensor:
    """NumPy's conjugate: with a derivative in x."""

def convolve(a: Operand, v: Operand, mode: Any = "full") -> Tensor:
    """NumPy's convolve: a composition of differentiable functions."""

def copy(a: Operand, /, order: Any = "K") -> Tensor:
    """NumPy's copy: with a derivative in a."""

def copysign(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's copysign: with a derivative in x, y."""

def corrcoef(x: Operand, y: Any = None, rowvar: Any = True, *, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's corrcoef: a composition of differentiable functions."""

def correlate(a: Operand, v: Operand, mode: Any = "valid") -> Tensor:
    """NumPy's correlate: a composition of differentiable functions."""

def cos(x: Operand, /) -> Tensor:
    """NumPy's cos: with a derivative in x."""

def cosh(x: Operand, /) -> Tensor:
    """NumPy's cosh: with a derivative in x."""

def cov(m: Operand, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None, aweights: Any = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's cov: a composition of differentiable functions."""

def cross(a: Operand, b: Operand, /, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Axis = None) -> Tensor:
    """NumPy's cross: with a derivative in a, b."""

def cumprod(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's cumprod: with a derivative in a."""

def cumsum(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's cumsum: with a derivative in a."""

def cumulative_prod(x: Operand, /, *, axis: Axis = None, dtype: DTypeLike | None = None, include_initial: Any = False) -> Tensor:
    """NumPy's cumulative_prod: a composition of differentiable functions."""

def cumulative_sum(x: Operand, /, *, axis: Axis = None, dtype: DTypeLike | None = None, include_initial: Any = False) -> Tensor:
    """NumPy's cumulative_sum: a composition of differentiable functions."""

def deg2rad(x: Operand, /) -> Tensor:
    """NumPy's deg2rad: with a derivative in x."""

def degrees(x: Operand, /) -> Tensor:
    """NumPy's degrees: with a derivative in x."""

def delete(arr: Operand, obj: Any, axis: Axis = None) -> Tensor:
    """NumPy's delete: a composition of differentiable functions."""

def diag(v: Operand, k: Any = 0) -> Tensor:
    """NumPy's diag: a composition of differentiable functions."""

def diagflat(v: Operand, k: Any = 0) -> Tensor:
    """NumPy's diagflat: a composition of differentiable functions."""

def diagonal(a: Operand, /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """NumPy's diagonal: with a derivative in a."""

def diff(a: Operand, n: Any = 1, axis: Axis = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """NumPy's diff: a composition of differentiable functions."""

def divide(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's divide: with a derivative in x, y."""

def divmod(x1: Operand, x2: Operand) -> tuple[Tensor, ...]:
    """NumPy's divmod: a composition of differentiable functions."""

def dot(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's dot: with a derivative in a, b."""

def dsplit(ary: Operand, indices_or_sections: Any) -> list[Tensor]:
    """NumPy's dsplit: a composition of differentiable functions."""

def dstack(tup: Any) -> Tensor:
    """NumPy's dstack: a composition of differentiable functions."""

def ediff1d(ary: Operand, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """NumPy's ediff1d: a composition of differentiable functions."""

def einsum(subscripts: Any, /, *operands: Any, optimize: Any = False) -> Tensor:
    """NumPy's einsum: with a derivative in each array."""

def empty_like(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's empty_like: a Tensor of its own, without a gradient."""

def exp(x: Operand, /) -> Tensor:
    """NumPy's exp: with a derivative in x."""

def exp2(x: Operand, /) -> Tensor:
    """NumPy's exp2: with a derivative in x."""

def expand_dims(a: Operand, /, axis: Axis) -> Tensor:
    """NumPy's expand_dims: with a derivative in a."""

def expm1(x: Operand, /) -> Tensor:
    """NumPy's expm1: with a derivative in x."""

def extract(condition: Any, arr: Operand) -> Tensor:
    """NumPy's extract: a composition of differentiable functions."""

def fabs(x: Operand, /) -> Tensor:
    """NumPy's fabs: with a derivative in x."""

def fix(x: Operand) -> Tensor:
    """NumPy's fix: a composition of differentiable functions."""

def flip(m: Operand, /, axis: Axis = None) -> Tensor:
    """NumPy's flip: with a derivative in m."""

def fliplr(m: Operand) -> Tensor:
    """NumPy's fliplr: a composition of differentiable functions."""

def flipud(m: Operand) -> Tensor:
    """NumPy's flipud: a composition of differentiable functions."""

def float_power(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's float_power: with a derivative in x, y."""

def floor(x: Operand, /) -> Tensor:
    """NumPy's floor: with a derivative in x."""

def floor_divide(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's floor_divide: with a derivative in x, y."""

def fmax(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's fmax: with a derivative in x, y."""

def fmin(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's fmin: with a derivative in x, y."""

def fmod(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's fmod: with a derivative in x, y."""

def full_like(a: Operand, fill_value: Any, dtype: DTypeLike | None = None, order: Any = "K", subok: Any = True, shape: Any = None, device: Any = None) -> Tensor:
    """NumPy's full_like: a composition of differentiable functions."""

def gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: Any = 1) -> Any:
    """NumPy's gradient: a composition of differentiable functions."""

def heaviside(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's heaviside: with a derivative in x, y."""

def hsplit(ary: Operand, indices_or_sections: Any) -> list[Tensor]:
    """NumPy's hsplit: a composition of differentiable functions."""

def hstack(tup: Any) -> Tensor:
    """NumPy's hstack: a composition of differentiable functions."""

def hypot(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's hypot: with a derivative in x, y."""

def imag(val: Operand, /) -> Tensor:
    """NumPy's imag: with a derivative in val."""

def inner(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's inner: with a derivative in a, b."""

def insert(arr: Operand, obj: Any, values: Operand, axis: Axis = None) -> Tensor:
    """NumPy's insert: a composition of differentiable functions."""

def interp(x: Operand, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Tensor:
    """NumPy's interp: a composition of differentiable functions."""

def invert(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's invert: a Tensor of its own, without a gradient."""

def kron(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's kron: with a derivative in a, b."""

def ldexp(x: Operand, exponent: Operand, /) -> Tensor:
    """NumPy's ldexp: with a derivative in x."""

def left_shift(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's left_shift: a Tensor of its own, without a gradient."""

def linspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: DTypeLike | None = None, axis: Axis = 0) -> Any:
    """NumPy's linspace: a composition of differentiable functions."""

def log(x: Operand, /) -> Tensor:
    """NumPy's log: with a derivative in x."""

def log10(x: Operand, /) -> Tensor:
    """NumPy's log10: with a derivative in x."""

def log1p(x: Operand, /) -> Tensor:
    """NumPy's log1p: with a derivative in x."""

def log2(x: Operand, /) -> Tensor:
    """NumPy's log2: with a derivative in x."""

def logaddexp(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's logaddexp: with a derivative in x, y."""

def logaddexp2(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's logaddexp2: with a derivative in x, y."""

def logspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = ..., dtype: DTypeLike | None = None, axis: Axis = 0) -> Tensor:
    """NumPy's logspace: a composition of differentiable functions."""

def matmul(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's matmul: with a derivative in x, y."""

def matrix_transpose(x: Operand) -> Tensor:
    """NumPy's matrix_transpose: a composition of differentiable functions."""

def matvec(x1: Operand, x2: Operand, /) -> Tensor:
    """NumPy's matvec: a composition of differentiable functions."""

def max(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's max: with a derivative in a."""

def maximum(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's maximum: with a derivative in x, y."""

def mean(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's mean: with a derivative in a."""

def median(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """NumPy's median: a composition of differentiable functions."""

def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> tuple[Tensor, ...]:
    """NumPy's meshgrid: a composition of differentiable functions."""

def min(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's min: with a derivative in a."""

def minimum(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's minimum: with a derivative in x, y."""

def mod(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's remainder: with a derivative in x, y."""

def modf(x: Operand, /) -> tuple[Tensor, ...]:
    """NumPy's modf: with a derivative in x."""

def moveaxis(a: Operand, source: Any, destination: Any) -> Tensor:
    """NumPy's moveaxis: a composition of differentiable functions."""

def multiply(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's multiply: with a derivative in x, y."""

def nan_to_num(x: Operand, /, nan: Any = ..., posinf: Any = None, neginf: Any = None) -> Tensor:
    """NumPy's nan_to_num: with a derivative in x."""

def nancumprod(a: Operand, axis: Axis = None, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's nancumprod: a composition of differentiable functions."""

def nancumsum(a: Operand, axis: Axis = None, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's nancumsum: a composition of differentiable functions."""

def nanmax(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's nanmax: with a derivative in a."""

def nanmean(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's nanmean: with a derivative in a."""

def nanmedian(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """NumPy's nanmedian: a composition of differentiable functions."""

def nanmin(a: Operand, /, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """NumPy's nanmin: with a derivative in a."""

def nanpercentile(a: Operand, q: Any, axis: Axis = None, *, method: Any = "linear", keepdims: bool = False) -> Tensor:
    """NumPy's nanpercentile: a composition of differentiable functions."""

def nanprod(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, initial: Any = 1, where: Any = True) -> Tensor:
    """NumPy's nanprod: with a derivative in a."""

def nanquantile(a: Operand, q: Any, axis: Axis = None, *, method: Any = "linear", keepdims: bool = False) -> Tensor:
    """NumPy's nanquantile: a composition of differentiable functions."""

def nanstd(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, ddof: Any = 0, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's nanstd: with a derivative in a."""

def nansum(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, initial: Any = 0, where: Any = True) -> Tensor:
    """NumPy's nansum: with a derivative in a."""

def nanvar(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, ddof: Any = 0, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's nanvar: with a derivative in a."""

def negative(x: Operand, /) -> Tensor:
    """NumPy's negative: with a derivative in x."""

def ones_like(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's ones_like: a Tensor of its own, without a gradient."""

def outer(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's outer: with a derivative in a, b."""

def pad(array: Operand, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Tensor:
    """NumPy's pad: a composition of differentiable functions."""

def partition(a: Operand, /, kth: Any, axis: Axis = -1) -> Tensor:
    """NumPy's partition: with a derivative in a."""

def percentile(a: Operand, q: Any, axis: Axis = None, *, method: Any = "linear", keepdims: bool = False) -> Tensor:
    """NumPy's percentile: a composition of differentiable functions."""

def permute_dims(a: Operand, /, axes: Any = None) -> Tensor:
    """NumPy's transpose: with a derivative in a."""

def piecewise(x: Operand, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """NumPy's piecewise: a composition of differentiable functions."""

def polyfit(x: Operand, y: Operand, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    """NumPy's polyfit: a composition of differentiable functions."""

def polyval(p: Operand, x: Operand) -> Tensor:
    """NumPy's polyval: a composition of differentiable functions."""

def positive(x: Operand, /) -> Tensor:
    """NumPy's positive: with a derivative in x."""

def pow(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's power: with a derivative in x, y."""

def power(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's power: with a derivative in x, y."""

def prod(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, initial: Any = 1, where: Any = True) -> Tensor:
    """NumPy's prod: with a derivative in a."""

def ptp(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """NumPy's ptp: a composition of differentiable functions."""

def quantile(a: Operand, q: Any, axis: Axis = None, *, method: Any = "linear", keepdims: bool = False) -> Tensor:
    """NumPy's quantile: a composition of differentiable functions."""

def rad2deg(x: Operand, /) -> Tensor:
    """NumPy's rad2deg: with a derivative in x."""

def radians(x: Operand, /) -> Tensor:
    """NumPy's radians: with a derivative in x."""

def ravel(a: Operand, order: Any = "C") -> Tensor:
    """NumPy's ravel: a composition of differentiable functions."""

def real(val: Operand, /) -> Tensor:
    """NumPy's real: with a derivative in val."""

def real_if_close(a: Operand, tol: Any = 100) -> Tensor:
    """NumPy's real_if_close: a composition of differentiable functions."""

def reciprocal(x: Operand, /) -> Tensor:
    """NumPy's reciprocal: with a derivative in x."""

def remainder(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's remainder: with a derivative in x, y."""

def repeat(a: Operand, /, repeats: Any, axis: Axis = None) -> Tensor:
    """NumPy's repeat: with a derivative in a."""

def reshape(a: Operand, /, shape: Any, order: Any = "C") -> Tensor:
    """NumPy's reshape: with a derivative in a."""

def resize(a: Operand, new_shape: Any) -> Tensor:
    """NumPy's resize: a composition of differentiable functions."""

def right_shift(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's right_shift: a Tensor of its own, without a gradient."""

def rint(x: Operand, /) -> Tensor:
    """NumPy's rint: with a derivative in x."""

def roll(a: Operand, /, shift: Any, axis: Axis = None) -> Tensor:
    """NumPy's roll: with a derivative in a."""

def rollaxis(a: Operand, axis: Axis, start: Any = 0) -> Tensor:
    """NumPy's rollaxis: a composition of differentiable functions."""

def rot90(m: Operand, k: Any = 1, axes: Any = ...) -> Tensor:
    """NumPy's rot90: a composition of differentiable functions."""

def round(a: Operand, /, decimals: Any = 0) -> Tensor:
    """NumPy's round: with a derivative in a."""

def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """NumPy's select: a composition of differentiable functions."""

def sign(x: Operand, /) -> Tensor:
    """NumPy's sign: with a derivative in x."""

def sin(x: Operand, /) -> Tensor:
    """NumPy's sin: with a derivative in x."""

def sinc(x: Operand, /) -> Tensor:
    """NumPy's sinc: with a derivative in x."""

def sinh(x: Operand, /) -> Tensor:
    """NumPy's sinh: with a derivative in x."""

def sort(a: Operand, /, axis: Axis = -1, kind: Any = None, stable: Any = None) -> Tensor:
    """NumPy's sort: with a derivative in a."""

def split(ary: Operand, /, indices_or_sections: Any, axis: Axis = 0) -> list[Tensor]:
    """NumPy's split: with a derivative in ary."""

def sqrt(x: Operand, /) -> Tensor:
    """NumPy's sqrt: with a derivative in x."""

def square(x: Operand, /) -> Tensor:
    """NumPy's square: with a derivative in x."""

def squeeze(a: Operand, /, axis: Axis = None) -> Tensor:
    """NumPy's squeeze: with a derivative in a."""

def stack(arrays: Any, axis: int = 0) -> Tensor:
    """NumPy's stack: with a derivative in each array."""

def std(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, ddof: Any = 0, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's std: with a derivative in a."""

def subtract(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's subtract: with a derivative in x, y."""

def sum(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False, initial: Any = 0, where: Any = True) -> Tensor:
    """NumPy's sum: with a derivative in a."""

def swapaxes(a: Operand, /, axis1: Any, axis2: Any) -> Tensor:
    """NumPy's swapaxes: with a derivative in a."""

def take(a: Operand, indices: Operand, /, axis: Axis = None) -> Tensor:
    """NumPy's take: with a derivative in a."""

def take_along_axis(arr: Operand, indices: Operand, /, axis: Axis = -1) -> Tensor:
    """NumPy's take_along_axis: with a derivative in arr."""

def tan(x: Operand, /) -> Tensor:
    """NumPy's tan: with a derivative in x."""

def tanh(x: Operand, /) -> Tensor:
    """NumPy's tanh: with a derivative in x."""

def tensordot(a: Operand, b: Operand, /, axes: Any = 2) -> Tensor:
    """NumPy's tensordot: with a derivative in a, b."""

def tile(A: Operand, /, reps: Any) -> Tensor:
    """NumPy's tile: with a derivative in A."""

def trace(a: Operand, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: DTypeLike | None = None) -> Tensor:
    """NumPy's trace: a composition of differentiable functions."""

def transpose(a: Operand, /, axes: Any = None) -> Tensor:
    """NumPy's transpose: with a derivative in a."""

def trapezoid(y: Operand, x: Any = None, dx: Any = ..., axis: Axis = -1) -> Tensor:
    """NumPy's trapezoid: a composition of differentiable functions."""

def tril(m: Operand, /, k: Any = 0) -> Tensor:
    """NumPy's tril: with a derivative in m."""

def triu(m: Operand, /, k: Any = 0) -> Tensor:
    """NumPy's triu: with a derivative in m."""

def true_divide(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's divide: with a derivative in x, y."""

def trunc(x: Operand, /) -> Tensor:
    """NumPy's trunc: with a derivative in x."""

def unique(ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Axis = None, *, equal_nan: Any = True) -> Any:
    """NumPy's unique: a composition of differentiable functions."""

def unstack(x: Operand, axis: Axis = 0) -> tuple[Tensor, ...]:
    """NumPy's unstack: a composition of differentiable functions."""

def var(a: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, ddof: Any = 0, keepdims: bool = False, where: Any = True) -> Tensor:
    """NumPy's var: with a derivative in a."""

def vdot(a: Operand, b: Operand, /) -> Tensor:
    """NumPy's vdot: with a derivative in a, b."""

def vecdot(x1: Operand, x2: Operand, /, *, axis: Axis = -1) -> Tensor:
    """NumPy's vecdot: a composition of differentiable functions."""

def vecmat(x1: Operand, x2: Operand, /) -> Tensor:
    """NumPy's vecmat: a composition of differentiable functions."""

def vsplit(ary: Operand, indices_or_sections: Any) -> list[Tensor]:
    """NumPy's vsplit: a composition of differentiable functions."""

def vstack(tup: Any) -> Tensor:
    """NumPy's vstack: a composition of differentiable functions."""

def where(condition: Operand, x: Operand, y: Operand, /) -> Tensor:
    """NumPy's where: with a derivative in x, y."""

def zeros_like(a: Operand, *args: Any, **kwargs: Any) -> Tensor:
    """NumPy's zeros_like: a Tensor of its own, without a gradient."""
