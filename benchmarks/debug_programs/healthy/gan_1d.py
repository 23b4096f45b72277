"""A generator and a critic in turn: the generator learns to draw from a normal distribution around 4."""

import numpy as np

import nn

rng = np.random.default_rng(213)
generator = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
critic = nn.Sequential(nn.Affine(1, 16, rng=rng), nn.functional.relu, nn.Affine(16, 1, rng=rng))
g_optimizer = nn.Adam(generator.parameters(), lr=0.003, betas=(0.5, 0.999))
c_optimizer = nn.Adam(critic.parameters(), lr=0.006, betas=(0.5, 0.999))
ones, zeros = np.ones((64, 1), np.float32), np.zeros((64, 1), np.float32)
for step in range(800):
    real = rng.normal(4, 0.6, (64, 1)).astype(np.float32)
    fake = generator(rng.normal(size=(64, 2)).astype(np.float32))
    c_optimizer.zero_grad()
    c_loss = nn.binary_cross_entropy_with_logits(critic(real), ones)
    c_loss = c_loss + nn.binary_cross_entropy_with_logits(critic(fake.detach()), zeros)
    c_loss.backward()
    c_optimizer.step()

    g_optimizer.zero_grad()
    g_loss = nn.binary_cross_entropy_with_logits(critic(fake), ones)
    g_loss.backward()
    g_optimizer.step()
    if step % 80 == 0 or step == 799:
        print(f"step {step}: critic {c_loss.item():.3f}, generator {g_loss.item():.3f}, mean {fake.numpy().mean():.2f}")
