import numpy as np
import minigrad as mg
import nn

# Cooking time of beans. The machine holds only eight rows, so five portions make one step.
rng = np.random.default_rng(5)
n = 240
soaked = rng.uniform(0, 14, n)
height = rng.uniform(0, 3000, n)
age = rng.uniform(0, 4, n)
time = 95 - 4 * soaked + 12 * height / 1000 + 9 * age + 1.2 * soaked * age / 4 + 2 * rng.normal(size=n)
X = np.stack([soaked / 7 - 1, height / 1500 - 1, age / 2 - 1], axis=1).astype(np.float32)
mean, spread = time[:200].mean(), time[:200].std()
Y = ((time - mean) / spread).astype(np.float32)[:, None]

PORTIONS, ROWS = 5, 8
net = nn.Sequential(nn.Affine(3, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
optimizer = nn.SGD(net.parameters(), lr=0.1, momentum=0.9)
optimizer.zero_grad()
seen = 0
for epoch in range(25):
    for rows in rng.permutation(200).reshape(-1, ROWS):
        loss = nn.mean_squared_error(net(X[rows]), Y[rows]) / PORTIONS
        loss.backward()
        seen += 1
        if seen % PORTIONS == 0:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 5 == 4:
        print(epoch + 1, round(PORTIONS * loss.item(), 4))
with mg.no_grad():
    off = spread * (net(X[200:]).numpy() - Y[200:])
print("minutes off", np.abs(off).mean().round(2), "of a spread of", round(spread, 1))
