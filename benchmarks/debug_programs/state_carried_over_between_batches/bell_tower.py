"""After each hour of ringing: has the big bell rung an odd number of times so far?"""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(29)
MORNINGS, HOURS, HIDDEN, BATCH = 960, 7, 16, 48

rings = rng.integers(0, 2, size=(MORNINGS, HOURS))
odd = rings.cumsum(axis=1) % 2                        # every morning starts from silence

Wx = mg.Tensor(rng.normal(0, 0.8, (1, HIDDEN)), requires_grad=True, name="Wx")
Wh = mg.Tensor(rng.normal(0, HIDDEN**-0.5, (HIDDEN, HIDDEN)), requires_grad=True, name="Wh")
bh = mg.Tensor(np.zeros(HIDDEN), requires_grad=True, name="bh")
Wo = mg.Tensor(rng.normal(0, HIDDEN**-0.5, (HIDDEN, 2)), requires_grad=True, name="Wo")
bo = mg.Tensor(np.zeros(2), requires_grad=True, name="bo")
everything = [Wx, Wh, bh, Wo, bo]
optimizer = nn.Adam(everything, lr=0.008)


def listen(morning, state):
    """The logits after each hour, and the state at the end."""
    said = []
    for hour in range(HOURS):
        state = np.tanh((morning[:, hour:hour + 1] - 0.5) @ Wx + state @ Wh + bh)
        said.append(state @ Wo + bo)
    return np.stack(said, axis=1), state


state = mg.Tensor(np.zeros((BATCH, HIDDEN)))
for epoch in range(40):
    order = rng.permutation(MORNINGS)
    losses, hits = [], []
    for start in range(0, MORNINGS, BATCH):
        pick = order[start:start + BATCH]
        logits, state = listen(rings[pick], state.detach())
        loss = nn.cross_entropy(logits, odd[pick])
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(everything, 1.0)
        optimizer.step()
        losses.append(loss.item())
        hits.append(np.mean(logits.numpy().argmax(axis=-1) == odd[pick]))
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, right {np.mean(hits):.3f}")
