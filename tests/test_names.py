"""What `dir()` shows, and what is said of names that others use: `nn.Linear`, `minigrad.tensor`."""

import importlib
import operator
import re
import subprocess
import sys

import numpy as np
import pytest

import minigrad
import models
import nn
from minigrad import _other_names

PACKAGES = {"minigrad": minigrad, "nn": nn, "models": models}
TABLES = {"minigrad": _other_names.MINIGRAD, "nn": _other_names.NN, "models": _other_names.MODELS}
NAMES = [(package, name) for package, table in TABLES.items() for name in table]


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
    assert name not in dir(PACKAGES[package])
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
        ("nn", "Linear", "nn.Affine"), ("nn", "ReLU", "minigrad.relu"), ("nn", "LSTM", "nn.GRU"), ("nn", "Dense", "nn.Affine"),
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


def test_python_itself_guesses_at_a_slip() -> None:
    ran = subprocess.run([sys.executable, "-c", "import minigrad\nminigrad.Tensr"], capture_output=True, text=True)
    assert "Did you mean: 'Tensor'?" in ran.stderr
