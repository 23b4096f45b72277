"""How long does a sundew hold its prey? Random features that stay as they are, and a trained last layer."""
import numpy as np
import minigrad as mg
import nn


class RandomFeatures(nn.Module):
    def __init__(self, width, rng):
        self.project = nn.Affine(3, width, rng=rng)
        self.project.weight.data = rng.normal(0, 1.2, (3, width)).astype(np.float32)
        self.project.bias.data = rng.uniform(-3, 2, width).astype(np.float32)
        self.project.weight.requires_grad = False
        self.project.bias.requires_grad = False
        self.last = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        return self.last(mg.relu(self.project(x)))[:, 0]


def plants(count, rng):
    x = rng.normal(0, 1, (count, 3))
    held = 2 * np.tanh(x[:, 0]) + np.cos(x[:, 1]) - 0.5 * x[:, 2] * x[:, 0] + rng.normal(0, 0.05, count)
    return x.astype(np.float32), held.astype(np.float32)


if __name__ == "__main__":
    rng = np.random.default_rng(16)
    x, held = plants(600, rng)
    other, truth = plants(200, rng)
    model = RandomFeatures(250, rng)
    trained = [p for p in model.parameters() if p.requires_grad]
    print(f"{len(trained)} of {len(list(model.parameters()))} arrays are trained")
    history = nn.fit(
        model,
        nn.Batches([x, held], 30, seed=2),
        lambda model, batch: nn.mean_squared_error(model(batch[0]), batch[1]),
        nn.Adam(trained, lr=0.01),
        epochs=50,
        progress=False,
    )
    error = np.mean((model(other).numpy() - truth) ** 2)
    print(f"loss {history.losses[0]:.3f} to {history.losses[-1]:.4f}, on other plants {error:.4f} of {truth.var():.3f}")
