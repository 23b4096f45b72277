"""Baking time from the weight, the moisture and the heat of the oven."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(67)
loaves = rng.normal(size=(240, 3))
minutes = 35 + 5 * loaves[:, 0] + 2 * loaves[:, 1] - 6 * loaves[:, 2] + rng.normal(size=240)


class Oven:
    def __init__(self):
        self.w = np.zeros(3)
        self.b = np.array(20.0)

    @staticmethod
    def loss(w, b, x, y):
        error = (x @ w + b - y).mean()
        return (error**2).mean()

    def fit(self, x, y, steps, rate):
        gradient = mg.value_and_grad(self.loss, (0, 1))
        for step in range(steps):
            value, (dw, db) = gradient(self.w, self.b, x, y)
            self.w = self.w - rate * dw
            self.b = self.b - rate * db
            if step % 40 == 0:
                print(f"step {step}: {value:.4f}")

    def predict(self, x):
        return x @ self.w + self.b


oven = Oven()
oven.fit(loaves, minutes, steps=200, rate=0.1)
print("weights", oven.w.round(2), "bias", oven.b.round(2))
print(f"the error of one loaf: {np.abs(oven.predict(loaves) - minutes).mean():.2f} minutes")
