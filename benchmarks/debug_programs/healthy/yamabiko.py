# やまびこ: 三つ前に聞いた音を、いま言う。再帰ネットワークを手で書く。
import numpy as np
import minigrad as mg

ran = np.random.default_rng(19)
OTO, OKURE, NAGASA, KAKURE = 4, 3, 14, 40


def kiku(kazu):
    """音の列と、三つ遅れた答え。"""
    oto = ran.integers(0, OTO, (kazu, NAGASA))
    kotae = np.roll(oto, OKURE, axis=1)
    return np.eye(OTO)[oto], kotae


Q, _ = np.linalg.qr(ran.normal(size=(KAKURE, KAKURE)))
omomi = {
    "x": 0.6 * ran.normal(size=(OTO, KAKURE)), "h": 0.95 * Q, "b": np.zeros(KAKURE),
    "o": 0.2 * ran.normal(size=(KAKURE, OTO)), "c": np.zeros(OTO),
}


def yosou(omomi, x):
    h, out = np.zeros((len(x), KAKURE)), []
    for t in range(NAGASA):
        h = np.tanh(x[:, t] @ omomi["x"] + h @ omomi["h"] + omomi["b"])
        out.append(h @ omomi["o"] + omomi["c"])
    return np.stack(out, axis=1)


def sonshitsu(omomi, x, kotae):
    return mg.cross_entropy(yosou(omomi, x)[:, OKURE:], kotae[:, OKURE:])


f = mg.value_and_grad(sonshitsu)
m, v = (mg.tree_map(np.zeros_like, omomi) for _ in range(2))
for kai in range(1, 241):
    x, kotae = kiku(32)
    atai, g = f(omomi, x, kotae)
    m = mg.tree_map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = mg.tree_map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    omomi = mg.tree_map(
        lambda w, a, b: w - 4e-3 * (a / (1 - 0.9**kai)) / (np.sqrt(b / (1 - 0.99**kai)) + 1e-8), omomi, m, v
    )
    if kai % 60 == 0:
        print(kai, round(float(atai), 4))

x, kotae = kiku(200)
print("正解率", np.mean(yosou(omomi, x)[:, OKURE:].argmax(-1) == kotae[:, OKURE:]).round(3))
