"""Ausfall von Krediten: Bestandskunden lernen, neue Anträge bewerten."""
import numpy as np
import minigrad as mg

SPALTEN = ["kunde", "alter", "einkommen", "betrag", "laufzeit", "ausfall"]
wuerfel = np.random.default_rng(11)


def kunden(anzahl, erste):
    alter = wuerfel.uniform(20, 70, anzahl)
    einkommen = wuerfel.lognormal(10.3, 0.4, anzahl)
    betrag = wuerfel.lognormal(9.2, 0.6, anzahl)
    laufzeit = wuerfel.integers(12, 84, anzahl)
    last = 1.6 * np.log(betrag / einkommen * 60 / laufzeit) + 1.9 - 0.03 * (alter - 45)
    ausfall = wuerfel.random(anzahl) < 1 / (1 + np.exp(-2.5 * last))
    return np.column_stack([np.arange(erste, erste + anzahl), alter, einkommen, betrag, laufzeit, ausfall]).astype(float)


bestand = kunden(800, 1000)
ziel = bestand[:, SPALTEN.index("ausfall")]
merkmale = np.delete(bestand, [SPALTEN.index("kunde")], axis=1)
mitte, breite = merkmale.mean(axis=0), merkmale.std(axis=0)
merkmale = (merkmale - mitte) / breite


def verlust(gewichte, x, y):
    W1, b1, W2, b2 = gewichte
    z = (np.tanh(x @ W1 + b1) @ W2 + b2)[:, 0]
    return np.mean(np.logaddexp(0, z) - y * z)


n = merkmale.shape[1]
gewichte = [wuerfel.normal(size=(n, 12)) / np.sqrt(n), np.zeros(12), wuerfel.normal(size=(12, 1)) / 4, np.zeros(1)]
schritt = mg.value_and_grad(verlust)
for runde in range(400):
    wert, ableitungen = schritt(gewichte, merkmale, ziel)
    gewichte = [w - 0.5 * a for w, a in zip(gewichte, ableitungen)]
    if runde % 100 == 0:
        print(f"Runde {runde:3d}  Verlust {wert:.4f}")

# Neue Anträge: was aus ihnen wird, steht erst Jahre später fest.
neu = kunden(400, 5000)
spaeter = neu[:, -1].copy()
neu[:, -1] = 0
x = (np.delete(neu, [SPALTEN.index("kunde")], axis=1) - mitte) / breite
W1, b1, W2, b2 = gewichte
gewarnt = (np.tanh(x @ W1 + b1) @ W2 + b2)[:, 0] > 0
treffer = [(gewarnt == spaeter)[spaeter == k].mean() for k in (0, 1)]
print(f"Verlust am Ende {wert:.4f}; neue Anträge: Trefferquote {np.mean(treffer):.3f}")
