"""Hail damages one field in fifty. A network that says for each field whether to expect it."""

import minigrad as mg
import nn
import numpy as np


def fields(n, rng):
    hail = (rng.random(n) < 0.02).astype(np.float32)
    x = rng.normal(size=(n, 5))
    x[:, 0] += 1.6 * hail
    x[:, 3] -= 1.2 * hail
    return x.astype(np.float32), hail


def report(model, x, hail):
    says = model(x).numpy()[:, 0] > 0
    caught, spared = says[hail == 1].mean(), 1 - says[hail == 0].mean()
    return {"caught": caught, "spared": spared}


def main():
    rng = np.random.default_rng(16)
    x, hail = fields(8000, rng)
    x_new, hail_new = fields(4000, rng)
    rare = np.float32((hail == 0).sum() / (hail == 1).sum())
    print(f"one damaged field for {rare:.0f} others")
    model = nn.Sequential(nn.Affine(5, 24, rng=rng), mg.relu, nn.Affine(24, 1, rng=rng))

    def loss(model, batch):
        inputs, target = batch
        return nn.binary_cross_entropy_with_logits(model(inputs)[:, 0], target, pos_weight=rare)

    history = nn.fit(
        model,
        nn.Batches([x, hail], 200, seed=1),
        loss,
        nn.AdamW(model.parameters(), lr=0.003),
        epochs=8,
        validate=lambda model: report(model, x_new, hail_new),
        progress=False,
    )
    print(f"loss {np.mean(history.losses[:10]):.3f} -> {np.mean(history.losses[-10:]):.3f}")
    print({name: round(float(history.metric(name)[-1]), 3) for name in ("caught", "spared")})


if __name__ == "__main__":
    main()
