import numpy as np
import nn

# Push a cart to the place x = 0 in a single push: state (place, speed), action in [-1, 1].
rng = np.random.default_rng(3)


def reward(s, a):
    return -np.abs(s[:, :1] + 0.5 * s[:, 1:] + a)


def states(n):
    return rng.uniform(-0.7, 0.7, (n, 2)).astype(np.float32)


class Critic(nn.Module):
    def __init__(self):
        self.l1, self.l2 = nn.Affine(3, 32, rng=rng), nn.Affine(32, 1, rng=rng)

    def forward(self, s, a):
        return self.l2(np.tanh(self.l1(np.concatenate([s, a], axis=1))))


class Actor(nn.Module):
    def __init__(self):
        self.l1, self.l2 = nn.Affine(2, 32, rng=rng), nn.Affine(32, 1, rng=rng)

    def forward(self, s):
        return np.tanh(self.l2(np.tanh(self.l1(s))))


critic, actor = Critic(), Actor()
opt_critic, opt_actor = nn.SGD(critic.parameters(), lr=0.05), nn.SGD(actor.parameters(), lr=0.05)

for step in range(1200):
    s = states(64)
    a = rng.uniform(-1, 1, (64, 1)).astype(np.float32)
    fit = ((critic(s, a) - reward(s, a)) ** 2).mean()
    fit.backward()
    opt_critic.step()
    opt_critic.zero_grad()

    gain = -critic(s, actor(s)).mean()
    gain.backward()
    opt_actor.step()
    opt_actor.zero_grad()
    if step % 300 == 0:
        print(step, "critic", round(fit.item(), 4), "believed reward", round(-gain.item(), 4))

s = states(500)
print("critic", round(fit.item(), 4), "believed", round(-gain.item(), 3), "true reward", round(float(reward(s, actor(s).numpy()).mean()), 3))
