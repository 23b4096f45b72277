"""Draws the graphs of the README and the docs: small_graph.svg and .png, and classifier_graph.svg.

    python examples/draw_graph.py                        # into out/
    python examples/draw_graph.py --out docs/images      # the pictures that the pages show

This needs Graphviz: pip install pygraphviz.
"""

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
from pathlib import Path

import numpy as np

import minigrad as mg
import nn
from common import make_folder, run
from models import ClassifierConfig, TransformerClassifier


def small_graph() -> mg.graph.Drawing:
    """The README's example, recorded inside a trace, so that constants and the gradients of operations show."""
    x = np.array([1.0, 0.5])
    W = mg.Tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True, name="W")
    with mg.trace():
        y = np.tanh(x @ W)
        loss = ((y - [1.0, 0.0]) ** 2).mean()
    loss.name = "loss"
    loss.backward()
    return mg.draw_dot(loss, params={"W": W, "x": x})


def classifier_graph() -> mg.graph.Drawing:
    """The classifier of `train_classifier.py` before training, on two texts of nine tokens, of which one is shorter."""
    rng = np.random.default_rng(0)
    model = TransformerClassifier(ClassifierConfig(vocab_size=1000, num_classes=10), rng=rng)
    ids, labels = rng.integers(0, 1000, size=(2, 9)), np.array([3, 7])
    mask = np.arange(9) < np.array([[9], [6]])  # True: a token, not padding
    with mg.trace():
        loss = nn.cross_entropy(model(ids, mask), labels)
    loss.name = "loss"
    loss.backward()
    return mg.draw_dot(loss, params=model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures (default: out/)")
    out = make_folder(parser.parse_args().out)
    for suffix in (".svg", ".png"):
        print(small_graph().render(out / f"small_graph{suffix}"))
    print(classifier_graph().render(out / "classifier_graph.svg"))


if __name__ == "__main__":
    run(main)
