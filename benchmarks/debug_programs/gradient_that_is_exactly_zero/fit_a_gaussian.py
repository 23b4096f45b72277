import numpy as np

from minigrad import Tensor

# Maximum likelihood: where do the arrows land, and how widely do they scatter?
rng = np.random.default_rng(14)
arrows = rng.normal(3.0, 0.4, size=500)

mu = Tensor(0.0, requires_grad=True, name="mu")
log_sigma = Tensor(2.0, requires_grad=True, name="log_sigma")

for step in range(600):
    s = np.clip(log_sigma, -3.0, 1.0)
    nll = (s + 0.5 * ((arrows - mu) / np.exp(s)) ** 2).mean()
    nll.backward()
    mu.data -= 0.05 * mu.grad
    log_sigma.data -= 0.05 * log_sigma.grad
    mu.zero_grad()
    log_sigma.zero_grad()
    if step % 60 == 0:
        print(f"step {step:3d}: nll {nll.item():.4f}, mu {mu.item():.3f}, sigma {np.exp(s.item()):.3f}")
print(f"the sample says: mu {arrows.mean():.3f}, sigma {arrows.std():.3f}")
