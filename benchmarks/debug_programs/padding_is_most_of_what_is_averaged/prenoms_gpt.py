import numpy as np
import nn
from models import GPT, GPTConfig

hasard = np.random.default_rng(12)
DEBUTS, MILIEUX, FINS = ["ma", "lu", "é", "jo", "so", "a", "vi"], ["ri", "li", "lo", "ma", "na"], ["e", "ne", "c", "ette", "el"]


def prenom():
    return DEBUTS[hasard.integers(7)] + "".join(MILIEUX[hasard.integers(5)] for _ in range(hasard.integers(0, 2))) + FINS[hasard.integers(5)]


lettres = ["·", *sorted(set("".join(DEBUTS + MILIEUX + FINS)))]
code = {c: i for i, c in enumerate(lettres)}
LONGUEUR = 64


def tableau(noms):
    t = np.zeros((len(noms), LONGUEUR), dtype=np.int64)
    for ligne, nom in zip(t, noms):
        ligne[1 : len(nom) + 1] = [code[c] for c in nom]
    return t


appris, gardes = tableau([prenom() for _ in range(160)]), tableau([prenom() for _ in range(60)])
gpt = GPT(GPTConfig(vocab_size=len(lettres), window=LONGUEUR, d_model=24, num_heads=2, num_layers=1, std=0.1), rng=hasard)
sgd = nn.SGD(gpt.parameters(), lr=0.1, momentum=0.9)
pas = 0
for epoque in range(6):
    for lot in hasard.permutation(160).reshape(-1, 16):
        sgd.zero_grad()
        logits = gpt(appris[lot, :-1])
        perte = nn.cross_entropy(logits, appris[lot, 1:])
        perte.backward()
        nn.clip_grad_norm(gpt.parameters(), 1.0)
        sgd.step()
        pas += 1
    print(f"époque {epoque}: perte {perte.item():.3f}")

suite, lu = gardes[:, 1:], gardes[:, :-1]
p = nn.cross_entropy(gpt(lu), suite, reduction="none").numpy()
lettre = suite > 0
print(f"nats par lettre gardée: {p[lettre].mean():.3f}, par position: {p.mean():.3f}")
