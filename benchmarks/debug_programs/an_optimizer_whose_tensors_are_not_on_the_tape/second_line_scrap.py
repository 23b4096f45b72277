"""Scrap on a filling line: a network that was trained on line 1 gets a new head for the five kinds of scrap on line 2."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(60)
cause = rng.normal(size=(5, 10)) * 1.2


# %% the two lines
def line(n, kinds, shift):
    kind = rng.integers(kinds, size=n)
    x = cause[kind] + shift + 0.9 * rng.normal(size=(n, 10))
    return x.astype(np.float32), kind


first_x, first_kind = line(1500, 3, 0.0)
second_x, second_kind = line(900, 5, 0.3)
mean, std = first_x.mean(axis=0), first_x.std(axis=0)
first_x, second_x = (first_x - mean) / std, (second_x - mean) / std


# %% the network
class Scrap(nn.Module):
    def __init__(self, kinds, rng):
        self.body = nn.Sequential(nn.Affine(10, 64, rng=rng), np.tanh, nn.Affine(64, 48, rng=rng), np.tanh)
        self.head = nn.Affine(48, kinds, rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


def train(model, optimizer, x, kind, epochs):
    batches = nn.Batches([x, kind], 30, seed=4)
    model.train()
    for epoch in range(epochs):
        values = []
        for some, label in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(some), label)
            loss.backward()
            optimizer.step()
            values.append(loss.item())
        print(f"  epoch {epoch}: {np.mean(values):.3f}")
    model.eval()


# %% line 1
init = np.random.default_rng(7)
model = Scrap(3, init)
print("line 1")
train(model, nn.Adam(model.parameters(), lr=0.003), first_x, first_kind, epochs=3)

# %% line 2: the body stays as it is
for parameter in model.body.parameters():
    parameter.requires_grad = False
optimizer = nn.Adam(model.head.parameters(), lr=0.005)
model.head = nn.Affine(48, 5, rng=init)
print("line 2")
train(model, optimizer, second_x[:600], second_kind[:600], epochs=8)

# %% result
with mg.no_grad():
    found = model(second_x[600:]).numpy().argmax(axis=1)
print(f"right on line 2: {np.mean(found == second_kind[600:]):.3f}")
