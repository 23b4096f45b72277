"""Recensioni di alberghi: stelle da una a tre, da poche parole."""
import numpy as np
import nn

caso = np.random.default_rng(20)
PAROLE = {
    0: ["sporco", "rumoroso", "freddo", "scortese"], 1: ["normale", "discreto", "semplice"],
    2: ["splendido", "pulito", "gentile", "comodo"],
}
COMUNI = ["camera", "bagno", "letto", "colazione", "il", "la", "era", "molto", "vista", "mare"]
vocabolario = {p: i for i, p in enumerate(["<vuoto>", *COMUNI, *[p for lista in PAROLE.values() for p in lista]])}
LUNGO = 60


def recensioni(n):
    stelle = caso.integers(0, 3, n)
    ids = np.zeros((n, LUNGO), dtype=np.int64)
    quante = np.zeros(n, dtype=np.int64)
    for i, s in enumerate(stelle):
        frase = list(caso.choice(COMUNI, caso.integers(3, 8))) + list(caso.choice(PAROLE[s], caso.integers(1, 4)))
        if caso.random() < 0.3:
            frase.append(str(caso.choice(PAROLE[caso.integers(0, 3)])))
        caso.shuffle(frase)
        ids[i, : len(frase)] = [vocabolario[p] for p in frase]
        quante[i] = len(frase)
    return ids, nn.padding_mask(quante, LUNGO), stelle


class Lettore(nn.Module):
    def __init__(self):
        self.tabella = nn.Embedding(len(vocabolario), 16, rng=caso, padding_idx=0)
        self.strato, self.voto = nn.Affine(16, 16, rng=caso), nn.Affine(16, 3, rng=caso)

    def forward(self, ids, maschera):
        medio = nn.pool(self.tabella(ids), maschera)
        return self.voto(np.tanh(self.strato(medio)))


lettore = Lettore()
lotti = nn.Batches(recensioni(700), 35, seed=1)
storia = nn.fit(
    lettore, lotti, lambda m, lotto: nn.cross_entropy(m(lotto[0], lotto[1]), lotto[2]),
    nn.Adam(lettore.parameters(), lr=5e-3), epochs=10, progress=False,
)
print("perdita", round(storia.losses[0], 3), "->", round(float(np.mean(storia.losses[-20:])), 3))
ids, maschera, stelle = recensioni(300)
print("recensioni nuove: giuste", np.mean(lettore(ids, maschera).numpy().argmax(axis=1) == stelle).round(3))
