"""``python -m benchmarks functions``: it measures every function, compares values first, and sorts its table."""

import importlib

import numpy as np
import pytest

import minigrad as mg
from benchmarks.functions import WORKS, measure, text
from benchmarks.functions.inputs import SIZES
from benchmarks.functions.measure import Call, Figure, difference
from benchmarks.functions.worker import arrays_of, in_minigrad, prints
from tests.minigrad.rules.table import CASES

# The backward of x[i], of sliding_window_view and of pad; rare modes of pad.
ELSEWHERE = {"scatter_add", "overlapped", "fold", "pad_mode"}
# Steps of derivatives of SciPy's functions, of attention beside NaN, and of a layer of nn (rotary positions).
STEPS = {
    f"special.{name}"
    for name in ("i0e_ratio", "i1e_step", "hazard", "hazard_slope", "power_iv", "density", "erfc_ratio")
}
STEPS |= {"dot_products", "weighted_sum", "rotated"}


def call(work: str, **changes: object) -> dict[str, object]:
    return {"work": work, "n": 100, "dtype": "float64", "transposed": False, **changes}


def test_every_differentiable_function_is_measured() -> None:
    importlib.import_module("minigrad.scipy_special")  # here, because collecting the tests must not import SciPy
    met = set()
    with np.errstate(all="ignore"):
        for name, work in WORKS.items():
            arrays = arrays_of(work, call(name))
            tensors = [mg.Tensor(a, requires_grad=True) if a.dtype.kind == "f" else a for a in arrays]
            met |= {entry.primitive.name for entry in mg.tape(work.f(*tensors)) if entry.primitive is not None}
    assert {case.primitive for case in CASES} - met - STEPS == ELSEWHERE


def test_a_wrong_gradient_is_noticed_and_named() -> None:
    work = WORKS["softmax"]
    right = prints(in_minigrad(work, arrays_of(work, call("softmax"))))
    assert difference(right, right, 1e-9) == ""
    wrong = [right[0], [1.01 * number for number in right[1]]]
    assert difference(wrong, right, 1e-9).startswith("gradient 1 differs")
    swapped = [[right[0][0], right[0][1], right[0][2] + 0.1 * right[0][1]], right[1]]
    assert difference(swapped, right, 1e-9).startswith("the value differs")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_transposed_array_has_the_same_numbers_in_another_order_of_memory(dtype: str) -> None:
    work = WORKS["x @ y"]
    for plain, other in zip(
        arrays_of(work, call("x @ y", dtype=dtype)), arrays_of(work, call("", dtype=dtype, transposed=True))
    ):
        np.testing.assert_array_equal(plain, other)
        assert plain.dtype == other.dtype == dtype
        assert plain.flags.c_contiguous and other.flags.f_contiguous


@pytest.mark.thorough
def test_one_function_is_timed_and_agrees_with_pytorch() -> None:
    pytest.importorskip("torch", reason="compares with PyTorch: pip install torch==2.13.0")
    figures = measure(["tanh"], sizes=SIZES[:1], dtypes=["float32"], rounds=1)
    assert [figure.fault for figure in figures] == ["", ""]
    assert all(ratio is not None and ratio > 0 for figure in figures for ratio in [figure.ratio()])


def test_the_table_begins_with_the_slowest_function() -> None:
    figures = [
        Figure(Call(work, "float32", SIZES[1], False), {"minigrad": us, "torch": 10.0, "before": 2 * us}, floor=5.0)
        for work, us in (("fast", 5.0), ("slow", 30.0), ("a|b", 15.0))
    ]
    lines = text(figures, "here").splitlines()
    assert [line.split(" | ")[0] for line in lines[6:]] == ["| slow", r"| a\|b", "| fast"]
    assert lines[6] == "| slow | 3.00 | 6.00 | 6.00 | 0.03 |  |"
