"""The encoder layer against PyTorch's, pre-norm and post-norm."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

from minigrad import ArgumentError, Tensor
from nn import Adam, Affine, Embedding, Module, PositionalEncoding, TransformerEncoderLayer, clip_grad_norm
from tests.nn.layers import (
    assert_close,
    assert_same,
    check_module,
    encoder_state,
    gradient,
    load,
    randomized,
    rng,
    to_torch,
    value,
)

BATCH, LENGTH, WIDTH, HEADS, HIDDEN = 3, 5, 6, 2, 8
KEY_MASK = np.arange(LENGTH) < np.array([[5], [3], [1]])
CAUSAL = np.tri(LENGTH, dtype=bool)
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))


def layer(**settings) -> TransformerEncoderLayer:
    made = TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, rng=rng(), **({"dtype": np.float64} | settings))
    encoder: TransformerEncoderLayer = randomized(made)
    return encoder


@pytest.mark.parametrize("masks", [{}, {"key_mask": KEY_MASK}, {"key_mask": KEY_MASK, "mask": CAUSAL}], ids=len)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_equals_pytorch(norm, activation, masks) -> None:
    ours = layer(norm=norm, activation=activation)
    theirs = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, HIDDEN, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre"
    )
    load(theirs, encoder_state(ours, value))
    ignored = {name: to_torch(~mask) for name, mask in masks.items()}  # PyTorch's masks are True where ours are False
    tensor, torch_tensor = Tensor(X, requires_grad=True), to_torch(X, True)
    torch_y = theirs(torch_tensor, src_key_padding_mask=ignored.get("key_mask"), src_mask=ignored.get("mask"))
    assert_same([ours(tensor, **masks), tensor], [torch_y, torch_tensor], (ours, theirs), encoder_state)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gradients(norm) -> None:
    check_module(layer(norm=norm, activation="gelu_tanh"), X[:2], key_mask=KEY_MASK[:2])


def test_dropout_acts_in_three_places_in_training_and_nowhere_in_evaluation() -> None:
    dropping, plain = layer(dropout=0.5), layer()
    assert [path for path, module in dropping.named_modules() if type(module).__name__ == "Dropout"] == [
        "attention_dropout",
        "feed_forward.dropout",
        "feed_forward_dropout",
    ]
    expected = plain(X).numpy()
    for path in ("attention_dropout", "feed_forward_dropout"):
        one = copy.deepcopy(plain)
        getattr(one, path).p = 0.5
        assert not np.allclose(one(X).numpy(), expected)
    assert not np.allclose(dropping(X).numpy(), expected)
    np.testing.assert_array_equal(dropping.eval()(X).numpy(), expected)


def test_computes_in_the_dtype_of_its_parameters() -> None:
    for norm in ("pre", "post"):
        assert layer(norm=norm, dtype=np.float32)(X).dtype == np.float32


def test_an_unknown_norm_raises() -> None:
    with pytest.raises(ArgumentError, match="norm must be 'pre' or 'post', got 'sandwich'"):
        layer(norm="sandwich")


class Tagger(Module):
    """Every kind of layer, from ids to scores."""

    def __init__(self, dropout: float = 0.0, dtype: Any = np.float64) -> None:
        generator = rng()
        self.embedding = Embedding(7, WIDTH, rng=generator, dtype=dtype)
        self.positions = PositionalEncoding(WIDTH)
        self.layers = [
            TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, norm=norm, dropout=dropout, rng=generator, dtype=dtype)
            for norm in ("pre", "post")
        ]
        self.output = Affine(WIDTH, 3, rng=generator, dtype=dtype)

    def forward(self, ids, key_mask):
        x = self.positions(self.embedding(ids))
        for each in self.layers:
            x = each(x, key_mask=key_mask)
        return self.output(x)


def test_on_a_device_everything_is_as_on_the_host(put) -> None:
    """Two training steps with ids and mask from the host: dropout too drops the same elements."""
    ids = rng().integers(0, 7, (BATCH, LENGTH))
    results = []
    for move in (np.asarray, put):
        model = Tagger(dropout=0.2)
        for parameter in model.parameters():
            parameter.data = move(parameter.data)
        optimizer, norms = Adam(model.parameters(), lr=0.1), []
        for _ in range(2):
            optimizer.zero_grad()
            logits = model(ids, KEY_MASK)
            assert type(logits.data) is type(move(X))
            (logits * logits).mean().backward()
            norms.append(clip_grad_norm(model.parameters(), 0.1))
            optimizer.step()
        results.append((norms, model.state_dict(), optimizer.state_dict()["parameters"][0]["m"]))
    (host_norms, host_state, host_m), (norms, state, m) = results
    np.testing.assert_allclose(norms, host_norms, rtol=1e-10)
    assert_close(m, host_m)
    for name, array in state.items():
        np.testing.assert_allclose(
            array, host_state[name], rtol=0, atol=1e-6, err_msg=name
        )  # Adam divides rounding by eps


def test_a_device_module_loads_a_host_state_dict(put) -> None:
    model, other = Tagger(), randomized(Tagger())
    for parameter in model.parameters():
        parameter.data = put(parameter.data)
    model.load_state_dict(other.state_dict())
    assert type(model.output.weight.data) is type(put(X))
    np.testing.assert_array_equal(model.state_dict()["output.weight"], other.output.weight.data)


def test_gradients_reach_every_parameter() -> None:
    model = Tagger()
    model(rng().integers(0, 7, (BATCH, LENGTH)), KEY_MASK).sum().backward()
    assert all(np.isfinite(gradient(parameter)).all() for parameter in model.parameters())
