"""Riconoscere la parola detta da quattordici misure della voce: rete a quattro strati."""
import numpy as np
import nn

caso = np.random.default_rng(33)
PAROLE = ["sì", "no", "destra", "sinistra", "avanti", "ferma"]
centri = caso.normal(size=(2, len(PAROLE), 14))


def voci(n):
    parola = caso.integers(0, len(PAROLE), n)
    parlante = caso.integers(0, 2, n)
    misure = centri[parlante, parola] + caso.normal(0, 0.6, (n, 14))
    return (misure * np.where(caso.random((n, 1)) < 0.5, 1.0, -1.0)).astype(np.float32), parola


class Rete(nn.Module):
    def __init__(self):
        larghezze = [14, 40, 24, 10]
        self.strati = [nn.Affine(m, n, rng=caso) for m, n in zip(larghezze, larghezze[1:])]
        self.uscita = nn.Affine(10, len(PAROLE), rng=caso)

    def forward(self, x):
        for strato in self.strati:
            x = np.maximum(strato(x), 0.0)
        return self.uscita(x)


x, y = voci(1500)
x_prova, y_prova = voci(500)
rete = Rete()

# Un gruppo per ogni strato, dall'uscita all'ingresso.
gruppi = [{"params": list(rete.uscita.parameters())}]
for distanza, strato in enumerate(reversed(rete.strati), start=1):
    gruppi.append({"params": list(strato.parameters()), "lr_scale": 0.08**distanza})
ottimizzatore = nn.Adam(gruppi, lr=4e-3)

for epoca in range(20):
    for righe in np.array_split(caso.permutation(1500), 30):
        ottimizzatore.zero_grad()
        perdita = nn.cross_entropy(rete(x[righe]), y[righe])
        perdita.backward()
        ottimizzatore.step()
    if epoca % 5 == 0:
        print(f"epoca {epoca:2d}  perdita {perdita.item():.3f}")

giuste = np.mean(rete(x_prova).numpy().argmax(axis=1) == y_prova)
print(f"perdita {perdita.item():.3f}, parole giuste {giuste:.3f}")
