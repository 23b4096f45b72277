"""LeNet-5 on images of 28 x 28 (LeCun et al. 1998), with ReLU and max pooling, as its many tutorials write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real.work import (
    RELU_GRADIENTS,
    F,
    Work,
    drawn,
    mg,
    minigrad_training,
    nn,
    peer_written,
    torch,
    torch_training,
)
from benchmarks.step import Step
from benchmarks.workload import BATCHES


@dataclass(frozen=True)
class Sizes:
    """Batch, height and width of an image, and the channels of the two convolutions."""

    B: int = 64
    side: int = 28
    first: int = 6
    second: int = 16


def lenet(package: Any, affine: Any, relu: Any, s: Sizes, **options: Any) -> Any:
    width = s.second * ((s.side // 2 - 4) // 2) ** 2
    return package.Sequential(
        package.Conv2d(1, s.first, 5, padding=2, **options), relu, package.MaxPool2d(2),
        package.Conv2d(s.first, s.second, 5, **options), relu, package.MaxPool2d(2), package.Flatten(),
        affine(width, 120, **options), relu, affine(120, 84, **options), relu, affine(84, 10, **options),
    )  # fmt: skip


def data(s: Sizes) -> tuple[Any, Any]:
    """Images (8, B, 1, side, side) and labels (8, B)."""
    random = np.random.RandomState(25)
    return random.randn(BATCHES, s.B, 1, s.side, s.side).astype(np.float32), random.randint(0, 10, (BATCHES, s.B))


def lenet_network(s: Sizes) -> Any:
    model = lenet(nn, nn.Affine, mg.relu, s, rng=np.random.default_rng(0))
    model.load_state_dict(drawn({name: p.shape for name, p in model.named_parameters()}))
    return model


def lenet_minigrad(s: Sizes) -> Step:
    (images, labels), model = data(s), lenet_network(s)

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(model(images[i % BATCHES]), labels[i % BATCHES])

    return minigrad_training(model, loss_of, nn.Adam(model.parameters(), lr=1e-3))


def lenet_written(s: Sizes) -> Step:
    """The plain rules, without a tape and without kernels."""
    batches = list(zip(*data(s)))
    return peer_written.training(lenet_network(s), lambda model, x, labels: nn.cross_entropy(model(x), labels), batches)


def turned(name: str, array: Any) -> Any:
    """The weight of an affine map, which PyTorch keeps the other way round."""
    return array.T if array.ndim == 2 else array


def lenet_torch(s: Sizes) -> Step:
    (images, labels), model = [torch.tensor(t) for t in data(s)], lenet(torch.nn, torch.nn.Linear, torch.nn.ReLU(), s)
    P = {f"layers.{name}": p for name, p in model.named_parameters()}
    for name, array in drawn({name: tuple(turned(name, p).shape) for name, p in P.items()}).items():
        P[name].data = torch.tensor(np.ascontiguousarray(turned(name, array)))

    def loss_of(i: int) -> Any:
        return F.cross_entropy(model(images[i % BATCHES]), labels[i % BATCHES])

    def gradients(P: dict[str, Any]) -> dict[str, Any]:
        return {name: turned(name, p.grad.numpy()).copy() for name, p in P.items()}

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


WORKS = {
    "lenet": Work(
        "LeNet on 64 images of 28 x 28, training step",
        lenet_minigrad,
        lenet_torch,
        Sizes(),
        output=RELU_GRADIENTS,
        others={"written": lenet_written},
    )
}
