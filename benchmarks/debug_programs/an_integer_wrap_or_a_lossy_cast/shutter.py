"""How much brighter did the scene become between two frames of a small camera?"""
import numpy as np
import nn

rng = np.random.default_rng(17)


def clips(n):
    scene = rng.uniform(70, 180, (n, 6, 6))
    change = rng.normal(0, 25, n)
    before = scene + rng.normal(0, 3, scene.shape)
    after = scene + change[:, None, None] + rng.normal(0, 3, scene.shape)
    frames = np.stack([before, after], axis=1).clip(0, 255)
    return frames.round().astype(np.uint8), change


def differences(frames):
    delta = frames[:, 1] - frames[:, 0]
    return delta.reshape(len(delta), -1).astype(np.float32) / 64


frames, change = clips(500)
x, y = differences(frames), (change / 25).astype(np.float32)[:, None]
model = nn.Sequential(nn.Affine(36, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=3e-3)
for epoch in range(25):
    total = 0.0
    for rows in rng.permutation(500).reshape(-1, 50):
        optimizer.zero_grad()
        loss = nn.huber_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}  {total:.4f}")

frames, change = clips(300)
guess = model(differences(frames)).numpy()[:, 0] * 25
print(f"loss {total:.4f}, mean error on new clips {np.abs(guess - change).mean():.2f} grey levels of {np.abs(change).mean():.2f}")
