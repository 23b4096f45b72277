"""Greedy decoding and beam search over small step functions whose every sequence can be listed."""

import itertools
from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor, log_softmax
from nn import Hypothesis, beam_search, greedy_decode
from nn.decoding import Step

START, END, VOCABULARY = 0, 1, 4
NEVER = -np.inf


class Table:
    """For each input a random Markov chain: the scores of the next id depend on the input and on the last id."""

    def __init__(self, batch: int = 3, seed: int = 0) -> None:
        self.scores = 2 * np.random.default_rng(seed).standard_normal((batch, VOCABULARY, VOCABULARY))
        self.batch = batch
        self.calls = 0

    def step(self) -> Step:
        rows = np.arange(self.batch)

        def step(prefixes: Any, parents: Any) -> Any:
            nonlocal rows
            rows = rows[parents]
            self.calls += 1
            assert prefixes.shape == (len(parents), self.calls) and (prefixes[:, 0] == START).all()
            return self.scores[rows, prefixes[:, -1]]

        return step

    def log_probability(self, row: int, ids: tuple[int, ...]) -> float:
        """Of these ids, whatever they are."""
        log_p, before = log_softmax(self.scores[row]), (START, *ids[:-1])
        return float(sum(log_p[last, next_id] for last, next_id in zip(before, ids)))

    def every_sequence(self, row: int, max_length: int) -> list[Hypothesis]:
        """All that reach the end within ``max_length`` ids, the end counted."""
        others = [token for token in range(VOCABULARY) if token != END]
        sequences = (ids for n in range(max_length) for ids in itertools.product(others, repeat=n))
        return [Hypothesis(ids, self.log_probability(row, (*ids, END)), True) for ids in sequences]


def settings(table: Table, max_length: int = 5) -> dict[str, int]:
    return {"batch": table.batch, "start": START, "end": END, "max_length": max_length}


def assert_equal(got: Hypothesis, expected: Hypothesis) -> None:
    assert (got.ids, got.finished) == (expected.ids, expected.finished)
    assert got.log_probability == pytest.approx(expected.log_probability, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_takes_the_most_probable_id_at_every_step(seed: int) -> None:
    table = Table(seed=seed)
    for row, found in enumerate(greedy_decode(table.step(), **settings(table))):
        ids: list[int] = []
        while len(ids) < 5 and END not in ids:
            ids.append(int(table.scores[row, ids[-1] if ids else START].argmax()))
        finished = END in ids
        assert_equal(
            found, Hypothesis(tuple(ids[:-1] if finished else ids), table.log_probability(row, tuple(ids)), finished)
        )


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    table = Table(batch=6, seed=seed)
    greedy = greedy_decode(table.step(), **settings(table))
    table.calls = 0
    beams = beam_search(table.step(), **settings(table), beam=1)
    assert {found.finished for found in greedy} >= {True}
    for (found,), expected in zip(beams, greedy, strict=True):
        assert_equal(found, expected)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_beam_of_exhaustive_width_is_exhaustive_search(alpha: float) -> None:
    """Among 40 sequences; greedy decoding misses the best of some."""
    table = Table(batch=8)
    beams = beam_search(table.step(), **settings(table, 4), beam=VOCABULARY**4, alpha=alpha)
    table.calls = 0
    missed = 0
    for row, (greedy, found) in enumerate(zip(greedy_decode(table.step(), **settings(table, 4)), beams, strict=True)):
        best = max(table.every_sequence(row, 4), key=lambda hypothesis: hypothesis.score(alpha))
        assert_equal(found[0], best)
        missed += greedy.ids != best.ids
    assert missed


def test_a_wider_beam_finds_what_greedy_decoding_misses() -> None:
    """2 is the likelier first id (0.6), but what follows it is uncertain; after 3 the end is sure: 0.4 beats 0.6 / 3."""
    probabilities: dict[int, list[float]] = {START: [0, 0, 0.6, 0.4], 2: [0, 1 / 3, 1 / 3, 1 / 3], 3: [0, 1, 0, 0]}

    def step(prefixes: Any, parents: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log([probabilities[last] for last in prefixes[:, -1].tolist()])

    def search(beam: int) -> Hypothesis:
        (found,) = beam_search(step, batch=1, start=START, end=END, max_length=4, beam=beam, alpha=0)
        return found[0]

    assert_equal(search(1), Hypothesis((2,), np.log(0.2), True))
    assert_equal(search(2), Hypothesis((3,), np.log(0.4), True))


def test_all_that_end_at_one_step_are_found() -> None:
    """2 or 3, and then the end for sure."""
    probabilities = {START: [0, 0, 0.6, 0.4], 2: [0, 1.0, 0, 0], 3: [0, 1.0, 0, 0]}

    def step(prefixes: Any, parents: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(np.array([probabilities[last] for last in prefixes[:, -1].tolist()]))

    (found,) = beam_search(step, batch=1, start=START, end=END, max_length=4, beam=2)
    assert [each.ids for each in found] == [(2,), (3,)]


def test_hypotheses_come_best_first_and_finished_ones_before_those_that_were_cut() -> None:
    for seed in range(20):
        table = Table(seed=seed)
        for found in beam_search(table.step(), **settings(table, 3), beam=4):
            assert 1 <= len(found) <= 4
            assert [each.finished for each in found] == sorted((each.finished for each in found), reverse=True)
            for _, group in itertools.groupby(found, key=lambda each: each.finished):
                scores = [each.score() for each in group]
                assert scores == sorted(scores, reverse=True)
            assert all(len(each.ids) == 3 for each in found if not each.finished)
            assert len({(each.ids, each.finished) for each in found}) == len(found)


def test_the_length_normalisation_is_that_of_wu_et_al() -> None:
    hypothesis = Hypothesis((5, 6, 7), -2.0, True)  # four ids with the end
    assert hypothesis.score(0.6) == pytest.approx(-2.0 / (9 / 6) ** 0.6)
    assert hypothesis.score(0.0) == -2.0
    assert Hypothesis((5,), -1.0).score(1.0) == -1.0  # |y| = 1: no correction


def test_normalisation_prefers_longer_sequences() -> None:
    """Ending at once has 0.5, three sure ids after the other first id have 0.45: alone, then divided by (9 / 6) ** 2."""
    probabilities = [[0.5, 0.45, 0.05], [0, 1, 0], [0, 1, 0], [1, 0, 0]]  # by place; the end is id 0 here

    def step(prefixes: Any, parents: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(np.array([probabilities[prefixes.shape[1] - 1]] * len(prefixes)))

    def search(alpha: float) -> tuple[int, ...]:
        (found,) = beam_search(step, batch=1, start=1, end=0, max_length=4, beam=2, alpha=alpha)
        return found[0].ids

    assert search(0) == ()
    assert search(2) == (1, 1, 1)


def test_an_input_stops_at_its_end_and_the_others_go_on() -> None:
    """Input i says id 2 i times, and then the end."""
    remaining = np.zeros(0)

    def step(prefixes: Any, parents: Any) -> Any:
        nonlocal remaining
        remaining = remaining[parents]
        said = prefixes.shape[1] - 1
        return Tensor(np.where((said < remaining)[:, None], [NEVER, NEVER, 0, NEVER], [NEVER, 0, NEVER, NEVER]))

    for search in (greedy_decode, beam_search):
        remaining = np.array([2, 0, 9])
        found: Any = search(step, batch=3, start=START, end=END, max_length=4)
        best = [each[0] if isinstance(each, list) else each for each in found]
        assert [each.ids for each in best] == [(2, 2), (), (2, 2, 2, 2)]
        assert [each.finished for each in best] == [True, True, False]


def test_scores_may_be_logits_or_log_probabilities_and_on_a_device(put: Any) -> None:
    table = Table()
    expected = greedy_decode(table.step(), **settings(table))

    def decoded(change: Any) -> list[Hypothesis]:
        table.calls = 0
        step = table.step()
        return greedy_decode(lambda prefixes, parents: change(step(prefixes, parents)), **settings(table))

    for change in (log_softmax, lambda scores: scores + 7, lambda scores: Tensor(put(scores), copy=False)):
        for found, hypothesis in zip(decoded(change), expected, strict=True):
            assert_equal(found, hypothesis)


def test_no_graph_is_recorded() -> None:
    weight = Tensor(np.ones((1, VOCABULARY)), requires_grad=True)

    def step(prefixes: Any, parents: Any) -> Any:
        scores = Tensor(np.ones((len(prefixes), 1))) @ weight
        assert not scores.requires_grad
        return scores

    greedy_decode(step, batch=2, start=START, end=END, max_length=2)
    beam_search(step, batch=2, start=START, end=END, max_length=2)


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_what_a_step_function_may_not_give(search: Any) -> None:
    def run(scores: Any, end: int = END) -> None:
        search(lambda prefixes, parents: scores, batch=2, start=START, end=end, max_length=3)

    with pytest.raises(ShapeError, match=r"shape \(2, vocabulary\), with end=1 in the vocabulary, got \(2, 1, 4\)"):
        run(np.zeros((2, 1, VOCABULARY)))
    with pytest.raises(ShapeError, match=r"with end=9 in the vocabulary, got \(2, 4\)"):
        run(np.zeros((2, VOCABULARY)), end=9)
    with pytest.raises(OutOfRangeError, match="returned NaN, or -inf for every id"):
        run(np.full((2, VOCABULARY), np.nan))
    with pytest.raises(OutOfRangeError, match="returned NaN, or -inf for every id"):
        run(np.full((2, VOCABULARY), -np.inf))


def test_settings_out_of_range_raise() -> None:
    table = Table()
    for name in ("batch", "max_length"):
        for search in (greedy_decode, beam_search):
            with pytest.raises(ArgumentError, match=f"{name} must be a positive integer, got 0"):
                search(table.step(), **(settings(table) | {name: 0}))
    with pytest.raises(ArgumentError, match="beam must be a positive integer, got 0"):
        beam_search(table.step(), **settings(table), beam=0)
    with pytest.raises(ArgumentError, match="alpha must be a number >= 0, got -1"):
        beam_search(table.step(), **settings(table), alpha=-1)
