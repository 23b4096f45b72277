# Species of lichen from seven measured colours. Plain arrays, softmax regression with one hidden layer.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(9)
KINDS = 5
centres = rng.normal(size=(KINDS, 7))
kind = rng.integers(0, KINDS, 350)
colour = centres[kind] + 0.6 * rng.normal(size=(350, 7))

LR = 0.05
DECAY = 0.02


def new(a, b):
    return rng.normal(size=(a, b)) / np.sqrt(a)


weights = {"in": new(7, 24), "in_b": np.zeros(24), "out": new(24, KINDS), "out_b": np.zeros(KINDS)}


def forward(w, x):
    h = np.tanh(x @ w["in"] + w["in_b"])
    return h @ w["out"] + w["out_b"]


def loss(w, x, t):
    picked = mg.log_softmax(forward(w, x))[np.arange(len(t)), t]
    return -np.mean(picked)


def update(w, g):
    new = {}
    for name in w:
        new[name] = (1 - DECAY) * w[name] - LR * g[name]
    return new


value_and_slope = mg.value_and_grad(loss)
for epoch in range(60):
    order = rng.permutation(280)
    for rows in order.reshape(7, 40):
        value, slopes = value_and_slope(weights, colour[rows], kind[rows])
        weights = update(weights, slopes)
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "loss", np.round(value, 4))

guess = forward(weights, colour[280:])
p = mg.softmax(guess)
print("accuracy", np.mean(guess.argmax(axis=1) == kind[280:]))
print("mean probability of the right kind", p[np.arange(70), kind[280:]].mean().round(3))
