import numpy as np
import minigrad as mg

# Three cheeses in the order of the shelves, so one kind comes after the other until they are shuffled.
rng = np.random.default_rng(99)
kinds = np.repeat([0, 1, 2], 150)
smell = np.array([[1.5, 0, 0, 1], [0, 1.5, 1, 0], [-1, -1, 0, 0.5]])[kinds] + 0.7 * rng.standard_normal((450, 4))
order = rng.permutation(450)
smell, kinds = smell[order], kinds[order]
train, test = np.split(np.arange(450), [350])
centre, spread = smell[train].mean(axis=0), smell[train].std(axis=0)
smell = (smell - centre) / spread
answer = np.eye(3)[kinds]


def chances(p, x):
    z = np.maximum(x @ p[0] + p[1], 0) @ p[2] + p[3]
    z = z - np.max(z, axis=1, keepdims=True)
    return np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)


def surprise(p, x, y):
    return -np.mean(np.sum(y * np.log(chances(p, x) + 1e-12), axis=1))


p = [rng.standard_normal((4, 10)) * 0.5, np.zeros(10), rng.standard_normal((10, 3)) * 0.3, np.zeros(3)]
slope = mg.value_and_grad(surprise)
for epoch in range(30):
    both = rng.permutation(train)
    for rows in np.array_split(both, 14):
        value, g = slope(p, smell[rows], answer[rows])
        p = [a - 0.2 * d for a, d in zip(p, g)]
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}: {value:.3f}")
guess = chances(p, smell[test]).argmax(axis=1)
print(f"loss {value:.3f}, right on the others {np.mean(guess == kinds[test]):.3f}")
