"""Learn by REINFORCE to find the door in a corridor: left, right or open."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(14)
PLACES, DOOR, STEPS = 7, 4, 8


class Policy(nn.Module):
    def __init__(self):
        self.see, self.act = nn.Affine(PLACES, 16, rng=rng), nn.Affine(16, 3, rng=rng)

    def forward(self, place):
        return self.act(np.tanh(self.see(np.eye(PLACES, dtype=np.float32)[place])))


def episode(policy):
    places, actions, rewards = [], [], []
    place = rng.integers(0, PLACES)
    for _ in range(STEPS):
        with mg.no_grad():
            p = mg.softmax(policy(place)).numpy().astype(float)
        action = rng.choice(3, p=p / p.sum())
        done = action == 2
        places.append(place)
        actions.append(action)
        rewards.append(1.0 if done and place == DOOR else -0.05)
        place = int(np.clip(place + (action == 1) - (action == 0), 0, PLACES - 1))
        if done:
            break
    returns = np.cumsum(rewards[::-1])[::-1]
    return places, actions, returns, sum(rewards)


policy = Policy()
optimizer = nn.Adam(policy.parameters(), lr=0.02)
scores = []
for update in range(120):
    runs = [episode(policy) for _ in range(12)]
    places, actions = (np.concatenate([run[k] for run in runs]) for k in (0, 1))
    returns = np.concatenate([run[2] for run in runs])
    advantage = ((returns - returns.mean()) / (returns.std() + 1e-6)).astype(np.float32)
    log_p = mg.log_softmax(policy(places))
    entropy = -(np.exp(log_p) * log_p).sum(axis=1).mean()
    loss = -(log_p[np.arange(len(actions)), actions] * advantage).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores += [run[3] for run in runs]
    if update % 24 == 0:
        print(f"update {update:3d}  loss {loss.item():+.3f}  mean score {np.mean(scores[-240:]):+.3f}")

print(f"mean score of the last 240 episodes {np.mean(scores[-240:]):.3f} (of the first {np.mean(scores[:240]):.3f})")
