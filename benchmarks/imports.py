"""How long ``import minigrad`` takes, beside ``import numpy`` and ``import torch``, and what it brings in.

Every import is in a process of its own, with its bytecode cached, and the three take turns. What minigrad adds is measured
where NumPy has just been imported: of two whole imports the difference would be mostly noise.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.harness import ENOUGH_ROUNDS, wait_until_quiet

TURNS = ("numpy", "numpy minigrad", "torch")  # what each kind of process imports, in order
PROGRAM = """
import importlib, json, sys, time
before, seconds = set(sys.modules), []
for name in sys.argv[1:]:
    start = time.perf_counter()
    importlib.import_module(name)
    seconds.append(time.perf_counter() - start)
print(json.dumps([seconds, sorted({name.partition(".")[0] for name in set(sys.modules) - before})]))
"""


def import_once(modules: str, cache: str, folder: str | None = None) -> tuple[list[float], list[str]]:
    """Seconds for each of the modules, and the packages that came with them.

    Args:
        cache: the folder for bytecode.
        folder: where modules are looked for first, if not here.

    Raises:
        subprocess.CalledProcessError: there is no such module.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", PROGRAM, *modules.split()]
    environment["PYTHONPYCACHEPREFIX"] = cache
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    seconds, packages = json.loads(done.stdout)
    return seconds, packages


def foreign(packages: list[str]) -> list[str]:
    """Those that are neither the standard library's nor NumPy's nor minigrad's own."""
    return [name for name in packages if name not in sys.stdlib_module_names and name not in ("numpy", "minigrad")]


def measure(rounds: int = ENOUGH_ROUNDS, turns: tuple[str, ...] = TURNS) -> dict[str, Any]:
    """Milliseconds of each import, what minigrad adds to NumPy's, and the packages it brings in beside NumPy."""
    times: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for modules in turns:
            try:
                _, packages = import_once(modules, cache)  # this one compiles
            except subprocess.CalledProcessError:
                continue  # not installed
            times[modules] = []
            if modules.endswith("minigrad"):
                brought = foreign(packages)
        for i in range(rounds):
            for modules in random.Random(i).sample(list(times), len(times)):
                wait_until_quiet()
                times[modules].append(import_once(modules, cache)[0])
    return summary(times) | {"rounds": rounds, "foreign": brought}


def summary(times: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Medians: what each import takes, what minigrad adds (with quartiles), and that over what NumPy took beside it."""
    ms = {modules.split()[-1]: 1e3 * statistics.median(map(sum, taken)) for modules, taken in times.items()}
    both = times["numpy minigrad"]
    low, added, high = statistics.quantiles([1e3 * minigrad for _, minigrad in both], n=4)
    share = statistics.median(minigrad / numpy for numpy, minigrad in both)
    return {"ms": ms, "added_ms": added, "quartiles": [low, high], "added_share": share}


def table(found: dict[str, Any]) -> str:
    low, high = found["quartiles"]
    lines = [[f"`import {module}`", f"{ms:.0f}"] for module, ms in found["ms"].items()]
    lines.append(["minigrad, where NumPy is imported (quartiles)", f"{found['added_ms']:.0f} ({low:.0f}-{high:.0f})"])
    brought = ", ".join(found["foreign"]) or "nothing"
    return f"{report.grid(['', 'ms'], lines)}\n\nBeside the standard library and NumPy it imports {brought}."


def save(found: dict[str, Any], folder: Path = report.RESULTS) -> None:
    folder.mkdir(exist_ok=True)
    report.write(folder / "imports.json", found | {"machine": report.machine()})
    (folder / "imports.md").write_text(f"{report.machine()}\n\n{table(found)}\n", encoding="utf-8")
