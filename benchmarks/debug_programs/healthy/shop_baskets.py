import numpy as np
import nn
import minigrad as mg

rng = np.random.default_rng(115)
GOODS, GROUPS = 60, 5
group = rng.integers(0, GROUPS, GOODS)


def baskets(n):
    """Four goods of a basket, mostly of one group; the spending follows from the group."""
    main = rng.integers(0, GROUPS, n)
    goods = rng.integers(0, GOODS, (n, 4))
    for row in range(n):
        own = np.flatnonzero(group == main[row])
        goods[row, :3] = rng.choice(own, 3)
    return goods, (0.7 * main - 1.4 + 0.1 * rng.normal(size=n)).astype(np.float32)


class Spending(nn.Module):
    def __init__(self, rng):
        self.goods = nn.Embedding(GOODS, 8, rng=rng)
        self.hidden = nn.Affine(8, 24, rng=rng)
        self.out = nn.Affine(24, 1, rng=rng)

    def forward(self, ids):
        return self.out(mg.silu(self.hidden(self.goods(ids).mean(axis=1))))[:, 0]


model = Spending(rng)
goods, spent = baskets(600)
table_opt = nn.AdaGrad(model.goods.parameters(), lr=0.1)
net_opt = nn.SGD([*model.hidden.parameters(), *model.out.parameters()], lr=0.05, momentum=0.9)
for epoch in range(30):
    order, total = rng.permutation(600), []
    for rows in np.split(order, 15):
        loss = ((model(goods[rows]) - spent[rows]) ** 2).mean()
        loss.backward()
        table_opt.step()
        net_opt.step()
        table_opt.zero_grad()
        net_opt.zero_grad()
        total.append(loss.item())
    if epoch % 6 == 5:
        print("epoch", epoch + 1, np.mean(total).round(4))
goods, spent = baskets(300)
print("new baskets", np.mean((model(goods).numpy() - spent) ** 2).round(4), "variance", spent.var().round(3))
