"""`grad_flow`: its norms against NumPy's, its memory, and its flags on networks that were built to show each."""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, Tensor, grad_flow
from tests.fake_device import FakeArray

rng = np.random.default_rng(0)


def leaf(value: Any, **options: Any) -> Tensor:
    return Tensor(np.array(value, float), requires_grad=True, **options)


class Net:
    """Layers of Affine and an activation, by hand: minigrad knows no nn."""

    def __init__(
        self, sizes: list[int], scale: float, activation: Callable[[Any], Any] = np.tanh, bias: float = 0.0
    ) -> None:
        local = np.random.default_rng(1)
        self.layers = [
            (leaf(scale * local.normal(size=shape)), leaf(np.full(shape[1], bias)))
            for shape in itertools.pairwise(sizes)
        ]
        self.activation = activation

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        for i, (weight, bias) in enumerate(self.layers):
            yield f"layers.{i}.weight", weight
            yield f"layers.{i}.bias", bias

    def loss(self) -> Tensor:
        x: Any = np.random.default_rng(2).normal(size=(16, self.layers[0][0].shape[0]))
        for i, (weight, bias) in enumerate(self.layers):
            x = x @ weight + bias
            if i + 1 < len(self.layers):
                x = self.activation(x)
        return ((x - 1.0) ** 2).mean()


def train(model: Any, flow: grad_flow, loss: Callable[[], Tensor], steps: int = 12, lr: float = 0.01) -> None:
    """Plain gradient descent."""
    named = dict(model if isinstance(model, dict) else model.named_parameters())
    for _ in range(steps):
        for p in named.values():
            p.zero_grad()
        with np.errstate(all="ignore"):
            loss().backward()
            for p in named.values():
                if p.grad is not None:
                    p.data -= lr * p.grad.data
        flow.step()


# --- norms ---


def test_norms_are_those_of_the_arrays() -> None:
    net = Net([3, 4, 2], 0.5)
    flow = grad_flow(net)
    found: list[dict[str, list[float]]] = []
    for _ in range(3):
        net.loss().backward()
        row = {}
        for name, p in net.named_parameters():
            before = p.numpy().copy()
            assert p.grad is not None
            p.data -= 0.1 * p.grad.data
            arrays = (p.grad.numpy(), p.numpy(), p.numpy() - before)
            row[name] = [math.sqrt(float((a * a).sum())) for a in arrays]
        flow.step()
        found.append(row)
    assert flow.steps == [0, 1, 2]
    assert list(flow.layers) == ["layers.0", "layers.1"]
    for i, what in enumerate(("gradient", "parameter", "update")):
        norms = flow.norms(what)  # type: ignore[arg-type]
        for layer in flow.layers:
            together = [math.hypot(row[f"{layer}.weight"][i], row[f"{layer}.bias"][i]) for row in found]
            np.testing.assert_allclose(norms[layer], together, rtol=1e-13)
    np.testing.assert_allclose(
        flow.ratios()["layers.1"], flow.norms("update")["layers.1"] / flow.norms("parameter")["layers.1"]
    )


def test_a_dict_of_tensors_and_names_without_a_module() -> None:
    w, deep = leaf([3.0, 4.0]), leaf([1.0])
    flow = grad_flow({"w": w, "a.b.c": deep, "a.b.d": leaf([2.0])})
    assert flow.layers == {"w": [0], "a.b": [1, 2]}
    (w.sum() * deep.sum()).backward()
    flow.step()
    assert flow.norms("parameter")["w"] == [5.0]
    assert flow.norms("parameter")["a.b"] == [pytest.approx(math.sqrt(5))]
    assert flow.norms("gradient")["a.b"] == [7.0]  # of those that have one
    assert repr(flow) == "grad_flow(3 parameters in 2 layers, 1 steps noted)"


def test_norms_neither_overflow_nor_underflow_in_float32_and_know_complex_numbers() -> None:
    flow = grad_flow(
        {
            "large": Tensor(np.full(4, 1e30, np.float32), requires_grad=True),
            "small": Tensor(np.full(4, 1e-30, np.float32), requires_grad=True),
            "complex": Tensor(np.array([3 + 4j]), requires_grad=True),
        }
    )
    flow.step()
    found = {name: float(norm[0]) for name, norm in flow.norms("parameter").items()}
    assert found == {"large": pytest.approx(2e30), "small": pytest.approx(2e-30), "complex": 5.0}


def test_every_and_the_update_of_one_step() -> None:
    w = leaf([1.0])
    flow = grad_flow({"w": w}, every=3)
    for i in range(7):
        w.data += i + 1
        flow.step()
    assert flow.steps == [0, 3, 6]
    assert flow.norms("update")["w"].tolist() == [1, 4, 7]


def test_one_transfer_a_step(put: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    net = {
        "w": Tensor(put(np.array([3.0, 4.0])), requires_grad=True),
        "b": Tensor(put(np.array([1.0])), requires_grad=True),
    }
    flow = grad_flow(net)
    kind: Any = type(net["w"].data)
    transfers = []
    get = kind.get

    def counted(array: Any, *arguments: Any, **keywords: Any) -> Any:
        transfers.append(array.shape)
        return get(array, *arguments, **keywords)

    if kind is FakeArray:  # a class of C lets nobody replace its methods
        monkeypatch.setattr(kind, "get", counted)
    (net["w"].sum() * net["b"].sum()).backward()
    for p in net.values():
        assert p.grad is not None
        p.data -= 0.5 * p.grad.data
    flow.step()
    assert transfers == ([(3, 2)] if kind is FakeArray else [])
    assert flow.norms("gradient")["w"] == [pytest.approx(math.sqrt(2))]
    assert flow.norms("update")["b"] == [pytest.approx(3.5)]


# --- flags ---


def test_a_healthy_network_has_no_flags() -> None:
    net = Net([8, 8, 8, 1], 0.4)
    flow = grad_flow(net)
    train(net, flow, net.loss, steps=30, lr=0.02)
    assert flow.flags() == []


def test_small_weights_in_a_deep_network_let_the_gradient_vanish() -> None:
    net = Net([8] * 8 + [1], 0.01)
    flow = grad_flow(net)
    train(net, flow, net.loss, steps=9)
    assert not any(flag.kind == "vanishing" for flag in flow.flags())  # ten noted steps in a row are needed
    train(net, flow, net.loss, steps=3)
    flags = {flag.name: flag for flag in flow.flags() if flag.kind == "vanishing"}
    assert {"layers.0", "layers.1", "layers.2"} <= set(flags)
    assert "layers.7" not in flags
    assert (flags["layers.0"].first, flags["layers.0"].last) == (0, 11)
    norm = f"{np.median(flow.norms()['layers.0']):.3g}"
    assert str(flags["layers.0"]) == (
        "vanishing: layers.0 has a gradient below 1e-07, or below 0.0001 of that of the largest layer: "
        f"about {norm}, at steps 0 to 11"
    )


def test_a_gradient_far_below_the_largest_vanishes_too() -> None:
    a, b = leaf([1.0]), leaf([1.0])
    flow = grad_flow({"a": a, "b": b})
    train({"a": a, "b": b}, flow, lambda: (a * 1e-4 + b * 10.0).sum(), lr=1e-3)
    (flag,) = [flag for flag in flow.flags() if flag.kind == "vanishing"]
    assert str(flag) == (
        "vanishing: a has a gradient below 1e-07, or below 0.0001 of that of the largest layer: about 0.0001, at steps 0 to 11"
    )


def test_large_weights_let_it_explode() -> None:
    net = Net([8] * 4 + [1], 100.0, lambda x: x)
    flow = grad_flow(net)
    train(net, flow, net.loss, steps=3, lr=0.0)
    flags = [flag for flag in flow.flags() if flag.kind == "exploding"]
    assert {flag.name for flag in flags} == {f"layers.{i}" for i in range(4)}
    value = np.median(flow.norms()["layers.0"])
    assert str(flags[0]) == f"exploding: layers.0 has a gradient above 1000: about {value:.3g}, at steps 0 to 2"


def test_a_learning_rate_that_is_too_large_lets_it_grow_until_it_is_nan() -> None:
    w = leaf([1.0])
    flow = grad_flow({"w": w})
    train({"w": w}, flow, lambda: (w**2).sum(), steps=600, lr=10.0)  # w *= -19
    norms = flow.norms("gradient")["w"]
    bad, large = (flag for flag in flow.flags() if flag.kind == "exploding")
    assert str(bad).startswith("exploding: w has a NaN or an infinity in its gradient, parameters or update, at steps ")
    assert (large.first, bad.last) == (3, 599) and norms[2] == 722 and np.isinf(norms[-1])
    assert large.last <= bad.first <= large.last + 1  # the first update that is not finite
    assert "nan/inf" in flow.table()


def test_relu_with_negative_biases_is_dead() -> None:
    net = Net([4, 8, 8, 1], 0.3, mg.relu, bias=0.1)
    net.layers[1][1].data -= 100.0
    flow = grad_flow(net)
    train(net, flow, net.loss)
    dead = [flag for flag in flow.flags() if flag.kind == "dead"]
    assert [flag.name for flag in dead] == ["layers.0", "layers.1", "layers.2.weight"]
    assert str(dead[0]) == ("dead: layers.0 has a gradient of exactly 0, at steps 0 to 11")


def test_a_parameter_that_never_gets_a_gradient_is_dead_unless_it_is_frozen() -> None:
    used, unused, frozen = leaf([1.0]), leaf([1.0]), Tensor(np.ones(1))
    named = {"layer.used": used, "layer.unused": unused, "frozen": frozen, "alone": leaf([1.0])}
    flow = grad_flow(named)
    train(named, flow, lambda: (used * frozen).sum(), steps=2)
    assert [str(flag) for flag in flow.flags()] == [
        "dead: layer.unused never got a gradient, because the loss does not depend on it, at steps 0 to 1",
        "dead: alone never got a gradient, because the loss does not depend on it, at steps 0 to 1",
    ]


def test_what_the_optimizer_does_not_know_is_unchanged() -> None:
    a, b = leaf([1.0]), leaf([1.0])
    flow = grad_flow({"a": a, "b": b})
    train({"a": a}, flow, lambda: (a * b).sum())
    (flag,) = [flag for flag in flow.flags() if flag.kind == "unchanged"]
    assert str(flag).startswith("unchanged: b gets a gradient but does not change") and (flag.first, flag.last) == (
        0,
        11,
    )


@pytest.mark.parametrize(("lr", "words"), [(1e-7, "updates below 1e-05"), (0.5, "updates above 0.1"), (1e-3, "")])
def test_updates_out_of_proportion(lr: float, words: str) -> None:
    w = leaf([1.0, -1.0])
    flow = grad_flow({"w": w})
    for i in range(12):
        w.grad = Tensor(np.ones(2) * (-1) ** i)
        w.data -= lr * w.grad.data
        flow.step()
    flags = flow.flags()
    assert [flag.kind for flag in flags] == (["ratio"] if words else []) and all(words in str(flag) for flag in flags)
    if words:
        assert float(re.findall(r"about (\S+),", str(flags[0]))[0]) == pytest.approx(lr, rel=0.1)


# --- views ---


def noted() -> grad_flow:
    net = Net([3, 4, 1], 0.5)
    flow = grad_flow(net)
    train(net, flow, net.loss, steps=5)
    return flow


def test_the_table() -> None:
    w, unused = leaf([3.0, 4.0]), leaf([1.0])
    flow = grad_flow({"w": w, "unused": unused})
    assert flow.table() == "no step was noted"
    w.sum().backward()
    w.data -= 1.0
    flow.step()
    assert str(flow).splitlines() == [
        "step 0, and the gradient's range over 1 noted steps",
        "layer   |gradient|     least      most  |parameter|  |update|  update/parameter",
        "w         1.41e+00  1.41e+00  1.41e+00     3.61e+00  1.41e+00          3.92e-01",
        "unused           -         -         -     1.00e+00         0                 0",
        "dead: unused never got a gradient, because the loss does not depend on it, at steps 0 to 0",
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_the_picture(suffix: str, start: bytes, tmp_path: Path) -> None:
    path = noted().plot(tmp_path / f"flow{suffix}")
    assert path.read_bytes().startswith(start)


def test_the_picture_of_nan_zero_and_no_gradient(tmp_path: Path) -> None:
    w, zero = leaf([1.0]), leaf([0.0])
    flow = grad_flow({"w": w, "zero": zero, "unused": leaf([0.0])})
    for value in (1.0, np.inf, np.nan):
        w.data = np.array([value])
        flow.step()
    assert np.isinf(flow.ratios()["w"][1:]).all() and np.isnan(flow.ratios()["zero"]).all()
    flow.plot(tmp_path / "flow.png")


def test_the_same_flow_gives_the_same_svg(tmp_path: Path) -> None:
    flow = noted()
    assert flow.plot(tmp_path / "a.svg").read_bytes() == flow.plot(tmp_path / "b.svg").read_bytes()


# --- what is refused ---


def test_wrong_models_are_refused() -> None:
    with pytest.raises(
        ArgumentError, match=r"a dict from name to Tensor, or an object with named_parameters\(\), for model, got list"
    ):
        grad_flow([leaf([1.0])])
    with pytest.raises(ArgumentError, match="'w' must be a Tensor, got ndarray"):
        grad_flow({"w": np.ones(2)})
    with pytest.raises(ArgumentError, match="this dict has no parameters"):
        grad_flow({})


def test_a_setting_out_of_range_is_refused() -> None:
    with pytest.raises(ArgumentError, match="every >= 1, got 0"):
        grad_flow({"w": leaf([1.0])}, every=0)


def test_views_of_nothing_say_what_to_call(tmp_path: Path) -> None:
    flow = grad_flow({"w": leaf([1.0])})
    assert flow.flags() == []
    with pytest.raises(GraphError, match=r"call flow.step\(\) after optimizer.step\(\)"):
        flow.plot(tmp_path / "flow.svg")


def test_wrong_arguments_of_views_are_refused(tmp_path: Path) -> None:
    flow = noted()
    with pytest.raises(ArgumentError, match="'gradients'"):
        flow.norms("gradients")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"flow.gif' names no format .* \.svg, \.png, \.pdf"):
        flow.plot(tmp_path / "flow.gif")
