"""A camera above a conveyor: how many cartons came onto the pallet, from the picture before and the picture after."""
import numpy as np
import minigrad as mg
import nn

SIDE, MOST = 8, 6
rng = np.random.default_rng(17)
board = rng.integers(60, 90, size=(SIDE, SIDE))


def pictures(n):
    """Two grey pictures of each pallet, 0 to 255, and the number of cartons that were added between them."""
    count = rng.integers(0, MOST, n)
    before = board + rng.normal(0, 4, (n, SIDE, SIDE))
    after = board + rng.normal(0, 4, (n, SIDE, SIDE))
    for i in range(n):
        places = rng.permutation(SIDE * SIDE // 4)[:MOST]
        for k, place in enumerate(places):
            row, column = 2 * (place // (SIDE // 2)), 2 * (place % (SIDE // 2))
            shade = rng.choice([-30, 45])
            if k < count[i]:
                after[i, row : row + 2, column : column + 2] += shade
    grey = [np.clip(p, 0, 255).round().astype(np.uint8) for p in (before, after)]
    return *grey, count


def change(before, after):
    """How much darker or brighter each pixel became, about -1 to 1."""
    moved = after - before
    return (moved / 50).reshape(len(moved), -1).astype(np.float32)


before, after, count = pictures(4000)
x_train, y_train = change(before, after), count
before, after, count = pictures(500)
x_test, y_test = change(before, after), count
middle = x_train.mean()
x_train, x_test = x_train - middle, x_test - middle

init = np.random.default_rng(5)
model = nn.Sequential(nn.Affine(64, 64, rng=init), mg.relu, nn.Affine(64, 32, rng=init), mg.relu, nn.Affine(32, MOST, rng=init))
history = nn.fit(
    model,
    nn.Batches([x_train, y_train], 50, seed=1),
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.AdamW(model.parameters(), lr=0.003, weight_decay=0.05),
    epochs=15,
    clip_norm=1.0,
    validate=lambda model: {"right": np.mean(model(x_test).numpy().argmax(axis=1) == y_test)},
    progress=False,
)
print("loss", round(float(np.mean(history.losses[-30:])), 3))
print("right", [round(float(value), 3) for value in history.metric("right")[-3:]])
