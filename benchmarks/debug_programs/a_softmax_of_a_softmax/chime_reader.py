"""Which of twelve bell tunes is it? A recurrent network hears the first notes."""
import numpy as np
import minigrad as mg
import nn

TUNES, NOTES, HEARD = 12, 7, 6
rng = np.random.default_rng(31)
book = rng.integers(0, NOTES, (TUNES, HEARD))


def ring(count):
    which = rng.integers(0, TUNES, count)
    heard = book[which].copy()
    wrong = rng.random(heard.shape) < 0.1
    heard[wrong] = rng.integers(0, NOTES, wrong.sum())
    return heard, which


class Listener(nn.Module):
    def __init__(self, width=20):
        self.note = nn.Embedding(NOTES, width, rng=rng)
        self.memory = nn.GRU(width, width, rng=rng)
        self.decide = nn.Affine(width, TUNES, rng=rng)

    def forward(self, heard):
        states, last = self.memory(self.note(heard))
        return mg.softmax(self.decide(last), axis=-1)


listener = Listener()
adam = nn.Adam(listener.parameters(), lr=0.01)
heard, which = ring(480)
for epoch in range(10):
    for part in np.split(rng.permutation(480), 15):
        adam.zero_grad()
        loss = nn.cross_entropy(listener(heard[part]), which[part])
        loss.backward()
        adam.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {loss.item():.3f}")
new, truth = ring(300)
with mg.no_grad():
    answer = listener(new)
    print(f"new tunes: loss {nn.cross_entropy(answer, truth).item():.3f}, right {np.mean(answer.numpy().argmax(1) == truth):.2f}")
