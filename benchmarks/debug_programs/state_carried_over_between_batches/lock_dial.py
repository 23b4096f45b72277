# A dial lock is turned eight times, left (-1) or right (+1). It opens if the dial ends right of where it began.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(99)
BATCH, TURNS, WIDTH = 32, 8, 16


def attempts():
    turns = rng.choice([-1.0, 1.0], (BATCH, TURNS)) * rng.uniform(0.2, 1.0, (BATCH, TURNS))
    return turns, (turns.sum(axis=1) > 0).astype(float)


def tensor(*shape, scale=0.3):
    return mg.Tensor(scale * rng.standard_normal(shape), requires_grad=True)


w_in, w_state, b = tensor(1, WIDTH), tensor(WIDTH, WIDTH, scale=0.02), tensor(WIDTH, scale=0.0)
w_out, c = tensor(WIDTH), tensor(scale=0.0)
everything = [w_in, w_state, b, w_out, c]


def forward(turns, opened, h):
    for t in range(TURNS):
        h = h + 0.5 * np.tanh(turns[:, t:t + 1] @ w_in + h @ w_state + b)
    z = h @ w_out + c
    return (np.logaddexp(0.0, z) - opened * z).mean(), h


momentum = [np.zeros(p.shape) for p in everything]
h = mg.Tensor(np.zeros((BATCH, WIDTH)))
recent = []
for step in range(500):
    turns, opened = attempts()
    loss, h = forward(turns, opened, h.detach())
    loss.backward()
    for p, m in zip(everything, momentum):
        m *= 0.9
        m += p.grad.numpy()
        p.data -= 0.05 * m
        p.zero_grad()
    recent.append(loss.item())
    if step % 100 == 99:
        print(step + 1, f"{np.mean(recent[-50:]):.4f}")
