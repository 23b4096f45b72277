"""Ranks: the processes of an MPI job that train one model, each on its share of every batch."""

from __future__ import annotations

import json
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from minigrad import ArgumentError, Tensor, UnsupportedError
from minigrad.internal import import_extra, is_device_array

from ..data import Batches, EpochBatches
from ..dropout import Dropout
from ..module import Module
from ..optimizer import Optimizer
from .buckets import Buckets
from .one_process import OneProcess
from .watchdog import Watchdog, abort_on_error

T = TypeVar("T")


class Ranks(OneProcess):
    """The processes of the MPI job that this script runs in, or this process alone if there is no job.

    Pass it to ``nn.fit(..., parallel=nn.parallel.Ranks())``, or use it in a loop of your own::

        ranks = nn.parallel.Ranks()
        ranks.broadcast(model)
        for epoch in range(epochs):
            for batch, count in ranks.share(batches, epoch):
                optimizer.zero_grad()
                loss(model, batch).backward()
                ranks.average(optimizer, count)
                optimizer.step()

    Start the processes with ``minigrad launch -n 2 train.py``, ``mpiexec -n 2 python -m mpi4py train.py``, or Slurm.

    The attribute ``rank`` is the number of this process, from 0, and ``size`` is the number of processes.

    Args:
        comm: a communicator of mpi4py; by default ``MPI.COMM_WORLD``.
        timeout: in seconds. A process that waits longer for the others, or takes longer for a step of ``fit``, prints a message
            and ends the job.
        bucket_bytes: the approximate size of one message with gradients, in bytes.
        quiet: whether to discard the standard output of all ranks except the first. Errors are always shown.

    Raises:
        ArgumentError: timeout or bucket_bytes is not positive.
        MissingExtraError: mpi4py is not installed.
    """

    def __init__(
        self, comm: Any = None, *, timeout: float = 60.0, bucket_bytes: int = 1 << 20, quiet: bool = True
    ) -> None:
        if not timeout > 0 or not bucket_bytes > 0:
            raise ArgumentError(f"timeout and bucket_bytes must be positive, got {timeout=} and {bucket_bytes=}")
        self._mpi = import_extra("mpi4py.MPI", "mpi", "training on several processes")
        self._comm = (self._mpi.COMM_WORLD if comm is None else comm).Dup()
        self.rank, self.size, self.bucket_bytes = self._comm.rank, self._comm.size, bucket_bytes
        self._buckets: weakref.WeakKeyDictionary[Optimizer, Buckets] = weakref.WeakKeyDictionary()
        self._watchdog = Watchdog(self._comm, timeout) if self.size > 1 else None
        if self.size > 1:
            abort_on_error(self._comm)
        if quiet and self.rank:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    def __repr__(self) -> str:
        return f"Ranks(rank {self.rank} of {self.size})"

    def broadcast(self, *things: Module | np.random.Generator) -> None:
        """Give modules and random generators (``np.random.Generator``) the state that they have in rank 0.

        Dropout continues from the step of rank 0, with different masks in each rank.

        Raises:
            ArgumentError: the parameters of two ranks differ in their paths, shapes or dtypes, or in which are frozen.
            UnsupportedError: a module is on a device.
        """
        for thing in things if self.size > 1 else ():
            if isinstance(thing, Module):
                self._broadcast_module(thing)
            elif isinstance(thing, np.random.Generator):
                thing.bit_generator.state = self.of_first(partial(getattr, thing.bit_generator, "state"))
            else:
                raise ArgumentError(f"broadcast takes modules and random generators, got {type(thing).__name__}")

    def _broadcast_module(self, model: Module) -> None:
        self._agree_on(f"the {type(model).__name__}", dict(model.named_parameters()))
        state = [*model.parameters(), *model.buffers()]
        for p, array in zip(state, self.of_first(lambda: [own.data for own in state])):
            p.data[...] = array
        dropouts = [module for module in model.modules() if isinstance(module, Dropout)]
        for module, (key, step) in zip(dropouts, self.of_first(lambda: [(own.key, own.step) for own in dropouts])):
            module.step = step
            module.key = int(np.random.default_rng([key, self.rank]).integers(2**63)) if self.rank else key

    def _agree_on(self, what: str, parameters: dict[str, Any]) -> None:
        if any(is_device_array(p.data) for p in parameters.values()):
            raise UnsupportedError(f"{what} is on a device, and Ranks averages on the host: use model.to('cpu')")
        forms = {name: f"{p.dtype} {p.shape}{' frozen' * (not p.requires_grad)}" for name, p in parameters.items()}
        self.agree(what, forms, "make the same model in each rank, and freeze the same parameters")

    def agree(self, what: str, value: dict[str, Any], way_out: str) -> None:
        """Raise an ArgumentError in every rank if the JSON of ``value`` in any rank differs from that in rank 0."""
        with self._waiting(f"to compare {what}"):
            values = [json.loads(text) for text in self._comm.allgather(json.dumps(value, default=repr))]
        for rank, other in enumerate(values):
            names = [name for name in values[0] | other if repr(values[0].get(name)) != repr(other.get(name))][:3]
            if names:
                first, second = ({name: given.get(name) for name in names} for given in (values[0], other))
                raise ArgumentError(f"{what} is {first} in rank 0 and {second} in rank {rank}: {way_out}")

    def of_first(self, function: Callable[[], T]) -> T:
        """Return the result of ``function()`` in rank 0, which alone runs it and sends the result by pickle."""
        given: Any = None if self.rank else function()
        with self._waiting("to receive data of rank 0"):
            return self._comm.bcast(given)

    def share(self, batches: EpochBatches, epoch: int) -> Iterator[tuple[Any, int]]:
        """Yield this rank's part of each batch of ``Batches.epoch(epoch)``, and the number of its examples.

        The parts of all ranks together are the batch. Every rank takes part in every step: if a batch has fewer examples than
        there are ranks, the remaining ranks get the batch's first example with count 0.

        Raises:
            ArgumentError: batches is not an :class:`nn.Batches`.
        """
        if not isinstance(batches, Batches):
            raise ArgumentError(
                f"Ranks needs nn.Batches, with collate= for data that is not arrays, got {type(batches).__name__}"
            )
        for indices in batches.indices(epoch):
            own = indices[self.rank :: self.size]
            yield batches.batch(own if len(own) else indices[:1], epoch), len(own)

    def overlapping(self, loss: Tensor, optimizer: Optimizer, count: int | None = None) -> AbstractContextManager[None]:
        """Send gradients to the other ranks while ``loss.backward()`` runs in the block.

        Use it as ``with ranks.overlapping(loss, optimizer, count): loss.backward()``. Call ``average(optimizer, count)`` next;
        only then does ``grad`` hold the means.

        Raises:
            GraphError: it was used before, without ``average`` since then.
        """
        if self.size == 1:
            return nullcontext()
        return self._buckets_of(optimizer).overlapping(loss, 1 if count is None else count)

    def average(self, optimizer: Optimizer, count: int | None = None) -> None:
        """Replace each gradient by its mean over all ranks, weighted by ``count``, the number of examples in a rank's loss.

        A missing gradient counts as 0 if another rank has one. A parameter without a gradient in any rank gets none.

        Raises:
            ArgumentError: ``count`` is 0 in every rank, or differs from the one passed to :meth:`overlapping`.
        """
        if self.size > 1:
            buckets = self._buckets_of(optimizer)
            with self._waiting("to average gradients"):
                buckets.average(1 if count is None else count)

    def _buckets_of(self, optimizer: Optimizer) -> Buckets:
        """Return the optimizer's buckets. They are made at the first call, and again when other parameters are trained."""
        trained = [p for p in optimizer.parameters if p.requires_grad]
        found = self._buckets.get(optimizer)
        if found is None or [*map(id, found.parameters)] != [*map(id, trained)]:
            self._agree_on("the set of trained parameters", {str(i): p for i, p in enumerate(trained)})
            found = self._buckets[optimizer] = Buckets(trained, self.bucket_bytes, self._comm, self._mpi.IN_PLACE)
        return found

    def total(self, value: ArrayLike) -> Any:
        """Return the sum of a number or an array over all ranks: ``ranks.total(correct) / ranks.total(count)``."""
        total = np.array(value)
        with self._waiting("to add numbers up"):
            self._comm.Allreduce(self._mpi.IN_PLACE, total)
        return total if total.ndim else total.item()

    def mean(self, value: float, count: int | None = None) -> float:
        """Return the mean of a number over all ranks, weighted by ``count``."""
        weight = 1 if count is None else count
        total, weights = self.total([float(value) * weight, float(weight)]).tolist()
        return float(total / weights)

    def watched(self) -> AbstractContextManager[None]:
        """End the job if the block takes longer than the timeout, before a waiting rank does (its limit is 2 s longer)."""
        return self._watchdog.limit("hangs: its step has taken {}") if self._watchdog else nullcontext()

    def _waiting(self, what: str) -> AbstractContextManager[None]:
        text = f"has waited {{}} for the others, {what}: one of them hangs or is late"
        return self._watchdog.limit(text, grace=2.0) if self._watchdog else nullcontext()
