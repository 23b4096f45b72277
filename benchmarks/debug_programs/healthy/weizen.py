"""Ertrag von Weizenfeldern aus Boden und Wetter."""
import numpy as np
import nn

zufall = np.random.default_rng(12)
n = 700
boden = zufall.dirichlet([2.0, 3.0, 2.0], n)
regen = zufall.gamma(9.0, 60.0, n)
waerme = zufall.normal(17, 2, n)
ertrag = 6 + 2.5 * boden[:, 1] - 1.5 * boden[:, 0] - ((regen - 550) / 260) ** 2 + 0.25 * (waerme - 17) + zufall.normal(0, 0.25, n)

x = np.column_stack([boden, regen, waerme])
mitte, breite = x[:500].mean(axis=0), x[:500].std(axis=0)
x = ((x - mitte) / breite).astype(np.float32)
y = ((ertrag - ertrag[:500].mean()) / ertrag[:500].std()).astype(np.float32)[:, None]

modell = nn.Sequential(nn.Affine(5, 40, rng=zufall), np.tanh, nn.Affine(40, 40, rng=zufall), np.tanh, nn.Affine(40, 1, rng=zufall))
gruppen = [{"params": p, "weight_decay": 0.1 if p.ndim > 1 else 0.0} for p in modell.parameters()]
optimierer = nn.AdamW(gruppen, lr=4e-3)
verlauf = nn.fit(
    modell, nn.Batches([x[:500], y[:500]], 50, seed=9), lambda m, stapel: nn.mean_squared_error(m(stapel[0]), stapel[1]),
    optimierer, epochs=60, progress=False,
)
for epoche in (0, 15, 30, 45, 59):
    print(f"Epoche {epoche:2d}: Verlust {np.mean(verlauf.losses[10 * epoche : 10 * epoche + 10]):.4f}")
rest = modell(x[500:]).numpy() - y[500:]
print("Norm der Gewichte", [round(float(np.linalg.norm(p.numpy())), 3) for p in modell.parameters() if p.ndim > 1])
print(f"Bestimmtheitsmaß auf 200 weiteren Feldern: {1 - np.mean(rest**2) / np.var(y[500:]):.3f}")
