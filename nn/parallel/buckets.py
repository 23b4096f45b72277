"""Gradients on their way through a few flat buffers, so that few messages carry them, and early ones leave early."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.engine.hooks import Hooks
from minigrad.engine.plan import Plan
from minigrad.engine.registry import registry
from minigrad.engine.tape import NO_KEYWORDS, Entry, Leaf, wengert_list

Array = np.ndarray[Any, Any]
_PASSED_ON = Plan(registry[np.positive], [True])  # +x: the gradient goes on as it came


class Bucket:
    """Some parameters of one dtype, and the buffer their gradients travel in.

    Behind the gradients the buffer has a number for each parameter, whether it has a gradient, and the number of examples:
    the sums of these are what the gradients are divided by, and who has none is left alone.
    """

    def __init__(self, members: Sequence[Tensor]) -> None:
        self.members = members
        sizes = [p.size for p in members]
        dtype = np.result_type(members[0].dtype, np.float32)  # MPI has no half precision
        self.buffer = np.zeros(sum(sizes) + len(sizes) + 1, dtype)
        ends = np.cumsum(sizes).tolist()
        self.parts = [self.buffer[end - p.size : end].reshape(p.shape) for p, end in zip(members, ends)]
        self.present = self.buffer[ends[-1] : -1]
        self.begin()

    def begin(self) -> None:
        """A new step."""
        self.request: Any = None
        self.filled = [False] * len(self.members)
        self.started = self.finished = 0.0

    def fill(self, i: int, count: int, arrived: Array | None = None) -> None:
        """The gradient of a parameter, times the number of examples: what has just arrived and what was there."""
        self.filled[i] = True
        gradient, part = self.members[i]._grad, self.parts[i]
        self.present[i] = arrived is not None or gradient is not None
        if arrived is not None:
            np.multiply(arrived, count, out=part)
            if gradient is not None:
                part += gradient.data * part.dtype.type(count)
        elif gradient is not None:
            np.multiply(gradient.data, count, out=part)
        else:
            part[...] = 0

    def start(self, comm: Any, sum_in_place: Any, count: int) -> None:
        self.buffer[-1] = count
        self.started = perf_counter()
        self.request = comm.Iallreduce(sum_in_place, self.buffer)

    def poll(self) -> bool:
        """Whether the sum is there. Looking is also what moves it on: MPI works while it is called."""
        if self.request is not None and not self.finished and self.request.Test():
            self.finished = perf_counter()
        return bool(self.finished)

    def wait(self) -> None:
        if not self.finished:
            self.request.Wait()
            self.finished = perf_counter()

    def give_back(self) -> None:
        """The mean becomes each parameter's gradient."""
        total = self.buffer[-1].real
        if not total > 0:
            raise ArgumentError("average() got count=0 from every rank: at least one must have examples")
        for p, part, present in zip(self.members, self.parts, self.present):
            if not present:
                continue
            if p._grad is None or p._grad.requires_grad:
                p.grad = part / total
            else:
                np.divide(part, total, out=p._grad.data, casting="same_kind")


class Buckets:
    """All parameters of an optimizer that are trained, the last first, as their gradients tend to come in that order."""

    def __init__(self, parameters: Sequence[Tensor], most_bytes: int, comm: Any, sum_in_place: Any) -> None:
        self.key = tuple(map(id, parameters))
        self.comm, self.sum_in_place = comm, sum_in_place
        self.buckets = [Bucket(group) for group in _grouped(list(reversed(parameters)), most_bytes)]
        self.places = {id(p): (bucket, i) for bucket in self.buckets for i, p in enumerate(bucket.members)}
        self.next = 0  # of the buckets, the first that has not been started: everywhere in the same order
        self.count = 1
        self.swept = (0.0, 0.0)  # when the last backward began and ended

    def begin(self, count: int) -> None:
        self.count, self.next = count, 0
        for bucket in self.buckets:
            bucket.begin()

    def start_ready(self) -> None:
        """Start those that are full, and move on those that are under way."""
        for bucket in self.buckets[: self.next]:
            bucket.poll()
        for bucket in self.buckets[self.next :]:
            if not all(bucket.filled):
                return
            bucket.start(self.comm, self.sum_in_place, self.count)
            self.next += 1

    @contextmanager
    def overlapping(self, loss: Tensor, count: int) -> Iterator[None]:
        """Start each reduction of this step as its last gradient arrives in the backward of the block."""
        self.begin(count)
        changed = self._interposed(loss)
        arriving = {id(leaf.tensor) for _, _, leaf in changed}
        for bucket in self.buckets:
            for i, p in enumerate(bucket.members):
                if id(p) not in arriving and (p._node is None or p._node.hooks is None):
                    bucket.fill(i, count)  # no gradient is to come, or none any more
        started = perf_counter()
        try:
            yield
        finally:
            self.swept = started, perf_counter()
            for entry, i, leaf in changed:
                entry.parents[i] = leaf

    def _interposed(self, loss: Tensor) -> list[tuple[Entry, int, Leaf]]:
        """Put an entry between each parameter and those who read it, right before the first of them.

        A gradient arrives at a leaf when the whole sweep is over; at an entry as soon as it is complete. Whose leaf has
        hooks waits for them: its gradient is taken by ``average``.
        """
        ours = {p._node for bucket in self.buckets for p in bucket.members if p._node and p._node.hooks is None}
        between: dict[Leaf, Entry] = {}
        changed = []
        for entry in wengert_list([loss._node]):
            for i, leaf in enumerate(entry.parents):
                if leaf in ours:
                    if leaf not in between:
                        between[leaf] = self._entry(leaf, entry.seq)
                    entry.parents[i] = between[leaf]
                    changed.append((entry, i, leaf))
        return changed

    def _entry(self, leaf: Leaf, before: float) -> Entry:
        entry = Entry()
        entry.seq = before - 0.5  # type: ignore[assignment]
        entry.plan = _PASSED_ON
        entry.parents, entry.kept, entry.keywords, entry.notes = [leaf], (), NO_KEYWORDS, ()
        entry.shape, entry.dtype = leaf.shape, leaf.dtype
        entry.hooks = Hooks()
        bucket, place = self.places[id(leaf.tensor)]

        def arrived(g: Any) -> Any:
            bucket.fill(place, self.count, getattr(g, "_array", g))
            self.start_ready()
            return g

        entry.hooks.add(0, arrived)
        return entry

    def average(self, count: int) -> None:
        """Start what has not been started, wait for all, and hand the means back."""
        if not any(any(bucket.filled) for bucket in self.buckets):
            self.begin(count)
        for bucket in self.buckets:
            for i, filled in enumerate(bucket.filled):
                if not filled:
                    bucket.fill(i, count)
        self.start_ready()
        for bucket in self.buckets:
            bucket.wait()
        for bucket in self.buckets:
            bucket.give_back()
            bucket.filled = [False] * len(bucket.members)


def _grouped(parameters: Sequence[Tensor], most_bytes: int) -> Iterator[list[Tensor]]:
    """Neighbours of one dtype, in groups that hold about so many bytes."""
    for _, same in itertools.groupby(parameters, lambda p: p.dtype):
        group: list[Tensor] = []
        for p in same:
            if group and sum(q.data.nbytes for q in group) + p.data.nbytes > most_bytes:
                yield group
                group = []
            group.append(p)
        yield group
