"""HIPS autograd: ``value_and_grad`` of NumPy code, with a plain Adam."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks import plain_model, real
from benchmarks.step import Step
from benchmarks.workload import BATCHES, sizes, weights_and_batches

autograd: Any = import_module("autograd")
anp: Any = import_module("autograd.numpy")


def build(work: str) -> Step:
    if real.has(work, "autograd"):
        return real.build(work, "autograd")
    s = sizes(work)
    P, drawn = weights_and_batches(work)
    batches, adam, last = plain_model.prepared(s, drawn), plain_model.Adam(list(P.values())), {}
    value_and_grad = autograd.value_and_grad(lambda P, batch: plain_model.loss_of(anp, s, P, batch, drawn["pe"]))

    def run(i: int) -> Any:
        loss, gradients = value_and_grad(P, batches[i % BATCHES])
        last.update(gradients)
        adam.step([gradients[name] for name in P])
        return loss

    return Step(run, lambda: dict(last))
