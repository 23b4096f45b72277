"""RNNEncoderDecoder against the same network written with PyTorch's layers, its attention, and decoding."""

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, OutOfRangeError, ShapeError, no_grad
from models import RNNEncoderDecoder, RNNEncoderDecoderConfig, shifted_right
from tests.lazy import torch
from tests.nn.layers import assert_close, gradient, randomized, rng, to_torch

START, END = 5, 6
CONFIG = RNNEncoderDecoderConfig(8, 7, START, END, embedding=3, hidden=4)
SOURCE = rng(3).integers(8, size=(3, 5))
MASK = np.arange(5) < np.array([[5], [2], [3]])
TARGET = np.array([[1, 2, 3, END], [4, END, 0, 0], [0, 3, END, 0]])
SHIFTED = shifted_right(TARGET, START)
LENGTHS = (4, 2, 3)


def network(attention: bool = True, dtype=np.float64) -> RNNEncoderDecoder:
    config = RNNEncoderDecoderConfig(**CONFIG.to_dict() | {"attention": attention})
    model: RNNEncoderDecoder = randomized(RNNEncoderDecoder(config, rng=rng(), dtype=dtype))
    return model


class TorchNetwork:
    """The docstring's formulas, sentence by sentence without padding, on the same weights."""

    def __init__(self, ours: RNNEncoderDecoder) -> None:
        self.p = {path: to_torch(array, True) for path, array in ours.state_dict().items()}

    def cell(self, path: str, x, h):
        names = ("input.weight", "input.bias", "state.weight", "state.bias")
        w, b, u, c = (self.p[f"{path}.{name}"] for name in names)
        return torch.gru_cell(x[None], h[None], w.T, u.T, b, c)[0]

    def affine(self, path: str, x):
        return x @ self.p[f"{path}.weight"] + self.p[f"{path}.bias"]

    def read(self, path: str, x):
        h, states = torch.zeros(4, dtype=torch.float64), []
        for each in x:
            h = self.cell(path, each, h)
            states.append(h)
        return states

    def logits(self, source, target, attention: bool):
        x = self.p["source_embedding.weight"][source]
        left, right = self.read("forwards.cell", x), self.read("backwards.cell", x.flip(0))
        states = torch.stack([torch.cat(pair) for pair in zip(left, right[::-1], strict=True)])
        state, rows, looks = torch.tanh(self.affine("first_state", right[-1])), [], []
        for previous in target:
            y, context = self.p["target_embedding.weight"][previous], torch.cat([left[-1], right[-1]])
            if attention:
                hidden = torch.tanh(
                    state @ self.p["attention.score.query.weight"] + self.affine("attention.score.key", states)
                )
                weights = torch.softmax((hidden @ self.p["attention.score.output.weight"])[:, 0], 0)
                context = weights @ states
                looks.append(weights)
            state = self.cell("cell", torch.cat([y, context]), state)
            rows.append(self.affine("output", torch.cat([state, context, y])))
        return torch.stack(rows), looks


@pytest.mark.parametrize("attention", [True, False])
def test_equals_pytorch_with_all_gradients(attention) -> None:
    """The loss ignores what is written after the end; what is read after the mask's end changes nothing."""
    ours = network(attention)
    theirs = TorchNetwork(ours)
    logits = ours(SOURCE, SHIFTED, MASK)
    target = np.where(np.arange(4) < np.array(LENGTHS)[:, None], TARGET, -1)
    loss = nn.cross_entropy(logits, target, ignore_index=-1)
    rows, labels = [], []
    for i, length in enumerate(LENGTHS):
        found, looks = theirs.logits(SOURCE[i][MASK[i]], SHIFTED[i, :length], attention)
        assert_close(logits.numpy()[i, :length], found.detach().numpy())
        rows.append(found)
        labels.append(to_torch(TARGET[i, :length]))
        if attention:
            weights = ours.attention_weights(SOURCE, SHIFTED, MASK).numpy()[i]
            assert_close(weights[:length, MASK[i]], torch.stack(looks).detach().numpy())
            assert not weights[:, ~MASK[i]].any()
    torch_loss = torch.nn.functional.cross_entropy(torch.cat(rows), torch.cat(labels))
    assert_close(loss.numpy(), torch_loss.detach().numpy())
    loss.backward()
    torch_loss.backward()
    for path, parameter in ours.named_parameters():
        assert_close(gradient(parameter), theirs.p[path].grad.numpy(), path)


@pytest.mark.parametrize("attention", [True, False])
def test_greedy_decoding_is_teacher_forcing_with_its_own_ids(attention) -> None:
    ours = network(attention)
    found = ours.greedy(SOURCE, MASK, max_length=6)
    prefixes = np.full((3, 1), START)
    with no_grad():
        for _ in range(6):
            following = ours(SOURCE, prefixes, MASK).numpy()[:, -1].argmax(-1)
            prefixes = np.concatenate([prefixes, following[:, None]], axis=1)
    for hypothesis, ids in zip(found, prefixes[:, 1:].tolist(), strict=True):
        assert list(hypothesis.ids) == (ids[: ids.index(END)] if END in ids else ids)
        assert hypothesis.finished == (END in ids)


def test_beam_search_scores_what_the_network_gives() -> None:
    ours = network()
    settings = {"batch": 3, "start": START, "end": END, "max_length": 4, "beam": 3}
    for i, hypotheses in enumerate(nn.beam_search(ours.decoding_step(SOURCE, MASK), **settings)):
        for hypothesis in hypotheses:
            ids = [START, *hypothesis.ids, *[END] * hypothesis.finished]
            logits = torch.tensor(ours(SOURCE[i : i + 1], [ids[:-1]], MASK[i : i + 1]).numpy()[0])
            log_p = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]].sum()
            assert_close(hypothesis.log_probability, log_p.item())


def test_padding_has_no_influence() -> None:
    for attention in (True, False):
        ours, other = network(attention), np.where(MASK, SOURCE, 7)
        assert_close(ours(other, SHIFTED, MASK).numpy(), ours(SOURCE, SHIFTED, MASK).numpy())
        assert_close(ours(SOURCE[1:2, :2], SHIFTED[1:2]).numpy(), ours(SOURCE, SHIFTED, MASK).numpy()[1:2])


def test_weights_sum_to_one_and_there_are_none_without_attention() -> None:
    weights = network().attention_weights(SOURCE, SHIFTED, MASK)
    assert weights.shape == (3, 4, 5)
    assert_close(weights.numpy().sum(-1), np.ones((3, 4)))
    with pytest.raises(ArgumentError, match="was made with attention=False: it has no weights to show"):
        network(attention=False).attention_weights(SOURCE, SHIFTED)


def test_both_kinds_differ_in_the_score_only() -> None:
    with_attention, without = network().state_dict(), network(attention=False).state_dict()
    assert {path.split(".")[0] for path in with_attention.keys() - without.keys()} == {"attention"}
    assert without.keys() <= with_attention.keys()


def test_learns_to_copy() -> None:
    ours = RNNEncoderDecoder(RNNEncoderDecoderConfig(4, 6, 4, 5, embedding=8, hidden=16), rng=rng())
    optimizer, generator = nn.Adam(ours.parameters(), lr=0.02), rng(1)
    for _ in range(60):
        source = generator.integers(4, size=(32, 3))
        target = np.concatenate([source, np.full((32, 1), 5)], axis=1)
        optimizer.zero_grad()
        nn.cross_entropy(ours(source, shifted_right(target, 4)), target).backward()
        optimizer.step()
    source = generator.integers(4, size=(20, 3))
    assert [found.ids for found in ours.greedy(source, max_length=4)] == [tuple(row) for row in source.tolist()]


def test_the_config_goes_through_a_dict() -> None:
    assert RNNEncoderDecoderConfig.from_dict(CONFIG.to_dict()) == CONFIG


def test_computes_in_float32() -> None:
    assert network(dtype=np.float32)(SOURCE, SHIFTED, MASK).dtype == np.float32


def test_what_does_not_fit_raises() -> None:
    ours = network()
    with pytest.raises(ShapeError, match=r"source ids of shape \(batch, source\), got \(5,\)"):
        ours(SOURCE[0], SHIFTED)
    with pytest.raises(ShapeError, match=r"target ids of shape \(batch, target\), got \(4,\)"):
        ours(SOURCE, SHIFTED[0])
    for target in (SHIFTED[:1], SHIFTED[:, :0]):
        with pytest.raises(ShapeError, match=r"one row for each source .*, got source \(3, 5\) and target"):
            ours(SOURCE, target)
    with pytest.raises(ShapeError, match=r"source_key_mask must have the shape \(batch, key\) = \(3, 5\)"):
        ours(SOURCE, SHIFTED, MASK[:, :4])
    with pytest.raises(OutOfRangeError, match=r"got the id .*, but its vocabulary has 8 ids"):
        ours(SOURCE + 8, SHIFTED)
    with pytest.raises(ArgumentError, match="end must be an id of the target vocabulary, 0 to 6, got 7"):
        RNNEncoderDecoderConfig(8, 7, 5, 7)
