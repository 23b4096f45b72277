"""Peers take turns, and a ratio is taken inside a round.

The peers run in processes of their own that stay up; each round gives every one of them one burst, in shuffled order, so
that whatever else the machine does meets them all. The median of the rounds' ratios is quoted with its quartiles. PyTorch
runs twice: its ratio to itself tells how far the numbers can be trusted.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

REFERENCE, AGAIN = "torch", "torch again"
OPTIONAL = ("jax", "autograd", "mygrad", "dezero")  # where they have the work
WRITTEN = "written"  # the program that minigrad writes, where there is one
FLOOR = "floor"  # the NumPy calls that a work cannot do without, where they are known (benchmarks/floors)
BEFORE = " before"  # after a peer's name: with the minigrad of another checkout
ENOUGH_ROUNDS, TOLERANCE = 15, 0.05
FEWEST_ROUNDS = 5  # where time is short


@dataclass(frozen=True)
class Task:
    """What a worker is to do.

    Attributes:
        steps: how many losses it reports.
        gradients: the file for those of the first step; none if empty.
        checkout: the folder that minigrad is imported from; if empty, as everywhere.
        clock: "wall", or "cpu" for the processor time of the process: of one thread, it hardly depends on other programs.
    """

    peer: str
    work: str
    steps: int = 20
    gradients: str = ""
    device: str = "cpu"
    tf32: bool = False
    checkout: str = ""
    clock: str = "wall"


class Peer(Protocol):
    """A worker: what it said of its first steps, and of each burst."""

    about: dict[str, Any]
    bursts: list[dict[str, float]]

    def burst(self, seconds: float) -> None: ...
    def close(self) -> None: ...


class Process:
    """A peer in a process of its own."""

    def __init__(self, task: Task) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", json.dumps(asdict(task))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.bursts: list[dict[str, float]] = []
        self.about = self._read()

    def burst(self, seconds: float) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: reading says so
            print(seconds, file=self.process.stdin, flush=True)
        report = self._read()
        if "error" in report:
            self.about = report
        else:
            self.bursts.append(report)

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            return {"error": f"its process ended with status {self.process.wait()}"}
        report: dict[str, Any] = json.loads(line)
        return report

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@dataclass
class Row:
    """One peer at one work.

    Attributes:
        ratio: of its time to PyTorch's, the median over the rounds; ``quartiles`` of the same.
        megabytes: the most memory it held, above an interpreter with NumPy.
        loss_difference: the largest relative difference from PyTorch's losses.
        gradient_difference: the length of the difference from PyTorch's gradients of the first step, over their length.
        doubt: why the ratio is not to be trusted; empty if it is.
        error: why there are no numbers at all.
    """

    work: str
    peer: str
    ms: float = 0.0
    ratio: float = 0.0
    quartiles: tuple[float, float] = (0.0, 0.0)
    rounds: int = 0
    megabytes: float = 0.0
    bytes_per_node: float | None = None
    loss_difference: float | None = None
    gradient_difference: float | None = None
    doubt: str = ""
    error: str = ""
    device: str = ""
    machine: str = field(default="", repr=False)


def measure(
    work: str,
    peers: Sequence[str],
    *,
    rounds: int = ENOUGH_ROUNDS,
    seconds: float = 0.25,
    device: str = "cpu",
    tf32: bool = False,
    steps: int = 0,
    check: Callable[[str, dict[str, Peer], Path], None] | None = None,
    start: Callable[[Task], Peer] = Process,
    quiet: Callable[[], None] | None = None,
    before: str = "",
    bursts: dict[str, list[dict[str, float]]] | None = None,
    clock: str = "wall",
    limit: float = math.inf,
) -> list[Row]:
    """One row a peer for this work; ``peers`` begins with PyTorch, the measure of the others.

    Args:
        before: the folder of the checkout of those peers that are called "... before".
        bursts: those of each peer in an earlier measurement, whose rounds count, too; these are added.
        steps: whose losses are reported; by default 20, and 5 where they take long.
        check: looks at the first steps, and at the folder with what they computed, before anything is timed: what it says in
            a peer's ``about["error"]`` keeps that peer out.
        clock: see :class:`Task`; processor time is measured without waiting for a quiet machine.
        limit: seconds, after which no round begins, if there were enough for quartiles.

    Raises:
        SystemExit: PyTorch cannot do it.
    """
    bursts, end = {} if bursts is None else bursts, time.monotonic() + limit
    steps = steps or (5 if work.startswith(("small", "gpt", "toy_512")) else 20)
    with tempfile.TemporaryDirectory() as folder:
        running: dict[str, Peer] = {}
        try:
            for name in peers:
                file = str(Path(folder) / f"{name}.npz")
                checkout = before if name.endswith(BEFORE) else ""
                running[name] = start(Task(name.partition(" ")[0], work, steps, file, device, tf32, checkout, clock))
                running[name].bursts = bursts.setdefault(name, [])
                if name == REFERENCE and "error" in running[name].about:
                    raise SystemExit(f"{work}: PyTorch cannot be measured: {running[name].about['error']}")
            if check is not None:
                check(work, running, Path(folder))
            pause = quiet or (wait_until_quiet if clock == "wall" else lambda: None)
            take_turns(work, running, rounds, seconds, pause, end)
            if "error" in running[REFERENCE].about:
                raise SystemExit(f"{work}: PyTorch ended in the middle: {running[REFERENCE].about['error']}")
            return rows_of(work, running, Path(folder))
        finally:
            for peer in running.values():
                peer.close()


def take_turns(
    work: str,
    peers: dict[str, Peer],
    rounds: int,
    seconds: float,
    quiet: Callable[[], None] = lambda: None,
    end: float = math.inf,
) -> None:
    """Give each peer that can run a burst in every round, until the clock shows ``end``."""
    for i in range(rounds):
        if i >= FEWEST_ROUNDS and time.monotonic() > end:
            break
        for name in random.Random(i).sample(list(peers), len(peers)):
            if "error" not in peers[name].about:
                quiet()
                peers[name].burst(seconds)
        print(f"{work}: round {i + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def rows_of(work: str, peers: dict[str, Peer], folder: Path | None = None) -> list[Row]:
    """What the rounds came to."""
    rows = [row_of(work, name, peer, peers[REFERENCE], folder) for name, peer in peers.items()]
    doubt = doubt_of(rows)
    for row in rows:
        row.doubt = doubt
    return rows


def row_of(work: str, name: str, peer: Peer, reference: Peer, folder: Path | None) -> Row:
    about, known = peer.about, reference.about
    if "error" in about:
        return Row(work, name, error=about["error"])
    if len(peer.bursts) != len(reference.bursts):
        return Row(work, name, error="it failed in an earlier measurement")
    ratios = [own["ms"] / other["ms"] for own, other in zip(peer.bursts, reference.bursts)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Row(
        work,
        name,
        ms=statistics.median(burst["ms"] for burst in peer.bursts),
        ratio=middle,
        quartiles=(low, high),
        rounds=len(ratios),
        megabytes=peer.bursts[-1]["peak"] - about["bare"],
        bytes_per_node=about.get("bytes_per_node"),
        loss_difference=max(abs(a - b) / abs(b) for a, b in zip(about["losses"], known["losses"])),
        gradient_difference=distance(folder / f"{name}.npz", folder / f"{REFERENCE}.npz") if folder else None,
        device=about.get("device", ""),
    )


def distance(file: Path, reference: Path) -> float | None:
    """Of the gradients in one file from those in the other: the length of the difference over the length."""
    if not file.exists() or not reference.exists():
        return None
    with np.load(file) as own, np.load(reference) as other:
        if not other.files or own.files == []:
            return None
        if set(own.files) != set(other.files):
            return float("inf")
        apart = sum(float(np.sum((own[n].astype(np.float64) - other[n]) ** 2)) for n in other.files)
        length = sum(float(np.sum(other[n].astype(np.float64) ** 2)) for n in other.files)
    return float((apart / length) ** 0.5)


def doubt_of(rows: Sequence[Row]) -> str:
    """Why the ratios of a work are not to be trusted; empty if they are."""
    again = [row for row in rows if row.peer == AGAIN and not row.error]
    if not again:
        return "PyTorch was not compared with itself"
    if again[0].rounds < ENOUGH_ROUNDS:
        return f"only {again[0].rounds} rounds"
    if abs(again[0].ratio - 1) > TOLERANCE:
        return f"PyTorch to itself: {again[0].ratio:.2f}"
    return ""


def wait_until_quiet(limit: float = 1.0) -> None:
    """Wait until other processes use almost none of the cores, but not for ever. Linux only.

    Threads of the peer before, which wait for work by spinning, are gone then, too.
    """
    end = time.monotonic() + limit
    while Path("/proc/stat").exists() and time.monotonic() < end:
        before = _busy_and_all()
        time.sleep(0.05)
        busy, all_ = (b - a for a, b in zip(before, _busy_and_all()))
        if busy <= 0.06 * max(all_, 1) + 1:
            return


def _busy_and_all() -> tuple[int, int]:
    """Ticks of the clock that the cores were busy, and that there were."""
    with open("/proc/stat") as file:
        ticks = [int(n) for n in file.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
