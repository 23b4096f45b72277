"""Time every function in minigrad and in PyTorch, in processes that take turns.

A time is forward and backward of one call: the lowest of the rounds' lower quartiles. Where a library's two threads happen to
be on one core, each call of a burst takes several milliseconds, so a ratio out of the ordinary is measured in further rounds,
in all libraries. Before a function is timed, the value and the gradients of both libraries are compared.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.functions.inputs import SIZES
from benchmarks.functions.work import WORKS

DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 2e-5, "float64": 1e-9}  # of the sum of the absolute values
ROUNDS, MOST_ROUNDS = 2, 4
ORDINARY = 0.5, 1.3  # ratios between these are not measured again
TOO_SLOW = 1e6  # microseconds at the largest size; a library whose call would take longer is not asked for it
SECONDS = 0.006  # of one burst; at least three calls


@dataclass(frozen=True)
class Call:
    work: str
    dtype: str
    n: int
    transposed: bool
    seconds: float = SECONDS
    prints: bool = False
    floor: bool = False


@dataclass
class Figure:
    """What was measured of one call.

    Attributes:
        us: microseconds, by library.
        floor: of the NumPy calls that it cannot do without, where they are written down.
        fault: why a number is missing or not comparable.
    """

    call: Call
    us: dict[str, float] = field(default_factory=dict)
    floor: float | None = None
    fault: str = ""

    def ratio(self, library: str = "minigrad") -> float | None:
        """Return the time as a multiple of PyTorch's."""
        return self.us[library] / self.us["torch"] if {library, "torch"} <= self.us.keys() else None


class Library:
    """A library in a process of its own."""

    def __init__(self, name: str, checkout: str = "") -> None:
        command = [sys.executable, "-m", "benchmarks.functions.worker", name, *([checkout] if checkout else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def answer(self, call: Call) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(asdict(call)), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{call}: the process of a library ended")
        report: dict[str, Any] = json.loads(line)
        return report


def calls(works: Sequence[str], sizes: Sequence[int] = SIZES, dtypes: Sequence[str] = DTYPES) -> Iterator[Call]:
    for work in works:
        for n in sizes:
            for dtype in dtypes:
                for transposed in (False, True):
                    yield Call(work, dtype, n, transposed)


def measure(
    works: Sequence[str],
    before: str = "",
    sizes: Sequence[int] = SIZES,
    dtypes: Sequence[str] = DTYPES,
    rounds: int = ROUNDS,
) -> list[Figure]:
    """Time each function at each size, dtype and layout; ``before`` is the folder of another checkout."""
    with ExitStack() as stack:
        libraries = {"torch": Library("torch"), "minigrad": Library("minigrad")}
        if before:
            libraries["before"] = Library("minigrad", before)
        for library in libraries.values():
            stack.enter_context(library)
        figures, too_slow = [], set[tuple[str, str]]()
        for call in calls(works, sizes, dtypes):
            figures.append(figure(call, libraries, rounds, too_slow))
            print(f"{call.work}: {call.n} numbers, {call.dtype}".ljust(70), end="\r", file=sys.stderr, flush=True)
    return figures


def figure(call: Call, libraries: dict[str, Library], rounds: int, too_slow: set[tuple[str, str]]) -> Figure:
    """Time one call in each library, in ``rounds`` rounds or more, at the largest size in one. Skip, and note, what is slow."""
    found = Figure(call)
    sums: dict[str, Any] = {}
    for i in range(MOST_ROUNDS):
        ratio = found.ratio()
        if i >= (rounds if call.n < SIZES[-1] else 1) and (ratio is None or ORDINARY[0] <= ratio <= ORDINARY[1]):
            break
        for name, library in list(libraries.items())[:: -1 if i % 2 else 1]:
            if (name == "torch" and WORKS[call.work].torch is None) or (name, call.work) in too_slow:
                continue
            check = i == 0 and (call.n < SIZES[-1] or not call.transposed)
            asked = Call(call.work, call.dtype, call.n, call.transposed, call.seconds, check, name == "minigrad")
            report = library.answer(asked)
            if "error" in report:
                found.fault = f"{name}: {report['error']}"
                continue
            sums.setdefault(name, report.get("prints"))
            if report["us"] > (TOO_SLOW if call.n == SIZES[-1] else TOO_SLOW / 10):
                too_slow.add((name, call.work))
            found.us[name] = min(report["us"], found.us.get(name, report["us"]))
            if "floor" in report:
                found.floor = min(report["floor"], found.floor or report["floor"])
    if sums.get("minigrad") and sums.get("torch") and not WORKS[call.work].random:
        found.fault = found.fault or difference(sums["minigrad"], sums["torch"], TOLERANCE[call.dtype])
    return found


def difference(own: list[list[float]], others: list[list[float]], tolerance: float) -> str:
    """Say which array differs, from three sums over each: of the numbers, of their absolute values, and weighted."""
    for i, (mine, its) in enumerate(zip(own, others)):
        off = max(abs(a - b) for a, b in zip(mine, its))
        if off > tolerance * max(mine[1], its[1], 1e-30) and its != [0.0, 0.0, 0.0]:
            return (
                f"{'the value' if i == 0 else f'gradient {i}'} differs from PyTorch's by {off / max(its[1], 1e-30):.0e}"
            )
    return ""
