"""Vibration features of pump bearings -> one of four states, most of which are rare."""
import numpy as np
import nn

STATES = ["healthy", "imbalance", "outer race", "inner race"]
rng = np.random.default_rng(11)


def measure(n):
    state = rng.choice(4, size=n, p=[0.9, 0.05, 0.03, 0.02])
    centre = np.array([[0, 0, 0, 0, 0, 0], [1.6, 0.4, 0, 0, 0.5, 0], [0.3, 1.5, 1.2, 0, 0, 0.6], [0.2, 1.2, 0, 1.5, -0.4, 0.8]])
    features = centre[state] + rng.normal(size=(n, 6)) * 0.75
    return features.astype(np.float32), state


x_train, y_train = measure(2400)
x_test, y_test = measure(3000)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

counts = np.bincount(y_train, minlength=4)
weight = 4 * counts / counts.sum()

init = np.random.default_rng(0)
model = nn.Sequential(nn.Affine(6, 24, rng=init), np.tanh, nn.Affine(24, 4, rng=init))
batches = nn.Batches([x_train, y_train], 64, seed=3)


def loss(model, batch):
    features, state = batch
    return nn.cross_entropy(model(features), state, weight=weight)


def recalls(model):
    found = model(x_test).numpy().argmax(axis=1)
    return [float((found[y_test == k] == k).mean()) for k in range(4)]


history = nn.fit(
    model, batches, loss, nn.AdamW(model.parameters(), lr=0.004), epochs=12,
    schedule=nn.cosine_schedule(0.004, 12 * len(batches), warmup=20),
    validate=lambda model: {"mean recall": np.mean(recalls(model))}, progress=False,
)
print(f"loss {np.mean(history.losses[-30:]):.3f}")
for name, recall in zip(STATES, recalls(model)):
    print(f"{name:12} found {recall:.2f}")
print(f"mean recall {history.metric('mean recall')[-1]:.3f}")
