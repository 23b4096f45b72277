"""Which stall of the market did a basket come from? The clerk copied the baskets stall by stall."""

import numpy as np

import nn

STALLS, GOODS, BASKETS = 5, 14, 160


def copy_ledger(taste, per_stall, rng):
    baskets = [rng.poisson(taste[stall], size=(per_stall, GOODS)) for stall in range(STALLS)]
    return np.log1p(np.concatenate(baskets)).astype(np.float32), np.repeat(np.arange(STALLS), per_stall)


class StallNet(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(GOODS, 32, rng=rng)
        self.norm = nn.LayerNorm(32)
        self.stall = nn.Affine(32, STALLS, rng=rng)

    def forward(self, x):
        return self.stall(np.tanh(self.norm(self.hidden(x))))


def loss(model, batch):
    goods, stall = batch
    return nn.cross_entropy(model(goods), stall)


def main():
    rng = np.random.default_rng(151)
    taste = rng.gamma(1.2, 0.8, size=(STALLS, GOODS))
    baskets, stalls = copy_ledger(taste, BASKETS, rng)
    new_baskets, new_stalls = copy_ledger(taste, 60, rng)
    model = StallNet(rng)
    batches = nn.Batches([baskets, stalls], 20, seed=6, shuffle=False)
    history = nn.fit(
        model,
        batches,
        loss,
        nn.SGD(model.parameters(), lr=0.03, momentum=0.9),
        epochs=12,
        validate=lambda m: {"right": np.mean(m(new_baskets).numpy().argmax(axis=1) == new_stalls)},
        progress=False,
    )
    print("loss at the end of each epoch:", np.round(history.losses[len(batches) - 1 :: len(batches)], 3))
    print(f"new baskets told rightly: {history.metric('right')[-1]:.2f}")
    guessed = np.bincount(model(new_baskets).numpy().argmax(axis=1), minlength=STALLS)
    print(f"answers: {guessed}, true: {np.bincount(new_stalls)}")


if __name__ == "__main__":
    main()
