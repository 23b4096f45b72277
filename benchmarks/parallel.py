"""A training step on two processes, beside PyTorch's DistributedDataParallel on gloo, and what more processes would cost.

    python -m benchmarks.parallel              measure; the tables go into docs/scale.md, the timeline beside its pictures
    python -m benchmarks.parallel --dry        measure and print; no file is changed

The two libraries take turns, two processes of one thread each. What is timed is told in benchmarks/parallel_worker.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.harness import wait_until_quiet

WORK = "gpt_10m:B=8:L=64"  # the GPT of workload.py, with batches that two cores can bear
BUCKET_BYTES = 4 << 20
ROUNDS, STEPS = 5, 4
WAYS = ("alone", "messages", "after", "overlap")
ROOT = Path(__file__).parent.parent
PAGE, PICTURE = ROOT / "docs" / "scale.md", ROOT / "docs" / "images" / "overlap.png"
MARKS = ("<!-- measured -->", "<!-- end of measured -->")


@dataclass
class Measured:
    """What two ranks of one library said: seconds by way, in all and by round; of minigrad the link, bytes, a timed step."""

    seconds: dict[str, float]
    ranks: list[dict[str, Any]]
    rounds: list[dict[str, float]]

    @property
    def hidden(self) -> str:
        """The part of the cost of averaging after the backward that is gone when it is done beside it, of each round."""
        parts = []
        for seconds in self.rounds:
            after, overlap = (seconds[way] - seconds["alone"] for way in ("after", "overlap"))
            parts.append((after - overlap) / after if after > 0 else math.nan)
        return f"{statistics.median(parts):.0%} ({min(parts):.0%} to {max(parts):.0%})"


def measure(work: str, rounds: int, steps: int) -> dict[str, Measured]:
    """Both libraries in turn, so many rounds."""
    found: dict[str, list[list[dict[str, Any]]]] = {"minigrad": [], "PyTorch": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for library, runs in found.items():
                wait_until_quiet()
                runs.append(_run(library, work, steps, Path(folder) / f"{library}{number}"))
    return {library: _summary(runs) for library, runs in found.items()}


def _run(library: str, work: str, steps: int, out: Path) -> list[dict[str, Any]]:
    arguments = [library, work, str(BUCKET_BYTES), str(steps), str(out)]
    module = ROOT / "benchmarks" / "parallel_worker.py"
    one_thread = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    one_thread["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    if library == "minigrad":
        command = [sys.executable, "-m", "minigrad", "launch", "-n", "2", str(module), *arguments]
        started = [subprocess.Popen(command, env=one_thread)]
    else:
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": "2"}
        command = [sys.executable, str(module), *arguments]
        started = [subprocess.Popen(command, env=one_thread | place | {"RANK": str(rank)}) for rank in range(2)]
    if any(process.wait() for process in started):
        raise SystemExit(f"{library}: {' '.join(command)} failed")
    return [json.loads(Path(f"{out}.{rank}.json").read_text(encoding="utf-8")) for rank in range(2)]


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _summary(runs: list[list[dict[str, Any]]]) -> Measured:
    """Medians over the steps of each round, and over the rounds; a step takes as long as its slower rank."""
    rounds = []
    for run in runs:
        pairs = {way: zip(*(rank["seconds"][way] for rank in run)) for way in WAYS}
        rounds.append({way: statistics.median(map(max, both)) for way, both in pairs.items()})
    seconds = {way: statistics.median(one[way] for one in rounds) for way in WAYS}
    return Measured(seconds, runs[-1], rounds)


# The model


@dataclass
class Job:
    """What the cost of a step on many processes is computed from.

    Attributes:
        compute: seconds of forward, backward and update of one rank, whose share of the batch stays as it is.
        latency, bandwidth: of the link between two ranks, in seconds, and in bytes a second.
        packing: seconds of copying into the buckets and out of them, which the number of ranks does not change.
    """

    compute: float
    bytes: int
    buckets: int
    latency: float
    bandwidth: float
    packing: float = 0.0

    def messages(self, ranks: int) -> float:
        """Seconds of all reductions, as a ring does them: 2 (n - 1) messages each, of an n-th of the bucket."""
        steps = 2 * (ranks - 1)
        return steps * (self.buckets * self.latency + self.bytes / ranks / self.bandwidth)

    def step(self, ranks: int) -> float:
        """Seconds of a step: all but the last bucket may hide behind the backward, two thirds of the computing."""
        whole = self.messages(ranks)
        last = whole / self.buckets
        return self.compute + self.packing + last + max(0.0, whole - last - 2 / 3 * self.compute)


LINKS = {"1 Gbit/s and 50 us, assumed": (50e-6, 125e6), "10 Gbit/s and 20 us, assumed": (20e-6, 1.25e9)}


def model_table(job: Job) -> str:
    """What 2, 8 and 64 ranks would cost, by the measured link and by two networks that were not measured."""
    rows = []
    for name, (latency, bandwidth) in {"as measured here": (job.latency, job.bandwidth), **LINKS}.items():
        for ranks in (2, 8, 64):
            linked = replace(job, latency=latency, bandwidth=bandwidth)
            seconds = linked.step(ranks)
            cells = [f"{1000 * linked.messages(ranks):.0f}", f"{1000 * seconds:.0f}", f"{job.compute / seconds:.0%}"]
            rows.append([name, str(ranks), *cells])
    return report.grid(["link", "ranks", "ms of messages", "ms a step", "efficiency"], rows)


def job_of(measured: Measured) -> Job:
    first = measured.ranks[0]
    buckets = sum(name == "reduction" for name, _, _ in first["events"])
    job = Job(measured.seconds["alone"], first["bytes"], buckets, first["latency"], first["bandwidth"])
    return replace(job, packing=max(0.0, measured.seconds["messages"] - job.messages(2)))


# What is shown


def tables(found: dict[str, Measured], work: str, rounds: int) -> str:
    job, rows = job_of(found["minigrad"]), []
    for library, measured in found.items():
        cells = [f"{1000 * measured.seconds[way]:.0f}" for way in WAYS]
        rows.append([library, *cells, measured.hidden])
    ways = ["nothing sent", "messages alone", "sent after backward", "sent during backward"]
    header = ["", *ways, "hidden (all rounds)"]
    return "\n".join(
        [
            f"{report.machine()}. `{work}`, {rounds} rounds of {STEPS} steps, two ranks of one thread, ms, medians.",
            "",
            report.grid(header, rows),
            "",
            f"A step sends {job.bytes / 1e6:.1f} MB of gradients from each rank, in {job.buckets} buckets. The link between "
            f"the two: {1e6 * job.latency:.1f} us, {job.bandwidth / 1e9:.2f} GB/s.",
            "",
            "**A model, not a measurement**, of the same step on more processes:",
            "",
            model_table(job),
            "",
            "![One step on two ranks: what each does when](images/overlap.png)",
        ]
    )


def draw(ranks: Sequence[dict[str, Any]], path: Path) -> None:
    """One step of each rank, one below the other: what it computes, and below that its reductions."""
    from matplotlib.figure import Figure

    from minigrad.graph.draw import figures

    colours = {
        "forward": "#9ecae1",
        "backward": "#3182bd",
        "wait": "#d9d9d9",
        "update": "#a1d99b",
        "reduction": "#fd8d3c",
    }
    start = min(begin for rank in ranks for _, begin, _ in rank["events"])
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axis: Any = figure.subplots()
    for number, rank in enumerate(ranks):
        reductions = [event for event in rank["events"] if event[0] == "reduction"]
        for name, begin, end in rank["events"]:
            row = 3.0 * number
            if name == "reduction":
                row += 1 + 0.9 * reductions.index([name, begin, end]) / len(reductions)
            height = 0.8 if name != "reduction" else 0.8 / len(reductions)
            axis.barh(
                row,
                1000 * (end - begin),
                height,
                1000 * (begin - start),
                color=colours[name],
                align="edge",
                linewidth=0,
            )
    axis.set_yticks([0.4, 1.45, 3.4, 4.45], ["rank 0", "its reductions", "rank 1", "its reductions"])
    axis.invert_yaxis()
    axis.set_xlabel("ms since the step began")
    axis.spines[["top", "right"]].set_visible(False)
    handles = [axis.barh(0, 0, color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=handles, ncols=len(colours), loc="outside upper center", frameon=False)
    figures.save(figure, path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=WORK, help=f"(default: {WORK})")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--dry", action="store_true", help="change no file of the repository")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where the timeline goes")
    args = parser.parse_args()
    found = measure(args.work, args.rounds, STEPS)
    text = tables(found, args.work, args.rounds)
    print(text)
    draw(found["minigrad"].ranks, args.picture)
    if not args.dry:
        before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
