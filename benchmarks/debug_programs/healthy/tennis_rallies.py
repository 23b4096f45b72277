"""Rallies of tennis, stroke by stroke, written by a GPT: which stroke follows depends on the last two of the rally."""
import numpy as np
import minigrad as mg
import models
import nn

STROKES = ["<end>", "serve wide", "serve body", "serve centre", "forehand cross", "forehand line", "backhand cross", "backhand line",
           "slice", "volley", "smash", "lob"]
WINDOW = 24
rng = np.random.default_rng(93)
habits = rng.dirichlet(np.full(8, 0.25), (12, 12))


def rally():
    strokes = [int(rng.integers(1, 4))]
    before = 0
    while len(strokes) < 9 and not (len(strokes) > 1 and rng.random() < 0.18):
        following = int(4 + rng.choice(8, p=habits[before, strokes[-1]]))
        before = strokes[-1]
        strokes.append(following)
    return [*strokes, 0]


def match(rallies):
    return np.concatenate([rally() for _ in range(rallies)])


def windows(ids):
    at = np.arange(0, len(ids) - WINDOW - 1, WINDOW)[:, None] + np.arange(WINDOW)
    return ids[at], ids[at + 1]


def loss(model, batch):
    seen, following = batch
    return nn.cross_entropy(model(seen), following)


def main():
    seen, following = windows(match(1600))
    later = windows(match(400))
    config = models.GPTConfig(vocab_size=len(STROKES), window=WINDOW, d_model=24, num_heads=2, num_layers=2, positions="rotary", std=0.1)
    model = models.GPT(config, rng=np.random.default_rng(0))
    batches = nn.Batches([seen, following], 32, seed=0)
    steps = 9 * len(batches)
    history = nn.fit(
        model, batches, loss, nn.AdamW(model.parameters(), lr=0.008), epochs=9, clip_norm=1.0,
        schedule=nn.cosine_schedule(0.008, steps, warmup=steps // 10),
        validate=lambda model: {"loss": loss(model, later).item()}, progress=False,
    )
    counts = np.bincount(seen.ravel(), minlength=len(STROKES)) / seen.size
    print(f"single strokes: {-np.log(counts[later[1]]).mean():.3f}")
    print(f"steps {steps}, loss {history.losses[0]:.3f} -> {history.losses[-1]:.3f}")
    print("other match", [round(value, 3) for value in history.metric("loss")[::2]])
    strokes = [int(ids[0]) for ids in model.generate([[0]], 8, rng=np.random.default_rng(1))]
    print(", ".join(STROKES[i] for i in strokes))


main()
