# %%
import numpy as np
import minigrad as mg
import nn
from models import GPT, GPTConfig

VERSE = "four black crows on a broken gate, one flew early and three flew late. "
text = VERSE * 4
signs = sorted(set(VERSE))
ids = np.array([signs.index(s) for s in text])
LONG = 20

# %%
rng = np.random.default_rng(71)
model = GPT(GPTConfig(len(signs), LONG, 16, num_heads=2, num_layers=1, std=0.1), rng=rng)
adam = nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
for step in range(250):
    start = rng.integers(0, len(ids) - LONG, (8, 1))
    window = ids[start + np.arange(LONG + 1)]
    adam.zero_grad()
    loss = nn.cross_entropy(model(window[:, :-1]), window[:, 1:])
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    adam.step()
    if step % 50 == 0:
        print(f"step {step:3d} loss {loss.item():.3f} of {np.log(len(signs)):.3f}")

# %%
model.eval()
prompt = ids[None, :10]
written = model.generate(prompt, 50, rng=np.random.default_rng(0), temperature=0)
print("last loss", round(loss.item(), 3))
print(VERSE[:10] + "".join(signs[t.item()] for t in written))
