"""Rearranging, picking and choosing: what the case table cannot say (layouts, refusals, plain values)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import (
    ArgumentError,
    DTypeError,
    MinigradError,
    OutOfRangeError,
    ShapeError,
    Tensor,
    UnsupportedError,
)
from minigrad.engine.functions import Composite, composite
from minigrad.engine.registry import registry
from tests.minigrad.rules import (
    oracle,
    test_cases,  # noqa: F401 - test_cases fills the table
)
from tests.minigrad.rules.cases import CASES

A: Any = np.arange(6.0).reshape(2, 3)
NONSENSE: Any = "nonsense"


def tracked(array: Any = A) -> Any:
    return Tensor(array, requires_grad=True)


def test_every_composite_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    called = set()
    call = Composite.call_numpy

    def spy(self: Composite, args: Any, kwargs: Any) -> Any:
        called.add(self.name)
        return call(self, args, kwargs)

    monkeypatch.setattr(Composite, "call_numpy", spy)
    for case in CASES:
        case.f(*oracle.inputs_of(case.arrays()))
    assert called == {c.name for c in registry.values() if isinstance(c, Composite)}


def test_a_composite_records_only_what_it_is_made_of() -> None:
    stacked: Any = np.vstack([tracked(), tracked()])
    assert [entry.primitive.name for entry in mg.tape(stacked)] == ["reshape", "reshape", "concatenate"]


def test_a_composite_checks_every_call_of_a_form() -> None:
    """The first call of a form is bound to NumPy's signature, and later ones are passed on."""
    t = tracked()
    nanmedian: Any = np.nanmedian
    for _ in range(2):
        np.testing.assert_array_equal(np.median(t, axis=0, out=None).detach(), np.median(A, axis=0))
        np.testing.assert_array_equal(np.diff(t, 1, -1).detach(), np.diff(A))
        np.testing.assert_array_equal(np.diff(t, 2, 0).detach(), np.diff(A, 2, 0))
        np.testing.assert_array_equal(np.ptp(t, None, keepdims=True).detach(), np.ptp(A, keepdims=True))
        for keepdims in (True, np._NoValue):  # NumPy's default, which is not the composition's
            got = nanmedian(t, axis=0, keepdims=keepdims)
            np.testing.assert_array_equal(got.detach(), np.nanmedian(A, axis=0, keepdims=keepdims is True))
        with pytest.raises(UnsupportedError, match=r"does not take out="):
            np.median(t, axis=0, out=np.zeros(A.shape[1]))


def test_a_composite_bears_numpys_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, np.fliplr, registry[np.fliplr])  # is put back
    composite(np.fliplr, lambda x: x)
    with pytest.raises(ArgumentError, match=r"np\.fliplr.*no argument x"):
        np.fliplr(tracked())


# --- the order of the elements ---


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda a: a[:, ::-1]])
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_orders_follow_the_layout_as_numpys_do(layout: Callable[[Any], Any], order: Any) -> None:
    a = layout(np.arange(12.0).reshape(3, 4))
    t: Any = Tensor(a, requires_grad=True, copy=False)
    u = np.arange(12.0) ** 2
    pairs: list[tuple[Any, Any]] = [
        (np.reshape(t, (6, 2), order=order), np.reshape(a, (6, 2), order=order)),
        (t.reshape(6, 2, order=order), a.reshape(6, 2, order=order)),
        (np.ravel(t, order), np.ravel(a, order)),
        (t.ravel(order), a.ravel(order)),
        (t.flatten(order=order), a.flatten(order)),
    ]
    for got, want in pairs:
        np.testing.assert_array_equal(got.data, want)
        t.zero_grad()
        got.backward(u.reshape(want.shape))
        assert t.grad is not None
        np.testing.assert_array_equal(
            np.reshape(t.grad.data, want.shape, order="F" if want_f(a, order) else "C"), u.reshape(want.shape)
        )


def want_f(a: Any, order: str) -> bool:
    return order == "F" or (order == "A" and a.flags.fnc)


def test_order_k_is_that_of_the_memory_or_refused() -> None:
    f: Any = Tensor(np.asfortranarray(A), requires_grad=True, copy=False)
    np.testing.assert_array_equal(np.ravel(f, "K").data, np.ravel(np.asfortranarray(A), "K"))
    np.testing.assert_array_equal(np.ravel(tracked(), "K").data, np.ravel(A, "K"))
    with pytest.raises(UnsupportedError, match=r"not contiguous.*order='C'"):
        np.ravel(tracked()[:, ::2], "K")
    with pytest.raises(ArgumentError, match="'X'"):
        np.ravel(tracked(), "X")  # type: ignore[call-overload]


def test_a_copy_has_memory_of_its_own() -> None:
    t = tracked()
    for copied in (t.copy(), np.copy(t)):
        assert not np.shares_memory(copied.data, t.data)


PICKS: list[tuple[Callable[[Any, Any], Any], Any]] = [
    (lambda x, i: x[i], np.array([0, 1])), (lambda x, i: x[0, i], np.array([0, 1])), (lambda x, i: x[i], [0, 1]),
    (lambda x, i: x[i], A > 3), (lambda x, i: x[Tensor(i, copy=False)], np.array([0, 1])),
    (lambda x, i: np.repeat(x, i, axis=0), np.array([0, 1])), (lambda x, i: x.repeat(i, 0), [0, 1]),
    (lambda x, i: np.delete(x, i, axis=0), np.array([0])), (lambda x, i: np.piecewise(x, [i], [np.square]), A > 3),
    (lambda x, i: np.take(x, i, axis=0, mode="wrap"), np.array([0, 1])), (lambda x, i: np.compress(i, x), A[0] > 1),
    (lambda x, i: np.insert(x, i, 2 * x[0, 0]), np.array([0, 1])),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PICKS)))
def test_an_index_may_be_changed_after_its_use(number: int) -> None:
    call, index = PICKS[number]
    t, want = tracked(), tracked()
    y, z = call(t, index), call(want, index)
    z.sum().backward()
    before = index.copy()
    index[0] = 1
    y.sum().backward()
    np.testing.assert_array_equal(t.grad.data, want.grad.data)
    index[:] = before


# --- complex numbers ---

Z = np.array([[0.3 + 1j, -2 + 0.5j, 1j], [1 - 1j, 0.1 + 2j, 4]])
COMPLEX: dict[str, Callable[..., Any]] = {
    "reshape F": lambda z: np.reshape(z, 6, order="F"), "roll": lambda z: np.roll(z, 1, 1), "flip": np.flip,
    "repeat": lambda z: np.repeat(z, [1, 2, 0], 1), "tile": lambda z: np.tile(z, 2), "diagonal": np.diagonal,
    "diagflat": np.diagflat, "tril": np.tril, "pad": lambda z: np.pad(z, 1), "trace": np.trace, "copy": np.copy,
    "reflect": lambda z: np.pad(z, 1, "reflect", reflect_type="odd"), "edge": lambda z: np.pad(z, 2, "edge"),
    "mean": lambda z: np.pad(z, 1, "mean"), "take": lambda z: np.take(z, [0, 0, 5]),
    "insert": lambda z: np.insert(z, 1, z[0], axis=0), "delete": lambda z: np.delete(z, 1, 1),
    "select": lambda z: np.select([z.imag > 0.7], [z * z], z), "choose": lambda z: np.choose([0, 1, 0], [z, 2j]),
    "block": lambda z: np.block([[z], [z * z]]), "windows": lambda z: np.lib.stride_tricks.sliding_window_view(z, 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str) -> None:
    value: Any = COMPLEX[name](tracked(Z))
    np.testing.assert_array_equal(value.data, COMPLEX[name](Z))
    mg.check_grads(COMPLEX[name], [Z])


# --- what is like another array ---


def test_full_like_keeps_its_fill_value_on_the_tape_or_refuses() -> None:
    fill = tracked(np.array(2.0))
    filled: Any = np.full_like(tracked(A.astype(np.float32)), fill)
    assert filled.dtype == np.float32
    filled.sum().backward()
    assert fill.grad is not None and fill.grad.item() == 6.0 and fill.grad.dtype == np.float64
    untracked: Any = np.full_like(tracked(), fill.detach())
    assert not untracked.requires_grad
    with pytest.raises(UnsupportedError, match=r"int64 would cut.*dtype="):
        np.full_like(Tensor([1, 2]), fill)
    with pytest.raises(UnsupportedError):
        np.full_like(A, fill)


@pytest.mark.parametrize("function", [np.zeros_like, np.ones_like, np.empty_like])
def test_creation_takes_dtype_and_shape(function: Any) -> None:
    got = function(tracked(), dtype=np.float32, shape=(4,))
    assert isinstance(got, Tensor) and got.shape == (4,) and got.dtype == np.float32 and not got.requires_grad


def test_index_functions_give_plain_values() -> None:
    t = tracked()
    for got, want in [(t.nonzero(), A.nonzero()), (np.where(A > 1), np.where(A > 1)), (np.nonzero(t), np.nonzero(A))]:
        for a, b in zip(got, want, strict=True):
            assert type(a) is np.ndarray
            np.testing.assert_array_equal(a, b)


def test_choosing_promotes_as_numpy_does() -> None:
    f = A.astype(np.float32)
    for call in (
        lambda x: np.select([A > 1, A > 3], [x, 1.5], 0),
        lambda x: np.select([A > 1], [x], np.float64(2)),
        lambda x: np.choose([0, 1, 0], [x, 1.5]),
        lambda x: np.choose([0, 1, 0], [x, np.float32(1.5)]),
        lambda x: np.insert(x, 1, np.float64(0.1)),
        lambda x: np.append(x, np.float64(0.1)),
        lambda x: np.pad(x, 1, "linear_ramp"),
        lambda x: np.piecewise(x, [A > 1], [lambda v: v * np.ones(len(v))]),
    ):
        got, want = call(tracked(f)), call(f)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.data, want)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("shape", [(6, 7), (70, 80)], ids=["picked at once", "axis by axis"])
def test_each_copy_adds_to_what_it_was_made_from(mode: Any, shape: tuple[int, int]) -> None:
    widths = ((2, 1), (0, 3))
    x = Tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)
    y: Any = np.pad(x, widths, mode)
    g = np.random.default_rng(1).standard_normal(y.shape)
    y.backward(g)
    sources = np.pad(np.arange(x.size).reshape(shape), widths, mode)
    np.testing.assert_array_equal(y.data, np.pad(x.data, widths, mode))
    expected = np.bincount(sources.ravel(), g.ravel()).reshape(shape)
    np.testing.assert_allclose(x.grad.data, expected, rtol=0, atol=1e-14)


def test_pad_widths_by_axis() -> None:
    widths: Any = {-1: (0, 2), 0: 1}
    got: Any = np.pad(tracked(), widths)
    np.testing.assert_array_equal(got.data, np.pad(A, ((1, 1), (0, 2))))


def test_one_condition_of_piecewise_needs_no_list() -> None:
    got: Any = np.piecewise(tracked(A[1]), A[1] > 3, [np.square, np.negative])
    np.testing.assert_array_equal(got.data, np.piecewise(A[1], A[1] > 3, [np.square, np.negative]))


def test_choose_is_a_method_too() -> None:
    t = tracked()
    got = Tensor([1, 0, 1]).choose([t, 2 * t])
    np.testing.assert_array_equal(got.data, np.choose([1, 0, 1], [A, 2 * A]))
    got.sum().backward()
    np.testing.assert_array_equal(t.grad.data, [[2, 1, 2]] * 2)


def test_complex_numbers_are_added_on_a_device(put: Callable[[Any], Any]) -> None:
    t: Any = Tensor(put(Z), requires_grad=True)
    (t[:, put(np.array([0, 0, 2]))] * (1 + 1j)).sum().real.backward()
    np.testing.assert_array_equal(oracle.home(t.grad), np.array([[2, 0, 1]] * 2) * (1 + 1j))


def test_lists_as_indices_on_a_device(put: Callable[[Any], Any]) -> None:
    t: Any = Tensor(put(A), requires_grad=True)
    for call in (
        lambda x: np.take(x, [0, 2, 2], axis=1),
        lambda x: np.compress([True, False, True], x, axis=1),
        lambda x: np.delete(x, [0], axis=1),
        lambda x: np.insert(x, [0, 1], 5.0, axis=1),
        lambda x: np.append(x, [1.0, 2.0]),
        lambda x: np.repeat(x, np.array([1, 2, 0]), axis=1),
    ):
        got = call(t)
        np.testing.assert_array_equal(oracle.home(got), call(A))
        t.zero_grad()
        got.sum().backward()
        again = tracked()
        call(again).sum().backward()
        np.testing.assert_array_equal(oracle.home(t.grad), again.grad.data)


# --- refusals ---

REFUSED: dict[str, tuple[Callable[[Any], Any], type[MinigradError], str]] = {
    "copyto": (lambda t: np.copyto(np.zeros((2, 3)), t), UnsupportedError, r"np\.copyto writes.*np\.where"),
    "put": (lambda t: np.put(t, [0], 1.0), UnsupportedError, r"np\.put writes"),
    "place": (lambda t: np.place(t, A > 1, [1.0]), UnsupportedError, r"np\.place writes.*arr\.at\[mask\]"),
    "putmask": (lambda t: np.putmask(t, A > 1, 1.0), UnsupportedError, r"np\.putmask writes.*np\.where"),
    "put_along_axis": (lambda t: np.put_along_axis(A.copy(), np.array([[0]]), t, 1), UnsupportedError, "writes"),
    "fill_diagonal": (lambda t: np.fill_diagonal(t, 0.0), UnsupportedError, r"np\.fill_diagonal writes.*\.at\[np\.diag"),
    "pad empty": (lambda t: np.pad(t, 1, "empty"), UnsupportedError, "mode='empty'.*constant"),
    "pad callable": (lambda t: np.pad(t, 1, lambda *a: None), UnsupportedError, "mode="),
    "pad unknown": (lambda t: np.pad(t, 1, NONSENSE), MinigradError, "nonsense"),
    "pad option": (lambda t: np.pad(t, 1, "edge", constant_values=1), MinigradError, "constant_values"),
    "pad negative": (lambda t: np.pad(t, -1), ArgumentError, "negative.*slices"),
    "pad floats": (lambda t: np.pad(t, A[0]), ArgumentError, "integer"),
    "pad with a Tensor": (lambda t: np.pad(t, 1, constant_values=t[0, 0]), UnsupportedError, r"t\.numpy|Tensor"),
    "vstack dtype": (lambda t: np.vstack([t, t], dtype=np.float32), UnsupportedError, r"np\.vstack.*dtype"),
    "compress out": (lambda t: np.compress([True], t, out=A), UnsupportedError, r"np\.compress.*out"),
    "trace out": (lambda t: np.trace(t, out=A), UnsupportedError, r"np\.trace.*out"),
    "choose out": (lambda t: np.choose([0, 0, 0], [t], out=A), UnsupportedError, r"np\.choose.*out"),
    "broadcast_arrays subok": (lambda t: np.broadcast_arrays(t, A, subok=True), UnsupportedError, "subok"),
    "unexpected": (lambda t: registry[np.flipud](t, nonsense=1), UnsupportedError, "nonsense"),
    "moveaxis": (lambda t: np.moveaxis(t, 2, 0), OutOfRangeError, r"np\.moveaxis.*axis 2"),
    "flip": (lambda t: np.flip(t, 5), OutOfRangeError, "flip.*axis 5"),
    "rot90": (lambda t: np.rot90(t, 1, (0, 0)), ShapeError, r"np\.rot90.*[Aa]xes"),
    "roll": (lambda t: np.roll(t, (1, 2, 3), (0, 1)), ShapeError, "roll"),
    "tile": (lambda t: np.tile(t, -1), ShapeError, "negative"),
    "repeat": (lambda t: np.repeat(t, [1, 2], axis=1), ShapeError, r"repeat.*\(2, 3\)"),
    "split backwards": (lambda t: np.split(t, [2, 1], axis=1), ArgumentError, r"ascending.*\[2, 1\]"),
    "array_split": (lambda t: np.array_split(t, 0), ArgumentError, "at least 1 section"),
    "dsplit": (lambda t: np.dsplit(t, 1), ArgumentError, r"dsplit.*3 axes.*\(2, 3\)"),
    "block": (lambda t: np.block([[t], t]), ArgumentError, "equally deep"),
    "diag": (lambda t: np.diag(t[None]), ArgumentError, r"diag.*\(1, 2, 3\)"),
    "meshgrid": (lambda t: np.meshgrid(t[0], t[0], indexing=NONSENSE), ArgumentError, "nonsense"),
    "resize": (lambda t: np.resize(t, (-1, 2)), ArgumentError, r"\(-1, 2\)"),
    "take mode": (lambda t: np.take(t, [0], mode=NONSENSE), ArgumentError, "nonsense"),
    "take outside": (lambda t: np.take(t, [6]), OutOfRangeError, "take.*6"),
    "where alone": (lambda t: np.where(t), UnsupportedError, r"np\.nonzero"),
    "choose outside": (lambda t: np.choose([0, 2, 1], [t, t]), OutOfRangeError, "0 to 1.*0 to 2"),
    "choose mode": (lambda t: np.choose([0, 0, 0], [t], mode=NONSENSE), ArgumentError, "nonsense"),
    "choose by floats": (lambda t: np.choose(t, [A, A]), DTypeError, "float64"),
    "select lengths": (lambda t: np.select([A > 1], [t, t]), ArgumentError, "1 and 2"),
    "select by numbers": (lambda t: np.select([A], [t]), DTypeError, "booleans.*float64"),
    "piecewise": (lambda t: np.piecewise(t, [A > 1], [1, 2, 3]), ArgumentError, "3 functions for 1 condition"),
    "piecewise rows": (lambda t: np.piecewise(t, A > 1, [1, 2]), ArgumentError, r"shape of x, \(2, 3\), got \(3,\)"),
    "compress": (lambda t: np.compress([[True]], t), ArgumentError, r"1 axis.*\(1, 1\)"),
    "delete": (lambda t: np.delete(t, 7), OutOfRangeError, r"np\.delete.*7"),
    "insert": (lambda t: np.insert(t, 9, 1.0), OutOfRangeError, r"np\.insert.*9"),
    "array of Tensors": (lambda t: np.array([t, t]), UnsupportedError, r"np\.stack"),
    "asarray": (lambda t: np.asarray(t), UnsupportedError, r"t\.numpy\(\)"),
    "ascontiguousarray": (lambda t: np.ascontiguousarray(t), UnsupportedError, r"t\.numpy\(\)"),
    "asfortranarray": (lambda t: np.asfortranarray(t), UnsupportedError, r"t\.numpy\(\)"),
    "require": (lambda t: np.require(t, requirements="C"), UnsupportedError, r"t\.numpy\(\)"),
    "as_strided": (lambda t: np.lib.stride_tricks.as_strided(t, (2,), (8,)), UnsupportedError, r"t\.numpy\(\)"),
    "windows": (lambda t: np.lib.stride_tricks.sliding_window_view(t, 4, 1), ShapeError, "sliding_window_view"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    call, kind, message = REFUSED[name]
    t = tracked()
    with pytest.raises(kind, match=message):
        call(t)
    np.testing.assert_array_equal(t.data, A)
