import numpy as np

import nn

rng = np.random.default_rng(214)
x = rng.normal(size=(300, 12)).astype(np.float32)
y = (x[:, :3].sum(axis=1) + 0.5 * rng.normal(size=300) > 0).astype(np.int64)
model = nn.Sequential(nn.Affine(12, 32, rng=rng), np.tanh, nn.Affine(32, 2, rng=rng))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


def validate(model):
    return {"loss": nn.cross_entropy(model(x[200:]), y[200:]).item()}


history = nn.fit(
    model,
    nn.Batches([x[:200], y[:200]], 20, seed=0),
    loss,
    nn.Adam(model.parameters(), lr=0.003),
    epochs=60,
    validate=validate,
    best=("min", "loss"),
    patience=2,
    progress=False,
)
print("stopped after", len(history.metrics), "epochs")
print("training  ", [round(float(np.mean(history.losses[i : i + 10])), 3) for i in range(0, len(history.losses), 10)])
print("validation", [round(v, 3) for v in history.metric("loss")])
