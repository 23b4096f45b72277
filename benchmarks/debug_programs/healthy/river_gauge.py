# One long series, read in chunks of 20 hours. The state goes on from chunk to chunk; the gradient does not.
import numpy as np
import nn

rng = np.random.default_rng(202)
hours = 2400
rain = rng.gamma(0.3, 1.0, hours) * (rng.random(hours) < 0.3)
level = np.zeros(hours)
for t in range(1, hours):
    level[t] = 0.97 * level[t - 1] + 0.1 * rain[t]
rain, level = rain.astype(np.float32), (level / level.std()).astype(np.float32)
CHUNK = 20

gru = nn.GRU(1, 12, rng=rng)
readout = nn.Affine(12, 1, rng=rng)
parameters = [*gru.parameters(), *readout.parameters()]
optimizer = nn.Adam(parameters, lr=0.01)

for epoch in range(10):
    state = np.zeros((1, 12), np.float32)
    total = 0.0
    for start in range(0, 2000, CHUNK):
        x = rain[None, start:start + CHUNK, None]
        y = level[None, start:start + CHUNK, None]
        states, last = gru(x, state)
        loss = nn.mean_squared_error(readout(states), y)
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(parameters, 1.0)
        optimizer.step()
        state = last.detach()
        total += loss.item()
    print(f"epoch {epoch + 1}: {total / 100:.4f}")

states, _ = gru(rain[None, 2000:, None], state)
print("the next 400 hours:", nn.mean_squared_error(readout(states), level[None, 2000:, None]).item(), "variance", level[2000:].var())
