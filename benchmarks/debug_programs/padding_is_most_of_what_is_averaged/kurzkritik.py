"""Kurze Kritiken: gefällt es, oder gefällt es nicht?"""
import numpy as np
from minigrad import Tensor
import nn

rng = np.random.default_rng(19)
GUT = ["wunderbar", "spannend", "klug", "rührend", "großartig"]
SCHLECHT = ["langweilig", "platt", "zäh", "albern", "öde"]
NEUTRAL = ["der", "film", "ist", "und", "die", "musik", "sehr", "ein", "schauspieler", "war", "das", "ende"]
WORT = {w: i + 1 for i, w in enumerate(GUT + SCHLECHT + NEUTRAL)}
PLATZ = 120


def kritiken(n):
    ids, urteil = np.zeros((n, PLATZ), dtype=int), rng.integers(0, 2, n)
    for zeile, u in zip(ids, urteil):
        stimmung = GUT if u else SCHLECHT
        worte = list(rng.choice(NEUTRAL, rng.integers(2, 6))) + list(rng.choice(stimmung, rng.integers(1, 3)))
        rng.shuffle(worte)
        zeile[: len(worte)] = [WORT[w] for w in worte]
    return ids, urteil.astype(float)


def vorhersage(ids):
    vektoren = tabelle[ids]
    mittel = vektoren.mean(axis=1)
    return mittel @ w + b


x, y = kritiken(400)
tabelle = Tensor(rng.normal(0, 0.3, (len(WORT) + 1, 10)), requires_grad=True)
w = Tensor(rng.normal(0, 0.3, 10), requires_grad=True)
b = Tensor(0.0, requires_grad=True)
for schritt in range(200):
    zeilen = rng.integers(0, 400, 40)
    verlust = nn.binary_cross_entropy_with_logits(vorhersage(x[zeilen]), y[zeilen])
    verlust.backward()
    for p in (tabelle, w, b):
        p.data -= 1.0 * p.grad
        p.zero_grad()
    if schritt % 40 == 0:
        print(schritt, f"{verlust.item():.4f}")

xn, yn = kritiken(200)
z = vorhersage(xn).numpy()
print(f"neue Kritiken: richtig {np.mean((z > 0) == (yn == 1)):.3f}, Verlust {np.mean(np.logaddexp(0, z) - yn * z):.3f}")
