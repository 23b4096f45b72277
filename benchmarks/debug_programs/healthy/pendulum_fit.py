# Find length, damping and start angle of a pendulum from a film, by differentiating through the simulation.
import numpy as np
import minigrad as mg

DT, FRAMES = 0.05, 60


def simulate(p):
    angle, speed = p["angle"], 0.0
    track = []
    for _ in range(FRAMES):
        speed = speed + DT * (-9.81 / np.exp(p["log_length"]) * np.sin(angle) - np.exp(p["log_damping"]) * speed)
        angle = angle + DT * speed
        track.append(angle)
    return np.stack(track)


truth = {"angle": 0.8, "log_length": np.log(1.4), "log_damping": np.log(0.3)}
film = np.asarray(simulate(truth)) + np.random.default_rng(208).normal(0, 0.01, FRAMES)


def mismatch(p):
    return np.mean((simulate(p) - film) ** 2)


p = {"angle": 0.5, "log_length": np.log(1.2), "log_damping": np.log(0.5)}
slopes = mg.value_and_grad(mismatch)
for step in range(400):
    value, g = slopes(p)
    p = mg.tree_map(lambda a, b: a - 0.3 * b, p, g)
    if step % 50 == 0:
        print(f"step {step:3d}  mismatch {float(value):.6f}")

print("length", np.exp(p["log_length"]).round(3), "damping", np.exp(p["log_damping"]).round(3), "angle", np.round(p["angle"], 3))
print("final mismatch", float(mismatch(p)))
