# %% depth of snow through a winter: a smooth curve through noisy stakes
import numpy as np
import minigrad as mg

rng = np.random.default_rng(9)
day = rng.uniform(-1, 1, size=(240, 1))
snow = np.where(day < 0, 1 + day, 1 - day**2) + 0.3 * np.sin(7 * day) + rng.normal(0, 0.05, day.shape)

# %% one hidden layer
width = 30
W = mg.Tensor(rng.normal(0, 3, (1, width)), requires_grad=True, name="W")
b = mg.Tensor(rng.uniform(-2, 2, width), requires_grad=True, name="b")
V = mg.Tensor(rng.normal(0, width**-0.5, (width, 1)), requires_grad=True, name="V")
c = mg.Tensor(np.zeros(1), requires_grad=True, name="c")


def curve(t):
    return np.tanh(t @ W + b) @ V + c


# %% gradient descent
rate = 0.05
history = []
for step in range(900):
    pick = rng.integers(200, size=40)
    loss = ((curve(day[pick]) - snow[pick]) ** 2).mean()
    loss.backward()
    for weight in (W, b, V, c):
        weight.data -= rate * weight.grad
    history.append(loss.item())

# %% how well does it fit?
print("first", round(history[0], 3), "last fifty", round(np.mean(history[-50:]), 4))
left_out = ((curve(day[200:]) - snow[200:]) ** 2).mean()
print(f"stakes left out: {left_out.item():.4f}, variance {snow[200:].var():.4f}")
