import numpy as np
import nn

NAMES = np.array(["Barolo", "Grignolino", "Barbera"])


def cellar(rng, n):
    """Alcohol, malic acid, colour and flavanoids of n bottles, and the code of the cultivar in the last column."""
    code = rng.integers(0, 3, n)
    centre = np.array([[13.7, 2.0, 5.5, 3.0], [12.3, 1.9, 3.1, 2.1], [13.1, 3.3, 7.4, 0.8]])
    spread = np.array([0.45, 0.8, 1.1, 0.4])
    return np.column_stack([centre[code] + spread * rng.normal(size=(n, 4)), code])


class Tasting(nn.Module):
    def __init__(self, rng):
        self.nose = nn.Affine(4, 16, rng=rng)
        self.palate = nn.Affine(16, 3, rng=rng)

    def forward(self, x):
        return self.palate(np.tanh(self.nose(x)))


def main():
    rng = np.random.default_rng(14)
    table = cellar(rng, 360)
    chemistry = table[:, :4]
    cultivar = table[:, 4:].argmax(axis=1)
    mean, std = chemistry.mean(axis=0), chemistry.std(axis=0)
    x = ((chemistry - mean) / std).astype(np.float32)

    model = Tasting(rng)
    optimizer = nn.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), cultivar)
        loss.backward()
        optimizer.step()
        if epoch % 15 == 0:
            print(f"epoch {epoch:2d}: loss {loss.item():.4f}")

    guests = cellar(rng, 150)
    said = model(((guests[:, :4] - mean) / std).astype(np.float32)).numpy().argmax(axis=1)
    poured = guests[:, 4].astype(int)
    for name in NAMES:
        of_it = NAMES[poured] == name
        print(f"{name:11s} recognised {np.mean(NAMES[said[of_it]] == name):.2f}")
    print(f"loss {loss.item():.4f}, recognised in a blind tasting {np.mean(said == poured):.3f}")


main()
