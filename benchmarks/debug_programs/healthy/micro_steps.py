import argparse

import numpy as np
import nn
import minigrad


def build(width, rng):
    return nn.Sequential(
        nn.Affine(5, width, rng=rng), minigrad.gelu,
        nn.Affine(width, width, rng=rng), minigrad.gelu,
        nn.Affine(width, 1, rng=rng),
    )


def concrete(rng, n):
    """Strength of concrete from cement, water, sand, ash (shares) and age."""
    x = rng.uniform(0, 1, (n, 5))
    strength = 2 * x[:, 0] - 3 * (x[:, 1] - 0.4) ** 2 + 0.5 * x[:, 2] * x[:, 3] + np.log1p(5 * x[:, 4])
    return (2 * x - 1).astype(np.float32), strength[:, None].astype(np.float32)


def main(argv=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--micro", type=int, default=8, help="examples that fit into memory")
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--steps", type=int, default=250)
    a = parser.parse_args(list(argv))
    rng = np.random.default_rng(107)
    x, y = concrete(rng, 512)
    model = build(24, rng)
    opt = nn.AdamW(model.parameters(), lr=0.004, weight_decay=0.01)
    seen = []
    for step in range(a.steps):
        rows = rng.integers(0, len(x), a.micro * a.parts)
        opt.zero_grad()
        whole = 0.0
        for part in np.split(rows, a.parts):
            loss = nn.mean_squared_error(model(x[part]), y[part]) / a.parts
            loss.backward()
            whole += loss.item()
        opt.step()
        seen.append(whole)
        if step % 50 == 0:
            print(step, round(whole, 4))
    print("mean of the last 20:", np.mean(seen[-20:]).round(4), "variance", y.var().round(3))


if __name__ == "__main__":
    main()
