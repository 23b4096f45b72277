"""Programs of many kinds for the stepper's tests: each gives the tensor to explain, and its leaves by name."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import explain
from models.two_layer_transformer import TwoLayerConfig, TwoLayerTransformer
from tests.leaves import leaf

Show = Callable[..., Any]
Program = Callable[[], tuple[Any, dict[str, Any]]]
HOSTILE = "</script><b onclick=alert(1)>"


def fan_out() -> tuple[Any, dict[str, Any]]:
    w, x, b = leaf(0.5), leaf(0.8), leaf(0.1)
    with mg.trace():
        u = w * x + b
        s = np.tanh(u)
        loss = s * s + u * w
    return loss, {"w": w, "x": x, "b": b}


def kinked() -> tuple[Any, dict[str, Any]]:
    x = leaf(0.0)
    with mg.trace():
        loss = mg.relu(x) * 2.0
    return loss, {"x": x}


def broadcasting() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    x, w, b = leaf(rng.normal(size=(4, 3))), leaf(rng.normal(size=(3, 2))), leaf(rng.normal(size=2))
    with mg.trace():
        h = np.tanh(x @ w + b)
        loss = ((h - 1.0) ** 2).mean()
    return loss, {"x": x, "w": w, "b": b}


def loop() -> tuple[Any, dict[str, Any]]:
    w, start = leaf([[0.5, 0.1], [-0.3, 0.4]]), leaf([0.1, 0.2])
    with mg.trace():
        h = start
        for i in range(200):
            h = np.tanh(h @ w + 0.01 * i)
        loss = (h * h).sum()
    return loss, {"w": w, "start": start}


def called() -> tuple[Any, dict[str, Any]]:
    a, b = leaf(2.0), leaf(3.0)
    with mg.trace():
        total = _square(a) + _square(b)
        loss = np.sqrt(total)
    return loss, {"a": a, "b": b}


def _square(v: Any) -> Any:
    return v * v


def transformer() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    model = TwoLayerTransformer(TwoLayerConfig(3, 4, 2, std=0.5), rng=rng)
    with mg.trace():
        loss = model.loss(rng.normal(size=(2, 3, 3)).astype(np.float32), np.eye(2, dtype=np.float32))
    return loss, dict(model.named_parameters())


def second_order() -> tuple[Any, dict[str, Any]]:
    x = leaf(0.7)
    with mg.trace():
        y = np.sin(x) * x
        (slope,) = mg.autograd_grad(y, [x], create_graph=True)
        loss = slope * slope
    return loss, {"x": x}


def indexing() -> tuple[Any, dict[str, Any]]:
    x = leaf(np.arange(12.0).reshape(3, 4) / 10)
    with mg.trace():
        picked = x[1:, ::2]
        loss = np.einsum("ij,kj->", picked, picked) + x[0].max()
    return loss, {"x": x}


def names() -> tuple[Any, dict[str, Any]]:
    重み, x = leaf(0.5, "重み"), leaf(1.5, HOSTILE)
    with mg.trace():
        予測 = 重み * x
        loss = (予測 - 1.0) ** 2
    return loss, {"重み": 重み, HOSTILE: x}


def straight() -> tuple[Any, dict[str, Any]]:
    """Hundreds of operations that do not repeat."""
    rng = np.random.default_rng(0)
    x = leaf(0.3)
    values = [x]
    kinds = [np.sin, np.tanh, np.cos, np.arctan]
    with mg.trace():
        for i in range(1000):
            a, b = (values[int(rng.integers(max(0, len(values) - back), len(values)))] for back in (6, 30))
            values.append(kinds[int(rng.integers(4))](a) if i % 2 else a * b)
        loss = sum(values[-5:], values[0])
    return loss, {"x": x}


def not_a_number() -> tuple[Any, dict[str, Any]]:
    x, y = leaf(1.0), leaf(2.0)
    with mg.trace(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        d = x - y
        r = np.sqrt(d)
        loss = r * x + y
    return loss, {"x": x, "y": y}


PROGRAMS: list[Program] = [
    fan_out, broadcasting, loop, called, transformer, second_order, indexing, names, straight, not_a_number
]  # fmt: skip


def explained(program: Program, path: Path, **options: Any) -> dict[str, Any]:
    """Write the page of a program; gives its leaves, which have their gradients by then."""
    loss, leaves = program()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.backward()
        explain(loss, path, leaves if program not in (fan_out, broadcasting) else None, **options)
    return leaves


def press(page: Any, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def opened(program: Program, tmp_path: Path, show: Show, width: int = 1280, height: int = 800, **options: Any) -> Any:
    explained(program, tmp_path / "page.html")
    return show(tmp_path / "page.html", width, height, **options)


def node(name: str) -> str:
    """In JavaScript: the number of the node of that name."""
    return f"graph.nodes.findIndex((node) => node.name === {name!r})"
