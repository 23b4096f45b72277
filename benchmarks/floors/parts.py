"""The parts of a floor: matrix products, passes in blocks that stay in a cache, and rows that are picked or added by ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

BLOCK = 1 << 16  # elements in a block of a pass: several arrays of this size fit into a second-level cache
STRIP = 256  # queries of a causal attention that share the keys that they read


@dataclass(eq=False)
class Part:
    """Calls of NumPy that a step makes ``count`` times.

    Attributes:
        rows: how many rows, blocks or matrices there are to divide.
        run: computes those from ``start`` to ``stop``.
        product: whether OpenBLAS has threads for it.
    """

    name: str
    rows: int
    run: Callable[[int, int], object]
    count: int = 1
    product: bool = False


# --- The kinds of parts ---


def product(m: int, k: int, n: int, stack: int = 1, count: int = 1, left: bool = False, right: bool = False) -> Part:
    """(m, k) times (k, n), for each of ``stack`` matrices; ``left`` and ``right``: the operand is a transposed view."""
    a, b = _operand(stack, m, k, left), _operand(stack, k, n, right)
    out = np.empty((stack, m, n), np.float32)
    if stack == 1:
        a, b, out = a[0], b[0], out[0]

    def run(start: int, stop: int) -> None:
        np.matmul(a[start:stop], b if stack == 1 else b[start:stop], out=out[start:stop])

    return Part(f"{m} x {k} by {n}", len(out), run, count, product=True)


def _operand(stack: int, m: int, n: int, transposed: bool) -> Any:
    shape = (stack, n, m) if transposed else (stack, m, n)
    array = np.random.default_rng(0).standard_normal(shape, np.float32)
    return array.swapaxes(1, 2) if transposed else array


def affine(m: int, k: int, n: int, *, count: int = 1, first: bool = False, forward: bool = False) -> list[Part]:
    """``x W + b`` and its derivatives by x (unless ``first``), W and b (unless only ``forward``); x is (m, k)."""
    parts = [product(m, k, n, count=count), passes("bias", (m, n), count=count)]
    if forward:
        return parts
    parts += [product(k, m, n, count=count, left=True), product(1, m, n, count=count)]
    return parts if first else [*parts, product(m, n, k, count=count, right=True)]


def passes(name: str, shape: tuple[int, int], count: int = 1) -> Part:
    """The calls of :data:`CALLS` with this name, on arrays of this shape, in blocks of rows."""
    random = np.random.default_rng(1)
    rows = max(BLOCK // shape[1], 1)
    calls, inputs = CALLS[name]
    arrays = [np.empty(shape, np.float32), *(random.uniform(0.5, 1.5, shape).astype(np.float32) for _ in range(inputs))]
    scratch = [np.empty((rows, shape[1]), np.float32) for _ in range(2)]  # one for each of two threads
    blocks = [[array[i : i + rows] for array in arrays] for i in range(0, shape[0], rows)]

    def run(start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            calls(scratch[start > 0][: len(block[0])], *block)

    return Part(f"{name} {shape[0]} x {shape[1]}", len(blocks), run, count)


def vector(name: str, n: int, count: int = 1) -> Part:
    """The same of ``n`` elements in no rows."""
    width = min(n, 1 << 12)
    return passes(name, (-(-n // width), width), count)


def gather(rows: int, picked: int, width: int, count: int = 1) -> Part:
    random = np.random.default_rng(2)
    table, ids = random.standard_normal((rows, width), np.float32), random.integers(0, rows, picked)
    out = np.empty((picked, width), np.float32)

    def run(start: int, stop: int) -> None:
        np.take(table, ids[start:stop], axis=0, out=out[start:stop], mode="clip")

    return Part(f"gather {picked} x {width}", picked, run, count)


def attention(stack: int, queries: int, keys: int, width: int, causal: bool = False, forward: bool = False) -> Part:
    """Scores, exponentials, their sums and contexts of ``stack`` heads; unless ``forward``, the gradients of all three.

    A few heads at a time, or a strip of queries and the keys that it may see, so that the scores stay in a cache. The weights
    are kept for the backward pass.
    """
    random = np.random.default_rng(4)
    q, g = (random.uniform(-0.1, 0.1, (stack, queries, width)).astype(np.float32) for _ in range(2))
    k, v = (random.uniform(-0.1, 0.1, (stack, keys, width)).astype(np.float32) for _ in range(2))
    out, dq, dk, dv = (np.empty_like(array) for array in (q, q, k, v))
    high = -(-queries // STRIP) if causal else 1
    strips = [
        (slice(queries * n // high, queries * (n + 1) // high), slice(keys * (n + 1) // high)) for n in range(high)
    ]
    kept = [np.empty((stack, rows.stop - rows.start, seen.stop), np.float32) for rows, seen in strips]
    mask = np.tril(np.ones((queries // high, keys // high), np.float32))
    together = max(BLOCK // (queries // high * keys), 1)

    def run(start: int, stop: int) -> None:
        groups = [slice(i, min(i + together, stop)) for i in range(start, stop, together)]
        for h in groups:
            for (rows, seen), weights in zip(strips, kept):
                attend(weights[h], q[h, rows], k[h, seen], v[h, seen], out[h, rows])
        for h in () if forward else groups:
            for (rows, seen), weights in zip(strips, kept):
                differentiate(weights[h], h, rows, seen)

    def attend(weights: Any, q: Any, k: Any, v: Any, out: Any) -> None:
        np.exp(np.matmul(q, k.swapaxes(1, 2), out=weights), out=weights)
        if causal:
            weights[..., -mask.shape[1] :] *= mask[: weights.shape[1]]
        np.matmul(weights, v, out=out)
        out *= 1 / (weights @ np.ones((weights.shape[-1], 1), weights.dtype))

    def differentiate(weights: Any, h: slice, rows: slice, seen: slice) -> None:
        ds = np.matmul(g[h, rows], v[h, seen].swapaxes(1, 2))
        ds -= np.vecdot(g[h, rows], out[h, rows])[..., None]
        ds *= weights
        np.matmul(ds, k[h, seen], out=dq[h, rows])
        np.matmul(ds.swapaxes(1, 2), q[h, rows], out=dk[h, seen])
        np.matmul(weights.swapaxes(1, 2), g[h, rows], out=dv[h, seen])

    return Part(f"attention {stack} x {queries} x {keys}", stack, run, product=True)


def scatter(rows: int, added: int, width: int, count: int = 1) -> Part:
    """Sums of rows by ids: the ids are sorted, then the first row of each id is copied, the second added, and so on."""
    random = np.random.default_rng(3)
    ids, whole = random.integers(0, rows, added), random.standard_normal((added, width), np.float32)
    halves = {start: np.ascontiguousarray(whole[:, start : start + width // 2]) for start in (0, width // 2)}

    def run(start: int, stop: int) -> Any:
        """``start`` and ``stop`` are columns."""
        updates = whole if stop - start == width else halves[start]
        out = np.zeros((rows, updates.shape[1]), np.float32)
        order = np.argsort(ids.astype(np.uint16) if rows <= 1 << 16 else ids, kind="stable")
        bounds = np.flatnonzero(np.diff(ids[order], prepend=-1, append=rows))
        counts = np.diff(bounds)
        falling = np.argsort(-counts, kind="stable")
        first, sizes = bounds[falling], counts[falling]
        sums = np.take(updates, order[first], axis=0)
        for n in range(1, int(sizes[0])):
            more = int(np.searchsorted(-sizes, -n))
            sums[:more] += np.take(updates, order[first[:more] + n], axis=0)
        out[ids[order[first]]] = sums
        return out

    return Part(f"sums of {added} rows by ids", width, run, count)


# --- Passes: functions of a scratch array, an output, and the inputs, which must stay as they are ---


def _relu(t: Any, out: Any, x: Any, g: Any) -> None:
    np.maximum(x, 0, out=out)
    np.multiply(g, np.greater(x, 0), out=out)


def _gelu_forward(t: Any, out: Any, x: Any) -> None:
    """The error function takes no less than a tanh."""
    np.multiply(x, np.tanh(x, out=t), out=out)


def _gelu(t: Any, out: Any, x: Any, g: Any) -> None:
    """The normal density takes no less than an exponential."""
    _gelu_forward(t, out, x)
    np.multiply(g, np.exp(t, out=t), out=out)


def _swiglu(t: Any, out: Any, x: Any, gate: Any, g: Any) -> None:
    np.exp(x, out=t)
    t += 1
    np.divide(x, t, out=t)
    np.multiply(gate, t, out=out)
    np.multiply(g, t, out=out)
    np.multiply(g, gate, out=out)
    np.multiply(out, t, out=out)


def _sigmoid(t: Any, out: Any, x: Any, g: Any) -> None:
    np.exp(x, out=t)
    t += 1
    np.divide(1, t, out=t)
    np.multiply(g, t, out=out)
    out *= t


def _tanh(t: Any, out: Any, x: Any, g: Any) -> None:
    np.tanh(x, out=t)
    np.multiply(t, t, out=out)
    np.subtract(1, out, out=out)
    out *= g


def _softmax(t: Any, out: Any, x: Any) -> None:
    np.exp(x, out=out)
    out *= 1 / (out @ np.ones((x.shape[1], 1), x.dtype))


def _layer_norm_forward(t: Any, out: Any, x: Any) -> None:
    share = np.full((x.shape[1], 1), 1 / x.shape[1], x.dtype)
    np.subtract(x, x @ share, out=t)
    t *= 1 / np.sqrt(np.square(t, out=out) @ share)
    np.multiply(t, x[0], out=out)
    out += x[0]


def _layer_norm(t: Any, out: Any, x: Any, g: Any) -> None:
    share, ones = np.full((x.shape[1], 1), 1 / x.shape[1], x.dtype), np.ones((1, len(g)), g.dtype)
    _layer_norm_forward(t, out, x)
    np.multiply(g, x, out=t)
    _ = ones @ t, ones @ g, t @ share, g @ share
    np.multiply(g, x[0], out=out)
    np.multiply(x, x[:, :1], out=t)
    out -= t
    out *= x[:, :1]


def _rms_norm(t: Any, out: Any, x: Any, g: Any) -> None:
    share = np.full((x.shape[1], 1), 1 / x.shape[1], x.dtype)
    np.multiply(x, 1 / np.sqrt(np.square(x, out=t) @ share), out=out)
    np.multiply(g, out, out=t)
    _ = np.ones((1, len(g)), g.dtype) @ t, t @ share
    np.multiply(g, x[0], out=out)
    np.multiply(x, x[:, :1], out=t)
    out -= t


def _rotary(t: Any, out: Any, x: Any) -> None:
    """Half of the numbers times a cosine, the other half times a sine, and the sum; the same for the other half."""
    half = x.shape[1] // 2
    for place in (slice(0, half), slice(half, 2 * half)):
        np.multiply(x[:, :half], x[0, :half], out=out[:, place])
        np.multiply(x[:, half : 2 * half], x[0, :half], out=t[:, place])
        out[:, place] += t[:, place]


def _cross_entropy(t: Any, out: Any, x: Any) -> None:
    """The exponentials, their sums and a logarithm a row; the gradient is the probabilities, scaled."""
    _softmax(t, out, x)
    np.log(out[:, :1])


def _adam(t: Any, out: Any, p: Any, g: Any, m: Any, v: Any) -> None:
    m *= 0.9
    m += np.multiply(g, 0.1, out=t)
    v *= 0.999
    v += np.multiply(np.multiply(g, g, out=t), 0.001, out=t)
    np.sqrt(v, out=t)
    t += 1e-8
    np.divide(m, t, out=t)
    t *= 1e-3
    p -= t


def _clip(t: Any, out: Any, g: Any) -> None:
    """The sum of squares; then each gradient is scaled."""
    flat = g.reshape(-1)
    np.multiply(g, np.dot(flat, flat), out=out)


def _formula(t: Any, out: Any, x: Any, g: Any) -> None:
    """tanh(x) exp(-x x) + x sin(x): four functions, and products and sums of them forward and backward."""
    for function in (np.tanh, np.exp, np.sin, np.cos):
        function(x, out=t)
    for _ in range(14):
        np.multiply(x, t, out=out)


CALLS: dict[str, tuple[Callable[..., None], int]] = {  # by name, with the number of inputs
    "add": (lambda t, out, x, y: np.add(x, y, out=out), 2),
    "bias": (lambda t, out, x: np.add(x, x[0], out=out), 1),
    "relu": (_relu, 2),
    "gelu": (_gelu, 2),
    "gelu forward": (_gelu_forward, 1),
    "swiglu": (_swiglu, 3),
    "sigmoid": (_sigmoid, 2),
    "tanh": (_tanh, 2),
    "softmax": (_softmax, 1),
    "layer_norm": (_layer_norm, 2),
    "layer_norm forward": (_layer_norm_forward, 1),
    "rms_norm": (_rms_norm, 2),
    "rotary": (_rotary, 1),
    "cross_entropy": (_cross_entropy, 1),
    "adam": (_adam, 4),
    "clip": (_clip, 1),
    "formula": (_formula, 2),
}
