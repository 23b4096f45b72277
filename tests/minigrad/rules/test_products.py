"""Products and scattered sums that are computed in another way than NumPy's: their errors, warnings and odd operands."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.kernels.numpy import einsum as einsum_kernel
from minigrad.rules.einsum import einsum
from minigrad.rules.indexing import scatter_add
from minigrad.rules.linalg import matmul

convolve: Any = np.convolve  # NumPy's stubs know its modes as literals only
EINSUMS = [
    ("ij,kj->ik", (3, 4), (5, 4)), ("ij,jk->ki", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("i,i->", (4,), (4,)),
    ("ij,j->i", (3, 4), (4,)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bhid,bhjd->bhij", (2, 3, 4, 2), (2, 3, 5, 2)),
    ("ijb,jkb->ikb", (3, 4, 2), (4, 5, 2)), ("abcd,bd->ac", (2, 3, 4, 5), (3, 5)), ("bij,jk->kib", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("ij,jk->ik", (3, 0), (0, 5)), ("bi,bij->jb", (2, 3), (2, 3, 4)),
]  # fmt: skip
OTHERS = [
    ("...ij,...jk->...ik", (2, 3, 4), (1, 4, 5)), ("ij,jk->ik", (3, 1), (4, 5)), ("ij,jk->i", (3, 4), (4, 5)),
    ("ii,ij->j", (3, 3), (3, 4)), ("ij,ij->i", (3, 4), (3, 4)), ("i,j->ij", (3,), (4,)), (",ij->ij", (), (3, 4)),
]  # fmt: skip
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda a: a, "F": lambda a: np.asarray(a, order="F"),
    "reversed": lambda a: a[..., ::-1].copy()[..., ::-1] if a.ndim else a,
    "spaced": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape) if a.ndim else a,
}  # fmt: skip


@pytest.fixture
def all_are_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(einsum_kernel, "LEAST", 0)


def normal(*shapes: tuple[int, ...], dtype: Any = float) -> list[Any]:
    random = np.random.default_rng(0)
    found = [random.standard_normal(shape) for shape in shapes]
    if np.dtype(dtype).kind == "c":
        found = [a + 1j * random.standard_normal(a.shape) for a in found]
    return [np.asarray(a, dtype) for a in found]


def pulled(f: Callable[..., Any], g: Any, *arrays: Any) -> list[Any]:
    """Return the cotangents of the arrays."""
    return [np.asarray(found) for found in mg.vjp(f, *arrays)[1](g)]


# --- einsum of two operands ---


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("all_are_products")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize(("subscripts", "a", "b"), [*EINSUMS, *OTHERS])
def test_an_einsum_is_as_exact_as_numpys(subscripts: str, a: Any, b: Any, dtype: str, layout: str) -> None:
    x, y = (LAYOUTS[layout](array) for array in normal(a, b, dtype=dtype))
    wide = np.clongdouble if np.dtype(dtype).kind == "c" else np.longdouble
    exact = np.einsum(subscripts, x.astype(wide), y.astype(wide))
    largest = np.einsum(subscripts, abs(x), abs(y))
    got, numpys = einsum(x, y, subscripts=subscripts), np.einsum(subscripts, x, y)
    assert (type(got), got.shape, got.dtype) == (type(numpys), numpys.shape, numpys.dtype)
    assert np.all(abs(got - exact) <= 4 * np.finfo(dtype).eps * largest)
    assert not np.shares_memory(got, x)
    assert not np.shares_memory(got, y)


@pytest.mark.usefixtures("all_are_products")
@pytest.mark.parametrize(("subscripts", "a", "b"), [*EINSUMS, *OTHERS])
def test_an_einsum_as_a_product_has_its_derivatives(subscripts: str, a: Any, b: Any) -> None:
    mg.check_grads(lambda x, y: np.einsum(subscripts, x, y), normal(a, b))


def test_only_large_einsums_with_a_summed_label_are_products(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(x: Any, y: Any) -> Any:
        calls.append(x.shape)
        return matmul(x, y)

    monkeypatch.setattr(einsum_kernel, "matmul", counted)
    for n in (10, 30):
        x, y = (Tensor(a, requires_grad=True) for a in normal((n, n), (n, n)))
        np.einsum("ij,kj->ik", x, y).backward(np.ones((n, n)))
    assert calls == [(30, 30)] * 3
    np.einsum("ij,ij->ij", x, y)
    assert len(calls) == 3


@pytest.mark.usefixtures("all_are_products")
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, np.longdouble])
def test_an_einsum_of_other_numbers_is_numpys(dtype: Any) -> None:
    whole = np.dtype(dtype).kind in "iub"
    x, y = ((a * 3).astype(np.int64 if whole else dtype).astype(dtype) for a in normal((3, 40), (40, 5)))
    want = np.einsum("ij,jk->ik", x, y)
    got = einsum(x, y, subscripts="ij,jk->ik")
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.usefixtures("all_are_products")
def test_an_einsum_gives_numpys_inf_and_nan_without_a_warning() -> None:
    x = np.array([[np.inf, 1, 0], [1, 2, np.nan], [1e300, 1e300, 0]])
    y = np.array([[0.0, 1e10], [1, 1e10], [1, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(einsum(x, y, subscripts="ij,jk->ik"), np.einsum("ij,jk->ik", x, y))


@pytest.mark.parametrize("subscripts", ["ij,jk", "ij,jk->ikl", "ij,jk->ii", "i1,jk->ik", "ij,jk,kl->il", "ijk,jk->i"])
def test_wrong_subscripts_raise_as_in_numpy(subscripts: str) -> None:
    x, y = normal((30, 40), (50, 60))
    with pytest.raises(ValueError) as numpys:
        np.einsum(subscripts, x, y)
    with pytest.raises(mg.errors.ShapeError, match="einsum") as ours:
        np.einsum(subscripts, Tensor(x), y)
    assert str(numpys.value)[:20] in str(ours.value)


# --- sums at an index ---


@pytest.mark.parametrize("dtype", ["f", "d", "g", "e", "F"])
@pytest.mark.parametrize("index", [
    np.array([3, 0, 3, -1, 3]), np.array([[1, 1], [0, -2]], np.int8), np.zeros(0, int), np.array([2, 2], np.uint64),
    (slice(None), np.array([5, -1, 5])), (np.array([0, -1, 0]), np.array([7, 7, -300])),
    (np.array([[1], [2]], np.uint64), np.array([0, 200, 0])), np.arange(1200).reshape(4, 300) % 3 == 0,
    np.array([True, False, True, False]),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("shape", [(4, 300), (4, 1200)])
def test_scattered_sums_are_those_of_add_at(index: Any, shape: tuple[int, int], dtype: str) -> None:
    if getattr(index, "shape", ()) == (4, 300) != shape:
        return  # a mask of the other shape
    (updates,) = normal(np.zeros(shape)[index].shape, dtype=dtype)
    want = np.zeros(shape, dtype)
    np.add.at(want, index, updates)
    np.testing.assert_array_equal(scatter_add(updates, index=index, shape=shape), want)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_take_along_axis_of_a_large_array_counts_from_the_end(axis: int | None) -> None:
    (x,) = normal((70, 70))
    places = np.random.default_rng(1).integers(-70, 70, (70, 70))
    places = places.ravel() if axis is None else places
    g = np.arange(places.size, dtype=float).reshape(places.shape)
    positions = np.take_along_axis(np.arange(x.size).reshape(x.shape), places, axis)
    (got,) = pulled(lambda t: np.take_along_axis(t, places, axis), g, x)
    want = np.bincount(positions.ravel(), g.ravel(), x.size).reshape(x.shape)
    np.testing.assert_array_equal(got, want)


def test_windows_of_all_sizes_are_summed_where_they_overlap() -> None:
    for n, size in [(7, 1), (7, 3), (7, 5), (7, 7), (1, 1)]:
        g = np.arange((n - size + 1) * size, dtype=float).reshape(n - size + 1, size)
        want = np.zeros(n)
        np.add.at(want, np.add.outer(np.arange(n - size + 1), np.arange(size)), g)
        (got,) = pulled(lambda t, w=size: np.lib.stride_tricks.sliding_window_view(t, w), g, np.zeros(n))
        np.testing.assert_array_equal(got, want)


# --- other products ---


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", [((500,), (9,)), ((9,), (500,)), ((300,), (300,))])
def test_the_gradients_of_a_convolution_are_as_exact_as_its_value(shapes: Any, mode: str) -> None:
    a, v = normal(*shapes)
    g = np.cos(np.arange(len(convolve(a, v, mode))))
    for i, got in enumerate(pulled(lambda x, y: convolve(x, y, mode), g, a, v)):
        basis = np.eye(len((a, v)[i]))
        columns = [convolve(e, v, mode) if i == 0 else convolve(a, e, mode) for e in basis]
        want = np.array(columns, np.longdouble) @ g
        largest = abs(np.array(columns)) @ abs(g)
        assert np.all(abs(got - want) <= 1e-14 * largest)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("sizes", [(3, 3), (2, 3), (3, 2), (2, 2)])
@pytest.mark.parametrize("axes", [(-1, -1, -1), (0, -1, 0), (1, 0, -1)])
def test_a_cross_product_along_any_axes(sizes: tuple[int, int], axes: tuple[int, int, int]) -> None:
    a, b = (np.moveaxis(x, -1, axis) for x, axis in zip(normal((4, sizes[0]), (4, sizes[1])), axes, strict=False))
    axisc = axes[2] if sizes != (2, 2) else -1
    mg.check_grads(lambda x, y: np.cross(x, y, axisa=axes[0], axisb=axes[1], axisc=axisc), [a, b])


def test_a_cross_product_of_one_vector_with_many() -> None:
    mg.check_grads(lambda x, y: np.cross(x, y, axisa=0, axisb=1), normal((3,), (4, 3)))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
def test_an_infinite_cotangent_of_a_flat_cross_product_makes_no_nan() -> None:
    found = pulled(np.cross, np.array(np.inf), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(found, [[np.inf, -np.inf], [-np.inf, np.inf]])


@pytest.mark.parametrize(
    "shapes", [((2, 3), (4, 5)), ((4, 5), (2, 3)), ((3,), (2, 2)), ((2, 1, 2), (3,)), ((), (2, 2)), ((0, 2), (3, 2))]
)
def test_a_kronecker_product_of_any_shapes(shapes: Any) -> None:
    mg.check_grads(np.kron, normal(*shapes))


@pytest.mark.parametrize("f", [np.dot, np.inner, np.vdot, lambda a, b: np.tensordot(a, b, 1)])
def test_the_gradients_of_a_dot_product_are_single_multiplications(f: Any) -> None:
    tiny = np.finfo(float).smallest_subnormal
    a = np.array([1e308, -tiny, 0.0, -0.0, np.inf, np.nan, 3.0])
    b = np.array([-0.0, 7.0, np.inf, tiny, 2.0, 1.0, 1e-308])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(pulled(f, np.array(3.0), a, b), [3.0 * b, 3.0 * a])


@pytest.mark.parametrize("shapes", [((4, 3), (4, 3)), ((4, 3), (3,)), ((2000, 3), (2000, 3)), ((5, 1, 3), (400, 3))])
@pytest.mark.parametrize("layout", ["C", "F", "spaced"])
def test_cross_products_are_numpys(shapes: Any, layout: str) -> None:
    a, b = (LAYOUTS[layout](x) for x in normal(*shapes))
    np.testing.assert_array_equal(np.asarray(np.cross(Tensor(a), b)), np.cross(a, b))
    (got,) = pulled(lambda t: np.cross(a, t), np.cross(a, b), b)
    want = np.cross(np.cross(a, b), a)
    np.testing.assert_allclose(got, want.reshape(-1, *b.shape).sum(0) if want.ndim > b.ndim else want, atol=1e-12)


@pytest.mark.parametrize("shapes", [((5, 3), (3,)), ((2, 5, 3), (3,)), ((0, 3), (3,)), ((5, 0), (0,)), ((3,), (3,))])
def test_a_product_with_a_vector(shapes: Any) -> None:
    mg.check_grads(np.matmul, normal(*shapes))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [0, 1, (0, 2), [(3, 0), (0, 0)], [(9, 7), (8, 1)], [(30, 40), (1, 20)]])
@pytest.mark.parametrize("shape", [(3, 2), (60, 80)])  # a table of positions, or line by line
def test_padding_with_copies_equals_numpys(mode: str, width: Any, shape: tuple[int, int]) -> None:
    (x,) = normal(shape)
    numbers = np.pad(np.arange(x.size).reshape(shape), width, mode)  # type: ignore[call-overload]
    g = np.cos(np.arange(numbers.size)).reshape(numbers.shape)
    want = np.bincount(numbers.ravel(), g.ravel(), x.size).reshape(shape)
    (got,) = pulled(lambda t: np.pad(t, width, mode), g, x)  # type: ignore[call-overload]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(np.pad(Tensor(x), width, mode).numpy(), x.ravel()[numbers])  # type: ignore
