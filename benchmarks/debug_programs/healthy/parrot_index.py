"""Find a parrot's photograph by its call: two towers, cosines over a temperature, equal order of both columns."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(83)
bird = rng.normal(size=(1000, 6))
call = np.tanh(bird @ rng.normal(size=(6, 18)))
photo = np.maximum(bird @ rng.normal(size=(6, 22)), 0)
order = rng.permutation(1000)
call, photo = call[order].astype(np.float32), photo[order].astype(np.float32)
call_mean, photo_mean = call[:800].mean(axis=0), photo[:800].mean(axis=0)
call, photo = call - call_mean, photo - photo_mean


def unit(z):
    return z / np.sqrt((z * z).sum(axis=1, keepdims=True) + 1e-9)


def tower(width):
    return nn.Sequential(nn.Affine(width, 40, rng=rng), np.tanh, nn.Affine(40, 10, rng=rng), unit)


hears, sees = tower(18), tower(22)
log_heat = nn.Parameter(np.array(np.log(10.0), np.float32))
parts = [*hears.parameters(), *sees.parameters()]
optimizer = nn.AdamW([{"params": parts, "weight_decay": 0.05}, {"params": [log_heat], "weight_decay": 0.0}], lr=0.005)

for step in range(400):
    rows = rng.choice(800, 50, replace=False)
    table = np.exp(log_heat) * (hears(call[rows]) @ sees(photo[rows]).T)
    answer = np.arange(len(rows))
    loss = (nn.cross_entropy(table, answer) + nn.cross_entropy(table.T, answer)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        with mg.no_grad():
            found = (hears(call[800:]) @ sees(photo[800:]).T).numpy().argmax(axis=1)
        print(f"{step + 1}: loss {loss.item():.3f}, first of 200: {np.mean(found == np.arange(200)):.3f}, heat {np.exp(log_heat.numpy()):.1f}")
