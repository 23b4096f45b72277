"""Derivatives of one function computed in several ways, to be compared with each other.

Each way answers with the same three lists: the values, the first-order and the second-order derivatives,

    first = d p(f(x)) / dx        second = d p(first) / dx        p(y) = <u, y> + <y, y> / 2

with a fixed random direction `u`. The square makes the cotangent depend on `x`: second order then shows also how a rule
depends on its cotangent.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import Tensor
from tests.lazy import torch

Arrays = Sequence[np.ndarray]
Function = Callable[..., Any]


class Derivatives(NamedTuple):
    """NumPy arrays, on the host."""

    values: list[np.ndarray]
    first: list[np.ndarray]
    second: list[np.ndarray]


def differentiable(array: Any) -> bool:
    return array.dtype.kind in "fc"


def directions(arrays: Sequence[Any], seed: int) -> list[np.ndarray]:
    """A random array for each of `arrays`, of its shape and dtype, that nobody may write to."""
    rng = np.random.default_rng(seed)
    made = [np.asarray(rng.uniform(0.5, 1.5, np.shape(a)), a.dtype) for a in arrays]
    for direction in made:
        direction.flags.writeable = False
    return made


def flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def home(value: Any) -> np.ndarray:
    """A NumPy array from a Tensor, a device array, a NumPy array or a number."""
    if isinstance(value, Tensor):
        value = value.data
    return value.get() if hasattr(value, "get") else np.asarray(value)


def inputs_of(arrays: Arrays, put: Function | None = None) -> list[Any]:
    """Leaves for the floating arrays, which share their memory; the other arrays as they are."""
    move = put or (lambda a: a)
    return [Tensor(move(a), requires_grad=True, copy=False) if differentiable(a) else move(a) for a in arrays]


def project(outputs: Any, seed: int, put: Function | None = None) -> Any:
    """`p(outputs)`"""
    outputs = flat(outputs)
    move = put or (lambda a: a)
    return builtins.sum(
        np.sum(o * (move(u) + 0.5 * o)) for o, u in zip(outputs, directions(outputs, seed), strict=True)
    )


def gradients(leaves: Sequence[Tensor]) -> list[np.ndarray]:
    return [np.zeros(t.shape, t.dtype) if t.grad is None else home(t.grad) for t in leaves]


def by_backward(f: Function, arrays: Arrays, put: Function | None = None) -> Derivatives:
    """Values and first order as training computes them: `backward()` on raw arrays. No second order."""
    inputs = inputs_of(arrays, put)
    outputs = f(*inputs)
    project(outputs, 1, put).backward()
    leaves = [t for t in inputs if isinstance(t, Tensor)]
    return Derivatives([home(o) for o in flat(outputs)], gradients(leaves), [])


def by_create_graph(f: Function, arrays: Arrays, put: Function | None = None) -> Derivatives:
    """Both orders through `backward(create_graph=True)`: the rules run on Tensors."""
    inputs = inputs_of(arrays, put)
    outputs = f(*inputs)
    project(outputs, 1, put).backward(create_graph=True)
    leaves = [t for t in inputs if isinstance(t, Tensor)]
    first, arrived = gradients(leaves), [t.grad for t in leaves if t.grad is not None]
    slope = project(arrived, 2, put)
    for t in leaves:
        t.zero_grad()
    if slope.requires_grad:
        slope.backward()
    return Derivatives([home(o) for o in flat(outputs)], first, gradients(leaves))


def by_torch(f: Function, arrays: Arrays) -> Derivatives:
    """Both orders by PyTorch; `f` is a function of its tensors."""
    inputs = [torch.from_numpy(a.copy()).requires_grad_(differentiable(a)) for a in arrays]
    leaves = [t for t in inputs if t.requires_grad]

    def pull(outputs: Any, seed: int, create_graph: bool) -> list[Any]:
        us = directions([o.numpy(force=True) for o in outputs], seed)
        loss = builtins.sum(
            (o * (torch.from_numpy(u.copy()) + 0.5 * o)).sum() for o, u in zip(outputs, us, strict=True)
        )
        if not loss.requires_grad:
            return [torch.zeros_like(t) for t in leaves]
        return list(torch.autograd.grad(loss, leaves, create_graph=create_graph, materialize_grads=True))

    outputs = flat(f(*inputs))
    first = pull(outputs, 1, True)
    second = pull(first, 2, False)
    return Derivatives(*([t.numpy(force=True) for t in ts] for ts in (outputs, first, second)))


def assert_agrees(got: Derivatives, want: Derivatives, rtol: float = 1e-10, dtypes: bool = True) -> None:
    """Value by value; a second order that was not computed is not compared."""
    assert_close(got.values, want.values, rtol, dtypes)
    assert_close(got.first, want.first, rtol, dtypes)
    if got.second:
        assert_close(got.second, want.second, rtol, dtypes)


def assert_close(
    got: Sequence[np.ndarray], want: Sequence[np.ndarray], rtol: float = 1e-10, dtypes: bool = True
) -> None:
    """The same shapes and dtypes, and numbers that agree relative to the largest of each array."""
    assert [a.shape for a in got] == [a.shape for a in want]
    if dtypes:
        assert [a.dtype for a in got] == [a.dtype for a in want]
    for a, b in zip(got, want, strict=True):
        scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale)
