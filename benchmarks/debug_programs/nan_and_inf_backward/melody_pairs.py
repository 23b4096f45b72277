import numpy as np
from minigrad import Tensor

# Place melodies in the plane so that distances match the judged dissimilarity.
rng = np.random.default_rng(12)
COUNT = 200
truth = rng.normal(size=(COUNT, 2))
place = Tensor(rng.normal(size=(COUNT, 2)) * 0.1, requires_grad=True)


def judged(i, j):
    return np.sqrt(((truth[i] - truth[j]) ** 2).sum(axis=1))


def distance(a, b):
    return np.sqrt(((a - b) ** 2).sum(axis=1))


for step in range(3000):
    i = rng.integers(0, COUNT, 8)
    j = rng.integers(0, COUNT, 8)
    guess = distance(place[i], place[j])
    stress = ((guess - judged(i, j)) ** 2).mean()
    stress.backward()
    place.data -= 0.3 * place.grad
    place.zero_grad()
    if step % 500 == 0:
        print(f"step {step:3d} stress {stress.item():.4f}")

print("final", stress.item())
