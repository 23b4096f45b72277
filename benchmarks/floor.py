"""What a training step cannot go below on this machine, and how far above it minigrad is.

Two bounds that hold for every program; the larger one is the floor:

- arithmetic: the matrix products' floating point operations, at the rate of one large product;
- memory: the bytes that have to move if nothing stays in a cache, at the rate of copying.

Beside them what minigrad itself adds and NumPy's library falls short of: the calls, which are the same step on arrays of next
to nothing, and the products of the step alone, in their real shapes. Everything is measured in turn, in one process.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.harness import wait_until_quiet
from benchmarks.workload import Sizes, shapes_of, sizes

WORKS = ("tiny", "toy", "small", "toy_512")
NEXT_TO_NOTHING = "B=1:L=2:D=4:H=1:V=4"


def flops(s: Sizes) -> int:
    """Of the matrix products of one step: forward, and twice as many backward. A causal mask spares half of attention's."""
    tokens = s.B * s.L
    weights = 2 * tokens * 12 * s.D**2  # D x 3D, D x D, D x 4D, 4D x D
    attention = 2 * 2 * tokens * s.L * s.D // (2 if s.causal else 1)
    output = 2 * tokens * s.D * s.V if s.gpt else 2 * s.B * s.D * s.C
    return 3 * (s.layers * (weights + attention) + output)


def moved_bytes(s: Sizes) -> int:
    """That must move between memory and cores if no array stays in a cache from one use to the next.

    A parameter is read forward and backward, its gradient written; Adam reads it, its gradient and two means, and writes
    three of them. Of the embedding only rows are read. Of a layer's arrays, those that the backward pass needs are written
    once and read once, and so are their gradients: normalised inputs, queries, keys, values, attention's output and the hidden
    activations, 10 D numbers a token. Attention's weights can be computed anew, in blocks that stay in a cache.
    """
    parameters = sum(int(np.prod(shape)) for shape in shapes_of(s).values())
    table = s.V * s.D
    weights = 8 * parameters + 2 * (parameters - table)
    activations = 4 * s.layers * 10 * s.B * s.L * s.D
    return 4 * (weights + activations)


def products(s: Sizes) -> Callable[[], None]:
    """The matrix products of one step and nothing else, into arrays that are there."""
    N, heads, width = s.B * s.L, s.B * s.H, s.D // s.H
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for inner, outer in ((s.D, 3 * s.D), (s.D, s.D), (s.D, 4 * s.D), (4 * s.D, s.D)):
        shapes += [((N, inner), (inner, outer)), ((N, outer), (outer, inner)), ((inner, N), (N, outer))]
    narrow, wide = ((heads, s.L, width), (heads, width, s.L)), ((heads, s.L, s.L), (heads, s.L, width))
    shapes += [narrow, narrow, wide, wide, wide, wide]
    random = np.random.default_rng(0)
    pairs = [tuple(random.random(shape, np.float32) for shape in pair) for pair in shapes]
    outs = [np.matmul(a, b) for a, b in pairs]

    def run() -> None:
        for _ in range(s.layers):
            for (a, b), out in zip(pairs, outs):
                np.matmul(a, b, out=out)

    return run


def large_product(n: int = 1024) -> tuple[Callable[[], object], float]:
    """One product of large matrices, and its floating point operations."""
    a, b, out = (np.ones((n, n), np.float32) for _ in range(3))
    return lambda: np.matmul(a, b, out=out), 2.0 * n**3


def large_copy(megabytes: int = 256) -> tuple[Callable[[], object], float]:
    """A copy by all cores of an array that fits in no cache, and the bytes read and written."""
    source = np.ones(megabytes << 18, np.float32)
    target = np.empty_like(source)
    parts = [np.array_split(array, os.cpu_count() or 1) for array in (target, source)]

    def run() -> None:
        threads = [threading.Thread(target=np.copyto, args=pair) for pair in zip(*parts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run, 2.0 * source.nbytes


@dataclass
class Floor:
    """A work's bounds and what is reached, in milliseconds.

    Attributes:
        products: the matrix products alone, measured.
        calls: the step on arrays of next to nothing, measured.
        step: minigrad's, measured.
    """

    work: str
    gigaflops: float
    megabytes: float
    arithmetic: float
    memory: float
    calls: float
    products: float
    step: float

    @property
    def bound(self) -> float:
        return max(self.arithmetic, self.memory)

    @property
    def bound_by(self) -> str:
        return "arithmetic" if self.bound == self.arithmetic else "memory"


def measure(works: Sequence[str] = WORKS, rounds: int = 5) -> tuple[dict[str, float], list[Floor]]:
    """The machine's best rates (operations and bytes a second), and the floor of each work."""
    from benchmarks import peer_minigrad

    (product, operations), (copy, copied) = large_product(), large_copy()
    runs: dict[str, Callable[[], object]] = {"product": product, "copy": copy}
    for work in works:
        runs[f"{work} products"] = products(sizes(work))
        runs[f"{work} calls"] = _steps(peer_minigrad.training_step(f"{work}:{NEXT_TO_NOTHING}"))
        runs[f"{work} step"] = _steps(peer_minigrad.training_step(work))
    times = timed(runs, rounds)
    rates = {"flops": 1e3 * operations / min(times["product"]), "bytes": 1e3 * copied / min(times["copy"])}
    ms = {name: statistics.median(taken) for name, taken in times.items()}
    return rates, [floor_of(work, rates, ms) for work in works]


def floor_of(work: str, rates: dict[str, float], ms: dict[str, float]) -> Floor:
    s = sizes(work)
    measured = {name: ms[f"{work} {name}"] for name in ("calls", "products", "step")}
    arithmetic, memory = 1e3 * flops(s) / rates["flops"], 1e3 * moved_bytes(s) / rates["bytes"]
    return Floor(work, flops(s) / 1e9, moved_bytes(s) / 1e6, arithmetic, memory, **measured)


def _steps(step: Callable[[int], float]) -> Callable[[], object]:
    return lambda: step(0)


def timed(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each in each round, in which it runs for at least 50 ms."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            wait_until_quiet()
            run()
            taken: list[float] = []
            end = time.perf_counter() + 0.05
            while not taken or time.perf_counter() < end:
                start = time.perf_counter()
                run()
                taken.append(time.perf_counter() - start)
            times[name].append(1e3 * statistics.median(taken))
    return times


def table(rates: dict[str, float], floors: Sequence[Floor]) -> str:
    header = ["", "GFLOP", "MB", "arithmetic, ms", "memory, ms", "the floor is", "calls, ms", "products alone, ms"]
    header += ["minigrad, ms", "above the floor"]
    lines = []
    for f in floors:
        bounds = [f"{value:.3g}" for value in (f.gigaflops, f.megabytes, f.arithmetic, f.memory)]
        measured = [f"{value:.3g}" for value in (f.calls, f.products, f.step)]
        lines.append([f.work, *bounds, f.bound_by, *measured, f"{f.step / f.bound:.1f} times"])
    said = f"Matrix products: {rates['flops'] / 1e9:.0f} GFLOP/s. Copying: {rates['bytes'] / 1e9:.1f} GB/s read and written."
    return f"{said}\n\n{report.grid(header, lines)}"


def save(rates: dict[str, float], floors: Sequence[Floor], folder: Path = report.RESULTS) -> None:
    folder.mkdir(exist_ok=True)
    here = report.machine()
    found: dict[str, Any] = {"machine": here, "rates": rates, "floors": [asdict(floor) for floor in floors]}
    report.write(folder / "floor.json", found)
    (folder / "floor.md").write_text(f"{here}\n\n{table(rates, floors)}\n", encoding="utf-8")
