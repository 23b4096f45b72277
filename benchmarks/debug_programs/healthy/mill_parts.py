"""A gated network by hand for the noise of a mill; each update adds up the gradients of eight parts."""
import numpy as np
import minigrad as mg
import nn

PARTS, SIZE = 8, 16
rng = np.random.default_rng(27)


def recordings(count):
    sound = rng.standard_normal((count, 10, 3)).astype(np.float32)
    worn = np.zeros(count)
    for t in range(10):
        worn = 0.8 * worn + sound[:, t, 0] - sound[:, t, 1]
    return sound, (worn > 0).astype(np.int64)


class Mill(nn.Module):
    def __init__(self, width=12):
        self.width = width
        self.gate, self.new = nn.Affine(3 + width, width, rng=rng), nn.Affine(3 + width, width, rng=rng)
        self.out = nn.Affine(width, 2, rng=rng)

    def forward(self, sound):
        h = np.zeros((len(sound), self.width), np.float32)
        for t in range(sound.shape[1]):
            both = np.concatenate([sound[:, t], h], axis=1)
            z = nn.functional.sigmoid(self.gate(both))
            h = z * h + (1 - z) * np.tanh(self.new(both))
        return self.out(h)


sound, worn = recordings(PARTS * SIZE * 4)
mill = Mill()
sgd = nn.SGD(mill.parameters(), lr=0.5, momentum=0.9)
for update in range(60):
    rows = rng.permutation(len(sound))[: PARTS * SIZE].reshape(PARTS, SIZE)
    sgd.zero_grad()
    total = 0.0
    for part in rows:
        loss = nn.cross_entropy(mill(sound[part]), worn[part]) / PARTS
        loss.backward()
        total += loss.item()
    sgd.step()
    if update % 15 == 0:
        print(f"update {update:2d} loss {total:.3f}")
new_sound, new_worn = recordings(300)
with mg.no_grad():
    print(f"last loss {total:.3f}, right {np.mean(mill(new_sound).numpy().argmax(axis=1) == new_worn):.3f}")
