"""``python -m benchmarks``: time a training step of minigrad beside PyTorch eager, in turn, and print the ratios.

The peers run in processes of their own that stay up; each round gives every one of them one burst, in shuffled order, so
that whatever else the machine does meets them all. A ratio is taken inside a round, and the median over the rounds is
quoted with its quartiles. PyTorch runs twice: its ratio to itself tells how far the numbers can be trusted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PEERS = {"torch": "torch", "torch again": "torch", "minigrad": "minigrad"}


class Peer:
    """A worker process and what it has reported."""

    def __init__(self, module: str, work: str) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", module, work]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self._read()
        self.bursts: list[dict[str, float]] = []

    def burst(self, seconds: float) -> None:
        assert self.process.stdin is not None
        print(seconds, file=self.process.stdin, flush=True)
        self.bursts.append(self._read())

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker {' '.join(map(str, self.process.args))} ended; run it by hand to see why")  # type: ignore[arg-type]
        report: dict[str, Any] = json.loads(line)
        return report

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(work: str, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """One row a peer for this work."""
    peers = {name: Peer(module, work) for name, module in PEERS.items()}
    for i in range(rounds):
        for name in random.Random(i).sample(list(peers), len(peers)):
            peers[name].burst(seconds)
        print(f"{work}: round {i + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = []
    reference = peers["torch"]
    for name, peer in peers.items():
        ratios = [own["ms"] / other["ms"] for own, other in zip(peer.bursts, reference.bursts)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        apart = max(abs(a - b) / b for a, b in zip(peer.about["losses"], reference.about["losses"]))
        rows.append(
            {
                "work": work,
                "peer": name,
                "ms": statistics.median(burst["ms"] for burst in peer.bursts),
                "ratio": middle,
                "quartiles": [low, high],
                "megabytes": peer.bursts[-1]["megabytes"],
                "loss_difference": apart,
            }
        )
        peer.close()
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| work | peer | ms a step | ratio to PyTorch (quartiles) | memory above NumPy, MB | losses differ by |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        low, high = row["quartiles"]
        lines.append(
            f"| {row['work']} | {row['peer']} | {row['ms']:.3g} | {row['ratio']:.2f} ({low:.2f}-{high:.2f}) "
            f"| {row['megabytes']:.0f} | {row['loss_difference']:.0e} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """What the numbers were measured on."""
    import numpy as np
    import torch

    processor = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    return (
        f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, PyTorch {torch.__version__}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--works",
        default="tiny,toy,small,multiply,multiply_backward",
        help="separated by commas; also toy_gelu and small_gelu",
    )
    parser.add_argument("--rounds", type=int, default=15, help="how often each peer gets its turn (at least 2)")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a turn takes")
    parser.add_argument("--save", action="store_true", help="write the table to benchmarks/results/")
    arguments = parser.parse_args()
    rows = [row for work in arguments.works.split(",") for row in measure(work, arguments.rounds, arguments.seconds)]
    print(f"{machine()}; {arguments.rounds} rounds of {arguments.seconds} s each\n\n{table(rows)}\n")
    if arguments.save:
        save(rows)


def save(rows: list[dict[str, Any]]) -> None:
    """Write the rows to benchmarks/results/, beside those that are there of other works."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / "training_step.json"
    measured = {row["work"] for row in rows}
    old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    rows = sorted([row for row in old if row["work"] not in measured] + rows, key=lambda row: row["work"])
    file.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (RESULTS / "training_step.md").write_text(f"{machine()}\n\n{table(rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
