"""The clatter of a loom as one long series: a GRU predicts the next beat, twenty beats at a time."""
import numpy as np
import minigrad as mg
import nn

PIECE, WEAVERS, WIDTH = 20, 8, 24
rng = np.random.default_rng(9)

# eight looms, 1200 beats each; how loud a beat is depends on a slow wheel and on the beat before
time = np.arange(1201)
wheel = rng.uniform(0, 6, (WEAVERS, 1))
loud = np.sin(2 * np.pi * time / 37 + wheel) + 0.6 * np.sign(np.sin(2 * np.pi * time / 8 + wheel))
loud = (loud + rng.normal(0, 0.05, loud.shape)).astype(np.float32)[:, :, None]

cell = nn.GRUCell(1, WIDTH, rng=rng)
out = nn.Affine(WIDTH, 1, rng=rng)
weights = [*cell.parameters(), *out.parameters()]
optimizer = nn.Adam(weights, lr=0.01)


def run(h, beats):
    said = []
    for t in range(beats.shape[1]):
        h = cell(beats[:, t], h)
        said.append(out(h))
    return np.stack(said, axis=1), h


for day in range(5):
    h = mg.Tensor(np.zeros((WEAVERS, WIDTH), np.float32))
    errors = []
    for at in range(0, 1200, PIECE):
        piece, following = loud[:, at : at + PIECE], loud[:, at + 1 : at + PIECE + 1]
        h = h.detach()  # the next piece begins where this one ended
        said, h = run(h, piece)
        loss = nn.mean_squared_error(said, following)
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(weights, 1.0)
        optimizer.step()
        errors.append(loss.item())
    print(f"day {day}: {np.mean(errors):.4f} (the last pieces {np.mean(errors[-10:]):.4f})")
