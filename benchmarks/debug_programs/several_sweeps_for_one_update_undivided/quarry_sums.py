# %% Quarry stones: predict the breaking load from sound, weight and cut. Small batches, because the pictures were once large.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(2)
stones = rng.normal(size=(1280, 8))
load = np.sin(stones[:, 0]) + 0.5 * stones[:, 1] * stones[:, 2] + 0.3 * stones[:, 3]

# %%
SMALL, PER_UPDATE, RATE = 16, 16, 0.1
layers = []
for fan_in, fan_out in ((8, 40), (40, 40), (40, 1)):
    layers.append(mg.Tensor(rng.normal(0, fan_in**-0.5, (fan_in, fan_out)), requires_grad=True))
    layers.append(mg.Tensor(np.zeros(fan_out), requires_grad=True))


def breaks_at(x):
    for i in range(0, 4, 2):
        x = mg.relu(x @ layers[i] + layers[i + 1])
    return (x @ layers[4] + layers[5])[:, 0]


# %%
rounds = 0
for epoch in range(60):
    order = rng.permutation(1024)
    for start in range(0, 1024, SMALL):
        rows = order[start : start + SMALL]
        part = ((breaks_at(stones[rows]) - load[rows]) ** 2).mean()
        part.backward()
        rounds += 1
        if rounds % PER_UPDATE == 0:
            for p in layers:
                p.data -= RATE * p.grad
                p.zero_grad()
    if epoch % 10 == 9:
        with mg.no_grad():
            unseen = ((breaks_at(stones[1024:]).numpy() - load[1024:]) ** 2).mean()
        print(f"epoch {epoch + 1}: {part.item():.3g}, unseen {unseen:.3g} of {load[1024:].var():.3f}")
