"""Predict a ripple in a pond: a random recurrent network that stays as it is, and a trained read-out."""
import numpy as np
import minigrad as mg


class Pond:
    def __init__(self, size, rng):
        ring = rng.normal(size=(size, size))
        self.ring = mg.Tensor(0.9 * ring / np.abs(np.linalg.eigvals(ring)).max())
        self.drop = mg.Tensor(rng.uniform(-0.5, 0.5, size))
        self.out = mg.Tensor(np.zeros(size), requires_grad=True, name="out")
        self.level = mg.Tensor(0.0, requires_grad=True, name="level")

    def watch(self, heights):
        state, states = np.zeros(len(self.drop)), []
        for height in heights:
            state = np.tanh(state @ self.ring.data + height * self.drop.data)
            states.append(state)
        return np.array(states)

    def __call__(self, states):
        return states @ self.out + self.level


def main():
    rng = np.random.default_rng(64)
    time = np.arange(1400)
    height = np.sin(0.2 * time) * np.cos(0.031 * time) + 0.3 * np.sin(0.53 * time)
    pond = Pond(60, rng)
    states = pond.watch(height)[100:-1]
    coming = height[101:]
    m = [np.zeros(60), 0.0]
    for step in range(1500):
        loss = ((pond(states[:1000]) - coming[:1000]) ** 2).mean()      # the whole record in every step
        loss.backward()
        for i, w in enumerate((pond.out, pond.level)):
            m[i] = 0.95 * m[i] + w.grad.numpy()
            w.data -= 0.02 * m[i]
            w.zero_grad()
        if step % 300 == 0:
            print(f"step {step}: {loss.item():.5f}")
    later = ((pond(states[1000:]) - coming[1000:]) ** 2).mean().item()
    print(f"later ripples {later:.5f}, variance {coming.var():.3f}")


if __name__ == "__main__":
    main()
