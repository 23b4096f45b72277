"""Hypothesis on shapes, axes and indices: what the case table samples, here at random.

Most of these functions are linear, so that their gradients obey the adjoint law <u, A x> = <A^T u, x> exactly.
"""

from typing import Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import minigrad as mg
from minigrad import Tensor
from tests.lazy import torch

moderate = settings(max_examples=60)


def normal(shape: Any, seed: int = 0) -> Any:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape))


def pulled(f: Any, u: Any, *arrays: Any) -> list[Any]:
    """The gradients of `<u, f(*arrays)>`, equal at first order and under create_graph."""
    both = []
    for create_graph in (False, True):
        tensors = [Tensor(a, requires_grad=True) for a in arrays]
        f(*tensors).backward(u, create_graph=create_graph)
        both.append([t.grad.data for t in tensors if t.grad is not None])
    for a, b in zip(*both, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    assert [g.shape for g in both[0]] == [a.shape for a in arrays]
    return both[0]


def inner(a: Any, b: Any) -> float:
    return float(np.sum(a * b))


@moderate
@given(npst.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=3))
def test_unbroadcasting_is_the_adjoint_of_broadcasting(shapes: Any) -> None:
    x, y, z = (normal(shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    u = normal(shapes.result_shape, 7)
    gx, gy, gz = pulled(lambda x, y, z: x * y + z, u, x, y, z)
    assert inner(u, x * y) == pytest.approx(inner(gx, x)) == pytest.approx(inner(gy, y))
    assert inner(u, np.broadcast_to(z, u.shape)) == pytest.approx(inner(gz, z))
    m = normal(shapes.result_shape, 8) > 0
    gx, gy = pulled(lambda x, y: np.where(m, x, y), u, x, y)
    assert inner(u, np.where(m, x, y)) == pytest.approx(inner(gx, x) + inner(gy, y))


@moderate
@given(npst.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, max_side=3))
def test_matmul(shapes: Any) -> None:
    x, y = (normal(shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    u = normal(shapes.result_shape, 7)
    gx, gy = pulled(np.matmul, u, x, y)
    product = inner(u, x @ y)
    assert inner(gx, x) == pytest.approx(product, abs=1e-12) and inner(gy, y) == pytest.approx(product, abs=1e-12)
    other = normal(x.shape, 5)  # in each argument, for every x: so the gradient is the adjoint, not only at x
    assert inner(gx, other) == pytest.approx(inner(u, other @ y), abs=1e-12)


@st.composite
def picks(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape and an index into it: slices, integers, None, Ellipsis, integer arrays, masks, and mixtures."""
    shape = draw(npst.array_shapes(min_dims=1, max_dims=4, max_side=4))
    kind = draw(st.sampled_from(["basic", "integers", "mask", "mixed"]))
    if kind == "basic":
        return shape, draw(npst.basic_indices(shape, allow_newaxis=True))
    if kind == "integers":
        return shape, draw(npst.integer_array_indices(shape, result_shape=npst.array_shapes(max_dims=2, max_side=4)))
    if kind == "mask":
        return shape, draw(npst.arrays(bool, shape[: draw(st.integers(1, len(shape)))]))
    parts: list[Any] = []
    for n in shape:
        part = st.one_of(st.slices(n), st.integers(-n, n - 1), st.lists(st.integers(-n, n - 1), min_size=3, max_size=3))
        parts.append(draw(part))
        if draw(st.integers(0, 4)) == 0:
            parts.append(None)
    return shape, tuple(np.array(p) if isinstance(p, list) else p for p in parts)


@settings(max_examples=200)
@given(picks())
def test_getitem(pick: tuple[tuple[int, ...], Any]) -> None:
    shape, index = pick
    x = normal(shape)
    u = normal(x[index].shape, 7)
    (gradient,) = pulled(lambda x: x[index], u, x)
    want = np.zeros(shape)
    np.add.at(want, index, u)
    np.testing.assert_allclose(gradient, want, atol=1e-12)
    np.testing.assert_array_equal(Tensor(x)[index].data, x[index])


@moderate
@given(npst.array_shapes(max_dims=3, max_side=4), st.data())
def test_take(shape: tuple[int, ...], data: Any) -> None:
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    n = int(np.prod(shape)) if axis is None else shape[axis]
    index = data.draw(
        npst.arrays(np.int64, npst.array_shapes(min_dims=0, max_dims=2, max_side=4), elements=st.integers(-n, n - 1))
    )
    x = normal(shape)
    taken = np.take(x, index, axis)
    u = normal(taken.shape, 7)
    (gradient,) = pulled(lambda x: np.take(x, index, axis), u, x)
    assert inner(u, taken) == pytest.approx(inner(gradient, x), abs=1e-12)
    other = normal(shape, 5)
    assert inner(u, np.take(other, index, axis)) == pytest.approx(inner(gradient, other), abs=1e-12)


@st.composite
def rearrangements(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape and a linear function of an array of it: one of the many that only move, repeat or leave out elements."""
    shape = draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    kind = draw(st.sampled_from(["flip", "roll", "repeat", "tile", "moveaxis", "delete", "reshape", "pad", "resize"]))
    if kind == "flip":
        axes = draw(st.one_of(st.none(), npst.valid_tuple_axes(len(shape))))
        return shape, lambda x: np.flip(x, axes)
    if kind == "roll":
        axes = draw(npst.valid_tuple_axes(len(shape), min_size=1))
        shifts = tuple(draw(st.integers(-9, 9)) for _ in axes)
        return shape, lambda x: np.roll(x, shifts, axes)
    if kind == "repeat":
        repeats = draw(st.one_of(st.integers(0, 3), st.lists(st.integers(0, 3), min_size=n, max_size=n)))
        return shape, lambda x: np.repeat(x, repeats, axis)
    if kind == "tile":
        reps = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
        return shape, lambda x: np.tile(x, reps)
    if kind == "moveaxis":
        to, start = draw(st.integers(-len(shape), len(shape) - 1)), draw(st.integers(-len(shape), len(shape)))
        return shape, draw(st.sampled_from([lambda x: np.moveaxis(x, axis, to), lambda x: np.rollaxis(x, axis, start)]))
    if kind == "delete":
        which = draw(st.one_of(st.slices(n), st.integers(-n, n - 1), st.lists(st.integers(-n, n - 1), max_size=3)))
        return shape, lambda x: np.delete(x, which, axis)
    if kind == "reshape":
        first, second = draw(st.sampled_from("CF")), draw(st.sampled_from("CF"))
        return shape, lambda x: np.reshape(np.ravel(x, first), x.shape[::-1], order=second)
    if kind == "resize":
        new = draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
        return shape, lambda x: np.resize(x, new)
    widths = [(draw(st.integers(0, 9)), draw(st.integers(0, 9))) for _ in shape]
    mode = draw(st.sampled_from(["constant", "edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap"]))
    options: Any = {}
    if mode in ("reflect", "symmetric"):
        options["reflect_type"] = draw(st.sampled_from(["even", "odd"]))
    if mode == "mean":
        options["stat_length"] = [(draw(st.integers(1, 5)), draw(st.integers(1, 5))) for _ in shape]
    return shape, lambda x: np.pad(x, widths, mode, **options)


@settings(max_examples=300)
@given(rearrangements(), st.booleans())
def test_rearrangements(rearrangement: tuple[tuple[int, ...], Any], reverse: bool) -> None:
    shape, f = rearrangement
    x, other = normal(shape), normal(shape, 5)
    if reverse:  # negative strides
        x = np.flip(x)
    want = f(x)
    np.testing.assert_array_equal(f(Tensor(x, requires_grad=True, copy=False)).data, want)
    u = normal(want.shape, 7)
    (gradient,) = pulled(f, u, x)
    assert inner(u, want) == pytest.approx(inner(gradient, x), abs=1e-10)
    assert inner(u, f(other)) == pytest.approx(inner(gradient, other), abs=1e-10)


@moderate
@given(npst.array_shapes(min_dims=2, max_dims=4, max_side=4), st.integers(-5, 5), st.data())
def test_diagonal(shape: tuple[int, ...], offset: int, data: Any) -> None:
    axis1, axis2 = data.draw(st.permutations(range(len(shape))))[:2]
    axis1 -= len(shape) * data.draw(st.booleans())
    x = normal(shape)
    want = np.diagonal(x, offset, axis1, axis2)
    u = normal(want.shape, 7)
    (gradient,) = pulled(lambda t: np.diagonal(t, offset, axis1, axis2), u, x)
    np.testing.assert_array_equal(np.diagonal(gradient, offset, axis1, axis2), u)
    assert np.count_nonzero(gradient) == np.count_nonzero(u)


@moderate
@given(npst.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=3, max_side=3), st.data())
def test_take_along_axis(shapes: Any, data: Any) -> None:
    x_shape, i_shape = shapes.input_shapes
    ndim = max(len(x_shape), len(i_shape))
    x_shape, i_shape = ((1,) * (ndim - len(s)) + s for s in (x_shape, i_shape))
    axis = data.draw(st.integers(-ndim, ndim - 1))
    n = x_shape[axis]
    index = data.draw(npst.arrays(np.int64, i_shape, elements=st.integers(-n, n - 1)))
    x, other = normal(x_shape), normal(x_shape, 5)
    want = np.take_along_axis(x, index, axis)
    u = normal(want.shape, 7)
    (gradient,) = pulled(lambda t: np.take_along_axis(t, index, axis), u, x)
    assert inner(u, want) == pytest.approx(inner(gradient, x), abs=1e-12)
    assert inner(u, np.take_along_axis(other, index, axis)) == pytest.approx(inner(gradient, other), abs=1e-12)


@moderate
@given(npst.array_shapes(max_dims=3, max_side=4), st.data())
def test_insert(shape: tuple[int, ...], data: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    where = data.draw(st.one_of(st.integers(-n, n), st.lists(st.integers(-n, n), max_size=3), st.slices(n)))
    count = len(range(n)[where]) if isinstance(where, slice) else len(where) if isinstance(where, list) else 1
    added = (*shape[:axis], count, *shape[axis:][1:]) if isinstance(where, (list, slice)) else ()
    x, y = normal(shape), normal(added, 3)
    want = np.insert(x, where, y, axis)
    np.testing.assert_array_equal(np.insert(Tensor(x), where, Tensor(y), axis).data, want)
    u = normal(want.shape, 7)
    gx, gy = pulled(lambda x, y: np.insert(x, where, y, axis), u, x, y)
    assert inner(u, want) == pytest.approx(inner(gx, x) + inner(gy, y), abs=1e-10)


REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "sum": (np.sum, torch.sum), "mean": (np.mean, torch.mean), "max": (np.max, torch.amax), "min": (np.min, torch.amin),
    "var": (np.var, lambda x, **k: torch.var(x, correction=0, **k)),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=40)
@given(npst.array_shapes(min_dims=1, max_dims=4, max_side=3), st.booleans(), st.data())
def test_reductions(name: str, shape: tuple[int, ...], keepdims: bool, data: Any) -> None:
    axis = data.draw(
        st.one_of(st.none(), npst.valid_tuple_axes(len(shape), min_size=1), st.integers(-len(shape), len(shape) - 1))
    )
    ours, theirs = REDUCTIONS[name]
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(float)  # with ties
    u = normal(np.shape(np.sum(x, axis=axis, keepdims=keepdims)), 7)
    (gradient,) = pulled(lambda x: ours(x, axis=axis, keepdims=keepdims), u, x)
    t = torch.from_numpy(x.copy()).requires_grad_()
    out = theirs(t, dim=tuple(range(len(shape))) if axis is None else axis, keepdim=keepdims)
    out.backward(torch.from_numpy(u))
    np.testing.assert_allclose(gradient, t.grad.numpy(), rtol=1e-10, atol=1e-12)


@moderate
@given(npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3), st.data())
def test_transpose(shape: tuple[int, ...], data: Any) -> None:
    axes = data.draw(st.permutations(range(len(shape))))
    order = tuple(a - len(shape) * data.draw(st.booleans()) for a in axes)
    u = normal(shape, 7)
    (gradient,) = pulled(lambda t: np.transpose(t, order), np.transpose(u, axes), normal(shape))
    np.testing.assert_array_equal(gradient, u)


@moderate
@given(npst.array_shapes(max_dims=3, max_side=4), st.data())
def test_split_and_concatenate(shape: tuple[int, ...], data: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    u = normal(shape, 7)

    def shuffle(t: Any) -> Any:
        return np.concatenate(np.split(t, cuts, axis)[::-1], axis)

    (gradient,) = pulled(shuffle, u, normal(shape))
    np.testing.assert_array_equal(shuffle(gradient), u)  # the gradient of a permutation is its inverse


@moderate
@given(npst.array_shapes(max_dims=4, max_side=3), st.sampled_from([np.float32, np.float64]), st.data())
def test_softmax_kernel_on_any_axis(shape: tuple[int, ...], dtype: Any, data: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, u = normal(shape).astype(dtype), normal(shape, 7).astype(dtype)
    fast, plain = Tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    mg.softmax(fast, axis=axis).backward(u)
    with mg.reference_mode():
        mg.softmax(plain, axis=axis).backward(u)
    assert fast.grad is not None and plain.grad is not None and fast.grad.dtype == plain.grad.dtype == dtype
    np.testing.assert_allclose(fast.grad.data, plain.grad.data, rtol=1e-4, atol=1e-5)
