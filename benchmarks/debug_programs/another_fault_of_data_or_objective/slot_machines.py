import numpy as np
from minigrad import Tensor, log_softmax, softmax

# Which of six machines pays best depends on the colour of the light in the hall.
rng = np.random.default_rng(73)
COLOURS, MACHINES = 4, 6
pay = rng.uniform(0.0, 0.6, (COLOURS, MACHINES))
pay[np.arange(COLOURS), rng.integers(0, MACHINES, COLOURS)] = 0.9

preference = Tensor(np.zeros((COLOURS, MACHINES)), requires_grad=True)
baseline, purse = 0.0, []
for evening in range(1500):
    colour = rng.integers(0, COLOURS, 16)
    p = softmax(preference.numpy()[colour])
    machine = np.array([rng.choice(MACHINES, p=row / row.sum()) for row in p])
    reward = (rng.random(16) < pay[colour, machine]).astype(float)
    log_p = log_softmax(preference[colour])[np.arange(16), machine]
    loss = (log_p * (reward - baseline)).mean()
    loss.backward()
    preference.data -= 0.5 * preference.grad
    preference.zero_grad()
    baseline = 0.95 * baseline + 0.05 * reward.mean()
    purse.append(reward.mean())
    if evening % 300 == 299:
        print(f"evenings {evening - 299:4d} to {evening:4d}: mean reward {np.mean(purse[-300:]):.3f}")

chosen = preference.numpy().argmax(axis=1)
print("best machine", pay.argmax(axis=1), "preferred", chosen, f"mean reward at the end {np.mean(purse[-100:]):.3f} (chance {pay.mean():.3f})")
