"""Watch gradients flow through training: a network that learns, and the same one started badly in four ways.

    python examples/watch_training.py

Each is a deep network of 8 layers that learns to tell two interleaved spirals apart. One starts as it should; one with weights
near 0, one with large ones, one with biases so far below 0 that relu lets nothing through, and one learns with a rate that
is too small. What `minigrad.grad_flow` says about each is printed. The Transformer at the end learns to read one token of a
sequence, and where it looks for it is drawn.

Written to `out/`: for each network flow_NAME.png, the heat maps of its layers; attention.html and attention_heads.png of the
Transformer.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nn
from common import argument_parser, at_least, make_folder, run
from minigrad import Tensor, attention_maps, grad_flow, no_grad, relu
from minigrad.device import to_device
from models import ClassifierConfig, TransformerClassifier

Array = NDArray[Any]

WEEK = ["月", "火", "水", "木", "金", "土", "日"]  # the tokens of the Transformer
LENGTH = 8


class Deep(nn.Module):
    """Affine, relu, Affine, relu ... Affine."""

    def __init__(self, width: int, depth: int, *, rng: np.random.Generator) -> None:
        sizes = [2] + [width] * (depth - 1) + [2]
        self.layers = [nn.Affine(a, b, rng=rng) for a, b in itertools.pairwise(sizes)]
        for layer in self.layers:
            layer.weight.data = nn.init.he_normal(layer.weight.shape, rng=rng)

    def forward(self, x: Any) -> Tensor:
        for layer in self.layers[:-1]:
            x = relu(layer(x))
        return self.layers[-1](x)


def small_weights(model: Deep) -> None:
    for layer in model.layers:
        layer.weight.data *= 0.1


def large_weights(model: Deep) -> None:
    for layer in model.layers:
        layer.weight.data *= 8


def low_biases(model: Deep) -> None:
    bias = model.layers[3].bias
    assert bias is not None
    bias.data -= 100


STARTS: dict[str, tuple[Callable[[Deep], None] | None, float]] = {  # what is done to the network, and the learning rate
    "healthy": (None, 0.01),
    "small_weights": (small_weights, 0.01),
    "large_weights": (large_weights, 0.01),
    "low_biases": (low_biases, 0.01),
    "slow": (None, 1e-7),
}


def spirals(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points (count, 2) on two spirals, with a little noise, and on which of them each is."""
    labels = rng.integers(2, size=count)
    turn = rng.uniform(0.2, 1, count)
    angle = 2 * np.pi * turn * 1.2 + np.pi * labels
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1)
    return (points + rng.normal(0, 0.02, points.shape)).astype(np.float32), labels


def loss(model: nn.Module, batch: tuple[Array, Array]) -> Tensor:
    x, labels = batch
    return nn.cross_entropy(model(x), labels)


def train(model: nn.Module, data: tuple[Array, Array], epochs: int, rate: float, seed: int) -> tuple[grad_flow, float]:
    """The flow of the gradients, and the accuracy on the data it has learned from."""
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=rate, momentum=0.9)
    with (
        np.errstate(all="ignore"),
        contextlib.suppress(nn.TrainingError),
    ):  # a loss that is not finite ends the training
        nn.fit(
            model, nn.Batches(data, 64, seed=seed), loss, optimizer, epochs=epochs, progress=False, on_step=flow.step
        )
        with no_grad():
            return flow, float(np.mean(model(data[0]).numpy().argmax(axis=-1) == data[1]))
    return flow, float("nan")


def watch(name: str, args: argparse.Namespace, out: Path) -> list[str]:
    """Train one network, write its pictures, and tell what is wrong with it."""
    rng = np.random.default_rng(args.seed)
    model = Deep(args.width, args.depth, rng=rng)
    spoil, rate = STARTS[name]
    if spoil is not None:
        spoil(model)
    model.to(args.device)
    points, labels = spirals(512, rng)
    data = to_device(points, args.device), labels
    flow, accuracy = train(model, data, args.epochs, rate, args.seed)
    flags = [str(flag) for flag in flow.flags()]
    print(f"\n{name}: accuracy {accuracy:.3f} after {flow.steps[-1] + 1} steps")
    print(*(f"  {flag}" for flag in flags or ["nothing is wrong"]), sep="\n")
    flow.plot(out / f"flow_{name}.png")
    return flags


def read_a_week(args: argparse.Namespace, out: Path) -> None:
    """Teach a Transformer to tell the first of several days, and draw where it looks for it."""
    rng = np.random.default_rng(args.seed)
    ids = rng.integers(len(WEEK), size=(1024, LENGTH))
    config = ClassifierConfig(len(WEEK), len(WEEK), d_model=32, num_heads=4, num_layers=2)
    model = TransformerClassifier(config, rng=rng).to(args.device)
    optimizer = nn.AdamW(model.parameters(), 3e-3)
    batches = nn.Batches((ids, ids[:, 0]), 64, seed=args.seed)
    nn.fit(model, batches, loss, optimizer, epochs=args.epochs, progress=False)
    with no_grad():
        accuracy = np.mean(model(ids).numpy().argmax(axis=-1) == ids[:, 0])
    print(f"\nTransformer: the first of {LENGTH} days is right in {accuracy:.1%}")
    maps = attention_maps(model, ids[:1], [WEEK[i] for i in ids[0]], out / "attention.html")
    maps.plot(out / "attention_heads.png", caption="Which day comes first?")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="4 epochs")
    parser.add_argument("--epochs", type=at_least(1), default=25, help="passes over the data (default: 25)")
    parser.add_argument("--width", type=at_least(1), default=32, help="of the deep networks (default: 32)")
    parser.add_argument("--depth", type=at_least(5), default=8, help="their number of layers (default: 8)")
    args = parser.parse_args(arguments)
    if args.quick:
        args.epochs = min(args.epochs, 4)
    return args


def main(arguments: list[str] | None = None) -> dict[str, list[str]]:
    args = parse_arguments(arguments)
    out = make_folder(args.out)
    flags = {name: watch(name, args, out) for name in STARTS}
    read_a_week(args, out)
    print(f"\npictures and pages are in {out}/")
    return flags


if __name__ == "__main__":
    run(main)
