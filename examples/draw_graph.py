"""Draws the graph of the README's example: docs/images/small_graph.svg and .png (needs the extra: minigrad[graph])."""

from pathlib import Path

import numpy as np

import minigrad as mg

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def small_graph() -> mg.graph.Graph:
    """The README's example, recorded inside a trace, so that constants and the gradients of operations show."""
    x = np.array([1.0, 0.5])
    W = mg.Tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True, name="W")
    with mg.trace():
        y = np.tanh(x @ W)
        loss = ((y - [1.0, 0.0]) ** 2).mean()
    loss.name = "loss"
    loss.backward()
    return mg.draw_dot(loss, params={"W": W, "x": x})


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    for suffix in (".svg", ".png"):
        print(small_graph().render(IMAGES / f"small_graph{suffix}"))
