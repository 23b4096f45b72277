import numpy as np
import nn


# Does the sequence of lichens on a wall contain a yellow one before a grey one? Rows are mostly padding, and it is masked.
KINDS, YELLOW, GREY, LONGEST = 9, 3, 7, 32


def walls(rng, n):
    lengths = np.clip(rng.geometric(0.14, n) + 2, 3, LONGEST)
    ids = np.zeros((n, LONGEST), np.int64)
    label = np.zeros(n, np.float32)
    for row, k in enumerate(lengths):
        ids[row, :k] = rng.integers(1, KINDS, k)
        if rng.random() < 0.5:
            a, b = np.sort(rng.choice(k, 2, replace=False))
            ids[row, [a, b]] = YELLOW, GREY
        y, g = np.flatnonzero(ids[row] == YELLOW), np.flatnonzero(ids[row] == GREY)
        label[row] = len(y) > 0 and len(g) > 0 and y[0] < g[-1]
    return ids, lengths, label


class WallReader(nn.Module):
    def __init__(self, rng):
        self.embed = nn.Embedding(KINDS, 12, rng=rng)
        self.gru = nn.GRU(12, 20, rng=rng)
        self.out = nn.Affine(20, 1, rng=rng)

    def forward(self, ids, lengths):
        mask = nn.padding_mask(lengths, LONGEST)
        states, _ = self.gru(self.embed(ids), key_mask=mask)
        return self.out(nn.pool(states, mask))[:, 0]


rng = np.random.default_rng(40)
data, check = walls(rng, 500), walls(rng, 200)
model = WallReader(rng)
history = nn.fit(
    model, nn.Batches(list(data), 50, seed=0), lambda m, b: nn.binary_cross_entropy_with_logits(m(b[0], b[1]), b[2]),
    nn.Adam(model.parameters(), lr=0.02), epochs=10, clip_norm=1.0, progress=False,
    validate=lambda m: {"right": np.mean((m(check[0], check[1]).numpy() > 0) == check[2])},
)
print(np.round(history.losses[::20], 3), np.round(history.metric("right")[1::4], 3), f"padding {np.mean(data[0] == 0):.2f}")
