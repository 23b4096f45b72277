"""A ferry sets its fare from the weather: an actor proposes, a critic guesses the takings (one-step actor-critic)."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(9)


def takings(sky, fare):
    best = np.tanh(sky @ np.array([0.8, -0.5, 0.3]))
    return 1.0 - 2.0 * (fare[:, 0] - best) ** 2 + 0.05 * rng.normal(size=len(sky))


class Critic(nn.Module):
    def __init__(self, rng):
        self.a, self.b = nn.Affine(4, 32, rng=rng), nn.Affine(32, 1, rng=rng)

    def forward(self, sky, fare):
        return self.b(np.tanh(self.a(np.concatenate([sky, fare], axis=1))))[:, 0]


actor = nn.Sequential(nn.Affine(3, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng), np.tanh)
critic = Critic(rng)
actor_steps = nn.Adam(actor.parameters(), lr=0.002)
critic_steps = nn.SGD(critic.parameters(), lr=0.05)

for trip in range(1200):
    sky = rng.normal(size=(48, 3)).astype(np.float32)
    with mg.no_grad():
        proposed = actor(sky).numpy()
    fare = np.clip(proposed + 0.4 * rng.normal(size=proposed.shape), -1.5, 1.5).astype(np.float32)
    gap = critic(sky, fare) - takings(sky, fare)
    critic_loss = (gap**2).mean()
    critic_loss.backward()
    critic_steps.step()
    critic_steps.zero_grad()

    actor_loss = -critic(sky, actor(sky)).mean()
    actor_loss.backward()
    actor_steps.step()
    actor_steps.zero_grad()
    if trip % 200 == 199:
        print(f"{trip + 1}: critic loss {critic_loss.item():.3f}, takings {takings(sky, proposed).mean():.3f}")
