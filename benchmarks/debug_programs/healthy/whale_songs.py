import numpy as np
import nn
from models import ClassifierConfig, TransformerClassifier

# Songs of whales as sequences of sounds; three populations differ in how they go on.
rng = np.random.default_rng(10)
SOUNDS, LENGTH = 8, 16
moves = [rng.dirichlet(np.full(SOUNDS, 0.25), SOUNDS) for _ in range(3)]


def songs(n):
    population = rng.integers(0, 3, n)
    ids = np.zeros((n, LENGTH), dtype=np.int64)
    ids[:, 0] = rng.integers(0, SOUNDS, n)
    for t in range(1, LENGTH):
        for i in range(n):
            ids[i, t] = np.searchsorted(np.cumsum(moves[population[i]][ids[i, t - 1]]), rng.random() * 0.999)
    return ids.clip(0, SOUNDS - 1), population


ids, population = songs(480)
new, truth = songs(200)
model = TransformerClassifier(
    ClassifierConfig(vocab_size=SOUNDS, num_classes=3, d_model=24, num_heads=2, num_layers=1, dropout=0.1), rng=rng
)
batches = nn.Batches([ids, population], 24, seed=0)
epochs = 9
history = nn.fit(
    model,
    batches,
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.AdamW([{"params": p, "weight_decay": 0.05 * (p.ndim > 1)} for p in model.parameters()], lr=5e-3),
    epochs=epochs,
    schedule=nn.cosine_schedule(5e-3, epochs * len(batches), warmup=20),
    clip_norm=1.0,
    validate=lambda model: {"accuracy": float(np.mean(model(new).numpy().argmax(axis=1) == truth))},
    progress=False,
)
print("loss", round(history.losses[0], 3), "->", round(float(np.mean(history.losses[-20:])), 3))
print("accuracy by epoch:", *[round(a, 2) for a in history.metric("accuracy")])
