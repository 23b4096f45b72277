"""TwoLayerTransformer against PyTorch, its masks, dtypes, devices and errors."""

import numpy as np
import pytest

from minigrad import ShapeError, Tensor, check_grads
from models import TwoLayerConfig, TwoLayerTransformer
from nn import cross_entropy
from tests.lazy import torch
from tests.nn.layers import assert_close, check_module, gradient, randomized, rng, to_torch

CONFIG = TwoLayerConfig(input_size=3, hidden_size=4, output_size=5)  # the article's code needs them equal
X = rng(1).standard_normal((2, 6, 3))
T = np.eye(5)[[4, 1]]
KEY_MASK = np.array([[True] * 6, [True] * 4 + [False] * 2])


def network(dtype=np.float64) -> TwoLayerTransformer:
    return randomized(TwoLayerTransformer(CONFIG, rng=rng(), dtype=dtype))


def torch_loss(model, x):
    """Written out in PyTorch: the loss, and the parameters in our order."""
    parameters = [to_torch(p.data, True) for p in model.parameters()]
    W_1, b_1, W_2, b_2 = parameters

    def attention(h):
        return torch.nn.functional.scaled_dot_product_attention(h, h, h)

    h = torch.softmax(attention(x) @ W_1 + b_1, dim=-1)
    y = torch.softmax((attention(h) @ W_2 + b_2).sum(dim=1), dim=-1)
    return -(to_torch(T) * torch.log(y + 1e-7)).sum() / 2, parameters


def test_equals_pytorch() -> None:
    model, x, torch_x = network(), Tensor(X, requires_grad=True), to_torch(X, True)
    loss = model.loss(x, T)
    expected, parameters = torch_loss(model, torch_x)
    loss.backward()
    expected.backward()
    assert_close(loss.item(), expected.item())
    assert_close(gradient(x), torch_x.grad.numpy())
    for ours, theirs in zip(model.parameters(), parameters, strict=True):
        assert_close(gradient(ours), theirs.grad.numpy())


def test_gradients() -> None:
    check_module(network(), X)
    check_module(network(), X, key_mask=KEY_MASK)
    model = network()
    for parameter in model.parameters():
        parameter.requires_grad = False
    check_grads(lambda x: model.loss(x, T), [X])


def test_without_epsilon_the_loss_is_cross_entropy() -> None:
    model = network()
    assert_close(model.loss(X, T, epsilon=0).item(), cross_entropy(model(X), np.array([4, 1])).item())
    assert_close(model.probabilities(X).numpy().sum(axis=1), 1)


def test_padding_changes_nothing() -> None:
    model = network()
    masked = model(X, key_mask=KEY_MASK).numpy()
    assert_close(masked[1:], model(X[1:, :4]).numpy())
    assert_close(masked[:1], model(X[:1]).numpy())
    other = np.where(KEY_MASK[..., None], X, 7.0)
    assert_close(model(other, key_mask=KEY_MASK).numpy(), masked)
    assert_close(model(X, key_mask=KEY_MASK.astype(int)).numpy(), masked)


def test_attention_weights_make_the_result() -> None:
    model = network()
    first, second = (weights.numpy() for weights in model.attention_weights(X, key_mask=KEY_MASK))
    assert first.shape == second.shape == (2, 6, 6)
    assert (first[1, :, 4:] == 0).all() and (second[1, :, 4:] == 0).all()
    h = model.softmax(model.affine_1(first @ X)).numpy()
    z = model.affine_2(second @ h).numpy()
    assert_close((z * KEY_MASK[..., None]).sum(axis=1), model(X, key_mask=KEY_MASK).numpy())


def test_the_order_of_the_tokens_does_not_matter() -> None:
    assert_close(network()(X[:, [3, 0, 5, 1, 2, 4]]).numpy(), network()(X).numpy())


def test_initial_weights() -> None:
    model = TwoLayerTransformer(TwoLayerConfig(50, 60, 70), rng=rng())
    for affine in (model.affine_1, model.affine_2):
        assert affine.weight.dtype == np.float32
        assert 0.009 < affine.weight.data.std() < 0.011
        assert not affine.bias.data.any()
    again = TwoLayerTransformer(TwoLayerConfig(50, 60, 70), rng=rng())
    assert all((a.data == b.data).all() for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert TwoLayerConfig.from_dict(CONFIG.to_dict()) == CONFIG


@pytest.mark.parametrize("targets", [T, T.astype(np.float32), T.astype(int), Tensor(T)])
def test_stays_in_float32(targets) -> None:
    model = network(np.float32)
    loss = model.loss(X.astype(np.float32), targets)
    loss.backward()
    assert loss.dtype == np.float32
    assert all(gradient(parameter).dtype == np.float32 for parameter in model.parameters())


def test_bad_input() -> None:
    model = network()
    for shape in ((2, 6, 4), (6, 3), (3,)):
        with pytest.raises(ShapeError, match=r"x must have shape \(batch, length, 3\), got"):
            model(np.ones(shape))
    for targets in (np.array([4, 1]), T[:1], np.eye(4)[[1, 2]]):
        with pytest.raises(ShapeError, match=r"targets must be one-hot rows of shape \(2, 5\), got"):
            model.loss(X, targets)
    with pytest.raises(ShapeError):
        model(X, key_mask=KEY_MASK[:, :3])
