"""Moths in a light trap: three species from wing length, wing width, hour and brightness."""
import numpy as np
import minigrad as mg

SPECIES = ("emerald", "footman", "pug")
rng = np.random.default_rng(808)


def night(n):
    kind = rng.integers(0, 3, n)
    centre = np.array([[1.0, 0.2, -0.5, 0.0], [-0.6, 0.8, 0.3, 0.4], [0.0, -0.9, 0.6, -0.6]])
    return centre[kind] + 0.75 * rng.normal(size=(n, 4)), kind


def loss_of(theta, wings, kind):
    hidden = mg.relu(wings @ theta["in"] + theta["b"])
    return mg.cross_entropy(hidden @ theta["out"] + theta["c"], kind)


theta = {
    "in": rng.normal(0, 0.7, (4, 32)),
    "b": np.zeros(32),
    "out": rng.normal(0, 0.25, (32, 3)),
    "c": np.zeros(3),
}
wings, kind = night(400)
later, later_kind = night(400)
order = rng.permutation(400)
size = 16
grad = mg.value_and_grad(loss_of)
for epoch in range(20):
    seen = []
    for start in range(0, 400, size):
        rows = order[:size]
        value, g = grad(theta, wings[rows], kind[rows])
        theta = mg.tree_map(lambda t, d: t - 0.1 * d, theta, g)
        seen.append(value)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}: {np.mean(seen):.4f}")
print("next night:", f"{loss_of(theta, later, later_kind):.4f}")
hidden = np.maximum(later @ theta["in"] + theta["b"], 0)
print("right:", np.mean((hidden @ theta["out"] + theta["c"]).argmax(axis=1) == later_kind))
