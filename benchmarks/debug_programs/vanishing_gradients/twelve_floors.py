"""Twelve layers of tanh on two numbers: is the point inside one of the stripes?"""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(44)
DEPTH, WIDTH = 12, 20


def stripes(n):
    p = rng.uniform(-1, 1, (n, 2))
    return p, (np.sin(4 * (p[:, 0] + 0.5 * p[:, 1])) > 0).astype(np.float64)


def build(std):
    sizes = [2] + [WIDTH] * DEPTH + [1]
    return [{"w": std * rng.normal(size=(a, b)), "b": np.zeros(b)} for a, b in zip(sizes, sizes[1:])]


def tower(net, x):
    for floor in net[:-1]:
        x = np.tanh(x @ floor["w"] + floor["b"])
    return (x @ net[-1]["w"] + net[-1]["b"]).reshape(-1)


def cost(net, x, y):
    z = tower(net, x)
    return (np.logaddexp(0.0, z) - y * z).mean()


x, y = stripes(200)
net = build(0.08)
speed = mg.tree_map(np.zeros_like, net)
slope = mg.value_and_grad(cost)
for step in range(300):
    value, g = slope(net, x, y)
    speed = mg.tree_map(lambda v, d: 0.9 * v - 0.05 * d, speed, g)
    net = mg.tree_map(np.add, net, speed)
    if step % 50 == 0:
        print(f"{step:4d} {value:.4f}")

points, inside = stripes(500)
print("accuracy", np.mean((tower(net, points) > 0) == (inside > 0)))
