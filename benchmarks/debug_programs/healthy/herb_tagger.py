"""Tag each herb of a recipe: is the same herb named again later? Recipes have different lengths."""
import numpy as np
import minigrad as mg
import nn


class Tagger(nn.Module):
    def __init__(self, herbs, width, *, rng):
        self.embed = nn.Embedding(herbs + 1, width, rng=rng, padding_idx=0)
        self.place = nn.PositionalEncoding(width)
        self.layers = [nn.TransformerEncoderLayer(width, 4, 2 * width, rng=rng) for _ in range(2)]
        self.tag = nn.Affine(width, 2, rng=rng)

    def forward(self, recipe):
        there = recipe != 0
        x = self.place(self.embed(recipe))
        for layer in self.layers:
            x = layer(x, key_mask=there)
        return self.tag(x)


def recipes(count, rng, longest=8, herbs=8):
    length = rng.integers(3, longest + 1, size=count)
    recipe = rng.integers(1, herbs + 1, size=(count, longest))
    recipe[np.arange(longest) >= length[:, None]] = 0
    again = np.zeros((count, longest), np.int64)
    for t in range(longest):
        again[:, t] = (recipe[:, t:t + 1] == recipe[:, t + 1:]).any(axis=1)
    again[recipe == 0] = -1
    return recipe, again


rng = np.random.default_rng(37)
recipe, again = recipes(1000, rng)
new, new_again = recipes(300, rng)
tagger = Tagger(8, 32, rng=rng)
optimizer = nn.AdamW(tagger.parameters(), lr=0.004)
batches = nn.Batches([recipe, again], 40, seed=8)
for epoch in range(14):
    tagger.train()
    mean = 0.0
    for ids, tags in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(tagger(ids), tags, ignore_index=-1)
        loss.backward()
        optimizer.step()
        mean += loss.item() / len(batches)
    if epoch % 3 == 1:
        tagger.eval()
        with mg.no_grad():
            found = tagger(new).numpy().argmax(axis=-1)
        print(f"epoch {epoch}: loss {mean:.4f}, new recipes {np.mean(found[new != 0] == new_again[new != 0]):.3f}")
