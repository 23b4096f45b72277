"""Formulas of a reader's own: derivatives of functions, an elementwise formula on many numbers, and a network for digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.harness import OPTIONAL
from benchmarks.plain_model import Plain
from benchmarks.real.torch_layers import affine, gradients, parameters
from benchmarks.real.work import (
    RELU_GRADIENTS,
    F,
    Work,
    anp,
    autograd,
    drawn,
    jax,
    jnp,
    mg,
    minigrad_training,
    nn,
    peer,
    plainly,
    torch,
    torch_training,
)
from benchmarks.step import Step
from benchmarks.workload import BATCHES


@dataclass(frozen=True)
class FunctionSizes:
    """How many numbers go in; and the rows of data, where there are data."""

    n: int = 100
    rows: int = 500


# --- The Jacobian of tanh(A x) * (B x), in double precision ---


def jacobian_data(s: FunctionSizes) -> list[Any]:
    """A, B (n, n) and x (n,)."""
    random = np.random.RandomState(21)
    return [random.randn(s.n, s.n) / s.n**0.5, random.randn(s.n, s.n) / s.n**0.5, random.randn(s.n)]


def jacobian_minigrad(s: FunctionSizes) -> Step:
    A, B, x = jacobian_data(s)
    find = mg.jacobian(lambda x: np.tanh(A @ x) * (B @ x))
    return Step(lambda _: find(x)[0, 0], lambda: {"jacobian": find(x)})


def jacobian_torch(s: FunctionSizes) -> Step:
    A, B, x = map(torch.tensor, jacobian_data(s))
    find = torch.func.jacrev(lambda x: torch.tanh(A @ x) * (B @ x))
    return Step(lambda _: find(x)[0, 0], lambda: {"jacobian": find(x).numpy()})


def jacobian_autograd(s: FunctionSizes) -> Step:
    A, B, x = jacobian_data(s)
    find = autograd.jacobian(lambda x: anp.tanh(A @ x) * (B @ x))
    return Step(lambda _: find(x)[0, 0], lambda: {"jacobian": find(x)})


def jacobian_jax(s: FunctionSizes) -> Step:
    """NumPy reads its array where it is; JAX would make an array of its own of one number, which takes as long again."""
    jax.config.update("jax_enable_x64", True)
    A, B, x = map(jnp.asarray, jacobian_data(s))
    find = jax.jit(jax.jacrev(lambda x: jnp.tanh(A @ x) * (B @ x)))
    return Step(lambda _: np.asarray(find(x))[0, 0], lambda: {"jacobian": np.asarray(find(x))})


# --- The Hessian of a logistic loss, in double precision ---


def logistic_data(s: FunctionSizes) -> list[Any]:
    """Rows (rows, n) times their labels -1 and 1, and parameters (n,)."""
    random = np.random.RandomState(22)
    return [random.randn(s.rows, s.n) * random.choice([-1.0, 1.0], (s.rows, 1)), 0.1 * random.randn(s.n)]


def hessian_minigrad(s: FunctionSizes) -> Step:
    X, w = logistic_data(s)
    find = mg.hessian(lambda w: np.logaddexp(0.0, -(X @ w)).mean() + 0.01 * (w @ w))
    return Step(lambda _: find(w)[0, 0], lambda: {"hessian": find(w)})


def hessian_torch(s: FunctionSizes) -> Step:
    """``torch.func.hessian``, which pushes all directions forward at once."""
    X, w = map(torch.tensor, logistic_data(s))
    find = torch.func.hessian(lambda w: F.softplus(-(X @ w)).mean() + 0.01 * (w @ w))
    return Step(lambda _: find(w)[0, 0], lambda: {"hessian": find(w).numpy()})


def hessian_by_rows_torch(s: FunctionSizes) -> Step:
    """``torch.autograd.functional.hessian``, a sweep for each row."""
    X, w = map(torch.tensor, logistic_data(s))

    def find() -> Any:
        return torch.autograd.functional.hessian(lambda w: F.softplus(-(X @ w)).mean() + 0.01 * (w @ w), w)

    return Step(lambda _: find()[0, 0], lambda: {"hessian": find().numpy()})


def hessian_autograd(s: FunctionSizes) -> Step:
    X, w = logistic_data(s)
    find = autograd.hessian(lambda w: anp.mean(anp.logaddexp(0.0, -(X @ w))) + 0.01 * (w @ w))
    return Step(lambda _: find(w)[0, 0], lambda: {"hessian": find(w)})


def hessian_jax(s: FunctionSizes) -> Step:
    jax.config.update("jax_enable_x64", True)
    X, w = map(jnp.asarray, logistic_data(s))
    find = jax.jit(jax.hessian(lambda w: jnp.logaddexp(0.0, -(X @ w)).mean() + 0.01 * (w @ w)))
    return Step(lambda _: np.asarray(find(w))[0, 0], lambda: {"hessian": np.asarray(find(w))})


# --- y = tanh(x) exp(-x x) + x sin(x) on many numbers, forward and backward ---


@dataclass(frozen=True)
class ManyNumbers:
    n: int = 10_000_000


def numbers(s: ManyNumbers) -> Any:
    return np.linspace(-3, 3, s.n, dtype=np.float32)


def formula(xp: Any, x: Any) -> Any:
    return xp.tanh(x) * xp.exp(-x * x) + x * xp.sin(x)


def formula_minigrad(s: ManyNumbers) -> Step:
    x, g = mg.Tensor(numbers(s), requires_grad=True), np.ones(s.n, np.float32)
    found: dict[str, Any] = {}

    def run(_: int) -> Any:
        x.grad = None
        found["y"] = y = formula(np, x)
        y.backward(g)
        return y[s.n // 3]

    return Step(run, lambda: {"y": found["y"].numpy(), "gradient": x.grad.numpy()})


def formula_torch(s: ManyNumbers) -> Step:
    x, g = torch.tensor(numbers(s), requires_grad=True), torch.ones(s.n)
    found: dict[str, Any] = {}

    def run(_: int) -> Any:
        x.grad = None
        found["y"] = y = formula(torch, x)
        y.backward(g)
        return y[s.n // 3]

    return Step(run, lambda: {"y": found["y"].detach().numpy(), "gradient": x.grad.numpy()})


def formula_of(library: str, s: ManyNumbers) -> Step:
    differentiate = peer(library).pullback(formula, numbers(s), np.ones(s.n, np.float32))
    found: dict[str, Any] = {}

    def run(_: int) -> Any:
        found["y"], found["gradient"] = map(np.asarray, differentiate())
        return found["y"][s.n // 3]

    return Step(run, lambda: found)


# --- The network that many begin with: 784-256-128-10, ReLU, Adam ---


@dataclass(frozen=True)
class NetworkSizes:
    """Batch, and the width of each layer."""

    B: int = 128
    D: int = 784
    hidden: int = 256
    second: int = 128
    C: int = 10


def mlp_data(s: NetworkSizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, images (8, B, D) and labels (8, B)."""
    widths = [s.D, s.hidden, s.second, s.C]
    shapes: dict[str, tuple[int, ...]] = {}
    for n, (into, out) in enumerate(pairwise(widths)):
        shapes |= {f"layers.{n}.weight": (into, out), f"layers.{n}.bias": (out,)}
    random = np.random.RandomState(23)
    images = random.rand(BATCHES, s.B, s.D).astype(np.float32)
    return drawn(shapes), images, random.randint(0, s.C, (BATCHES, s.B)).astype(np.int64)


def mlp_minigrad(s: NetworkSizes) -> Step:
    weights, images, labels = mlp_data(s)

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            widths, rng = [s.D, s.hidden, s.second, s.C], np.random.default_rng(0)
            self.layers = [nn.Affine(into, out, rng=rng) for into, out in pairwise(widths)]

        def forward(self, x: Any) -> Any:
            for layer in self.layers[:-1]:
                x = mg.relu(layer(x))
            return self.layers[-1](x)

    network = Network()
    network.load_state_dict(weights)

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(network(images[i % BATCHES]), labels[i % BATCHES])

    return minigrad_training(network, loss_of, nn.Adam(network.parameters(), lr=1e-3))


def mlp_torch(s: NetworkSizes) -> Step:
    weights, images, labels = mlp_data(s)
    P, images, labels = parameters(weights), torch.tensor(images), torch.tensor(labels)

    def loss_of(i: int) -> Any:
        x = images[i % BATCHES]
        for n in range(2):
            x = F.relu(affine(x, P, f"layers.{n}"))
        return F.cross_entropy(affine(x, P, "layers.2"), labels[i % BATCHES])

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


def mlp_plain(s: NetworkSizes) -> Plain:
    weights, images, labels = mlp_data(s)

    def loss(xp: Any, P: dict[str, Any], batch: dict[str, Any]) -> Any:
        x = batch["x"]
        for n in range(2):
            x = xp.relu(xp.affine(x, P[f"layers.{n}.weight"], P[f"layers.{n}.bias"]))
        return xp.cross_entropy(xp.affine(x, P["layers.2.weight"], P["layers.2.bias"]), batch["y"])

    return Plain(weights, [{"x": x, "y": y} for x, y in zip(images, labels)], loss)


FIFTY = FunctionSizes(n=50)
WORKS = {
    "jacobian": Work(
        "Jacobian 100 x 100 of tanh(A x) * (B x); torch.func.jacrev",
        jacobian_minigrad,
        jacobian_torch,
        FunctionSizes(),
        others={"jax": jacobian_jax, "autograd": jacobian_autograd},
    ),
    "hessian": Work(
        "Hessian of a logistic loss, 50 parameters; torch.func.hessian",
        hessian_minigrad,
        hessian_torch,
        FIFTY,
        others={"jax": hessian_jax, "autograd": hessian_autograd},
    ),
    "hessian_by_rows": Work(
        "the same Hessian; torch.autograd.functional.hessian", hessian_minigrad, hessian_by_rows_torch, FIFTY
    ),
    "mlp": Work(
        "MLP 784-256-128-10, training step",
        mlp_minigrad,
        mlp_torch,
        NetworkSizes(),
        output=RELU_GRADIENTS,
        others=plainly(mlp_plain, *OPTIONAL, "written"),
    ),
    "formula": Work(
        "tanh(x) exp(-x x) + x sin(x) on 10^7 numbers",
        formula_minigrad,
        formula_torch,
        ManyNumbers(),
        others={library: partial(formula_of, library) for library in OPTIONAL},
    ),
}
