"""Forward mode through fused operations and layers, while other things are differentiated too, beside PyTorch's torch.func."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad.rules.recurrent import gru_states
from tests.lazy import torch

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit.script`:DeprecationWarning"
)  # PyTorch's own use, in torch.func
Function = Callable[..., Any]


def net(x: Any, W: Any, b: Any, V: Any) -> Any:
    """Two layers, as ``nn.Affine`` computes them."""
    return mg.affine(mg.gelu(mg.affine(x, W, b)), V, np.ones(2))


def torch_net(x: Any, W: Any, b: Any, V: Any) -> Any:
    return torch.nn.functional.gelu(x @ W + b) @ V + 1


def torch_layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    """Written out: third derivatives of PyTorch's own are not what finite differences of it say (2.13)."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5) * gamma + beta


def torch_attention(q: Any, k: Any, v: Any) -> Any:
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v


def torch_gru(images: Any, h: Any, weight: Any, bias: Any) -> Any:
    states, d = [], h.shape[-1]
    for t in range(images.shape[1]):
        image, memory = images[:, t], h @ weight + bias
        gates = torch.sigmoid(image[:, : 2 * d] + memory[:, : 2 * d])
        candidate = torch.tanh(image[:, 2 * d :] + gates[:, :d] * memory[:, 2 * d :])
        h = candidate + gates[:, d:] * (h - candidate)
        states.append(h)
    return torch.stack(states, 1)


LABELS = np.array([3, 0, 1])
CASES: dict[str, tuple[Function, Function, list[tuple[int, ...]]]] = {
    "affine": (net, torch_net, [(2, 3), (3, 4), (4,), (4, 2)]),
    "layer_norm": (mg.layer_norm, torch_layer_norm, [(3, 5), (5,), (5,)]),
    "attention": (mg.scaled_dot_product_attention, torch_attention, [(2, 3, 4)] * 3),
    "GRU": (gru_states, torch_gru, [(2, 3, 6), (2, 2), (2, 6), (6,)]),
    "cross_entropy": (
        lambda x, W: mg.cross_entropy(mg.affine(x, W, np.zeros(5)), LABELS),
        lambda x, W: torch.nn.functional.cross_entropy(x @ W, torch.from_numpy(LABELS)),
        [(3, 4), (4, 5)],
    ),
    "kron": (np.kron, lambda a, b: torch.kron(a, b), [(2, 2), (2, 3)]),
    "cross": (np.cross, lambda a, b: torch.linalg.cross(a, b), [(4, 3), (4, 3)]),
}


# Of a function, a scalar made of it, a point and a direction.
OURS: dict[str, Function] = {
    "jvp": lambda f, scalar, x, v: mg.jvp(f, [x], [v])[1],
    "hvp": lambda f, scalar, x, v: mg.hvp(scalar, [x], [v])[0],
    "hessian": lambda f, scalar, x, v: mg.hessian(scalar)(x),
    "jacobian": lambda f, scalar, x, v: mg.jacobian(f)(x),
}


def torch_jvp(f: Function, x: Any, v: Any) -> Any:
    """Two reverse passes: PyTorch's own forward mode takes seconds to be imported."""
    return torch.func.vjp(lambda u: torch.func.vjp(f, x)[1](u)[0], torch.zeros_like(f(x)))[1](v)[0]


THEIRS: dict[str, Function] = {
    "jvp": lambda f, scalar, x, v: torch_jvp(f, x, v),
    "hvp": lambda f, scalar, x, v: torch_jvp(torch.func.grad(scalar), x, v),
    "hessian": lambda f, scalar, x, v: torch.func.jacrev(torch.func.jacrev(scalar))(x),
    "jacobian": lambda f, scalar, x, v: torch.func.jacrev(f)(x),
}


def along(way: Function, f: Function, k: int, v: Any, sine: Function) -> Function:
    """A function of all arguments of ``f``: what ``way`` finds while argument ``k`` alone moves."""

    def found(*xs: Any) -> Any:
        def one(z: Any) -> Any:
            return f(*xs[:k], z, *xs[k + 1 :])

        return way(one, lambda z: sine(one(z)).sum(), xs[k], v)

    return found


def bent(found: Function, sine: Function) -> Function:
    return lambda *xs: sine(found(*xs)).sum()


@pytest.mark.sampled(11)
@pytest.mark.parametrize("way", OURS)
@pytest.mark.parametrize("name", CASES)
def test_every_way_forward_is_differentiated_by_every_argument(name: str, way: str) -> None:
    """What it finds along each argument, and the gradient of that by all of them."""
    f, of_torch, shapes = CASES[name]
    rng = np.random.default_rng(0)
    arrays, directions = ([rng.standard_normal(shape) for shape in shapes] for _ in range(2))
    tensors, every = [torch.from_numpy(a) for a in arrays], tuple(range(len(arrays)))
    for k, v in enumerate(directions):
        ours = along(OURS[way], f, k, v, np.sin)
        theirs = along(THEIRS[way], of_torch, k, torch.from_numpy(v), torch.sin)
        np.testing.assert_allclose(ours(*arrays), theirs(*tensors).numpy(force=True), rtol=1e-9, atol=1e-9)
        got = mg.grad(bent(ours, np.sin), every)(*arrays)
        want = torch.func.grad(bent(theirs, torch.sin), every)(*tensors)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b.numpy(force=True), rtol=1e-8, atol=1e-8)


def test_a_network_is_trained_on_its_own_derivative() -> None:
    """The gradients by all parameters of ``(df/dx - target)^2``, forward as in reverse, and by finite differences."""
    rng = np.random.default_rng(0)
    layers = [nn.Affine(1, 8, rng=rng, dtype=np.float64), nn.Affine(8, 1, rng=rng, dtype=np.float64)]
    x, target = rng.standard_normal((6, 1)), rng.standard_normal((6, 1))

    def model(x: Any) -> Any:
        return layers[1](np.tanh(layers[0](x)))

    def forward() -> Any:
        return np.sum((mg.jvp(model, [x], [np.ones_like(x)])[1] - target) ** 2)

    def reverse() -> Any:
        return np.sum((mg.vjp(model, x)[1](np.ones_like(x))[0] - target) ** 2)

    parameters = [p for layer in layers for p in layer.parameters()]
    found = []
    for loss in (forward, reverse):
        for p in parameters:
            p.zero_grad()
        loss().backward()
        found.append([np.zeros(p.shape) if p.grad is None else p.grad.numpy().copy() for p in parameters])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    weight = parameters[0].data
    slopes = []
    for step in (1e-6, -1e-6):
        weight[0, 0] += step
        slopes.append(float(forward().data))
        weight[0, 0] -= step
    np.testing.assert_allclose(found[0][0][0, 0], (slopes[0] - slopes[1]) / 2e-6, rtol=1e-5)
