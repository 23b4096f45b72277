"""Which quadrant of the scene became brighter from one frame to the next? Frames are bytes, as the camera sends them."""
import numpy as np
import nn

rng = np.random.default_rng(18)


def clips(n):
    quadrant = rng.integers(0, 4, n)
    scene = rng.uniform(60, 180, (n, 8, 8))
    light = np.zeros((n, 8, 8))
    for i, q in enumerate(quadrant):
        light[i, 4 * (q // 2) : 4 * (q // 2) + 4, 4 * (q % 2) : 4 * (q % 2) + 4] = rng.uniform(6, 25)
    frames = np.stack([scene, scene + light], axis=1) + rng.normal(0, 8, (n, 2, 8, 8))
    return frames.clip(0, 255).round().astype(np.uint8), quadrant


def differences(frames):
    delta = frames[:, 1].astype(np.int16) - frames[:, 0]
    return delta.reshape(len(delta), -1).astype(np.float32) / 32


frames, quadrant = clips(800)
x = differences(frames)
model = nn.Sequential(nn.Affine(64, 24, rng=rng), np.tanh, nn.Affine(24, 4, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    for rows in rng.permutation(800).reshape(-1, 40):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[rows]), quadrant[rows])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  {loss.item():.4f}")

frames, quadrant = clips(400)
print(f"quadrants found in new clips: {np.mean(model(differences(frames)).numpy().argmax(axis=1) == quadrant):.3f}")
