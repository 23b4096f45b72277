# Left-handed or right-handed snail shells from two measurements: gradient descent on plain arrays.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(6)


def shells(count):
    hand = rng.integers(2, size=count)
    turn = rng.uniform(0.3, 2.4, size=count)
    angle = 2.2 * turn + np.pi * hand
    xy = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) + rng.normal(scale=0.08, size=(count, 2))
    return xy, hand


def layer(a, b):
    return {"w": rng.normal(scale=np.sqrt(2 / a), size=(a, b)), "b": np.zeros(b)}


def scores(net, x):
    for part in net[:-1]:
        x = np.maximum(x @ part["w"] + part["b"], 0)
    return x @ net[-1]["w"] + net[-1]["b"]


def loss(net, x, hand):
    s = scores(net, x)
    right = np.take_along_axis(s, hand[:, None], axis=1)[:, 0]
    return np.mean(mg.logsumexp(s, axis=1) - right)


net = [layer(2, 32), layer(32, 32), layer(32, 2)]
speed = mg.tree_map(np.zeros_like, net)
gradient = mg.value_and_grad(loss)
x, hand = shells(600)
for epoch in range(80):
    order = rng.permutation(len(x))
    for rows in np.split(order, 20):
        value, g = gradient(net, x[rows], hand[rows])
        speed = mg.tree_map(lambda s, d: 0.9 * s - 0.03 * d, speed, g)
        net = mg.tree_map(lambda p, s: p + s, net, speed)
    if epoch % 20 == 19:
        print(f"epoch {epoch + 1}: {loss(net, x, hand):.4f}")

new_x, new_hand = shells(1000)
print(f"accuracy on new shells: {np.mean(scores(net, new_x).argmax(axis=1) == new_hand):.3f}")
