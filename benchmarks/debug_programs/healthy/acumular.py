"""Precio de un piso; el lote entero no cabe en la memoria, así que va por partes."""
import numpy as np
import nn

azar = np.random.default_rng(9)
n = 1600
metros = azar.lognormal(4.3, 0.35, n)
planta = azar.integers(0, 9, n)
centro = azar.exponential(4.0, n)
ascensor = azar.random(n) < 0.6
precio = 30 + 2.8 * metros + 4 * planta * ascensor - 6 * centro + azar.normal(0, 15, n)

x = np.column_stack([metros, planta, centro, ascensor])
x = ((x - x[:1280].mean(0)) / x[:1280].std(0)).astype(np.float32)
media, desvio = precio[:1280].mean(), precio[:1280].std()
y = ((precio - media) / desvio).astype(np.float32)[:, None]

red = nn.Sequential(nn.Affine(4, 24, rng=azar), np.tanh, nn.Affine(24, 1, rng=azar))
paso = nn.SGD(red.parameters(), lr=0.1, momentum=0.8)
PARTES = 8

for epoca in range(25):
    for lote in azar.permutation(1280).reshape(-1, 20 * PARTES):
        paso.zero_grad()
        total = 0.0
        for parte in lote.reshape(PARTES, 20):
            perdida = nn.mean_squared_error(red(x[parte]), y[parte]) / PARTES
            perdida.backward()
            total += perdida.item()
        paso.step()
    if epoca % 6 == 0:
        print(f"época {epoca:2d}  pérdida {total:.4f}")

error = (red(x[1280:]).numpy() - y[1280:])[:, 0] * desvio
print(f"error en pisos nuevos {np.sqrt(np.mean(error**2)):.1f} mil euros (desviación típica {precio[1280:].std():.1f})")
