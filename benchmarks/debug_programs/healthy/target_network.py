# Values of the states of a chain by temporal differences; the target uses a slow copy of the network, detached.
import numpy as np

import nn

rng = np.random.default_rng(231)
STATES, DISCOUNT = 7, 0.8
online = nn.Sequential(nn.Affine(STATES, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))
slow = nn.Sequential(nn.Affine(STATES, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))
slow.load_state_dict(online.state_dict())
optimizer = nn.Adam(online.parameters(), lr=0.01)
eye = np.eye(STATES, dtype=np.float32)
true = np.linalg.solve(np.eye(STATES) - DISCOUNT * np.eye(STATES, k=1), np.eye(STATES)[-1])
for step in range(600):
    s = rng.integers(0, STATES, 32)
    reward = (s == STATES - 1).astype(np.float32)[:, None]
    following = np.where(s[:, None] < STATES - 1, slow(eye[np.minimum(s + 1, STATES - 1)]).detach().numpy(), 0)
    loss = nn.mean_squared_error(online(eye[s]), reward + DISCOUNT * following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        slow.load_state_dict(online.state_dict())
    if step % 60 == 0:
        error = np.abs(online(eye).numpy()[:, 0] - true).mean()
        print(f"step {step}: loss {loss.item():.5f}, error of the values {error:.4f}")
