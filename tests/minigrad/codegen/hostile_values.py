"""Programs that take values out of arrays, write through views, or depend on dtypes, memory layout and types."""

from __future__ import annotations

import copy
import fractions
import io
import json
import math
import operator
import pickle
import statistics
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import minigrad as mg

from .hostile_kit import Arguments, Array, cases, drawn, hostile, normal, with_integers

# --- Values that leave the arrays ---


@hostile(normal((4,)), "item() gives a Python float that scales the result.")
def scaled_by_item(x: Array) -> Array:
    return x[0].item() * x.sum() + x.max().item()


@hostile(normal((4,)), "A value goes through formatted text.")
def value_through_text(x: Array) -> Array:
    return float(f"{x[0].item():.2f}") * x.sum()


@hostile(normal((4,)), "repr and eval of a list of values.")
def value_through_repr(x: Array) -> Array:
    weights = np.array(eval(repr(x.tolist())))
    return (weights * x).sum()


@hostile(normal((3,)), "str() of an array and its first character.")
def sign_from_text(x: Array) -> Array:
    return x.sum() if str(x[0].detach().numpy()).startswith("-") else (x * x).sum()


@hostile(normal((3,)), "JSON writes the values and reads them.")
def value_through_json(x: Array) -> Array:
    weights = json.loads(json.dumps({"weights": x.tolist()}))["weights"]
    return sum(weight * value for weight, value in zip(weights, x))


@hostile(normal((3,)), "pickle writes the values and reads them.")
def value_through_pickle(x: Array) -> Array:
    weights = pickle.loads(pickle.dumps(x.numpy()))
    return (weights * x).sum()


@hostile(normal((3,)), "np.save and np.load through memory.")
def value_through_np_save(x: Array) -> Array:
    file = io.BytesIO()
    np.save(file, x.numpy())
    file.seek(0)
    return (np.load(file) * x).sum()


@hostile(normal((3,)), "The bytes of an array are read by np.frombuffer.")
def value_through_bytes(x: Array) -> Array:
    return (np.frombuffer(x.numpy().tobytes()) * x).sum()


@hostile(normal((3,)), "memoryview shares the memory of an array.")
def value_through_memoryview(x: Array) -> Array:
    return memoryview(x.numpy())[1] * x.sum()


@hostile(normal((3,)), "struct packs a float and unpacks it as an integer.")
def bits_through_struct(x: Array) -> Array:
    (bits,) = struct.unpack("<q", struct.pack("<d", x[0].item()))
    return (bits >> 52) * x.sum()


@hostile(normal((3,)), "A view of the bits as integers.")
def bits_through_view(x: Array) -> Array:
    return (x * (x.numpy().view(np.int64) >> 52)).sum()


@hostile(normal((3,)), "A checksum of the bytes is the weight.")
def checksum_as_weight(x: Array) -> Array:
    return (zlib.crc32(x.numpy().tobytes()) % 100) * x.sum()


@hostile(normal((3,)), "math.floor, round, divmod and int of a float.")
def rounded_in_python(x: Array) -> Array:
    v = x[0].item()
    quotient, rest = divmod(v, 0.4)
    return (math.floor(v * 10) + round(v, 1) + int(v * 7) + quotient - rest) * x.sum()


@hostile(normal((3,)), "math functions of a float.")
def math_functions(x: Array) -> Array:
    v = x[0].item()
    return (math.sin(v) + math.hypot(v, 2.0) + math.copysign(3.0, v) + math.fsum([v, 1e16, -1e16])) * x.sum()


@hostile(normal((3,)), "Methods of float that return other types.")
def methods_of_float(x: Array) -> Array:
    v = x[0].item()
    numerator, denominator = v.as_integer_ratio()
    return (numerator / denominator + float.fromhex(v.hex()) + fractions.Fraction(v).limit_denominator(5)) * x.sum()


@hostile(normal((4,)), "statistics and max of a list of floats.")
def statistics_of_a_list(x: Array) -> Array:
    values = x.tolist()
    return (statistics.median(values) + max(values) + sorted(values)[1] + values.index(min(values))) * x.sum()


@hostile(normal((3,)), "Unbound methods and operators of a float.")
def unbound_operators(x: Array) -> Array:
    v = x[0].item()
    return (float.__mul__(v, 2.0) + operator.add(v, 1.0) + float.__add__(1.0, v)) * x.sum()


@hostile(normal((3,)), "np.array, np.full and np.linspace made from floats.")
def arrays_made_from_floats(x: Array) -> Array:
    v = x[0].item()
    return (x * np.array([v, 2 * v, 1.0]) + np.full(3, v) * x + np.linspace(0.0, v, 3) * x).sum()


@hostile(normal((3,)), "np.float64(...) and complex(...) of a float.")
def scalars_made_from_floats(x: Array) -> Array:
    v = x[0].item()
    return (np.float64(v) * x).sum() + complex(v, 1.0).real * x[1]


@hostile(normal((3,)), "The length of np.arange depends on a value.")
def length_of_arange(x: Array) -> Array:
    steps = np.arange(0.0, 3.0 + x[0].item(), 0.5)
    return x.sum() * len(steps) + (steps * x[1]).sum()


@hostile(normal((3,)), "x.numpy() as a constant, which stops the gradient.")
def detached_through_numpy(x: Array) -> Array:
    return (x * np.exp(x.numpy())).sum()


@hostile(normal((3,)), "x.data and x.detach() as constants.")
def detached_through_data(x: Array) -> Array:
    return (x * np.tanh(x.data)).sum() + (x * x.detach()).sum()


@hostile(normal((3,)), "np.asarray of a detached Tensor, and a list of its elements.")
def detached_through_asarray(x: Array) -> Array:
    plain = np.asarray(x.detach())
    return (x * plain).sum() + x[0] * np.array(list(plain))[1]


@hostile(normal((4,)), "The straight-through estimator: values are rounded, gradients are not.")
def straight_through(x: Array) -> Array:
    rounded = x + (np.round(x * 2) / 2 - x).detach()
    return (rounded**2).sum()


@hostile(normal((4,)), "no_grad() around a part of the function.")
def part_under_no_grad(x: Array) -> Array:
    with mg.no_grad():
        scale = np.sqrt((x * x).sum())
    return (x / scale).sum() + x[0] ** 2


@hostile(normal((4,)), "np.vectorize, np.frompyfunc and np.apply_along_axis call Python with elements.")
def python_called_by_numpy(x: Array) -> Array:
    plain = x.numpy()
    steps = np.vectorize(lambda v: 1.0 if v > 0 else -2.0)(plain)
    parity = np.frompyfunc(lambda v: int(v * 3) % 2, 1, 1)(plain).astype(float)
    largest = np.apply_along_axis(lambda row: row[row > row.mean()].sum(), 0, plain)
    return (x * steps + x * parity).sum() * largest


@hostile(normal((4,)), "np.nditer, np.ndenumerate and .flat give the elements one by one.")
def element_iterators(x: Array) -> Array:
    elements: Any = np.nditer(x.numpy())
    total = sum(float(v) for v in elements if v > 0)
    weighted = sum(i * v for (i,), v in np.ndenumerate(x.numpy()))
    return (total + weighted + x.numpy().flat[2]) * x.sum()


@hostile(normal((4,)), "Threads choose the branch for each element.")
def branches_in_threads(x: Array) -> Array:
    with ThreadPoolExecutor(2) as pool:
        scales = list(pool.map(lambda v: 2.0 if v > 0 else 3.0, x.tolist()))
    return (x * np.array(scales)).sum()


@hostile(normal((4,)), "A dict whose keys are values.")
def dict_of_values(x: Array) -> Array:
    table = {value: i for i, value in enumerate(sorted(x.tolist()))}
    return sum(table[v.item()] * v for v in x)


@hostile(with_integers((4,), 3, 4), "Integers of an array are keys, text and indices of a list.")
def integers_as_keys(x: Array, k: Array) -> Array:
    weights = {"0": 1.0, "1": -2.0, "2": 5.0}
    return sum(weights[str(i)] * [2, 3, 4][i] * v for i, v in zip(k, x))


@hostile(with_integers((4,), 100, 2), "math.gcd, bit_length and the decimal digits of integers.")
def number_theory(x: Array, k: Array) -> Array:
    a, b = k.tolist()
    return (math.gcd(a, b) + a.bit_length() + sum(map(int, str(b))) + len(bin(a))) * x.sum()


@hostile(with_integers((4,), 5, 3), "bytes of integers are text that chooses the branch.")
def integers_as_text(x: Array, k: Array) -> Array:
    word = bytes((k + 97).tolist()).decode()
    return x.sum() if word < "cba" else (x * x).sum() * word.count("a")


@hostile(with_integers((4,), 1000, 1), "A generator of random numbers is seeded with an argument.")
def seeded_with_an_argument(x: Array, seed: Array) -> Array:
    return (x * np.random.default_rng(int(seed[0])).normal(size=4)).sum()


@hostile(normal((4,)), "A generator of random numbers is seeded with a value of x.")
def seeded_with_a_value(x: Array) -> Array:
    return (x * np.random.default_rng(abs(int(x[0].item() * 100))).normal(size=4)).sum()


@hostile(normal((3,)), "A lesson in plain NumPy inside: the gradient of an inner backward() is a constant.")
def inner_backward(x: Array) -> Array:
    w = mg.Tensor(x.numpy(), requires_grad=True)
    (w**3).sum().backward()
    return (x * w.grad).sum()


# --- Writes ---


@hostile(with_integers((5,), 5, 3), "A buffer of zeros is filled at indices of an argument.")
def buffer_filled_at_indices(x: Array, k: Array) -> Array:
    buffer = np.zeros(5)
    buffer[k] = 1.0
    buffer[k[0]] += 2.0
    return (x * buffer).sum()


@hostile(normal((5,)), "A buffer is filled with values of x, element by element.")
def buffer_filled_with_values(x: Array) -> Array:
    buffer = np.zeros(5)
    for i in range(1, 5):
        buffer[i] = 0.5 * buffer[i - 1] + x[i].item()
    return (x * buffer).sum()


@hostile(normal((3, 3)), "Writes through a view, a reshaped view and a transposed one.")
def writes_through_views(x: Array) -> Array:
    buffer = x.numpy().copy()
    row, flat, turned = buffer[1], buffer.reshape(-1), buffer.T
    row *= 2.0
    flat[::4] = 0.0
    turned[0] += 1.0
    return (x * buffer).sum()


@hostile(normal((4,)), "A buffer changes after it was used: the product has the old values.")
def buffer_used_between_writes(x: Array) -> Array:
    buffer = x.numpy().copy()
    first = x + buffer
    buffer[:] = 0.0
    second = x + buffer
    return first.sum() + (second * second).sum()


@hostile(normal((4,)), "np.copyto, out= and where= write into buffers.")
def copyto_and_out(x: Array) -> Array:
    plain, buffer = x.numpy(), np.zeros(4)
    np.copyto(buffer, plain, where=plain > 0)
    np.multiply(buffer, 3.0, out=buffer)
    np.sqrt(buffer, out=buffer, where=buffer > 0.5)
    return (x * buffer).sum()


@hostile(with_integers((5,), 5, 4), "ufunc.at and ufunc.reduceat with indices of an argument.")
def ufunc_at_and_reduceat(x: Array, k: Array) -> Array:
    buffer = np.ones(5)
    np.add.at(buffer, k, [1.0, 2.0, 3.0, 4.0])
    np.multiply.at(buffer, k[:2], -1.0)
    return (x * buffer).sum() + np.add.reduceat(x.numpy(), np.sort(k)).sum() * x[0]


@hostile(normal((3, 3)), "np.fill_diagonal, np.put, np.place and np.putmask write into a copy.")
def writers_of_numpy(x: Array) -> Array:
    table = x.numpy().copy()
    np.fill_diagonal(table, table[0])
    np.put(table, [1, -1], [5.0, 6.0])
    np.place(table, table > 1, [0.25, 0.5])
    np.putmask(table, table < -1, -1.0)
    return (x * table).sum()


@hostile(normal((5,)), "ndarray methods that work in place: sort and fill.")
def methods_in_place(x: Array) -> Array:
    ordered = x.numpy().copy()
    ordered.sort()
    halves = ordered[::-1].copy()
    halves[:2].fill(ordered[0])
    return (x * ordered + x * halves).sum()


@hostile(with_integers((5,), 9, 5), "An integer argument is sorted in place.")
def sorts_its_argument(x: Array, k: Array) -> Array:
    before = k[0]
    k.sort()
    return (x * k).sum() * before


@hostile(with_integers((5,), 9, 5), "An integer argument is changed through a view while a product still needs it.")
def changes_its_argument_through_a_view(x: Array, k: Array) -> Array:
    old = k.astype(float)
    window = k[1:4]
    window += 10
    return (x * k * old).sum()


@hostile(with_integers((4,), 4, 3), "A list of arrays is filled in an order that depends on integers.")
def list_filled_in_order(x: Array, k: Array) -> Array:
    slots: list[Any] = [0.0] * 4
    for turn, i in enumerate(k):
        slots[i] = np.sin(x) * (turn + 1)
    return sum(np.sum(slot) for slot in slots)


def _aliased_integers(seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=4), rng.integers(0, 4, 4)
    return x, k, (k if seed % 2 else rng.integers(0, 4, 4))


@hostile(_aliased_integers, "Two arguments are the same array for some seeds, and one is written.")
def same_array_twice(x: Array, k: Array, m: Array) -> Array:
    k[0] = 7
    return (x * m).sum()


@hostile(_aliased_integers, "`is` and np.shares_memory compare two arguments.")
def identity_of_arguments(x: Array, k: Array, m: Array) -> Array:
    if k is m:
        return x.sum()
    return (x * x).sum() * (2 if np.shares_memory(k, m) else 3)


def _overlapping(seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 9, 5)
    return rng.normal(size=4), base[:-1], base[1:] if seed % 2 else rng.integers(0, 9, 4)


@hostile(_overlapping, "Two integer arguments overlap in memory for some seeds.")
def overlapping_arguments(x: Array, k: Array, m: Array) -> Array:
    k += 1
    return (x * m).sum()


def _same_floats(seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=3)
    return x, (x if seed % 2 == 0 else rng.normal(size=3))


@hostile(_same_floats, "The same float array twice: each argument has a gradient of its own.")
def same_floats_twice(x: Array, y: Array) -> Array:
    return (x * y * y).sum() + (x if x is y else 2 * y).sum()


@hostile(normal(()), "The argument itself is returned.")
def returns_its_argument(x: Array) -> Array:
    return x


@hostile(normal((3,)), "A view of the argument is returned, at an index that depends on data.")
def returns_a_view(x: Array) -> Array:
    return x.reshape(3)[int(np.argmin(x))]


@hostile(normal((3,), (3,)), "One of the arguments is not used, or used only for a branch.")
def unused_argument(x: Array, y: Array) -> Array:
    return x.sum() if y[0] > 0 else x.prod()


@hostile(normal((3,)), "The result is a constant for some data.")
def constant_for_some_data(x: Array) -> Array:
    return 1.5 if x[0] > 0 else x.sum()


# --- Memory layout and types ---


def _layouts(seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, (3, 3))
    return rng.normal(size=9), [table, table.T, np.asfortranarray(table)][seed % 3]


@hostile(_layouts, "The order of the elements in memory: ravel with order K and A.")
def order_in_memory(x: Array, k: Array) -> Array:
    return (x * k.ravel(order="K")).sum() + (x[::-1] * k.reshape(-1, order="A")).sum()


@hostile(_layouts, "Flags, strides and base of an argument as branches.")
def flags_and_strides(x: Array, k: Array) -> Array:
    if k.flags.c_contiguous:
        return x.sum()
    return (x * x).sum() * k.strides[0] * (1 if k.base is None else 2)


@hostile(_layouts, "np.nditer follows the memory, and tobytes with order A copies it.")
def iteration_in_memory_order(x: Array, k: Array) -> Array:
    elements: Any = np.nditer(k)
    items = [int(v) for v in elements]
    return sum(i * v for i, v in zip(items, x)) + k.tobytes(order="A")[8] * x[0]


def _writeable(seed: int) -> Arguments:
    x, k = with_integers((3,), 5, 3)(seed)
    k.flags.writeable = seed % 2 == 0
    return x, k


@hostile(_writeable, "A write into an argument that is read-only for some seeds.")
def read_only_argument(x: Array, k: Array) -> Array:
    try:
        k[0] = 4
    except ValueError:
        k = -k
    return (x * k).sum()


@hostile(normal((3,)), "isinstance, type() and __class__ tell a Tensor from an array.")
def duck_typing(x: Array) -> Array:
    y = x * x if isinstance(x, np.ndarray) else x + 1
    z = y * 2 if type(x).__name__ == "Tensor" else y * 3
    return (z if x.__class__ is mg.Tensor else -z).sum()


@hostile(normal((3,)), "hasattr and callable tell a Tensor from an array.")
def attribute_tests(x: Array) -> Array:
    scale = 2.0 if hasattr(x, "requires_grad") else 3.0
    scale += 4.0 if hasattr(x, "ctypes") or hasattr(x, "flat") else 5.0
    return scale * (x.detach() * x if callable(getattr(x, "detach", None)) else x).sum()


@hostile(with_integers((3,), 5, 3), "An exact type test on an integer array and on its element.")
def types_of_integers(x: Array, k: Array) -> Array:
    scale = 2.0 if type(k) is np.ndarray else 3.0
    scale *= 5.0 if isinstance(k[0], np.integer) else 7.0
    return scale * (x * k).sum() * (1.0 if isinstance(k.sum(), np.generic) else -1.0)


@hostile(normal((3, 3)), "Lengths and shapes as numbers, where two axes are equal.")
def shapes_as_numbers(a: Array) -> Array:
    total = sum(row.sum() * len(a) for row in a) / np.shape(a)[1]
    return total * np.ndim(a) + a.T[0].sum() * a.size


@hostile(
    drawn(lambda rng: (rng.normal(size=4).astype(np.float32), rng.normal(size=()))), "float32 times a Python float."
)
def single_times_item(x: Array, y: Array) -> Array:
    return (x * y.item() + x / 3).sum()


@hostile(drawn(lambda rng: (rng.normal(size=4).astype(np.float32), rng.normal(size=2))), "float32 times float64 sums.")
def single_times_double(x: Array, y: Array) -> Array:
    return (x * y.sum().item()).sum() + (x * y.detach().numpy().sum()).sum()


@hostile(
    drawn(lambda rng: (rng.normal(size=4).astype(np.float32), rng.integers(1, 9, 3))), "float32 and kinds of integers."
)
def single_and_integers(x: Array, k: Array) -> Array:
    weak, strong = x * int(k.max()), x * k.max()
    return weak.sum() / k.size + (strong * len(k)).sum() * (2 if weak.dtype == strong.dtype else 3)


@hostile(
    drawn(lambda rng: (rng.normal(size=3), rng.integers(100, 128, 3).astype(np.int8))),
    "int8 wraps, or an int is too large.",
)
def small_integers_wrap(x: Array, k: Array) -> Array:
    try:
        shifted = k + (int(k[0]) + 12)
    except OverflowError:
        shifted = k - 100
    return (x * shifted).sum() + (x * (k * 2)).sum()


@hostile(drawn(lambda rng: (rng.normal(size=3), rng.integers(0, 9, 3).astype(np.uint8))), "uint8 differences wrap.")
def unsigned_differences(x: Array, k: Array) -> Array:
    return (x[1:] * np.diff(k)).sum() + (x[:1] * (k[:1] - k[1:2]) * int(k[0])).sum()


@hostile(with_integers((3,), 70000, 2), "The dtype is chosen by the value: np.min_scalar_type.")
def dtype_by_value(x: Array, k: Array) -> Array:
    dtype = np.min_scalar_type(int(k.max()) >> int(k[0] % 16))
    return x.sum() * np.dtype(dtype).itemsize + (x * np.ones(3, dtype).sum(dtype=dtype)).sum()


@hostile(normal((3,)), "A list of an int or a float: np.array takes its dtype from the value.")
def int_or_float(x: Array) -> Array:
    number: Any = int(x[0].item() * 4) if x[1] > 0 else x[0].item()
    table = np.array([number, 3]) // 2
    return x.sum() * table[0] + (table.dtype.kind == "i") * x[1]


@hostile(with_integers((3,), 9, 3), "np.result_type, astype and np.can_cast choose between dtypes.")
def dtypes_from_functions(x: Array, k: Array) -> Array:
    halved = x.astype(np.result_type(np.float32, k[:1].astype(np.int8)))
    return halved.sum() * (2.0 if np.can_cast(k.dtype, np.int32) else 3.0) + np.iscomplexobj(x) * x[0]


@hostile(cases([1.0, 2.0, 3.0], [1.0, 0.0, 3.0], [0.0, 0.0, 3.0]), "The derivative of prod counts the zeros.")
def product_with_zeros(x: Array) -> Array:
    return x.prod() + np.cumprod(x).sum()


@hostile(cases([1.0, 2.0, 3.0], [3.0, 3.0, 1.0], [2.0, 2.0, 2.0]), "Ties of max share the gradient; sorts do not.")
def ties(x: Array) -> Array:
    return x.max() + np.maximum(x, 2.0).sum() + np.sort(x)[1] * 3 + np.median(x) + np.unique(x).sum()


@hostile(cases([3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]), "Norms, std and hypot at the origin.")
def kinks_at_the_origin(x: Array) -> Array:
    return np.linalg.norm(x) + x.std() + np.hypot(x[0], x[1]) + np.sinc(x[2]) + np.abs(x).sum()


@hostile(cases([1.0, 2.0, 0.5], [-2.0, 3.0, 0.0], [0.0, 1.0, 2.0]), "Powers of zeros and negative numbers.")
def powers_at_zero(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return (x**2).sum() + np.power(x, [0, 1, 3]).sum() + np.power(np.abs(x), x[::-1] ** 2 + 1).sum()


@hostile(
    cases([1.0, np.nan, 3.0, 4.0], [1.0, 2.0, 3.0, np.nan], [np.nan, np.nan, 1.0, 1.0]),
    "Counts of numbers that are not NaN.",
)
def counts_without_nan(x: Array) -> Array:
    return np.nanmean(x) + np.nanstd(x) + np.nanmedian(x) + np.nanmax(x)


@hostile(
    cases([[2.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 4.0]]),
    "Singular, degenerate matrices.",
)
def degenerate_matrices(a: Array) -> Array:
    return np.linalg.det(a) + np.linalg.norm(a) + np.linalg.matrix_rank(a.numpy()) * np.trace(a)


@hostile(
    cases([0.2, 1.7, 3.0], [1.0, 2.0, -5.0], [9.0, 0.0, 0.5]), "np.interp, np.clip and np.quantile at other places."
)
def places_between_knots(x: Array) -> Array:
    spread = np.interp(x, [0.0, 1.0, 2.0], [1.0, 4.0, 2.0])
    return spread.sum() + (np.clip(x, 0.0, 2.0) ** 2).sum() + np.quantile(x, 0.3)


@hostile(normal((3,)), "copy.copy, copy.deepcopy and np.copy of a detached Tensor.")
def copies(x: Array) -> Array:
    constant = copy.deepcopy(x.detach())
    return (x * constant + copy.copy(x.numpy()) * x + np.copy(x)).sum()
