"""One trunk, three tasks: the diagnosis, the length of the stay, and the vital signs themselves."""
import numpy as np
import nn

rng = np.random.default_rng(116)
illness = rng.integers(0, 4, 500)
severity = rng.uniform(0, 1, 500)
profile = rng.normal(size=(4, 10))
signs = (profile[illness] * (0.6 + severity[:, None]) + 0.2 * rng.normal(size=(500, 10))).astype(np.float32)
stay = (2 + 6 * severity + 1.5 * (illness == 2)).astype(np.float32)


class Ward(nn.Module):
    def __init__(self, rng):
        self.trunk = nn.Affine(10, 32, rng=rng)
        self.code = nn.Affine(32, 6, rng=rng)
        self.diagnosis = nn.Affine(6, 4, rng=rng)
        self.stay = nn.Affine(6, 1, rng=rng)
        self.again = nn.Affine(6, 10, rng=rng)

    def forward(self, x):
        code = np.tanh(self.code(np.tanh(self.trunk(x))))
        return self.diagnosis(code), self.stay(code)[:, 0], self.again(code)


def losses(model, batch):
    x, which, days = batch
    said, guessed, rebuilt = model(x)
    return nn.cross_entropy(said, which), nn.huber_loss(guessed, days), nn.mean_squared_error(rebuilt, x)


def total(model, batch):
    a, b, c = losses(model, batch)
    return a + 0.5 * b + 0.2 * c


def validate(model):
    return {name: part.item() for name, part in zip("dsr", losses(model, (signs[400:], illness[400:], stay[400:])))}


ward = Ward(rng)
train = nn.Batches([signs[:400], illness[:400], stay[:400]], 40, seed=6)
history = nn.fit(ward, train, total, nn.Adam(ward.parameters(), lr=0.008), epochs=40, validate=validate, progress=False)
for epoch in (0, 9, 39):
    print("epoch", epoch + 1, {name: round(history.metric(name)[epoch], 3) for name in "dsr"})
print("total", round(history.losses[0], 3), "->", round(history.losses[-1], 3))
