"""The distance of an echo in a canyon: a deep network of steps h + f(h) whose last matrices begin at nothing."""
import numpy as np
from minigrad import stop_gradient, tree_map, value_and_grad

rng = np.random.default_rng(99)
WIDTH, DEPTH = 24, 10


def block():
    return {"up": rng.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)), "down": np.zeros((WIDTH, WIDTH)), "b": np.zeros(WIDTH)}


network = {
    "in": rng.normal(0, 5**-0.5, (5, WIDTH)),
    "blocks": [block() for _ in range(DEPTH)],
    "out": np.zeros((WIDTH, 1)),
}


def distance(network, echo):
    h = echo @ network["in"]
    for part in network["blocks"]:
        h = h + np.tanh(h @ part["up"] + part["b"]) @ part["down"]
    return (h @ network["out"])[:, 0]


def loss(network, echo, truth):
    off = distance(network, echo) - truth
    spread = stop_gradient(np.abs(off)) + 0.5       # far-off echoes count less; their weight is not differentiated
    return np.mean(off**2 / spread)


echo = rng.normal(size=(1500, 5))
truth = np.sin(2 * echo[:, 0]) + echo[:, 1] * echo[:, 2] + 0.5 * echo[:, 3]
gradient = value_and_grad(loss)
speed = tree_map(np.zeros_like, network)
for step in range(900):
    pick = rng.integers(1300, size=50)
    value, slope = gradient(network, echo[pick], truth[pick])
    speed = tree_map(lambda v, g: 0.9 * v + g, speed, slope)
    network = tree_map(lambda w, v: w - 0.01 * v, network, speed)
    if step % 180 == 0:
        print(f"{step:4d} {value:.4f}")
rest = np.mean((distance(network, echo[1300:]) - truth[1300:]) ** 2)
print(f"new echoes {rest:.4f}, variance {truth.var():.3f}")
