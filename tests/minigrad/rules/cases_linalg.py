"""Sample calls of the products, ``np.linalg`` and ``np.fft``. Importing this module adds them to the table.

Complex matrices are samples like the others: ``complex_parts`` makes of a function of complex arrays one of real arrays,
so that finite differences and PyTorch see the same real numbers, whatever their convention for complex gradients.
"""

import functools
from typing import Any

import numpy as np

import minigrad as mg
from tests.lazy import torch
from tests.minigrad.rules.cases import Function, Spec, apart, case, fixed, normal

LA: Any = np.linalg  # NumPy's stubs do not know that a Tensor may stand for an array
TLA = torch.linalg
VECDOT: Any = np.vecdot
Shape = tuple[int, ...]


def complex_parts(f: Function) -> Function:
    """``f`` as a function of the parts: each input and each output has real and imaginary part side by side in axis 0."""

    def of_parts(*parts: Any) -> Any:
        return joined_parts(f(*[p[0] + 1j * p[1] for p in parts]))

    return of_parts


def is_torch(x: Any) -> bool:
    return type(x).__module__ == "torch"


def is_complex(z: Any) -> bool:
    return z.is_complex() if is_torch(z) else z.dtype.kind == "c"


def joined(parts: Any) -> Any:
    return torch.stack(parts) if is_torch(parts[0]) else np.stack(parts)


def joined_parts(z: Any) -> Any:
    return joined(real_and_imaginary(z)) if is_complex(z) else z


def real_and_imaginary(z: Any) -> list[Any]:
    return [z.real, z.imag] if is_torch(z) else [np.real(z), np.imag(z)]


def t(x: Any) -> Any:
    return x.swapaxes(-1, -2)


def h(x: Any) -> Any:
    return t(x).conj() if is_torch(x) else np.conjugate(t(x))


def hermitian(x: Any) -> Any:
    return x + h(x)


def definite(x: Any) -> Any:
    """Well-conditioned, symmetric and positive definite."""
    return x @ h(x) + 3.0 * eye_like(x)


def eye_like(x: Any) -> Any:
    n = x.shape[-1] if x.shape[-1] < x.shape[-2] else x.shape[-2]
    if is_torch(x):
        return torch.eye(n, dtype=x.dtype)
    data = x.data if isinstance(x, mg.Tensor) else x
    return np.identity(n, dtype=data.dtype, like=data)


def spread(m: int, n: int | None = None, batch: Shape = ()) -> Spec:
    """Matrices with singular values well apart and away from 0."""

    def make(rng: np.random.Generator) -> np.ndarray:
        k = min(m, n or m)
        u, _ = LA.qr(rng.standard_normal((*batch, m, k)))
        v, _ = LA.qr(rng.standard_normal((*batch, n or m, k)))
        return u * (1.0 + np.arange(k)) @ t(v)

    return make


def fat(m: int, n: int, batch: Shape = ()) -> Spec:
    """As ``spread``, the square at the left too."""
    return lambda rng: np.concatenate([spread(m, m, batch)(rng), rng.standard_normal((*batch, m, n - m))], axis=-1)


def uneven(*shape: int) -> Spec:
    """As ``apart``, and no two sums alike."""
    return lambda rng: apart(*shape)(rng) * rng.uniform(0.9, 1.1, shape)


def reshaped(spec: Spec, *shape: int) -> Spec:
    return lambda rng: spec(rng).reshape(shape)


def torch_product(*matrices: Any) -> Any:
    return functools.reduce(torch.matmul, matrices)


def parts_of(*specs: Spec) -> Spec:
    """Two samples side by side: the real and the imaginary part."""
    return lambda rng: np.stack([spec(rng) for spec in specs])


# --- products ---


def product(name: str, f: Function, *shapes: Shape, label: Any = "", torch: Any = None) -> None:
    case(name, f, *[normal(*shape) for shape in shapes], label=f"{label} {shapes}", torch=torch)


for _a, _b in [
    ((3,), (3,)), ((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 4, 3), (5, 3, 2)), ((3,), (2, 3, 4)),
    ((2, 4, 3), (3,)), ((), (2, 3)), ((2, 3), ()), ((), ()), ((0, 3), (3, 2)), ((2, 0), (0, 3)),
]:  # fmt: skip
    product("dot", np.dot, _a, _b, torch=torch.mul if () in (_a, _b) else
            lambda a, b: torch.tensordot(a, b, ([-1], [max(-2, -b.ndim)])))  # fmt: skip
case("dot", lambda x: x.dot(x), normal(3, 3), label="with itself", torch=lambda x: x @ x)

for _a, _b in [
    ((3,), (3,)),
    ((2, 3), (4, 3)),
    ((2, 4, 3), (3,)),
    ((2, 3), (2, 4, 3)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((0, 3), (2, 3)),
]:
    product("inner", np.inner, _a, _b, torch=torch.inner)
for _a, _b in [((3,), (2,)), ((2, 3), (4,)), ((), (2, 2)), ((0,), (3,))]:
    product("outer", np.outer, _a, _b, torch=lambda a, b: torch.outer(a.ravel(), b.ravel()))
for _a, _b in [((3,), (3,)), ((2, 3), (3, 2)), ((), ()), ((0,), (0,))]:
    product("vdot", np.vdot, _a, _b, torch=lambda a, b: torch.dot(a.ravel(), b.ravel()))

for _a, _b in [  # a stack of matrices and one matrix, also where one of them is empty
    ((2, 4, 3), (3, 2)), ((2, 1, 4, 3), (3, 2)), ((0, 4, 3), (3, 2)), ((2, 4, 0), (0, 2)), ((2, 4, 3), (3, 0)),
]:  # fmt: skip
    product("matmul", np.matmul, _a, _b, label="stack", torch=torch.matmul)
for _axes, _a, _b in [
    (2, (4, 2, 3), (2, 3, 5)), (1, (2, 3), (3, 4)), (0, (2,), (3, 2)), (([1, 0], [0, 1]), (2, 3, 4), (3, 2, 5)),
    ((-1, 0), (2, 3), (3, 4)), (([2, 0], [-1, 1]), (2, 4, 3), (5, 2, 3)), (([], []), (2,), (2,)), (3, (2, 3, 2), (2, 3, 2)),
    (2, (4, 0, 3), (0, 3, 2)),
]:  # fmt: skip
    product("tensordot", lambda a, b, axes=_axes: np.tensordot(a, b, axes), _a, _b, label=f"axes={_axes}", torch=None
            if _axes == (-1, 0) else lambda a, b, axes=_axes: torch.tensordot(a, b, axes))  # fmt: skip
case(
    "tensordot",
    lambda x: np.tensordot(x, x, axes=([0], [1])),
    normal(3, 3),
    label="with itself",
    torch=lambda x: t(x) @ t(x),
)

SUBSCRIPTS: list[tuple[str, list[Shape]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]),
    ("ij->j", [(2, 3)]), ("ba", [(2, 3)]), ("i,i", [(3,), (3,)]), ("i,j->ij", [(3,), (2,)]), ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]), ("iij->ji", [(3, 3, 2)]), ("iii->i", [(2, 2, 2)]), ("ijij->", [(2, 3, 2, 3)]),
    ("ij,ij->", [(2, 3), (2, 3)]), ("bij,bjk->bik", [(5, 2, 3), (5, 3, 2)]), ("...ij,...jk->...ik", [(5, 2, 3), (3, 2)]),
    ("...ij,...jk", [(2, 3), (5, 3, 2)]), ("...i,...i->...", [(4, 1, 3), (2, 3)]), ("i...->...", [(3, 2)]),
    ("...ii->...i", [(2, 3, 3)]), ("i...,i->i...", [(3, 2), (3,)]), ("a,ab,abc->abc", [(2,), (2, 3), (2, 3, 2)]),
    ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]), (" i j , j -> i ", [(2, 3), (3,)]), ("ij,kj->ik", [(2, 0), (3, 0)]),
    (",i->i", [(), (3,)]), ("->", [()]), ("ij,k->i", [(2, 3), (4,)]), ("ij,ij->i", [(1, 3), (2, 3)]),
    ("ij,kj->k", [(2, 1), (2, 3)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 2), (2, 2, 4, 2)]), ("ii,ij->j", [(3, 3), (3, 2)]),
]  # fmt: skip
TORCH_LACKS = ("->", " i j , j -> i ")
for _s, _shapes in SUBSCRIPTS:
    product("einsum", lambda *a, s=_s: np.einsum(s, *a), *_shapes, label=_s,
            torch=None if _s in TORCH_LACKS else lambda *a, s=_s: torch.einsum(s, *a))  # fmt: skip
case("einsum", lambda x: np.einsum("ij,kj->ik", x, x), normal(2, 3), label="with itself", torch=lambda x: x @ x.T)
case("einsum", lambda x, y, z: np.einsum("ij,jk,kl", x, y, z, optimize=True), normal(2, 3), normal(3, 4), normal(4, 2),
     label="optimize", torch=lambda x, y, z: x @ y @ z)  # fmt: skip
case("einsum", lambda x, y, z: np.einsum("ij,jk,kl", x, y, z, optimize=["einsum_path", (1, 2), (0, 1)]), normal(2, 3),
     normal(3, 4), normal(4, 2), label="path", torch=lambda x, y, z: x @ y @ z)  # fmt: skip
case("einsum", lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2, 0]), normal(2, 3), normal(3, 4), label="lists",
     torch=lambda x, y: t(x @ y))  # fmt: skip
case("einsum", lambda x, y: np.einsum(x, [..., 0], y, [0]), normal(2, 3), normal(3), label="lists, implied output",
     torch=lambda x, y: x @ y)  # fmt: skip

for _a, _b in [((2, 3), (3, 2)), ((2,), (3,)), ((2,), (3, 2)), ((1, 2, 2), (3, 1)), ((), (2, 2)), ((0, 2), (2, 2))]:
    product("kron", np.kron, _a, _b, torch=torch.kron)
for _a, _b in [((3,), (3,)), ((4, 3), (3,)), ((2, 1, 3), (4, 3)), ((0, 3), (0, 3))]:
    product("cross", np.cross, _a, _b, torch=lambda a, b: TLA.cross(*torch.broadcast_tensors(a, b)))
product("cross", lambda a, b: np.cross(a, b, axis=0), (3, 2), (3, 2), label="axis=0",
        torch=lambda a, b: TLA.cross(a, b, dim=0))  # fmt: skip
product("cross", lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0), (3, 2), (2, 3), label="axisa, axisb, axisc")
for _n in (-2, -1, 0, 1, 2, 3, 5):
    case("matrix_power", lambda a, n=_n: LA.matrix_power(a, n), spread(3, batch=(2,)), label=_n,
         torch=lambda a, n=_n: TLA.matrix_power(a, n))  # fmt: skip

# --- systems of equations, determinants ---

for _batch in [(), (2,), (2, 1)]:
    case("inv", LA.inv, spread(3, batch=_batch), label=_batch, torch=TLA.inv)
    case("det", LA.det, spread(3, batch=_batch), label=_batch, torch=TLA.det)
    case("slogdet", LA.slogdet, spread(3, batch=_batch), label=_batch, torch=lambda a: tuple(TLA.slogdet(a)))
case("inv", LA.inv, normal(0, 2, 2), label="empty batch", torch=TLA.inv)
case("det", LA.det, normal(0, 0), label="0 x 0")
case("det", LA.det, normal(1, 1), label="1 x 1", torch=TLA.det)
case("det", LA.det, fixed([[2.0, 1.0, 0.0], [4.0, 2.0, 0.0], [1.0, 3.0, 1.0]]), label="singular")
case("det", LA.det, fixed(np.zeros((2, 2))), label="zero", order=1)
case("det", LA.det, fixed([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]]), label="one of two singular")
for _a, _b in [
    ((), (3,)), ((), (3, 2)), ((2,), (2, 3, 2)), ((2,), (3, 2)), ((2,), (3,)), ((), (4, 3, 1)), ((2, 1), (4, 3, 2)),
    ((), (3, 0)),
]:  # fmt: skip
    case("solve", LA.solve, spread(3, batch=_a), normal(*_b), label=f"{_a}, {_b}",
         torch=lambda a, b: TLA.solve(a, b[..., None])[..., 0] if b.ndim == 1 else TLA.solve(a, b))  # fmt: skip
case("solve", lambda a: LA.solve(a, a[0]), spread(3), label="with itself", torch=lambda a: TLA.solve(a, a[0]))
for _m, _n, _batch in [(3, 3, ()), (4, 2, ()), (2, 4, ()), (4, 2, (2,)), (2, 3, (2, 1))]:
    case("pinv", LA.pinv, spread(_m, _n, _batch), label=f"{_m} x {_n} {_batch}", torch=TLA.pinv)
case("pinv", lambda a: LA.pinv(a @ t(a), 1e-3), spread(3, 2), label="of constant rank 2", torch=None)
for _rtol in (1e-3, None):
    case("pinv", lambda a, r=_rtol: LA.pinv(a, rtol=r), spread(4, 2), label=f"rtol={_rtol}", torch=TLA.pinv)
case("pinv", lambda a: LA.pinv(a @ t(a), rtol=1e-3), spread(3, 2), label="of constant rank 2, rtol", torch=None)

# --- decompositions; what is compared does not depend on signs and phases ---


def triangle(x: Any, lower: bool = True) -> Any:
    """The matrix that NumPy sees when it reads one triangle."""
    half = x.tril(-1) if lower else x.triu(1)
    return half + half.mH + torch.diag_embed(x.diagonal(dim1=-2, dim2=-1).real)


for _batch in [(), (2,), (0,)]:
    case("cholesky", lambda x: LA.cholesky(definite(x)), normal(*_batch, 3, 3), label=_batch,
         torch=lambda x: TLA.cholesky(definite(x)))  # fmt: skip
    case("cholesky", lambda x: LA.cholesky(definite(x), upper=True), normal(*_batch, 3, 3), label=f"{_batch} upper",
         torch=lambda x: TLA.cholesky(definite(x), upper=True))  # fmt: skip
DEFINITE = [[4.0, 7.0, 8.0], [1.0, 5.0, 9.0], [0.5, 1.0, 3.0]]
case("cholesky", LA.cholesky, fixed(DEFINITE), label="of one triangle", torch=lambda x: TLA.cholesky(triangle(x)))
case("cholesky", lambda x: LA.cholesky(x, upper=True), fixed(np.transpose(DEFINITE)), label="of the other triangle",
     torch=lambda x: TLA.cholesky(triangle(x, False), upper=True))  # fmt: skip

for _m, _n, _batch in [(3, 3, ()), (4, 2, ()), (2, 4, ()), (3, 2, (2,)), (2, 3, (2,)), (3, 3, (0,)), (1, 1, ())]:
    _matrices = spread(_m, _n, _batch) if _m >= _n else fat(_m, _n, _batch)
    case("qr", LA.qr, _matrices, label=f"{_m} x {_n} {_batch}", torch=lambda a: tuple(TLA.qr(a)))
    case("qr", lambda a: LA.qr(a, mode="r"), _matrices, label=f"{_m} x {_n} {_batch} r",
         torch=lambda a: TLA.qr(a)[1])  # fmt: skip
case("qr", lambda a: LA.qr(a)[0], spread(3, 2), label="Q alone", torch=lambda a: TLA.qr(a)[0])


def spectrum(values: list[float], batch: Shape = ()) -> Spec:
    """Symmetric matrices with these eigenvalues."""

    def make(rng: np.random.Generator) -> np.ndarray:
        q, _ = LA.qr(rng.standard_normal((*batch, len(values), len(values))))
        return q * np.array(values) @ t(q)

    return make


def eigen_parts(w: Any, v: Any) -> Any:
    """The values, and something of the vectors that no sign and no phase changes."""
    return w + abs(v).sum(-1) + (abs(v) ** 2)[..., 0]


def summed(parts: Any) -> Any:
    return functools.reduce(lambda a, b: a + b, parts)


for _batch in [(), (2,), (2, 1)]:
    _matrices = spectrum([-1.0, 0.5, 2.0], _batch)
    case("eigh", lambda x: eigen_parts(*LA.eigh(x)), _matrices, label=f"{_batch} lower",
         torch=lambda x: eigen_parts(*TLA.eigh(triangle(x))))  # fmt: skip
    case("eigvalsh", LA.eigvalsh, _matrices, label=_batch, torch=lambda x: TLA.eigvalsh(triangle(x)))
case("eigh", lambda x: eigen_parts(*LA.eigh(x, "U")), spectrum([-1.0, 0.5, 2.0]), label="upper",
     torch=lambda x: eigen_parts(*TLA.eigh(triangle(x, False))))  # fmt: skip
case("eigh", lambda x: eigen_parts(*LA.eigh(hermitian(x))), spectrum([-1.0, 0.5, 2.0]), label="symmetric",
     torch=lambda x: eigen_parts(*TLA.eigh(hermitian(x))))  # fmt: skip
case(
    "eigh",
    lambda x: LA.eigh(x)[0],
    spectrum([-1.0, 0.5, 2.0]),
    label="values alone",
    torch=lambda x: TLA.eigvalsh(triangle(x)),
)
case("eigh", lambda x: LA.eigh(x)[1] ** 2, spectrum([-1.0, 0.5, 2.0]), label="vectors alone",
     torch=lambda x: TLA.eigh(triangle(x))[1] ** 2)  # fmt: skip
case("eigvalsh", lambda x: LA.eigvalsh(x, UPLO="U"), spectrum([-1.0, 0.5, 2.0]), label="upper",
     torch=lambda x: TLA.eigvalsh(triangle(x, False)))  # fmt: skip
case("eigvalsh", lambda x: LA.eigvalsh(x).sum(), fixed(np.eye(3)), label="equal values", order=1)
case("eig", lambda x: LA.eig(x)[0], fixed([[1.0, 2.0], [3.0, 5.0]]), label="values alone")
case(
    "eig", lambda x: eigen_parts(*LA.eig(x)), fixed([[[1.0, 2.0], [3.0, 5.0]], [[2.0, 1.0], [0.5, -1.0]]]), label="real"
)
case("eig", lambda x: np.real(LA.eigvals(x)[0] ** 2), fixed([[1.0, 2.0], [-3.0, 1.5]]), label="complex values of a real matrix",
     torch=lambda x: torch.real(TLA.eigvals(x)[0] ** 2))  # fmt: skip
case("eig", lambda x: summed(abs(LA.eig(x)[1]).swapaxes(0, 1)), fixed([[1.0, 2.0], [-3.0, 1.5]]),
     label="complex vectors of a real matrix", torch=lambda x: summed(abs(TLA.eig(x)[1]).swapaxes(0, 1)))  # fmt: skip


def singular_parts(u: Any, s: Any, vh: Any) -> Any:
    """All three in one, without their signs: the polar factor and the values."""
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return (u * (s * s)[..., None, :]) @ vh + (u @ vh) + abs(u).sum(-1)[..., None] + abs(vh).sum(-2)[..., None, :]


for _m, _n, _batch in [(3, 3, ()), (4, 2, ()), (2, 4, ()), (3, 2, (2,)), (2, 3, (2, 1)), (1, 1, ())]:
    _matrices = spread(_m, _n, _batch)
    case("svd", lambda a: singular_parts(*LA.svd(a, full_matrices=False)), _matrices, label=f"{_m} x {_n} {_batch}",
         torch=lambda a: singular_parts(*TLA.svd(a, full_matrices=False)))  # fmt: skip
    case(
        "svd", lambda a: LA.svd(a, compute_uv=False), _matrices, label=f"{_m} x {_n} {_batch} values", torch=TLA.svdvals
    )
    case("svd", lambda a: singular_parts(*LA.svd(a)), _matrices, label=f"{_m} x {_n} {_batch} full",
         torch=lambda a: singular_parts(*TLA.svd(a, full_matrices=False)))  # fmt: skip
case("svd", lambda a: abs(LA.svd(a, full_matrices=False)[0]), spread(4, 3), label="U alone",
     torch=lambda a: abs(TLA.svd(a, full_matrices=False)[0]))  # fmt: skip
case("svd", lambda a: abs(LA.svd(a, full_matrices=False)[2]), spread(3, 4), label="Vh alone",
     torch=lambda a: abs(TLA.svd(a, full_matrices=False)[2]))  # fmt: skip
case("svd", lambda a: LA.svd(a)[1].sum(), fixed(np.eye(3)), label="equal values", order=1)

# --- norms ---

VECTOR_ORDERS: list[Any] = [None, 2, 1, np.inf, -np.inf, 0, 3, 0.5, 2.5, -1, -2]
for _ord in VECTOR_ORDERS:
    _torch_ord = 2 if _ord is None else _ord
    for _axis, _keep in [(-1, False), (1, True), ((0,), True)]:
        case("norm", lambda x, o=_ord, a=_axis, k=_keep: LA.norm(x, o, a, k), uneven(2, 3, 2),
             label=f"ord={_ord} axis={_axis} {_keep}",
             torch=lambda x, o=_torch_ord, a=_axis, k=_keep: TLA.vector_norm(x, o, a, k))  # fmt: skip
    case("norm", lambda x, o=_ord: LA.norm(x, o), apart(4), label=f"1-D ord={_ord}",
         torch=lambda x, o=_torch_ord: TLA.vector_norm(x, o))  # fmt: skip
MATRIX_ORDERS: list[Any] = [None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf]
for _ord in MATRIX_ORDERS:
    _torch_ord = "fro" if _ord is None else _ord
    for _axis, _keep in [((0, 1), False), ((-1, 0), True), ((0, 2), False)]:
        case("norm", lambda x, o=_ord, a=_axis, k=_keep: LA.norm(x, o, a, k), uneven(2, 2, 3),
             label=f"ord={_ord} axis={_axis} {_keep}",
             torch=lambda x, o=_torch_ord, a=_axis, k=_keep: TLA.matrix_norm(x, o, a, k))  # fmt: skip
    case("norm", lambda x, o=_ord: LA.norm(x, o), spread(3, 2), label=f"2-D ord={_ord}",
         torch=lambda x, o=_torch_ord: TLA.matrix_norm(x, o))  # fmt: skip
case("norm", LA.norm, apart(), label="0-d", torch=TLA.vector_norm)
case("norm", LA.norm, normal(2, 3, 2), label="of everything", torch=TLA.vector_norm)
case("norm", lambda x: LA.norm(x, keepdims=True), normal(2, 3, 2), label="of everything keepdims",
     torch=lambda x: TLA.vector_norm(x, keepdim=True))  # fmt: skip
case("norm", lambda x: LA.norm(x, axis=1), normal(2, 0), label="empty", torch=lambda x: TLA.vector_norm(x, dim=1))
case("norm", lambda x: LA.norm(x, axis=1), normal(0, 2), label="of no rows", torch=lambda x: TLA.vector_norm(x, dim=1))
case("norm", lambda x: LA.norm(x), fixed([[0.0, 1.0], [-2.0, 0.0]]), label="zeros among others", torch=TLA.vector_norm)
case("norm", lambda x: LA.norm(x, np.inf), fixed([1.0, -3.0, 3.0]), label="ties", order=0,
     torch=lambda x: torch.amax(abs(x)))  # fmt: skip

# --- Fourier transforms; one input is real, the others are complex ---


def _transformed(f: Function, n: int | None, axis: int, norm: str | None, x: Any) -> Any:
    return f(x, n, axis, norm)


TRANSFORMS: list[tuple[Shape, int | None, int, str | None]] = [
    ((4,), None, -1, None), ((5,), None, -1, "ortho"), ((2, 5), 3, -1, "forward"), ((2, 3), 6, 1, "backward"),
    ((5, 2), 4, 0, "ortho"), ((3,), 7, -1, "forward"), ((2, 1), 1, -1, None), ((2, 3, 2), None, -2, None),
    ((0, 3), None, -1, None),
]  # fmt: skip
for _name in ("fft", "ifft", "rfft", "irfft"):
    for _shape, _length, _axis, _norm in TRANSFORMS:
        _fft = functools.partial(_transformed, getattr(np.fft, _name), _length, _axis, _norm)
        _torch_fft = functools.partial(_transformed, getattr(torch.fft, _name), _length, _axis, _norm)
        _label = f"{_shape} n={_length} axis={_axis} {_norm}"
        if _name != "rfft":
            case(_name, complex_parts(_fft), normal(2, *_shape), label=f"{_label} complex",
                 torch=None if 0 in _shape else complex_parts(_torch_fft))  # fmt: skip
        if _name in ("fft", "rfft") or _axis == -2:
            case(_name, lambda x, f=_fft: joined_parts(f(x)), normal(*_shape), label=_label,
                 torch=None if 0 in _shape else lambda x, f=_torch_fft: joined_parts(f(x)))  # fmt: skip
for _name in ("fftshift", "ifftshift"):
    _f, _torch = getattr(np.fft, _name), getattr(torch.fft, _name)
    for _axes in (None, 0, (-1,), (0, 1)):
        case(
            _name,
            lambda x, f=_f, a=_axes: f(x, a),
            normal(3, 4),
            label=_axes,
            torch=lambda x, f=_torch, a=_axes: f(x, a),
        )

# --- complex matrices ---

_pair = parts_of(spread(3), spread(3))
_tall, _wide = parts_of(spread(4, 2), normal(4, 2)), parts_of(spread(2, 4), normal(2, 4))
COMPLEX: list[tuple[str, Function, Function, tuple[Spec, ...]]] = [
    ("matmul", lambda a, b: a @ b, lambda a, b: a @ b, (normal(2, 2, 3), normal(2, 3, 2))),
    ("dot", np.dot, lambda a, b: a @ b, (normal(2, 2, 3), normal(2, 3, 2))),
    ("inner", np.inner, torch.inner, (normal(2, 2, 3), normal(2, 4, 3))),
    ("outer", np.outer, torch.outer, (normal(2, 3), normal(2, 2))),
    ("vdot", np.vdot, torch.vdot, (normal(2, 3), normal(2, 3))),
    ("tensordot", np.tensordot, torch.tensordot, (normal(2, 2, 3), normal(2, 2, 3))),
    ("einsum", lambda a, b: np.einsum("ii,ij->j", a, b), lambda a, b: torch.einsum("ii,ij->j", a, b),
     (normal(2, 3, 3), normal(2, 3, 2))),
    ("kron", np.kron, torch.kron, (normal(2, 2, 2), normal(2, 1, 3))),
    ("cross", np.cross, TLA.cross, (normal(2, 3), normal(2, 3))),
    ("matrix_power", lambda a: LA.matrix_power(a, -3), lambda a: TLA.matrix_power(a, -3), (_pair,)),
    ("inv", LA.inv, TLA.inv, (_pair,)),
    ("solve", LA.solve, TLA.solve, (_pair, normal(2, 3))),
    ("det", LA.det, TLA.det, (_pair,)),
    ("slogdet", lambda a: LA.slogdet(a)[0] * (2 + LA.slogdet(a)[1]),
     lambda a: TLA.slogdet(a)[0] * (2 + TLA.slogdet(a)[1]), (_pair,)),
    ("pinv", LA.pinv, TLA.pinv, (_pair,)),
    ("pinv", LA.pinv, TLA.pinv, (_tall,)),
    ("pinv", LA.pinv, TLA.pinv, (_wide,)),
    ("cholesky", lambda a: LA.cholesky(definite(a)), lambda a: TLA.cholesky(definite(a)), (_pair,)),
    ("cholesky", lambda a: LA.cholesky(definite(a), upper=True), lambda a: TLA.cholesky(definite(a), upper=True), (_pair,)),
    ("qr", lambda a: LA.qr(a)[0], lambda a: TLA.qr(a)[0], (_pair,)),
    ("qr", lambda a: LA.qr(a)[0] @ abs(LA.qr(a)[1]), lambda a: TLA.qr(a)[0] @ abs(TLA.qr(a)[1]).to(a.dtype), (_tall,)),
    ("qr", lambda a: LA.qr(a, "r"), lambda a: TLA.qr(a)[1], (_wide,)),
    ("eigvalsh", LA.eigvalsh, lambda a: TLA.eigvalsh(triangle(a)), (_pair,)),
    ("eigh", lambda a: eigen_parts(*LA.eigh(a)), lambda a: eigen_parts(*TLA.eigh(triangle(a))), (_pair,)),
    ("eigh", lambda a: eigen_parts(*LA.eigh(a, "U")), lambda a: eigen_parts(*TLA.eigh(triangle(a, False))), (_pair,)),
    ("eig", lambda a: LA.eigvals(a).sum() ** 2, lambda a: TLA.eigvals(a).sum() ** 2, (_pair,)),
    ("eig", lambda a: (abs(LA.eig(a)[1]) ** 3).sum(-1), lambda a: (abs(TLA.eig(a)[1]) ** 3).sum(-1), (_pair,)),
    *[
        ("svd", lambda a: singular_parts(*LA.svd(a, full_matrices=False)),
         lambda a: singular_parts(*TLA.svd(a, full_matrices=False)), (_matrices,))
        for _matrices in (_pair, _tall, _wide)
    ],
    ("norm", lambda a: LA.norm(a, axis=0), lambda a: TLA.vector_norm(a, dim=0), (_tall,)),
    ("norm", lambda a: LA.norm(a, 3, axis=0), lambda a: TLA.vector_norm(a, 3, dim=0), (_tall,)),
    ("norm", lambda a: LA.norm(a, "nuc"), lambda a: TLA.matrix_norm(a, "nuc"), (_tall,)),
]  # fmt: skip
for _number, (_name, _f, _torch, _specs) in enumerate(COMPLEX):
    case(_name, complex_parts(_f), *_specs, label=f"complex {_number}", torch=complex_parts(_torch))

# --- functions that are compositions of others: the tape shows those ---

COMPOSED: list[tuple[str, Function, Function | None, tuple[Spec, ...]]] = [
    ("matmul", LA.matmul, torch.matmul, (normal(2, 3), normal(3, 2))),
    ("matmul", VECDOT, TLA.vecdot, (normal(4, 1, 3), normal(2, 3))),
    ("matmul", lambda a, b: VECDOT(a, b, axis=0), lambda a, b: TLA.vecdot(a, b, dim=0), (normal(3, 2), normal(3, 2))),
    ("matmul", lambda a, b: LA.vecdot(a, b, axis=-2), lambda a, b: TLA.vecdot(a, b, dim=-2), (normal(3, 2), normal(3, 2))),
    ("matmul", complex_parts(VECDOT), complex_parts(TLA.vecdot), (normal(2, 3), normal(2, 4, 3))),
    ("tensordot", lambda a, b: LA.tensordot(a, b, axes=1), torch.matmul, (normal(2, 3), normal(3, 2))),
    ("outer", LA.outer, torch.outer, (normal(2), normal(3))),
    ("cross", LA.cross, TLA.cross, (normal(2, 3), normal(2, 3))),
    ("swapaxes", LA.matrix_transpose, lambda a: a.mT, (normal(4, 2, 3),)),
    ("swapaxes", np.matrix_transpose, lambda a: a.mT, (normal(2, 3),)),
    ("diagonal", lambda a: LA.trace(a, offset=1), None, (normal(4, 2, 3),)),
    ("diagonal", lambda a: LA.diagonal(a, offset=-1), lambda a: TLA.diagonal(a, offset=-1), (normal(4, 3, 2),)),
    ("dot", lambda a, b: LA.multi_dot([a, b]), lambda a, b: a @ b, (normal(2, 3), normal(3, 2))),
    ("dot", lambda a, b, c: LA.multi_dot([a, b, c]), torch_product, (normal(2, 9), normal(9, 3), normal(3, 1))),
    ("dot", lambda *a: LA.multi_dot(a), torch_product, (normal(5), normal(5, 2), normal(2, 6), normal(6, 3), normal(3))),
    ("dot", lambda *a: LA.multi_dot(a), torch_product, (normal(9, 2), normal(2, 6), normal(6, 1), normal(1, 7))),
    ("svd", LA.svdvals, TLA.svdvals, (spread(3, 2),)),
    ("svd", LA.cond, TLA.cond, (spread(3, batch=(2,)),)),
    ("svd", lambda a: LA.cond(a, -2), lambda a: TLA.cond(a, -2), (spread(3),)),
    ("norm", lambda a: LA.cond(a, "fro"), lambda a: TLA.matrix_norm(a) * TLA.matrix_norm(TLA.inv(a)), (spread(3),)),
    ("norm", lambda a: LA.cond(a, 1), lambda a: TLA.matrix_norm(a, 1) * TLA.matrix_norm(TLA.inv(a), 1),
     (spread(3, batch=(2,)),)),
    ("inv", LA.tensorinv, TLA.tensorinv, (reshaped(spread(6), 2, 3, 3, 2),)),
    ("inv", lambda a: LA.tensorinv(a, ind=1), lambda a: TLA.tensorinv(a, ind=1), (reshaped(spread(6), 6, 3, 2),)),
    ("solve", LA.tensorsolve, TLA.tensorsolve, (reshaped(spread(6), 2, 3, 6), normal(2, 3))),
    ("solve", lambda a, b: LA.tensorsolve(a, b, axes=(0, 2)), lambda a, b: TLA.tensorsolve(a, b, dims=(0, 2)),
     (reshaped(spread(6), 2, 6, 3), normal(6))),
    ("norm", LA.vector_norm, TLA.vector_norm, (normal(2, 3, 2),)),
    ("norm", lambda x: LA.vector_norm(x, axis=1, keepdims=True), lambda x: TLA.vector_norm(x, dim=1, keepdim=True),
     (normal(2, 3, 2),)),
    ("norm", lambda x: LA.vector_norm(x, axis=(0, -1), ord=3), lambda x: TLA.vector_norm(x, 3, (0, -1)), (normal(2, 3, 2),)),
    ("norm", lambda x: LA.vector_norm(x, axis=(0, 2), keepdims=True),
     lambda x: TLA.vector_norm(x, dim=(0, 2), keepdim=True), (normal(2, 3, 2),)),
    ("norm", lambda x: LA.vector_norm(x, keepdims=True, ord=1), lambda x: TLA.vector_norm(x, 1, keepdim=True), (apart(2, 3),)),
    ("norm", LA.matrix_norm, TLA.matrix_norm, (normal(2, 3, 2),)),
    ("norm", lambda x: LA.matrix_norm(x, ord="nuc", keepdims=True), lambda x: TLA.matrix_norm(x, "nuc", keepdim=True),
     (spread(3, 2),)),
    ("matmul", np.matvec, torch.matmul, (normal(2, 3), normal(3))),
    ("matmul", np.matvec, None, (normal(4, 2, 3), normal(4, 3))),
    ("matmul", np.vecmat, torch.matmul, (normal(2), normal(2, 3))),
    ("matmul", np.vecmat, None, (normal(4, 2), normal(4, 2, 3))),
]  # fmt: skip
for _number, (_name, _f, _torch, _specs) in enumerate(COMPOSED):
    case(_name, _f, *_specs, label=f"composed {_number}", torch=_torch)


def _called(f: Function, options: dict[str, Any], x: Any) -> Any:
    return f(x, **options)


GRIDS: list[tuple[str, str, dict[str, Any], Shape]] = [
    ("fft", "fft2", {}, (3, 4)), ("ifft", "ifft2", {"norm": "ortho"}, (2, 3, 4)), ("fft", "fftn", {}, (2, 3, 2)),
    ("fft", "fftn", {"s": (4, 2), "axes": (0, -1), "norm": "forward"}, (3, 2, 3)), ("ifft", "ifftn", {"axes": (1,)}, (2, 3)),
    ("rfft", "rfft2", {}, (3, 4)), ("rfft", "rfftn", {"s": (3, 5), "axes": (0, 1)}, (2, 3)), ("rfft", "rfftn", {}, (2, 3, 3)),
    ("irfft", "irfft2", {}, (3, 4)), ("irfft", "irfft2", {"s": (4, 5), "axes": (-2, -1), "norm": "ortho"}, (2, 3, 3)),
    ("irfft", "irfftn", {}, (2, 3, 3)), ("irfft", "hfft", {}, (4,)), ("irfft", "hfft", {"n": 5, "norm": "ortho"}, (2, 3)),
    ("rfft", "ihfft", {}, (4,)), ("rfft", "ihfft", {"n": 5, "axis": 0, "norm": "forward"}, (4, 2)),
]  # fmt: skip
for _name, _function, _options, _shape in GRIDS:
    _torch_options = {{"axes": "dim", "axis": "dim"}.get(k, k): v for k, v in _options.items()}
    _fft = functools.partial(_called, getattr(np.fft, _function), _options)
    _torch_fft = functools.partial(_called, getattr(torch.fft, _function), _torch_options)
    if _name == "rfft":
        case(_name, lambda x, f=_fft: joined_parts(f(x)), normal(*_shape), label=f"{_function} {_options}",
             torch=lambda x, f=_torch_fft: joined_parts(f(x)))  # fmt: skip
    else:
        case(
            _name,
            complex_parts(_fft),
            normal(2, *_shape),
            label=f"{_function} {_options}",
            torch=complex_parts(_torch_fft),
        )
