"""Which bell did the ferry ring? One of ten bells per crossing is the loud one; its pitch is wanted."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(17)
BELLS, SIZE = 10, 8


def crossings(count):
    pitch = rng.normal(0, 1, (count, BELLS))
    loud = rng.integers(0, BELLS, count)
    loudness = rng.uniform(0, 0.5, (count, BELLS))
    loudness[np.arange(count), loud] += 1.0
    x = np.stack([pitch, loudness], axis=-1)  # (count, bells, 2)
    return x, pitch[np.arange(count), loud]


class Listener:
    def __init__(self):
        self.key = self.new(2, SIZE)
        self.query = self.new(SIZE)
        self.value = self.new(2, SIZE)
        self.out = self.new(SIZE)

    def new(self, *shape):
        return mg.Tensor(rng.normal(0, shape[0] ** -0.5, shape), requires_grad=True)

    def weights(self):
        return [self.key, self.query, self.value, self.out]

    def hear(self, x):
        scores = np.tanh(x @ self.key) @ self.query * 3  # (count, bells)
        share = mg.softmax(scores, axis=0)
        values = x @ self.value  # (count, bells, SIZE)
        heard = np.sum(share[:, :, None] * values, axis=1)
        return heard @ self.out


def train(listener, steps=1200, rate=0.05):
    losses = []
    for _ in range(steps):
        x, wanted = crossings(64)
        loss = np.mean((listener.hear(x) - wanted) ** 2)
        loss.backward()
        for w in listener.weights():
            w.data -= rate * w.grad
            w.zero_grad()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    listener = Listener()
    losses = train(listener)
    print("loss, every 200 steps:", np.round(losses[::200], 3))
    print(f"mean of the last 100 losses: {np.mean(losses[-100:]):.3f}")
