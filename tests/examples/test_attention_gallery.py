"""examples/attention_gallery.py: every attention's weights are weights, and the command."""

from pathlib import Path

import numpy as np
import pytest

import attention_gallery as example
import nn
from nn.attention import GlobalAttention
from tests.examples.processes import command

NAMES = [kind.name for kind in example.kinds(0)]


@pytest.mark.parametrize("position", range(len(NAMES)), ids=NAMES)
def test_the_weights_of_a_query_sum_to_1_or_to_0(position: int) -> None:
    kind = example.kinds(0)[position]
    seen = example.look(kind)
    assert np.all(seen.weights >= 0)
    sums = seen.weights.sum(axis=-1)
    if isinstance(kind.layer, nn.PredictiveLocalAttention):  # its bell takes some off
        assert np.all((sums >= 0) & (sums <= 1))
    else:
        np.testing.assert_allclose(sums, np.round(sums), atol=1e-12)
        assert np.all(sums < 1.5) and np.sum(sums < 0.5) == (kind.name == "only what is before")
    entropy, uniform = example.entropies(seen.weights)
    assert 0 <= entropy <= uniform + 1e-12
    assert seen.shape[0] == 1 and seen.shape[1:-1] in ((), (len(kind.queries),))


def test_every_attention_of_nn_is_there() -> None:
    classes = {getattr(nn, name) for name in nn.__all__ if isinstance(getattr(nn, name), type)}
    bases = (GlobalAttention, nn.AttentionHead, nn.MultiHeadAttention, nn.MessagePassing)
    assert {type(kind.layer) for kind in example.kinds(0)} == {found for found in classes if issubclass(found, bases)}


def test_a_rule_without_weights_finds_the_translations_and_a_mask_hides() -> None:
    seen = {kind.name: example.look(kind).weights[0] for kind in example.kinds(0)}
    for word, translation in example.TRANSLATION.items():
        row = seen["dot product"][example.ENGLISH.index(translation)]
        assert row.argmax() == example.JAPANESE.index(word)
    assert not seen["padding mask"][:, 3:].any()
    assert not np.triu(seen["causal mask"], 1).any() and not np.triu(seen["only what is before"]).any()
    assert not seen["local, radius 1"][0, 2:].any()


def test_on_a_device(put) -> None:
    ja, en = (put(example.embedded(words, 0)) for words in (example.JAPANESE, example.ENGLISH))
    rng = np.random.default_rng(0)
    for there, here in zip(
        [*example.without_weights(ja, en), *example.with_one_head(ja, en, rng), *example.with_more_heads(ja, en, rng)],
        example.kinds(0),
        strict=True,
    ):
        for parameter in there.layer.parameters():
            parameter.data = put(parameter.data)
        weights = there.layer.attention_weights(*there.inputs, **there.options).numpy()
        np.testing.assert_allclose(weights.reshape(-1), example.look(here).weights.reshape(-1), atol=1e-12)


def test_entropies_of_known_weights() -> None:
    weights = np.array([[[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0]]])
    assert example.entropies(weights) == pytest.approx((np.log(2) / 2, np.log(2) / 2))


def test_the_strongest_link_is_not_one_without_a_choice() -> None:
    kind = example.Kind("", None, (), queries=("a", "b"), keys=("x", "y"))
    seen = example.Seen(kind, (1, 2, 2), np.array([[[1, 0], [0.1, 0.9]]]))
    assert example.strongest_link(seen) == ("b → y", 0.9, 0.5)


def test_the_seed_decides() -> None:
    assert np.array_equal(example.embedded(["a"], 1), example.embedded(["a"], 1))
    assert not np.array_equal(example.embedded(["a"], 1), example.embedded(["a"], 2))


@pytest.mark.thorough
def test_a_quick_run_prints_a_line_each_and_writes_its_picture(tmp_path: Path) -> None:
    done = command("attention_gallery.py", "--quick", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in NAMES)
    assert "attentions: 100%" in done.stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["attention_gallery.png"]
    assert (tmp_path / "here" / "attention_gallery.png").stat().st_size > 50_000


def test_help(tmp_path: Path) -> None:
    done = command("attention_gallery.py", "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--seed", "--device", "--quick", "--out"))
