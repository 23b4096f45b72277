"""Loops: states carried along a sequence, and neurons of single numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.plain_model import Plain
from benchmarks.real.work import F, Work, drawn, jax, jnp, mg, nn, peer_jax, plainly, torch
from benchmarks.step import Step


@dataclass(frozen=True)
class SequenceSizes:
    """Batch, tokens, width of an input and of a state."""

    B: int = 16
    L: int = 200
    D: int = 32
    hidden: int = 64


def sequence(s: SequenceSizes) -> Any:
    return np.random.RandomState(11).randn(s.B, s.L, s.D).astype(np.float32)


# --- A GRU and an LSTM as layers, forward and backward ---


def layer_weights(s: SequenceSizes, blocks: int = 3) -> dict[str, Any]:
    widths = {"input": s.D, "state": s.hidden}
    shapes: dict[str, tuple[int, ...]] = {f"cell.{n}.weight": (width, blocks * s.hidden) for n, width in widths.items()}
    return drawn(shapes | {f"cell.{n}.bias": (blocks * s.hidden,) for n in widths})


def layer_minigrad(s: SequenceSizes, name: str, blocks: int) -> Step:
    layer, x = getattr(nn, name)(s.D, s.hidden, rng=np.random.default_rng(0)), sequence(s)
    layer.load_state_dict(layer_weights(s, blocks))

    def run(_: int) -> Any:
        layer.zero_grad()
        states, _last = layer(x)
        loss = (states * states).mean()
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in layer.named_parameters()})


def layer_torch(s: SequenceSizes, name: str, blocks: int) -> Step:
    layer, x = getattr(torch.nn, name)(s.D, s.hidden, batch_first=True), torch.tensor(sequence(s))
    called = {"input.weight": "weight_ih_l0", "state.weight": "weight_hh_l0"}
    called |= {"input.bias": "bias_ih_l0", "state.bias": "bias_hh_l0"}
    theirs = {f"cell.{ours}": getattr(layer, name) for ours, name in called.items()}
    with torch.no_grad():
        for name, array in layer_weights(s, blocks).items():
            theirs[name].copy_(torch.tensor(array.T))

    def run(_: int) -> Any:
        layer.zero_grad()
        states, _last = layer(x)
        loss = (states * states).mean()
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().T for name, p in theirs.items()})


def gru_jax(s: SequenceSizes) -> Step:
    def loss(_: Any, P: dict[str, Any], x: Any) -> Any:
        def cell(h: Any, inputs: Any) -> tuple[Any, Any]:
            states = h @ P["cell.state.weight"] + P["cell.state.bias"]
            (r, z, n), (hr, hz, hn) = (jnp.split(a, 3, axis=-1) for a in (inputs, states))
            r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
            h = (1 - z) * jnp.tanh(n + r * hn) + z * h
            return h, h

        inputs = (x @ P["cell.input.weight"] + P["cell.input.bias"]).swapaxes(0, 1)
        _, states = jax.lax.scan(cell, jnp.zeros((s.B, s.hidden), x.dtype), inputs)
        return (states * states).mean()

    return peer_jax.step(Plain(layer_weights(s), [sequence(s)], loss, adam=False))


# --- The recurrence that a reader writes: h = tanh(x W + h U + b), forward and backward ---


def loop_weights(s: SequenceSizes) -> dict[str, Any]:
    return drawn({"W": (s.D, s.hidden), "U": (s.hidden, s.hidden), "b": (s.hidden,)})


def loop_minigrad(s: SequenceSizes) -> Step:
    P = {name: mg.Tensor(array, requires_grad=True) for name, array in loop_weights(s).items()}
    xs, start = sequence(s).swapaxes(0, 1).copy(), np.zeros((s.B, s.hidden), np.float32)

    def run(_: int) -> Any:
        for p in P.values():
            p.grad = None
        h: Any = start
        for x in xs:
            h = np.tanh(x @ P["W"] + h @ P["U"] + P["b"])
        loss = (h * h).mean()
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in P.items()})


def loop_torch(s: SequenceSizes) -> Step:
    P = {name: torch.tensor(array, requires_grad=True) for name, array in loop_weights(s).items()}
    xs, start = torch.tensor(sequence(s).swapaxes(0, 1).copy()), torch.zeros(s.B, s.hidden)

    def run(_: int) -> Any:
        for p in P.values():
            p.grad = None
        h = start
        for x in xs:
            h = torch.tanh(x @ P["W"] + h @ P["U"] + P["b"])
        loss = (h * h).mean()
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy() for name, p in P.items()})


def loop_plain(s: SequenceSizes) -> Plain:
    def loss(xp: Any, P: dict[str, Any], xs: Any) -> Any:
        h = np.zeros((s.B, s.hidden), np.float32)
        for x in xs:
            h = xp.tanh(xp.matmul(x, P["W"]) + xp.matmul(h, P["U"]) + P["b"])
        return xp.mean(h * h)

    return Plain(loop_weights(s), [sequence(s).swapaxes(0, 1).copy()], loss, adam=False)


def loop_jax(s: SequenceSizes) -> Step:
    """``lax.scan``: a loop of Python's would be compiled as 200 times as many operations."""

    def loss(_: Any, P: dict[str, Any], xs: Any) -> Any:
        def cell(h: Any, x: Any) -> tuple[Any, None]:
            return jnp.tanh(x @ P["W"] + h @ P["U"] + P["b"]), None

        h, _ = jax.lax.scan(cell, jnp.zeros((s.B, s.hidden), xs.dtype), xs)
        return (h * h).mean()

    return peer_jax.step(replace(loop_plain(s), loss=loss))


# --- micrograd's moons: a network whose every weight is a tensor of one number ---


@dataclass(frozen=True)
class MoonSizes:
    """Points in a step, and neurons in each of the two hidden layers."""

    points: int = 10
    hidden: int = 16


def moons(s: MoonSizes) -> tuple[Any, Any, list[Any]]:
    """Points (n, 2) on two half circles, labels -1 and 1, and for each layer its weights (in + 1, out), the bias last."""
    random = np.random.RandomState(13)
    angle, label = random.uniform(0, np.pi, s.points), np.arange(s.points) % 2
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x = np.where(label[:, None] == 1, [1, 0.5] - x, x) + 0.1 * random.randn(s.points, 2)
    sizes = [2, s.hidden, s.hidden, 1]
    return x, 2.0 * label - 1, [0.5 * random.randn(a + 1, b) for a, b in pairwise(sizes)]


def moons_loss(s: MoonSizes, layers: list[Any], relu: Any) -> Any:
    """The mean of max(0, 1 - y score), and a little of the weights' squares; ``layers[l][row][column]`` are scalars."""
    x, y, _ = moons(s)
    losses: Any = 0.0
    for point, label in zip(x.tolist(), y.tolist()):
        h = point
        for depth, layer in enumerate(layers):
            *rows, biases = layer
            sums = [sum((w[j] * v for w, v in zip(rows, h)), bias) for j, bias in enumerate(biases)]
            h = sums if depth == len(layers) - 1 else [relu(total) for total in sums]
        losses = losses + relu(1.0 - label * h[0])
    squares = sum(w * w for layer in layers for row in layer for w in row)
    return losses * (1.0 / len(y)) + squares * 1e-4


def moons_step(s: MoonSizes, leaf: Any, relu: Any) -> Step:
    """Forward, backward and a step downhill, one number at a time, as micrograd's demo does."""
    layers = [[[leaf(w) for w in row] for row in layer.tolist()] for layer in moons(s)[2]]
    scalars = [w for layer in layers for row in layer for w in row]

    def run(_: int) -> Any:
        for w in scalars:
            w.grad = None
        loss = moons_loss(s, layers, relu)
        loss.backward()
        for w in scalars:
            w.data -= 0.01 * w.grad.data
        return loss

    return Step(run, lambda: {"weights": np.array([w.grad.item() for w in scalars])})


def moons_minigrad(s: MoonSizes) -> Step:
    return moons_step(s, lambda number: mg.Tensor(number, requires_grad=True), mg.relu)


def moons_torch(s: MoonSizes) -> Step:
    return moons_step(s, lambda number: torch.tensor(number, requires_grad=True, dtype=torch.float64), F.relu)


def moons_written(s: MoonSizes) -> Step:
    layers = [layer.tolist() for layer in moons(s)[2]]
    program, last = mg.write_numpy(lambda layers: moons_loss(s, layers, mg.relu), layers), [layers]

    def run(_: int) -> Any:
        loss, last[:] = program(layers)
        for layer, gradients in zip(layers, last):
            for row, of_row in zip(layer, gradients):
                row[:] = [w - 0.01 * g for w, g in zip(row, of_row)]
        return loss

    return Step(run, lambda: {"weights": np.array([g for layer in last for row in layer for g in row])})


WORKS = {
    "gru": Work(
        "GRU 32 -> 64, 200 tokens, forward and backward",
        partial(layer_minigrad, name="GRU", blocks=3),
        partial(layer_torch, name="GRU", blocks=3),
        SequenceSizes(),
        others={"jax": gru_jax},
    ),
    "lstm": Work(
        "LSTM 32 -> 64, 200 tokens, forward and backward",
        partial(layer_minigrad, name="LSTM", blocks=4),
        partial(layer_torch, name="LSTM", blocks=4),
        SequenceSizes(),
    ),
    "loop": Work(
        "200 times tanh(x W + h U + b)",
        loop_minigrad,
        loop_torch,
        SequenceSizes(),
        others={"jax": loop_jax} | plainly(loop_plain, "autograd", "mygrad", "dezero", "written"),
    ),
    "moons": Work(
        "scalar neurons, micrograd's moons", moons_minigrad, moons_torch, MoonSizes(), others={"written": moons_written}
    ),
}
