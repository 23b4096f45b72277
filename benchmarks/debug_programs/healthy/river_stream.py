"""One long record of a river, read in pieces of twenty hours. Is the gate open? It opens and closes with rare signals."""
import numpy as np
import minigrad as mg
import nn

HOURS, PIECE, RIVERS, HIDDEN = 3000, 20, 12, 12


def record(rng):
    signal = rng.choice([0, 1, 2], p=[0.9, 0.05, 0.05], size=(RIVERS, HOURS))     # nothing, open, close
    gate = np.zeros((RIVERS, HOURS), np.int64)
    for t in range(HOURS):
        before = gate[:, t - 1] if t else 0
        gate[:, t] = np.where(signal[:, t] == 1, 1, np.where(signal[:, t] == 2, 0, before))
    return np.eye(3, dtype=np.float32)[signal], gate


rng = np.random.default_rng(48)
signal, gate = record(rng)
cell = nn.GRUCell(3, HIDDEN, rng=rng)
out = nn.Affine(HIDDEN, 2, rng=rng)
optimizer = nn.AdamW([*cell.parameters(), *out.parameters()], lr=0.01)


def read(piece, h):
    logits = []
    for t in range(piece.shape[1]):
        h = cell(piece[:, t], h)
        logits.append(out(h))
    return np.stack(logits, axis=1), h


h = mg.Tensor(np.zeros((RIVERS, HIDDEN), np.float32))
right = []
for start in range(0, HOURS, PIECE):
    logits, h = read(signal[:, start:start + PIECE], h)
    loss = nn.cross_entropy(logits, gate[:, start:start + PIECE])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    h = h.detach()                                  # the river flows on; its gradient does not
    right.append(np.mean(logits.numpy().argmax(axis=-1) == gate[:, start:start + PIECE]))
    if start % 600 == 0:
        print(f"hour {start}: loss {loss.item():.4f}, right {right[-1]:.3f}")
print(f"last thousand hours: {np.mean(right[-50:]):.3f} right")
