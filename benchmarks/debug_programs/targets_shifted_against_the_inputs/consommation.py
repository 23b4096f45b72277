# Consommation électrique d'une maison, heure par heure
import numpy as np
from minigrad import Tensor

alea = np.random.default_rng(21)
lignes = ["temp;vent;occupants;kwh"]
for heure in range(720):
    temp, vent, occupants = alea.normal(8, 6), alea.gamma(2.0, 2.0), alea.integers(0, 5)
    kwh = 0.9 + 0.12 * max(0.0, 17 - temp) + 0.03 * vent + 0.35 * occupants + alea.normal(0, 0.1)
    lignes.append(f"{temp:.2f};{vent:.2f};{occupants};{kwh:.3f}")

entetes, mesures = lignes[0].split(";"), lignes[1:]
entrees = np.array([[float(v) for v in ligne.split(";")[:3]] for ligne in mesures])
cible = np.array([float(ligne.split(";")[3]) for ligne in mesures[1:]])
entrees = entrees[: len(cible)]

coupe = 550
moyenne, ecart = entrees[:coupe].mean(0), entrees[:coupe].std(0)
entrees = (entrees - moyenne) / ecart

W = Tensor(alea.normal(0, 0.5, (3, 16)), requires_grad=True)
b = Tensor(np.zeros(16), requires_grad=True)
v = Tensor(alea.normal(0, 0.2, 16), requires_grad=True)
c = Tensor(0.0, requires_grad=True)
poids = (W, b, v, c)


def modele(x):
    return np.tanh(x @ W + b) @ v + c


for tour in range(500):
    perte = ((modele(entrees[:coupe]) - cible[:coupe]) ** 2).mean()
    perte.backward()
    for p in poids:
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if tour % 100 == 0:
        print(tour, round(perte.item(), 4))

reste = modele(entrees[coupe:]).numpy() - cible[coupe:]
print("perte", round(perte.item(), 4), " R2 sur la suite", round(1 - np.mean(reste**2) / np.var(cible[coupe:]), 3))
