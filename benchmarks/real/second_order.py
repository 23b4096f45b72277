"""Derivatives inside a loss: the second derivative of a network at many points, and training steps that are differentiated.

The step of each work is written once. The two libraries have the same names for nearly everything in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.real.work import RELU_GRADIENTS, F, Work, drawn, mg, peer_written, torch
from benchmarks.step import Step

Layers = list[tuple[Any, Any]]  # the weight and the bias of each layer


def layers_of(widths: list[int], leaf: Callable[[Any], Any]) -> Layers:
    """Leaves of one library for an MLP of these widths."""
    arrays = [drawn({"weight": (into, out), "bias": (out,)}, seed) for seed, (into, out) in enumerate(pairwise(widths))]
    return [(leaf(array["weight"]), leaf(array["bias"])) for array in arrays]


def mlp(x: Any, layers: Layers, activation: Callable[[Any], Any]) -> Any:
    *hidden, (weight, bias) = layers
    for W, b in hidden:
        x = activation(x @ W + b)
    return x @ weight + bias


def by_name(layers: Layers) -> dict[str, Any]:
    return {f"{kind}{n}": p for n, pair in enumerate(layers) for kind, p in zip(("weight", "bias"), pair)}


def gradient_step(layers: Layers, loss_of: Callable[[Layers], Any]) -> Step:
    """Forward and backward; the gradients by all weights and biases."""
    P = by_name(layers)

    def run(_: int) -> Any:
        for p in P.values():
            p.grad = None
        loss = loss_of(layers)
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in P.items()})


def minigrad_leaf(array: Any) -> Any:
    return mg.Tensor(array, requires_grad=True)


def torch_leaf(array: Any) -> Any:
    return torch.tensor(array, requires_grad=True)


# --- A network that solves u'' = -pi^2 sin(pi x) with u(0) = u(1) = 0 (Raissi et al. 2019, arXiv:1711.10561) ---


@dataclass(frozen=True)
class EquationSizes:
    """Points inside the interval, and the width of the two hidden layers."""

    points: int = 256
    hidden: int = 32


def pinn_loss(s: EquationSizes, tensor: Any, leaf: Any, tanh: Any, grad: Any) -> Callable[[Layers], Any]:
    inside = np.random.RandomState(31).rand(s.points, 1).astype(np.float32)
    ends, force = tensor(np.array([[0.0], [1.0]], np.float32)), tensor(np.pi**2 * np.sin(np.pi * inside))

    def loss_of(layers: Layers) -> Any:
        x = leaf(inside)
        (slope,) = grad(mlp(x, layers, tanh).sum(), x, create_graph=True)
        (bend,) = grad(slope.sum(), x, create_graph=True)
        return ((bend + force) ** 2).mean() + (mlp(ends, layers, tanh) ** 2).mean()

    return loss_of


def pinn_layers(s: EquationSizes, leaf: Any) -> Layers:
    return layers_of([1, s.hidden, s.hidden, 1], leaf)


def pinn_minigrad(s: EquationSizes) -> Step:
    loss_of = pinn_loss(s, np.asarray, minigrad_leaf, np.tanh, mg.autograd_grad)
    return gradient_step(pinn_layers(s, minigrad_leaf), loss_of)


def pinn_written(s: EquationSizes) -> Step:
    loss_of = pinn_loss(s, np.asarray, minigrad_leaf, np.tanh, mg.autograd_grad)
    return peer_written.gradient_step(loss_of, pinn_layers(s, np.asarray), by_name)


def pinn_torch(s: EquationSizes) -> Step:
    loss_of = pinn_loss(s, torch.tensor, torch_leaf, torch.tanh, torch.autograd.grad)
    return gradient_step(pinn_layers(s, torch_leaf), loss_of)


# --- The gradient through steps of SGD, for sine waves of which ten points are known (MAML, arXiv:1703.03400) ---


@dataclass(frozen=True)
class TaskSizes:
    """Sine waves in a step, points of each, steps of SGD, and the width of the two hidden layers."""

    tasks: int = 4
    points: int = 10
    steps: int = 3
    hidden: int = 40


def waves(s: TaskSizes) -> tuple[Any, Any]:
    """Points x and their y, both (tasks, 2, points, 1): first those to learn from, then those for the loss."""
    random = np.random.RandomState(32)
    x = random.uniform(-5, 5, (s.tasks, 2, s.points, 1))
    height, phase = random.uniform(0.1, 5, (s.tasks, 1, 1, 1)), random.uniform(0, np.pi, (s.tasks, 1, 1, 1))
    return x.astype(np.float32), (height * np.sin(x - phase)).astype(np.float32)


def maml_loss(s: TaskSizes, tensor: Any, relu: Any, grad: Any) -> Callable[[Layers], Any]:
    x, y = map(tensor, waves(s))

    def loss(layers: Layers, x: Any, y: Any) -> Any:
        return ((mlp(x, layers, relu) - y) ** 2).mean()

    def adapted(fast: Layers, x: Any, y: Any) -> Layers:
        for _ in range(s.steps):
            flat = [p for pair in fast for p in pair]
            gradients = grad(loss(fast, x, y), flat, create_graph=True)
            flat = [p - 0.01 * g for p, g in zip(flat, gradients)]
            fast = list(zip(flat[::2], flat[1::2]))
        return fast

    def loss_of(layers: Layers) -> Any:
        losses = [loss(adapted(layers, x[n, 0], y[n, 0]), x[n, 1], y[n, 1]) for n in range(s.tasks)]
        return sum(losses[1:], start=losses[0]) / s.tasks

    return loss_of


def maml_layers(s: TaskSizes, leaf: Any) -> Layers:
    return layers_of([1, s.hidden, s.hidden, 1], leaf)


def maml_minigrad(s: TaskSizes) -> Step:
    return gradient_step(maml_layers(s, minigrad_leaf), maml_loss(s, np.asarray, mg.relu, mg.autograd_grad))


def maml_written(s: TaskSizes) -> Step:
    loss_of = maml_loss(s, np.asarray, mg.relu, mg.autograd_grad)
    return peer_written.gradient_step(loss_of, maml_layers(s, np.asarray), by_name)


def maml_torch(s: TaskSizes) -> Step:
    return gradient_step(maml_layers(s, torch_leaf), maml_loss(s, torch.tensor, F.relu, torch.autograd.grad))


WORKS = {
    "pinn": Work(
        "a network with its second derivative in the loss",
        pinn_minigrad,
        pinn_torch,
        EquationSizes(),
        others={"written": pinn_written},
    ),
    "maml": Work(
        "the gradient through three steps of SGD (MAML), four tasks",
        maml_minigrad,
        maml_torch,
        TaskSizes(),
        output=RELU_GRADIENTS,
        others={"written": maml_written},
    ),
}
