"""Liegt ein Punkt im Ring? Ein Netz mit einer verborgenen Schicht."""
import numpy as np
import minigrad as mg

zufall = np.random.default_rng(77)
punkte = zufall.uniform(-2, 2, (400, 2))
abstand = np.hypot(punkte[:, 0], punkte[:, 1])
im_ring = ((abstand > 0.7) & (abstand < 1.6)).astype(float)
einheiten = 16


def anfang():
    eingang = np.full((2, einheiten), 0.5)
    schwelle = np.zeros(einheiten)
    ausgang = np.full(einheiten, 0.1)
    return [eingang, schwelle, ausgang, np.zeros(())]


def antwort(gewichte, p):
    eingang, schwelle, ausgang, rest = gewichte
    return np.tanh(p @ eingang + schwelle) @ ausgang + rest


def verlust(gewichte, p, wahr):
    z = antwort(gewichte, p)
    return np.mean(np.logaddexp(0, z) - wahr * z)


gewichte = anfang()
geschwindigkeit = [np.zeros_like(g) for g in gewichte]
ableitung = mg.value_and_grad(verlust)
for runde in range(800):
    wert, gradienten = ableitung(gewichte, punkte, im_ring)
    geschwindigkeit = [0.9 * v + g for v, g in zip(geschwindigkeit, gradienten)]
    gewichte = [g - 0.2 * v for g, v in zip(gewichte, geschwindigkeit)]
    if runde % 160 == 0:
        print(runde, round(float(wert), 4))

treffer = (antwort(gewichte, punkte) > 0) == im_ring
print("Verlust", round(float(wert), 4), "Treffer", treffer.mean())
