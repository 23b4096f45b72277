"""Three small networks taste the same tea; their common opinion is the mean of the three."""
import numpy as np
import minigrad as mg


class Taster:
    def __init__(self, rng, inputs=6, hidden=8):
        self.u = mg.Tensor(rng.normal(0, inputs ** -0.5, (inputs, hidden)), requires_grad=True)
        self.a = mg.Tensor(np.zeros(hidden), requires_grad=True)
        self.v = mg.Tensor(rng.normal(0, hidden ** -0.5, (hidden, 1)), requires_grad=True)

    def sip(self, cups):
        return np.tanh(cups @ self.u + self.a) @ self.v


class Jury:
    def __init__(self, members):
        self.members = members
        self.parameters = [p for m in members for p in (m.u, m.a, m.v)]

    def judge(self, cups):
        opinions = np.concatenate([m.sip(cups) for m in self.members], axis=1)
        return opinions.mean(axis=0)


rng = np.random.default_rng(123)
cups = rng.normal(size=(160, 6))
score = (0.9 * cups[:, 0] - 0.5 * np.abs(cups[:, 1]) + 0.7 * np.tanh(cups[:, 2] * 2))[:, None]
train, rest = np.arange(120), np.arange(120, 160)

jury = Jury([Taster(rng) for _ in range(3)])
for round_ in range(401):
    loss = np.mean((jury.judge(cups[train]) - score[train]) ** 2)
    loss.backward()
    for p in jury.parameters:
        p.data -= 0.15 * p.grad
        p.zero_grad()
    if round_ % 100 == 0:
        print(f"round {round_}: {loss.item():.4f}")

with mg.no_grad():
    left = np.mean((jury.judge(cups[rest]) - score[rest]) ** 2).item()
print(f"other cups: {left:.4f}, their variance: {score[rest].var():.4f}")
