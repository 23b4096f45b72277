"""find_nan: the operation that made the first NaN or infinity, why, where, and what it reached."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GraphError, Tensor
from minigrad.graph.pages.explain import page_data
from minigrad.graph.record.capture import capture
from minigrad.graph.watch.provenance import Provenance, find_nan
from minigrad.guards.origin import called

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

MASK = np.array([-np.inf, -np.inf])


def leaf(value: Any) -> Any:
    return Tensor(value, requires_grad=True, name="x")


def found(f: Any, x: Any, backward: bool = False) -> Provenance:
    with mg.trace():
        loss = f(leaf(x)).sum()
    if backward:
        loss.backward()
    provenance = find_nan(loss)
    assert provenance is not None
    return provenance


def twice(y: Any) -> Any:
    return y * 1e308 + y * 1e308


def tainted(provenance: Provenance) -> list[str | None]:
    return [node.name or node.operation for node in provenance.graph.nodes if node.tainted]


@pytest.mark.parametrize(
    ("f", "x", "operation", "cause"),
    [
        (lambda x: np.log(x) * 2, [1.0, 0.0], "log", "the logarithm of 0"),
        (lambda x: np.sqrt(x) + 1, [-1.0], "sqrt", "square root of a negative number"),
        (lambda x: (x - x) / (x * 0), [1.0], "divide", "0 / 0"),
        (lambda x: np.exp(x * 1000), [1.0], "exp", "overflows"),
    ],
    ids=["log 0", "sqrt of -1", "0 / 0", "exp"],
)
def test_the_first_in_the_forward_pass(f: Any, x: Any, operation: str, cause: str) -> None:
    provenance = found(f, x)
    assert provenance.node.operation == operation and provenance.edge is None
    assert provenance.cause is not None and cause in provenance.cause


@pytest.mark.parametrize(
    ("f", "x", "operation", "cause"),
    [
        (lambda x: np.sqrt(x), [0.0, 1.0], "sqrt", "the derivative of the square root at 0 is infinite"),
        (lambda x: np.where(x.data > 0, np.sqrt(x), 0.0), [0.0, 1.0], "sqrt", "np.where\\): 0 \\* inf"),
    ],
    ids=["sqrt'(0)", "the where trap"],
)
def test_else_the_first_in_the_backward_pass(f: Any, x: Any, operation: str, cause: str) -> None:
    provenance = found(f, x, backward=True)
    assert provenance.node.operation == operation
    assert provenance.edge is not None and provenance.edge.argument == "x"
    assert tainted(provenance) == ["x"]
    with pytest.raises(AssertionError, match=cause):
        raise AssertionError(provenance.cause)


def test_the_operation_after_a_sum_that_overflowed_is_not_accused() -> None:
    x = leaf([1.0, 2.0])
    with mg.trace():
        loss = (x * 2).sum()
    loss.backward(np.inf)
    found = find_nan(loss)
    assert found is not None and found.cause == "the gradient that arrived there was already not finite"
    row = leaf([1e-10, 1e-10])
    with mg.trace():
        loss = (row * np.array([[1e308, 1.0], [1e308, 1.0]])).sum() * 1.0
    loss.backward()
    found = find_nan(loss)
    assert found is not None and found.node.operation == "multiply" and found.edge is not None
    assert found.cause == "its numbers are finite, and their sum over the broadcast axes is too large for float64"
    assert "is not finite, at [0].\n" in str(found)  # and nothing is said about operands there


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "source", "sign"),
    [
        (lambda x: x * 1e308 + x * 1e308 - x * 1.0, "x", "inf"),
        (lambda x: (x * 1.0) * -1e308 - (x * 0.9) * 1e308, "x", "-inf"),
        (lambda x: twice(x * 1e-3), "multiply", "inf"),
        (lambda x: sum(part * 1e308 for part in np.split(x, 1) * 2), "split", "inf"),
    ],
    ids=["a leaf", "negative", "an operation", "an output of several"],
)
def test_a_sum_of_contributions_that_overflows(f: Any, source: str, sign: str) -> None:
    x = leaf([1e-9])
    with mg.trace():
        loss = f(x).sum()
    loss.backward()
    provenance = find_nan(loss)
    assert provenance is not None and provenance.edge is not None
    operand = provenance.graph.nodes[provenance.edge.source]
    assert source in (operand.name, operand.operation) and operand.tainted
    assert operand.culprit == f"sum of its gradient: the first {sign.replace('inf', '∞')}"
    others = f"the other contributions to the gradient of {called(provenance.edge, provenance.graph)}"
    assert provenance.cause == f"its numbers are finite, and their sum with {others} is too large for float64"
    assert f"made the first {sign}: its numbers are finite" in str(provenance)
    assert "1 of 1 elements is not finite, at [0].\n" in str(provenance)
    assert f"{__name__.rpartition('.')[2]}.py" in str(provenance)
    page = page_data(capture(loss), check=False)["nodes"]
    (blamed,) = [node for node in page if node["badGradient"] == "culprit"]
    assert page.index(blamed) == operand.id and "their sum is too large" in blamed["why"]["en"]


def test_a_leaf_with_contributions_of_several_sizes_is_not_accused() -> None:
    x = leaf([1e-9])
    with mg.trace():
        loss = (x * 1e308 - x * 1e308 + x * 1e308).sum()
    loss.backward()
    assert find_nan(loss) is None


def test_the_cone_is_what_the_bad_numbers_reached() -> None:
    x = leaf([0.0, 1.0])
    with mg.trace():
        clean = np.exp(x)
        bad = np.log(x) * 3
        stopped = np.where(np.array([False, True]), bad, 0.0)
        loss = (clean + stopped).sum() + bad.sum()
    provenance = find_nan(loss)
    assert provenance is not None
    assert tainted(provenance) == ["log", "multiply", "sum", "add"]


def test_in_words() -> None:
    x = leaf([0.0, 1.0])
    with mg.trace():
        loss = np.log(x).sum()  # the culprit
    text = str(find_nan(loss))
    assert text.startswith("'np.log(x)' made the first -inf: the logarithm of 0 is -inf.\n")
    assert "\n1 of 2 elements is not finite, at [0], where x is 0.0.\n" in text
    assert "test_provenance.py" in text and "# the culprit" in text
    assert text.endswith("It reached 2 of the 3 nodes of the graph.")


def test_an_infinity_of_a_mask_may_pass() -> None:
    x = leaf([1.0, 2.0])
    with mg.trace():
        loss = mg.softmax(np.where(np.array([True, False]), x, -np.inf))[0]
    loss.backward()
    assert find_nan(loss) is None


@pytest.mark.parametrize(
    ("f", "operation", "cause"),
    [
        (lambda x: mg.softmax(x + MASK), "softmax", "its operand x ('x + MASK') holds an infinity"),
        (lambda x: (x + np.inf) * 0.0, "multiply", "its operand x ('x + np.inf') holds an infinity"),
    ],
    ids=["all is masked", "0 * inf"],
)
def test_what_makes_a_nan_of_an_infinity_that_may_pass_is_found(f: Any, operation: str, cause: str) -> None:
    provenance = found(f, [1.0, 2.0])
    assert provenance.node.operation == operation and provenance.edge is None
    assert provenance.cause == cause


def test_an_infinity_of_a_tensor_may_not_pass() -> None:
    """As on the page, and with detect_anomaly; before, only a NaN of a tensor was found."""
    provenance = found(lambda x: x * 2, [np.inf])
    assert provenance.node.operation == "multiply"
    assert provenance.cause == "its operand x already held an infinity when this computation began"


def test_a_nan_that_was_given() -> None:
    provenance = found(lambda x: x * 2, [np.nan])
    assert provenance.node.operation == "multiply"
    assert provenance.cause == "its operand x already held a NaN when this computation began"


def test_finite_numbers_give_none_and_untraced_ones_an_error() -> None:
    x = leaf([1.0])
    with mg.trace():
        y = x * 2
    assert find_nan(y) is None
    with pytest.raises(
        GraphError, match="find_nan found no NaN or infinity in the recorded values, but 2 operations have none"
    ):
        find_nan(np.log(x * 2))


def test_what_was_not_traced_is_not_said_to_be_finite() -> None:
    y = np.log(leaf([0.0, 1.0]))
    with mg.trace():
        loss = (y * 2).sum()
    with pytest.raises(GraphError, match="but 1 operation has none: compute the tensor inside"):
        find_nan(loss)
