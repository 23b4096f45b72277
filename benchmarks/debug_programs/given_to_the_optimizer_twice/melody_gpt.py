"""A small GPT that continues melodies made of scale patterns."""
import numpy as np
import models
import nn

rng = np.random.default_rng(40)
NOTES, WINDOW = 14, 12


def melody(rng):
    start, stride = rng.integers(0, NOTES), rng.integers(1, 4)
    return (start + stride * np.arange(WINDOW + 1)) % NOTES


class HeavyBall:
    def __init__(self, params, lr, friction):
        self.params, self.lr, self.friction = list(params), lr, friction
        self.speed = {id(p): np.zeros_like(p.numpy()) for p in self.params}

    def step(self):
        for p in self.params:
            v = self.speed[id(p)]
            v *= self.friction
            v += p.grad.numpy()
            p.data -= self.lr * v
        for p in self.params:
            p.zero_grad()


songs = np.array([melody(rng) for _ in range(400)])
model = models.GPT(models.GPTConfig(vocab_size=NOTES, window=WINDOW, d_model=24, num_heads=2, num_layers=1, std=0.1), rng=rng)
tables = [p for path, p in model.named_parameters() if p.ndim == 2]
opt = HeavyBall([*model.parameters(), *tables], lr=0.3, friction=0.9)
batches = nn.Batches([songs], 40, seed=3)

for epoch in range(12):
    losses = []
    for (song,) in batches.epoch(epoch):
        logits = model(song[:, :-1])
        loss = nn.cross_entropy(logits, song[:, 1:])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}")

predicted = model(songs[:, :-1]).numpy().argmax(axis=-1)
print("right from the third note on:", (predicted == songs[:, 1:])[:, 2:].mean())
