"""Batches: examples in an order that depends only on a seed and the number of the epoch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import as_array, digest, is_device_array, leaves, to_host

from ._checks import (
    beside,
    check_callable,
    check_kind,
    check_not_negative,
    check_positive,
    given,
    plain,
    plain_numbers,
    shown,
)

Array = np.ndarray[Any, Any]


class EpochBatches(Protocol):
    """The interface of batches for :func:`nn.fit`, which :class:`Batches` implements.

    An optional method ``to_dict()`` returns the settings of the batches as JSON data. :func:`nn.fit` compares them when it
    resumes a run, and its error names the settings that differ. In any case it compares the content of the first batch.
    """

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""

    def epoch(self, n: int) -> Iterator[Any]:
        """Return the batches of epoch n. Every call with the same n must return the same batches."""


class Batches:
    """Batches of examples, with each example once per epoch.

    The order in epoch n depends only on ``(seed, n)``. A resumed run therefore sees the same batches as an uninterrupted one,
    without any saved state, and no other generator is affected.

    Args:
        arrays: arrays with one row per example (on the host or on a device), or pandas columns and frames, all of one length.
            A batch is then a tuple with the chosen rows of each. With ``collate``, this may be any sequences of equal
            length, or only the number of examples.
        batch_size: the number of examples in a batch; the last batch of an epoch may be smaller.
        seed: the seed of the order, >= 0.
        shuffle: whether to shuffle; if False, every epoch has the examples in the order of the arrays.
        drop_last: whether to leave out a batch that would be smaller. With ``shuffle``, its examples are chosen at random in
            each epoch; otherwise they are the last of the arrays. ``lengths`` has no influence on the choice.
        collate: a function that makes the batch from the indices of its examples, (batch,) integers. Use it for data that is
            not in arrays, for example lists of different lengths to pad, or files to read. If it has an argument named
            ``epoch``, it also gets the number of the epoch, on which random changes of the data may depend.
        lengths: one number per example, for instance its number of tokens. Each batch then holds examples of similar length,
            which keeps padding small. With ``shuffle``, the order of the batches and of examples of equal length is random.

    Raises:
        ArgumentError: there are no examples, ``drop_last`` leaves no batch, or a setting is out of its range.
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
        collate: Callable[..., Any] | None = None,
        lengths: Sequence[int] | Array | None = None,
    ) -> None:
        check_positive(batch_size=batch_size)
        check_kind("True or False", shuffle=shuffle, drop_last=drop_last)
        check_callable(**given(collate=collate))
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
            raise ArgumentError(f"seed must be an integer >= 0, got {shown(seed)}")
        self.count = _count(arrays, collate)
        self.arrays = arrays if collate is not None else _without_labels(arrays)
        self.batch_size, self.seed, self.shuffle, self.drop_last = int(batch_size), int(seed), shuffle, drop_last
        self.collate = collate
        self.lengths = None if lengths is None else np.asarray(plain_numbers(lengths, "lengths"))
        if self.lengths is not None and self.lengths.shape != (self.count,):
            raise ShapeError(f"lengths must be one number per example, shape ({self.count},), got {self.lengths.shape}")
        if not len(self):
            raise ArgumentError(
                f"drop_last leaves no batch: {self.count} examples do not fill one of batch_size={batch_size}"
            )

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return self.count // self.batch_size if self.drop_last else -(-self.count // self.batch_size)

    def __repr__(self) -> str:
        options = "".join(f", {name}" for name in ("drop_last", "collate") if getattr(self, name))
        order = "by length, " * (self.lengths is not None) + ("shuffled" if self.shuffle else "in order")
        sizes = f"{self.count:,} examples in {len(self):,} batches of {self.batch_size}"
        return f"Batches({sizes}, {order}, seed={self.seed}{options})"

    def epoch(self, n: int) -> Iterator[Any]:
        """Yield the batches of epoch n, n = 0, 1, ..."""
        check_not_negative(n=n)
        for indices in self.indices(n):
            yield self.batch(indices, n)

    def indices(self, n: int) -> list[Array]:
        """Return the indices of the examples in each batch of epoch n."""
        check_not_negative(n=n)
        rng = np.random.default_rng([self.seed, n])
        order = rng.permutation(self.count) if self.shuffle else np.arange(self.count)
        if self.lengths is not None:
            order = order[: len(self) * self.batch_size]  # drop_last acts before the sort, or it would drop the longest
            order = order[np.argsort(self.lengths[order], kind="stable")]
        starts = np.arange(len(self)) * self.batch_size
        if self.lengths is not None and self.shuffle:
            rng.shuffle(starts)
        return [order[start : start + self.batch_size] for start in starts]

    def batch(self, indices: Array, epoch: int = 0) -> Any:
        """Return the batch of the examples with these indices, in this epoch."""
        check_not_negative(epoch=epoch)
        if plain(indices, "indices").dtype.kind not in "iub":
            raise DTypeError(f"indices must be integers, got {shown(indices)}")
        if self.collate is not None:
            return self.collate(indices, epoch=epoch) if _takes_epoch(self.collate) else self.collate(indices)
        assert not isinstance(self.arrays, int)
        return tuple(array[beside(indices, array)] for array in self.arrays)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that the order depends on."""
        return {
            "examples": self.count,
            "batch_size": self.batch_size,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
            "by_length": self.lengths is not None,
        }


def fingerprint(batch: Any) -> str:
    """Return a digest of the arrays in a batch. For an object that is neither an array nor plain data, only its type counts."""
    arrays = {}
    for number, leaf in enumerate(leaves(batch)):
        value = leaf.data if isinstance(leaf, Tensor) else leaf
        array = np.asarray(to_host(value) if is_device_array(value) else value)
        arrays[f"{number:06}"] = np.asarray(type(leaf).__name__) if array.dtype.hasobject else array
    return digest(arrays, "")


def _takes_epoch(collate: Any) -> bool:
    """Return whether ``collate`` has an argument that ``epoch=`` can pass, and that no functools.partial has set."""
    try:
        argument = inspect.signature(collate).parameters.get("epoch")
    except ValueError:  # a function of C without a signature, such as list
        return False
    passable = argument is not None and argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
    return passable and "epoch" not in getattr(collate, "keywords", {})


def _count(arrays: Any, collate: Any) -> int:
    """Return the number of examples."""
    if isinstance(arrays, int) and not isinstance(arrays, bool):
        if collate is None:
            raise ArgumentError(
                f"a number of examples needs collate, which makes the batches, got arrays={arrays} without it"
            )
        lengths = [arrays]
    elif isinstance(arrays, (list, tuple)) and arrays and all(map(_has_rows, arrays)):
        lengths = [len(array) for array in arrays]
        plain = [i for i, array in enumerate(arrays) if isinstance(array, (list, tuple))]
        if plain and collate is None:
            raise ArgumentError(
                f"arrays has a list at index {plain[0]}: pass np.array(...), or collate, which makes the batches"
            )
    else:
        raise ArgumentError(
            f"arrays must be a list of arrays, Batches([inputs, labels], ...), got {type(arrays).__name__}"
        )
    if len(set(lengths)) > 1:
        raise ShapeError(f"arrays must have equal numbers of rows, one row per example, got {lengths}")
    if lengths[0] < 1:
        raise ArgumentError("there are no examples: every array is empty")
    return lengths[0]


def _without_labels(arrays: Any) -> Any:
    """Convert columns and frames (pandas, polars), which are indexed by label, to arrays."""
    return [as_array(array) if hasattr(array, "to_numpy") else array for array in arrays]


def _has_rows(array: Any) -> bool:
    return hasattr(array, "__len__") and getattr(array, "shape", None) != ()
