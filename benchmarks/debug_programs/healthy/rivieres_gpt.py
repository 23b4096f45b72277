"""Des noms de rivières, lettre après lettre; les lignes ont des longueurs différentes."""
import numpy as np
import nn
from models import GPT, GPTConfig

alea = np.random.default_rng(4)
A, B, C = ["do", "ga", "lo", "ve", "sa", "ru"], ["r", "l", "n", "v"], ["onne", "oire", "ère", "une", "ot"]
FIN, VIDE, L = 0, -1, 24


def nom():
    return A[alea.integers(6)] + "".join(B[alea.integers(4)] + "a" for _ in range(alea.integers(0, 3))) + B[alea.integers(4)] + C[alea.integers(5)]


lettres = ["|", *sorted(set("".join(A + B + C) + "a"))]


def lot(n):
    entree, sortie = np.full((n, L), FIN), np.full((n, L), VIDE)
    for i in range(n):
        mot = [FIN] + [lettres.index(c) for c in nom()] + [FIN]
        entree[i, : len(mot) - 1] = mot[:-1]
        sortie[i, : len(mot) - 1] = mot[1:]
    return entree, sortie


class Essai:
    def __init__(self, pas):
        self.pas = pas
        self.gpt = GPT(GPTConfig(vocab_size=len(lettres), window=L, d_model=24, num_heads=2, num_layers=1), rng=alea)
        self.adam = nn.Adam(self.gpt.parameters(), lr=6e-3)

    def perte(self, entree, sortie):
        return nn.cross_entropy(self.gpt(entree), sortie, ignore_index=VIDE)

    def apprendre(self):
        for k in range(self.pas):
            perte = self.perte(*lot(24))
            self.adam.zero_grad()
            perte.backward()
            self.adam.step()
            if k % 40 == 0:
                print(f"pas {k:3d}  perte {perte.item():.3f}")


essai = Essai(160)
essai.apprendre()
print(f"nats par lettre de noms nouveaux: {essai.perte(*lot(200)).item():.3f}; au hasard: {np.log(len(lettres)):.3f}")
