"""Salt pans: will the crust form overnight? Trains a small residual network with a cosine schedule."""
import numpy as np
import minigrad as mg
import nn

EPOCHS, PEAK = 30, 0.005


class Block(nn.Module):
    def __init__(self, width, rng):
        self.inner = nn.Affine(width, width, rng=rng)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + mg.relu(self.inner(self.norm(x)))


def weather(rng, n):
    x = rng.uniform(-2, 2, (n, 5)).astype(np.float32)
    return x, ((np.sin(2 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3]) > 0).astype(np.int64)


rng = np.random.default_rng(17)
x, y = weather(rng, 1500)
x_val, y_val = weather(rng, 500)
net = nn.Sequential(nn.Affine(5, 32, rng=rng), Block(32, rng), Block(32, rng), nn.Affine(32, 2, rng=rng))
batches = nn.Batches([x, y], 50, seed=1)
optimizer = nn.AdamW(net.parameters(), lr=PEAK)
plan = nn.cosine_schedule(PEAK, EPOCHS)

step = 0
for epoch in range(EPOCHS):
    for inputs, labels in batches.epoch(epoch):
        optimizer.lr = plan(step)
        step += 1
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
    if epoch % 6 == 5:
        with mg.no_grad():
            right = np.mean(net(x_val).numpy().argmax(axis=1) == y_val)
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, right {right:.3f}")
