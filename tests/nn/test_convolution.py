"""Convolutions beside PyTorch's: values, gradients of both orders, weights from its state dict, and what each error teaches."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
import nn.functional as F
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.rules.convolution import convolution, correlation, spread
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, gradient, load, randomized, rng, to_torch

F64: Any = {"dtype": np.float64}
IMAGES = rng(2).standard_normal((3, 4, 7, 6))
TOKENS = rng(3).standard_normal((3, 4, 9))
# Each case has a class, its sizes and its options.
CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "plain": ("Conv2d", (4, 6, 3), {}),
    "one by one": ("Conv2d", (4, 5, 1), {"bias": False}),
    "strides": ("Conv2d", (4, 6, (3, 2)), {"stride": (2, 3), "padding": 1}),
    "stride that leaves rows out": ("Conv2d", (4, 2, 2), {"stride": 4}),
    "same": ("Conv2d", (4, 6, (3, 5)), {"padding": "same"}),
    "same, dilated and even": ("Conv2d", (4, 2, 2), {"padding": "same", "dilation": 2}),
    "valid": ("Conv2d", (4, 2, 3), {"padding": "valid"}),
    "dilation": ("Conv2d", (4, 6, 3), {"dilation": (2, 1), "padding": (2, 0)}),
    "groups": ("Conv2d", (4, 6, 3), {"groups": 2, "padding": 1}),
    "each channel": ("Conv2d", (4, 8, 3), {"groups": 4, "stride": 2}),
    "all": ("Conv2d", (4, 6, (2, 3)), {"groups": 2, "stride": (3, 1), "padding": (1, 2), "dilation": (1, 2)}),
    "sequence": ("Conv1d", (4, 6, 3), {}),
    "sequence, all": ("Conv1d", (4, 6, 3), {"groups": 2, "stride": 2, "padding": 2, "dilation": 2}),
    "transposed": ("ConvTranspose2d", (4, 6, 3), {}),
    "transposed, strides": ("ConvTranspose2d", (4, 3, 2), {"stride": 2, "bias": False}),
    "transposed, all": (
        "ConvTranspose2d",
        (4, 6, (2, 3)),
        {"groups": 2, "stride": (3, 2), "padding": (1, 2), "dilation": (1, 2), "output_padding": (2, 1)},
    ),
}


def pair(name: str) -> tuple[Any, Any, np.ndarray]:
    """Our layer, PyTorch's with the same weights, which both name alike, and an input."""
    kind, sizes, options = CASES[name]
    ours = randomized(getattr(nn, kind)(*sizes, rng=rng(), **options, **F64))
    theirs = load(getattr(torch.nn, kind)(*sizes, **options), ours.state_dict())
    return ours, theirs, TOKENS if kind == "Conv1d" else IMAGES


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_pytorchs(name: str, reference: bool) -> None:
    ours, theirs, array = pair(name)
    x, torch_x = Tensor(array, requires_grad=True), to_torch(array, requires_grad=True)
    with mg.reference_mode() if reference else mg.enable_grad():
        assert_same([ours(x), x], [theirs(torch_x), torch_x], (ours, theirs))


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_are_pytorchs(name: str) -> None:
    """The sum of the gradient's squares depends on the input, the weight and the cotangent at once."""
    ours, theirs, array = pair(name)
    x, torch_x = Tensor(array, requires_grad=True), to_torch(array, requires_grad=True)
    y, torch_y = np.tanh(ours(x)), torch.tanh(theirs(torch_x))
    inputs, torch_inputs = [x, *ours.parameters()], [torch_x, *theirs.parameters()]
    first = mg.autograd_grad(y.sum(), inputs, create_graph=True)
    torch_first = torch.autograd.grad(torch_y.sum(), torch_inputs, create_graph=True)
    second = mg.autograd_grad(sum((g * g).sum() for g in first), inputs)
    torch_second = torch.autograd.grad(sum((g * g).sum() for g in torch_first), torch_inputs)
    for got, want in zip([*first, *second], [*torch_first, *torch_second], strict=True):
        np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["all", "sequence, all", "transposed, all"])
def test_finite_differences(name: str) -> None:
    ours, _, array = pair(name)
    check_module(ours, array[:2])


def test_each_of_the_three_is_the_adjoint_of_the_others() -> None:
    """<y, conv(x, w)> = <x, spread(y, w)> = <w, correlation(x, y)>, and forward mode follows it."""
    form = ((2, 1), (1, 2), (1, 2), 2)
    x, w = IMAGES, rng(4).standard_normal((6, 2, 3, 2))
    image = convolution(x, w, form=form)
    y = rng(5).standard_normal(image.shape)
    expected = np.sum(y * image)
    assert_close(np.sum(x * spread(y, w, size=x.shape[2:], form=form)), expected)
    assert_close(np.sum(w * correlation(x, y, kernel=w.shape[2:], form=form)), expected)
    dx, dw = rng(6).standard_normal(x.shape), rng(7).standard_normal(w.shape)
    _, tangent = mg.jvp(lambda x, w: convolution(x, w, form=form), [x, w], [dx, dw])
    assert_close(tangent, convolution(dx, w, form=form) + convolution(x, dw, form=form))


def test_a_kernel_of_the_size_of_the_image_is_an_affine_map() -> None:
    ours = randomized(nn.Conv2d(4, 5, (7, 6), rng=rng(), **F64))
    expected = IMAGES.reshape(3, -1) @ ours.weight.data.reshape(5, -1).T + ours.bias.data
    assert_close(ours(IMAGES).numpy()[:, :, 0, 0], expected)


def test_an_empty_batch_and_other_layouts_of_memory() -> None:
    ours, _, array = pair("all")
    assert ours(array[:0]).shape == (0, *ours(array).shape[1:])
    for view in (
        np.asfortranarray(array),
        array[:, :, ::-1][:, :, ::-1],
        np.moveaxis(np.moveaxis(array, 1, -1).copy(), -1, 1),
    ):
        assert_close(ours(view).numpy(), ours(array).numpy())


def with_gradients(layer: Any, array: np.ndarray) -> list[np.ndarray]:
    layer.zero_grad()
    x = Tensor(array, requires_grad=True)
    y = layer(x)
    y.backward(rng(9).standard_normal(y.shape))
    assert x.grad is not None
    return [y.numpy(), x.grad.numpy(), *(p.grad.numpy().copy() for p in layer.parameters())]


@pytest.mark.parametrize("options", [{"padding": 1}, {"stride": 2, "groups": 2}, {"kernel_size": (3, 7)}])
def test_blocks_of_images_and_threads_change_nothing(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Many images in a block, or one; on one thread or two, to the last bit."""
    layer = randomized(nn.Conv2d(8, 6, **({"kernel_size": 3} | options), rng=rng(), **F64))
    array, threads = rng(8).standard_normal((48, 8, 30, 12)), mg.num_threads()
    with mg.reference_mode():
        expected = with_gradients(layer, array)
    for block in (1 << 18, 1 << 16, 1):
        monkeypatch.setattr("minigrad.kernels.layers.convolution.BLOCK", block)
        found = []
        for count in (1, 2):
            mg.set_num_threads(count)
            try:
                found.append(with_gradients(layer, array))
            finally:
                mg.set_num_threads(threads)
        for one, two, want in zip(*found, expected, strict=True):
            np.testing.assert_array_equal(one, two)
            assert_close(one, want)


def test_dtypes() -> None:
    single = nn.Conv2d(4, 2, 3, rng=rng())
    x = Tensor(IMAGES, requires_grad=True)
    y = single(x)
    assert y.dtype == np.float32
    y.sum().backward()
    assert x.grad is not None and x.grad.dtype == np.float64 and single.weight.grad.dtype == np.float32
    with pytest.raises(DTypeError, match=r"Conv2d computes in float32 and got a complex input"):
        single(IMAGES + 1j)


def test_initial_weights() -> None:
    layer = nn.Conv2d(64, 50, 5, rng=rng(), groups=2)
    assert layer.weight.data.std() == pytest.approx((2 / (32 * 25)) ** 0.5, rel=0.02)
    assert layer.bias is not None and not layer.bias.data.any()
    np.testing.assert_array_equal(layer.weight.data, nn.Conv2d(64, 50, 5, rng=rng(), groups=2).weight.data)


def test_reprs() -> None:
    assert repr(nn.Conv2d(4, 6, (3, 5), rng=rng(), stride=2, bias=False)) == (
        "Conv2d(4, 6, (3, 5), stride=2, bias=False)  360 parameters"
    )
    transposed = nn.ConvTranspose2d(4, 6, 3, rng=rng(), stride=2, output_padding=1)
    assert repr(transposed).startswith("ConvTranspose2d(4, 6, 3, stride=2, output_padding=1)  ")


def conv(*sizes: Any, kind: str = "Conv2d", **options: Any) -> Any:
    return getattr(nn, kind)(*sizes, rng=rng(), **options)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: conv(4, 6, 3, groups=3), r"groups=3 must divide in_channels=4 and out_channels=6"),
        (
            lambda: conv(4, 6, 4, padding="same"),
            r"padding='same' needs as many zeros .* kernel_size=\(4, 4\), which is even",
        ),
        (lambda: conv(4, 6, 3, padding="same", stride=2), r"'same' keeps the size, which stride=\(2, 2\) divides"),
        (lambda: conv(4, 6, 3, padding="full"), r"padding must be an integer, 'same' or 'valid', got 'full'"),
        (lambda: conv(4, 6, 3, kind="ConvTranspose2d", padding="same"), r"padding must be an integer, got 'same'"),
        (lambda: conv(4, 6, (3, 3, 3)), r"kernel_size must be an integer or a tuple of 2, got \(3, 3, 3\)"),
        (lambda: conv(4, 6, 0), r"kernel_size must be a positive integer, got 0"),
        (lambda: conv(4, 6, 3, stride=0), r"stride must be a positive integer, got 0"),
        (lambda: conv(4, 6, 3, padding=-1), r"padding must be an integer, 0 or more, got -1"),
        (
            lambda: conv(4, 6, 3, kind="ConvTranspose2d", output_padding=1),
            r"output_padding=1 must be smaller than stride=1",
        ),
    ],
)
def test_bad_arguments(make: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


@pytest.mark.parametrize(
    ("layer", "shape", "words"),
    [
        (
            conv(4, 6, 3),
            (2, 3, 8, 8),
            r"Conv2d\(4, 6, 3\) needs x of shape \(batch, 4, height, width\), got \(2, 3, 8, 8\)$",
        ),
        (conv(4, 6, 3), (2, 8, 8, 4), r"got \(2, 8, 8, 4\): np.moveaxis\(x, -1, 1\) puts the channels"),
        (conv(4, 6, 3), (4, 8, 8), r"got \(4, 8, 8\): x\[None\] makes a batch of one"),
        (conv(1, 6, 3), (5, 8, 8), r"got \(5, 8, 8\): x\[:, None\] gives each item one channel"),
        (conv(4, 6, 3, kind="Conv1d"), (2, 3, 8), r"Conv1d\(4, 6, 3\) needs x of shape \(batch, 4, length\)"),
        (
            conv(4, 6, 3),
            (2, 4, 8, 2),
            r"got x of shape \(2, 4, 8, 2\), which is smaller than the kernel: pass padding=",
        ),
        (
            conv(4, 6, 1, kind="ConvTranspose2d", padding=2),
            (2, 4, 3, 3),
            r"\(2, 4, 3, 3\) into nothing: padding is too",
        ),
    ],
)
def test_bad_shapes(layer: Any, shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        layer(np.zeros(shape))


def test_a_written_program_has_no_minigrad_in_it() -> None:
    layer = randomized(nn.Conv2d(4, 3, 3, rng=rng(), stride=2, padding=1, **F64))

    def loss(x: Any, weight: Any, bias: Any) -> Any:
        return np.sum(np.tanh(nn.functional_call(layer, {"weight": weight, "bias": bias}, x)))

    arguments = [IMAGES, *(p.data for p in layer.parameters())]
    program = mg.write_numpy(loss, *arguments)
    assert "minigrad" not in program.source and len(program.source.splitlines()) < 60
    value, *gradients = program(*arguments)
    want, expected = mg.value_and_grad(loss, (0, 1, 2))(*arguments)
    assert_close(value, want)
    for got, one in zip(gradients, expected, strict=True):
        assert_close(got, one)


@pytest.mark.parametrize(
    "options",
    [
        {"stride": s, "dilation": d, "output_padding": more, "padding": p, "groups": g}
        for s, d, more, p, g in [
            (1, 2, 1, 0, 1),
            (1, 3, 2, 1, 2),
            (2, 3, 2, 2, 1),
            ((1, 2), (2, 1), 1, 1, 2),
            (2, 4, 3, 1, 1),
        ]
    ],
)
def test_an_output_padding_of_a_stride_or_more_is_pytorchs(options: dict[str, Any]) -> None:
    """A convolution of so large a result makes more steps than x has. Both orders are right, for x and for the weight."""
    x, w = rng(0).standard_normal((2, 4, 4, 5)) / 8, rng(1).standard_normal((4, 3, 3, 2)) / 8
    mine: Any
    theirs: Any
    mine, theirs = ([each(x), each(w)] for each in (lambda a: Tensor(a, requires_grad=True), to_torch))
    for t in theirs:
        t.requires_grad_()
    y = F.conv_transpose2d(*mine, **options)
    z = torch.nn.functional.conv_transpose2d(*theirs, **options)
    assert_close(y.numpy(), z.detach().numpy())
    dy = mg.autograd_grad((y**3).sum(), mine, create_graph=True)
    dz = torch.autograd.grad((z**3).sum(), theirs, create_graph=True)
    (dy[0] * dy[0]).sum().backward()
    (dz[0] * dz[0]).sum().backward()
    for a, b, c, d in zip(dy, dz, mine, theirs):
        assert_close(a.numpy(), b.detach().numpy())
        assert_close(gradient(c), d.grad.numpy())


def test_integers_and_booleans_as_weights_are_computed_with_as_numbers() -> None:
    ones = np.ones((1, 1, 2, 2))
    for dtype in (int, bool, np.uint8):
        for x_dtype in (np.float32, np.float64):
            x = np.full((1, 1, 2, 2), 0.5, x_dtype)
            for found in (F.conv2d(x, ones.astype(dtype)), F.conv_transpose2d(x, ones.astype(dtype))[..., 1:2, 1:2]):
                assert found.dtype == x_dtype and found.item() == 2
            assert F.conv1d(x[:, 0], ones[0].astype(dtype), padding=1)[0, 0, 1].item() == 2
    many = np.full((1, 1, 2, 2), 200, np.uint8)
    assert F.conv2d(many, ones.astype(np.uint8)).item() == F.conv2d(many.tolist(), ones.astype(int)).item() == 800
