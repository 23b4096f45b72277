"""What a derivative rule may return, and how its errors read."""

import sys
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.errors import LinAlgError

X = np.array([[1.5, 2.5, -0.5]])


def by_name(rule: Any) -> Any:
    return mg.primitive(lambda x, /: np.floor(x), name="step").vjp(x=rule)


def for_each(rule: Any) -> Any:
    return mg.primitive(lambda x, /: np.floor(x), name="step").vjp_each(rule)


def by_kernel(rule: Any) -> Any:
    made = by_name(lambda g: np.zeros_like(g))
    made.kernel(np.ndarray, lambda x: (np.floor(x), None), lambda g, needs: (rule(g),))
    return made


def inside(rule: Any) -> Any:
    return mg.primitive(lambda x, /: np.floor(x) * 1.0, name="around").reference(lambda x: by_name(rule)(x) * 1.0)


DECLARED = {"vjp": by_name, "vjp_each": for_each, "kernel": by_kernel, "composition": inside}


@pytest.mark.parametrize("zero", [0.0, 0, False, 0j, [[0.0, 0.0, 0.0]]], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("declare", DECLARED.values(), ids=DECLARED)
def test_a_number_stands_for_an_array_of_it(declare: Any, zero: Any, dtype: Any) -> None:
    step, x = declare(lambda g: zero), X.astype(dtype)
    g = mg.grad(lambda t: np.sum(step(t) * t))(x)
    assert g.dtype == dtype and g.tolist() == np.floor(X).tolist()
    np.testing.assert_array_equal(mg.hessian(lambda t: np.sum(step(t) + t * t))(x).reshape(3, 3), 2 * np.eye(3))
    assert mg.jvp(step, (x,), (x,))[1].tolist() == [[0, 0, 0]]
    if not isinstance(zero, list):
        assert mg.grad(lambda t: step(t) * t)(dtype(1.5)) == 1.0


@pytest.mark.parametrize("declare", DECLARED.values(), ids=DECLARED)
def test_a_first_derivative_that_is_a_number(declare: Any) -> None:
    x = Tensor(X, requires_grad=True)
    declare(lambda g: 2.0)(x).sum().backward()
    assert x.grad is not None and x.grad.data.tolist() == [[2, 2, 2]]
    if declare is not by_kernel:  # its rule is another
        with pytest.raises(mg.GraphError, match=r"'step' with respect to '(x|args0)' is cut off"):
            (declare(lambda g: 2.0)(x) ** 2).sum().backward(create_graph=True)


@pytest.mark.parametrize("wrong", ["0", object(), {"x": 1.0}, [["a"]]], ids=["text", "object", "dict", "list of text"])
@pytest.mark.parametrize("declare", DECLARED.values(), ids=DECLARED)
def test_no_array_is_an_error_with_names(declare: Any, wrong: Any) -> None:
    x = Tensor(X, requires_grad=True)
    with pytest.raises(mg.DTypeError, match=r"rule of 'step' gave a \w+ \(the argument '(x|args0)'\): return an array"):
        declare(lambda g: wrong)(x).sum().backward()
    assert x.grad is None


def test_a_wrong_shape_names_the_argument() -> None:
    x = Tensor(X, requires_grad=True)
    with pytest.raises(
        mg.GraphError, match=r"'step' gave a gradient of shape \(2,\) for an input of shape \(1, 3\).*'x'"
    ):
        by_name(lambda g: [0.0, 0.0])(x).sum().backward()


@pytest.mark.parametrize(("returned", "got"), [(np.ones((1, 3)), "a ndarray"), ((), "0"), ((None, None), "2")])
def test_a_kernel_must_return_one_gradient_for_each_argument(returned: Any, got: str) -> None:
    made = by_name(lambda g: g)
    made.kernel(np.ndarray, lambda x: (np.floor(x), None), lambda g, needs: returned)
    with pytest.raises(mg.ArgumentError, match=f"the kernel's backward of step returned {got} for 1"):
        made(Tensor(X, requires_grad=True)).sum().backward()


SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])


def log_det(m: Any) -> Any:
    return np.sum(np.linalg.slogdet(m)[1])


@pytest.mark.skipif(sys.platform == "emscripten", reason="NumPy finds no singular matrix without floating-point flags")
def test_an_error_of_numpy_in_a_rule_names_the_operation() -> None:
    for run in (
        lambda: mg.grad(log_det)(SINGULAR),
        lambda: mg.hessian(log_det)(SINGULAR),
        lambda: mg.jvp(log_det, (SINGULAR,), (SINGULAR,)),
        lambda: mg.grad(lambda m: mg.checkpoint(log_det, m))(SINGULAR),
    ):
        with pytest.raises(LinAlgError, match=r"^the derivative of 'slogdet': .*Singular matrix"):
            run()


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (lambda g, x: g @ x, mg.ShapeError),
        (lambda g, x: g[5], IndexError),
        (lambda g, x: np.concatenate(g.size), TypeError),
    ],
)
def test_errors_of_rules_have_names_and_lines(rule: Any, kind: type[Exception]) -> None:
    step = mg.primitive(lambda x, /: np.floor(x), name="step").vjp(x=rule)
    x = Tensor(X, requires_grad=True)
    with mg.trace():
        y = step(x)
    with pytest.raises(kind, match=r"^the derivative of 'step': (.|\n)*y = step\(x\)") as found:
        y.sum().backward()
    assert isinstance(found.value, mg.MinigradError) and x.grad is None
    with pytest.raises(kind, match=r"^the derivative of 'step': "):
        step(x).sum().backward()


def test_an_error_raised_on_purpose_is_left_alone() -> None:
    class Own(ValueError):
        pass

    def rule(g: Any) -> Any:
        raise Own("mine")

    with pytest.raises(Own, match=r"^mine$"):
        by_name(rule)(Tensor(X, requires_grad=True)).sum().backward()
