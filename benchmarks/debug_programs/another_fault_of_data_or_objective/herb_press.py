"""Five kinds of pressed herbs, told apart by the outline of a leaf."""
import numpy as np
import minigrad as mg

HERBS = ["sage", "mint", "thyme", "dill", "lovage"]


def collect(rng, each):
    centre = rng.standard_normal((5, 8)) * 1.2
    leaves = [centre[k] + rng.standard_normal((each, 8)) for k in range(5)]
    return np.concatenate(leaves), np.repeat(np.arange(5), each)


def scores(p, x):
    for w, b in p[:-1]:
        x = np.maximum(x @ w + b, 0)
    return x @ p[-1][0] + p[-1][1]


def loss(p, x, y):
    z = scores(p, x)
    return np.mean(np.log(np.sum(np.exp(z - z.max(axis=1, keepdims=True)), axis=1)) + z.max(axis=1) - z[np.arange(len(y)), y])


def main():
    rng = np.random.default_rng(40)
    x, y = collect(rng, 120)
    sizes = [8, 24, 5]
    p = [(rng.standard_normal((m, n)) * m**-0.5, np.zeros(n)) for m, n in zip(sizes, sizes[1:])]
    step = mg.value_and_grad(loss)
    for epoch in range(8):
        order = np.arange(len(x))
        losses = []
        for at in range(0, len(x), 12):
            rows = order[at : at + 12]
            value, g = step(p, x[rows], y[rows])
            p = mg.tree_map(lambda a, d: a - 0.3 * d, p, g)
            losses.append(value)
        print(f"epoch {epoch}: {np.mean(losses):.3f}")
    guess = scores(p, x).argmax(axis=1)
    for k, herb in enumerate(HERBS):
        print(f"{herb:7s} {np.mean(guess[y == k] == k):.2f}")
    print(f"all     {np.mean(guess == y):.2f}")


main()
