"""Which of three regions does a wine come from? 12 noisy laboratory values."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(5)
centres = rng.normal(size=(3, 12)) * 0.55
region = rng.integers(0, 3, 1500)
lab = (centres[region] + rng.normal(size=(1500, 12))).astype(np.float32)

x_train, y_train = lab[:36], region[:36]
x_valid, y_valid = lab[1200:], region[1200:]


class Classifier(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(12, 64, rng=rng), mg.relu, nn.Affine(64, 64, rng=rng), mg.relu)
        self.head = nn.Affine(64, 3, rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


def objective(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


def validate(model):
    logits = model(x_valid)
    right = logits.numpy().argmax(axis=1) == y_valid
    return {"loss": nn.cross_entropy(logits, y_valid).item(), "accuracy": right.mean()}


model = Classifier(np.random.default_rng(0))
batches = nn.Batches([x_train, y_train], 12, seed=1)
history = nn.fit(model, batches, objective, nn.Adam(model.parameters(), lr=0.003),
                 epochs=240 // len(batches), validate=validate, progress=False)
valid = history.metric("loss")
print("training loss  ", round(history.losses[0], 3), "->", round(np.mean(history.losses[-5:]), 4))
print("validation loss", round(valid[0], 3), "-> lowest", round(min(valid), 3), "-> last", round(valid[-1], 3))
print("lowest after", (int(np.argmin(valid)) + 1) * len(batches), "steps; accuracy", round(history.metric("accuracy")[-1], 3))
