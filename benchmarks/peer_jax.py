"""JAX: the whole step compiled (``jax.jit``), Adam included."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import plain_model, real
from benchmarks.step import Step
from benchmarks.workload import BATCHES, sizes, weights_and_batches

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")


def build(work: str) -> Step:
    if real.has(work, "jax"):
        return real.build(work, "jax")
    s = sizes(work)
    arrays, drawn = weights_and_batches(work)
    batches = [{n: jnp.asarray(a) for n, a in batch.items()} for batch in plain_model.prepared(s, drawn)]
    P = {name: jnp.asarray(array) for name, array in arrays.items()}
    state = [P, jax.tree.map(jnp.zeros_like, P), jax.tree.map(jnp.zeros_like, P), 0]

    def loss_of(P: Any, batch: Any) -> Any:
        softmax = lambda xp, x: jax.nn.softmax(x, -1)  # noqa: E731
        return plain_model.loss_of(jnp, s, P, batch, drawn["pe"], softmax=softmax)

    def update(P: Any, m: Any, v: Any, t: Any, batch: Any) -> Any:
        loss, g = jax.value_and_grad(loss_of)(P, batch)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate, scale = 1e-3 / (1 - 0.9**t), 1 / (1 - 0.999**t)
        P = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v * scale) + 1e-8), P, m, v)
        return P, m, v, loss

    compiled = jax.jit(update, donate_argnums=(0, 1, 2))

    def run(i: int) -> Any:
        state[3] += 1
        *state[:3], loss = compiled(*state[:3], np.float32(state[3]), batches[i % BATCHES])
        jax.block_until_ready(state[:3])
        return loss

    def gradients() -> dict[str, Any]:
        """Of the first step: its mean of gradients is a tenth of them."""
        return {name: 10 * np.asarray(m) for name, m in state[1].items()}

    return Step(run, gradients)
