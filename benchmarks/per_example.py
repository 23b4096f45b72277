"""The time of nn.per_example_grads, beside one training step and beside the loop over the examples that it replaces.

    python -m benchmarks.per_example

A step is a forward and a backward pass of the whole batch. The result is as large as `batch` copies of the parameters;
"copies" is the time of writing as many numbers, which no way of computing them can save.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nn
from minigrad import tree_map
from models import GPT, GPTConfig

ROUNDS = 25


def loss(model: Any, batch: Any) -> Any:
    losses = nn.cross_entropy(model(batch[0]), batch[1], reduction="none")
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def milliseconds(*works: Callable[[], object]) -> list[float]:
    """The median of each; they take turns, so that each finds the caches as another left them."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, found in zip(works, times):
            start = time.perf_counter()
            work()
            found.append(1000 * (time.perf_counter() - start))
    return [statistics.median(found) for found in times]


def row(name: str, model: Any, batch: Any) -> str:
    def step(part: Any = batch) -> None:
        model.zero_grad()
        loss(model, part).sum().backward()

    def loop() -> None:
        for i in range(len(batch[0])):
            step(tree_map(lambda array, i=i: array[i : i + 1], batch))

    def rows(check: bool) -> Callable[[], object]:
        return lambda: nn.per_example_grads(model, loss, batch, check=check)

    def copies() -> list[Any]:
        return [np.full((len(batch[0]), *p.shape), 1, p.dtype) for p in model.parameters()]

    one, unchecked, checked, each, written = milliseconds(step, rows(False), rows(True), loop, copies)
    ratios = f"{unchecked:12.2f} {unchecked / one:6.1f} {checked:12.2f} {checked / one:6.1f}"
    return f"{name:34} {one:8.2f} {ratios} {each:10.2f} {written:8.2f}"


def main() -> None:
    rng = np.random.default_rng(0)
    kinds = f"{'check=False':>12} {'/ step':>6} {'check=True':>12} {'/ step':>6}"
    print(f"{'ms, float32':34} {'step':>8} {kinds} {'loop':>10} {'copies':>8}")
    for batch, width in ((32, 64), (128, 64), (32, 256), (128, 256)):
        layers: list[Any] = [nn.Affine(64, width, rng=rng), np.tanh, nn.Affine(width, width, rng=rng), np.tanh]
        model = nn.Sequential(*layers, nn.Affine(width, 10, rng=rng))
        x = rng.standard_normal((batch, 64)).astype(np.float32)
        print(row(f"MLP, batch {batch}, width {width}", model, (x, rng.integers(0, 10, batch))), flush=True)
    for batch, length, width in ((32, 16, 32), (32, 32, 64)):
        gpt = GPT(GPTConfig(64, length, d_model=width), rng=rng)
        ids = rng.integers(0, 64, (2, batch, length))
        print(row(f"GPT, batch {batch}, length {length}, width {width}", gpt, tuple(ids)), flush=True)


if __name__ == "__main__":
    main()
