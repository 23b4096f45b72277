"""Sailors tie knots in a row. Is the first bowline tied before the first hitch?"""
import numpy as np

import minigrad as mg
import nn

KNOTS, LENGTH, WIDTH = 10, 9, 24
BOWLINE, HITCH = 3, 7


class Boatswain(nn.Module):
    def __init__(self, *, rng):
        self.knots = nn.Embedding(KNOTS, WIDTH, rng=rng, std=0.5)
        self.places = nn.Parameter(rng.normal(0, 0.5, (LENGTH, WIDTH)).astype(np.float32))
        self.layers = [nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, rng=rng) for _ in range(2)]
        self.norm = nn.LayerNorm(WIDTH)
        self.answer = nn.Affine(WIDTH, 2, rng=rng)

    def forward(self, rope):
        x = self.knots(rope)
        for layer in self.layers:
            x = layer(x)
        return self.answer(self.norm(x).mean(axis=1))


def ropes(count, rng):
    rope = rng.choice([k for k in range(KNOTS) if k not in (BOWLINE, HITCH)], size=(count, LENGTH))
    for row in rope:
        row[rng.choice(LENGTH, 2, replace=False)] = BOWLINE, HITCH
    first = (rope == BOWLINE).argmax(axis=1) < (rope == HITCH).argmax(axis=1)
    return rope, first.astype(np.int64)


def accuracy(model, rope, answer):
    with mg.no_grad():
        return float(np.mean(model(rope).numpy().argmax(axis=1) == answer))


def main():
    rng = np.random.default_rng(17)
    rope, answer = ropes(1024, rng)
    new_rope, new_answer = ropes(400, rng)
    model = Boatswain(rng=rng)
    optimizer = nn.Adam(model.parameters(), lr=0.003)
    for epoch in range(8):
        mean = 0.0
        for x, y in nn.Batches([rope, answer], 32, seed=epoch).epoch(0):
            loss = nn.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean += loss.item() / 32
        print(f"epoch {epoch}: {mean:.4f}")
    print(f"new ropes: {accuracy(model, new_rope, new_answer):.3f} right")


if __name__ == "__main__":
    main()
