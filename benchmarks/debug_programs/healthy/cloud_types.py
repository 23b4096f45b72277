# Sky photographs: fixed random filters first, and only the last two layers learn
import numpy as np
import minigrad as mg
import nn

KINDS = ["cirrus", "cumulus", "stratus"]
rng = np.random.default_rng(33)


def sky(n):
    kind = rng.integers(0, 3, n)
    photo = 0.35 * rng.standard_normal((n, 1, 8, 8))
    for image, k in zip(photo[:, 0], kind):
        if k == 0:
            image[np.arange(8), (np.arange(8) + rng.integers(8)) % 8] += 1.2
        elif k == 1:
            a, b = rng.integers(0, 5, 2)
            image[a:a + 4, b:b + 4] += 0.9
        else:
            image[rng.integers(8)] += 1.2
    return photo.astype(np.float32), kind


filters = nn.Conv2d(1, 12, 3, rng=rng)
for p in filters.parameters():
    p.requires_grad = False
model = nn.Sequential(
    filters,
    mg.relu,
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Affine(108, 32, rng=rng),
    mg.relu,
    nn.Affine(32, len(KINDS), rng=rng),
)
photo, kind = sky(400)
other, other_kind = sky(200)
optimizer = nn.Adam([p for p in model.parameters() if p.requires_grad], lr=0.003)
history = nn.fit(
    model,
    nn.Batches([photo, kind], 40, seed=3),
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    optimizer,
    epochs=15,
    validate=lambda model: {"right": np.mean(model(other).numpy().argmax(axis=1) == other_kind)},
    progress=False,
)
print("loss ", *np.round(history.losses[::30], 3))
print("right", *np.round(history.metric("right")[::3], 3))
