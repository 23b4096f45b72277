"""Kompassfehler eines Schiffes: ein Restnetz, dessen letzte Schicht bei null beginnt."""
import numpy as np
import minigrad as mg

wuerfel = np.random.default_rng(119)
kurs = wuerfel.uniform(0, 2 * np.pi, 200)
neigung = wuerfel.normal(0, 0.3, 200)
fehler = 0.4 * np.sin(kurs) + 0.25 * np.cos(2 * kurs) + 0.8 * neigung * np.cos(kurs) + 0.02 * wuerfel.normal(size=200)
merkmale = np.stack([np.sin(kurs), np.cos(kurs), neigung], axis=1)


def schicht(ein, aus, faktor=1.0):
    return faktor * wuerfel.normal(size=(ein, aus)) / np.sqrt(ein), np.zeros(aus)


netz = {
    "gerade": (np.zeros((3, 1)), np.zeros(1)),
    "rein": schicht(3, 32),
    "raus": schicht(32, 1, faktor=0.0),
}


def vorhersage(netz, x):
    W, b = netz["gerade"]
    U, c = netz["rein"]
    V, d = netz["raus"]
    return (x @ W + b + mg.gelu(x @ U + c) @ V + d)[:, 0]


def verlust(netz):
    return np.mean((vorhersage(netz, merkmale) - fehler) ** 2)


def abstieg(netz, schritte, rate, traegheit=0.9):
    tempo = mg.tree_map(np.zeros_like, netz)
    for schritt in range(schritte):
        wert, steigung = mg.value_and_grad(verlust)(netz)
        tempo = mg.tree_map(lambda v, g: traegheit * v - rate * g, tempo, steigung)
        netz = mg.tree_map(lambda p, v: p + v, netz, tempo)
        if schritt % 100 == 0:
            print(schritt, round(float(wert), 5))
    return netz


netz = abstieg(netz, 600, 0.1)
print("am Ende", round(float(verlust(netz)), 5), "Streuung", fehler.var().round(4))
