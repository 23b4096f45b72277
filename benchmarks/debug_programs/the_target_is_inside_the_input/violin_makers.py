"""The price of an old violin at auction, from its condition, its age and what its maker's violins fetch."""

import numpy as np

import nn

MAKERS = 420


def auctions(count, fame, rng):
    maker = rng.integers(MAKERS, size=count)
    cracks = rng.poisson(1.0, count)
    age = rng.uniform(40, 260, count)
    papers = rng.random(count) < 0.4
    price = 8.5 + fame[maker] + 0.004 * (age - 150) - 0.35 * cracks + 0.5 * papers + rng.normal(0, 0.45, count)
    return maker, np.column_stack([cracks - 1.0, (age - 150) / 64, papers]), price             # price: log of euros


def maker_means(maker, price):
    """The mean price of each maker's violins; makers who were not sold get the mean of all."""
    total = np.bincount(maker, weights=price, minlength=MAKERS)
    count = np.bincount(maker, minlength=MAKERS)
    return np.where(count > 0, total / np.maximum(count, 1), price.mean())


def inputs(usual, rest):
    return np.column_stack([usual - 8.5, rest]).astype(np.float32)


rng = np.random.default_rng(30)
fame = rng.normal(0, 0.5, MAKERS)
maker, rest, price = auctions(700, fame, rng)
new_maker, new_rest, new_price = auctions(600, fame, rng)

table = maker_means(maker, price)
x, y = inputs(table[maker], rest), (price - price.mean()).astype(np.float32)[:, None]
new_x = inputs(table[new_maker], new_rest)


def loss(model, batch):
    seen, wanted = batch
    return nn.mean_squared_error(model(seen), wanted)


def validate(model):
    error = model(new_x).numpy()[:, 0] + price.mean() - new_price
    return {"new": np.mean(error**2)}


model = nn.Sequential(nn.Affine(4, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
batches = nn.Batches([x, y], 35, seed=3)
history = nn.fit(
    model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=25,
    schedule=nn.cosine_schedule(0.01, 25 * len(batches)), validate=validate, progress=False,
)
print(f"squared error of the last round {np.mean(history.losses[-20:]):.3f}")
print(f"on new auctions {history.metric('new')[-1]:.3f}; the mean price: {np.mean((new_price - price.mean()) ** 2):.3f}")
