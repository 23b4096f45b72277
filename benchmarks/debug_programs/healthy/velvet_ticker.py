# %% A small GPT on the pattern language of a velvet loom. Inputs and targets are cut from one array.
import numpy as np
import models
import nn

rng = np.random.default_rng(73)
THREADS, WINDOW = 8, 20
follow = np.array([rng.permutation(THREADS)[:2] for _ in range(THREADS)])
tape = [0]
for _ in range(5000):
    tape.append(int(follow[tape[-1], int(rng.random() < 0.15)]))
tape = np.array(tape)

# %%
cut = len(tape) // WINDOW * WINDOW
x = tape[: cut - WINDOW].reshape(-1, WINDOW)
y = tape[1 : cut - WINDOW + 1].reshape(-1, WINDOW)
x, y, x_last, y_last = x[:200], y[:200], x[200:], y[200:]

# %%
loom = models.GPT(models.GPTConfig(vocab_size=THREADS, window=WINDOW, d_model=16), rng=rng)


def nats(model, batch):
    ids, following = batch
    return nn.cross_entropy(model(ids), following)


batches = nn.Batches([x, y], 20, seed=0)
history = nn.fit(loom, batches, nats, nn.AdamW(loom.parameters(), lr=0.01), epochs=12, progress=False,
                 schedule=nn.cosine_schedule(0.01, 12 * len(batches), warmup=10), clip_norm=1.0,
                 validate=lambda m: {"nats": nats(m, (x_last, y_last)).item()})
best = -(0.85 * np.log(0.85) + 0.15 * np.log(0.15))
print(f"{history.losses[0]:.3f} -> {history.losses[-1]:.3f}, unseen {history.metric('nats')[-1]:.3f}, possible {best:.3f}")
