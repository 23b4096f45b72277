"""What a way past each layer does for the gradient: two chains to compute in the head, and a deep net to train.

    python examples/residual_chains.py
    python examples/residual_chains.py --gain 1    # Xavier's own size, with which the plain net of tanh trains too, even better

Written to `out/`: residual_gradients.png (the gradient of each layer, before training) and residual_training.png.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import numpy as np

import minigrad as mg
import nn
from common import argument_parser, make_folder, pyplot, run, save_figure, table
from minigrad.device import to_device

WIDTH, DEPTH = 16, 40


def plain_chain(x: Any, w: float) -> Any:
    """Three layers ``h = w h``: the derivative is ``w**3``."""
    for _ in range(3):
        x = w * x
    return x


def residual_chain(x: Any, w: float) -> Any:
    """The same, with a way past the second and third layer, ``h = h + w h``: the derivative is ``w (1 + w)**2``."""
    x = w * x
    for _ in range(2):
        x = x + w * x
    return x


class DeepNet(nn.Module):
    """``DEPTH`` layers ``tanh(x W + b)`` of one width, each with a way past it or not, between two Affines.

    The weights inside start at ``gain`` times Xavier's: a little too small, as one always is a little wrong, and in a plain net
    what is a little wrong is raised to the power of the depth.
    """

    def __init__(self, residual: bool, gain: float, *, rng: np.random.Generator) -> None:
        self.input = nn.Affine(2, WIDTH, rng=rng)
        self.layers: list[nn.Module] = []
        for _ in range(DEPTH):
            affine = nn.Affine(WIDTH, WIDTH, rng=rng)
            affine.weight.data *= gain
            layer = nn.Sequential(affine, np.tanh)
            self.layers.append(nn.Residual(layer) if residual else layer)
        self.output = nn.Affine(WIDTH, 1, rng=rng)

    def forward(self, x: Any) -> Any:
        x = self.input(x)
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


def squared_error(net: DeepNet, batch: Any) -> Any:
    x, y = batch
    return nn.mean_squared_error(net(x), y)


def gradient_norms(net: DeepNet, batch: Any) -> list[float]:
    """|dL/dh| for what each layer gives, from the first to the last."""
    norms: list[float] = []
    h = net.input(batch[0])
    for layer in net.layers:
        h = layer(h)
        h.register_hook(lambda g: norms.append(float(np.linalg.norm(g.numpy()))))
    nn.mean_squared_error(net.output(h), batch[1]).backward()
    net.zero_grad()
    return norms[::-1]  # backward meets the last layer first


def smooth_function(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Points x (count, 2) and ``y = sin(2 x_0) x_1``, (count, 1)."""
    x = rng.standard_normal((count, 2)).astype(np.float32)
    return x, np.sin(2 * x[:, :1]) * x[:, 1:2]


def draw(curves: Mapping[str, Sequence[float]], xlabel: str, ylabel: str, path: Path) -> None:
    figure, ax = pyplot().subplots(figsize=(8, 4), layout="constrained")
    for (name, values), colour in zip(curves.items(), ("#d94801", "#08519c")):
        ax.plot(range(1, len(values) + 1), values, color=colour, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel, yscale="log")
    ax.legend(frameon=False)
    save_figure(figure, path)


def main() -> None:
    parser = argument_parser(__doc__, quick="a few epochs")
    parser.add_argument(
        "--gain", type=float, default=0.5, help="size of the first weights, beside Xavier's (default: 0.5)"
    )
    arguments = parser.parse_args()
    out = make_folder(arguments.out)
    for w in (100.0, 0.01):
        slopes = [(chain.__name__.replace("_", " "), mg.grad(chain)(1.0, w)) for chain in (plain_chain, residual_chain)]
        print(table(f"dy/dx of three layers, w = {w:g}", [(name, f"{float(slope):.10g}") for name, slope in slopes]))

    rng = np.random.default_rng([arguments.seed, 1])
    train, test = ([to_device(a, arguments.device) for a in smooth_function(n, rng)] for n in (2048, 1024))
    norms, losses, errors = {}, {}, []
    for name, residual in (("plain", False), ("residual", True)):
        net = DeepNet(residual, arguments.gain, rng=np.random.default_rng(arguments.seed)).to(arguments.device)
        norms[name] = gradient_norms(net, train)
        batches = nn.Batches(train, 128, seed=arguments.seed)
        epochs = 3 if arguments.quick else 30
        history = nn.fit(net, batches, squared_error, nn.Adam(net.parameters(), 1e-3), epochs=epochs)
        losses[name] = history.losses
        with mg.no_grad():
            errors.append((f"{name}, {DEPTH} layers", squared_error(net, test).item()))
    ratios = [(name, f"{of_layer[0] / of_layer[-1]:.1e}") for name, of_layer in norms.items()]
    print(table("before training, gradient of the first layer / of the last", ratios))
    mean = float(((test[1] - train[1].mean()) ** 2).mean())
    print(table("squared error on new points", [*errors, ("the mean of y, whatever x is", mean)]))
    draw(norms, "layer", "norm of dL/dh", out / "residual_gradients.png")
    draw(losses, "training step", "squared error of a batch", out / "residual_training.png")


if __name__ == "__main__":
    run(main)
