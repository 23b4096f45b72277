"""detect_anomaly(): which operation is named, where and why, and what is let through."""

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import AnomalyError, Tensor, detect_anomaly
from minigrad.engine.observers import active, before_sweep, open_contexts
from minigrad.engine.registry import registry
from minigrad.graph.record.trace import TraceNote
from minigrad.guards.gradients import norm
from minigrad.guards.inplace import check_watched
from minigrad.rules.about import known
from tests import fake_device
from tests.minigrad.rules.test_cases import all_primitives

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, which come first

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def leaf(value: Any, **more: Any) -> Any:
    return Tensor(value, requires_grad=True, **({"dtype": float} | more))


def complaint(f: Callable[[], Any]) -> str:
    with detect_anomaly(), pytest.raises(AnomalyError) as caught:
        f()
    assert not active.contexts and not open_contexts and set(before_sweep) <= {check_watched}
    return str(caught.value)


def line_of(mark: str) -> str:
    """How a message shows the line of this file that ends in ``# mark``."""
    (number,) = (i for i, line in enumerate(LINES, 1) if line.endswith("# " + mark))
    return f'File "{__file__}", line {number}, in '


# --- forward ---


def operation(name: str) -> Any:
    """NumPy's function, or where it is no primitive yet, one made for the purpose."""
    function = getattr(np, name)
    if function in registry:
        return function
    two = function.nin == 2
    forward: Any = (lambda x, y, /: function(x, y)) if two else (lambda x, /: function(x))
    return mg.primitive(forward, name=name).vjp(x=lambda g: g, **({"y": lambda g: g} if two else {}))


CASES: dict[str, list[tuple[tuple[float, ...], str, str]]] = {
    "log": [((0,), "-inf", "logarithm of 0"), ((-1,), "nan", "logarithm of a negative")],
    "log2": [((0,), "-inf", "logarithm of 0"), ((-1,), "nan", "logarithm of a negative")],
    "log10": [((0,), "-inf", "logarithm of 0"), ((-1,), "nan", "logarithm of a negative")],
    "log1p": [((-1,), "-inf", "logarithm of 0"), ((-2,), "nan", "logarithm of a negative")],
    "sqrt": [((-4,), "nan", "square root of a negative")],
    "divide": [((1, 0), "inf", "divides by 0"), ((-1, 0), "-inf", "divides by 0"), ((0, 0), "nan", "0 / 0"),
               ((1e300, 1e-300), "inf", "too large for float64")],
    "remainder": [((1, 0), "nan", "divides by 0")],
    "fmod": [((1, 0), "nan", "divides by 0")],
    "floor_divide": [((1, 0), "inf", "divides by 0")],
    "reciprocal": [((0,), "inf", "divides by 0")],
    "power": [((0, -1), "inf", "0 to a negative power"), ((-2, 0.5), "nan", "a negative number to a fractional power"),
              ((1e200, 2), "inf", "too large for float64")],
    "exp": [((800,), "inf", "above about 710 in float64")],
    "expm1": [((800,), "inf", "above about 710 in float64")],
    "exp2": [((2000,), "inf", "from 1024 in float64")],
    "sinh": [((-800,), "-inf", "above about 710 in float64")],
    "cosh": [((800,), "inf", "above about 710 in float64")],
    "arcsin": [((2,), "nan", "-1 <= x <= 1")],
    "arccos": [((-2,), "nan", "-1 <= x <= 1")],
    "arctanh": [((1,), "inf", "arctanh of 1"), ((2,), "nan", "-1 <= x <= 1")],
    "arccosh": [((0,), "nan", "x >= 1")],
    "multiply": [((1e200, 1e200), "inf", "too large for float64, whose maximum is 1.8e+308")],
    "add": [((1.7e308, 1.7e308), "inf", "too large for float64")],
}  # fmt: skip


def test_each_known_cause_has_a_case() -> None:
    facts = {name: known(p) for name, p in all_primitives().items()}
    assert {name for name, about in facts.items() if about.undefined} <= set(CASES)
    assert {name for name, about in facts.items() if about.steep} <= set(CASES_BACKWARD)


@pytest.mark.parametrize(
    ("name", "values", "made", "cause"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_the_operation_the_value_and_the_cause(name: str, values: tuple[float, ...], made: str, cause: str) -> None:
    fine = {"arccosh": 2.0}.get(name, 0.5)
    f = operation(name)
    message = complaint(lambda: f(*[leaf([fine, fine, value]) for value in values]))
    assert message.startswith(f"'{name}' made the first {made}: ") and cause in message
    assert "1 of 3 elements is not finite, at [2]" in message
    if f is getattr(np, name):  # a ufunc, so that the operands there can be told
        for argument, value in zip("xy", values):
            assert f"{argument} is {float(value)!r}" in message


def test_float32_and_scalars() -> None:
    message = complaint(lambda: leaf(1e30, dtype=np.float32) * 1e30)
    assert "float32, whose maximum is 3.4" in message and "It is a single number, where x is 1.0" in message


def test_the_first_one_is_named_and_where_it_was_called() -> None:
    def loss(x: Any) -> Any:
        y = x * 2.0
        z = np.log(y)  # logarithm
        return np.exp(z).sum()

    message = complaint(lambda: loss(leaf([[1.0, 2.0], [0.0, 3.0]], name="price")))
    assert message.startswith("'log' made the first -inf")
    assert "at [1, 0]" in message and line_of("logarithm") + "loss" in message and "z = np.log(y)" in message
    assert "'price'" not in message  # x of log is y, not the leaf
    assert "x ('price') is 0.0" in complaint(lambda: np.log(leaf([0.0], name="price")))


def test_the_expression_on_the_line_is_underlined() -> None:
    x = leaf(0.0)
    message = complaint(lambda: 2 * np.log(x * 1) + x)
    line = message.splitlines()[-2]
    assert line[message.splitlines()[-1].index("^") : message.splitlines()[-1].rindex("^") + 1] == "np.log(x * 1)"
    assert set(message.splitlines()[-1]) == {" ", "^"}


def test_operators_and_methods_name_the_users_line() -> None:
    def divide(x: Any) -> Any:
        return 1 / x  # operator

    def method(x: Any) -> Any:
        return x.log()  # method

    assert line_of("operator") + "divide" in complaint(lambda: divide(leaf([0.0])))
    assert line_of("method") + "method" in complaint(lambda: method(leaf([0.0])))


def test_inside_a_module_the_users_frame_and_the_modules_path_are_named() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.layers = [nn.Affine(2, 2, rng=np.random.default_rng(0)) for _ in range(2)]

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)  # layer
            return x

    net = Net()
    net.layers[1].weight.data[0, 0] = np.nan
    message = complaint(lambda: net(np.ones((1, 2), np.float32)))
    assert "its operand weight already held a NaN when this computation began" in message
    assert "module 'layers.1'" in message and line_of("layer") + "forward" in message


def test_several_outputs_and_variadic_operations() -> None:
    both = mg.primitive(lambda x, /: (x + 1, np.log(x)), name="both").vjp(x=lambda g: g[0])
    assert "'both' made the first -inf" in complaint(lambda: both(leaf([0.0])))
    message = complaint(lambda: np.concatenate([leaf([0.0]), np.array([np.nan])]))
    assert "'concatenate' made the first nan: its operand argument 1 already held a NaN" in message


@pytest.mark.parametrize(("value", "what"), [(np.nan, "a NaN"), (np.inf, "an infinity")])
def test_a_leaf_that_is_not_finite(value: float, what: str) -> None:
    message = complaint(lambda: leaf([1.0, value], name="w") * 2)
    assert f"its operand x ('w') already held {what}" in message


def test_nan_of_a_constant_does_not_pass() -> None:
    assert "its operand y already held a NaN" in complaint(lambda: leaf([1.0, 2.0]) * np.array([1.0, np.nan]))


def test_an_argument_that_is_not_given_makes_no_infinity_pass() -> None:
    scaled = mg.primitive(lambda x, y=None, /: x * (10 if y is None else y), name="scaled").vjp(
        x=lambda g: g, y=lambda g: g
    )
    assert "'scaled' made the first inf" in complaint(lambda: scaled(leaf([1e308]), None))


def test_infinities_of_a_mask_pass() -> None:
    x, mask = leaf([1.0, 2.0, 3.0]), np.array([True, False, True])
    with detect_anomaly():
        scores = np.where(mask, x, -np.inf)
        mg.softmax(scores + 1.0).max().backward()
        np.maximum(x, -np.inf).sum().backward()
    assert np.isfinite(x.grad.data).all()


def test_nan_made_of_such_infinities_does_not() -> None:
    masked = leaf([1.0, 2.0])
    message = complaint(lambda: mg.softmax(np.where(np.array([False, False]), masked, -np.inf)))
    assert "'softmax' made the first nan: its operand x holds an infinity" in message


def test_complex_numbers() -> None:
    assert "'divide' made the first nan" in complaint(lambda: Tensor([1j, 0j], requires_grad=True) / np.array([1j, 0j]))
    assert "'power' made the first nan: it is undefined" in complaint(
        lambda: Tensor([0j], requires_grad=True) ** np.array([-1j])
    )
    assert "too large for complex64" in complaint(lambda: Tensor([1e30j], True, dtype=np.complex64) * 1e30)


def test_on_a_device() -> None:
    x = leaf(fake_device.asarray(np.array([1.0, 0.0])))
    assert "'log' made the first -inf: the logarithm of 0" in complaint(lambda: np.log(x))
    assert "'sqrt' with respect to x made the first inf" in complaint(lambda: np.sqrt(x).sum().backward())


# --- backward ---

CASES_BACKWARD: dict[str, list[tuple[Callable[[], Any], str, str]]] = {
    "sqrt": [
        (lambda: np.sqrt(leaf([4.0, 0.0])).sum(), "inf", "the derivative of the square root at 0 is infinite"),
        (lambda: np.where([True, False], np.sqrt(leaf([4.0, 0.0])), 0.0).sum(), "nan", "0 * inf is nan"),
    ],
    "power": [
        (lambda: np.power(leaf([4.0, 0.0]), 0.5).sum(), "inf", "at x = 0 is infinite for y < 1"),
        (lambda: np.power(-2.0, leaf([2.0])).sum(), "nan", "the logarithm of x, and x is negative"),
    ],
    "log": [(lambda: np.log(leaf([1e-310])).sum(), "inf", "too near to 0")],
    "log2": [(lambda: np.log2(leaf([1e-310])).sum(), "inf", "too near to 0")],
    "log10": [(lambda: np.log10(leaf([1e-310])).sum(), "inf", "too near to 0")],
    "divide": [(lambda: (1e-10 / leaf([1e-200])).sum(), "-inf", "too near to 0")],
    "arcsin": [(lambda: np.arcsin(leaf([1.0])).sum(), "inf", "at -1 and 1 is infinite")],
    "arccos": [(lambda: np.arccos(leaf([1.0])).sum(), "-inf", "at -1 and 1 is infinite")],
    "arctanh": [],  # infinite itself where its derivative is
    "arccosh": [(lambda: np.arccosh(leaf([1.0])).sum(), "inf", "at 1 is infinite")],
    "cbrt": [(lambda: np.cbrt(leaf([0.0])).sum(), "inf", "the cube root at 0 is infinite")],
    "reciprocal": [(lambda: (np.reciprocal(leaf([1e-200]))).sum(), "-inf", "too near to 0")],
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("name", "f", "made", "cause"), [(name, *case) for name, cases in CASES_BACKWARD.items() for case in cases]
)
def test_the_rule_and_the_cause(name: str, f: Callable[[], Any], made: str, cause: str, create_graph: bool) -> None:
    message = complaint(lambda: f().backward(create_graph=create_graph))
    assert (
        message.startswith(f"in the backward pass, the derivative of '{name}' with respect to ")
        and f" made the first {made}: " in message
    )
    assert cause in message and f'File "{__file__}"' in message


def test_backward_names_the_line_of_the_forward_pass() -> None:
    def loss(x: Any) -> Any:
        y = x * 2.0
        z = np.sqrt(y)  # square root
        return (z + 1.0).sum()

    x = leaf([1.0, 0.0], name="area")
    with detect_anomaly():
        recorded = loss(x)
    with pytest.raises(AnomalyError) as caught:  # it may come after the block
        recorded.backward()
    assert line_of("square root") + "loss" in str(caught.value) and "z = np.sqrt(y)" in str(caught.value)
    assert "where its result is 0.0" in str(caught.value)
    assert x.grad is None


def test_what_was_recorded_before_the_block() -> None:
    recorded = np.sqrt(leaf([0.0])).sum()
    message = complaint(recorded.backward)
    assert (
        "'sqrt' with respect to x made the first inf" in message and "recorded outside of detect_anomaly()" in message
    )


def test_a_cotangent_that_is_not_finite() -> None:
    message = complaint(lambda: (leaf([1.0, 2.0]) * 2.0).backward(np.array([np.inf, 1.0])))
    assert "the gradient that arrived there was already not finite" in message


def test_a_composition_is_named_as_a_whole() -> None:
    """Inside a fused operation the rules of others run; what the user called is what is named."""

    def root(x: Any, /) -> Any:
        return np.sqrt(x * x)

    fused = mg.primitive(root, name="fused").reference(root)
    for create_graph in (False, True):
        message = complaint(lambda c=create_graph: fused(leaf([0.0])).sum().backward(create_graph=c))  # type: ignore[misc]
        assert message.startswith(
            "in the backward pass, the derivative of 'fused' with respect to x made the first nan"
        )


def test_a_second_derivative() -> None:
    x = leaf([0.0, 1.0])

    def second() -> None:
        (x**1.5).sum().backward(create_graph=True)
        x.grad.sum().backward()

    message = complaint(second)
    assert "in the backward pass" in message and "'power'" in message


def test_a_transform() -> None:
    assert "'sqrt' with respect to x made the first inf" in complaint(lambda: mg.grad(lambda x: np.sqrt(x))(0.0))


# --- the block itself ---


def test_outside_nothing_is_looked_at() -> None:
    before = np.log(leaf([0.0]))
    with detect_anomaly():
        pass
    x = leaf([0.0])
    y = np.sqrt(np.log(x) * 0.0 + x)
    y.sum().backward()
    assert np.isneginf(before.data).all() and np.isnan(x.grad.data).all()
    assert not mg.tape(y)[0].notes


def test_a_healthy_step_gives_the_same_numbers() -> None:
    def step(watch: bool) -> list[Any]:
        model = nn.Affine(3, 4, rng=np.random.default_rng(0))
        x, labels = np.random.default_rng(1).standard_normal((5, 3)).astype("f4"), np.arange(5) % 4
        if watch:
            with detect_anomaly():
                nn.cross_entropy(mg.gelu(model(x)), labels).backward()
        else:
            nn.cross_entropy(mg.gelu(model(x)), labels).backward()
        return [p.grad.tolist() for p in model.parameters() if p.grad is not None]

    assert step(True) == step(False) != []


@pytest.mark.parametrize("order", [(mg.trace, detect_anomaly), (detect_anomaly, mg.trace)])
def test_together_with_a_trace(order: tuple[Any, Any]) -> None:
    x = leaf([4.0, 9.0])
    with order[0](), order[1]():
        loss = np.sqrt(x).sum()
        bad = np.sqrt(leaf([0.0])).sum()
    loss.backward()
    noted = [next(note for note in entry.notes if isinstance(note, TraceNote)) for entry in mg.tape(loss)]
    assert noted[1].cotangents == {0: 1.0} and norm(noted[0].cotangents[0]) == pytest.approx(2**0.5)
    assert mg.draw_dot(loss).nodes[1].gradient == pytest.approx(2**0.5)
    with pytest.raises(AnomalyError, match="'sqrt' with respect to x made the first inf"):
        bad.backward()


def test_it_ends_with_an_exception_and_may_be_nested() -> None:
    watcher = detect_anomaly()
    with pytest.raises(KeyError), watcher, detect_anomaly():
        with watcher:
            pass
        raise KeyError
    assert not active.contexts and not open_contexts and set(before_sweep) <= {check_watched}
    assert np.isneginf(np.log(leaf([0.0])).data).all()


def test_after_an_error_inside_the_block_it_goes_on() -> None:
    with detect_anomaly():
        with pytest.raises(AnomalyError, match="'sqrt' with respect to x"):
            np.sqrt(leaf([0.0])).sum().backward(create_graph=True)
        with pytest.raises(AnomalyError, match="'log' made"):
            np.log(leaf([0.0]))


def test_it_belongs_to_its_thread() -> None:
    seen: list[Any] = []

    def work() -> None:
        x = leaf([0.0])
        np.sqrt(x).sum().backward()
        seen.append(x.grad)

    with detect_anomaly():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(seen) == 1 and np.isinf(seen[0].data).all()


@pytest.mark.usefixtures("no_gc")
def test_it_keeps_no_graph_alive() -> None:
    with detect_anomaly():
        x = leaf([1.0, 2.0])
        y = np.exp(x)
        loss = (y * y).sum()
        array = weakref.ref(y.data)
        del y
        loss.backward()
        assert array() is None  # released by the sweep, as ever
        tensor = weakref.ref(x)
        del x, loss
        assert tensor() is None
