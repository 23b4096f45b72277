"""Fill in missing laboratory values with an autoencoder."""
import numpy as np
import nn
import minigrad as mg

rng = np.random.default_rng(9)
patients, tests = 300, 10
factors = rng.normal(size=(patients, 3))
complete = factors @ rng.normal(size=(3, tests)) + 2.0 + 0.1 * rng.normal(size=(patients, tests))
recorded = complete.copy()
recorded[rng.random((patients, tests)) < 0.4] = np.nan

values = np.nan_to_num(recorded)
known = ~np.isnan(values)


class Imputer(nn.Module):
    def __init__(self, rng):
        self.inner = nn.Affine(2 * tests, 32, rng=rng)
        self.code = nn.Affine(32, 6, rng=rng)
        self.outer = nn.Affine(6, tests, rng=rng)

    def forward(self, v, k):
        x = np.concatenate([v * k, k.astype(np.float32)], axis=1).astype(np.float32)
        return self.outer(self.code(np.tanh(self.inner(x))))


model = Imputer(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(250):
    hidden = rng.random(values.shape) < 0.2
    optimizer.zero_grad()
    guess = model(values, known & ~hidden)
    loss = (((guess - values) ** 2) * known).sum() / known.sum()
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(epoch, round(loss.item(), 4))

gaps = np.isnan(recorded)
filled = model(values, known).numpy()
print("error where nothing was recorded:", np.sqrt(np.mean((filled - complete)[gaps] ** 2)).round(3))
