"""What most tests begin and end with: a tensor that gradients arrive at, and what has arrived."""

from typing import Any

from minigrad import Tensor


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


def grad_of(t: Any) -> Any:
    assert t.grad is not None
    return t.grad.data
