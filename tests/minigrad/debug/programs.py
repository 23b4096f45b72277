"""Small training programs: a healthy one, and what is changed in it for each mistake."""

from pathlib import Path

from minigrad.cli.program import Target
from minigrad.debug.running import debugging

NET = """\
import numpy as np
import nn
from minigrad import Tensor, relu, softmax, sigmoid

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 3))
y = np.tanh(x @ [1.0, -2.0, 0.5])[:, None]
W1 = Tensor(rng.normal(0, 0.5, (3, 8)), requires_grad=True)
b1 = Tensor(rng.normal(0, 0.1, 8), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.3, (8, 1)), requires_grad=True)
for step in range(40):
    h = np.tanh(x @ W1 + b1)
    loss = ((h @ W2 - y) ** 2).mean()
    loss.backward()
    for p in (W1, b1, W2):
        if p.grad is not None:
            p.data -= 0.1 * p.grad
        p.zero_grad()
"""
RNN = """\
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(1)
H = 12
x = rng.normal(size=(20, 15))
y = x.mean(axis=1, keepdims=True)
Wx = Tensor(rng.normal(0, 0.5, (1, H)), requires_grad=True)
Wh = Tensor(rng.normal(0, 0.25, (H, H)), requires_grad=True)
Wy = Tensor(rng.normal(0, 0.3, (H, 1)), requires_grad=True)
for step in range(10):
    h = np.zeros((20, H))
    for t in range(15):
        h = np.tanh(x[:, t : t + 1] @ Wx + h @ Wh)
    loss = ((h @ Wy - y) ** 2).mean()
    loss.backward()
    for p in (Wx, Wh, Wy):
        p.data -= 0.05 * p.grad
        p.zero_grad()
"""
ATTENTION = """\
import numpy as np
import nn
from minigrad import Tensor, softmax

rng = np.random.default_rng(2)
T, D = 6, 8
Q, K, V, U = (Tensor(rng.normal(0, 0.3, (D, D)), requires_grad=True) for _ in range(4))
optimizer = nn.Adam([Q, K, V, U], lr=0.005)
past = np.tril(np.ones((T, T), dtype=bool))
for step in range(12):
    x = rng.normal(size=(10, T, D))
    scores = np.where(past, (x @ Q) @ (x @ K).swapaxes(1, 2) / np.sqrt(D), -1e9)
    weights = softmax(scores, axis=-1)
    loss = (((weights @ (x @ V)) @ U - np.cumsum(x, axis=1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DROPOUT = """\
import numpy as np
import nn

rng = np.random.default_rng(3)
x = rng.normal(size=(80, 5)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
model = nn.Sequential(nn.Affine(5, 16, rng=rng), nn.Dropout(0.3, rng=rng), nn.Affine(16, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    model.train()
    for rows in np.split(rng.permutation(80), 4):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    model.eval()
    right = (model(x).numpy().argmax(axis=1) == y).mean()
"""
BATCHES = """\
import numpy as np
from minigrad import Tensor

data = np.random.default_rng(4).normal(size=(200, 3))
rng = np.random.default_rng(5)
w = Tensor(np.zeros(3), requires_grad=True)
for step in range(12):
    rows = data[rng.integers(0, 200, 20)]
    batch = rows.copy()
    batch += 0.1
    loss = ((batch @ w - data[:20, 0]) ** 2).mean()
    loss.backward()
    w.data -= 0.05 * w.grad
    w.zero_grad()
"""
POOL = """\
import numpy as np
import nn
from minigrad import Tensor, softmax

rng = np.random.default_rng(9)
E = Tensor(rng.normal(0, 0.5, (20, 6)), requires_grad=True)
query = Tensor(rng.normal(0, 0.3, 6), requires_grad=True)
W = Tensor(rng.normal(0, 0.3, (6, 3)), requires_grad=True)
optimizer = nn.Adam([E, query, W], lr=0.01)
for step in range(12):
    ids = rng.integers(1, 20, (30, 8)) * (np.arange(8) < rng.integers(2, 9, (30, 1)))
    padding = (ids == 0).astype(float)
    x = E[ids]
    scores = x @ query + padding * -1e9
    weights = softmax(scores, axis=1)
    pooled = (weights[..., None] * x).sum(axis=1)
    loss = nn.cross_entropy(pooled @ W, ids[:, 0] % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TWO = """\
import numpy as np
import nn
from minigrad import Tensor

rng = np.random.default_rng(10)
grey = rng.integers(0, 255, (50, 4))
x = (grey / 255).astype(np.float32)
y = x.mean(axis=1, keepdims=True)
p = {"W1": rng.normal(0, 0.5, (4, 8)), "b1": rng.normal(0, 0.1, 8), "W2": rng.normal(0, 0.3, (8, 8))}
p |= {"b2": rng.normal(0, 0.1, 8), "W3": rng.normal(0, 0.3, (8, 1))}
p = {name: Tensor(value, requires_grad=True) for name, value in p.items()}
optimizer = nn.Adam(p.values(), lr=0.01)
for step in range(12):
    one = np.tanh(x @ p["W1"] + p["b1"])
    two = np.tanh(one @ p["W2"] + p["b2"])
    loss = ((two @ p["W3"] - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CLASSES = """\
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(11)
x = rng.normal(size=(40, 3)).astype(np.float32)
W = Tensor(np.zeros((3, 4), np.float32), requires_grad=True)
for step in range(12):
    z = x @ W - 0
    e = np.exp(z)
    share = e / e.sum(axis=1, keepdims=True)
    loss = -np.log(share[np.arange(40), np.arange(40) % 4] + 1e-7).mean()
    loss.backward()
    W.data -= np.float32(0.1) * W.grad
    W.zero_grad()
"""
OWN = """\
import numpy as np
import minigrad as mg

bell = mg.primitive(lambda x: np.exp(-x * x), name="bell").vjp(x=lambda g, ans, x: g * -2 * x * ans)
rng = np.random.default_rng(6)
x = rng.normal(size=(30, 1))
c = mg.Tensor(rng.normal(size=5), requires_grad=True)
for step in range(8):
    loss = ((bell(x - c).sum(axis=1) - 1) ** 2).mean()
    loss.backward()
    c.data -= 0.02 * c.grad
    c.zero_grad()
"""
TRANSFORM = """\
import numpy as np
import minigrad as mg

rng = np.random.default_rng(7)
X = rng.normal(size=(50, 3))
y = X @ [1.0, -1.0, 2.0]

def cost(p):
    return np.mean((X @ p["w"] + p["b"] - y) ** 2)

p = {"w": np.ones(3), "b": 0.0}
rate = 0.1
for step in range(60):
    value, g = mg.value_and_grad(cost)(p)
    p = {k: p[k] - rate * g[k] for k in p}
"""

LINEAR = RNN.replace("np.tanh(x[:, t : t + 1] @ Wx + h @ Wh)", "x[:, t : t + 1] @ Wx + h @ Wh")
SAME = NET.replace("rng.normal(0, 0.3, (8, 1))", "np.full((8, 1), 0.3)").replace("rng.normal(0, 0.1, 8)", "np.zeros(8)")
SCHEDULED = TRANSFORM.replace("rate = 0.1\n", "def decay(step):\n    return 0.1 * (90 - step) / 90\n\n").replace(
    "    p = {k", "    rate = decay(step)\n    p = {k"
)
POSITIVE = (
    NET.replace("rng.normal(size=(60, 3))", "rng.uniform(size=(60, 3))")
    .replace("rng.normal(0, 0.5, (3, 8))", "rng.uniform(-1, 1, (3, 8))")
    .replace("h = np.tanh(", "h = relu(")
)
HELD = NET.replace("for step", "held = [W1, b1, W2]\nfor step").replace("for p in (W1, b1, W2)", "for p in held")
HELD = HELD.replace("        p.zero_grad()\n", "    for p in held:\n        p.zero_grad()\n")
TALL = NET.replace("p.data -= 0.1 *", "p.data -= rate *").replace("for step", "rate = 1e-4\nfor step")
TALL = TALL.replace("[:, None]\n", "[:, None] + 150\n").replace("h = np.tanh(", "h = relu(")
LISTED = """\
import numpy as np
import nn
from minigrad import Tensor

rng = np.random.default_rng(12)
x = rng.normal(size=(60, 4))
y = x @ [1.0, -2.0, 0.5, 1.0]
w, b = Tensor(np.zeros(4), requires_grad=True), Tensor(0.0, requires_grad=True)
held = [w, b]
optimizer = nn.SGD(held, lr=0.05)

def rate(step):
    lr = 0.05
    return 1.0 * lr

for step in range(12):
    loss = ((x @ w + b - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.lr = rate(step)
    optimizer.step()
"""
MIRROR = """\
import numpy as np
import minigrad as mg

rng = np.random.default_rng(13)
x = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5))
E = rng.normal(0, 0.3, (5, 2))
p = {"E": E, "D": rng.normal(0, 0.3, (2, 5))}

def cost(p, x):
    return np.mean((x @ p["E"] @ p["D"] - x) ** 2)

for step in range(40):
    value, g = mg.value_and_grad(cost)(p, x)
    p = {k: p[k] - 0.05 * g[k] for k in p}
"""
STATE = """\
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(15)
W, U, V = (Tensor(rng.normal(0, 0.3, shape), requires_grad=True) for shape in ((2, 6), (6, 6), (6, 1)))
blank = np.zeros((20, 6))
for step in range(12):
    x = rng.normal(size=(20, 2))
    state = blank.copy()
    h = np.tanh(x @ W + state @ U)
    loss = ((h @ V - x[:, :1]) ** 2).mean()
    loss.backward()
    for p in (W, U, V):
        p.data -= 0.05 * p.grad
        p.zero_grad()
    state[:] = h.numpy()
    last = h.numpy()
"""
PARTS = """\
import numpy as np
import nn

rng = np.random.default_rng(17)
x = rng.normal(size=(60, 3)).astype(np.float32)
level = rng.normal(size=(60, 1)).astype(np.float32)
y = x[:, :1] + 0.1 * level

class Net(nn.Module):
    def __init__(self):
        self.body = nn.Affine(3, 8, rng=rng)
        self.level = nn.Affine(3, 1, rng=rng)
        self.head = nn.Affine(8, 1, rng=rng)

    def forward(self, x):
        return self.head(np.tanh(self.body(x))) + self.level(x)

model = Net()
slow = nn.SGD([*model.body.parameters(), *model.level.parameters()], lr=0.05)
fast = nn.SGD(model.head.parameters(), lr=0.05)
for step in range(12):
    slow.zero_grad()
    fast.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    slow.step()
    fast.step()
"""
WRITTEN = """\
import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
x = rng.normal(size=(40, 3))
t = np.eye(3)[x.argmax(axis=1)]

def start():
    return {
        "w1": rng.normal(0, 0.5, (3, 8)),
        "w2": SECOND,
    }

def network(p, x):
    e = np.exp(np.tanh(x @ p["w1"]) @ p["w2"])
    return e / e.sum(axis=1, keepdims=True)

def cost(p):
    return -np.mean(np.sum(t * np.log(network(p, x) + 1e-9), axis=1))

p = start()
for step in range(30):
    value, g = mg.value_and_grad(cost)(p)
    p = {k: p[k] - 0.2 * g[k] for k in p}
""".replace("SECOND", "np.tile(rng.normal(0, 0.5, 3), (8, 1))")
HALF = """\
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(22)
counts = (rng.normal(size=(60, 4)) * 300).astype(np.float32)
length = np.sqrt(np.sum(counts * counts, axis=1, keepdims=True))
x = (counts / length).astype(np.float64)
y = x @ [1.0, -1.0, 0.5, 2.0]
w = Tensor(np.zeros(4), requires_grad=True)
for step in range(20):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w.data -= 0.5 * w.grad
    w.zero_grad()
"""
FITTED = """\
import numpy as np
import minigrad as mg
import nn

KEEP = 600
rng = np.random.default_rng(14)
x = rng.normal(size=(900, 10)).astype(np.float32)
y = (x[:, 0] + rng.normal(size=900) > 0).astype(np.int64)

def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])

def validate(model):
    return {"loss": float(loss(model, (x[600:], y[600:])).item())}

model = nn.Sequential(nn.Affine(10, 32, rng=rng), mg.relu, nn.Affine(32, 2, rng=rng))
batches = nn.Batches([x[:KEEP], y[:KEEP]], 15, seed=0)
adam, epochs = nn.Adam(model.parameters(), 0.01), 1200 // KEEP
history = nn.fit(model, batches, loss, adam, epochs=epochs, validate=validate, progress=False)
"""

# (kind, program, what is replaced, by what, the text of the line to name)
MISTAKES = [
    ("broadcast", NET, "0.5])[:, None]", "0.5])", "loss = ((h"),
    ("stale gradients", NET, "        p.zero_grad()\n", "", "loss.backward()"),
    ("not optimized", NET, "for p in (W1, b1, W2)", "for p in (b1, W2)", "for p in (b1, W2)"),
    ("no update", NET, "p.data -= 0.1 * p.grad", "p = p - 0.1 * p.grad", "p = p - 0.1"),
    ("cut", NET, "h = np.tanh(x @ W1 + b1)", "h = np.tanh(x @ W1 + b1).data", ".data"),
    ("cut", NET, "h = np.tanh(x @ W1 + b1)", "h = np.tanh(x @ W1 + b1).numpy()", ".numpy()"),
    ("cut", NET, "h = np.tanh(x @ W1 + b1)", "h = np.tanh(x @ W1 + b1).detach()", ".detach()"),
    ("cut", NET, "h = np.tanh(x @ W1 + b1)", "h = (8 * np.tanh(x @ W1 + b1)).astype(int) / 8", ".astype(int)"),
    ("no gradient", NET, "np.tanh(x @ W1 + b1)", "np.tanh(x @ W1)", "b1 = Tensor"),
    ("zero gradient", NET, "h = np.tanh(", "h = np.sign(", "np.sign("),
    ("dead", NET, "h = np.tanh(x @ W1 + b1)", "h = relu(x @ W1 + b1 - 30)", "relu("),
    ("saturated", NET, "rng.normal(0, 0.5, (3, 8))", "rng.normal(0, 50, (3, 8))", "rng.normal(0, 50"),
    ("saturated", NET, "x = rng.normal(size=(60, 3))", "x = 300 * rng.normal(size=(60, 3))", "x = 300"),
    ("mean first", NET, "((h @ W2 - y) ** 2).mean()", "(h @ W2 - y).mean() ** 2", ".mean() ** 2"),
    (
        "mean first",
        NET,
        "((h @ W2 - y) ** 2).mean()",
        "__import__('nn').mean_squared_error((h @ W2).mean(axis=0), y.mean(axis=0))",
        ".mean(axis=0)",
    ),
    ("decay", NET, "        p.zero_grad()", "        p.data *= 0.7\n        p.zero_grad()", "p.data *= 0.7"),
    (
        "clipping",
        NET,
        "        p.zero_grad()",
        "        p.data = np.clip(p.data, -0.01, 0.01)\n        p.zero_grad()",
        "clip",
    ),
    ("equal weights", SAME, "rng.normal(0, 0.5, (3, 8))", "np.full((3, 8), 0.5)", "np.full((3, 8)"),
    ("nonfinite", NET, "h = np.tanh(x @ W1 + b1)", "h = np.log(np.tanh(x @ W1 + b1))", "np.log("),
    ("nonfinite", NET, "** 2).mean()", "** 2).mean() + np.log(W2 * 0 + (step != 23)).sum()", "np.log("),
    ("nonfinite", NET, "** 2).mean()", "** 2).mean() + np.sqrt(W2 * 0 + (step != 23)).sum()", "np.sqrt("),
    ("vanishing", RNN, "rng.normal(0, 0.25, (H, H))", "rng.normal(0, 0.02, (H, H))", "Wh = Tensor"),
    ("exploding", LINEAR, "rng.normal(0, 0.25, (H, H))", "rng.normal(0, 2, (H, H))", "Wh = Tensor"),
    ("cut", RNN, "+ h @ Wh)", "+ (h.data if step + t else h) @ Wh)", "h.data"),
    ("softmax axis", ATTENTION, "softmax(scores, axis=-1)", "softmax(scores, axis=1)", "softmax("),
    ("mask", ATTENTION, "dtype=bool))", "dtype=bool), -1)", "past = np.tril"),
    ("mask", ATTENTION, "np.tril(np.ones((T, T), dtype=bool))", "np.ones((T, T)) > 0", "past = np.ones"),
    ("softmax axis", POOL, "softmax(scores, axis=1)", "softmax(scores, axis=0)", "softmax("),
    ("mask", POOL, "* -1e9", "* -1e-9", "scores ="),
    ("no gradient", TWO, '+ p["b2"]', '+ p["b1"]', "two = "),
    ("integers", TWO, "grey / 255", "grey // 255", "grey // 255"),
    ("zero gradient", TRANSFORM, 'X @ p["w"] + p["b"] - y', 'np.round(X @ p["w"] + p["b"]) - y', "np.round("),
    ("cut", TWO, "two = np.tanh(one", "two = np.tanh((one * 8).astype(int) / 8", ".astype(int)"),
    (
        "integers",
        TWO,
        "x = (grey / 255).astype(np.float32)",
        "x = np.zeros_like(grey)\nx[:] = grey / 256",
        "zeros_like",
    ),
    ("changed data", STATE, "state = blank.copy()", "state = blank", "state[:] = h"),
    ("carried state", STATE, "state = blank.copy()", "state = last if step else blank.copy()", "h = np.tanh"),
    (
        "no update",
        TRANSFORM,
        "p = {k: p[k] - rate * g[k] for k in p}",
        "for q, d in zip(p.values(), g.values()):\n        q = q - rate * d",
        "q = q",
    ),
    ("slow", LISTED, "lr = 0.05", "lr = (step + 1) // 400", "// 400"),
    ("slow", SCHEDULED, "(90 - step) / 90", "((90 - step) // 90)", "// 90"),
    ("no gradient", PARTS, " + self.level(x)", "", "self.level = nn.Affine"),
    ("given twice", PARTS, "[*model.body.parameters(), *model.level.parameters()]", "model.parameters()", "fast ="),
    ("changed data", STATE, "state[:] = h.numpy()", "blank[:] = h.numpy()", "blank[:] = h"),
    (
        "integers",
        TWO,
        "x = (grey / 255).astype(np.float32)",
        "x = np.zeros_like(grey)\nx[:] = grey / 256\nx = x.astype(np.float32)",
        "zeros_like",
    ),
    (
        "nonfinite",
        NET,
        "    h = np.tanh(x @ W1 + b1)",
        "    z = x @ W1 + b1\n    h = np.log(z)",
        "z = x @ W1",
    ),
    ("learning rate", TRANSFORM.replace("rate", "RATE"), "RATE = 0.1", "RATE = 0.9", "RATE ="),
    ("mean first", NET, "((h @ W2 - y) ** 2).mean()", "(((h @ W2).mean(axis=0) - y) ** 2).mean()", ".mean(axis=0)"),
    ("dead", POSITIVE, "rng.uniform(-1, 1, (3, 8))", "rng.uniform(-0.9, -0.1, (3, 8))", "W1 = Tensor"),
    ("equal weights", WRITTEN, "rng.normal(0, 0.5, (3, 8))", "np.full((3, 8), 0.5)", '"w1": np.full'),
    ("softmax axis", WRITTEN, "e / e.sum(axis=1, keepdims=True)", "e / e.sum(axis=0)", "return e /"),
    ("nonfinite", HALF, "astype(np.float32)", "astype(np.float16)", "length = "),
    ("given twice", HELD, "held = [W1, b1, W2]", "held = [W1, b1, W2, W1]", "held ="),
    ("tied copy", MIRROR, "rng.normal(0, 0.3, (2, 5))", "E.T.copy()", "E.T.copy()"),
    (
        "mean first",
        TRANSFORM.replace("2.0]\n", "2.0] + 20\n"),
        'np.mean((X @ p["w"] + p["b"] - y)',
        'np.mean((X @ p["w"] + p["b"] - y).mean()',
        "np.mean(",
    ),
    (
        "cut",
        RNN.replace("h @ Wh", "0.9 * h @ Wh"),
        "        h = np.tanh(",
        "        h = h.detach() if t else h\n        h = np.tanh(",
        "h.detach()",
    ),
    ("validation", FITTED, "KEEP = 600", "KEEP = 30", "model ="),
    ("dead", TALL, "rate = 1e-4", "rate = 0.01", "rate ="),
    ("learning rate", TALL, "rate = 1e-4", "rate = 0.05", "rate ="),
    (
        "nonfinite",
        CLASSES,
        "z = x @ W - 0",
        "z = x @ W + 99.0 * np.eye(4, dtype=np.float32)[step % 4] * (step > 5)",
        "e = np.exp",
    ),
    ("slow", TRANSFORM.replace("rate = 0.1", "rate = 0.1\nlr = rate"), "rate = 0.1", "rate = 1e-7", "rate ="),
    ("saturated", ATTENTION, "/ np.sqrt(D), -1e9", "* 100, -1e9", "* 100"),
    ("dropout", DROPOUT, "    model.train()\n", "", "model.eval()"),
    ("dropout", DROPOUT, "    model.eval()\n", "", "right ="),
    ("dropout", DROPOUT.replace("nn.Dropout(0.3, rng=rng)", "nn.BatchNorm(16)"), "    model.eval()\n", "", "right ="),
    (
        "repeated batch",
        BATCHES,
        "    rows = data",
        "    rng = np.random.default_rng(8)\n    rows = data",
        "default_rng(8)",
    ),
    ("changed data", BATCHES, "rows.copy()", "data[20:40]", "batch += 0.1"),
    ("own rule", OWN, "g * -2 * x", "g * -1 * x", "bell = "),
    ("learning rate", TRANSFORM, "rate = 0.1", "rate = 0.9", "rate ="),
    ("slow", TRANSFORM, "rate = 0.1", "rate = 1e-7", "rate ="),
]


def watched(folder: Path, text: str, causal: bool = False) -> debugging:
    """Run a program inside ``debugging``."""
    file = folder / "training.py"
    file.write_text(text, encoding="utf-8")
    target = Target.parse(str(file))
    found = debugging(causal=causal, quiet=True)
    with target.surroundings(()), found:
        target.execute()
    return found
