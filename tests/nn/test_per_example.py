"""per_example_grads against a loop over the examples, to 1e-10; and what it refuses."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import models
import nn
from minigrad import ArgumentError, ShapeError, UnsupportedError
from minigrad.internal import leaves, to_host
from tests import fake_device
from tests.nn.layers import assert_close, randomized, rng

F = np.float64
B = 5
IDS, LABELS = rng(1).integers(0, 7, (B, 4)), rng(2).integers(0, 7, (B, 4))
X, IMAGES = rng(3).standard_normal((B, 6)), rng(4).standard_normal((B, 2, 6, 6))
MASK = np.arange(4) < rng(5).integers(1, 5, (B, 1))
CLASSES = LABELS[:, 0] % 3


def tokens(model: Any, batch: Any) -> Any:
    """The mean over the tokens of an example, of any model that gives logits for each token."""
    *inputs, labels = batch
    return nn.cross_entropy(model(*inputs), labels, reduction="none").mean(axis=1)


def classes(model: Any, batch: Any) -> Any:
    *inputs, labels = batch
    return nn.cross_entropy(model(*inputs), labels, reduction="none")


class Reader(nn.Module):
    """A cell that is called for each token, and attention from its last state to the tokens."""

    def __init__(self) -> None:
        self.embedding = nn.Embedding(7, 6, rng=rng(), dtype=F)
        self.cell = nn.GRUCell(6, 6, rng=rng(), dtype=F)
        self.attention = nn.MultiHeadAttention(6, 2, rng=rng(), dtype=F)
        self.norm = nn.LayerNorm(6, eps_outside=True, dtype=F)
        self.output = nn.Affine(6, 3, bias=False, rng=rng(), dtype=F)
        self.unused = nn.Affine(2, 3, rng=rng(), dtype=F)

    def forward(self, ids: Any) -> Any:
        x = self.embedding(ids)
        h: Any = np.zeros((len(ids), 6))
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return self.output(self.norm(self.attention(h[:, None], x)[:, 0]))


class Signals(nn.Module):
    """A convolution of signals of different lengths."""

    def __init__(self) -> None:
        self.convolution = nn.Conv1d(2, 3, 3, rng=rng(), padding=1, dtype=F)

    def forward(self, x: Any, mask: Any) -> Any:
        return self.convolution(x, key_mask=mask).sum(axis=2)


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        self.layers = [nn.Affine(6, 6, rng=rng(), dtype=F), nn.Affine(6, 3, rng=rng(1), dtype=F)]

    def forward(self, x: Any) -> Any:
        return mg.checkpoint(lambda t: self.layers[1](np.tanh(self.layers[0](t))), x)


def gpt(**settings: Any) -> Any:
    return models.GPT(models.GPTConfig(7, 4, d_model=8, num_heads=2, **settings), rng=rng(), dtype=F)


LLAMA = {
    "positions": "rotary",
    "activation": "swiglu",
    "rms_norm": True,
    "bias": False,
    "tied": False,
    "num_kv_heads": 1,
}
CASES: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "MLP": (
        lambda: nn.Sequential(nn.Affine(6, 8, rng=rng(), dtype=F), np.tanh, nn.Affine(8, 3, rng=rng(), dtype=F)),
        classes, (X, CLASSES),
    ),
    "one layer": (lambda: nn.Affine(6, 3, rng=rng(), dtype=F), classes, (X, CLASSES)),
    "GPT": (gpt, tokens, (IDS, LABELS)),
    "LLaMA": (lambda: gpt(**LLAMA), tokens, (IDS, LABELS)),
    "Transformer": (
        lambda: models.Transformer(models.TransformerConfig(7, 1, 2, d_model=8, num_heads=2, num_layers=1), rng=rng(), dtype=F),
        tokens, (IDS, LABELS, MASK, LABELS),
    ),
    "classifier": (
        lambda: models.TransformerClassifier(models.ClassifierConfig(7, 3, d_model=8, num_heads=2), rng=rng(), dtype=F),
        classes, (IDS, MASK, CLASSES),
    ),
    "cell and attention": (Reader, classes, (IDS, CLASSES)),
    "checkpoint": (Checkpointed, classes, (X, CLASSES)),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 4, 3, rng=rng(), padding=1, dtype=F), nn.GroupNorm(2, 4, dtype=F), mg.relu,
            nn.ConvTranspose2d(4, 3, 2, rng=rng(), stride=2, dtype=F), nn.BatchNorm(3, dtype=F), nn.GlobalAvgPool(),
            nn.Affine(3, 3, rng=rng(), dtype=F),
        ).eval(),
        classes, (IMAGES, CLASSES),
    ),
    "Conv1d": (
        lambda: nn.Sequential(nn.Conv1d(2, 3, 3, rng=rng(), groups=1, dtype=F), nn.Flatten()),
        classes, (IMAGES[:, :, 0], LABELS[:, 0]),
    ),
    "Conv1d with a mask": (Signals, classes, (IMAGES[:, :, 0, :4], MASK, CLASSES)),
}  # fmt: skip


def loop(model: Any, loss: Any, batch: Any) -> dict[str, np.ndarray]:
    """The definition: each example alone, through the ordinary backward pass."""
    found: dict[str, list[np.ndarray]] = {path: [] for path, p in model.named_parameters() if p.requires_grad}
    for i in range(len(leaves(batch)[0])):
        model.zero_grad()
        loss(model, mg.tree_map(lambda array, i=i: array[i : i + 1], batch)).sum().backward()
        for path, p in model.named_parameters():
            if path in found:
                found[path].append(np.zeros(p.shape) if p.grad is None else p.grad.numpy())
    model.zero_grad()
    return {path: np.stack(rows) for path, rows in found.items()}


def compare(model: Any, loss: Any, batch: Any, **options: Any) -> dict[str, np.ndarray]:
    got, expected = nn.per_example_grads(model, loss, batch, **options), loop(model, loss, batch)
    assert got.keys() == expected.keys()
    for path, rows in expected.items():
        assert got[path].shape == rows.shape and got[path].dtype == rows.dtype
        assert_close(got[path], rows, path)
    return got


@pytest.mark.parametrize("case", CASES)
def test_each_row_is_the_gradient_of_one_example(case: str) -> None:
    make, loss, batch = CASES[case]
    got = compare(randomized(make()), loss, batch)
    assert any(np.abs(rows[0] - rows[1]).max() > 1e-6 for rows in got.values())


class Late(nn.Module):
    """Positions that do not begin at 0, of tokens with an axis before them."""

    def __init__(self) -> None:
        self.positions = nn.LearnedPositions(9, 6, rng=rng(), scale=0.5, dtype=F)

    def forward(self, x: Any) -> Any:
        return np.tanh(self.positions(x, start=2)).sum(axis=(1, 2))


def test_positions_that_begin_later() -> None:
    got = compare(Late(), classes, (rng().standard_normal((B, 2, 3, 6)), CLASSES))
    assert not got["positions.weight"][:, :2].any() and got["positions.weight"][:, 2:5].all()


@pytest.mark.parametrize("count", [1, 2])
def test_few_examples(count: int) -> None:
    compare(randomized(gpt()), tokens, (IDS[:count], LABELS[:count]))


def test_a_network_adapted_with_low_rank() -> None:
    model = gpt()
    nn.add_lora(model, 2, rng=rng(), scale=0.5, where=lambda path: path.endswith((".query", ".value", ".hidden")))
    got = compare(randomized(model), tokens, (IDS, LABELS))
    assert {path.rpartition(".")[2] for path in got} == {"down", "up"}
    for parameter in model.parameters():
        parameter.requires_grad = True
    compare(model, tokens, (IDS, LABELS))


def test_unused_parameters_have_zeros_and_frozen_ones_no_entry() -> None:
    model = randomized(Reader())
    model.cell.input.weight.requires_grad = model.embedding.weight.requires_grad = False
    got = compare(model, classes, (IDS, CLASSES), check=False)
    assert not got["unused.weight"].any() and got["unused.weight"].shape == (B, 2, 3)
    assert "embedding.weight" not in got and "cell.input.bias" in got
    make, loss, batch = CASES["convolutions"]
    model = randomized(make())
    model.layers[0].weight.requires_grad = False
    assert compare(model, loss, batch).keys() == dict(model.named_parameters()).keys() - {"layers.0.weight"}


def test_the_model_is_as_after_a_call() -> None:
    model: Any = nn.Sequential(nn.Affine(6, 8, rng=rng(), dtype=F), nn.Dropout(0.5, rng=rng()))
    once = copy.deepcopy(model)
    model.layers[0].weight.grad = np.ones((6, 8))

    def loss(model: Any, x: Any) -> Any:
        return (model(x) ** 2).sum(axis=1)

    before = model.state_dict()
    rows = nn.per_example_grads(model, loss, X)
    loss(once, X).sum().backward()  # with the same mask
    assert_close(rows["layers.0.weight"].sum(axis=0), once.layers[0].weight.grad.data)
    assert (model.layers[1].step, once.layers[1].step) == (1, 1)
    assert model.layers[0].weight.grad.numpy().all() and vars(model.layers[0]).keys() == vars(once.layers[0]).keys()
    assert all((array == before[path]).all() for path, array in model.state_dict().items())


class Table(nn.Embedding):
    pass


def refused(model: Any, loss: Any, batch: Any, error: type[Exception], words: str) -> None:
    before = model.state_dict()
    with pytest.raises(error, match=words) as raised:
        nn.per_example_grads(model, loss, batch)
    assert "\n" not in str(raised.value)
    assert all(p.grad is None for p in model.parameters())
    assert all((array == before[path]).all() for path, array in model.state_dict().items())


def test_layers_that_it_does_not_take_are_named() -> None:
    norm = nn.Sequential(nn.Affine(6, 3, rng=rng()), nn.BatchNorm(3))
    refused(
        norm, classes, (X, CLASSES), UnsupportedError, r"the BatchNorm 'layers.1' mixes .*: call model.eval\(\), or"
    )
    gru = nn.Sequential(nn.GRU(6, 3, rng=rng(), dtype=F), lambda found: found[1])
    refused(
        gru,
        classes,
        (X[:, None], CLASSES),
        UnsupportedError,
        "'layers.0.cell.state.weight' is used outside of the layers",
    )
    other = nn.Sequential(Table(7, 3, rng=rng()), lambda t: t[:, 0])
    refused(
        other, classes, (IDS, CLASSES), UnsupportedError, "'layers.0.weight' is used outside of .*Affine, .*Embedding"
    )


@pytest.mark.parametrize("length", [4, B])
def test_positions_are_not_taken_for_examples(length: int) -> None:
    """BertEncoder looks up the positions 0, 1, ... in a table. With B of them, their shape is that of B examples."""
    config = models.BertConfig(7, d_model=8, num_heads=2, num_layers=1, hidden=8, max_positions=8, dropout=0.0)
    model, ids = models.BertEncoder(config, rng=rng(), dtype=F), rng().integers(0, 7, (B, length))
    words = rf"the input of 'positions' must have the examples as its first axis, got \({length},\) for 5 examples and "
    refused(model, lambda m, batch: m(batch).mean(axis=(1, 2)), ids, UnsupportedError, words)


@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize("count", [0, 1])
def test_one_or_no_example_is_checked_too(count: int, length: int) -> None:
    """The positions 0, 1, ... of a single sentence look like so many examples, and those of a single token like one."""
    config = models.BertConfig(7, d_model=8, num_heads=2, num_layers=1, hidden=8, max_positions=8, dropout=0.0)
    model, ids = models.BertEncoder(config, rng=rng(), dtype=F), np.ones((count, length), int)
    words = "the input of 'positions' must have the examples as its first axis, got "
    words += rf"\({length},\) for 2 examples and \({length},\) for one" if count else rf"\({length},\) for 0 examples"
    refused(model, lambda m, batch: m(batch).mean(axis=(1, 2)), ids, UnsupportedError, words)
    layer = nn.Affine(6, 3, rng=rng(), dtype=F)
    swapped = nn.Sequential(lambda x: np.swapaxes(x, 0, 1), layer, lambda x: np.swapaxes(x, 0, 1).sum(axis=(1, 2)))
    words = "the input of 'layers.1' must"
    refused(swapped, lambda m, x: m(x), np.ones((count, length, 6)), UnsupportedError, words)


@pytest.mark.parametrize("case", CASES)
def test_no_example_has_no_rows(case: str) -> None:
    make, loss, batch = CASES[case]
    model = make()
    rows = nn.per_example_grads(model, loss, mg.tree_map(lambda array: array[:0], batch))
    assert {path: array.shape for path, array in rows.items()} == {
        path: (0, *p.shape) for path, p in model.named_parameters()
    }
    assert rows.norms().shape == (0,) and rows.cosines().shape == (0, 0)


def later(y: Any) -> Any:
    """The sums over the examples before each one, so that the first does not depend on another."""
    return (np.cumsum(y, axis=0) - y).sum(axis=1)


def test_losses_and_batches_that_do_not_fit_are_named() -> None:
    layer = nn.Affine(6, 3, rng=rng(), dtype=F)
    refused(
        layer, lambda m, b: nn.cross_entropy(m(b[0]), b[1]), (X, CLASSES), ShapeError, r'\(5,\), got \(\): .*="none"'
    )
    refused(layer, lambda m, b: 1.0, (X, CLASSES), ShapeError, "got float")
    refused(
        layer,
        classes,
        (X, CLASSES[:3]),
        ArgumentError,
        r"first axis is the examples, got the shapes \[\(5, 6\), \(3,\)\]",
    )
    refused(layer, classes, (X, 3), ArgumentError, "first axis is the examples")
    refused(layer, lambda m, x: (m(x) - m(x).mean(axis=0)).sum(axis=1), X, ArgumentError, "alone has another loss")
    refused(
        layer, lambda m, x: m(x).sum(axis=1) + later(m(x)), X, ArgumentError, "the last example alone has another loss"
    )
    swapped = nn.Sequential(lambda x: np.swapaxes(x, 0, 1), layer, lambda x: np.swapaxes(x, 0, 1).sum(axis=(1, 2)))
    refused(
        swapped, lambda m, x: m(x), rng().standard_normal((B, B, 6)), UnsupportedError, "the input of 'layers.1' must"
    )


@pytest.mark.parametrize("case", [case for case in CASES if case != "cell and attention"])  # which makes a host array
def test_on_a_device_as_on_the_host(case: str) -> None:
    make, loss, batch = CASES[case]
    model = randomized(make())
    expected = nn.per_example_grads(model, loss, batch)
    for state in [*model.parameters(), *model.buffers()]:
        state.data = fake_device.asarray(state.data)
    got = nn.per_example_grads(model, loss, mg.tree_map(fake_device.asarray, batch))
    assert all(type(rows) is fake_device.FakeArray for rows in got.values())
    for path, rows in expected.items():
        assert_close(to_host(got[path]), rows, path)


def test_norms_and_cosines_are_those_of_the_rows_as_vectors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    model = nn.Sequential(
        nn.Affine(3, 4, rng=rng, dtype=np.float64), np.tanh, nn.Affine(4, 2, rng=rng, dtype=np.float64)
    )
    x = rng.standard_normal((5, 3))
    rows = nn.per_example_grads(model, lambda model, x: model(x).sum(axis=1), x)
    flat = np.concatenate([g.reshape(5, -1) for g in rows.values()], axis=1)
    lengths = np.linalg.norm(flat, axis=1)
    np.testing.assert_allclose(rows.norms(), lengths, rtol=1e-12)
    np.testing.assert_allclose(rows.cosines(), (flat @ flat.T) / np.outer(lengths, lengths), rtol=1e-12)
    assert rows.plot(tmp_path / "rows.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_an_example_without_a_gradient_has_no_direction(tmp_path: Path) -> None:
    rows = nn.ExampleGrads(weight=np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
    assert rows.norms().tolist() == [5.0, 0.0] and rows.cosines().tolist() == [[1.0, 0.0], [0.0, 0.0]]
    empty = nn.ExampleGrads()
    assert empty.norms().shape == (0,) and empty.cosines().shape == (0, 0)
    with pytest.raises(ArgumentError, match="there is nothing to plot: no parameter has a gradient"):
        empty.plot(tmp_path / "rows.png")
    with pytest.raises(ArgumentError, match="names no format"):
        rows.plot(tmp_path / "rows.txt")
