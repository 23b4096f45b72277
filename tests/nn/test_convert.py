"""Weights to PyTorch and back, for every layer that PyTorch has too, and for stacks of them."""

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, UnsupportedError
from nn import from_torch_state, to_torch_state
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, load, randomized, rng, to_torch

WIDTH, HEADS, HIDDEN = 6, 2, 8
X, MEMORY = rng(2).standard_normal((3, 4, WIDTH)), rng(3).standard_normal((3, 5, WIDTH))
IDS = np.array([[1, 0, 4], [4, 4, 2]])


def float64(make, *args, **settings):
    return make(*args, rng=rng(), dtype=np.float64, **settings)


class Stack(nn.Module):
    """PyTorch's TransformerEncoder and TransformerDecoder call their parts the same."""

    def __init__(self, layer, **keywords) -> None:
        self.layers = [float64(layer, WIDTH, HEADS, HIDDEN) for _ in range(2)]
        self.norm = nn.LayerNorm(WIDTH, dtype=np.float64)
        self.keywords = keywords

    def forward(self, x, *memory):
        for layer in self.layers:
            x = layer(x, *memory, **self.keywords)
        return self.norm(x)


def encoder() -> Stack:
    return Stack(nn.TransformerEncoderLayer)


def decoder() -> Stack:
    return Stack(nn.TransformerDecoderLayer, causal=False)  # as PyTorch's without a mask


class EncoderDecoder(nn.Module):
    def __init__(self) -> None:
        self.encoder, self.decoder = encoder(), decoder()

    def forward(self, source, target):
        return self.decoder(target, self.encoder(source))


LAYER = {"dropout": 0.0, "batch_first": True, "norm_first": True}


def torch_encoder():
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, **LAYER)
    return torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(WIDTH), enable_nested_tensor=False)


def torch_decoder():
    layer = torch.nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, **LAYER)
    return torch.nn.TransformerDecoder(layer, 2, torch.nn.LayerNorm(WIDTH))


def torch_encoder_decoder():
    custom = {"custom_encoder": torch_encoder(), "custom_decoder": torch_decoder()}
    return torch.nn.Transformer(WIDTH, HEADS, batch_first=True, **custom)


def torch_attention(**settings):
    """Gives the result without the weights."""
    layer = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, **settings)
    attend = layer.forward

    def forward(query, memory=None):
        memory = query if memory is None else memory
        return attend(query, memory, memory)[0]

    layer.forward = forward
    return layer


PAIRS = {
    "Affine": (lambda: float64(nn.Affine, WIDTH, 3), lambda: torch.nn.Linear(WIDTH, 3), [X]),
    "Affine without bias": (
        lambda: float64(nn.Affine, WIDTH, 3, bias=False),
        lambda: torch.nn.Linear(WIDTH, 3, bias=False),
        [X],
    ),
    "LayerNorm": (lambda: nn.LayerNorm(WIDTH, dtype=np.float64), lambda: torch.nn.LayerNorm(WIDTH), [X]),
    "RMSNorm": (lambda: nn.RMSNorm(WIDTH, dtype=np.float64), lambda: torch.nn.RMSNorm(WIDTH, 1e-6), [X]),
    "Embedding": (lambda: float64(nn.Embedding, 5, 3), lambda: torch.nn.Embedding(5, 3), [IDS]),
    "Sequential": (
        lambda: nn.Sequential(float64(nn.Affine, WIDTH, 3), np.tanh, float64(nn.Affine, 3, 2)),
        lambda: torch.nn.Sequential(torch.nn.Linear(WIDTH, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)),
        [X],
    ),
    "attention": (lambda: float64(nn.MultiHeadAttention, WIDTH, HEADS), torch_attention, [X, MEMORY]),
    "attention without bias": (
        lambda: float64(nn.MultiHeadAttention, WIDTH, HEADS, bias=False),
        lambda: torch_attention(bias=False),
        [X, MEMORY],
    ),
    "attention to another width": (
        lambda: float64(nn.MultiHeadAttention, WIDTH, HEADS, context_dim=3),
        lambda: torch_attention(kdim=3, vdim=3),
        [X, MEMORY[..., :3].copy()],
    ),
    "packed attention": (lambda: float64(nn.PackedMultiHeadAttention, WIDTH, HEADS), torch_attention, [X]),
    "packed attention without bias": (
        lambda: float64(nn.PackedMultiHeadAttention, WIDTH, HEADS, bias=False),
        lambda: torch_attention(bias=False),
        [X],
    ),
    "encoder layer": (
        lambda: float64(nn.TransformerEncoderLayer, WIDTH, HEADS, HIDDEN),
        lambda: torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, **LAYER),
        [X],
    ),
    "encoder": (encoder, torch_encoder, [X]),
    "decoder": (decoder, torch_decoder, [X, MEMORY]),
    "encoder-decoder": (EncoderDecoder, torch_encoder_decoder, [MEMORY, X]),
}
each_pair = pytest.mark.parametrize(("make", "make_theirs", "inputs"), PAIRS.values(), ids=PAIRS)


@each_pair
def test_to_pytorch(make, make_theirs, inputs) -> None:
    """PyTorch takes the state, and gives the same numbers, gradients of all weights included."""
    ours = randomized(make())
    theirs = load(make_theirs(), to_torch_state(ours))
    floating = [a.dtype.kind == "f" for a in inputs]
    tensors = [Tensor(a, requires_grad=f) for a, f in zip(inputs, floating, strict=True)]
    torch_tensors = [to_torch(a, f) for a, f in zip(inputs, floating, strict=True)]
    y, torch_y = ours(*tensors), theirs(*torch_tensors)
    given = [t for t in tensors if t.requires_grad], [t for t in torch_tensors if t.requires_grad]
    assert_same([y, *given[0]], [torch_y, *given[1]], (ours, theirs))
    assert list(to_torch_state(ours)) == list(theirs.state_dict())  # in PyTorch's order


@each_pair
def test_from_pytorch_and_back(make, make_theirs, inputs) -> None:
    ours, theirs = make(), make_theirs().double()
    for p in theirs.parameters():
        torch.nn.init.normal_(p, generator=torch.Generator().manual_seed(p.numel()))
    state = theirs.state_dict()
    from_torch_state(ours, state)
    assert_close(ours(*inputs).numpy(), theirs(*map(to_torch, inputs)).detach().numpy())
    for name, array in to_torch_state(ours).items():
        np.testing.assert_array_equal(array, state[name].numpy())
    assert all(p.data.flags.c_contiguous and p.data.flags.writeable for p in ours.parameters())


def test_a_packed_and_an_unpacked_attention_exchange_their_weights() -> None:
    packed, plain = (float64(m, WIDTH, HEADS) for m in (nn.PackedMultiHeadAttention, nn.MultiHeadAttention))
    from_torch_state(packed, to_torch_state(randomized(plain)))
    assert_close(packed(X).numpy(), plain(X).numpy())


def test_arrays_and_float32_and_scalars() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Parameter(np.float32(2.0))
            self.parts = {"a": nn.Affine(2, 3, rng=rng())}

        def forward(self, x):
            return self.scale * self.parts["a"](x)

    ours, other = randomized(Scaled()), Scaled()
    state = to_torch_state(ours)
    assert {name: (a.shape, a.dtype) for name, a in state.items()} == {
        "scale": ((), "f4"),
        "parts.a.weight": ((3, 2), "f4"),
        "parts.a.bias": ((3,), "f4"),
    }
    from_torch_state(other, state)
    state["parts.a.bias"][:] = 99  # both ways are copies
    state["scale"][...] = 99
    np.testing.assert_array_equal(other(np.ones((1, 2))).numpy(), ours(np.ones((1, 2))).numpy())


def test_gradients_under_pytorchs_names() -> None:
    layer = float64(nn.Affine, 2, 3)
    assert not to_torch_state(layer, gradients=True)["weight"].any()  # none yet
    layer(np.array([[1.0, 2.0]])).sum().backward()
    np.testing.assert_array_equal(to_torch_state(layer, gradients=True)["weight"], [[1, 2]] * 3)


class Tied(nn.Module):
    def __init__(self) -> None:
        self.embedding = nn.Embedding(5, 3, rng=rng())
        self.output = nn.TiedOutput(self.embedding)


def test_one_name_of_tied_weights_suffices() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            self.table = float64(nn.Embedding, 5, 4)
            self.output = nn.TiedOutput(self.table)

    state = nn.to_torch_state(Model())
    assert [*state] == ["table.weight", "output.weight"]
    for left_out in state:  # a file of safetensors has either
        model = Model()
        nn.from_torch_state(model, {name: array + 1 for name, array in state.items() if name != left_out})
        assert_close(model.table.weight.numpy(), state["table.weight"] + 1)
    with pytest.raises(ArgumentError, match=r"missing: 'table\.weight', 'output\.weight'"):
        nn.from_torch_state(model, {})


def test_a_dtype_that_numpy_lacks_says_how_to_convert() -> None:
    layer = float64(nn.Affine, 3, 2)
    theirs = torch.nn.Linear(3, 2).to(torch.bfloat16).state_dict()
    with pytest.raises(DTypeError, match=r"PyTorch's 'weight' has dtype torch.bfloat16.*tensor.float\(\)"):
        nn.from_torch_state(layer, theirs)
    nn.from_torch_state(layer.astype(np.float32), {name: tensor.float() for name, tensor in theirs.items()})
    assert_close(layer.weight.numpy(), theirs["weight"].float().numpy().T)


def test_tied_weights_stand_under_both_names_and_must_agree() -> None:
    model = Tied()
    state = to_torch_state(model)
    assert list(state) == ["embedding.weight", "output.weight"]
    from_torch_state(model, state)
    with pytest.raises(ArgumentError, match=r"'output.weight' is tied to 'embedding.weight', and .* different values"):
        from_torch_state(model, state | {"output.weight": state["output.weight"] + 1})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.pop("norm1.bias"), ArgumentError, r"missing: 'norm1.bias'"),
        (lambda s: s.update(extra=np.ones(1)), ArgumentError, r"unexpected: 'extra'"),
        (
            lambda s: s.update({"self_attn.in_proj_weight": np.ones((6, 18))}),
            ShapeError,
            r"'self_attn.in_proj_weight' has shape \(6, 18\), and the parameters here need \(18, 6\)",
        ),
        (lambda s: s.update({"linear1.weight": np.ones((6, 8))}), ShapeError, r"need \(8, 6\)"),
        (lambda s: s.update({"linear1.weight": np.ones((8, 6), "f4")}), DTypeError, "float32 for 'feed_forward.hidden"),
    ],
    ids=["missing", "unexpected", "packed shape", "shape", "dtype"],
)
def test_a_state_that_does_not_fit_says_so_and_changes_nothing(change, error, words) -> None:
    layer = float64(nn.TransformerEncoderLayer, WIDTH, HEADS, HIDDEN)
    before, state = (
        layer.state_dict(),
        to_torch_state(randomized(float64(nn.TransformerEncoderLayer, WIDTH, HEADS, HIDDEN))),
    )
    change(state)
    with pytest.raises(error, match=words):
        from_torch_state(layer, state)
    assert all(np.array_equal(layer.state_dict()[name], before[name]) for name in before)


def test_a_tracked_tensor_is_refused_and_nothing_is_changed() -> None:
    layer = float64(nn.Affine, 3, 2)
    bias = Tensor(np.ones(2), requires_grad=True)
    before, state = layer.state_dict(), {"weight": np.ones((2, 3)), "bias": bias}
    with pytest.raises(UnsupportedError, match=r"from_torch_state of 'bias'.*requires a gradient.*t\.detach\(\)"):
        from_torch_state(layer, state)
    assert all(np.array_equal(layer.state_dict()[name], before[name]) for name in before)
    from_torch_state(layer, state | {"bias": bias.detach()})
    assert layer.bias.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "settings",
    [{"key_dim": 4}, {"value_dim": 2}, {"num_kv_heads": 1}, {"rotary": True, "key_dim": 2}, {"scale": 1.0}],
    ids=str,
)
def test_an_attention_that_pytorch_does_not_have(settings) -> None:
    heads = 3 if "rotary" in settings else HEADS
    attention = nn.MultiHeadAttention(WIDTH, heads, rng=rng(), **settings)
    with pytest.raises(ArgumentError, match=r"PyTorch's MultiheadAttention has .*, unlike MultiHeadAttention"):
        to_torch_state(attention)


def test_from_a_device(put) -> None:
    layer = float64(nn.TransformerEncoderLayer, WIDTH, HEADS, HIDDEN)
    expected = to_torch_state(layer)
    for p in layer.parameters():
        p.data = put(p.data)
    state = to_torch_state(layer)
    assert all(type(a) is np.ndarray and np.array_equal(a, expected[name]) for name, a in state.items())
    from_torch_state(layer, {name: put(a + 1) for name, a in state.items()})
    assert type(layer.attention.query.weight.data) is type(put(X))
    np.testing.assert_array_equal(to_torch_state(layer)["linear1.weight"], expected["linear1.weight"] + 1)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_gru_both_ways(bidirectional) -> None:
    """A reversed GRU is the second half of PyTorch's bidirectional one."""
    ours = [randomized(float64(nn.GRU, WIDTH, HIDDEN, reverse=r), seed=r) for r in (False, True)[: 1 + bidirectional]]
    states = [to_torch_state(gru) for gru in ours]
    theirs = torch.nn.GRU(WIDTH, HIDDEN, batch_first=True, bidirectional=bidirectional)
    theirs = load(theirs, {name: array for state in states for name, array in state.items()})
    expected = theirs(to_torch(X))[0].detach().numpy()
    assert_close(np.concatenate([gru(X)[0].numpy() for gru in ours], axis=-1), expected)
    for gru, state in zip(ours, states):
        fresh = float64(nn.GRU, WIDTH, HIDDEN, reverse=gru.reverse)
        from_torch_state(fresh, {name: theirs.state_dict()[name] for name in state})
        np.testing.assert_array_equal(fresh(X)[0].numpy(), gru(X)[0].numpy())


def test_a_gru_cell_both_ways() -> None:
    ours, fresh = randomized(float64(nn.GRUCell, WIDTH, HIDDEN)), float64(nn.GRUCell, WIDTH, HIDDEN)
    theirs = load(torch.nn.GRUCell(WIDTH, HIDDEN), to_torch_state(ours))
    h = rng(5).standard_normal((3, HIDDEN))
    assert_close(ours(X[:, 0], h).numpy(), theirs(to_torch(X[:, 0]), to_torch(h)).detach().numpy())
    from_torch_state(fresh, theirs.state_dict())
    np.testing.assert_array_equal(fresh(X[:, 0], h).numpy(), ours(X[:, 0], h).numpy())


def test_a_layer_norm_with_epsilon_outside_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"unlike LayerNorm\(eps_outside=True\)"):
        to_torch_state(nn.LayerNorm(WIDTH, eps_outside=True))
