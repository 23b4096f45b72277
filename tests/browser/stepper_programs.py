"""Programs of many kinds for the stepper's tests: each gives the tensor to explain, and its leaves by name."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import explain
from tests.leaves import leaf
from tests.proof.programs import (
    Named,
    called_twice,
    hostile_names,
    indexing,
    layer_by_hand,
    neuron,
    not_a_number,
    second_order,
    transformer,
)

Show = Callable[..., Any]
Program = Callable[[], Named]
HOSTILE = "</script><b onclick=alert(1)>"
fan_out, broadcasting, called, names = neuron, layer_by_hand, called_twice, hostile_names


def kinked() -> Named:
    x = leaf(0.0)
    return mg.relu(x) * 2.0, {"x": x}


def loop() -> Named:
    w, start = leaf([[0.5, 0.1], [-0.3, 0.4]]), leaf([0.1, 0.2])
    h = start
    for i in range(200):
        h = np.tanh(h @ w + 0.01 * i)
    return (h * h).sum(), {"w": w, "start": start}


def straight() -> Named:
    """Hundreds of operations that do not repeat."""
    rng = np.random.default_rng(0)
    x = leaf(0.3)
    values = [x]
    kinds = [np.sin, np.tanh, np.cos, np.arctan]
    for i in range(1000):
        a, b = (values[int(rng.integers(max(0, len(values) - back), len(values)))] for back in (6, 30))
        values.append(kinds[int(rng.integers(4))](a) if i % 2 else a * b)
    return sum(values[-5:], values[0]), {"x": x}


PROGRAMS: list[Program] = [
    fan_out, broadcasting, loop, called, transformer, second_order, indexing, names, straight, not_a_number
]  # fmt: skip


def explained(program: Program, path: Path, **options: Any) -> dict[str, Any]:
    """Write the page of a program; gives its leaves, which have their gradients by then."""
    with mg.trace():
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
