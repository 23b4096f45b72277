"""Smart meters: daily load curves without the noise of the radio. The network sees a disturbed curve and must give the clean one."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(95)
HOURS = np.arange(24)


def curves(n):
    """The load of n households in each hour: a base, a peak in the morning and one in the evening."""
    base = rng.uniform(0.2, 0.5, (n, 1))
    peaks = []
    for middle, spread in ((7, 1.0), (19, 1.5)):
        at = middle + spread * rng.normal(size=(n, 1))
        peaks.append(rng.uniform(0.3, 1.5, (n, 1)) * np.exp(-((HOURS - at) ** 2) / rng.uniform(2, 6, (n, 1))))
    return base + sum(peaks)


def disturbed(clean, rng):
    """Noise on every hour, and one hour in ten not received."""
    seen = clean + 0.35 * rng.normal(size=clean.shape)
    return np.where(rng.random(clean.shape) < 0.1, 0.0, seen)


clean, clean_test = curves(1500), curves(300)
mean, std = clean.mean(axis=0), clean.std()
clean, clean_test = ((c - mean) / std for c in (clean, clean_test))
seen_test = disturbed(clean_test, np.random.default_rng(0))

init = np.random.default_rng(6)
model = nn.Sequential(
    nn.Affine(24, 48, rng=init), mg.relu, nn.Affine(48, 12, rng=init), mg.relu,
    nn.Affine(12, 48, rng=init), mg.relu, nn.Affine(48, 24, rng=init),
)
optimizer = nn.Adam(model.parameters(), lr=0.003)
noise = np.random.default_rng(7)
for epoch in range(14):
    values = []
    for rows in rng.permutation(len(clean)).reshape(-1, 50):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(disturbed(clean[rows], noise).astype(np.float32)), clean[rows].astype(np.float32))
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    if epoch % 3 == 1:
        model.eval()
        with mg.no_grad():
            left = np.mean((model(seen_test.astype(np.float32)).numpy() - clean_test) ** 2)
        model.train()
        print(epoch, f"loss {np.mean(values):.4f}", f"left of the noise {left:.4f} of {np.mean((seen_test - clean_test) ** 2):.4f}")
