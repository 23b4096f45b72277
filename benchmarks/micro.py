"""Works of one operation: what the tape itself costs. Each step does the operation 1,000 times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

REPEATS = 1000
WORKS = ("multiply", "multiply_backward")


def _leaves(peer: str) -> tuple[Any, Any, Any]:
    """Two 4 x 4 matrices that require gradients, and the cotangent of their product: float32, the same for both peers."""
    random = np.random.RandomState(5)
    x, y = (random.randn(4, 4).astype(np.float32) for _ in "xy")
    if peer == "torch":
        import torch

        return torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True), torch.ones(4, 4)
    from minigrad import Tensor

    return Tensor(x, requires_grad=True), Tensor(y, requires_grad=True), np.ones((4, 4), np.float32)


def micro_step(peer: str, work: str) -> Callable[[int], float]:
    """``multiply``: a taped product of two 4 x 4 matrices, elementwise; ``multiply_backward``: the same and its backward."""
    x, y, g = _leaves(peer)

    def multiply(_: int) -> float:
        for _ in range(REPEATS):
            z = x * y
        return float(z.sum().item())

    def multiply_backward(_: int) -> float:
        x.grad = None
        for _ in range(REPEATS):
            (x * y).backward(g)
        assert x.grad is not None
        return float(x.grad.sum().item())

    return multiply if work == "multiply" else multiply_backward
