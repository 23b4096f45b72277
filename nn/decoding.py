"""Greedy decoding and beam search, which build sequences from the scores of the next id that a step function returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor, log_softmax, no_grad
from minigrad.internal import to_host

from ._checks import check_callable, check_interval, check_kind, check_not_negative, check_positive, is_number, shown

Array = np.ndarray[Any, Any]

Step = Callable[[Array, Array], Any]
"""``step(prefixes, parents)`` returns the scores of the next id, (n, vocabulary), as logits or log-probabilities.

``prefixes`` are (n, length) ids. Each prefix begins with the start id, and is one id longer at every call. ``parents`` are (n,)
integers: each prefix continues the prefix with this index in the previous call. At the first call they are 0 to batch - 1, the
indices of the inputs. A step function updates the values that it keeps per prefix (the input, a cache) with
``kept = kept[parents]``.
"""


@dataclass(frozen=True)
class Hypothesis:
    """A decoded sequence.

    Attributes:
        ids: the ids without the start id and the end id.
        log_probability: ``sum_t log p(y_t | y_<t)`` over these ids, and over the end id if it was reached.
        finished: True if the end id was reached, False if the sequence was cut at the greatest length.

    Example:
        >>> import nn
        >>> short, long = nn.Hypothesis((5,), -1.0, True), nn.Hypothesis((5, 6, 7), -1.1, True)
        >>> short.score(alpha=0) > long.score(alpha=0)  # log P alone prefers the short one
        True
        >>> short.score() > long.score()
        False
    """

    ids: tuple[int, ...] = ()
    log_probability: float = 0.0
    finished: bool = False

    def __post_init__(self) -> None:
        check_kind("a tuple of ids", tuple, ids=self.ids)
        if not is_number(self.log_probability) or not self.log_probability < np.inf:
            raise ArgumentError(f"log_probability must be a number, got {shown(self.log_probability)}")
        check_kind("True or False", finished=self.finished)

    def score(self, alpha: float = 0.6) -> float:
        """Return ``log P(y) / ((5 + |y|) / 6) ** alpha``, where ``|y|`` also counts the end id.

        Every id makes a sequence less probable, so log P alone (``alpha=0``) prefers short sequences. Source: Wu et al. 2016,
        arXiv:1609.08144, eq. 14. Vaswani et al. 2017 use ``alpha=0.6`` and four beams.
        """
        check_interval(0, np.inf, alpha=alpha)
        return self.log_probability / _length_penalty(len(self.ids) + self.finished, alpha)


def greedy_decode(step: Step, *, batch: int, start: int, end: int, max_length: int) -> list[Hypothesis]:
    """Append the most probable next id until it is ``end`` or there are ``max_length`` ids, including ``end``.

    All inputs advance together. A finished sequence is extended with ``end`` until all sequences are finished.

    Args:
        step: ``step(prefixes, parents)`` returns the scores of the next id, (n, vocabulary), for prefixes (n, length). Row i
            continues row ``parents[i]`` of the previous call (:data:`Step`). ``step`` runs under ``no_grad``. Switch a model
            with dropout to ``eval()``.
        batch: the number of inputs.
        start, end: the ids that open and close a sequence.
        max_length: the greatest number of ids, including ``end``.

    Returns:
        A hypothesis for each input.

    Raises:
        ArgumentError: batch or max_length is not a positive integer.
        ShapeError: the scores are not (batch, vocabulary), or the vocabulary lacks the end id.
        OutOfRangeError: a score is NaN, or all scores of a row are -inf.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> p = np.array([[0.1, 0.5, 0.4], [0.4, 0.3, 0.3], [0.8, 0.1, 0.1]])  # p[last, next]
        >>> def step(prefixes, parents):
        ...     return np.log(p[prefixes[:, -1]])
        >>> found = nn.greedy_decode(step, batch=1, start=0, end=0, max_length=5)[0]
        >>> found.ids, np.exp(found.log_probability).round(2).item()  # not the best: (2,) has 0.4 * 0.8
        ((1,), 0.2)
    """
    check_callable(step=step)
    check_positive(batch=batch, max_length=max_length)
    check_not_negative(start=start, end=end)
    rows = np.arange(batch)
    prefixes = np.full((batch, 1), start)
    total, finished = np.zeros(batch), np.zeros(batch, bool)
    while prefixes.shape[1] <= max_length and not finished.all():
        log_p = _log_probabilities(step, prefixes, rows, end)
        best = np.where(finished, end, log_p.argmax(axis=-1))
        total += np.where(finished, 0.0, log_p[rows, best])
        finished |= best == end
        prefixes = np.concatenate([prefixes, best[:, None]], axis=1)
    sequences = [tuple(ids[: ids.index(end)] if end in ids else ids) for ids in prefixes[:, 1:].tolist()]
    return [Hypothesis(*found) for found in zip(sequences, total.tolist(), finished.tolist())]


def beam_search(
    step: Step, *, batch: int, start: int, end: int, max_length: int, beam: int = 4, alpha: float = 0.6
) -> list[list[Hypothesis]]:
    """Search for the best sequences by following the ``beam`` most probable prefixes of each input.

    Each step continues every prefix with every id and keeps the ``beam`` most probable results. Results that end with ``end``
    are finished; the others are continued. The search for an input stops when no prefix is left, or when even a continuation
    of probability 1 could not beat the score of the best finished hypothesis. With ``beam=1`` this is :func:`greedy_decode`.
    With a beam as wide as the number of prefixes, every sequence is tried. Source: Sutskever, Vinyals and Le 2014,
    arXiv:1409.3215, section 3.2.

    Args:
        step, batch, start, end, max_length: as in :func:`greedy_decode`.
        beam: the number of prefixes to keep for each input.
        alpha: the strength of the length normalisation, see :meth:`Hypothesis.score`.

    Returns:
        For each input at most ``beam`` hypotheses: the finished ones by decreasing score, then those cut at ``max_length``.

    Raises:
        ArgumentError, ShapeError, OutOfRangeError: as in :func:`greedy_decode`; ArgumentError also if alpha is negative.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> p = np.array([[0.1, 0.5, 0.4], [0.4, 0.3, 0.3], [0.8, 0.1, 0.1]])  # p[last, next]
        >>> def step(prefixes, parents):
        ...     return np.log(p[prefixes[:, -1]])
        >>> found = nn.beam_search(step, batch=1, start=0, end=0, max_length=5, beam=2)[0]
        >>> [(each.ids, np.exp(each.log_probability).round(2).item()) for each in found]  # best first
        [((2,), 0.32), ((1,), 0.2)]
    """
    check_positive(batch=batch, max_length=max_length, beam=beam)
    check_callable(step=step)
    check_not_negative(start=start, end=end)
    check_interval(0, np.inf, alpha=alpha)
    longest = _length_penalty(max_length, alpha)
    alive: list[list[Hypothesis]] = [[Hypothesis()] for _ in range(batch)]
    done: list[list[Hypothesis]] = [[] for _ in range(batch)]
    parents = list(range(batch))
    for _ in range(max_length):
        prefixes = np.array([(start, *beginning.ids) for beginnings in alive for beginning in beginnings])
        log_p = _log_probabilities(step, prefixes, np.array(parents), end)
        parents, place = [], 0
        for row, beginnings in enumerate(alive):
            continued = _continued(beginnings, log_p[place : place + len(beginnings)], end, beam)
            done[row] += [each for _, each in continued if each.finished]
            going = [(place + index, each) for index, each in continued if not each.finished]
            place += len(beginnings)
            best = max((each.score(alpha) for each in done[row]), default=-np.inf)
            if going and going[0][1].log_probability / longest <= best:
                going = []  # no continuation can have a better score
            alive[row] = [each for _, each in going]
            parents += [parent for parent, _ in going]
        if not parents:
            break
    found = [finished + beginnings for finished, beginnings in zip(done, alive)]
    return [sorted(each, key=lambda h: (not h.finished, -h.score(alpha)))[:beam] for each in found]


def _continued(beginnings: list[Hypothesis], log_p: Array, end: int, beam: int) -> list[tuple[int, Hypothesis]]:
    """Return the ``beam`` most probable continuations by one id, best first, each with the index of its prefix."""
    total = (
        np.array([beginning.log_probability for beginning in beginnings])[:, None] + log_p
    )  # (beginnings, vocabulary)
    best = np.argsort(-total, axis=None, kind="stable")[:beam]
    continued = []
    for index, token in zip(*(indices.tolist() for indices in np.unravel_index(best, total.shape))):
        log_probability = float(total[index, token])
        if log_probability == -np.inf:  # the step function forbids the remaining ids
            break
        ids = beginnings[index].ids
        continued.append((index, Hypothesis(ids if token == end else (*ids, token), log_probability, token == end)))
    return continued


def _log_probabilities(step: Step, prefixes: Array, parents: Array, end: int) -> Array:
    """Return the scores of ``step``, normalised to log-probabilities, on the host and in double precision."""
    with no_grad():
        scores = step(prefixes, parents)
    scores = np.asarray(to_host(scores.data if isinstance(scores, Tensor) else scores), np.float64)
    if scores.ndim != 2 or len(scores) != len(prefixes) or not 0 <= end < scores.shape[1]:
        raise ShapeError(
            f"the step function must return scores of shape ({len(prefixes)}, vocabulary), with end={end} in the vocabulary, "
            f"got {scores.shape}"
        )
    if np.isnan(scores).any() or (scores.max(axis=-1) == -np.inf).any():
        raise OutOfRangeError("the step function returned NaN, or -inf for every id, as scores of the next id")
    return log_softmax(scores)


def _length_penalty(length: int, alpha: float) -> float:
    return float(((5 + length) / 6) ** alpha)
