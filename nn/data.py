"""Batches: examples in an order that depends on nothing but a seed and the number of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from minigrad import ArgumentError, ShapeError
from minigrad.internal import as_array

from ._checks import beside, check_positive

Array = np.ndarray[Any, Any]


class EpochBatches(Protocol):
    """What :func:`nn.fit` asks of its batches; :class:`Batches` is one.

    With a ``to_dict()`` too, which gives what they depend on as JSON, a resumption with other batches is refused in words.
    Without one it is refused by the content of the first batch.
    """

    def __len__(self) -> int:
        """The number of batches in an epoch."""

    def epoch(self, n: int) -> Iterator[Any]:
        """The batches of epoch n: the same ones whenever it is called with this n."""


class Batches:
    """Examples in batches, each example once an epoch.

    The order in epoch n is a function of ``(seed, n)`` alone. So a run that is resumed sees the batches it would have seen,
    nothing is drawn from a generator that somebody else uses, and nothing has to be saved.

    Args:
        arrays: what has one row an example: arrays (on the host or on a device), columns and frames of pandas, all of one
            length. A batch is a tuple of the chosen rows of each. With ``collate``, any sequences of one length, or only the
            number of examples.
        batch_size: examples in a batch; the last batch of an epoch may be smaller.
        seed: of the order, >= 0.
        shuffle: without it every epoch has the examples in their own order.
        drop_last: leave a smaller last batch out (those examples take part in another epoch, as the order changes).
        collate: makes the batch from the indices of its examples (integers, (batch,)), for data that is no array: lists of
            different lengths to be padded, files to be read.
        lengths: one number an example, for instance its count of tokens. Examples of about one length then go together, so
            that little is padded; the order of the batches, and of the examples of one length, is shuffled.

    Raises:
        ArgumentError: there are no examples, or no batch is full and ``drop_last`` leaves none; a setting is out of its range.
        ShapeError: the arrays have different lengths.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> batches = nn.Batches([np.arange(5), np.arange(5) ** 2], 2, seed=0, shuffle=False)
        >>> for numbers, squares in batches.epoch(0):
        ...     print(numbers, squares)
        [0 1] [0 1]
        [2 3] [4 9]
        [4] [16]
    """

    def __init__(
        self,
        arrays: Sequence[Any] | int,
        batch_size: int,
        *,
        seed: int,
        shuffle: bool = True,
        drop_last: bool = False,
        collate: Callable[[Array], Any] | None = None,
        lengths: Sequence[int] | Array | None = None,
    ) -> None:
        check_positive(batch_size=batch_size)
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
            raise ArgumentError(f"seed must be an integer >= 0, got {seed!r}")
        self.count = _count(arrays, collate)
        self.arrays = arrays if collate is not None else _without_labels(arrays)
        self.batch_size, self.seed, self.shuffle, self.drop_last = int(batch_size), int(seed), shuffle, drop_last
        self.collate = collate
        self.lengths = None if lengths is None else np.asarray(lengths)
        if self.lengths is not None and self.lengths.shape != (self.count,):
            raise ShapeError(f"lengths must be one number an example, shape ({self.count},), got {self.lengths.shape}")
        if not len(self):
            raise ArgumentError(
                f"drop_last leaves no batch: {self.count} examples do not fill one of batch_size={batch_size}"
            )

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return self.count // self.batch_size if self.drop_last else -(-self.count // self.batch_size)

    def __repr__(self) -> str:
        options = "".join(f", {name}" for name in ("drop_last", "collate") if getattr(self, name))
        order = "by length, " * (self.lengths is not None) + ("shuffled" if self.shuffle else "in order")
        sizes = f"{self.count:,} examples in {len(self):,} batches of {self.batch_size}"
        return f"Batches({sizes}, {order}, seed={self.seed}{options})"

    def epoch(self, n: int) -> Iterator[Any]:
        """The batches of epoch n, n = 0, 1, ..."""
        for indices in self.indices(n):
            yield self.batch(indices)

    def indices(self, n: int) -> list[Array]:
        """Which examples are in each batch of epoch n."""
        rng = np.random.default_rng([self.seed, n])
        order = rng.permutation(self.count) if self.shuffle else np.arange(self.count)
        if self.lengths is not None:
            order = order[np.argsort(self.lengths[order], kind="stable")]
        starts = np.arange(len(self)) * self.batch_size
        if self.lengths is not None and self.shuffle:
            rng.shuffle(starts)
        return [order[start : start + self.batch_size] for start in starts]

    def batch(self, indices: Array) -> Any:
        """The batch of these examples."""
        if self.collate is not None:
            return self.collate(indices)
        assert not isinstance(self.arrays, int)
        return tuple(array[beside(indices, array)] for array in self.arrays)

    def to_dict(self) -> dict[str, Any]:
        """What the order depends on."""
        return {
            "examples": self.count,
            "batch_size": self.batch_size,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
            "by_length": self.lengths is not None,
        }


def _count(arrays: Any, collate: Any) -> int:
    """How many examples there are."""
    if isinstance(arrays, int):
        if collate is None:
            raise ArgumentError(
                f"a number of examples needs collate, which makes the batches: got arrays={arrays} alone"
            )
        lengths = [arrays]
    elif isinstance(arrays, (list, tuple)) and arrays and all(map(_has_rows, arrays)):
        lengths = [len(array) for array in arrays]
        plain = [i for i, array in enumerate(arrays) if isinstance(array, (list, tuple))]
        if plain and collate is None:
            raise ArgumentError(
                f"arrays has a list at place {plain[0]}: pass np.array(...), or collate, which makes the batches"
            )
    else:
        raise ArgumentError(
            f"arrays must be a list of arrays, Batches([inputs, labels], ...), got {type(arrays).__name__}"
        )
    if len(set(lengths)) > 1:
        raise ShapeError(f"arrays must have as many rows as each other, one an example, got {lengths}")
    if lengths[0] < 1:
        raise ArgumentError("there are no examples: every array is empty")
    return lengths[0]


def _without_labels(arrays: Any) -> Any:
    """Columns and frames (pandas, polars), which are indexed by label, as their arrays of numbers."""
    return [as_array(array) if hasattr(array, "to_numpy") else array for array in arrays]


def _has_rows(array: Any) -> bool:
    return hasattr(array, "__len__") and getattr(array, "shape", None) != ()
