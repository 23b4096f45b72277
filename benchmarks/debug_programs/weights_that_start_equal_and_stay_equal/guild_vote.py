"""Four masters of a guild each estimate a price with a small network, and a clerk learns whom to believe."""
import numpy as np

import minigrad as mg
import nn


class Master(nn.Module):
    def __init__(self, rng):
        self.price = nn.Affine(3, 1, rng=rng)

    def forward(self, goods):
        return self.price(goods)


class Guild(nn.Module):
    def __init__(self, masters, rng):
        self.masters = [Master(np.random.default_rng(7)) for _ in range(masters)]
        self.clerk = nn.Sequential(nn.Affine(3, 16, rng=rng), np.tanh, nn.Affine(16, masters, rng=rng))
        self.clerk.layers[-1].weight.data[:] = 0        # at first, everybody is believed alike

    def forward(self, goods):
        prices = np.concatenate([master(goods) for master in self.masters], axis=1)
        belief = mg.softmax(self.clerk(goods), axis=1)
        return (belief * prices).sum(axis=1)


def market(count, rng):
    goods = rng.uniform(-1, 1, size=(count, 3)).astype(np.float32)
    slope = np.array([[2, -1, 0], [-2, 1, 1], [0, 3, -1], [1, -3, -2]], np.float32)
    quarter = 2 * (goods[:, 0] > 0) + (goods[:, 1] > 0)
    return goods, (goods * slope[quarter]).sum(axis=1)


rng = np.random.default_rng(26)
goods, price = market(1000, rng)
later_goods, later_price = market(300, rng)
guild = Guild(4, rng)
optimizer = nn.Adam(guild.parameters(), lr=0.03)
batches = nn.Batches([goods, price], 50, seed=11)
for epoch in range(50):
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = ((guild(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")
off = np.mean((guild(later_goods).numpy() - later_price) ** 2)
print(f"later goods {off:.4f}, variance {later_price.var():.4f}")
