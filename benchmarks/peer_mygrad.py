"""MyGrad, with its own softmax and a plain Adam."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks import plain_model
from benchmarks.step import Step
from benchmarks.workload import BATCHES, sizes, weights_and_batches

mygrad: Any = import_module("mygrad")
activations: Any = import_module("mygrad.nnet.activations")


def build(work: str) -> Step:
    s = sizes(work)
    arrays, drawn = weights_and_batches(work)
    batches = plain_model.prepared(s, drawn)
    P = {name: mygrad.tensor(array, copy=False) for name, array in arrays.items()}
    adam, last = plain_model.Adam(list(arrays.values())), {}

    def run(i: int) -> float:
        for p in P.values():
            p.null_grad()
        softmax = lambda xp, x: activations.softmax(x, axis=-1)  # noqa: E731
        loss = plain_model.loss_of(mygrad, s, P, batches[i % BATCHES], drawn["pe"], softmax=softmax)
        loss.backward()
        value = float(loss)
        last.update({name: p.grad for name, p in P.items()})
        del loss
        for array in arrays.values():
            array.flags.writeable = True  # MyGrad has locked what its graph read
        adam.step(list(last.values()))
        return value

    return Step(run, lambda: dict(last))
