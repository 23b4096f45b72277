"""The event log of a packaging machine: which event comes next? A small Transformer reads windows of the log."""
import numpy as np
import minigrad as mg
import nn

EVENTS, WINDOW, EPOCHS = 14, 20, 14
rng = np.random.default_rng(33)

# each event has two usual successors; which of them follows depends on the event two before
first, second = rng.permutation(EVENTS), rng.permutation(EVENTS)


def log(length):
    events = list(rng.integers(EVENTS, size=2))
    while len(events) < length:
        usual = first if events[-2] % 2 else second
        events.append(int(usual[events[-1]]) if rng.random() < 0.85 else int(rng.integers(EVENTS)))
    return np.array(events)


class NextEvent(nn.Module):
    def __init__(self, width, rng):
        self.events = nn.Embedding(EVENTS, width, rng=rng, std=0.5)
        self.places = nn.LearnedPositions(WINDOW, width, rng=rng, std=0.5)
        self.layers = [nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng)]
        self.norm = nn.LayerNorm(width)
        self.following = nn.Affine(width, EVENTS, rng=rng)

    def forward(self, events):
        x = self.places(self.events(events))
        for layer in self.layers:
            x = layer(x)
        return self.following(self.norm(x))


def windows(events):
    starts = np.arange(0, len(events) - WINDOW - 1, WINDOW // 2)
    at = starts[:, None] + np.arange(WINDOW)
    return events[at], events[at + 1]


def right_at_the_end(model, events, known=12):
    """The share of events that are foreseen, when the log ends just before them and has `known` events."""
    seen, following = windows(events)
    with mg.no_grad():
        return np.mean(model(seen[:, :known]).numpy()[:, -1].argmax(axis=-1) == following[:, known - 1])


seen, following = windows(log(8000))
later = log(4000)
model = NextEvent(32, np.random.default_rng(0))
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([seen, following], 40, seed=0)
schedule = nn.cosine_schedule(0.01, EPOCHS * len(batches), warmup=20)
step = 0
for epoch in range(EPOCHS):
    model.train()
    for inputs, targets in batches.epoch(epoch):
        optimizer.lr = schedule(step)
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    if epoch % 4 == 1:
        print(epoch + 1, f"loss {loss.item():.3f}", f"foreseen {right_at_the_end(model, later):.3f}")
