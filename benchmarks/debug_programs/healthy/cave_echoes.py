"""From twelve echoes, tell the shape of a cave; training ends when other caves are no longer told better."""
import numpy as np
import minigrad as mg
import nn

SHAPES = ["hall", "shaft", "tunnel", "chamber"]


class Ear(nn.Module):
    def __init__(self, width, rng):
        self.inner = nn.Affine(12, width, rng=rng)
        self.norm = nn.BatchNorm(width)
        self.drop = nn.Dropout(0.3, rng=rng)
        self.outer = nn.Affine(width, len(SHAPES), rng=rng)

    def forward(self, echoes):
        return self.outer(self.drop(mg.relu(self.norm(self.inner(echoes)))))


def caves(count, rng):
    shape = rng.integers(0, len(SHAPES), count)
    t = np.arange(12)
    decay = np.array([0.1, 0.3, 0.15, 0.5])[shape, None]
    pitch = np.array([0.5, 0.9, 1.4, 0.7])[shape, None]
    echoes = np.exp(-decay * t) * np.cos(pitch * t + rng.normal(0, 0.3, (count, 1))) + rng.normal(0, 0.15, (count, 12))
    return echoes.astype(np.float32), shape


def main():
    rng = np.random.default_rng(33)
    x, y = caves(500, rng)
    held, truth = caves(250, rng)
    ear = Ear(32, rng)
    optimizer = nn.AdamW(ear.parameters(), lr=0.01)
    batches = nn.Batches([x, y], 25, seed=4)
    best, waited, kept = np.inf, 0, None
    for epoch in range(60):
        ear.train()
        for echoes, shape in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(ear(echoes), shape)
            loss.backward()
            optimizer.step()
        ear.eval()
        with mg.no_grad():
            now = nn.cross_entropy(ear(held), truth).item()
        if now < best:
            best, waited, kept = now, 0, {name: a.copy() for name, a in ear.state_dict().items()}
        else:
            waited += 1
        if waited == 8:
            break
    ear.load_state_dict(kept)
    right = np.mean(ear(held).numpy().argmax(axis=1) == truth)
    print(f"stopped after epoch {epoch + 1}, last training loss {loss.item():.3f}, best loss {best:.3f}, right {right:.3f}")


main()
