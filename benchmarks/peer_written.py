"""The programs that ``minigrad.write_numpy`` writes. They are written once, before anything is timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import minigrad
import nn
from benchmarks import micro, peer_minigrad, plain_model, real
from benchmarks.plain_model import NUMPY, Plain
from benchmarks.step import Step
from benchmarks.workload import sizes, weights_and_batches


def build(work: str) -> Step:
    return real.build(work, "written") if real.is_real(work) else {"m1": scalars, "tiny": classifier}[work]()


def step(plain: Plain) -> Step:
    program = minigrad.write_numpy(partial(plain.loss, NUMPY), plain.arrays, plain.batches[0], argnum=0)
    return plain_model.step(plain, lambda batch: program(plain.arrays, batch))


def gradient_step(loss: Callable[..., Any], parameters: Any, named: Callable[[Any], dict[str, Any]]) -> Step:
    """Forward and backward of a loss of nested ``parameters``, whose gradients have the names that ``named`` gives them."""
    program = minigrad.write_numpy(loss, parameters)
    last: dict[str, Any] = {}

    def run(_: int) -> Any:
        found, last["gradients"] = program(parameters)
        return found

    return Step(run, lambda: named(last["gradients"]))


def training(model: nn.Module, loss: Callable[..., Any], batches: Sequence[Sequence[Any]]) -> Step:
    """Forward and backward of ``loss(model, *batch)`` by a program, and minigrad's Adam."""

    def loss_of(parameters: Any, *batch: Any) -> Any:
        return loss(partial(nn.functional_call, model, parameters), *batch)

    named, optimizer = dict(model.named_parameters()), nn.Adam(model.parameters(), lr=1e-3)
    arrays = {name: p.data for name, p in named.items()}  # which Adam changes in place
    program = minigrad.write_numpy(loss_of, arrays, *batches[0], argnum=0)

    def run(i: int) -> Any:
        found, gradients = program(arrays, *batches[i % len(batches)])
        for name, p in named.items():
            p.grad = gradients[name]
        optimizer.step()
        return found

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in named.items() if p.grad is not None})


def scalars() -> Step:
    """The expression of micrograd's README."""
    program = minigrad.write_numpy(lambda a, b: micro.expression(a, b, minigrad.relu), -4.0, 2.0)
    last: dict[str, Any] = {}

    def run(_: int) -> Any:
        found, last["a"], last["b"] = program(-4.0, 2.0)
        return found

    return Step(run, lambda: dict(last))


def classifier() -> Step:
    """nn's Transformer."""
    _, drawn = weights_and_batches("tiny")
    batches = list(zip(drawn["tok"], drawn["mask"], drawn["y"]))
    model = peer_minigrad.model_of("tiny")
    built = training(model, lambda model, tok, mask, y: nn.cross_entropy(model(tok, mask), y), batches)
    called = peer_minigrad.names(sizes("tiny"))
    return Step(built.run, lambda: {called[path]: g for path, g in built.gradients().items()})
