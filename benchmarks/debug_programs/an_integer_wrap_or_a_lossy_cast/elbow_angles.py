import numpy as np
import minigrad as mg

# A planar arm with two joints: from the place of the hand to the angles (radians).
rng = np.random.default_rng(30)


def arm(n):
    shoulder = rng.uniform(-0.9, 0.9, n)
    elbow = rng.uniform(0.3, 1.9, n)
    hand = np.stack(
        [np.cos(shoulder) + np.cos(shoulder + elbow), np.sin(shoulder) + np.sin(shoulder + elbow)], axis=1
    )
    return hand, list(zip(shoulder, elbow))


hand, joints = arm(600)
angles = np.array(joints, dtype=int)

params = {
    "W1": rng.normal(0, 0.8, (2, 32)), "b1": np.zeros(32),
    "W2": rng.normal(0, 0.2, (32, 32)), "b2": np.zeros(32),
    "W3": rng.normal(0, 0.2, (32, 2)), "b3": np.zeros(2),
}


def predict(p, x):
    h = np.tanh(x @ p["W1"] + p["b1"])
    h = np.tanh(h @ p["W2"] + p["b2"])
    return h @ p["W3"] + p["b3"]


def objective(p, x, y):
    return np.mean(np.square(predict(p, x) - y))


gradient = mg.value_and_grad(objective)
velocity = mg.tree_map(np.zeros_like, params)
for it in range(600):
    rows = rng.integers(0, len(hand), 64)
    value, g = gradient(params, hand[rows], angles[rows])
    velocity = mg.tree_map(lambda v, d: 0.9 * v - 0.02 * d, velocity, g)
    params = mg.tree_map(np.add, params, velocity)
    if it % 150 == 0:
        print(it, float(value))

goal, wanted = arm(300)
error = np.sqrt(np.mean((predict(params, goal) - np.array(wanted)) ** 2))
print("objective", round(float(value), 4), " error of the angles on new goals", round(float(error), 4), "rad")
