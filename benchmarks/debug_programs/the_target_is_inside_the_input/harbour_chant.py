"""Learn the chants of a harbour crew, one syllable at a time, and sing on from a beginning."""
import numpy as np
import minigrad as mg
import nn

SYLLABLES, LENGTH = 9, 16


def chants(rng, n):
    song = np.zeros((n, LENGTH + 1), np.int64)
    song[:, :2] = rng.integers(0, SYLLABLES, (n, 2))
    for t in range(2, LENGTH + 1):
        song[:, t] = (song[:, t - 1] + 2 * song[:, t - 2] + 1) % SYLLABLES
    return song


class Singer(nn.Module):
    def __init__(self, rng):
        self.sound, self.place = nn.Embedding(SYLLABLES, 32, rng=rng), nn.Embedding(LENGTH, 32, rng=rng)
        self.layers = [nn.TransformerEncoderLayer(32, 4, 64, rng=rng) for _ in range(2)]
        self.next = nn.Affine(32, SYLLABLES, rng=rng)

    def forward(self, ids):
        h = self.sound(ids) + self.place(np.arange(ids.shape[1]))
        for layer in self.layers:
            h = layer(h)
        return self.next(h)


rng = np.random.default_rng(6)
singer = Singer(rng)
optimizer = nn.Adam(singer.parameters(), lr=0.003)
for step in range(300):
    song = chants(rng, 32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(singer(song[:, :-1]), song[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 75 == 74:
        print(f"{step + 1}: loss {loss.item():.3f}")

true = chants(rng, 50)
sung = true[:, :3]
with mg.no_grad():
    while sung.shape[1] < LENGTH:
        sung = np.concatenate([sung, singer(sung).numpy()[:, -1].argmax(axis=-1)[:, None]], axis=1)
print(f"syllables sung right: {np.mean(sung[:, 3:] == true[:, 3:LENGTH]):.3f}")
