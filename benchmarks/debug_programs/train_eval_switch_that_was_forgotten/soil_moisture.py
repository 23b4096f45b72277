import numpy as np
import minigrad as mg
import nn

# Capacitance, temperature, depth and salinity of a probe -> moisture of the soil.
rng = np.random.default_rng(51)
probes = rng.normal([40, 12, 60, 3], [8, 5, 20, 1], size=(500, 4)).astype(np.float32)
z = (probes - [40, 12, 60, 3]) / [8, 5, 20, 1]
moisture = (0.5 * z[:, 0] + 0.3 * np.tanh(z[:, 1]) * z[:, 3] - 0.2 * z[:, 2])[:, None].astype(np.float32)

net = nn.Sequential(
    nn.BatchNorm(4),
    nn.Affine(4, 32, rng=np.random.default_rng(1)),
    nn.BatchNorm(32),
    mg.relu,
    nn.Affine(32, 1, rng=np.random.default_rng(2)),
)
optimizer = nn.Adam(net.parameters(), lr=0.01)

for epoch in range(30):
    order = rng.permutation(400)
    running = 0.0
    for start in range(0, 400, 50):
        rows = order[start:start + 50]
        optimizer.zero_grad()
        loss = nn.mean_squared_error(net(probes[rows]), moisture[rows])
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}: {running / 8:.4f}")

# in the field, each station sends its ten readings together; a station has one kind of soil
stations = 400 + np.argsort(probes[400:, 0]).reshape(10, 10)
errors = []
for rows in stations:
    answer = net(probes[rows]).numpy()
    errors.append(np.mean((answer - moisture[rows]) ** 2))
print("mean squared error in the field:", np.mean(errors).round(4))
