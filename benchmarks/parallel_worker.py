"""One rank of one library: what the step of :mod:`benchmarks.parallel` costs with reductions, without, and beside them.

Each way of making a step is run in turn, so that all see the same machine:

    alone      forward, backward and update, and nothing is sent
    after      the gradients are averaged when the backward is over
    overlap    they are averaged while the backward runs
    messages   the reductions and nothing else
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.workload import BATCHES, sizes, weights_and_batches

Ways = dict[str, Callable[[int], None]]
Events = list[tuple[str, float, float]]


class Recorded:
    """A communicator that notes when each reduction was started and when it was seen to be over."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.events: Events = []
        self.bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Dup(self) -> Recorded:  # as mpi4py calls it
        return self

    def Iallreduce(self, in_place: Any, buffer: Any) -> Request:
        self.bytes += buffer.nbytes
        return Request(self.comm.Iallreduce(in_place, buffer), self.events)


class Request:
    def __init__(self, request: Any, events: Events) -> None:
        self.request, self.events, self.started, self.over = request, events, perf_counter(), False

    def Test(self) -> bool:
        return self._seen(self.request.Test())

    def Wait(self) -> bool:
        self.request.Wait()
        return self._seen(True)

    def _seen(self, over: bool) -> bool:
        if over and not self.over:
            self.over = True
            self.events.append(("reduction", self.started, perf_counter()))
        return over


def ours(work: str, bucket_bytes: int) -> tuple[Ways, Any, Callable[[int], Events]]:
    """minigrad on MPI: the ways, the communicator, and a step whose parts are timed."""
    from mpi4py import MPI

    import nn
    from benchmarks.peer_minigrad import model_of

    comm = Recorded(MPI.COMM_WORLD)
    ranks, model = nn.parallel.Ranks(comm, bucket_bytes=bucket_bytes, quiet=False), model_of(work)
    optimizer = nn.Adam(model.parameters(), lr=1e-3)
    tok, labels = shares(work, ranks.rank, ranks.size)
    ranks.broadcast(model)

    def step(i: int, average: bool, overlap: bool, events: Events | None = None) -> None:
        times = [perf_counter()]
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(tok[i % BATCHES]), labels[i % BATCHES])
        times.append(perf_counter())
        if overlap:
            with ranks.overlapping(loss, optimizer):
                loss.backward()
        else:
            loss.backward()
        times.append(perf_counter())
        if average:
            ranks.average(optimizer)
        times.append(perf_counter())
        optimizer.step()
        times.append(perf_counter())
        if events is not None:
            events += zip(("forward", "backward", "wait", "update"), times, times[1:])

    def timed(i: int) -> Events:
        comm.events.clear()
        events: Events = []
        step(i, True, True, events)
        return events + comm.events

    ways: Ways = {
        "alone": lambda i: step(i, False, False),
        "after": lambda i: step(i, True, False),
        "overlap": lambda i: step(i, True, True),
        "messages": lambda i: ranks.average(optimizer),
    }
    return ways, comm, timed


def theirs(work: str, bucket_bytes: int) -> tuple[Ways, Any, None]:
    """PyTorch's DistributedDataParallel on gloo, with buckets of the same size."""
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch.nn.parallel import DistributedDataParallel

    from benchmarks import peer_torch

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    s = sizes(work)
    arrays, _ = weights_and_batches(work)
    parameters = peer_torch.parameters(arrays, s)

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.P = torch.nn.ParameterDict({n: torch.nn.Parameter(p.detach()) for n, p in parameters.items()})

        def forward(self, tok: Any, labels: Any) -> Any:
            P = dict(self.P.items())
            x = peer_torch.layers(F.embedding(tok, P["E"]) + P["P"], P, s, is_causal=True)
            return F.cross_entropy(F.linear(x, P["E"]).flatten(0, 1), labels.flatten())

    bare = Net()
    net = DistributedDataParallel(bare, bucket_cap_mb=bucket_bytes / 2**20)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    tok, labels = (torch.tensor(array) for array in shares(work, dist.get_rank(), dist.get_world_size()))

    def average() -> None:
        gradients = [p.grad for p in bare.parameters()]
        flat = torch.cat([g.view(-1) for g in gradients])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        for g, part in zip(gradients, flat.split([g.numel() for g in gradients])):
            g.view(-1).copy_(part)

    def step(i: int, model: Any, between: Callable[[], None] | None) -> None:
        optimizer.zero_grad()
        model(tok[i % BATCHES], labels[i % BATCHES]).backward()
        if between is not None:
            between()
        optimizer.step()

    ways: Ways = {
        "alone": lambda i: step(i, bare, None),
        "after": lambda i: step(i, bare, average),
        "overlap": lambda i: step(i, net, None),
        "messages": lambda i: average(),
    }
    return ways, dist, None


def shares(work: str, rank: int, size: int) -> tuple[Any, Any]:
    """This rank's sequences of each batch."""
    _, batches = weights_and_batches(work)
    return tuple(np.ascontiguousarray(batches[name][:, rank::size]) for name in ("tok", "y"))  # type: ignore[return-value]


def link(comm: Any) -> dict[str, float]:
    """Seconds for a message of nothing, and bytes a second of large ones, from one rank to the other and back."""

    def there_and_back(count: int, times: int) -> float:
        buffer, seconds = np.zeros(count, np.uint8), []
        for _ in range(times):
            comm.Barrier()
            start = perf_counter()
            for mine in (True, False):
                (comm.Send if mine == (comm.rank == 0) else comm.Recv)(buffer, 1 - comm.rank)
            seconds.append((perf_counter() - start) / 2)
        return statistics.median(seconds)

    large = 1 << 22
    return {"latency": there_and_back(0, 200), "bandwidth": large / there_and_back(large, 30)}


def main() -> None:
    library, work, bucket_bytes, steps, out = sys.argv[1:]
    ways, comm, timed = (ours if library == "minigrad" else theirs)(work, int(bucket_bytes))
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    barrier = comm.Barrier if library == "minigrad" else comm.barrier
    for i in range(-2, int(steps)):  # two to warm up
        for way, step in ways.items():
            barrier()
            start = perf_counter()
            step(i)
            if i >= 0:
                seconds[way].append(perf_counter() - start)
    found: dict[str, Any] = {"seconds": seconds}
    if timed is not None:
        found |= link(comm.comm)
        before = comm.bytes
        barrier()
        found["events"] = timed(0)
        found["bytes"] = comm.bytes - before
    rank = comm.rank if library == "minigrad" else comm.get_rank()
    with open(f"{out}.{rank}.json", "w", encoding="utf-8") as file:
        json.dump(found | {"threads": os.environ.get("OMP_NUM_THREADS")}, file)
    if library != "minigrad":
        comm.destroy_process_group()


if __name__ == "__main__":
    main()
