# %%
import numpy as np

from minigrad import Tensor

# %% a decision of a line through two clouds
rng = np.random.default_rng(66)
cloud = np.concatenate([rng.normal([1, 1], 0.6, (150, 2)), rng.normal([-1, -0.5], 0.6, (150, 2))])
which = np.repeat([1.0, 0.0], 150)

# %% logistic regression: the loss is convex and flat far away, so long steps are welcome
w = Tensor(np.zeros(2), requires_grad=True, name="w")
b = Tensor(0.0, requires_grad=True, name="b")
LONG_STEP = 6.0

for step in range(120):
    z = cloud @ w + b
    loss = (np.logaddexp(0, z) - which * z).mean()
    loss.backward()
    w.data -= LONG_STEP * w.grad
    b.data -= LONG_STEP * b.grad
    w.zero_grad()
    b.zero_grad()
    if step % 20 == 0:
        print(step, f"{loss:.4f}")

# %% result
right = ((cloud @ w.numpy() + b.item()) > 0) == (which > 0.5)
print("right:", right.mean().round(3), "w:", w.numpy().round(2), "b:", round(b.item(), 2))
