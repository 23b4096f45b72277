"""Ein Autoencoder für Querschnitte von Fasern: 64 Bildpunkte, acht Zahlen, 64 Bildpunkte."""
import numpy as np
import nn

zufall = np.random.default_rng(52)
zeile, spalte = np.mgrid[0:8, 0:8] - 3.5


def querschnitte(n):
    a, b = zufall.uniform(1.2, 3.5, (2, n, 1, 1))
    winkel = zufall.uniform(0, np.pi, (n, 1, 1))
    u = np.cos(winkel) * spalte + np.sin(winkel) * zeile
    v = -np.sin(winkel) * spalte + np.cos(winkel) * zeile
    bild = 1 / (1 + np.exp(3 * ((u / a) ** 2 + (v / b) ** 2 - 1)))
    return (bild - 0.4).reshape(n, 64).astype(np.float32)


class Autoencoder(nn.Module):
    def __init__(self):
        self.packen = nn.Sequential(nn.Affine(64, 48, rng=zufall), np.tanh, nn.Affine(48, 8, rng=zufall))
        self.auspacken = nn.Sequential(nn.Affine(8, 48, rng=zufall), np.tanh, nn.Affine(48, 64, rng=zufall))

    def forward(self, x):
        return self.auspacken(self.packen(x))


modell = Autoencoder()
optimierer = nn.AdamW(modell.parameters(), lr=4e-3, weight_decay=20.0)
verlauf = nn.fit(
    modell, nn.Batches([querschnitte(800)], 40, seed=9), lambda m, stapel: nn.mean_squared_error(m(stapel[0]), stapel[0]),
    optimierer, epochs=20, progress=False,
)
for epoche in (0, 5, 10, 15, 19):
    print(f"Epoche {epoche:2d}: Verlust {np.mean(verlauf.losses[20 * epoche : 20 * epoche + 20]):.5f}")
neu = querschnitte(200)
rest = modell(neu).numpy() - neu
print("Norm der Gewichte", [round(float(np.linalg.norm(p.numpy())), 2) for p in modell.parameters() if p.ndim > 1])
print(f"erklärter Anteil an 200 neuen Querschnitten: {1 - np.sum(rest**2) / np.sum((neu - neu.mean(axis=0)) ** 2):.3f}")
