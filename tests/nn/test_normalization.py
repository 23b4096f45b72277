"""LayerNorm and RMSNorm against PyTorch's, and LayerNorm with epsilon outside the root against its formula."""

import numpy as np
import pytest

import nn.functional as F
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from nn import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from tests.lazy import torch
from tests.nn.layers import (
    assert_close,
    assert_equals_pytorch,
    assert_same,
    check_module,
    gradient,
    load,
    randomized,
    rng,
    to_torch,
)

BOTH = [(LayerNorm, torch.nn.LayerNorm), (RMSNorm, torch.nn.RMSNorm)]


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (0, 5)])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
@pytest.mark.parametrize(("norm", "torch_norm"), BOTH)
def test_equals_pytorch(norm, torch_norm, shape, eps) -> None:
    ours = randomized(norm(5, eps=eps, dtype=np.float64))
    theirs = load(torch_norm(5, eps=eps), ours)
    x = rng(2).standard_normal(shape)
    assert_equals_pytorch(ours, theirs, x)


def test_epsilon_outside_the_root() -> None:
    """Against the formula in PyTorch, with its gradients."""
    ours = randomized(LayerNorm(5, eps=0.1, eps_outside=True, dtype=np.float64))
    x = rng(2).standard_normal((2, 3, 5))
    tensors, torch_tensors = [Tensor(x, requires_grad=True)], [to_torch(x, True)]
    torch_tensors += [to_torch(p.data, True) for p in ours.parameters()]
    torch_x, gain, bias = torch_tensors
    deviation = torch_x.std(-1, correction=0, keepdim=True)
    expected = gain * (torch_x - torch_x.mean(-1, keepdim=True)) / (deviation + 0.1) + bias
    assert_same([ours(tensors[0]), *tensors, *ours.parameters()], [expected, *torch_tensors])


def test_where_epsilon_stands_matters_for_rows_that_hardly_vary() -> None:
    """The standard deviation of this row is 7e-7, less than epsilon but far more than its square."""
    row = np.array([3 + 1e-6, 3 - 1e-6, 3.0, 3.0])
    inside, outside = (LayerNorm(4, eps=1e-6, eps_outside=o, dtype=np.float64)(row).numpy() for o in (False, True))
    np.testing.assert_allclose(inside, [0.001, -0.001, 0, 0], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(outside, [0.58579, -0.58579, 0, 0], atol=5e-6)


def test_a_constant_row_gives_the_bias_and_finite_gradients() -> None:
    for layer in (LayerNorm(4, dtype=np.float64), LayerNorm(4, eps_outside=True, dtype=np.float64)):
        randomized(layer)
        x = Tensor(np.full((1, 4), 2.0), requires_grad=True)
        y = layer(x)
        y.sum().backward()
        np.testing.assert_array_equal(y.numpy()[0], layer.bias.data)
        assert np.isfinite(gradient(x)).all() and np.isfinite(gradient(layer.weight)).all()


def test_starts_as_plain_normalization() -> None:
    x = rng().standard_normal((4, 8)) * 3 + 5
    for layer in (LayerNorm(8), LayerNorm(8, eps_outside=True)):
        y = layer(x).numpy()
        assert y.dtype == np.float32
        np.testing.assert_allclose(y.mean(-1), 0, atol=1e-6)
        np.testing.assert_allclose(y.std(-1), 1, rtol=1e-5)
    y = RMSNorm(8)(x).numpy()
    assert y.dtype == np.float32
    np.testing.assert_allclose((y * y).mean(-1), 1, rtol=1e-5)


def test_what_they_do_not_depend_on() -> None:
    x = rng().standard_normal((4, 8))
    layer_norm, rms_norm = LayerNorm(8, eps=0, dtype=np.float64), RMSNorm(8, eps=0, dtype=np.float64)
    assert_close(layer_norm(3 * x + 5).numpy(), layer_norm(x).numpy())
    assert_close(rms_norm(3 * x).numpy(), rms_norm(x).numpy())
    assert abs(rms_norm(3 * x + 5).numpy() - rms_norm(x).numpy()).max() > 0.1


THREE = {
    "LayerNorm": lambda: LayerNorm(5, dtype=np.float64),
    "outside": lambda: LayerNorm(5, eps_outside=True, dtype=np.float64),
    "RMSNorm": lambda: RMSNorm(5, dtype=np.float64),
}
each = pytest.mark.parametrize("make", THREE.values(), ids=THREE)


@each
def test_gradients(make) -> None:
    check_module(randomized(make()), rng(2).standard_normal((3, 5)))


COMPLEX = np.array([[1 + 2j, 3 - 1j, -2j, 4.0]] * 3)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("function", [
    F.layer_norm, F.batch_norm, lambda x, w, b: F.group_norm(x, 2, w, b), lambda x, w, b: F.rms_norm(x, w + 0 * b),
])  # fmt: skip
def test_no_norm_takes_complex_numbers(function, dtype) -> None:
    """The mean of their squares is no variance. One complex argument is enough."""
    for which in range(3):
        arrays = [COMPLEX.real, np.ones(4), np.zeros(4)]
        arrays[which] = [COMPLEX, np.ones(4), np.zeros(4)][which].astype(dtype)
        for wrap in (lambda a: a, Tensor):
            with pytest.raises(DTypeError, match=r"_norm takes real numbers, got complex"):
                function(*map(wrap, arrays))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("make", [
    lambda **d: LayerNorm(4, **d), lambda **d: LayerNorm(4, eps_outside=True, **d), lambda **d: RMSNorm(4, **d),
    lambda **d: BatchNorm(4, **d), lambda **d: GroupNorm(2, 4, **d),
])  # fmt: skip
def test_no_layer_of_norms_takes_complex_numbers(make, training) -> None:
    for dtype, words in ((np.float64, "got a complex input of dtype complex128"), (complex, "takes real numbers")):
        with pytest.raises(DTypeError, match=words):
            make(dtype=dtype).train(training)(COMPLEX)


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_bad_input(norm) -> None:
    for shape in ((3, 4), ()):
        with pytest.raises(ShapeError, match=rf"{norm.__name__}\(5\) needs x of shape \(\.\.\., 5\), got"):
            norm(5)(np.ones(shape))
    for eps in (-1e-5, float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="eps must be a number >= 0"):
            norm(5, eps=eps)
    assert type(norm(5, eps=np.array(1e-3)).eps) is float
    with pytest.raises(ArgumentError, match="d_model must be a positive integer, got 0"):
        norm(0)


def test_repr_tells_the_form() -> None:
    assert repr(LayerNorm(5, eps_outside=True)).startswith("LayerNorm(5, eps=1e-05, eps_outside=True)")
    assert repr(RMSNorm(5)).startswith("RMSNorm(5, eps=1e-06)")
