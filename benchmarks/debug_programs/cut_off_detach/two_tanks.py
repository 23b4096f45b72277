"""Calibrate two water tanks in a row against the measured discharge of the lower one."""
import numpy as np

import minigrad as mg

DAYS = 40
rng = np.random.default_rng(5)
rain = np.where(rng.random(DAYS) < 0.35, rng.gamma(2.0, 4.0, DAYS), 0.0)


class Tank:
    def __init__(self, share, loss):
        # both are stored through a sigmoid, so that they stay between 0 and 1
        self.raw = [mg.Tensor(np.log(v / (1 - v)), requires_grad=True) for v in (share, loss)]
        self.level = 0.0

    def reset(self):
        self.level = 0.0

    def day(self, water):
        share, loss = (mg.sigmoid(r) for r in self.raw)
        self.level = (self.level + water) * (1 - 0.3 * loss)
        out = share * self.level
        self.level = self.level - out
        return out


def discharge(upper, lower):
    upper.reset()
    lower.reset()
    flow = []
    for mm in rain:
        seep = upper.day(mm)
        flow.append(lower.day(seep.detach()))
    return np.stack(flow)


with mg.no_grad():
    measured = discharge(Tank(0.62, 0.15), Tank(0.25, 0.40)).numpy()
measured = measured * (1 + 0.02 * rng.normal(size=DAYS))

upper, lower = Tank(0.15, 0.6), Tank(0.5, 0.5)
m = {}
for it in range(120):
    flow = discharge(upper, lower)
    error = ((flow - measured) ** 2).mean()
    error.backward()
    for tank in (upper, lower):
        for r in tank.raw:
            if r.grad is not None:
                g = r.grad.numpy()
                m[id(r)] = 0.9 * m.get(id(r), 0.0) + 0.1 * g ** 2
                r.data -= 0.05 * g / (np.sqrt(m[id(r)]) + 1e-6)
            r.zero_grad()
    if it % 20 == 0:
        print(it, round(error.item(), 4))
print("final", round(error.item(), 4))
for name, tank in (("upper", upper), ("lower", lower)):
    print(name, [round(mg.sigmoid(r).item(), 2) for r in tank.raw])
