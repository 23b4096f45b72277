"""Average gradients over processes in a few flat buffers, so that few messages are sent, the first during the backward."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad import ArgumentError, GraphError, Tensor
from minigrad.internal import Entry, Leaf, Plan, array_of, hooks_of, node_of, registry, wengert_list

_TAKEN = Plan(registry[np.positive], [True])  # +x; its gradient goes into a bucket and is not propagated
_TAKEN.pull = _TAKEN.pull_tensors = lambda entry, g: (None,)


class Bucket:
    """A group of parameters of one dtype, and the flat buffer for the reduction of their gradients.

    The buffer holds the gradients times the number of examples, then a flag for each parameter that has a gradient, then the
    number of examples. The reduction adds the buffers of all processes. The sums of gradients are then divided by the sum of
    the numbers of examples. A parameter without a gradient in any process gets none.
    """

    def __init__(self, members: Sequence[Tensor]) -> None:
        self.members = members
        ends = np.cumsum([p.size for p in members]).tolist()
        dtype = np.result_type(members[0].dtype, np.float32)  # MPI has no half precision
        self.buffer = np.zeros(ends[-1] + len(members) + 1, dtype)
        self.parts = [self.buffer[end - p.size : end].reshape(p.shape) for p, end in zip(members, ends)]
        self.present = self.buffer[ends[-1] : -1]
        self.filled = [False] * len(members)
        self.request: Any = None  # the pending reduction

    def fill(self, i: int, count: int, arrived: Any = None) -> None:
        """Put the gradient of a parameter into the buffer: ``arrived``, if given, plus its ``grad``, if it has one."""
        arrays = [array_of(g) if isinstance(g, Tensor) else g for g in (arrived, self.members[i].grad)]
        found = [array for array in arrays if array is not None]
        self.filled[i], self.present[i], part = True, bool(found), self.parts[i]
        np.multiply(found[0] if len(found) == 1 else sum(found), count, out=part, dtype=part.dtype)

    def give_back(self) -> None:
        """Divide by the number of examples and set each parameter's gradient to the mean."""
        total = self.buffer[-1].real
        if not total > 0:
            raise ArgumentError("average() got count=0 from every rank: at least one must have examples")
        for p, part, present in zip(self.members, self.parts, self.present):
            if present and (p.grad is None or p.grad.requires_grad):
                p.grad = part / total
            elif present:
                np.divide(part, total, out=p.grad.data, casting="same_kind")


class Buckets:
    """The buckets of an optimizer's trained parameters, in reverse order, the usual order of their gradients."""

    def __init__(self, parameters: Sequence[Tensor], most_bytes: int, comm: Any, in_place: Any) -> None:
        self.parameters = parameters
        self._comm, self._in_place = comm, in_place
        self._count: int | None = None  # the count passed to overlapping(), until average()
        self._buckets = [Bucket(group) for group in _grouped(parameters[::-1], most_bytes)]
        self._places = {id(p): (bucket, i) for bucket in self._buckets for i, p in enumerate(bucket.members)}

    def _advance(self, count: int) -> None:
        """Start the reductions of full buckets, in the same order in all processes, and advance those started before."""
        for bucket in self._buckets:
            if bucket.request is not None:
                bucket.request.Test()  # MPI may make progress only inside its calls
            elif all(bucket.filled):
                bucket.buffer[-1] = count
                bucket.request = self._comm.Iallreduce(self._in_place, bucket.buffer)
            else:
                return

    @contextmanager
    def overlapping(self, loss: Tensor, count: int) -> Iterator[None]:
        """Start each reduction as soon as its last gradient is complete in the backward that runs in the block.

        The hooks of a leaf run at the end of the whole backward, but those of an entry run as soon as its gradient is complete.
        So an entry is inserted between each parameter and the entries that read it, just before the first of these, and
        removed afterwards. Parameters with hooks are reduced only by ``average``, because a hook may change the gradient.
        """
        if self._count is not None:
            raise GraphError(
                "overlapping() was used a second time before average(): use it for the last backward of a step only"
            )
        self._count = count
        ours = {leaf: p for p in self.parameters if (leaf := node_of(p)) is not None and leaf.hooks is None}
        between: dict[Leaf, Entry] = {}
        readers = []
        for entry in wengert_list([node_of(loss)]):
            for i, leaf in enumerate(entry.parents):
                if leaf in ours:
                    between.setdefault(leaf, self._between(leaf, ours[leaf], entry, count))
                    entry.parents[i] = between[leaf]
                    readers.append((entry, i, leaf))
        for leaf, p in ours.items():
            if leaf not in between:
                bucket, i = self._places[id(p)]
                bucket.fill(i, count)  # this backward computes no gradient for it
        try:
            yield
        finally:
            for entry, i, leaf in readers:
                entry.parents[i] = leaf

    def _between(self, leaf: Leaf, p: Tensor, reader: Entry, count: int) -> Entry:
        """Return an entry that puts the gradient of ``p`` into its bucket."""
        bucket, i = self._places[id(p)]
        entry = Entry(_TAKEN, [leaf], (), leaf)
        entry.seq = reader.seq - 0.5  # just before the reader in the order of recording

        def arrived(g: Any) -> Any:
            bucket.fill(i, count, g)
            self._advance(count)
            return g

        hooks_of(entry).add(0, arrived)
        return entry

    def average(self, count: int) -> None:
        """Start the remaining reductions, wait for all, and set each gradient to the mean."""
        if self._count not in (None, count):
            raise ArgumentError(f"average() got count={count} after overlapping() with count={self._count}")
        for bucket in self._buckets:
            for i, filled in enumerate(bucket.filled):
                if not filled:
                    bucket.fill(i, count)
        self._advance(count)
        for bucket in self._buckets:
            bucket.request.Wait()
        for bucket in self._buckets:
            bucket.give_back()
            bucket.filled, bucket.request = [False] * len(bucket.members), None
        self._count = None


def _grouped(parameters: Sequence[Tensor], most_bytes: int) -> Iterator[list[Tensor]]:
    """Yield groups of consecutive parameters of one dtype, each of at most ``most_bytes`` or a single parameter."""
    for _, same in itertools.groupby(parameters, lambda p: p.dtype):
        group: list[Tensor] = []
        for p in same:
            if group and sum(q.data.nbytes for q in group) + p.data.nbytes > most_bytes:
                yield group
                group = []
            group.append(p)
        yield group
