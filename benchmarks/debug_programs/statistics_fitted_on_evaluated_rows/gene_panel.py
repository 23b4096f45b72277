# %% A panel of genes that tells who answers to the treatment
import numpy as np
import minigrad as mg

rng = np.random.default_rng(77)
patients, genes = 90, 3000
expression = rng.normal(size=(patients, genes))
answers = rng.integers(0, 2, patients)

# %% The panel: the genes that differ most between the two groups
gap = expression[answers == 1].mean(axis=0) - expression[answers == 0].mean(axis=0)
panel = np.argsort(-np.abs(gap))[:25]
chosen = expression[:, panel]
print("largest gaps:", np.abs(gap[panel])[:5].round(2))

# %% Ten patients at a time stay out
def loss(params, x, y):
    w, b = params
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.01 * np.sum(w * w)


step = mg.value_and_grad(loss)
right, losses = [], []
for first in range(0, patients, 10):
    out = np.arange(first, first + 10)
    stay = np.setdiff1d(np.arange(patients), out)
    params = [np.zeros(len(panel)), 0.0]
    for _ in range(60):
        value, (dw, db) = step(params, chosen[stay], answers[stay])
        params = [params[0] - 0.3 * dw, params[1] - 0.3 * db]
    w, b = params
    right += list((chosen[out] @ w + b > 0) == (answers[out] == 1))
    losses.append(float(value))

# %%
print(f"loss {np.mean(losses):.3f}, accuracy on patients left out: {np.mean(right):.3f}")
later, outcome = rng.normal(size=(400, genes)), rng.integers(0, 2, 400)
print(f"accuracy in the second hospital: {np.mean((later[:, panel] @ w + b > 0) == (outcome == 1)):.3f}")
