"""Ways of doing a thing that were weighed against each other: ``python -m benchmarks.tried``.

Each line is one way, as a ratio to the one that minigrad takes, which is 1.00; above 1, the other way is slower. Measured in
one process, in turn; benchmarks/DIARY.md draws the conclusions.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import nn
from benchmarks import plain_model, workload
from benchmarks.real.plain import minigrad_step
from benchmarks.report import machine
from minigrad import Tensor, gelu, tape
from minigrad.engine.observers import attach
from minigrad.kernels import threads
from minigrad.kernels.threads import BLOCK, in_parts
from minigrad.rules.indexing import scatter_add

Ways = dict[str, Callable[[], Any]]  # the first is the one that is taken
SIZES = {"tiny": (16, 16, 32, 2, 100), "toy": (32, 32, 64, 4, 1000), "small": (32, 128, 256, 8, 5000)}
ROUNDS = 25


def _hidden(size: str) -> tuple[Any, Any]:
    """Two arrays of the size of a step's largest activations, which the feed-forward layer has."""
    batch, length, width, *_ = SIZES[size]
    x, y = np.random.RandomState(0).randn(2, batch * length, 4 * width).astype(np.float32)
    return x, y


def embedding_gradient(size: str) -> Ways:
    """Rows added where their ids say, a quarter of which are padding."""
    batch, length, width, _, count = SIZES[size]
    random = np.random.RandomState(0)
    ids = random.randint(1, count, batch * length)
    ids[: len(ids) // 4] = 0
    random.shuffle(ids)
    rows = random.randn(len(ids), width).astype(np.float32)

    def sorted_runs() -> Any:
        out = np.zeros((count, width), np.float32)
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        out[ordered[first]] = np.add.reduceat(rows[order], first, axis=0)
        return out

    def by_rows() -> Any:
        out = np.zeros((count, width), np.float32)
        np.add.at(out, ids, rows)
        return out

    return {
        "np.add.at with one flat index": lambda: scatter_add(rows, index=ids, shape=(count, width)),
        "np.add.at with rows": by_rows,
        "sort, then np.add.reduceat": sorted_runs,
    }


def queries_keys_values(size: str) -> Ways:
    """Multi-head attention, forward and backward."""
    batch, length, width, heads, _ = SIZES[size]
    random = np.random.RandomState(0)
    x = Tensor(random.randn(batch, length, width).astype(np.float32), requires_grad=True)
    g = np.ones(x.shape, np.float32)

    def run(kind: Any) -> Callable[[], Any]:
        layer = kind(width, heads, rng=np.random.default_rng(0))
        return lambda: layer(x).backward(g)

    return {"three products": run(nn.MultiHeadAttention), "one product, then split": run(nn.PackedMultiHeadAttention)}


def relu(size: str) -> Ways:
    """The derivative: a cotangent where the output is positive, else 0."""
    g, x = _hidden(size)
    ans = np.maximum(x, 0)
    return {
        "times the comparison": lambda: g * (ans > 0),
        "np.where": lambda: np.where(ans > 0, g, 0),
        "times np.sign": lambda: g * np.sign(ans),
    }


def blocks(size: str) -> Ways:
    """GELU: how many numbers at a time, on as many threads as are worth it."""
    x, _ = _hidden(size)

    def of(length: int) -> Callable[[], Any]:
        def way() -> Any:
            with mock.patch.multiple(threads, BLOCK=length, _SHORT=min(length, 1 << 16)):
                return gelu(x, approximate="tanh")

        return way

    return {"2^18 numbers": of(BLOCK), "2^15 numbers": of(1 << 15), "2^21 numbers": of(1 << 21)}


def plain_products(size: str) -> Ways:
    """x * y, elementwise."""
    x, y = _hidden(size)

    def divided() -> Any:
        out = np.empty_like(x)
        in_parts(lambda i, j: np.multiply(x[i:j], y[i:j], out=out[i:j]), len(x), 1 << 30)
        return out

    return {"by NumPy, on one core": lambda: x * y, "a part for each core": divided}


def products_of_a_stack(size: str) -> Ways:
    """``x @ W`` for sequences of tokens and the first weights of the feed-forward layer."""
    batch, length, width, *_ = SIZES[size]
    random = np.random.RandomState(0)
    x, weights = (random.randn(*s).astype(np.float32) for s in ((batch, length, width), (width, 4 * width)))
    return {
        "one of all rows": lambda: x.reshape(-1, width) @ weights,
        "one for each sequence": lambda: x @ weights,
    }


def row_maxima(size: str) -> Ways:
    """Of attention's scores, over the keys."""
    batch, length, _, heads, _ = SIZES[size]
    scores = np.random.RandomState(0).randn(batch * heads * length, length).astype(np.float32)
    starts = np.arange(0, scores.size, length)
    return {
        "np.argmax, and what stands there": lambda: scores.take(starts + scores.argmax(-1)),
        "np.max": lambda: scores.max(-1),
    }


def row_sums(size: str) -> Ways:
    """Of attention's weights, over the keys."""
    batch, length, _, heads, _ = SIZES[size]
    weights = np.random.RandomState(0).rand(batch * heads * length, length).astype(np.float32)
    ones = np.ones(length, np.float32)
    return {
        "a product with ones": lambda: weights.dot(ones),
        "np.einsum": lambda: np.einsum("ij->i", weights),
        "np.sum": lambda: np.sum(weights, axis=-1),
    }


def row_products(size: str) -> Ways:
    """Many rows times one, as by the gain of a LayerNorm, in blocks that fit into a cache."""
    batch, length, width, *_ = SIZES[size]
    random = np.random.RandomState(0)
    rows, gain = random.randn(min(batch * length, BLOCK // width), width).astype(np.float32), np.ones(width, np.float32)
    out = np.empty_like(rows)

    def copied_first() -> None:
        np.copyto(out, gain)
        np.multiply(out, rows, out=out)

    return {
        "broadcast by NumPy": lambda: np.multiply(rows, gain, out=out),
        "copied to every row, then multiplied": copied_first,
        "np.einsum": lambda: np.einsum("ij,j->ij", rows, gain, out=out),
    }


def scores(size: str) -> Ways:
    """Queries times keys, for as many sequences as attention takes at a time."""
    batch, length, width, heads, _ = SIZES[size]
    random = np.random.RandomState(0)
    together = max(1, min(batch, BLOCK // (heads * length * length)))
    q, k = random.randn(2, together, length, heads, width // heads).astype(np.float32).swapaxes(2, 3)
    return {
        "a transposed view": lambda: q @ k.swapaxes(-1, -2),
        "keys transposed in memory": lambda: q @ np.ascontiguousarray(k.swapaxes(-1, -2)),
    }


def stable_softmax(size: str) -> Ways:
    """What keeps exp from overflowing."""
    batch, length, _, heads, _ = SIZES[size]
    scores = np.random.RandomState(0).randn(batch * heads * length, length).astype(np.float32)
    return {
        "are all scores moderate?": lambda: scores.max() <= 30 and scores.min() >= -30,
        "less the maximum of each row": lambda: scores - np.max(scores, axis=-1, keepdims=True),
    }


def chain(size: str) -> Ways:
    """m3, with 1,000 operations, and what NumPy alone needs for the same numbers: below 1, for no tape is kept."""
    x, a, b = (np.random.RandomState(i).uniform(-0.9, 0.9, 16).astype(np.float32) for i in range(3))
    leaves = [Tensor(array, requires_grad=True) for array in (x, a, b)]

    def taped() -> None:
        y = leaves[0]
        for _ in range(500):
            y = y * leaves[1]
            y = y + leaves[2]
        y.sum().backward()

    def calls() -> None:
        y, values = x, []
        for _ in range(500):
            values.append(y)
            y = y * a
            y = y + b
        g, of_a, of_b = np.ones_like(y), np.zeros_like(a), np.zeros_like(b)
        for value in reversed(values):
            of_b += g
            of_a += g * value
            g = g * a

    return {"minigrad": taped, "NumPy's calls alone": calls}


class _Cotangent:
    """A note that keeps what arrives at an entry."""

    def backward(self, entry: Any, cotangent: Any, contributions: Any, seconds: float) -> None:
        self.g = cotangent


def plain_step(size: str) -> Ways:
    """A reader's classifier in plain NumPy functions: the whole step, and what NumPy alone takes of it, without a tape.

    The rules are called with what a backward gave them; summing up what was broadcast, and several uses, is not among it.
    """
    plain = plain_model.classifier(workload.SIZES[size])
    step = minigrad_step(plain)
    leaves = {name: Tensor(array, requires_grad=True) for name, array in plain.arrays.items()}
    loss = plain.loss(plain_model.NUMPY, leaves, plain.batches[0])
    notes = [(entry, _Cotangent()) for entry in tape(loss)]
    for entry, note in notes:
        attach(entry, note)
    loss.backward(retain_graph=True)
    adam = plain_model.Adam([array.copy() for array in plain.arrays.values()])
    return {
        "forward, backward and Adam": lambda: step.run(0),
        "the forward, on NumPy's arrays": lambda: plain.loss(plain_model.NUMPY, plain.arrays, plain.batches[0]),
        "the rules alone": lambda: [entry.plan.pull(entry, note.g) for entry, note in reversed(notes)],
        "Adam alone": lambda: adam.step([leaf.grad.data for leaf in leaves.values()]),
    }


WORKS = (
    blocks,
    chain,
    embedding_gradient,
    plain_products,
    plain_step,
    products_of_a_stack,
    queries_keys_values,
    relu,
    row_maxima,
    row_products,
    row_sums,
    scores,
    stable_softmax,
)


def ratios(ways: Ways) -> dict[str, float]:
    """The median, over rounds in which each way has its turn, of its time over that of the first."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            for _ in range(3):
                way()
            taken[name].append(time.perf_counter() - start)
    reference = next(iter(taken.values()))
    return {name: statistics.median(a / b for a, b in zip(own, reference)) for name, own in taken.items()}


def main() -> None:
    print(f"{machine()}\n\n| | way | {' | '.join(SIZES)} |\n|---|---|{'---|' * len(SIZES)}")
    for work in WORKS:
        by_size = [ratios(work(size)) for size in SIZES]
        for name in by_size[0]:
            numbers = " | ".join(f"{found[name]:.2f}" for found in by_size)
            print(f"| {work.__name__.replace('_', ' ')} | {name} | {numbers} |")


if __name__ == "__main__":
    main()
