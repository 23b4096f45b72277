"""One long log of a lighthouse's fog signal, read in pieces of 15 hours. The memory goes on from piece to piece."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(17)
HOURS, PIECE, UNITS, LOGS = 600, 15, 12, 8
signal = (rng.random((LOGS, HOURS)) < 0.15).astype(float)
answer = np.zeros_like(signal)
for t in range(1, HOURS):
    answer[:, t] = np.abs(answer[:, t - 1] - signal[:, t - 1])      # each signal switches the lamp


def weight(*shape, scale):
    return mg.Tensor(scale * rng.normal(size=shape), requires_grad=True)


cell = {
    "x": weight(2, UNITS, scale=1.0),
    "h": weight(UNITS, UNITS, scale=0.4),
    "b": weight(UNITS, scale=0.1),
    "y": weight(UNITS, scale=0.4),
    "c": weight(scale=0.0),
}
square = {k: np.zeros(p.shape) for k, p in cell.items()}
for voyage in range(12):
    memory = mg.Tensor(np.zeros((LOGS, UNITS)))
    total = []
    for begin in range(0, HOURS - PIECE, PIECE):
        memory = memory.detach()
        loss = 0.0
        for t in range(begin, begin + PIECE):
            seen = np.stack([signal[:, t], answer[:, t]], axis=1)
            memory = np.tanh(seen @ cell["x"] + memory @ cell["h"] + cell["b"])
            z = memory @ cell["y"] + cell["c"]
            loss = loss + (np.logaddexp(0.0, z) - answer[:, t + 1] * z).mean() / PIECE
        loss.backward()
        for k, p in cell.items():
            g = p.grad.numpy()
            square[k] = 0.95 * square[k] + 0.05 * g * g
            p.data = p.data - 0.01 * g / (np.sqrt(square[k]) + 1e-6)
            p.grad = None
        total.append(loss.item())
    if voyage % 3 == 2:
        print(f"voyage {voyage + 1:2d}  loss {np.mean(total):.4f}")
