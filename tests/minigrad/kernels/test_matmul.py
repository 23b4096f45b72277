"""Which products the kernel of ``x @ y`` computes, and which it leaves to NumPy. (Its numbers: test_in_parts.py.)"""

import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.plan import Plan
from minigrad.engine.registry import operators
from minigrad.kernels.numpy import products
from minigrad.rules.linalg import matmul

SMALL = 8


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each time the kernel is asked, whether it computes."""
    answers: list[bool] = []
    kernel = matmul.kernels[np.ndarray]
    forward = kernel.forward

    def spy(x: Any, y: Any) -> Any:
        found = forward(x, y)
        answers.append(found is not NotImplemented)
        return found

    monkeypatch.setattr(products, "LARGE_PRODUCT", SMALL * SMALL)
    monkeypatch.setattr(kernel, "least", SMALL * SMALL)
    monkeypatch.setattr(kernel, "forward", spy)
    return answers


def product(x: tuple[int, ...], y: tuple[int, ...], dtype_x: Any = np.float32, dtype_y: Any = np.float32) -> None:
    a, b = (np.random.default_rng(0).normal(0, 4, shape).astype(kind) for shape, kind in ((x, dtype_x), (y, dtype_y)))
    right = mg.Tensor(b, requires_grad=b.dtype.kind == "f")
    for left in (mg.Tensor(a, requires_grad=True), a):
        found: Any = left @ right
        np.testing.assert_allclose(found.numpy(), a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((2, 3, 4), (4, 5)),
        ((2, 2, 3, 4), (4, 1)),
        ((0, 3, 4), (4, 5)),
        ((2, 3, 0), (0, 5)),
        ((SMALL, SMALL), (SMALL, SMALL)),
        ((2, SMALL, SMALL), (2, SMALL, SMALL)),
    ],
)
def test_the_kernel_computes(asked: list[bool], x: tuple[int, ...], y: tuple[int, ...]) -> None:
    product((3, 4), (4, 5))  # by the plain rules, for which there are plans from now on
    asked.clear()
    product(x, y)
    assert asked == [True, True]


@pytest.mark.parametrize(("x", "y"), [((3, 4), (4, 5)), ((SMALL - 1, SMALL), (SMALL, 9)), ((4,), (4, 5)), ((4,), (4,))])
def test_two_small_matrices_take_the_short_way(asked: list[bool], x: tuple[int, ...], y: tuple[int, ...]) -> None:
    product(x, y)  # which records, and makes the plan that the short way needs
    asked.clear()
    product(x, y)
    assert asked == []


@pytest.mark.parametrize(
    ("x", "y", "dtypes"),
    [
        ((SMALL, SMALL), (SMALL,), ()),
        ((2, 3, 4), (4,), ()),
        ((SMALL, SMALL), (2, SMALL, SMALL), ()),
        ((2, 1, SMALL, SMALL), (2, 5, SMALL, SMALL), ()),
        ((2, 3, 4), (2, 4, 5), ()),
        ((2, SMALL, SMALL), (SMALL, SMALL), (np.float32, np.int64)),
        ((2, SMALL, SMALL), (2, SMALL, SMALL), (np.float32, np.int64)),
    ],
)
def test_what_is_left_to_numpy(asked: list[bool], x: Any, y: Any, dtypes: Any) -> None:
    product(x, y, *dtypes)
    assert not any(asked)
    a, b = (np.ones(shape, kind) for shape, kind in zip((x, y), dtypes or (np.float32, np.float32), strict=True))
    assert matmul.kernels[np.ndarray].forward(a, b) is NotImplemented


@pytest.mark.parametrize(
    ("x", "y"),
    [((2, 3, 4), (5, 4)), ((2, SMALL, SMALL), (2, SMALL + 1, SMALL)), ((SMALL, SMALL), (SMALL + 1, 9)), ((9, 9), ())],
)
def test_what_does_not_fit_is_refused_as_ever(asked: list[bool], x: tuple[int, ...], y: tuple[int, ...]) -> None:
    with pytest.raises(mg.ShapeError, match="matmul"):
        mg.Tensor(np.ones(x, np.float32), requires_grad=True) @ np.ones(y, np.float32)


@pytest.mark.parametrize(("x", "y"), [((2, 3, 4), (4, 5)), ((9, 9), (9, 9)), ((2, SMALL, SMALL), (2, SMALL, SMALL))])
@pytest.mark.usefixtures("asked")
def test_of_one_gradient_one_factor_is_kept(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    """The other one may be freed, or changed."""
    a, b = np.ones(x), np.ones(y)
    left, right = mg.Tensor(a, requires_grad=True), mg.Tensor(b, requires_grad=True)
    for product, changed in ((left @ b, left), (a @ right, right)):
        changed.data[...] = 0
        product.sum().backward()
        assert changed.grad is not None and (changed.grad.numpy() != 0).all()
    hidden = left + 1.0
    array = weakref.ref(hidden.data)
    product = hidden @ b
    del hidden
    assert array() is None and product.requires_grad


@pytest.mark.parametrize("x", [(3, 4), (2, 3, 4)])
def test_keywords_are_numpys(x: tuple[int, ...]) -> None:
    a, b = np.ones(x, np.float32), mg.Tensor(np.ones((4, 5), np.float32), requires_grad=True)
    found: Any = np.matmul(a, b, dtype=np.float64)
    assert found.dtype == np.float64
    found.sum().backward()
    assert b.grad is not None and b.grad.dtype == np.float32


def test_rows_that_would_have_to_be_copied_are_left_to_numpy() -> None:
    forward = matmul.kernels[np.ndarray].forward
    turned = np.ones((2, 4, 3), np.float32).transpose(0, 2, 1)
    assert forward(turned, np.ones((4, 5), np.float32)) is NotImplemented
    assert forward(np.ones((2, 3, 4), np.float32), np.ones((4, 5), np.float32)) is not NotImplemented


def test_one_gradient_of_two() -> None:
    x, w = np.ones((2, 3, 4), np.float32), np.ones((4, 5), np.float32)
    for inputs in ((mg.Tensor(x, requires_grad=True), w), (x, mg.Tensor(w, requires_grad=True))):
        (inputs[0] @ inputs[1]).sum().backward()
    frozen = mg.Tensor(w)
    moving = mg.Tensor(x, requires_grad=True)
    (moving @ frozen).sum().backward()
    assert frozen.grad is None
    np.testing.assert_array_equal(moving.grad.numpy(), np.full(x.shape, 5))


def test_the_operator_is_what_the_kernel_was_declared_with() -> None:
    """``least`` and ``jointly`` are of any kernel of a ufunc, and nothing but Primitive.kernel puts it there."""
    asked: list[tuple[int, ...]] = []

    def forward(x: Any, y: Any) -> Any:
        asked.append(x.shape)
        return np.matmul(x, y), None

    def backward(g: Any, needs: Any, x: Any, y: Any) -> Any:
        return g @ y.T, x.T @ g

    def gradient_of_x(tracked: bool) -> Any:
        x = mg.Tensor(np.ones((4, 4)), requires_grad=True)
        entry: Any = (x @ mg.Tensor(np.eye(4), requires_grad=tracked))._node
        return type(entry.plan) is not Plan

    mg.Tensor(np.ones((3, 5)), requires_grad=True) @ np.ones((5, 9))  # the short form needs the plan of a first call
    before, before_operator = dict(matmul.kernels), operators[np.matmul]
    try:
        matmul.kernel(np.ndarray, forward, backward, least=16, jointly=True)
        mg.Tensor(np.ones((3, 5)), requires_grad=True) @ np.ones((5, 9))
        assert asked == []
        mg.Tensor(np.ones((4, 4)), requires_grad=True) @ np.ones((4, 2))
        mg.Tensor(np.ones((1, 2, 2)), requires_grad=True) @ np.ones((2, 1))
        assert asked == [(4, 4), (1, 2, 2)]
        assert gradient_of_x(True)  # by the kernel's backward
        assert not gradient_of_x(False)
    finally:
        matmul.kernels.clear()
        matmul.kernels.update(before)
        operators[np.matmul] = before_operator


@pytest.mark.parametrize(
    ("x", "columns", "divided"),
    [
        ((1024, 128), 128, True),
        ((1024, 128), 65, True),
        ((1024, 128), 1, True),
        ((1024, 256), 64, False),
        ((1024, 64), 256, False),
        ((1000, 128), 128, False),
    ],
)
def test_products_that_wake_no_thread_of_openblas(x: tuple[int, ...], columns: int, divided: bool) -> None:
    """One product that wakes them, such as small logits, would hold a core for a whole step of large products."""
    assert products.divides(np.empty(x, np.float32), columns) is divided
