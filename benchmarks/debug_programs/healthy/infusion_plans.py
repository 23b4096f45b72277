"""Infusions in intensive care: after each dose, will the next reading be too low, right or too high? Most stays are short."""
import numpy as np
import minigrad as mg
import nn

LONGEST = 48
rng = np.random.default_rng(89)


def stay():
    hours = LONGEST if rng.random() < 0.06 else int(rng.integers(4, 12))
    weight, level = rng.normal(0, 1), rng.normal(0, 0.5)
    rows, next_state = [], []
    for _ in range(hours):
        dose, urine = rng.uniform(0, 1), rng.normal(0, 1)
        rows.append([level, 2 * dose - 1, urine, weight])
        level = 0.6 * level + 1.6 * (dose - 0.5) - 0.3 * urine - 0.2 * weight + rng.normal(0, 0.12)
        next_state.append(0 if level < -0.5 else 2 if level > 0.5 else 1)
    return rows, next_state


def padded(stays):
    x = np.zeros((len(stays), LONGEST, 4), np.float32)
    y = np.full((len(stays), LONGEST), -1)
    for i, (rows, states) in enumerate(stays):
        x[i, : len(rows)], y[i, : len(rows)] = rows, states
    return x, y


class Ward(nn.Module):
    def __init__(self, rng):
        self.gru = nn.GRU(4, 20, rng=rng)
        self.state = nn.Affine(20, 3, rng=rng)

    def forward(self, x, mask):
        states, _ = self.gru(x, key_mask=mask)
        return self.state(states)


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x, y >= 0), y, ignore_index=-1)


x, y = padded([stay() for _ in range(360)])
x_test, y_test = padded([stay() for _ in range(150)])


def validate(model):
    found = model(x_test, y_test >= 0).numpy().argmax(axis=-1)
    return {"right": np.mean((found == y_test)[y_test >= 0])}


model = Ward(np.random.default_rng(3))
batches = nn.Batches([x, y], 30, seed=1)
history = nn.fit(
    model, batches, loss, nn.AdamW(model.parameters(), lr=0.01), epochs=8, clip_norm=1.0,
    schedule=nn.cosine_schedule(0.01, 8 * len(batches), warmup=8), validate=validate, progress=False,
)
print(f"loss {history.losses[0]:.3f} -> {history.losses[-1]:.3f}")
print("right", [round(float(value), 3) for value in history.metric("right")[1::2]])
