"""A hospital ward: one network with two answers, how many days a patient stays and whether the patient returns within a month.
How much each answer counts is learned, too."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(52)
n = 1500
age, lab, beds, prior = rng.normal(size=(4, n))
urgent = (rng.random(n) < 0.4) - 0.4
stay = 0.7 * age + 0.6 * np.tanh(lab) + 0.8 * urgent + 0.2 * prior * lab + 0.25 * rng.normal(size=n)
back = (1.4 * prior - 0.8 * lab + age * urgent + 0.6 * rng.normal(size=n) > 0.3).astype(float)
x = np.column_stack([age, lab, beds, prior, urgent])
stay = (stay - stay[:1100].mean()) / stay[:1100].std()
train, test = slice(0, 1100), slice(1100, n)

P = {
    "W": rng.normal(size=(5, 24)) / 5**0.5, "b": np.zeros(24),
    "stay": rng.normal(size=(24, 1)) / 24**0.5, "back": rng.normal(size=(24, 1)) / 24**0.5,
    "importance": np.zeros(2),
}


def answers(P, x):
    h = np.tanh(x @ P["W"] + P["b"])
    return (h @ P["stay"])[:, 0], (h @ P["back"])[:, 0]


def parts(P, x, stay, back):
    days, logit = answers(P, x)
    squared = np.mean((days - stay) ** 2)
    returned = np.mean(np.logaddexp(0, logit) - back * logit)
    return squared, returned


def loss(P, x, stay, back):
    squared, returned = parts(P, x, stay, back)
    factor = 1 + P["importance"]
    return factor[0] * squared + factor[1] * returned


gradient = mg.value_and_grad(loss)
lr, batch = 0.03, 100
for epoch in range(25):
    order = rng.permutation(1100)
    for start in range(0, 1100, batch):
        rows = order[start : start + batch]
        value, g = gradient(P, x[rows], stay[rows], back[rows])
        P = mg.tree_map(lambda p, d: p - lr * np.clip(d, -1, 1), P, g)
    if epoch % 4 == 0:
        print(epoch, round(float(value), 3), P["importance"].round(2))

squared, returned = parts(P, x[test], stay[test], back[test])
right = np.mean((answers(P, x[test])[1] > 0) == back[test])
print(f"days: {squared:.3f}   return: {returned:.3f}, right {right:.3f}")
