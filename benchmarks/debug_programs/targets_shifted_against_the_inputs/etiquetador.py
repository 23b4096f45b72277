"""Etiqueta cada palabra de una frase: determinante, nombre, verbo, adjetivo."""
import numpy as np
import nn

rng = np.random.default_rng(8)
CLASES = ["O", "DET", "NOM", "VER", "ADJ"]
LEXICO = {
    "DET": ["el", "la", "un", "una", "este"],
    "NOM": ["gato", "casa", "perro", "mesa", "libro", "río", "tren"],
    "VER": ["come", "mira", "busca", "tiene", "pierde"],
    "ADJ": ["rojo", "viejo", "grande", "triste", "azul"],
}
palabras = ["<s>", *[p for lista in LEXICO.values() for p in lista]]
indice = {p: i for i, p in enumerate(palabras)}
LARGO = 10


def frase():
    orden = ["DET"] + ["ADJ"] * rng.integers(0, 2) + ["NOM"] + ["ADJ"] * rng.integers(0, 2) + ["VER", "DET", "NOM"]
    orden += ["ADJ"] * rng.integers(0, 2) + (["VER"] if rng.random() < 0.4 else [])
    return [(LEXICO[c][rng.integers(len(LEXICO[c]))], c) for c in orden][: LARGO - 1]


def datos(cuantas):
    ids, etiquetas = [], []
    for _ in range(cuantas):
        f = frase()
        relleno = LARGO - 1 - len(f)
        ids.append([indice["<s>"]] + [indice[p] for p, _ in f] + [0] * relleno)
        etiquetas.append([CLASES.index(c) for _, c in f] + [0] * (relleno + 1))
    return np.array(ids), np.array(etiquetas)


class Etiquetador(nn.Module):
    def __init__(self):
        self.tabla = nn.Embedding(len(palabras), 12, rng=rng)
        self.memoria = nn.GRU(12, 24, rng=rng)
        self.salida = nn.Affine(24, len(CLASES), rng=rng)

    def forward(self, ids):
        return self.salida(self.memoria(self.tabla(ids))[0])


x, y = datos(400)
red = Etiquetador()
opt = nn.Adam(red.parameters(), lr=0.01)
for paso in range(150):
    lote = rng.integers(0, len(x), 32)
    opt.zero_grad()
    perdida = nn.cross_entropy(red(x[lote]), y[lote], ignore_index=0)
    perdida.backward()
    opt.step()
    if paso % 30 == 0:
        print(f"{paso:4d} {perdida.item():.3f}")

xv, yv = datos(200)
acierto = (red(xv).numpy().argmax(-1) == yv)[yv > 0].mean()
print(f"pérdida {perdida.item():.3f}, aciertos en frases nuevas {acierto:.3f}")
