import numpy as np
import minigrad as mg

rng = np.random.default_rng(31)
n = 500

# The registry codes a biopsy as 1 (benign) or 2 (malignant).
code = rng.integers(1, 3, n)
size = rng.normal(4 + 1.2 * code, 1.2)
texture = rng.normal(18 + 2.0 * code, 3.0)
edge = rng.normal(0.1 + 0.02 * code, 0.03)
cells = np.column_stack([size, texture, edge])
cells = (cells - cells[:350].mean(axis=0)) / cells[:350].std(axis=0)


def network(p, x):
    hidden = np.tanh(x @ p[0] + p[1])
    return hidden @ p[2] + p[3]


def cross_entropy(p, x, t):
    z = network(p, x)
    return np.mean(np.logaddexp(0, z) - t * z)


p = [rng.normal(0, 0.6, (3, 10)), np.zeros(10), rng.normal(0, 0.3, 10), np.array(0.0)]
both = mg.value_and_grad(cross_entropy)
trace = []
for sweep in range(300):
    value, grad = both(p, cells[:350], code[:350].astype(float))
    p = [a - 0.2 * b for a, b in zip(p, grad)]
    trace.append(float(value))
print("objective:", *[round(trace[i], 3) for i in (0, 50, 100, 200, 299)])

malignant = code[350:] == 2
said = network(p, cells[350:]) > 0
print("benign left alone:", round(float(np.mean(~said[~malignant])), 3), " malignant found:", round(float(np.mean(said[malignant])), 3))
print("accuracy on 150 further biopsies:", round(float(np.mean(said == malignant)), 3))
