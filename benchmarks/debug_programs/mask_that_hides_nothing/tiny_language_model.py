# %%
import numpy as np

import nn
from minigrad import no_grad

rng = np.random.default_rng(89)
words = ["row", "your", "boat", "gently", "down", "stream", "merrily", "life", "dream"]
text = " ".join(rng.choice(words, 600))
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
T = 12


# %%
class LanguageModel(nn.Module):
    def __init__(self, vocab, width, rng):
        self.tokens = nn.Embedding(vocab, width, rng=rng, std=0.3)
        self.places = nn.LearnedPositions(T, width, rng=rng, std=0.3)
        self.blocks = [nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng) for _ in range(1)]
        self.output = nn.Affine(width, vocab, rng=rng)

    def forward(self, ids):
        n = ids.shape[1]
        mask = np.tril(np.ones((n, n))) >= 0
        x = self.places(self.tokens(ids))
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.output(x)


model = LanguageModel(len(letters), 24, rng)
optimizer = nn.AdamW(model.parameters(), lr=0.005)

# %%
for step in range(250):
    start = rng.integers(0, len(ids) - T - 1, 16)
    window = ids[start[:, None] + np.arange(T + 1)]
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(window[:, :-1]), window[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        seventh = nn.cross_entropy(model(window[:, :6]).numpy()[:, -1], window[:, 6]).item()
        print(step, round(loss.item(), 4), "seventh letter", round(seventh, 4))

# %%
written = list(ids[:5])
with no_grad():
    for _ in range(60):
        written.append(int(model(np.array([written[-T:]])).numpy()[0, -1].argmax()))
print("".join(letters[i] for i in written))
