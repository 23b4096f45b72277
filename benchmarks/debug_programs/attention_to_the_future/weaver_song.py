# %% Songs of a weaver bird: six notes, each decided by the two before it, and now and then a surprise
import numpy as np
import minigrad as mg

rng = np.random.default_rng(40)
NOTES, LENGTH, D = 6, 16, 24
rule = rng.integers(NOTES, size=(NOTES, NOTES))


def songs(count):
    song = rng.integers(NOTES, size=(count, LENGTH + 1))
    for t in range(2, LENGTH + 1):
        usual = rule[song[:, t - 2], song[:, t - 1]]
        song[:, t] = np.where(rng.random(count) < 0.9, usual, song[:, t])
    return song


# %% one layer of attention and a small network on plain arrays
def weight(a, b):
    return rng.normal(0, a**-0.5, (a, b)).astype(np.float32)


P = {"note": weight(NOTES, D), "place": weight(LENGTH, D), "q": weight(D, D), "k": weight(D, D), "v": weight(D, D),
     "up": weight(2 * D, 4 * D), "down": weight(4 * D, NOTES)}
allowed = np.triu(np.ones((LENGTH, LENGTH), bool))


def model(P, notes):
    x = P["note"][notes] + P["place"]
    scores = (x @ P["q"]) @ np.swapaxes(x @ P["k"], 1, 2) / D**0.5
    share = mg.softmax(np.where(allowed, scores, -1e9), axis=-1)
    both = np.concatenate([x, share @ (x @ P["v"])], axis=-1)
    return np.maximum(both @ P["up"], 0) @ P["down"]


def loss(P, notes, following):
    return mg.cross_entropy(model(P, notes), following)


# %% Adam by hand
gradient = mg.value_and_grad(loss)
m, s = mg.tree_map(np.zeros_like, P), mg.tree_map(np.zeros_like, P)
for t in range(1, 901):
    song = songs(32)
    value, g = gradient(P, song[:, :-1], song[:, 1:])
    for name in P:
        m[name] = 0.9 * m[name] + 0.1 * g[name]
        s[name] = 0.99 * s[name] + 0.01 * g[name] ** 2
        P[name] = P[name] - 0.005 * m[name] / (1 - 0.9**t) / (np.sqrt(s[name] / (1 - 0.99**t)) + 1e-8)
    if t % 150 == 0:
        print(t, round(float(value), 4))

# %% let it sing on, one note at a time, and count the notes that follow the rule
sung = songs(200)[:, :LENGTH].copy()
for t in range(8, LENGTH):
    heard = np.where(np.arange(LENGTH) < t, sung, 0)
    sung[:, t] = model(P, heard)[:, t - 1].argmax(axis=-1)
follows = sung[:, 8:] == rule[sung[:, 6:-2], sung[:, 7:-1]]
print("notes by the rule:", round(float(follows.mean()), 3))
