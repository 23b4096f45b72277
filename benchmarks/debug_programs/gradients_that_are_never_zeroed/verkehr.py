"""Verkehrsdichte aus Uhrzeit und Wochentag, ein kleines Netz von Hand."""
import numpy as np
from minigrad import Tensor

zufall = np.random.default_rng(17)
stunde = zufall.uniform(0, 24, 300)
werktag = zufall.integers(0, 2, 300)
dichte = werktag * (np.exp(-((stunde - 8) ** 2) / 4) + np.exp(-((stunde - 17) ** 2) / 6)) + 0.3 * np.sin(stunde / 24 * np.pi)
eingabe = np.stack([np.sin(stunde * np.pi / 12), np.cos(stunde * np.pi / 12), np.sin(stunde * np.pi / 6), np.cos(stunde * np.pi / 6), werktag], axis=1)
ziel = dichte[:, None]

breite = 24
gewichte1 = Tensor(zufall.normal(size=(5, breite)) * 0.5, requires_grad=True)
schwelle1 = Tensor(np.zeros(breite), requires_grad=True)
gewichte2 = Tensor(zufall.normal(size=(breite, 1)) * 0.3, requires_grad=True)
schwelle2 = Tensor(np.zeros(1), requires_grad=True)
alle = [gewichte1, schwelle1, gewichte2, schwelle2]

rate = 0.1
for schritt in range(400):
    verborgen = np.tanh(eingabe @ gewichte1 + schwelle1)
    ausgabe = verborgen @ gewichte2 + schwelle2
    fehler = ((ausgabe - ziel) ** 2).mean()
    fehler.backward()
    for p in alle:
        p.data -= rate * p.grad
    if schritt % 50 == 0:
        print(schritt, round(fehler.item(), 5))

print("am Ende:", round(fehler.item(), 5))
