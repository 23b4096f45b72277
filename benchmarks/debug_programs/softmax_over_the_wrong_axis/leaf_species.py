import numpy as np
import minigrad as mg

# leaves: length, width, perimeter, hairiness -> one of four species
rng = np.random.default_rng(77)
species = np.repeat(np.tile(np.arange(4), 10), 8)         # tree by tree, eight leaves from each
middle = rng.normal(size=(4, 4)) * 2
leaves = middle[species] + rng.normal(size=(320, 4))
one_hot = np.eye(4)[species]


def softmax(z):
    e = np.exp(z - z.max(axis=0))
    return e / e.sum(axis=0)


def network(params, x):
    h = np.maximum(x @ params["W1"] + params["b1"], 0)
    return softmax(h @ params["W2"] + params["b2"])


def cross_entropy(params, x, t):
    return -np.mean(np.sum(t * np.log(network(params, x) + 1e-12), axis=1))


params = {
    "W1": rng.normal(size=(4, 20)) * 0.5, "b1": np.zeros(20),
    "W2": rng.normal(size=(20, 4)) * 0.2, "b2": np.zeros(4),
}
train = mg.value_and_grad(cross_entropy)
for epoch in range(60):
    for start in range(0, 256, 8):
        batch = slice(start, start + 8)
        value, grad = train(params, leaves[batch], one_hot[batch])
        params = {k: params[k] - 0.02 * grad[k] for k in params}
    if epoch % 10 == 9:
        guess = np.argmax(network(params, leaves[256:]), axis=1)
        print(f"epoch {epoch + 1}: loss {float(value):.3f}, held-out accuracy {np.mean(guess == species[256:]):.3f}")
