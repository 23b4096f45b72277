"""Find the rule of a clock: the 2 x 2 matrix (and an offset) that makes the next reading from this one."""
import numpy as np
import minigrad as mg


class Rule:
    def __init__(self, rng):
        self.turn = mg.Tensor(rng.normal(0, 0.05, (2, 2)), requires_grad=True)
        self.drive = mg.Tensor(np.zeros(2), requires_grad=True)

    def parameters(self):
        return self.turn, self.drive

    def __call__(self, reading):
        return reading @ self.turn + self.drive

    def bounded(self):
        for p in self.parameters():
            p.data = np.clip(p.data, -0.1, 0.1)


def readings(rng, ticks=400):
    a = 2 * np.pi / 30
    true = 0.995 * np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    out = [np.array([1.0, 0.0])]
    for _ in range(ticks):
        out.append(out[-1] @ true + [0.002, 0.01] + 0.005 * rng.normal(size=2))
    return np.array(out)


rng = np.random.default_rng(1656)
series = readings(rng)
now, after = series[:-1], series[1:]
rule = Rule(rng)
rate = 0.5
for step in range(300):
    loss = np.mean((rule(now) - after) ** 2)
    loss.backward()
    for p in rule.parameters():
        p.data = p.data - rate * p.grad.numpy()
        p.zero_grad()
    rule.bounded()
    if step % 60 == 0:
        print(f"{step:3d}  {loss.item():.6f}")

print("the matrix:", rule.turn.numpy().round(3).tolist())
print("error of the last step:", f"{loss.item():.6f}", "  size of the readings:", f"{np.mean(after ** 2):.4f}")
