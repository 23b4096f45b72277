"""Tensor itself: what it holds, says, converts to, and lets be changed."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import DTypeError, GraphError, ShapeError, Tensor, UnsupportedError
from tests import fake_device

A = np.arange(6.0).reshape(2, 3)


def tracked(array: Any = A, **options: Any) -> Any:
    return Tensor(array, requires_grad=True, **options)


@pytest.mark.parametrize(
    ("data", "dtype"),
    [(2.0, "f8"), (2, int), (True, "?"), ([1.0, 2], "f8"), (np.float32(1), "f4"), (A.astype("f4"), "f4"), (1j, "c16")],
)
def test_the_dtype_is_numpys(data: Any, dtype: Any) -> None:
    t = Tensor(data)
    assert t.dtype == dtype and type(t.data) is np.ndarray and not t.requires_grad and t.is_leaf
    assert Tensor(data, dtype="c8").dtype == np.complex64


def test_attributes() -> None:
    t = tracked(name="weights")
    assert (t.shape, t.ndim, t.size, t.dtype, t.name) == ((2, 3), 2, 6, np.float64, "weights")
    assert t.requires_grad and t.is_leaf and t.grad is None and len(t) == 2
    np.testing.assert_array_equal(t.T.data, A.T)
    np.testing.assert_array_equal(Tensor(np.stack([A, A])).mT.data, np.stack([A.T, A.T]))
    y = t * 2
    assert y.requires_grad and not y.is_leaf and y.name is None
    with pytest.raises(AttributeError):
        t.gard = None  # a misspelt name


def test_the_constructor_copies_unless_told() -> None:
    a = A.copy()
    copied, shared = Tensor(a), Tensor(a, copy=False)
    a[0, 0] = 77
    assert copied.data[0, 0] == 0 and shared.data is a
    again = Tensor(copied)
    assert again is not copied and not np.shares_memory(again.data, copied.data)
    assert Tensor(fake_device.asarray(A)).data is not fake_device.asarray(A)


def test_methods_follow_numpy() -> None:
    t = Tensor(A)
    calls: list[Callable[[Any], Any]] = [
        lambda x: x.sum(), lambda x: x.mean(axis=0), lambda x: x.var(axis=1, ddof=1), lambda x: x.std(keepdims=True),
        lambda x: x.max(axis=-1), lambda x: x.min(), lambda x: x.argmax(), lambda x: x.argmin(axis=1),
        lambda x: x.reshape(3, 2), lambda x: x.ravel(), lambda x: x.flatten(), lambda x: x.transpose(1, 0),
        lambda x: x.swapaxes(0, 1), lambda x: x[None].squeeze(0), lambda x: x.take([0, 0], axis=1),
        lambda x: x.clip(1, 2), lambda x: x.astype("f4"), lambda x: x.tolist(),
    ]  # fmt: skip
    for call in calls:
        got, want = call(t), call(A)
        np.testing.assert_array_equal(got.data if isinstance(got, Tensor) else got, want)
        assert not isinstance(got, Tensor) or got.dtype == want.dtype


def test_reductions_give_0d_tensors() -> None:
    for y in (tracked().sum(), tracked().max(), tracked()[0, 0], tracked([1.0]) @ [1.0], np.exp(tracked(1.0)) * 1.0):
        assert isinstance(y, Tensor) and type(y.data) is np.ndarray and y.shape == ()


def test_numpy_item_tolist_detach() -> None:
    t = tracked()
    assert t.numpy() is t.data and t.tolist() == A.tolist()
    assert t[0, 1].item() == 1.0 and type(Tensor([[2]]).item()) is int
    with pytest.raises(ShapeError, match=r"one element, got shape \(2, 3\)"):
        t.item()
    cut = (t * 2).detach()
    assert not cut.requires_grad and cut.is_leaf
    assert np.shares_memory(t.detach().data, t.data)
    on_device = Tensor(fake_device.asarray(A))
    assert type(on_device.numpy()) is np.ndarray and on_device.tolist() == A.tolist()


def test_conversions_of_one_element() -> None:
    assert (float(Tensor(2.5)), int(Tensor([7])), complex(Tensor(2)), [5, 6][Tensor(1)]) == (2.5, 7, 2 + 0j, 6)
    with pytest.raises(ShapeError):
        float(Tensor(A))
    with pytest.raises(TypeError):
        [5, 6][Tensor(1.0)]
    assert bool(tracked(2.0)) and not tracked([0.0])
    with pytest.raises(ShapeError, match=r"truth value.*\(2, 3\).*\.any\(\)"):
        bool(tracked())
    with pytest.raises(ValueError):
        bool(Tensor(np.zeros(0)))


def test_len_iteration_and_membership() -> None:
    t = tracked()
    rows = list(t)
    assert len(rows) == len(t) == 2 and all(row.requires_grad for row in rows)
    (rows[0] * rows[1]).sum().backward()
    assert t.grad is not None
    np.testing.assert_array_equal(t.grad.data, A[::-1])
    first, second = t
    assert second.tolist() == [3, 4, 5] and first.shape == (3,)
    assert 5.0 in t and 77 not in t
    for fail in (len, iter, list):
        with pytest.raises(TypeError, match="0-d tensor"):
            fail(tracked(1.0))
    assert list(Tensor(np.zeros((0, 2)))) == []


def test_identity_hash_and_comparison() -> None:
    t = tracked()
    assert {t: 1}[t] == 1 and hash(t) != hash(Tensor(A))
    assert (t == t).all() and (t != A + 1).all() and ((t < 3) == (A < 3)).all()
    assert t is not None and type(t >= 1) is np.ndarray


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (Tensor(2.0), "Tensor(2.)"),
        (Tensor([1, 2]), "Tensor([1, 2])"),
        (Tensor([1.5], dtype="f4"), "Tensor([1.5], dtype=float32)"),
        (tracked(1.0, name="w"), "Tensor(1., requires_grad=True, name='w')"),
        (tracked(1.0) * 2, "Tensor(2., op=multiply)"),
        (np.split(tracked([1.0, 2.0]), 2)[1], "Tensor([2.], op=split)"),
        (Tensor(A), "Tensor([[0., 1., 2.],\n        [3., 4., 5.]])"),
    ],
)
def test_repr(t: Tensor, text: str) -> None:
    assert repr(t) == text
    assert len(repr(Tensor(np.zeros((500, 500))))) < 500


# --- changing it ---


def test_data_in_place() -> None:
    p = tracked()
    (p * p).sum().backward()
    assert p.grad is not None
    p.data -= 0.5 * p.grad.data
    np.testing.assert_array_equal(p.data, np.zeros((2, 3)))
    assert p.requires_grad and p.is_leaf


def test_data_is_replaced() -> None:
    p = tracked()
    y = (p * p).sum()
    p.data = A + 1
    np.testing.assert_array_equal(p.data, A + 1)
    y.backward()  # the graph kept the values that it was recorded with
    assert p.grad is not None
    np.testing.assert_array_equal(p.grad.data, 2 * A)
    p.data = Tensor(A)
    p.data = A.tolist()
    assert p.data.dtype == np.float64 and p.requires_grad


def test_data_of_another_shape_begins_anew() -> None:
    p = tracked()
    before = (p * p).sum()
    p.grad = np.ones((2, 3))
    p.data = np.ones(4, np.float32)
    assert (p.grad, p.requires_grad, p.shape, p.dtype) == (None, True, (4,), np.float32)
    with pytest.raises(GraphError, match=r"shape \(2, 3\).*replaced"):
        before.backward()
    p.sum().backward()
    assert p.grad.tolist() == [1, 1, 1, 1] and p.grad.dtype == np.float32


def test_data_that_cannot_be() -> None:
    p = tracked()
    for bad, kind in ((np.ones(2, int), DTypeError), ("abc", DTypeError), ([[1], [1, 2]], DTypeError)):
        with pytest.raises(kind):
            p.data = bad
        assert p.data.shape == (2, 3) and p.requires_grad
    with pytest.raises(GraphError, match="computed"):
        (p * 2).data = A


@pytest.mark.parametrize("of", [lambda u: u, lambda u: u * 2], ids=["leaf", "computed"])
def test_data_of_a_tracked_tensor_is_refused(of: Callable[[Any], Any]) -> None:
    t, u = tracked(), of(tracked(A + 1))
    array, node = t._array, t._node
    with pytest.raises(UnsupportedError, match=r"t\.data = the tensor of .* requires a gradient.*assign u\.detach\(\)"):
        t.data = u
    assert t._array is array and t._node is node
    t.data = u.detach()
    np.testing.assert_array_equal(t.numpy(), u.data)

    def loss(x: Any) -> Any:
        w = Tensor(np.ones((2, 3)), requires_grad=True)
        w.data = x
        return (w * w).sum()

    with pytest.raises(UnsupportedError, match=r"u\.detach\(\)"):  # and no zeros
        mg.grad(loss)(A)


def test_requires_grad_is_switched() -> None:
    t = Tensor(A)
    t.requires_grad = True
    t.requires_grad = True
    (t * t).sum().backward()
    assert t.grad is not None
    t.requires_grad = False
    assert not (t * 2).requires_grad
    y = tracked() * 2
    y.requires_grad = True
    with pytest.raises(GraphError, match=r"t\.detach\(\)"):
        y.requires_grad = False
    assert y.requires_grad


def test_a_leaf_that_was_frozen_since() -> None:
    """Either the old graph still fills its gradient, or the error gives the true reason."""
    t = tracked()
    y = (t * t).sum()
    t.requires_grad = False
    try:
        y.backward()
    except GraphError as error:
        assert "requires_grad" in str(error) and t.grad is None
    else:
        assert t.grad is not None and t.grad.tolist() == (2 * A).tolist()


def test_grad_is_set() -> None:
    t = tracked(A.astype(np.float32))
    g = A.copy()
    t.grad = g  # anything like an array
    assert isinstance(t.grad, Tensor) and t.grad.dtype == np.float32 and not np.shares_memory(t.grad.data, g)
    t.sum().backward()
    np.testing.assert_array_equal(t.grad.data, A + 1)
    np.testing.assert_array_equal(g, A)
    other = Tensor(A)
    t.grad = other
    assert t.grad is not other
    t.grad.data[...] = 0
    np.testing.assert_array_equal(other.data, A)
    with pytest.raises(ShapeError, match=r"grad has shape \(3,\) for a tensor of shape \(2, 3\)"):
        t.grad = np.ones(3)
    with pytest.raises(DTypeError, match="grad has dtype complex128 for a real tensor"):
        t.grad = A + 1j
    assert t.grad.tolist() == np.zeros((2, 3)).tolist()
    t.grad = None
    assert t.grad is None


def test_a_tracked_tensor_that_is_set_as_grad_stays_on_the_tape() -> None:
    w, t = tracked(), tracked()
    t.grad = w * w
    assert t.grad is not None and t.grad.requires_grad
    (t.grad * A).sum().backward()
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.data, 2 * A * A)
    with mg.no_grad():
        t.grad = w * w
    assert not t.grad.requires_grad


def test_item_assignment_on_an_untracked_tensor() -> None:
    t = Tensor(A)
    t[0] = 7
    t[:, Tensor([0])] = Tensor([[1.0], [2.0]])
    assert t.tolist() == [[1, 7, 7], [2, 4, 5]]
    with pytest.raises(UnsupportedError, match=r"t\.at\[index\]\.set.*np\.stack"):
        t[0] = tracked()[0]
    with pytest.raises(UnsupportedError):
        t[0, 0] = tracked()[0, 0] * 2
    assert t.tolist() == [[1, 7, 7], [2, 4, 5]]


def test_item_assignment_on_a_tracked_tensor() -> None:
    for t in (tracked(), tracked() * 1.0):
        with pytest.raises(UnsupportedError, match=r"item assignment.*t\.at\[index\]\.set"):
            t[0] = 1.0
        assert t.tolist() == A.tolist()


# --- copies ---


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_leaves_are_copied_and_pickled(duplicate: Callable[[Any], Any]) -> None:
    t = tracked(A.astype("f4"), name="w")
    (t * t).sum().backward()
    tied, plain = duplicate([t, t]), duplicate(Tensor(A))
    twin: Any = tied[0]
    assert tied[1] is twin and type(plain) is Tensor and not plain.requires_grad
    assert (twin.name, twin.requires_grad, twin.dtype) == ("w", True, np.dtype("f4"))
    assert not np.shares_memory(twin.data, t.data) and not np.shares_memory(twin.grad.data, t.grad.data)
    (twin * 3.0).sum().backward()
    np.testing.assert_array_equal(twin.grad.data, 2 * A + 3)
    np.testing.assert_array_equal(t.grad.data, 2 * A)


def test_a_leaf_whose_gradient_has_a_graph_is_copied() -> None:
    t = tracked()
    (t**3).sum().backward(create_graph=True)
    assert copy.deepcopy(t).grad.tolist() == (3 * A**2).tolist()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_was_computed_is_not_copied(duplicate: Callable[[Any], Any]) -> None:
    with pytest.raises(GraphError, match=r"computed.*detach\(\)"):
        duplicate(tracked() * 2)


def test_a_device_tensor_is_copied_on_its_device() -> None:
    twin = copy.deepcopy(Tensor(fake_device.asarray(A), requires_grad=True))
    assert isinstance(twin.data, fake_device.FakeArray) and twin.requires_grad
    with mg.no_grad():
        np.testing.assert_array_equal(twin.numpy(), A)
