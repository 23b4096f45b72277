"""Routes of a parcel service have 3 to 20 stops. Does a route come back to the street where it began?"""

import numpy as np

import minigrad as mg
import nn

STREETS, LONGEST, EMPTY = 12, 20, 0


def drive(count, rng):
    lengths = rng.integers(3, LONGEST + 1, size=count)
    stops = rng.integers(1, STREETS + 1, size=(count, LONGEST))
    home = rng.random(count) < 0.5
    last = lengths - 1
    rows = np.arange(count)
    other = 1 + (stops[:, 0] - 1 + rng.integers(1, STREETS, size=count)) % STREETS
    stops[rows, last] = np.where(home, stops[:, 0], other)
    stops[np.arange(LONGEST) >= lengths[:, None]] = EMPTY
    return stops, lengths, home.astype(np.int64)


class RouteReader(nn.Module):
    def __init__(self, rng):
        self.street = nn.Embedding(STREETS + 1, 16, rng=rng, std=0.5)
        self.gru = nn.GRU(16, 32, rng=rng)
        self.answer = nn.Sequential(nn.Affine(48, 48, rng=rng), np.tanh, nn.Affine(48, 2, rng=rng))

    def forward(self, stops, lengths):
        x = self.street(stops)
        _, last = self.gru(x, key_mask=nn.padding_mask(lengths, LONGEST))
        return self.answer(np.concatenate([last, x[:, 0]], axis=1))


def main():
    rng = np.random.default_rng(4)
    stops, lengths, home = drive(2500, rng)
    new_stops, new_lengths, new_home = drive(500, rng)
    model = RouteReader(rng)
    optimizer = nn.Adam(model.parameters(), lr=0.005)
    batches = nn.Batches([stops, lengths, home], 50, seed=1)
    for epoch in range(12):
        losses = []
        for stop, length, label in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(stop, length), label)
            loss.backward()
            nn.clip_grad_norm(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
    with mg.no_grad():
        found = model(new_stops, new_lengths).numpy().argmax(axis=1)
    print(f"new routes told rightly: {np.mean(found == new_home):.3f}")


if __name__ == "__main__":
    main()
