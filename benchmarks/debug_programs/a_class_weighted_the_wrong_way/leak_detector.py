# Acoustic search for leaks in water pipes. One spectrum in twenty has a leak.
import numpy as np
import nn

rng = np.random.default_rng(55)
bands = np.arange(16)


def spectra(n):
    leak = rng.random(n) < 0.05
    base = np.exp(-bands / 6) * rng.gamma(4.0, 0.25, (n, 1))
    hiss = np.exp(-((bands - 10) ** 2) / 8) * rng.uniform(0.1, 0.9, (n, 1))
    return (base + leak[:, None] * hiss + rng.normal(0, 0.12, (n, 16))).astype(np.float32), leak.astype(np.float32)


signal, leak = spectra(2400)
centre = signal.mean(axis=0)

net = nn.Sequential(nn.Affine(16, 8, rng=rng), np.tanh, nn.Affine(8, 1, rng=rng))
adam = nn.Adam(net.parameters(), lr=0.01)
ratio = leak.sum() / (len(leak) - leak.sum())
for step in range(400):
    pick = rng.integers(0, len(signal), 80)
    adam.zero_grad()
    logit = net(signal[pick] - centre)[:, 0]
    loss = nn.binary_cross_entropy_with_logits(logit, leak[pick], pos_weight=ratio)
    loss.backward()
    adam.step()
    if step % 100 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")

fresh, true = spectra(3000)
heard = net(fresh - centre).numpy()[:, 0] > 0
found, quiet = heard[true == 1].mean(), 1 - heard[true == 0].mean()
print(f"leaks found {found:.3f}, quiet pipes left alone {quiet:.3f}, mean {0.5 * (found + quiet):.3f}")
