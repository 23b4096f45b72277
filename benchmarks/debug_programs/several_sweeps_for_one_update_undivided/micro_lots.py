"""Prévoir le prix d'une maison. La mémoire est petite, donc seize petits lots par pas."""
import numpy as np
import nn

alea = np.random.default_rng(28)
n = 1600
surface = alea.lognormal(4.4, 0.35, n)
pieces = np.round(surface / 22 + alea.normal(0, 0.7, n)).clip(1)
annee = alea.integers(1900, 2020, n)
distance = alea.exponential(6, n)
prix = 40 + 3.1 * surface + 9 * pieces + 0.4 * (annee - 1960) - 5.5 * distance + alea.normal(0, 18, n)

x = np.column_stack([surface, pieces, annee, distance])
x = ((x - x[:1280].mean(0)) / x[:1280].std(0)).astype(np.float32)
moyenne, ecart = prix[:1280].mean(), prix[:1280].std()
y = ((prix - moyenne) / ecart).astype(np.float32)[:, None]

reseau = nn.Sequential(nn.Affine(4, 24, rng=alea), np.tanh, nn.Affine(24, 1, rng=alea))
sgd = nn.SGD(reseau.parameters(), lr=0.3)
LOTS = 16

for epoque in range(15):
    ordre = alea.permutation(1280)
    for grand in ordre.reshape(-1, 20 * LOTS):
        sgd.zero_grad()
        somme = 0.0
        for petit in grand.reshape(LOTS, 20):
            perte = nn.huber_loss(reseau(x[petit]), y[petit])
            perte.backward()
            somme += perte.item()
        sgd.step()
    if epoque % 3 == 0:
        print(f"époque {epoque:2d}  perte {somme / LOTS:.3f}")

erreur = (reseau(x[1280:]).numpy() - y[1280:])[:, 0] * ecart
print(f"perte {somme / LOTS:.3f}, erreur sur les maisons gardées {np.sqrt(np.mean(erreur**2)):.1f} k€ (écart-type {prix[1280:].std():.1f})")
