"""examples/greedy_decoding.py: its sentences, that the steps are greedy decoding, and the command."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import greedy_decoding as example
from greedy_decoding import END, EXPECTED, SHOWN, START, Pair, Words
from models import Transformer, TransformerConfig
from tests.examples.processes import command

WRITTEN = {"greedy_steps.png", "greedy_attention.png"}


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(example.split(np.random.default_rng(0), held_out=10)[0])


@pytest.fixture(scope="module")
def model(words: Words) -> Transformer:
    """Untrained."""
    config = TransformerConfig(len(words.words), words.start, words.end, d_model=16, num_layers=1, num_heads=2)
    return Transformer(config, rng=np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(5))
def test_no_meaning_is_on_both_sides_of_the_split_and_the_shown_sentence_is_learned(seed: int) -> None:
    known, unseen = example.split(np.random.default_rng(seed), held_out=10)
    assert (len(known), len(unseen)) == (100, 20)
    assert not {english for _, english in known} & {english for _, english in unseen}
    assert (SHOWN, EXPECTED) in known
    known_words = {word for pair in known for side in pair for word in side}
    assert {word for pair in unseen for side in pair for word in side} <= known_words


def test_words_come_back_from_their_ids(words: Words) -> None:
    ids = words.encode([SHOWN, SHOWN[:2]])
    assert ids.shape == (2, 5) and ids[1, 2:].tolist() == [words.padding] * 3
    assert words.decode(ids[0]) == SHOWN
    assert words.decode([words.start, words.end]) == (START, END)


def test_the_steps_are_greedy_decoding(model: Transformer, words: Words) -> None:
    steps = example.decoding_steps(model, words, SHOWN)
    assert steps[0].sees == (START,)
    for before, step in itertools.pairwise(steps):
        assert step.sees == (*before.sees, before.takes)
    for step in steps:
        assert step.probabilities.sum() == pytest.approx(1, abs=1e-5)
        assert step.probabilities.max() == step.probabilities[words.ids[step.takes]]
    (found,) = example.translate(model, words, [SHOWN])
    assert found == tuple(step.takes for step in steps if step.takes != END)


def test_the_baselines() -> None:
    known: list[Pair] = [(("海", "で", "水", "を", "飲む"), ("I", "drink", "water", "by", "the", "sea"))]
    question = ("海", "で", "水", "を", "買う")
    assert example.nearest(known, [question]) == [known[0][1]]
    pairs: list[Pair] = [(("a", "b"), ("x", "y")), (("a", "c"), ("x", "z")), (("b", "c"), ("y", "z"))]
    assert example.word_by_word(pairs, [("c", "a")]) == [("I", "z", "x")]


@pytest.mark.thorough
def test_a_quick_run_prints_every_step_and_draws(tmp_path: Path) -> None:
    finished = command("greedy_decoding.py", "--quick", "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "step 1  sees  <start> " in finished.stdout and "こたつでみかんを食べる" in finished.stdout
    assert "exact on 20 new sentences  Transformer, greedy" in finished.stdout and "word by word" in finished.stdout
    assert "epoch 1/1" in finished.stderr  # the progress bar
    assert {path.name for path in (tmp_path / "out").iterdir()} == WRITTEN


@pytest.mark.thorough
def test_it_learns_the_sentence(tmp_path: Path) -> None:
    finished = command("greedy_decoding.py", "--out", "out", cwd=tmp_path)
    assert "\nI eat mandarin at the kotatsu\n" in finished.stdout


def test_help(tmp_path: Path) -> None:
    printed = command("greedy_decoding.py", "--help", cwd=tmp_path).stdout
    assert all(option in printed for option in ("--seed", "--device", "--quick", "--out", "--epochs"))
