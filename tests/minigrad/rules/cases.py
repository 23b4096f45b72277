"""The one table of sample calls: every primitive, on every kind of input it must get right.

`test_cases.py` runs each case against NumPy, finite differences, PyTorch and the fake device, in both precisions, in every
memory layout, with and without kernels. A new primitive needs a line here and nothing else; without one the suite fails.
"""

import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import rules
from minigrad.rules.dropout import dropout
from minigrad.rules.neural import rms_norm, rotated
from tests.lazy import torch

functional = torch.nn.functional
SDPBackend = torch.nn.attention.SDPBackend
sdpa_kernel = torch.nn.attention.sdpa_kernel

Spec = Callable[[np.random.Generator], np.ndarray]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One call of `f`, which takes arrays or Tensors alike.

    Attributes:
        primitive: whose derivative it samples.
        inputs: makers of arrays; the floating ones are differentiated.
        torch: the same function of PyTorch tensors, if there is one.
        order: to which order finite differences hold (0 at a kink).
        host_only: why a device cannot run it, if it cannot.
    """

    primitive: str
    f: Function
    inputs: tuple[Spec, ...]
    label: str
    torch: Function | None = None
    order: int = 2
    host_only: str = ""

    def arrays(self, dtype: Any = np.float64) -> list[np.ndarray]:
        """Fresh inputs, the same in every run."""
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        made = [np.asarray(spec(rng)) for spec in self.inputs]
        return [a.astype(dtype) if a.dtype.kind == "f" else a for a in made]

    @property
    def id(self) -> str:
        return f"{self.primitive}: {self.label}"


CASES: list[Case] = []


def case(
    primitive: str,
    f: Function,
    *inputs: Spec,
    label: Any,
    torch: Function | None = None,
    order: int = 2,
    host_only: str = "",
) -> None:
    CASES.append(Case(primitive, f, inputs, str(label), torch, order, host_only))


# --- inputs ---


def normal(*shape: int) -> Spec:
    return lambda rng: rng.standard_normal(shape)


def between(low: float, high: float, *shape: int) -> Spec:
    return lambda rng: rng.uniform(low, high, shape)


def positive(*shape: int) -> Spec:
    return between(0.5, 2.0, *shape)


def wide(*shape: int) -> Spec:
    return between(-4.0, 4.0, *shape)


def apart(*shape: int) -> Spec:
    """Distinct numbers of both signs, none at 0 and no two near each other: no kink is near."""
    size = math.prod(shape)
    return lambda rng: ((rng.permutation(size) - size // 2 + 0.25) * (4 / max(size, 1))).reshape(shape)


def integers(high: int, *shape: int) -> Spec:
    return lambda rng: rng.integers(0, high, shape, dtype=int)


def mask(*shape: int) -> Spec:
    return lambda rng: rng.random(shape) > 0.5


def fixed(values: Any) -> Spec:
    return lambda rng: np.array(values)


# --- elementwise ---

PAIRS: list[tuple[Any, Any]] = [
    ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((0, 3), (1, 3)), ((2, 1, 3), (4, 1)), ((3, 4), (3, 4)), ((), ())
]  # fmt: skip
BINARY: list[tuple[str, Any, Any, Any, int]] = [
    ("add", normal, normal, torch.add, 7),
    ("subtract", normal, normal, torch.subtract, 4),
    ("multiply", normal, normal, torch.multiply, 7),
    ("divide", normal, positive, torch.divide, 7),
    ("power", positive, normal, torch.pow, 7),
    ("maximum", normal, normal, torch.maximum, 7),
    ("minimum", normal, normal, torch.minimum, 4),
    ("floor_divide", normal, positive, None, 4),
    ("remainder", normal, positive, torch.remainder, 4),
]
for _name, _x, _y, _torch, _count in BINARY:
    for _shape, _other in PAIRS[:_count]:
        case(_name, getattr(np, _name), _x(*_shape), _y(*_other), label=f"{_shape}, {_other}", torch=_torch)
    case(_name, lambda x, name=_name: getattr(np, name)(x, x), positive(2, 3), label="with itself", order=0,
         torch=(lambda x, f=_torch: f(x, x)) if _torch else torch.ones_like)  # fmt: skip

SCALAR: list[tuple[str, str, Function, Any]] = [
    ("add", "x + 2", lambda x: x + 2, normal), ("add", "1.5 + x", lambda x: 1.5 + x, normal),
    ("subtract", "x - 2", lambda x: x - 2, normal), ("subtract", "1.5 - x", lambda x: 1.5 - x, normal),
    ("multiply", "x * 3", lambda x: x * 3, normal), ("multiply", "0.3 * x", lambda x: 0.3 * x, normal),
    ("divide", "x / 3", lambda x: x / 3, normal), ("divide", "2 / x", lambda x: 2 / x, positive),
    ("power", "x ** 2", lambda x: x**2, normal), ("power", "x ** 3", lambda x: x**3, normal),
    ("power", "x ** 1", lambda x: x**1, normal), ("power", "x ** 0", lambda x: x**0, normal),
    ("power", "x ** -2", lambda x: x**-2, positive), ("power", "x ** 0.5", lambda x: x**0.5, positive),
    ("power", "2 ** x", lambda x: 2**x, normal), ("power", "0.5 ** x", lambda x: 0.5**x, normal),
    ("maximum", "with 0.1", lambda x: np.maximum(x, 0.1), apart),
    ("remainder", "x % 0.7", lambda x: x % 0.7, positive), ("remainder", "3 % x", lambda x: 3 % x, positive),
    ("floor_divide", "x // 0.7", lambda x: x // 0.7, positive),
    ("negative", "-x", lambda x: -x, normal), ("positive", "+x", lambda x: +x, normal),
    ("absolute", "abs", abs, apart),
]  # fmt: skip
NUMPY_ONLY = {"with 0.1", "x // 0.7", "3 % x"}
for _name, _label, _f, _spec in SCALAR:
    case(_name, _f, _spec(3, 4), label=_label, torch=None if _label in NUMPY_ONLY else _f)

UNARY: list[tuple[str, Any, Any, Any]] = [
    ("negative", np.negative, normal, torch.negative), ("positive", np.positive, normal, torch.positive),
    ("reciprocal", np.reciprocal, positive, torch.reciprocal), ("square", np.square, normal, torch.square),
    ("sqrt", np.sqrt, positive, torch.sqrt), ("exp", np.exp, normal, torch.exp), ("exp2", np.exp2, normal, torch.exp2),
    ("expm1", np.expm1, normal, torch.expm1), ("log", np.log, positive, torch.log),
    ("log2", np.log2, positive, torch.log2), ("log10", np.log10, positive, torch.log10),
    ("log1p", np.log1p, positive, torch.log1p), ("sin", np.sin, normal, torch.sin), ("cos", np.cos, normal, torch.cos),
    ("tanh", np.tanh, normal, torch.tanh), ("absolute", np.absolute, apart, torch.abs),
    ("sign", np.sign, apart, torch.sign), ("conjugate", np.conjugate, normal, torch.conj),
    ("erf", mg.erf, wide, torch.erf),
    ("relu", mg.relu, apart, torch.relu), ("gelu", mg.gelu, wide, functional.gelu),
    ("sigmoid", mg.sigmoid, wide, torch.sigmoid), ("silu", mg.silu, wide, functional.silu),
]  # fmt: skip
for _shape in [(3, 4), (), (0, 2), (40,)]:
    for _name, _f, _spec, _torch in UNARY:
        case(_name, _f, _spec(*_shape), label=_shape, torch=_torch)
    case("gelu", lambda x: mg.gelu(x, approximate="tanh"), wide(*_shape), label=f"{_shape} tanh",
         torch=lambda x: functional.gelu(x, approximate="tanh"))  # fmt: skip

# --- reductions ---

AXES: list[tuple[tuple[int, ...], Any]] = [
    ((2, 3, 4), None), ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 0)), ((3,), 0),
    ((), None), ((2, 0, 3), 2), ((1, 3), 0),
]  # fmt: skip
REDUCTIONS: list[tuple[str, Any, Any, Any]] = [
    ("sum", np.sum, normal, torch.sum),
    ("mean", np.mean, normal, torch.mean),
    ("max", np.max, apart, torch.amax),
    ("min", np.min, apart, torch.amin),
    ("var", np.var, normal, lambda x, **k: torch.var(x, correction=0, **k)),
    ("std", np.std, normal, lambda x, **k: torch.std(x, correction=0, **k)),
]


def _reduction(name: str, numpy_f: Any, spec: Any, torch_f: Any, shape: tuple[int, ...], axis: Any, keep: bool) -> None:
    dim = tuple(range(len(shape))) if axis is None else axis
    case(
        name,
        lambda x: numpy_f(x, axis=axis, keepdims=keep),
        spec(*shape),
        label=f"{shape} axis={axis}" + " keepdims" * keep,
        torch=None if 0 in shape else lambda x: torch_f(x, dim=dim, keepdim=keep),
    )


for _name, _f, _spec, _torch in REDUCTIONS:
    for _shape, _axis in AXES:
        if _name in ("var", "std") and (_shape == () or (_name == "std" and _shape == (1, 3))):
            continue  # 0 everywhere: see the conventions in test_cases.py
        for _keep in (False, True):
            _reduction(_name, _f, _spec, _torch, _shape, _axis, _keep)
    case(_name, lambda x, name=_name: getattr(x, name)(axis=(0, 1)), _spec(2, 3, 2), label="method")
    if _name != "std":
        case(_name, lambda x, f=_f: f(x, axis=()), _spec(2, 3), label="axis=()")
case("var", lambda x: np.var(x, axis=-1, ddof=1), normal(2, 4), label="ddof=1", torch=lambda x: torch.var(x, dim=-1))
case("std", lambda x: np.std(x, axis=-1, ddof=1), normal(2, 4), label="ddof=1", torch=lambda x: torch.std(x, dim=-1))
case("max", lambda x: x.max(axis=1), fixed([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), label="ties",
     torch=lambda x: torch.amax(x, dim=1), order=0)  # fmt: skip
case("min", lambda x: x.min(), fixed([[1.0, 3.0], [1.0, 1.0]]), label="ties", torch=lambda x: torch.amin(x), order=0)

# --- shapes ---


def shaping(name: str, f: Function, *shape: int, label: str, torch: Any = True) -> None:
    case(name, f, normal(*shape), label=label, torch=f if torch is True else torch)


shaping("reshape", lambda x: x.reshape(4, 3), 2, 6, label="(4, 3)")
shaping("reshape", lambda x: x.reshape((3, -1)), 2, 6, label="(3, -1)")
shaping("reshape", lambda x: np.reshape(x, -1), 2, 6, label="-1", torch=lambda x: x.reshape(-1))
shaping("reshape", lambda x: x.reshape(()), 1, 1, label="to 0-d")
shaping("reshape", lambda x: x.reshape(0, 5), 2, 0, label="empty")
shaping("reshape", lambda x: x.ravel(), 2, 3, label="ravel")
shaping("reshape", lambda x: x.flatten(), 2, 3, label="flatten")
shaping("transpose", lambda x: np.transpose(x), 2, 3, 4, label="all", torch=lambda x: x.permute(2, 1, 0))
shaping("transpose", lambda x: x.transpose(1, 2, 0), 2, 3, 4, label="axes", torch=lambda x: x.permute(1, 2, 0))
shaping("transpose", lambda x: x.transpose((-1, 0, -2)), 2, 3, 4, label="negative", torch=lambda x: x.permute(2, 0, 1))
shaping("transpose", lambda x: x.T, 2, 3, label="T")
shaping("transpose", lambda x: x.T, label="T of 0-d", torch=None)
shaping("swapaxes", lambda x: x.mT, 2, 3, 4, label="mT")
shaping("swapaxes", lambda x: x.swapaxes(0, -1), 2, 3, 4, label="0, -1")
shaping("squeeze", lambda x: x.squeeze(), 1, 3, 1, label="all")
shaping("squeeze", lambda x: x.squeeze(-1), 1, 3, 1, label="-1")
shaping("squeeze", lambda x: np.squeeze(x, axis=(0, 2)), 1, 3, 1, label="tuple", torch=lambda x: x.squeeze((0, 2)))
shaping("expand_dims", lambda x: np.expand_dims(x, -1), 2, 3, label="-1", torch=lambda x: x.unsqueeze(-1))
shaping("expand_dims", lambda x: np.expand_dims(x, (0, 2)), 2, 3, label="tuple", torch=lambda x: x[None, :, None])
shaping("expand_dims", lambda x: np.expand_dims(x, 0), label="of 0-d", torch=lambda x: x[None])
for _shape, _target in [((3,), (2, 3)), ((), (2, 2)), ((2, 1, 3), (4, 2, 5, 3)), ((1, 3), (0, 3)), ((2,), (2,))]:
    shaping("broadcast_to", lambda x, to=_target: np.broadcast_to(x, to), *_shape, label=f"{_shape} to {_target}",
            torch=lambda x, to=_target: torch.broadcast_to(x, to))  # fmt: skip
shaping("astype", lambda x: x.astype(x.dtype), 2, 3, label="method", torch=None)
shaping("astype", lambda x: np.astype(x, x.dtype), 2, 0, label="function", torch=None)

for _axis in (0, 1, -1):
    case("concatenate", lambda x, y, a=_axis: np.concatenate([x, y, x], axis=a), normal(2, 3), normal(2, 3),
         label=f"axis={_axis}", torch=lambda x, y, a=_axis: torch.concatenate([x, y, x], dim=a))  # fmt: skip
    case("stack", lambda x, y, a=_axis: np.stack([x, y, x], axis=a), normal(2, 3), normal(2, 3),
         label=f"axis={_axis}", torch=lambda x, y, a=_axis: torch.stack([x, y, x], dim=a))  # fmt: skip
case("concatenate", lambda x, y: np.concatenate((x, y), axis=None), normal(2, 3), normal(), label="axis=None",
     torch=lambda x, y: torch.concatenate((x.ravel(), y.ravel())))  # fmt: skip
case("concatenate", lambda x, y, z: np.concatenate([x, y, z]), normal(2, 3), normal(0, 3), normal(1, 3), label="empty",
     torch=lambda x, y, z: torch.concatenate([x, y, z]))  # fmt: skip
case("stack", lambda x, y: np.stack([x, y]), normal(), normal(), label="0-d", torch=lambda x, y: torch.stack([x, y]))
case("split", lambda x: np.split(x, 3), normal(6, 2), label="3", torch=lambda x: torch.tensor_split(x, 3))
case("split", lambda x: np.split(x, [1, 3], axis=-1), normal(2, 5), label="[1, 3] axis=-1",
     torch=lambda x: torch.tensor_split(x, [1, 3], dim=-1))  # fmt: skip
case("split", lambda x: np.split(x, 3, axis=1)[1], normal(2, 6), label="unused outputs",
     torch=lambda x: torch.tensor_split(x, 3, dim=1)[1])  # fmt: skip
case("split", lambda x: math.prod(np.split(x, 2)), normal(4), label="multiplied",
     torch=lambda x: x[:2] * x[2:])  # fmt: skip

# --- picking ---

INDICES: list[tuple[str, Function]] = [
    ("int", lambda x: x[1]), ("-1", lambda x: x[-1]), ("ints", lambda x: x[1, -1, 0]), ("slice", lambda x: x[1:]),
    ("slices", lambda x: x[:1, 1:, ::2]), ("empty", lambda x: x[1:1]), ("None", lambda x: x[None]),
    ("Ellipsis", lambda x: x[..., 0]), ("all kinds", lambda x: x[None, 1, ..., None, 1:3]), ("()", lambda x: x[()]),
    ("list", lambda x: x[:, [0, 2, 0]]), ("True", lambda x: x[True]),
]  # fmt: skip
for _label, _f in INDICES:
    case("getitem", _f, normal(2, 3, 4), label=_label, torch=_f)
case("getitem", lambda x: x[::-1, ::-2], normal(3, 4), label="negative step", torch=lambda x: x.flip(0, 1)[:, ::2])
ARRAY_INDICES: list[tuple[str, Function, list[Spec]]] = [
    ("array with repeats", lambda x, i: x[i], [fixed([1, 0, 1, 1])]), ("negative", lambda x, i: x[i], [fixed([-1, 0])]),
    ("2-d", lambda x, i: x[:, i], [fixed([[0, 2], [2, 2]])]), ("scalar array", lambda x, i: x[i], [fixed(1)]),
    ("empty", lambda x, i: x[i], [fixed(np.zeros(0, int))]), ("last", lambda x, i: x[..., i], [fixed([3, 0, 3])]),
    ("two arrays", lambda x, i, j: x[i, j], [fixed([0, 1, 0]), fixed([2, 1, 2])]),
    ("two apart", lambda x, i, j: x[i, :, j], [fixed([0, 1, 0]), fixed([3, 1, 3])]),
    ("broadcast", lambda x, i, j: x[i, j], [fixed([[0], [1]]), fixed([2, 1, 2])]),
    ("with None", lambda x, i: x[None, i, ..., 1:], [fixed([1, 1])]), ("with int", lambda x, i: x[1, i], [fixed([2, 2])]),
    ("mask", lambda x, m: x[m], [mask(2, 3, 4)]), ("no", lambda x, m: x[m], [fixed([False] * 2)]),
    ("mask of rows", lambda x, m: x[m, 1:], [fixed([True, False])]),
    ("mask of two axes", lambda x, m: x[m], [fixed([[True, False, True], [False, False, True]])]),
    ("mask and ints", lambda x, m, i: x[:, m, i], [fixed([True, False, True]), fixed([3, 3])]),
]  # fmt: skip
for _label, _f, _indices in ARRAY_INDICES:
    case("getitem", _f, normal(2, 3, 4), *_indices, label=f"{_label} (array)", torch=_f)
case("getitem", lambda x, i: x[i], normal(3), fixed([2, 2]), label="1-d", torch=lambda x, i: x[i])

for _label, _axis, _index in [
    ("flat", None, [5, 0, 5]), ("axis=0", 0, [1, 1, 0]), ("axis=-1", -1, [[2, 0], [2, -1]]), ("scalar", 1, 2)
]:  # fmt: skip
    case("take", lambda x, i, a=_axis: np.take(x, i, axis=a), normal(2, 3), fixed(_index), label=_label)
case("take", lambda x, i: x.take(i, axis=0), normal(4, 2), integers(4, 6), label="method", torch=lambda x, i: x[i])
case("take_along_axis", lambda x, i: np.take_along_axis(x, i, axis=1), normal(3, 4), integers(4, 3, 5), label="axis=1",
     torch=lambda x, i: torch.take_along_dim(x, i, 1))  # fmt: skip
case("take_along_axis", lambda x, i: np.take_along_axis(x, i, -2), normal(3, 4), integers(3, 2, 4), label="axis=-2",
     torch=lambda x, i: torch.take_along_dim(x, i, -2))  # fmt: skip
case("scatter_add", lambda g, i: rules.indexing.scatter_add(g, index=i, shape=(5, 2)), normal(4, 2), fixed([0, 3, 3, 0]),
     label="repeats", torch=lambda g, i: torch.zeros(5, 2, dtype=g.dtype).index_add(0, i, g))  # fmt: skip
case("scatter_add", lambda g: rules.indexing.scatter_add(g, index=(1, slice(None, None, 2)), shape=(3, 4)), normal(2),
     label="basic")  # fmt: skip

# --- choosing ---

for _shape, _other, _mask in [((3, 4), (4,), (3, 1)), ((), (2, 3), (3,)), ((2, 1), (1, 3), ()), ((0, 3), (3,), (0, 1))]:
    case("where", lambda x, y, m: np.where(m, x, y), normal(*_shape), normal(*_other),
         mask(*_mask), label=f"{_shape}, {_other}, {_mask}",
         torch=lambda x, y, m: torch.where(m, x, y))  # fmt: skip
case(
    "where",
    lambda x: np.where(x > 0, x, 0.1),
    apart(3, 4),
    label="weak scalar",
    torch=lambda x: torch.where(x > 0, x, 0.1),
)
case("where", lambda x: np.where(x > 0, x, -x), apart(3, 4), label="one array twice")
case("clip", lambda x: np.clip(x, -0.6, 0.9), apart(3, 4), label="-0.6, 0.9", torch=lambda x: torch.clip(x, -0.6, 0.9))
case("clip", lambda x: x.clip(min=-0.6), apart(3, 4), label="min", torch=lambda x: torch.clip(x, min=-0.6))
case("clip", lambda x: np.clip(x, None, 0.6), apart(2, 3), label="max", torch=lambda x: torch.clip(x, max=0.6))
case("clip", lambda x, a, b: np.clip(x, a, b), apart(5, 4), between(-0.9, -0.8, 4), between(0.5, 0.7, 5, 1),
     label="bounds that are differentiated", torch=torch.clip)  # fmt: skip
case("clip", lambda x: np.clip(x, -1.0, 2.0), fixed([-1.0, 2.0, 3.0]), label="on the bounds",
     torch=lambda x: torch.clip(x, -1.0, 2.0), order=0)  # fmt: skip
case("clip", lambda x, a, b: np.clip(x, a, b), fixed([0.0, 1.5, 3.0]), fixed(2.0), fixed(1.0), label="crossed bounds",
     torch=torch.clip)  # fmt: skip

# --- products ---

for _shape, _other in [
    ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((2, 3), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)),
    ((1,), (1,)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0,), (0,)), ((0, 2, 3), (3, 4)), ((2, 3), (3, 0)),
    ((5, 2, 0), (0, 3)),
]:  # fmt: skip
    case(
        "matmul", lambda x, y: x @ y, normal(*_shape), normal(*_other), label=f"{_shape}, {_other}", torch=torch.matmul
    )
case("matmul", lambda x: x @ x.T, normal(2, 3), label="with its own transpose", torch=lambda x: x @ x.T)
for _shape, _other in [
    ((2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (2, 5, 3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
]:
    case(
        "weighted_sum",
        rules.products.weighted,
        normal(*_shape),
        normal(*_other),
        label=f"{_shape}, {_other}",
        torch=torch.matmul,
    )
    case("dot_products", lambda x, y: rules.products.pairs(x, y.swapaxes(-1, -2)), normal(*_shape), normal(*_other),
         label=f"{_shape}, {_other}", torch=torch.matmul)  # fmt: skip

# --- neural ---

for _name, _f, _torch in (("softmax", mg.softmax, torch.softmax), ("log_softmax", mg.log_softmax, torch.log_softmax)):
    for _shape, _axis in [((3, 4), -1), ((2, 3, 4), 1), ((2, 3, 4), 0), ((4,), 0), ((0, 3), -1), ((3, 1), -1)]:
        case(_name, lambda x, f=_f, a=_axis: f(x, axis=a), normal(*_shape), label=f"{_shape} axis={_axis}",
             torch=lambda x, f=_torch, a=_axis: f(x, dim=a))  # fmt: skip
    case(_name, _f, fixed([[1e4, -1e4, 0.0], [1e4, 1e4, -1e4]]), label="large", order=0,
         torch=lambda x, f=_torch: f(x, dim=-1))  # fmt: skip

for _shape in [(3, 5), (2, 3, 4), (1,), (0, 3)]:
    case("dropout", lambda x: dropout(x, key=7, step=2, threshold=20_000), normal(*_shape), label=_shape)

case("affine", mg.affine, normal(5, 0), normal(0, 2), normal(2), label="no inputs", torch=lambda x, w, b: x @ w + b)
for _shape in [(5, 3), (2, 5, 3), (3,), (0, 3)]:
    case("affine", mg.affine, normal(*_shape), normal(3, 2), normal(2), label=_shape, torch=lambda x, w, b: x @ w + b)
    case("layer_norm", mg.layer_norm, normal(*_shape), normal(3), normal(3), label=_shape,
         torch=lambda x, g, b: functional.layer_norm(x, x.shape[-1:], g, b))  # fmt: skip
    case("rms_norm", rms_norm, normal(*_shape), normal(3), label=_shape,
         torch=lambda x, w: functional.rms_norm(x, x.shape[-1:], w, 1e-6))  # fmt: skip
case(
    "affine", mg.affine, normal(5, 3), normal(3, 2), normal(1), label="broadcast bias", torch=lambda x, w, b: x @ w + b
)
case("affine", mg.affine, normal(2, 5, 3), normal(2, 3, 2), normal(2), label="weights", torch=lambda x, w, b: x @ w + b)
case("layer_norm", lambda x, g, b: mg.layer_norm(x, g, b, eps=0.3), normal(4, 6), normal(6), normal(6), label="eps=0.3",
     torch=lambda x, g, b: functional.layer_norm(x, (6,), g, b, 0.3))  # fmt: skip
case("rms_norm", lambda x, w: rms_norm(x, w, eps=0.3), normal(4, 6), normal(6), label="eps=0.3",
     torch=lambda x, w: functional.rms_norm(x, (6,), w, 0.3))  # fmt: skip


def rotated_by_torch(x: Any, cos: Any, sin: Any) -> Any:
    """Multiply the pairs of columns as complex numbers, of all heads at once."""
    half = cos.shape[-1]
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], x.shape[-1] // (2 * half), half, 2))
    return torch.view_as_real(pairs * torch.complex(cos, sin)[..., None, :]).reshape(x.shape)


for _shape, _angles in [
    ((2, 3, 8), (3, 2)),
    ((2, 3, 8), (2, 3, 4)),
    ((5, 4), (5, 1)),
    ((4,), (1, 2)),
    ((0, 4), (0, 2)),
]:
    case("rotated", rotated, normal(*_shape), normal(*_angles), normal(*_angles), label=(_shape, _angles),
         torch=rotated_by_torch)  # fmt: skip
for _reduction_name in ("mean", "sum", "none"):
    for _shape in [(5,), (2, 3), ()]:
        case("cross_entropy", lambda x, y, r=_reduction_name: mg.cross_entropy(x, y, reduction=r), normal(*_shape, 4),
             integers(4, *_shape), label=f"{_shape} {_reduction_name}",
             torch=lambda x, y, r=_reduction_name: functional.cross_entropy(
                 x.movedim(-1, 1) if x.ndim > 1 else x, y, reduction=r))  # fmt: skip
case("cross_entropy", mg.cross_entropy, fixed([[1e4, -1e4, 0.0], [-1e4, 0.0, 1e4]]), fixed([1, 2]), label="large",
     torch=functional.cross_entropy, order=0)  # fmt: skip
case("cross_entropy", lambda x, y: mg.cross_entropy(x, y, reduction="sum"), normal(0, 3), integers(1, 0), label="empty")


def torch_attention(
    q: Any, k: Any, v: Any, mask: Any = None, bias: Any = None, scale: float | None = None, heads: int = 1
) -> Any:
    q, k, v = (t.unflatten(-1, (heads, t.shape[-1] // heads)).swapaxes(-3, -2) for t in (q, k, v))
    if bias is not None:  # what PyTorch adds has all axes, and a mask is -inf in it
        bias = bias.expand(*torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    with sdpa_kernel(SDPBackend.MATH):  # the one that can be differentiated twice
        return functional.scaled_dot_product_attention(q, k, v, mask, scale=scale).swapaxes(-3, -2).flatten(-2)


QKV = [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6)]
ATTENTION: list[tuple[str, list[Spec], dict[str, Any]]] = [
    ("one head", [normal(3, 4), normal(5, 4), normal(5, 2)], {}),
    ("batch", QKV, {"heads": 2}),
    ("scale", [normal(3, 4), normal(3, 4), normal(3, 4)], {"heads": 4, "scale": 0.3}),
    ("padding", [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4), fixed([[[[True, True, False]]], [[[True] * 3]]])],
     {"heads": 2}),
    ("causal", [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4), fixed(np.tri(3, dtype=bool))], {"heads": 2}),
    ("nothing to attend to", [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4),
                              fixed([[[[False] * 3]], [[[True, False, True]]]])], {"heads": 2}),
    ("broadcast batch", [normal(3, 4), normal(2, 5, 4), normal(2, 5, 4)], {"heads": 2}),
    ("empty batch", [normal(0, 3, 4), normal(0, 3, 4), normal(0, 3, 4)], {}),
    ("bias", [*QKV, normal(2, 2, 3, 5)], {"heads": 2, "bias": True}),
    ("bias of each head", [*QKV, normal(2, 3, 5)], {"heads": 2, "bias": True, "scale": 0.3}),
    ("bias of each key", [*QKV, normal(2, 1, 1, 5)], {"heads": 2, "bias": True}),
    ("bias of one sequence", [normal(3, 4), normal(5, 4), normal(5, 2), normal(3, 5)], {"bias": True}),
    ("bias of one number", [*QKV, normal()], {"heads": 2, "bias": True}),
    ("bias and mask", [*QKV, fixed(np.tri(3, 5, 1, dtype=bool)), normal(2, 3, 5)], {"heads": 2, "bias": True}),
    ("bias and broadcast batch", [normal(3, 4), normal(2, 5, 4), normal(2, 5, 4), normal(2, 2, 1, 5)],
     {"heads": 2, "bias": True}),
    ("bias that excludes", [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4),
                            fixed([[0.5, -np.inf, -np.inf], [-np.inf] * 3, [-0.5, 1.0, -1e31]])],
     {"heads": 2, "bias": True}),
]  # fmt: skip


def _attention(options: dict[str, Any]) -> Function:
    keywords = {"num_heads": options.get("heads", 1), "scale": options.get("scale")}

    def attend(q: Any, k: Any, v: Any, *rest: Any) -> Any:
        return mg.scaled_dot_product_attention(q, k, v, *_mask_and_bias(rest, options), **keywords)

    return attend


def _mask_and_bias(rest: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    mask, bias = (None, *rest)[-2:] if "bias" in options else ((*rest, None)[0], None)
    return mask, bias


def _torch_attention(options: dict[str, Any]) -> Function:
    keywords = {name: value for name, value in options.items() if name != "bias"}
    return lambda q, k, v, *rest: torch_attention(q, k, v, *_mask_and_bias(rest, options), **keywords)


for _label, _specs, _options in ATTENTION:
    case("attention", _attention(_options), *_specs, label=_label, torch=_torch_attention(_options))
case("attention", lambda x: mg.scaled_dot_product_attention(x, x, x), normal(3, 4), label="self",
     torch=lambda x: torch_attention(x, x, x))  # fmt: skip


def cases_of(names: Iterable[str]) -> list[Case]:
    chosen = set(names)
    return [one for one in CASES if one.primitive in chosen]
