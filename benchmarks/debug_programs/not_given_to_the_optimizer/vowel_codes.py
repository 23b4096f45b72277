"""Two networks in a row: an ear that compresses a vowel's spectrum, and a mouth that names the vowel."""
import numpy as np
import nn

VOWELS = "aeiou"
rng = np.random.default_rng(131)
formants = np.array([[7.0, 12.0], [4.0, 20.0], [2.5, 23.0], [4.5, 8.0], [3.0, 6.0]])
which = rng.integers(0, 5, 500)
place = formants[which] + rng.normal(0, 0.35, (500, 2)) * [1, 2]
grid = np.arange(26)
spectra = sum(np.exp(-((grid - place[:, i:i + 1]) / 1.5) ** 2) for i in range(2))
spectra = (spectra + 0.1 * rng.normal(size=spectra.shape)).astype(np.float32)


class Ear(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(26, 16, rng=rng)
        self.b = nn.Affine(16, 1, rng=rng)

    def forward(self, s):
        return self.b(np.tanh(self.a(s)))


class Mouth(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(1, 16, rng=rng)
        self.b = nn.Affine(16, 5, rng=rng)

    def forward(self, code):
        return self.b(np.tanh(self.a(code)))


ear, mouth = Ear(np.random.default_rng(1)), Mouth(np.random.default_rng(2))
optimizer = nn.Adam(mouth.parameters(), lr=0.01)
for epoch in range(120):
    for rows in np.split(rng.permutation(400), 8):
        ear.zero_grad()
        mouth.zero_grad()
        loss = nn.cross_entropy(mouth(ear(spectra[rows])), which[rows])
        loss.backward()
        optimizer.step()
    if epoch % 20 == 19:
        print("epoch", epoch + 1, "loss", round(loss.item(), 3))

heard = mouth(ear(spectra[400:])).numpy().argmax(axis=1)
print("unseen vowels named correctly:", np.mean(heard == which[400:]))
