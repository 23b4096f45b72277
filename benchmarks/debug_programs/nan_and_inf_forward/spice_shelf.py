"""Which cuisine is a shopping basket for? Each basket is a list of spices, and its vector is the mean of theirs."""
import numpy as np
import minigrad as mg

SPICES, CUISINES, WIDTH, BATCH = 40, 4, 12, 32


def make_baskets(count, rng):
    cuisine = rng.integers(CUISINES, size=count)
    taste = np.full((CUISINES, SPICES), 0.035)
    for c in range(CUISINES):
        taste[c, 10 * c:10 * c + 10] = 0.45
    baskets = (rng.random((count, SPICES)) < taste[cuisine]).astype(np.float64)
    return baskets, cuisine


def basket_vectors(table, baskets):
    how_many = baskets.sum(axis=1, keepdims=True)
    return baskets @ table / how_many


def scores(weights, baskets):
    table, mix, out = weights
    h = np.tanh(basket_vectors(table, baskets) @ mix)
    return h @ out


def main():
    rng = np.random.default_rng(11)
    baskets, cuisine = make_baskets(1600, rng)
    weights = [
        mg.Tensor(rng.normal(0, 0.5, (SPICES, WIDTH)), requires_grad=True, name="table"),
        mg.Tensor(rng.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)), requires_grad=True, name="mix"),
        mg.Tensor(rng.normal(0, WIDTH**-0.5, (WIDTH, CUISINES)), requires_grad=True, name="out"),
    ]
    for epoch in range(25):
        total = 0.0
        for start in range(0, len(baskets), BATCH):
            batch = slice(start, start + BATCH)
            loss = mg.cross_entropy(scores(weights, baskets[batch]), cuisine[batch])
            loss.backward()
            for w in weights:
                w.data -= 0.5 * w.grad
                w.zero_grad()
            total += loss.item()
        if epoch % 6 == 0:
            print(f"epoch {epoch:2d}  loss {total / (len(baskets) // BATCH):.4f}")
    guess = scores(weights, baskets).numpy().argmax(axis=1)
    print(f"right: {np.mean(guess == cuisine):.3f}")


if __name__ == "__main__":
    main()
