"""Is a coral healthy, pale or dead? Divers photograph one reef after another; on a reef most corals are alike."""

import numpy as np

import minigrad as mg
import nn

STATES = ["healthy", "pale", "dead"]


def photograph(state, rng):
    """Colours and textures of corals: (count, 12)."""
    red = np.array([1.2, 0.0, -1.2])[state]
    rough = np.array([0.5, -1.0, 0.6])[state]
    rest = rng.normal(size=(len(state), 10))
    return np.column_stack([red + 0.5 * rng.normal(size=len(state)), rough + 0.5 * rng.normal(size=len(state)), rest])


def reefs(count, corals, rng):
    for _ in range(count):
        chances = rng.permutation([0.9, 0.05, 0.05])
        state = rng.choice(3, size=corals, p=chances)
        yield photograph(state, rng).astype(np.float32), state


class CoralNet(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(
            nn.Affine(12, 32, rng=rng), nn.BatchNorm(32), mg.relu, nn.Affine(32, 16, rng=rng), nn.BatchNorm(16), mg.relu
        )
        self.state = nn.Affine(16, 3, rng=rng)

    def forward(self, x):
        return self.state(self.layers(x))


def survey(model, sites):
    right, seen = 0, 0
    with mg.no_grad():
        for site, state in sites:
            right += int((model(site).numpy().argmax(axis=1) == state).sum())
            seen += len(state)
    return right / seen


def main():
    rng = np.random.default_rng(161)
    state = rng.integers(3, size=1500)
    corals = photograph(state, rng).astype(np.float32)
    model = CoralNet(rng)
    optimizer = nn.Adam(model.parameters(), lr=0.005)
    batches = nn.Batches([corals, state], 50, seed=10)
    for epoch in range(12):
        losses = []
        for inputs, labels in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
    sites = list(reefs(30, 25, rng))
    print(f"corals of thirty reefs told rightly: {survey(model, sites):.2f}")


if __name__ == "__main__":
    main()
