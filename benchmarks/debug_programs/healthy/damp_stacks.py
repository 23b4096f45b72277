"""Which shelves of the stacks will grow mould? About three in a hundred do. Sensors and a look at the bindings."""

import numpy as np

import minigrad as mg
import nn


def shelves(count, rng):
    mould = (rng.random(count) < 0.03).astype(np.float32)
    damp = rng.normal(52, 6, count) + 8 * mould
    cold = rng.normal(0, 1, count) + 1.2 * mould                # how near to an outer wall
    leather = rng.beta(2, 3, count) + 0.15 * mould
    air = rng.gamma(3.0, 0.3, count) * (1 - 0.35 * mould)
    dust = rng.normal(0, 1, count) + 0.8 * mould
    return np.column_stack([damp, cold, leather, air, dust]), mould


def make(seed):
    rng = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(5, 16, rng=rng), mg.silu, nn.Affine(16, 1, rng=rng))


def balanced(model, x, mould):
    guess = model(x).numpy()[:, 0] > 0
    return (np.mean(guess[mould == 1]) + np.mean(~guess[mould == 0])) / 2


def main():
    rng = np.random.default_rng(13)
    x, mould = shelves(3000, rng)
    x = ((x - x[:2000].mean(axis=0)) / x[:2000].std(axis=0)).astype(np.float32)
    ones = mould[:2000].sum()
    ratio = (2000 - ones) / ones

    def loss(model, batch):
        seen, grows = batch
        return nn.binary_cross_entropy_with_logits(model(seen)[:, 0], grows, pos_weight=ratio)

    model = make(4)
    history = nn.fit(
        model, nn.Batches([x[:2000], mould[:2000]], 200, seed=0), loss, nn.Adam(model.parameters(), lr=0.005), epochs=10,
        validate=lambda model: {"balanced": balanced(model, x[2000:], mould[2000:])}, progress=False,
    )
    print(f"mould on {mould.mean():.3f} of the shelves; a found one counts {ratio:.0f} times")
    print(f"loss {history.losses[0]:.2f} ... {np.mean(history.losses[-10:]):.2f}")
    print(f"balanced accuracy on other shelves {history.metric('balanced')[-1]:.3f}")


if __name__ == "__main__":
    main()
