"""JAX: the whole step compiled (``jax.jit``), Adam included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import plain_model, real
from benchmarks.plain_model import Plain
from benchmarks.step import Step

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")


def _cross_entropy(z: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(z), labels[:, None], axis=-1).mean()


XP = plain_model.namespace(
    jnp,
    softmax=jax.nn.softmax,
    relu=jax.nn.relu,
    gelu=partial(jax.nn.gelu, approximate=False),
    cross_entropy=_cross_entropy,
)


def build(work: str) -> Step:
    return real.build(work, "jax") if real.has(work, "jax") else step(plain_model.of_suite(work))


def step(plain: Plain, clip: float = 0.0, decay: float = 0.0) -> Step:
    """``clip`` is the largest norm of the gradients, ``decay`` AdamW's."""
    value_and_grad = jax.value_and_grad(partial(plain.loss, XP))
    P, batches = (jax.tree.map(jnp.asarray, part) for part in (plain.arrays, plain.batches))
    if plain.adam:
        return _training(value_and_grad, P, batches, clip, decay)
    compiled = jax.jit(value_and_grad)
    last: dict[str, Any] = {}

    def run(i: int) -> Any:
        loss, gradients = jax.block_until_ready(compiled(P, batches[i % len(batches)]))
        last.update(gradients)
        return loss

    return Step(run, lambda: {name: np.asarray(g) for name, g in last.items()})


def pullback(f: Callable[[Any, Any], Any], x: Any, g: Any) -> Callable[[], tuple[Any, Any]]:
    """What gives ``f(XP, x)``, and the gradient of its product with ``g``."""
    x, g = jnp.asarray(x), jnp.asarray(g)

    def both(x: Any, g: Any) -> tuple[Any, Any]:
        y, back = jax.vjp(partial(f, XP), x)
        return y, back(g)[0]

    compiled = jax.jit(both)
    return lambda: jax.block_until_ready(compiled(x, g))


def _training(value_and_grad: Any, P: Any, batches: list[Any], clip: float, decay: float) -> Step:
    state = [P, jax.tree.map(jnp.zeros_like, P), jax.tree.map(jnp.zeros_like, P), 0]

    def update(P: Any, m: Any, v: Any, t: Any, batch: Any) -> Any:
        loss, g = value_and_grad(P, batch)
        if clip:
            norm = jnp.sqrt(sum(jnp.vdot(one, one) for one in jax.tree.leaves(g)))
            g = jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / (norm + 1e-6)), g)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate, scale = 1e-3 / (1 - 0.9**t), 1 / (1 - 0.999**t)
        kept = 1 - 1e-3 * decay
        P = jax.tree.map(lambda p, m, v: kept * p - rate * m / (jnp.sqrt(v * scale) + 1e-8), P, m, v)
        return P, m, v, loss

    compiled = jax.jit(update, donate_argnums=(0, 1, 2))

    def run(i: int) -> Any:
        state[3] += 1
        *state[:3], loss = compiled(*state[:3], np.float32(state[3]), batches[i % len(batches)])
        jax.block_until_ready(state[:3])
        return loss

    def gradients() -> dict[str, Any]:
        """Of the first step: its mean of gradients is a tenth of them."""
        return {name: 10 * np.asarray(m) for name, m in state[1].items()}

    return Step(run, gradients)
