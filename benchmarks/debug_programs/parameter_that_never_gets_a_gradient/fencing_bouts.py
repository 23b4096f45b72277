"""Who scores the next touch? One network rates the attacker, another one the defender."""
import numpy as np
import minigrad as mg
import nn


def rating(rng, features=5, hidden=16):
    return nn.Sequential(nn.Affine(features, hidden, rng=rng), mg.relu, nn.Affine(hidden, 1, rng=rng))


class Bout(nn.Module):
    def __init__(self, rng):
        self.lunge = rating(rng)
        self.parry = rating(rng)

    def forward(self, attacker, defender):
        strength = self.lunge(attacker)
        guard = self.lunge(defender)
        return (strength - guard)[:, 0]


rng = np.random.default_rng(40)
attackers = rng.standard_normal((500, 5)).astype(np.float32)
defenders = rng.standard_normal((500, 5)).astype(np.float32)
reach, nerve = attackers[:, 0] + np.maximum(attackers[:, 1], 0), defenders[:, 4] - defenders[:, 0] - np.abs(defenders[:, 2])
touch = (2.5 * (reach - nerve - 0.8) + rng.logistic(size=500) > 0).astype(np.float32)


def loss(model, batch):
    attacker, defender, y = batch
    return nn.binary_cross_entropy_with_logits(model(attacker, defender), y)


def validate(model):
    said = model(attackers[400:], defenders[400:]).numpy() > 0
    return {"right": np.mean(said == (touch[400:] > 0.5))}


model = Bout(rng)
bouts = nn.Batches([attackers[:400], defenders[:400], touch[:400]], 40, seed=6)
run = nn.fit(model, bouts, loss, nn.Adam(model.parameters(), lr=0.01), epochs=25, validate=validate, progress=False)
print("loss", *np.round(run.losses[::50], 3), "->", round(run.losses[-1], 3))
print("right", run.metric("right")[-1])
