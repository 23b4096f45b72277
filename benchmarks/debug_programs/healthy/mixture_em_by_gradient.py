"""A mixture of three normal distributions by maximum likelihood."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(225)
sample = np.concatenate([rng.normal(-3, 0.5, 200), rng.normal(0, 0.8, 150), rng.normal(4, 0.6, 250)])


def negative_log_likelihood(p):
    log_weight = mg.log_softmax(p["logits"])
    z = (sample[:, None] - p["mean"]) / np.exp(p["log_sigma"])
    return -np.mean(mg.logsumexp(log_weight - p["log_sigma"] - 0.5 * z * z, axis=1)) + 0.5 * np.log(2 * np.pi)


p = {"logits": np.zeros(3), "mean": np.array([-2.0, 0.0, 3.0]), "log_sigma": np.zeros(3)}
for step in range(300):
    value, g = mg.value_and_grad(negative_log_likelihood)(p)
    p = {k: p[k] - 0.2 * g[k] for k in p}
    if step % 30 == 0:
        print(f"step {step}: {float(value):.4f}")
print(p["mean"].round(2))
