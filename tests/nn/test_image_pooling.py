"""Pooling of images and sequences beside PyTorch's: values, gradients of both orders, ties, and errors."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, rng, to_torch

IMAGES = rng(2).standard_normal((3, 2, 7, 8))
TOKENS = rng(3).standard_normal((3, 2, 9))
CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "windows of 2": ("2d", 2, {}),
    "a window of 1": ("2d", 1, {}),
    "rows left out": ("2d", (3, 2), {}),
    "overlapping": ("2d", 3, {"stride": 2}),
    "apart": ("2d", (2, 1), {"stride": (3, 2)}),
    "padding": ("2d", 2, {"padding": 1}),
    "overlapping, padding": ("2d", (3, 4), {"stride": (2, 1), "padding": (1, 2)}),
    "sequence": ("1d", 2, {}),
    "sequence, all": ("1d", 3, {"stride": 2, "padding": 1}),
    "parts of windows": ("2d", (3, 4), {"stride": (2, 3), "ceil_mode": True}),
    "parts of windows, padding": ("2d", (3, 4), {"stride": (3, 3), "padding": (1, 2), "ceil_mode": True}),
    "a sequence smaller than a window": ("1d", 10, {"stride": 3, "ceil_mode": True}),
}


def pair(how: str, name: str) -> tuple[Any, Any, np.ndarray]:
    kind, size, options = CASES[name]
    ours, theirs = (getattr(package, f"{how}Pool{kind}")(size, **options) for package in (nn, torch.nn))
    return ours, theirs, TOKENS if kind == "1d" else IMAGES


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("how", ["Max", "Avg"])
def test_values_and_gradients_are_pytorchs(how: str, name: str, reference: bool) -> None:
    ours, theirs, array = pair(how, name)
    for values in (array, np.maximum(array, 0).round(1), -np.abs(array)):  # with ties; all below the border's zeros
        x, torch_x = Tensor(values, requires_grad=True), to_torch(values, requires_grad=True)
        with mg.reference_mode() if reference else mg.enable_grad():
            assert_same([ours(x), x], [theirs(torch_x), torch_x])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("how", ["Max", "Avg", "Avg of x"])
def test_every_border_of_a_sequence_is_pytorchs(how: str, stride: int, ceil_mode: bool, padding: int) -> None:
    options: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    options |= {"count_include_pad": False} if how == "Avg of x" else {}
    for size, length in ((size, length) for size in (2, 3, 4, 5) for length in range(1, 10) if 2 * padding <= size):
        ours, theirs = (getattr(package, f"{how[:3]}Pool1d")(size, **options) for package in (nn, torch.nn))
        x, torch_x = (
            Tensor(TOKENS[..., :length], requires_grad=True),
            to_torch(TOKENS[..., :length], requires_grad=True),
        )
        try:
            expected = theirs(torch_x)
        except RuntimeError:
            with pytest.raises(ShapeError, match="smaller than a window"):
                ours(x)
        else:
            assert_same([ours(x), x], [expected, torch_x])


def test_the_functional_pools_take_the_options_of_the_layers() -> None:
    for name in ("max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d"):
        options: dict[str, Any] = {"stride": 3, "padding": 1, "ceil_mode": True}
        options |= {"count_include_pad": False} if name.startswith("avg") else {}
        x = TOKENS if name.endswith("1d") else IMAGES
        ours = getattr(nn.functional, name)(x, 3, **options)
        assert_close(ours.numpy(), getattr(torch.nn.functional, name)(to_torch(x), 3, **options).numpy())


@pytest.mark.parametrize("name", ["overlapping, padding", "windows of 2", "sequence, all"])
@pytest.mark.parametrize("how", ["Max", "Avg"])
def test_second_derivatives_are_pytorchs(how: str, name: str) -> None:
    ours, theirs, array = pair(how, name)
    check_module(ours, array[:1])
    x, torch_x = Tensor(array, requires_grad=True), to_torch(array, requires_grad=True)
    (g,) = mg.autograd_grad((ours(x) ** 3).sum(), [x], create_graph=True)
    (torch_g,) = torch.autograd.grad((theirs(torch_x) ** 3).sum(), torch_x, create_graph=True)
    (second,) = mg.autograd_grad((g * g).sum(), [x])
    (torch_second,) = torch.autograd.grad((torch_g * torch_g).sum(), torch_x)
    assert_close(g.numpy(), torch_g.detach().numpy())
    assert_close(second.numpy(), torch_second.numpy())


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", ["windows of 2", "overlapping, padding"])
def test_nan_and_infinity(name: str) -> None:
    ours, theirs, array = pair("Max", name)
    values = array.copy()
    values[0, 0, 2, 3], values[1, 1, 4:, 4:], values[2, 0, 0, 0] = np.nan, -np.inf, np.inf
    x, torch_x = Tensor(values, requires_grad=True), to_torch(values, requires_grad=True)
    y, torch_y = ours(x), theirs(torch_x)
    np.testing.assert_array_equal(y.numpy(), torch_y.detach().numpy())
    y.backward(np.ones(y.shape))
    torch_y.backward(torch.ones_like(torch_y))
    assert x.grad is not None
    finite = ~np.isinf(values)  # at a tie between the border and -inf, PyTorch never picks the border
    np.testing.assert_array_equal(x.grad.numpy()[finite], torch_x.grad.numpy()[finite])


def test_global_average_and_flatten() -> None:
    x, torch_x = Tensor(IMAGES, requires_grad=True), to_torch(IMAGES, requires_grad=True)
    theirs = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    assert_same([nn.GlobalAvgPool()(x), x], [theirs(torch_x), torch_x])
    assert_close(nn.GlobalAvgPool()(TOKENS).numpy(), TOKENS.mean(axis=2))
    assert_close(nn.Flatten()(IMAGES).numpy(), IMAGES.reshape(3, -1))
    assert nn.Flatten()(IMAGES[:0]).shape == (0, 112)
    check_module(nn.GlobalAvgPool(), IMAGES)


def test_dtype_stays() -> None:
    for layer in (nn.MaxPool2d(2), nn.AvgPool2d(3, stride=1), nn.GlobalAvgPool()):
        assert layer(IMAGES.astype(np.float32)).dtype == np.float32


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match=r"padding=2 is more than half of kernel_size=3: a window lies in it"):
        nn.MaxPool2d(3, padding=2)
    with pytest.raises(ArgumentError, match=r"stride must be a positive integer, got 0"):
        nn.AvgPool2d(3, stride=0)
    with pytest.raises(
        ShapeError, match=r"MaxPool2d\(2\) needs x of shape \(batch, channels, height, width\), got \(7, 8\)$"
    ):
        nn.MaxPool2d(2)(IMAGES[0, 0])
    with pytest.raises(
        ShapeError, match=r"AvgPool1d\(20, stride=2\) got x of shape \(3, 2, 9\), which is smaller than a win"
    ):
        nn.AvgPool1d(20, stride=2)(TOKENS)
    with pytest.raises(DTypeError, match=r"MaxPool2d needs a floating input, got dtype int64"):
        nn.MaxPool2d(2)(IMAGES.astype(np.int64))
    with pytest.raises(
        ShapeError, match=r"GlobalAvgPool needs x of shape \(batch, channels, height, width\), got \(3, 2, 0\)"
    ):
        nn.GlobalAvgPool()(TOKENS[:, :, :0])
    with pytest.raises(ShapeError, match=r"Flatten needs x of shape \(batch, ...\), got a number"):
        nn.Flatten()(3.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [256, 257, 300])
def test_a_window_of_more_than_256_rows(size: int) -> None:
    """The index of a row in its window has a dtype that holds it."""
    x = np.zeros((1, 1, size, size))
    x[..., size - 1, size - 2] = 1
    t = Tensor(x, requires_grad=True)
    nn.MaxPool2d(size)(t).sum().backward()
    assert t.grad is not None and np.array_equal(t.grad.numpy(), x)
    wide = Tensor(np.swapaxes(x, 2, 3), requires_grad=True)
    with mg.reference_mode():
        nn.MaxPool2d(size)(wide).sum().backward()
    assert wide.grad is not None and np.array_equal(wide.grad.numpy(), np.swapaxes(x, 2, 3))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(2, 1, 1), (3, 1, 1), (3, 2, 1), (4, 3, 2), ((1, 3), 1, (0, 1))]
)
def test_the_border_is_never_the_largest(kernel: Any, stride: int, padding: Any) -> None:
    """An image of -inf, all of it or in part: the gradient goes to an element of the image, as in PyTorch."""
    some = rng(0).standard_normal((2, 2, 5, 5))
    for x in (
        np.full((2, 2, 5, 5), -np.inf),
        np.where(some > 0.8, some, -np.inf),
        np.where(some == some.max(), np.nan, -np.inf),
    ):
        mine = Tensor(x, requires_grad=True)
        theirs = to_torch(x).requires_grad_()
        y = nn.MaxPool2d(kernel, stride=stride, padding=padding)(mine)
        z = torch.nn.functional.max_pool2d(theirs, kernel, stride, padding)
        weights = rng(1).standard_normal(y.shape)
        y.backward(weights)
        z.backward(to_torch(weights))
        assert mine.grad is not None
        assert np.array_equal(y.numpy(), z.detach().numpy(), equal_nan=True)
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-12)
