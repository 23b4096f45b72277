"""What `dir()` shows, and what is said of names that others use: `nn.Linear`, `minigrad.tensor`."""

import importlib
import operator
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad
import models
import nn
from minigrad import _other_names

ROOT = Path(__file__).parents[1]
PACKAGES = {"minigrad": minigrad, "nn": nn, "models": models}
TABLES = {"minigrad": _other_names.MINIGRAD, "nn": _other_names.NN, "models": _other_names.MODELS}
NAMES = [(package, name) for package, table in TABLES.items() for name in table]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("package", PACKAGES)
def test_dir_has_every_public_name_and_nothing_else(package: str) -> None:
    """In a new process, where nothing has been asked for yet."""
    program = (
        f"import {package} as p; names = dir(p); print(*names); assert all(hasattr(p, name) for name in names); "
        "assert dir(p) == names"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(shown) == sorted([*PACKAGES[package].__all__, *["__version__"] * (package == "minigrad")])
    assert not {"Any", "TYPE_CHECKING", "annotations"} & set(shown)


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_what_is_said_instead_exists(package: str, name: str) -> None:
    assert name not in dir(PACKAGES[package]), "delete the hint in minigrad/_other_names.py"
    assert not hasattr(PACKAGES[package], name)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute '{name}': write ") as error:
        getattr(PACKAGES[package], name)
    said = str(error.value).partition(": write ")[2]
    known = {**PACKAGES, "np": np, "t": minigrad.Tensor([1.0]), "model": nn.Module}
    for dotted in re.findall(r"\b(?:minigrad|nn|models|np|t|model)(?:\.\w+)+", said):
        first, _, rest = dotted.partition(".")
        if dotted.startswith("minigrad.device."):
            importlib.import_module("minigrad.device")
        assert operator.attrgetter(rest)(known[first]) is not None or dotted == "t.grad", dotted
    assert re.search(r"minigrad|nn\b|models|np\.|\bt\.|model\.|@|function|axis|rng|attribute", said)


@pytest.mark.parametrize(
    ("package", "name", "said"),
    [
        ("nn", "Linear", "nn.Affine"), ("nn", "ReLU", "minigrad.relu"), ("nn", "SimpleRNN", "nn.RNN"),
            ("nn", "Dense", "nn.Affine"),
        ("nn", "Embed", "nn.Embedding"), ("nn", "DataLoader", "nn.Batches"), ("minigrad", "tensor", "minigrad.Tensor(data"),
        ("minigrad", "Variable", "requires_grad=True"), ("minigrad", "cat", "np.concatenate"), ("minigrad", "exp", "np.exp"),
        ("minigrad", "zeros", r"minigrad.Tensor(np.zeros(...))"), ("nn", "einsum", "np.einsum"),
        ("models", "GPT2", "models.GPT"),
    ],
)  # fmt: skip
def test_the_common_ones(package: str, name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(said)):
        getattr(PACKAGES[package], name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_of_nobodys_stays_plain(package: str) -> None:
    with pytest.raises(AttributeError, match=f"^module '{package}' has no attribute 'frobnicate'$") as error:
        _ = PACKAGES[package].frobnicate
    assert (error.value.name, error.value.obj) == ("frobnicate", PACKAGES[package])
    assert not hasattr(PACKAGES[package], "__wrapped__") and not hasattr(PACKAGES[package], "pi")


MODULE = re.compile(r"\b(?:from|import) +((?:minigrad|nn|models)(?:\.\w+)+)")
NAMED = re.compile(r"(?<![\w./-])(?:mg|minigrad|nn|models)(?:\.[A-Za-z_]\w*)+(?![\w/])")
ALONE = """
import importlib, os, sys
import minigrad as mg, minigrad
import numpy, numpy.random

def ask(kind, name):
    try:
        importlib.import_module(name) if kind == "module" else eval(name)
    except (AttributeError, ImportError) as error:
        os.write(1, (f"{name}: {error}" + chr(10)).encode())  # one write, as several processes share the pipe

lines = [line.split() for line in sys.stdin.read().splitlines()]
for kind, name in lines:
    if not name.startswith(("mg.", "minigrad.")):
        continue
    if kind == "name" and name.split(".")[1] in vars(minigrad):  # there already
        ask(kind, name)
    elif os.fork() == 0:  # what another name has imported must not help
        ask(kind, name)
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
import nn, models
for kind, name in lines:
    if name.startswith(("nn.", "models.")):
        ask(kind, name)
"""


def named_in_docs() -> set[str]:
    """What the pages call by name, as the lines of ALONE; files are no such names."""
    found = set()
    for path in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text(encoding="utf-8")
        modules = set(MODULE.findall(text))
        found |= {f"module {name}" for name in modules}
        found |= {f"name {name}" for name in NAMED.findall(text) if name not in modules}
    return {line for line in found if not line.endswith((".py", ".pyi", ".safetensors"))}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each name is asked for in a process of its own, made by fork")
def test_what_the_pages_call_by_name_is_there_after_import_minigrad_alone() -> None:
    lines = named_in_docs()
    assert {"name minigrad.serialize.load_checkpoint", "name mg.Tensor", "module minigrad.graph.pages.lesson"} <= lines
    asked = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE],
        input="\n".join(sorted(lines)),
        capture_output=True,
        text=True,
        check=True,
    )
    wrong = [
        line for line in asked.stdout.splitlines() if ": write " not in line
    ]  # what others call otherwise, on its page
    assert wrong == []


def test_python_itself_guesses_at_a_slip() -> None:
    ran = subprocess.run([sys.executable, "-c", "import minigrad\nminigrad.Tensr"], capture_output=True, text=True)
    assert "Did you mean: 'Tensor'?" in ran.stderr
