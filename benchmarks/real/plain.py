"""Steps written in plain NumPy functions, as the reader of an article writes them, beside PyTorch with its own layers.

minigrad's side is :mod:`benchmarks.plain_model`, of which nothing is fused: affine maps, softmax and LayerNorm are products,
exponentials and means. The functions of PyTorch's side are those of its other works.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import micro, plain_model
from benchmarks.harness import OPTIONAL
from benchmarks.plain_model import NUMPY, Plain
from benchmarks.real.work import RELU_GRADIENTS, Work, mg, peer_torch, plainly, torch, torch_training
from benchmarks.step import Step
from benchmarks.workload import BATCHES, SIZES, Sizes, weights_and_batches


def minigrad_step(plain: Plain) -> Step:
    P = {name: mg.Tensor(array, requires_grad=True) for name, array in plain.arrays.items()}
    adam = plain_model.Adam([p.data for p in P.values()] if plain.adam else [])
    batches, loss_of = plain.batches, partial(plain.loss, NUMPY)

    def run(i: int) -> Any:
        for p in P.values():
            p.grad = None
        loss = loss_of(P, batches[i % len(batches)])
        loss.backward()
        adam.step([p.grad.data for p in P.values()])
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in P.items()})


def plain_minigrad(s: Sizes) -> Step:
    return minigrad_step(plain_model.classifier(s))


def plain_torch(s: Sizes) -> Step:
    arrays, drawn = weights_and_batches(s)
    P = peer_torch.parameters(arrays, s)
    loss_of = peer_torch.classifier_loss(P, s, {name: torch.tensor(array) for name, array in drawn.items()})
    optimizer = torch.optim.Adam(P.values(), lr=1e-3)
    return torch_training(P, lambda i: loss_of(i % BATCHES), optimizer, peer_torch.gradients)


# --- The elementwise chain m2 ---


@dataclass(frozen=True)
class NoSizes:
    """It is of one size."""


def plain_m2(_: Any) -> Plain:
    def loss(xp: Any, P: dict[str, Any], _: Any) -> Any:
        r = xp.gelu_tanh(P["x"] * P["s"] + P["t"]) + P["x"]
        q = xp.layer_norm(xp.softmax(r) * np.float32(512), P["g"], P["b"])
        return xp.mean((xp.relu(q) * r) ** 2)

    return Plain(micro.elementwise_arrays(), [()], loss, adam=False)


def plain_m2_minigrad(s: Any) -> Step:
    return minigrad_step(plain_m2(s))


def plain_m2_torch(_: Any) -> Step:
    return micro.build("m2", peer_torch.FUNCTIONS)


WORKS = {
    f"plain_{name}": Work(
        f"training step, {name}, in plain NumPy functions",
        plain_minigrad,
        plain_torch,
        SIZES[name],
        output=RELU_GRADIENTS,
        others=plainly(plain_model.classifier, *OPTIONAL, "written"),
    )
    for name in ("tiny", "toy", "small")
} | {
    "plain_m2": Work(
        "m2 in plain NumPy functions",
        plain_m2_minigrad,
        plain_m2_torch,
        NoSizes(),
        output=RELU_GRADIENTS,
        others=plainly(plain_m2, *OPTIONAL, "written"),
    )
}
