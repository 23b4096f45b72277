"""A variational autoencoder for images (Kingma and Welling 2014), 784-256-2x16-256-784, as its many tutorials write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real.torch_layers import affine, gradients, parameters
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
    """Batch, pixels, width of the hidden layers, width of the code."""

    B: int = 128
    D: int = 784
    hidden: int = 256
    code: int = 16


def data(s: Sizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, images in [0, 1] (8, B, D) and the noise (8, B, code)."""
    widths = {
        "encoder": (s.D, s.hidden),
        "mean": (s.hidden, s.code),
        "log_variance": (s.hidden, s.code),
        "decoder": (s.code, s.hidden),
        "output": (s.hidden, s.D),
    }
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (into, out) in widths.items():
        shapes |= {f"{name}.weight": (into, out), f"{name}.bias": (out,)}
    random = np.random.RandomState(24)
    images = random.rand(BATCHES, s.B, s.D).astype(np.float32)
    return drawn(shapes), images, random.randn(BATCHES, s.B, s.code).astype(np.float32)


def vae_network(s: Sizes, weights: dict[str, Any]) -> Any:
    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            self.encoder, self.decoder = nn.Affine(s.D, s.hidden, rng=rng), nn.Affine(s.code, s.hidden, rng=rng)
            self.mean, self.log_variance = (nn.Affine(s.hidden, s.code, rng=rng) for _ in range(2))
            self.output = nn.Affine(s.hidden, s.D, rng=rng)

        def forward(self, x: Any, noise: Any) -> Any:
            hidden = mg.relu(self.encoder(x))
            mean, log_variance = self.mean(hidden), self.log_variance(hidden)
            z = mean + np.exp(0.5 * log_variance) * noise
            return self.output(mg.relu(self.decoder(z))), mean, log_variance

    network = Network()
    network.load_state_dict(weights)
    return network


def vae_loss(network: Any, x: Any, noise: Any) -> Any:
    logits, mean, log_variance = network(x, noise)
    reconstruction = nn.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean**2 - np.exp(log_variance)).sum()
    return (reconstruction + divergence) / len(x)


def vae_minigrad(s: Sizes) -> Step:
    weights, images, noise = data(s)
    network = vae_network(s, weights)

    def loss_of(i: int) -> Any:
        return vae_loss(network, images[i % BATCHES], noise[i % BATCHES])

    return minigrad_training(network, loss_of, nn.Adam(network.parameters(), lr=1e-3))


def vae_written(s: Sizes) -> Step:
    weights, images, noise = data(s)
    return peer_written.training(vae_network(s, weights), vae_loss, list(zip(images, noise)))


def vae_torch(s: Sizes) -> Step:
    weights, images, noise = data(s)
    P, images, noise = parameters(weights), torch.tensor(images), torch.tensor(noise)

    def loss_of(i: int) -> Any:
        x = images[i % BATCHES]
        hidden = F.relu(affine(x, P, "encoder"))
        mean, log_variance = affine(hidden, P, "mean"), affine(hidden, P, "log_variance")
        z = mean + torch.exp(0.5 * log_variance) * noise[i % BATCHES]
        logits = affine(F.relu(affine(z, P, "decoder")), P, "output")
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = -0.5 * (1 + log_variance - mean**2 - torch.exp(log_variance)).sum()
        return (reconstruction + divergence) / s.B

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


WORKS = {
    "vae": Work(
        "variational autoencoder 784-256-16, training step",
        vae_minigrad,
        vae_torch,
        Sizes(),
        output=RELU_GRADIENTS,
        others={"written": vae_written},
    )
}
