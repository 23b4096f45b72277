"""Kites fly in pairs. From 'kite a flew with kite b' learn who flies with whom, whichever is asked for."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(35)
KITES, D = 40, 16
pairs = rng.permutation(KITES).reshape(-1, 2)


class Sky(nn.Module):
    def __init__(self):
        self.table = nn.Embedding(KITES, D, rng=rng)
        self.mix = nn.Parameter(np.eye(D, dtype=np.float32))
        # one table describes the kites on both sides
        self.scores = nn.Parameter(self.table.weight.numpy().copy())

    def forward(self, kite):
        logits = self.table(kite) @ (self.mix + self.mix.T) @ self.scores.T
        itself = np.arange(KITES) == kite[:, None]
        return np.where(itself, np.float32(-1e4), logits)


def partner_found(model, asked, wanted):
    return np.mean(model(asked).numpy().argmax(axis=1) == wanted)


sky = Sky()
optimizer = nn.Adam(sky.parameters(), lr=0.01)
left, right = pairs.T
for evening in range(300):
    rows = rng.permutation(len(pairs))[:10]
    optimizer.zero_grad()
    loss = nn.cross_entropy(sky(left[rows]), right[rows])
    loss.backward()
    optimizer.step()
    if evening % 100 == 99:
        print(evening + 1, f"{loss.item():.4f}")

print(f"partner of the first kite of a pair: {partner_found(sky, left, right):.2f}")
print(f"partner of the second: {partner_found(sky, right, left):.2f}")
