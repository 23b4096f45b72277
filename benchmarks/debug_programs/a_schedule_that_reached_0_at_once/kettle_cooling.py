"""How warm is the tea after some minutes? Learned from kettles of different size, room and lid."""

import nn
import numpy as np

EPOCHS = 30


def kettles(n, rng):
    minutes, litres, room, lid = (
        rng.uniform(0, 60, n),
        rng.uniform(0.3, 2, n),
        rng.uniform(5, 30, n),
        rng.random(n) < 0.5,
    )
    rate = 0.05 / litres**0.67 * np.where(lid, 0.55, 1.0)
    warm = room + (95 - room) * np.exp(-rate * minutes) + rng.normal(0, 0.5, n)
    x = np.column_stack([minutes / 30 - 1, litres - 1.15, (room - 17.5) / 10, lid - 0.5])
    return x.astype(np.float32), ((warm[:, None] - 50) / 25).astype(np.float32)


def loss(model, batch):
    x, warm = batch
    return nn.mean_squared_error(model(x), warm)


def build(rng):
    return nn.Sequential(
        nn.Affine(4, 40, rng=rng), np.tanh, nn.Affine(40, 40, rng=rng), np.tanh, nn.Affine(40, 1, rng=rng)
    )


def main():
    rng = np.random.default_rng(19)
    x, warm = kettles(2000, rng)
    x_new, warm_new = kettles(500, rng)
    model = build(rng)
    batches = nn.Batches([x, warm], 40, seed=4)

    def degrees(model):
        return {"degrees": 25 * float(np.sqrt(np.mean((model(x_new).numpy() - warm_new) ** 2)))}

    history = nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), lr=0.01),
        epochs=EPOCHS,
        schedule=nn.cosine_schedule(0.01, EPOCHS, warmup=5),
        clip_norm=1.0,
        validate=degrees,
        progress=False,
    )
    for epoch in range(0, EPOCHS, 6):
        print(f"epoch {epoch + 1:2d}  off by {history.metric('degrees')[epoch]:.2f} degrees")
    print(f"at the end off by {history.metric('degrees')[-1]:.2f} degrees")


main()
