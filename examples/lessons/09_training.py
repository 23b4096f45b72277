# %% [markdown] name="title"
# # Lesson 9: training, and what makes it hard
#
# Take this lesson after lesson 14. You know how to start and how far to step; now go *deep*. In this lesson you see why
# networks of many layers could not be trained for so long, and two ideas that changed it: *ways past* and
# *normalisation*. And you write the optimizers of lesson 14 yourself.
#
# You need: lessons 1 to 6, and 14. Time: 20 minutes.

# %%
from pathlib import Path

import numpy as np

import minigrad as mg
import nn

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("A lesson draws pictures, which needs Matplotlib: pip install matplotlib") from None

LANGUAGE = "en"  # of the pages that this lesson writes: "en" or "ja"
OUT = Path("out/lessons")  # where pages and pictures go
OUT.mkdir(parents=True, exist_ok=True)

# %% [markdown] name="predict"
# ## Predict
#
#     h = w * x
#     k = w * h
#     m = w * k
#     e = m - 2
#     loss = e ** 2
#
# Three layers, each of which just multiplies by the same `w`. With `x = 1` and `w = 0.5` you get `m = 0.125`, and `m`
# should be 2. So -3.75 arrives at `m`. What arrives at `h`? And what would be left of it in 24 layers? The page is
# `out/lessons/09_open.html`.

# %%
w = mg.Tensor(0.5, requires_grad=True, name="w")
x = mg.Tensor(1.0, requires_grad=True, name="x")
with mg.trace():
    h = w * x
    k = w * h
    m = w * k
    e = m - 2
    loss = e**2
loss.backward()
print(f"m = {m.item()}; at m {2 * e.item()}, at k {2 * e.item() * 0.5}, at h {2 * e.item() * 0.5**2}, ", end="")
print(f"at x {x.grad.item()}; 0.5 to the power of 24 is {0.5**24:.1e}")
mg.explain(loss, OUT / "09_open.html", {"w": w, "x": x}, language=LANGUAGE, lesson="course/09_open")

# %% [markdown] name="layers"
# ## Vanishing and exploding gradients
#
# Backward through a chain of layers, slopes are multiplied (lesson 1). The product of 24 slopes of 0.5 is almost 0,
# and that of 24 slopes of 3 is hundreds of billions. Here are networks with 24 layers `tanh(h @ W + b)`, each 16 wide.
# `nn.Affine(16, 16)` is `h @ W + b` with random weights of the size 1/4, which is 1/√16, so that the numbers `h` stay
# about as large as they are (lesson 14). We multiply these weights by a `gain` of 0.5 or 3: "a little wrong".
# `nn.Sequential` calls one layer after the other, and `nn.Residual(f)` is `h + f(h)`. What it is good for, and
# `LayerNorm`, comes below.


# %%
def deep(kind, gain, depth=24, width=16):
    rng = np.random.default_rng(0)
    affines = [nn.Affine(width, width, rng=rng) for _ in range(depth)]
    for affine in affines:
        affine.weight.data *= gain
    layers = [nn.Sequential(affine, np.tanh) for affine in affines]
    if kind == "ways past, normalised":
        layers = [nn.Sequential(nn.LayerNorm(width), layer) for layer in layers]
    if kind != "plain":
        layers = [nn.Residual(layer) for layer in layers]
    return nn.Sequential(nn.Affine(2, width, rng=rng), *layers, nn.Affine(width, 1, rng=rng)), affines


rng = np.random.default_rng(0)
x = rng.standard_normal((256, 2)).astype(np.float32)
y = np.sin(2 * x[:, :1]) * x[:, 1:]  # what the networks are to learn
arriving, losses = {}, {}
for kind in ("plain", "ways past", "ways past, normalised"):
    for gain in (0.5, 3.0):
        net, affines = deep(kind, gain)
        optimizer = nn.Adam(net.parameters(), lr=0.001)
        losses[kind, gain] = []
        for step in range(100):
            optimizer.zero_grad()
            loss = nn.mean_squared_error(net(x), y)
            loss.backward()
            if step == 0:  # how long is the gradient that arrives at each layer?
                arriving[kind, gain] = [np.linalg.norm(affine.bias.grad.data) for affine in affines]
            optimizer.step()
            losses[kind, gain].append(loss.item())
        ratio = arriving[kind, gain][0] / arriving[kind, gain][-1]
        print(f"{kind:21} gain {gain}: first layer / last layer {ratio:9.2g}, ", end="")
        print(f"loss {losses[kind, gain][0]:5.1f} at first")


def draw(curves, file, **labels):
    figure, axes = plt.subplots(figsize=(7, 4.5))
    colors = {"plain": "tab:red", "ways past": "tab:blue", "ways past, normalised": "tab:green"}
    for (kind, gain), curve in curves.items():
        style = "-" if gain < 1 else "--"
        axes.semilogy(range(1, len(curve) + 1), curve, style, color=colors[kind], label=f"{kind}, gain {gain}")
    axes.set(**labels)
    axes.legend(fontsize=8)
    figure.savefig(OUT / file, dpi=120)


draw(arriving, "09_gradients.png", xlabel="layer", ylabel="length", title="The gradient that arrives, before training")
draw(losses, "09_training.png", xlabel="step", ylabel="loss", title="A hundred steps of Adam")

# %% [markdown] name="deep"
# Read the first picture from the right, as the backward pass goes. In the plain network with gain 0.5 the gradient
# **vanishes**: the first layer gets less than a millionth of what the last gets. With gain 3 it **explodes**: about
# 1000 times as much. (Not 3 to the power of 24, since `tanh` is flat for large numbers.) The second picture shows the
# price: the red line with gain 0.5 does not move at all. (The curves of gain 3 look a little different on each computer:
# what explodes makes the rounding large, too.) There are three remedies.
#
# **A way past** (a *residual connection*): `h + f(h)` instead of `f(h)`. A value used twice gets two contributions
# (lesson 2), so the gradient is multiplied by `1 + f'` instead of `f'`. The 1 is a free way back to the first layer.
# The blue line with gain 0.5 is nearly level.
#
# **Normalisation**: `nn.LayerNorm` (task 6.4) shifts and scales each row to mean 0 and variance 1 before it enters a
# layer. However large the numbers have become, the layer sees numbers of size 1. Compare blue and green with gain 3:
# the exploding is much milder, and the training is better.
#
# **Clipping** (lesson 14): when a gradient is too long all the same, shorten it. This needs no new network.
#
# ## Implement: tasks 9.1 to 9.3
#
# All of these networks were trained by `nn.Adam`. Now write the optimizers of lesson 14 yourself. Task **9.1** is
# momentum: `minigrad learn check 9.1`. Task **9.2** is Adam, with both means and both corrections. Task **9.3** clips
# the gradients of a whole network, which together are one long vector. Here is once more why one wants it: a weight that
# works 20 times in a row.

# %%
for limit, steps in ((np.inf, 1), (1.0, 100)):
    w = nn.Parameter(np.array(1.2))
    optimizer = nn.SGD([w], lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        ((w**20 - 0.5) ** 2).backward()
        nn.clip_grad_norm([w], limit)
        optimizer.step()
    print(f"limit {limit}: w = {w.item():.2f} after {steps} steps")

# %% [markdown] name="break"
# Without a limit, a single step throws `w` to -482, and all that was learned is gone. Clipped, it arrives at 0.96,
# where the power is near 0.5.
#
# ## Break
#
# A friend trains two small networks. One has 8 hidden numbers (those between its two layers), the other has only 1.
# Both end with the same loss, in all digits shown. A good network with 8 stands beside them. No error is raised, and
# each gradient is right: nudging confirms it. Find out what is wrong **before** you read on. The printed weights help.


# %%
def broken_start(hidden):
    return nn.Parameter(np.full((2, hidden), 0.5)), nn.Parameter(np.full((hidden, 1), 1 / hidden))


def good_start(hidden):
    return nn.Parameter(rng.normal(size=(2, hidden))), nn.Parameter(rng.normal(size=(hidden, 1)) / hidden)


def learn(W, v, wanted, steps=500, rate=0.3):
    for _ in range(steps):
        W.grad = v.grad = None
        loss = np.mean((np.tanh(x @ W) @ v - wanted) ** 2)
        loss.backward()
        W.data = W.data - rate * W.grad.data
        v.data = v.data - rate * v.grad.data
    return loss.item()


wanted = np.tanh(3 * x[:, :1]) - np.tanh(2 * x[:, 1:])
for name, start, hidden in (("broken", broken_start, 8), ("broken", broken_start, 1), ("good", good_start, 8)):
    W, v = start(hidden)
    print(f"{name}, {hidden} hidden: loss {learn(W, v, wanted):.4f}, weights W[0]: {W.data[0, :4].round(4)} ...")

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"With ways past, nothing can explode any more."** It can. A way past multiplies by `1 + f'`. Where `f'` is large in
# every layer, the product is large, too: look at the blue line with gain 3. A way past keeps a gradient from
# vanishing. The normalisation keeps it from exploding.
#
# **"A deeper network learns more."** Only if it learns at all: the plain one with gain 0.5 has 24 layers, and a hundred
# steps changed nothing. When a deep network does not learn, look first at what arrives at its first layer.
#
# **"The loss goes down, so it works."** That alone says nothing. A network that is large enough learns any examples by
# heart, even when there is nothing to learn: below, each label is a coin flip. The loss that counts is that on
# examples that were *not* used in training. Keep some apart before you start, and look at both.

# %%
rng = np.random.default_rng(0)
old, new = rng.normal(size=(40, 5)), rng.normal(size=(400, 5))
coins, new_coins = rng.choice([-1.0, 1.0], size=(40, 1)), rng.choice([-1.0, 1.0], size=(400, 1))
net = nn.Sequential(nn.Affine(5, 64, rng=rng), np.tanh, nn.Affine(64, 1, rng=rng))
optimizer = nn.Adam(net.parameters(), lr=0.02)
for _ in range(300):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(net(old), coins)
    loss.backward()
    optimizer.step()
right = np.mean(np.sign(net(new).data) == new_coins)
print(f"coin flips: loss {loss.item():.2f} in training; right on new ones: {100 * right:.0f} of 100")

# %% [markdown] name="close"
# ## Once more: a way past, backward
#
#     u = w * x
#     p = x + u
#     v = w * p
#     q = p + v
#     e = q - 2
#     loss = e ** 2
#
# The program has two layers. Each computes only `w * h` and has a way past it. At `x = 1, w = 0.5` you get `p = 1.5`,
# `q = 2.25`, `e = 0.25`, so 0.5 arrives at `q`. On paper: what arrives at `p`, and what at `x`? Then open
# `out/lessons/09_close.html`.

# %%
w = mg.Tensor(0.5, requires_grad=True, name="w")
x = mg.Tensor(1.0, requires_grad=True, name="x")
with mg.trace():
    u = w * x
    p = x + u
    v = w * p
    q = p + v
    e = q - 2
    loss = e**2
loss.backward()
print(f"p = {p.item()}, q = {q.item()}, e = {e.item()}; w * w = {w.item() ** 2}; ", end="")
print(f"at q {2 * e.item()}, at p {2 * e.item() * (1 + w.item())}, at x {x.grad.item()}, at w {w.grad.item()}")
mg.explain(loss, OUT / "09_close.html", {"w": w, "x": x}, language=LANGUAGE, lesson="course/09_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Through many layers gradients are multiplied, so they vanish or explode. A way past keeps a factor 1;
#   normalisation keeps the numbers at one size; clipping limits the damage of a step.
# - Weights start random, all different, and at the right size (lesson 14).
# - Each step: `zero_grad()`, loss, `backward()`, perhaps clip, `step()`.
# - Believe the loss on examples that were kept apart.
#
# ## Explain
#
# Write one paragraph: *Why could very deep networks not be trained for so long, and what does a way past change?* Then
# compare.
#
# ---
#
# **Model answer.** The gradient of an early layer is a product with one factor for each layer behind it. If the
# factors are a little below 1, the product of many is almost 0, and the early layers do not learn; if they are a
# little above, it is huge, and one step ruins everything. With a way past, a layer gives `h + f(h)`, and its factor
# is `1 + f'`. Multiplied out, one of the terms is 1 · 1 · 1 ...: the last layer's gradient reaches the first one
# unchanged, and what comes through the layers is added to it.
#
# **The planted fault.** All weights start equal. So the 8 hidden numbers are equal, their slopes are equal, and the
# weights stay equal after every step (look at the first line): eight copies of one. Random numbers at the start break
# the tie. That is why `nn.Affine` needs an `rng`.
