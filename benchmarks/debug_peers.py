"""``python -m benchmarks.debug_peers``: what other tools say about the ten stories of docs/debugging.md.

Each program is written once, with functions that PyTorch and JAX share, and has the mistake of the story. It runs with
PyTorch's anomaly mode and, where JAX is installed, with ``jax_debug_nans``. The column of minigrad is what ``minigrad debug``
finds in the story's own program. TensorBoard draws the numbers that a program sends to it, and says nothing of its own.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.debug import findings_of, programs

STEPS = 320
LEARNING_RATE = 0.2
rng = np.random.default_rng(0)


class Library(NamedTuple):
    """A library in the words that the programs need beside its functions of NumPy's names."""

    xp: Any
    array: Callable[[Any], Any]
    softmax: Callable[[Any, int], Any]
    detach: Callable[[Any], Any]
    bell: Callable[[Any], Any]


class Story(NamedTuple):
    """A program.

    Attributes:
        parameters: their first values.
        data: arrays.
        loss: a function of the library, the parameters and the data.
        fixed: the parameters that the program forgets to update.
        times: how often an update is applied, by parameter.
        keeps: whether gradients are never cleared.
    """

    parameters: dict[str, Any]
    data: dict[str, Any]
    loss: Callable[[Library, dict[str, Any], dict[str, Any]], Any]
    fixed: tuple[str, ...] = ()
    times: tuple[tuple[str, int], ...] = ()
    keeps: bool = False


def normal(*shape: int, scale: float = 1.0) -> Any:
    return scale * rng.normal(size=shape)


def broadcast(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    return ((d["x"] @ p["w"] - d["y"]) ** 2).mean()  # (90, 1) - (90,)


def funds(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    positive = lib.xp.maximum(p["theta"], d["zero"])
    w = positive / positive.sum()
    entropy = -lib.xp.where(w > 0, w * lib.xp.log(w), d["zero"]).sum()
    return -(d["mean"] @ w) + 2.0 * (w @ d["covariance"] @ w) - 0.01 * entropy


def dead(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    hidden = lib.xp.maximum(d["x"] @ p["w"] + p["b"], d["zero"])
    return ((hidden @ p["out"] - d["y"]) ** 2).mean()


def memory(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    h = d["h"]
    for t in range(12):
        h = lib.xp.tanh(d["x"][:, t] @ p["w_in"] + h @ p["w_rec"])
    return ((h @ p["out"] - d["y"]) ** 2).mean()


def head_only(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    return ((lib.xp.tanh(d["x"] @ p["body"]) @ p["head"] - d["y"]) ** 2).mean()


def polynomial(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    return ((d["powers"] @ p["w"] - d["y"]) ** 2).mean()


def wrong_axis(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    scores = (d["x"] @ p["q"]) @ lib.xp.swapaxes(d["x"] @ p["k"], 1, 2) / 4
    return (((lib.softmax(scores, 1) @ (d["x"] @ p["v"])) - d["y"]) ** 2).mean()


def shared(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    x = lib.xp.tanh(d["x"] @ p["inp"])
    for _ in range(6):
        x = lib.xp.tanh(x @ p["block"])
    return ((x @ p["out"] - d["y"]) ** 2).mean()


def detached(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    code = lib.detach(lib.xp.tanh(d["x"] @ p["down"]))
    return ((code @ p["up"] - d["x"]) ** 2).mean()


def wrong_rule(lib: Library, p: dict[str, Any], d: dict[str, Any]) -> Any:
    return ((lib.bell((d["x"] - p["centre"]) / 0.5) @ p["height"] - d["y"]) ** 2).mean()


x, y = normal(90, 3), normal(90, 1)
returns = normal(250, 8, scale=0.2) + np.linspace(-0.25, 0.35, 8)
grid = rng.uniform(-1, 1, 100)
STORIES = {
    "temperature_line": Story({"w": np.zeros((3, 1))}, {"x": x, "y": y[:, 0]}, broadcast),
    "eight_funds": Story(
        {"theta": np.full(8, 0.3)},
        {"mean": returns.mean(axis=0), "covariance": np.cov(returns.T), "zero": np.zeros(())},
        funds,
    ),
    "bright_bars": Story(
        {"w": normal(3, 8), "b": np.full(8, -20.0), "out": normal(8, 1)}, {"x": x, "y": y, "zero": np.zeros(())}, dead
    ),
    "first_letter_memory": Story(
        {"w_in": normal(3, 20), "w_rec": normal(20, 20, scale=0.05), "out": normal(20, 1)},
        {"x": normal(90, 12, 3), "y": y, "h": np.zeros((90, 20))},
        memory,
    ),
    "seven_segments": Story({"body": normal(3, 8), "head": normal(8, 1)}, {"x": x, "y": y}, head_only, fixed=("body",)),
    "curve_by_hand": Story(
        {"w": np.zeros(4)},
        {"powers": np.stack([grid**k for k in range(4)], axis=1), "y": 1 - 2 * grid},
        polynomial,
        keeps=True,
    ),
    "ask_the_group": Story(
        {"q": normal(5, 16), "k": normal(5, 16), "v": normal(5, 1)},
        {"x": normal(32, 8, 5), "y": normal(32, 8, 1)},
        wrong_axis,
    ),
    "shared_block_regression": Story(
        {"inp": normal(3, 24), "block": normal(24, 24, scale=0.2), "out": normal(24, 1, scale=0.2)},
        {"x": x, "y": np.sin(3 * x[:, :1])},
        shared,
        times=(("block", 6),),
    ),
    "wave_patches": Story({"down": normal(3, 2), "up": normal(2, 3)}, {"x": x}, detached),
    "radial_units": Story(
        {"centre": rng.uniform(-2, 2, 6), "height": normal(6, 1, scale=0.1)}, {"x": x[:, :1], "y": y}, wrong_rule
    ),
}


def train(story: Story, parameters: dict[str, Any], gradients_of: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Run the story's steps on parameters of a library. ``gradients_of(parameters)`` returns their gradients."""
    kept: dict[str, Any] = {}
    for _ in range(STEPS):
        found = gradients_of(parameters)
        kept = {name: kept[name] + g for name, g in found.items()} if story.keeps and kept else found
        times = dict(story.times)
        for name in parameters:
            if name not in story.fixed and kept[name] is not None:
                parameters[name] = parameters[name] - LEARNING_RATE * times.get(name, 1) * kept[name]


def pytorch(story: Story) -> str:
    """Return what PyTorch's anomaly mode says."""
    torch = importlib.import_module("torch")

    class Bell(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = torch.exp(-x * x)
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, out = ctx.saved_tensors
            return g * 2 * x * out

    lib = Library(torch, torch.tensor, lambda x, axis: torch.softmax(x, axis), lambda x: x.detach(), Bell.apply)
    data = {name: torch.tensor(value) for name, value in story.data.items()}

    def gradients_of(parameters: dict[str, Any]) -> dict[str, Any]:
        leaves = {name: value.detach().requires_grad_() for name, value in parameters.items()}
        story.loss(lib, leaves, data).backward()
        return {name: leaf.grad for name, leaf in leaves.items()}

    with warnings.catch_warnings(record=True) as caught, torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        try:
            train(story, {name: torch.tensor(value) for name, value in story.parameters.items()}, gradients_of)
        except RuntimeError as error:
            shown = any("debug_peers.py" in str(warning.message) for warning in caught)
            return str(error).splitlines()[0] + " (with the line of the forward)" * shown
    return "nothing"


def jax_nans(story: Story) -> str:
    """Return what JAX says with ``jax_debug_nans``."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return "not installed"
    jax.config.update("jax_debug_nans", True)
    jax.config.update("jax_enable_x64", True)

    @jax.custom_vjp  # type: ignore[untyped-decorator, unused-ignore]
    def bell(x: Any) -> Any:
        return jax.numpy.exp(-x * x)

    bell.defvjp(lambda x: (bell(x), x), lambda x, g: (g * 2 * x * jax.numpy.exp(-x * x),))
    softmax = jax.nn.softmax
    lib = Library(jax.numpy, jax.numpy.asarray, lambda x, axis: softmax(x, axis), jax.lax.stop_gradient, bell)
    data = {name: jax.numpy.asarray(value) for name, value in story.data.items()}
    gradient = jax.grad(lambda parameters: story.loss(lib, parameters, data).sum())
    try:
        train(story, {name: jax.numpy.asarray(value) for name, value in story.parameters.items()}, gradient)
    except FloatingPointError as error:
        return str(error).splitlines()[0]
    return "nothing"


def main() -> int:
    """Print the table."""
    print("| program | `minigrad debug` | PyTorch, anomaly mode | JAX, `jax_debug_nans` |\n|---|---|---|---|")
    files = {path.stem: path for path, answer in programs() if answer["set"] == "first"}
    for name, story in STORIES.items():
        finding = next(iter(findings_of(files[name])), None)
        ours = f"{finding['kind']}, line {finding['lines'][0]}" if finding else "nothing"
        print(f"| {name} | {ours} | {pytorch(story)} | {jax_nans(story)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
