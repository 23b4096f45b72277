"""Which of 26 letters does a hand sign mean? Twelve joint angles per picture."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(9)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
pose = rng.normal(size=(26, 12))


def hands(n):
    label = rng.integers(0, 26, n)
    return (pose[label] + rng.normal(0, 0.45, (n, 12))).astype(np.float32), label


x, y = hands(1200)
model = nn.Sequential(
    nn.Affine(12, 48, rng=rng),
    mg.relu,
    nn.Affine(48, 26, rng=rng),
    mg.softmax,
)


def loss(model, batch):
    angles, label = batch
    return nn.cross_entropy(model(angles), label)


history = nn.fit(
    model, nn.Batches([x, y], 60, seed=2), loss, nn.SGD(model.parameters(), lr=0.1, momentum=0.9), epochs=15, progress=False
)
print("loss after 1, 5 and 15 epochs:", *[round(history.losses[i], 3) for i in (19, 99, 299)])
x_new, y_new = hands(600)
guess = model(x_new).numpy().argmax(axis=1)
print("letters read:", round(float(np.mean(guess == y_new)), 3))
print("reads", "".join(LETTERS[i] for i in guess[:20]), "for", "".join(LETTERS[i] for i in y_new[:20]))
