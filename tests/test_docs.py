"""The generated pages of docs/ say what the code says today."""

import operator
import re
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from docs import autograd_gaps, samples
from docs.make_tables import HERE, PAGES, differentiated
from minigrad import Tensor, UnsupportedError

ROWS = [
    (name, what)
    for name, what in re.findall(
        r"^\| `([^`]+)` \| (.*) \|$", (HERE / "functions.md").read_text(encoding="utf-8"), re.M
    )
    if not name.startswith("minigrad.")
]


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m docs.make_tables"


def test_each_function_on_the_page_is_numpys() -> None:
    pytest.importorskip(
        "minigrad.scipy_special", exc_type=ImportError
    )  # its functions are in the registry, and not NumPy's
    names = re.findall(r"^\| `np\.([\w.]+)`", PAGES["functions.md"](), re.MULTILINE)
    assert len(names) > 200
    assert [name for name in names if not callable(operator.attrgetter(name)(np))] == []


def tracked() -> Any:
    return Tensor(samples.MATRIX, requires_grad=True)


@pytest.mark.parametrize(("name", "what"), ROWS, ids=[name for name, _ in ROWS])
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # since NumPy 2.5
def test_each_row_says_what_the_function_does(name: str, what: str) -> None:
    """What has a derivative has that of finite differences."""
    name = name.removeprefix("np.")
    if what.startswith("raises"):
        assert what.removeprefix("raises: write ") in str(refusal(name))
        return
    result = samples.call(name, tracked())
    outputs = autograd_gaps.flat(result)
    if what == "gives an array or a Python value without a gradient":
        assert not any(isinstance(t, Tensor) for t in outputs)
        return
    assert all(isinstance(t, Tensor) for t in outputs)
    if what == "gives a Tensor without a gradient":
        assert not result.requires_grad
        return
    assert what.startswith("derivative in ") or what == "differentiable, built from other functions"
    assert differentiated(name)
    if name not in ("astype", "linalg.eig"):  # float32; vectors known up to their phase
        mg.check_grads(lambda x: samples.call(name, x), [samples.MATRIX], order=1)


def refusal(name: str) -> UnsupportedError:
    arguments = {"copyto": (1.0,), "fill_diagonal": (1.0,), "put_along_axis": (np.zeros((3, 1), int), 1.0, 1)}
    with pytest.raises(UnsupportedError) as error:
        samples.find(name)(tracked(), *arguments.get(name, ([0], 1.0)))
    return error.value


@pytest.mark.parametrize("name", autograd_gaps.RAISE + autograd_gaps.LOSE)
def test_the_scoreboard_counts_what_is_differentiated(name: str) -> None:
    text = (HERE / "functions.md").read_text(encoding="utf-8").partition("## Compared with HIPS autograd")[2]
    ours, others = text.split("raise a `TypeError`")
    assert (f"`np.{name}`" in ours) is (f"`np.{name}`" not in others) is differentiated(name)
    if differentiated(name):
        mg.check_grads(lambda x: samples.call(name, x), [samples.MATRIX], order=1)
    else:
        with pytest.raises(TypeError):
            samples.call(name, tracked())


@pytest.mark.filterwarnings("ignore")
def test_the_scoreboard_is_what_autograd_does() -> None:
    autograd = pytest.importorskip("autograd", reason="needs autograd: pip install autograd")
    if getattr(autograd, "__version__", autograd_gaps.VERSION) != autograd_gaps.VERSION:
        pytest.skip(f"needs autograd {autograd_gaps.VERSION}")
    with warnings.catch_warnings():
        assert autograd_gaps.measure() == (autograd_gaps.RAISE, autograd_gaps.LOSE)
