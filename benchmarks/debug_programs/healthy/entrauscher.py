"""Ein Entrauscher: aus verrauschten Pulsen die sauberen."""
import numpy as np
import nn

rng = np.random.default_rng(2)
zeit = np.linspace(0, 1, 40)


def pulse(n):
    ort, breite, hoehe = rng.uniform(0.2, 0.8, (n, 1)), rng.uniform(0.05, 0.15, (n, 1)), rng.uniform(0.5, 1.5, (n, 1))
    sauber = hoehe * np.exp(-(((zeit - ort) / breite) ** 2))
    return (sauber + rng.normal(0, 0.3, sauber.shape)).astype(np.float32), sauber.astype(np.float32)


class Entrauscher(nn.Module):
    def __init__(self, rng):
        self.hinein = nn.Affine(40, 24, rng=rng)
        self.mitte = nn.Affine(24, 8, rng=rng)
        self.hinaus = nn.Sequential(nn.Affine(8, 24, rng=rng), np.tanh, nn.Affine(24, 40, rng=rng))

    def forward(self, x):
        return self.hinaus(self.mitte(np.tanh(self.hinein(x))))


def verlust(modell, stapel):
    rauschend, sauber = stapel
    return nn.mean_squared_error(modell(rauschend), sauber)


modell = Entrauscher(rng)
stapel = nn.Batches(pulse(1500), 50, seed=3)
verlauf = nn.fit(modell, stapel, verlust, nn.Adam(modell.parameters(), lr=4e-3), epochs=15, progress=False)
print("Verlust:", *[round(float(np.mean(verlauf.losses[k : k + 30])), 4) for k in range(0, 450, 90)])
rauschend, sauber = pulse(300)
print("Fehler vorher", np.mean((rauschend - sauber) ** 2).round(4), "nachher", np.mean((modell(rauschend).numpy() - sauber) ** 2).round(4))
