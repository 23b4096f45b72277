import numpy as np

import nn


class Net(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(10, 32, rng=rng)
        self.dropout = nn.Dropout(0.5, rng=rng)
        self.out = nn.Affine(32, 5, rng=rng)

    def forward(self, x):
        return self.out(self.dropout(np.tanh(self.hidden(self.dropout(x)))))


rng = np.random.default_rng(115)
centre = rng.normal(size=(5, 10))
species = rng.integers(0, 5, 1000)
x = (centre[species] + 0.4 * rng.normal(size=(1000, 10))).astype(np.float32)
x_train, y_train, x_test, y_test = x[:700], species[:700], x[700:], species[700:]

model = Net(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([x_train, y_train], 50, seed=3)
for epoch in range(15):
    for xb, yb in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    guess = model(x_test).numpy().argmax(axis=1)
    print(f"epoch {epoch}: loss {loss.item():.3f}, test accuracy {(guess == y_test).mean():.3f}")
guess = model(x_test).numpy().argmax(axis=1)
print("final test accuracy", (guess == y_test).mean())
