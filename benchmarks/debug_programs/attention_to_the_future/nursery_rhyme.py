import numpy as np
import nn

text = ("one for the money two for the show three to get ready now go cat go "
        "hey diddle diddle the cat and the fiddle the cow jumped over the moon "
        "the little dog laughed to see such fun and the dish ran away with the spoon ") * 4
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
WINDOW = 16


class CharModel(nn.Module):
    def __init__(self, vocab, width, rng):
        self.embed = nn.Embedding(vocab, width, rng=rng, std=0.1)
        self.place = nn.LearnedPositions(WINDOW, width, rng=rng, std=0.1)
        self.blocks = [nn.TransformerEncoderLayer(width, 4, 2 * width, rng=rng) for _ in range(2)]
        self.norm = nn.LayerNorm(width)
        self.head = nn.Affine(width, vocab, rng=rng)

    def forward(self, tokens):
        x = self.place(self.embed(tokens))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


rng = np.random.default_rng(11)
model = CharModel(len(chars), 32, rng)
optimizer = nn.AdamW(model.parameters(), lr=0.004)
for step in range(250):
    starts = rng.integers(0, len(ids) - WINDOW - 1, 16)
    window = ids[starts[:, None] + np.arange(WINDOW + 1)]
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(window[:, :-1]), window[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print("step", step + 1, "loss per character", round(loss.item(), 3))

line = [chars.index(c) for c in "the cow jumped o"]
for _ in range(40):
    logits = model(np.array([line[-WINDOW:]])).numpy()[0, -1]
    line.append(int(logits.argmax()))
written = "".join(chars[i] for i in line)
print(repr(written), "in the text:", written in text)
