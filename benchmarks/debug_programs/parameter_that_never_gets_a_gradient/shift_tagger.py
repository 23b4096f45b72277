"""Nurses' rota: from the staff ids of a week, say who works the late shift (depends on person and weekday)."""
import numpy as np
import nn

DAYS, STAFF, WIDTH = 7, 6, 16


class RotaTagger(nn.Module):
    def __init__(self, rng):
        self.person = nn.Embedding(STAFF, WIDTH, rng=rng)
        self.weekday = nn.Parameter(rng.normal(size=(DAYS, WIDTH)).astype(np.float32))
        self.mix = nn.Affine(WIDTH, 32, rng=rng)
        self.out = nn.Affine(32, 2, rng=rng)

    def forward(self, ids):
        x = self.person(ids)
        x = x / np.sqrt(WIDTH)
        return self.out(nn.functional.relu(self.mix(x)))


def objective(model, batch):
    ids, late = batch
    return nn.cross_entropy(model(ids), late)


rng = np.random.default_rng(40)
rule = rng.integers(0, 2, (STAFF, DAYS))
ids = rng.integers(0, STAFF, (300, DAYS))
late = rule[ids, np.arange(DAYS)]

model = RotaTagger(np.random.default_rng(9))
batches = nn.Batches([ids[:240], late[:240]], 30, seed=0)
history = nn.fit(
    model, batches, objective, nn.Adam(model.parameters(), lr=0.01), epochs=40, progress=False,
    validate=lambda m: {"right": (m(ids[240:]).numpy().argmax(axis=-1) == late[240:]).mean()},
)
print("loss", round(history.losses[0], 3), "->", round(history.losses[-1], 3))
print("right on unseen weeks", np.round(history.metric("right")[::8], 3), round(history.metric("right")[-1], 3))
