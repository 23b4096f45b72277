# two interleaved spirals, a deep narrow network
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(181)
n = 300
arm = np.arange(n) % 2
r = np.sqrt(rng.random(n))
angle = 8 * r + np.pi * arm
points = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1) * 2 + 0.03 * rng.normal(size=(n, 2))
points = points.astype(np.float32)

DEPTH, WIDTH = 8, 24


class DeepNet(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(2, WIDTH, rng=rng)
        self.middle = [nn.Affine(WIDTH, WIDTH, rng=rng) for _ in range(DEPTH)]
        self.last = nn.Affine(WIDTH, 2, rng=rng)

    def forward(self, x):
        x = mg.sigmoid(self.first(x))
        for layer in self.middle:
            x = mg.sigmoid(layer(x))
        return self.last(x)


net = DeepNet(np.random.default_rng(0))
opt = nn.SGD(net.parameters(), lr=0.05, momentum=0.9)
for step in range(800):
    opt.zero_grad()
    loss = nn.cross_entropy(net(points), arm)
    loss.backward()
    if step % 160 == 0:
        size = np.abs(net.first.weight.grad.numpy()).mean()
        print(f"step {step:4d}  loss {loss.item():.4f}  first layer's gradient {size:.2e}")
    opt.step()

print("points on the right arm:", np.mean(net(points).numpy().argmax(axis=1) == arm).round(3))
