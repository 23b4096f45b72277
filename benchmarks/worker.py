"""One peer in a process of its own: ``python -m benchmarks.worker PEER WORK``, driven by the lines of its input.

It prints its first 20 losses (5 for the small works) and then, for each line ``SECONDS``, runs training steps for that
long and prints the median time of a step. Everything printed is one JSON object a line.
"""

from __future__ import annotations

import importlib
import json
import platform
import resource
import statistics
import sys
import time

from benchmarks import micro


def peak_megabytes() -> float:
    """The largest memory this process has had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if platform.system() == "Darwin" else 2**10)


def main(peer: str, work: str) -> None:
    import numpy as np

    bare = peak_megabytes()
    step = (
        micro.micro_step(peer, work)
        if work in micro.WORKS
        else importlib.import_module(f"benchmarks.peer_{peer}").training_step(work)
    )
    losses = [step(i) for i in range(5 if work.startswith("small") else 20)]
    print(json.dumps({"losses": losses, "numpy": np.__version__}), flush=True)
    i = len(losses)
    for line in sys.stdin:
        step(i)  # the caches were the other peer's
        times: list[float] = []
        end = time.perf_counter() + float(line)
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            step(i := i + 1)
            times.append(time.perf_counter() - start)
        report = {"ms": 1e3 * statistics.median(times), "megabytes": peak_megabytes() - bare}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
