"""The traced run, written out on the stepper's page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.graph.pages.explain import MOST_WRITTEN
from tests.leaves import leaf
from tests.minigrad.graph.pages.test_explain import read

ROOT = Path(__file__).parents[4]
PROGRAM = """
import minigrad as mg
w = mg.Tensor([1.0, 2.0], requires_grad=True)
with mg.trace():
    loss = (w * w).sum()
mg.explain(loss, "page.html")
"""


def test_each_line_has_the_numbers_of_its_steps(tmp_path: Path) -> None:
    w, b = leaf(np.ones((2, 3))), leaf(np.ones(3))
    with mg.trace():
        h = b + np.ones((4, 2)) @ w
        loss = (h * h).sum()
    data = read(mg.explain(loss, tmp_path / "page.html"))
    found = {line.strip(): steps for line, steps in zip(data["written"]["lines"], data["written"]["steps"]) if steps}
    by_line = {
        line: [data["steps"][n - 1] for n in steps] for line, steps in found.items() if line.startswith(("db", "dw"))
    }
    kinds = {line.split(" = ")[0]: [kind for kind, _ in steps] for line, steps in by_line.items()}
    assert kinds == {"db": ["fit"], "dw": ["product"]}
    for line, ((_, edge),) in by_line.items():
        source = data["edges"][edge]["source"]
        assert data["nodes"][source]["name"] == line[1]
    everywhere = {n for steps in found.values() for n in steps} | set(map(int, data["written"]["elsewhere"]))
    assert everywhere == set(range(1, len(data["steps"]) + 1))


def test_a_large_run_and_one_that_cannot_be_written_say_why(tmp_path: Path) -> None:
    x = leaf(0.5)
    with mg.trace():
        y: Any = x
        for _ in range(MOST_WRITTEN + 1):
            y = np.tanh(y)
    data = read(mg.explain(y, tmp_path / "page.html", check=False))["written"]
    assert data["reason"] == "tooLarge" and data["operations"] == MOST_WRITTEN + 1
    with mg.trace():
        h = x * 2.0
        h.register_hook(lambda g: g * 10)
        loss = h * h
    data = read(mg.explain(loss, tmp_path / "page.html"))["written"]
    assert data["reason"] == "refused" and "a hook changes its gradients" in data["why"] and "lines" not in data


def test_without_the_room_there_is_no_pane(tmp_path: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "codegen")
    shutil.copytree((ROOT / "minigrad").resolve(), tmp_path / "minigrad", ignore=ignore)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    for without in (True, False):
        if not without:
            shutil.copytree(ROOT / "minigrad" / "codegen", tmp_path / "minigrad" / "codegen")
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert (read(tmp_path / "page.html")["written"] is None) == without
