"""Honey per hive from weather and flowers, with a small class of its own and no layers of a library."""
import numpy as np
import minigrad as mg


class Hive:
    def __init__(self, inputs, hidden, rng):
        self.a = mg.Tensor(rng.normal(0, inputs**-0.5, (inputs, hidden)), requires_grad=True)
        self.a0 = mg.Tensor(np.zeros(hidden), requires_grad=True)
        self.b = mg.Tensor(rng.normal(0, hidden**-0.5, (hidden, 1)), requires_grad=True)
        self.b0 = mg.Tensor(np.zeros(1), requires_grad=True)

    def weights(self):
        return self.a, self.a0, self.b, self.b0

    def __call__(self, x):
        return np.tanh(x @ self.a + self.a0) @ self.b + self.b0

    def learn(self, x, kilograms, rate):
        miss = self(x) - kilograms
        loss = (miss ** 2).mean()
        loss.backward()
        for w in self.weights():
            w.data -= rate * w.grad
            w.zero_grad()
        return loss.item()


rng = np.random.default_rng(77)
weather = rng.normal(size=(640, 5))
kilograms = 1.5 * weather[:, 0] - weather[:, 1] + np.sin(2 * weather[:, 2]) + 0.1 * rng.normal(size=640)
hive = Hive(5, 32, rng)
for season in range(50):
    order = rng.permutation(512)
    losses = [hive.learn(weather[part], kilograms[part], 0.05) for part in order.reshape(16, 32)]
    if season % 10 == 9:
        print(f"season {season + 1}: {np.mean(losses):.4f}")
guess = hive(weather[512:]).numpy().ravel()
explained = 1 - np.mean((guess - kilograms[512:]) ** 2) / kilograms[512:].var()
print(f"explained on hives not seen: {explained:.3f}")
