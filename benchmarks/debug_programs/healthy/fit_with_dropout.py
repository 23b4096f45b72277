"""Letters of a 5 x 7 display, trained with nn.fit, dropout, a schedule and validation."""

import numpy as np

import nn

rng = np.random.default_rng(203)
shapes = (rng.random((6, 35)) < 0.5).astype(np.float32)
label = rng.integers(0, 6, 900)
x = (shapes[label] + 0.5 * rng.normal(size=(900, 35))).astype(np.float32)


class Net(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(35, 48, rng=rng)
        self.dropout = nn.Dropout(0.3, rng=rng)
        self.output = nn.Affine(48, 6, rng=rng)

    def forward(self, x):
        return self.output(self.dropout(nn.functional.relu(self.hidden(x))))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


def validate(model):
    return {"accuracy": (model(x[700:]).numpy().argmax(axis=1) == label[700:]).mean()}


model = Net(rng)
batches = nn.Batches([x[:700], label[:700]], 50, seed=1)
history = nn.fit(
    model,
    batches,
    loss,
    nn.AdamW(model.parameters()),
    epochs=12,
    schedule=nn.cosine_schedule(0.01, 12 * len(batches), warmup=14),
    clip_norm=5.0,
    validate=validate,
    progress=False,
)
print([round(float(np.mean(history.losses[i : i + 14])), 3) for i in range(0, 168, 14)])
print([round(float(a), 3) for a in history.metric("accuracy")])
