"""This checkout of minigrad beside another one: in alternating rounds of one run, and by the instructions it executes.

The other one runs twice: what it is to itself says what the machine does to a ratio. A work is slower if its median ratio is
more than 5 % over 1 and above that spread (the quartiles). Where ``perf stat`` can count or valgrind is installed, two works
are compared by instructions as well, which no other process changes (only where objects lie in memory does, by up to 5 %:
repeat a count that is over): there 3 % is slower. Counted is how many more a process of more steps executes, so that starting
up is left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import imports, micro, report
from benchmarks.calls import CALLS
from benchmarks.harness import TOLERANCE, Peer, Process, Task, row_of, take_turns, wait_until_quiet

OWN = Path(__file__).parents[1]
OTHER, AGAIN, THIS = "the other", "the other again", "this"
IMPORT = "import minigrad"
SINGLE = (*CALLS, IMPORT)  # works of minigrad alone
WORKS = ("tiny", "toy", "small", *micro.WORKS, *SINGLE)
COUNTED = ("multiply", "m3")
TOLERANCE_COUNTED = 0.03
STEPS = (1, 4)  # of the two processes whose instructions are counted
TOOLS = {
    ("perf", "stat", "-x,", "-e", "instructions:u"): r"^(\d+),[^,]*,instructions:u",
    ("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"): r"Collected : (\d+)",
}
NO_TOOL = "Instructions are not compared: neither `perf stat` nor valgrind counts them here."


@dataclass(frozen=True)
class Compared:
    """One work of both checkouts.

    Attributes:
        other: what the other checkout took, with the unit.
        ratio: of this checkout's time (or instructions) to the other one's, the median over the rounds; with ``quartiles``.
        spread: the quartiles of the same ratio where the other one was run again.
        error: why there are no numbers.
    """

    work: str
    other: str = ""
    ratio: float = 1.0
    quartiles: tuple[float, float] = (1.0, 1.0)
    spread: tuple[float, float] = (1.0, 1.0)
    tolerance: float = TOLERANCE
    error: str = ""

    @property
    def slower(self) -> bool:
        low, high = self.spread
        outside = self.ratio > high and self.ratio * low > 1  # which of the two runs was the first is chance
        return outside and self.ratio > 1 + self.tolerance


class Importing:
    """A peer whose bursts import minigrad from a checkout, in a fresh process where NumPy has just been imported."""

    def __init__(self, checkout: str) -> None:
        self.checkout = checkout
        self.cache = tempfile.TemporaryDirectory()
        self.about: dict[str, Any] = {"losses": [1.0], "bare": 0.0}
        self.bursts: list[dict[str, float]] = []
        self._seconds()  # this one compiles

    def _seconds(self) -> float:
        (_, seconds), _ = imports.import_once("numpy minigrad", self.cache.name, self.checkout)
        return seconds

    def burst(self, seconds: float) -> None:
        end, taken = time.monotonic() + seconds, [self._seconds()]
        while time.monotonic() < end:
            taken.append(self._seconds())
        self.bursts.append({"ms": 1e3 * median(taken), "peak": 0.0})

    def close(self) -> None:
        self.cache.cleanup()


def start(task: Task) -> Peer:
    return Importing(task.checkout) if task.work == IMPORT else Process(task)


def compare(
    work: str,
    other: Path,
    *,
    rounds: int,
    seconds: float,
    start: Callable[[Task], Peer] = start,
    quiet: Callable[[], None] = wait_until_quiet,
    clock: str = "wall",
) -> Compared:
    """Time one work of both."""
    peers: dict[str, Peer] = {}
    try:
        for name, checkout in ((OTHER, other), (AGAIN, other), (THIS, OWN)):
            peers[name] = start(Task("minigrad", work, 3, checkout=str(checkout), clock=clock))
        if not failures(peers):
            take_turns(work, peers, rounds, seconds, quiet if clock == "wall" else lambda: None)
        if error := failures(peers):
            return Compared(work, error=error)
        rows = {name: row_of(work, name, peer, peers[OTHER], None) for name, peer in peers.items()}
        this = rows[THIS]
        return Compared(work, f"{rows[OTHER].ms:.3g} ms", this.ratio, this.quartiles, rows[AGAIN].quartiles)
    finally:
        for peer in peers.values():
            peer.close()


def failures(peers: dict[str, Peer]) -> str:
    return "; ".join(f"{name}: {peer.about['error']}" for name, peer in peers.items() if "error" in peer.about)


# --- By instructions ---


def count(command: Sequence[str], tool: Sequence[str]) -> tuple[int, str]:
    """The instructions that a command executes, and what it prints.

    Raises:
        OSError: there is no such tool, or it counts nothing here.
    """
    settings = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*tool, *command], env=os.environ | settings, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    found = re.search(TOOLS[tuple(tool)], done.stderr, re.MULTILINE)
    if found is None:
        raise OSError(f"{tool[0]} counts nothing: {done.stderr[-300:]}")
    return int(found[1]), done.stdout


def counting_tool() -> Sequence[str] | None:
    """The first that counts here."""
    for tool in TOOLS:
        with suppress(OSError):
            count([sys.executable, "-c", ""], tool)
            return tool
    return None


def compare_counted(work: str, other: Path, count: Callable[[Sequence[str]], tuple[int, str]]) -> Compared:
    """By what ``count`` gives for a command: the instructions, and the report that a worker prints."""
    taken = []
    for checkout in (other, OWN):
        totals = []
        for steps in STEPS:
            task = Task("minigrad", work, steps, checkout=str(checkout))
            total, printed = count([sys.executable, "-m", "benchmarks.worker", json.dumps(asdict(task))])
            worker = json.loads(printed or '{"error": "its process ended"}')
            if "error" in worker:
                return Compared(work, error=f"{checkout}: {worker['error']}")
            totals.append(total)
        taken.append((totals[1] - totals[0]) / (STEPS[1] - STEPS[0]))
    ratio = taken[1] / taken[0]
    return Compared(
        work, f"{taken[0] / 1e6:.4g} million instructions", ratio, (ratio, ratio), tolerance=TOLERANCE_COUNTED
    )


# --- All of it ---


def measure(works: Sequence[str], other: Path, *, rounds: int, seconds: float, clock: str = "wall") -> list[Compared]:
    found, tool = [], counting_tool()
    if tool is None:
        print(NO_TOOL, file=sys.stderr)
    else:
        found = [compare_counted(work, other, partial(count, tool=tool)) for work in works if work in COUNTED]
    return found + [compare(work, other, rounds=rounds, seconds=seconds, clock=clock) for work in works]


def table(found: Sequence[Compared]) -> str:
    return report.grid(
        ["work", "the other checkout", "this one, as a ratio (quartiles)", "the other one to itself", ""],
        [_cells(one) for one in found],
    )


def _cells(one: Compared) -> list[str]:
    if one.error:
        return [one.work, "-", "-", "-", one.error.replace("|", "/")]
    (low, high), spread = one.quartiles, "{:.2f}-{:.2f}".format(*one.spread)
    ratio = f"{one.ratio:.3f}" if low == high else f"{one.ratio:.2f} ({low:.2f}-{high:.2f})"
    return [one.work, one.other, ratio, spread, "SLOWER" if one.slower else ""]
