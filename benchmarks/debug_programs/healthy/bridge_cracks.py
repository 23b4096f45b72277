"""Cracks in a bridge from the sound of passing trains. One train in forty meets one."""

import numpy as np

import minigrad as mg
import nn


def listen(count, rng):
    crack = (rng.random(count) < 0.025).astype(np.float32)
    ring = rng.normal(size=count) + 1.8 * crack
    rattle = rng.normal(size=count) + 1.5 * crack * np.sign(ring)
    load, speed = rng.normal(size=(2, count))
    return np.stack([ring, rattle, load, speed], axis=1).astype(np.float32), crack


rng = np.random.default_rng(10)
sound, crack = listen(6000, rng)
new_sound, new_crack = listen(4000, rng)
rarity = (1 - crack).sum() / crack.sum()
print(f"{int(crack.sum())} cracks in {len(crack)} passages; a crack counts {rarity:.0f} times")

w1 = mg.Tensor(rng.normal(scale=0.5, size=(4, 24)).astype(np.float32), requires_grad=True, name="w1")
b1 = mg.Tensor(np.zeros(24, np.float32), requires_grad=True, name="b1")
w2 = mg.Tensor(rng.normal(scale=0.2, size=24).astype(np.float32), requires_grad=True, name="w2")
b2 = mg.Tensor(np.float32(0), requires_grad=True, name="b2")
optimizer = nn.AdamW([w1, b1, w2, b2], lr=0.003)


def suspicion(sound):
    return mg.silu(sound @ w1 + b1) @ w2 + b2


for epoch in range(12):
    order = rng.permutation(len(sound))
    losses = []
    for i in range(0, len(order), 200):
        rows = order[i : i + 200]
        optimizer.zero_grad()
        loss = nn.binary_cross_entropy_with_logits(suspicion(sound[rows]), crack[rows], pos_weight=rarity)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")

alarm = suspicion(new_sound).numpy() > 0
print(f"cracks found: {alarm[new_crack == 1].mean():.2f}, false alarms: {alarm[new_crack == 0].mean():.2f}")
