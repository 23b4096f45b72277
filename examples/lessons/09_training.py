# %% [markdown] name="title"
# # Lesson 9: training, and what makes it hard
#
# You can compute every gradient now. What is left is to use it: step by step, downhill. That sounds like the easy
# part. In this lesson you see why it is not, and the few ideas that made deep networks trainable: *momentum*, *Adam*,
# *ways past*, *normalisation*.
#
# You need: lessons 1 to 6. Time: 20 minutes.

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
# Think of a loss as a landscape: for two weights `a` and `b`, the loss is the height of the ground at the place (a,
# b). It is called the **loss surface**. Ours is a narrow valley, fifty times as steep across, in `b`, as along, in
# `a`:
#
#     p = a ** 2
#     q = b ** 2
#     r = 50 * q
#     loss = p + r
#
# We stand at `a = 4, b = 1`; the lowest point is at (0, 0). A step of *gradient descent* (lesson 3) moves each weight
# against its slope: by -rate times its slope, with one **learning rate** for both. The page
# `out/lessons/09_open.html` asks where a step with rate 0.02 ends.

# %%
a = mg.Tensor(4.0, requires_grad=True, name="a")
b = mg.Tensor(1.0, requires_grad=True, name="b")
with mg.trace():
    p = a**2
    q = b**2
    r = 50 * q
    loss = p + r
mg.explain(loss, OUT / "09_open.html", {"a": a, "b": b}, language=LANGUAGE, lesson="course/09_open")

# %% [markdown] name="rate"
# ## The learning rate
#
# From now on an **optimizer** makes the steps (lesson 2): `nn.SGD` does plain gradient descent, and the others below
# differ only in what `step()` makes of the gradients. `descend` writes down where we pass.


# %%
def descend(optimizer_for, steps=30, clear=True, scale=1.0):
    a, b = nn.Parameter(np.array(4.0)), nn.Parameter(np.array(1.0))
    optimizer = optimizer_for([a, b])
    path = [(a.item(), b.item())]
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        (scale * (a**2 + 50 * b**2)).backward()
        optimizer.step()
        path.append((a.item(), b.item()))
    return np.array(path)


ways = {
    "rate 0.005": lambda weights: nn.SGD(weights, lr=0.005),
    "rate 0.019": lambda weights: nn.SGD(weights, lr=0.019),
    "rate 0.0204": lambda weights: nn.SGD(weights, lr=0.0204),
    "momentum": lambda weights: nn.SGD(weights, lr=0.019, momentum=0.6),
    "Adam, rate 0.3": lambda weights: nn.Adam(weights, lr=0.3),
}
paths = {name: descend(way) for name, way in ways.items()}
for name, path in paths.items():
    heights = path**2 @ [1, 50]
    print(f"{name:15} loss {heights[0]:.2f}, then {heights[1]:5.2f}, after 30 steps {heights[-1]:7.3f}")

along, across = np.meshgrid(np.linspace(-2.5, 4.5, 141), np.linspace(-2.6, 2.6, 105))
figure, several = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True)
for axes, names in zip(several.flat, (["rate 0.005"], ["rate 0.019"], ["rate 0.0204"], ["momentum", "Adam, rate 0.3"])):
    axes.contour(along, across, along**2 + 50 * across**2, levels=[0.5, 2, 6, 16, 40, 100], colors="lightgray")
    for name, color in zip(names, ("tab:blue", "tab:orange")):
        axes.plot(*paths[name].T, ".-", color=color, label=name)
    axes.plot(0, 0, "k*")
    axes.set(xlim=(-2.5, 4.5), ylim=(-2.6, 2.6), xlabel="a", ylabel="b")
    axes.legend(loc="lower left")
figure.suptitle("The valley from above, and thirty steps down (the star is the lowest point)")
figure.savefig(OUT / "09_valley.png", dpi=120)

# %% [markdown] name="too_large"
# The lines in the picture are lines of equal height, as on a map. In each step `a` is multiplied by `1 - 2 * rate`
# and `b` by `1 - 100 * rate`. With 0.005, `b` is soon home, and `a` crawls. With 0.019, `b` is multiplied by -0.9: it
# jumps to the other wall each time, a little lower. With 0.0204 each jump lands *higher*. That is what "the learning
# rate is too large" means: not that it goes fast, but that it goes up. **The steepest direction limits the rate, and
# all others have to wait.**
#
# ## Momentum
#
# Jumps across the valley point left, right, left: added up they cancel. The small pulls along it all point the same
# way: added up they grow. So let a step keep a part `beta` of the one before, like a heavy ball that rolls. That is
# **momentum**. With rate 0.019 and `beta` 0.6, the loss after thirty steps is 0.016. Without momentum it was 1.655.
#
# ## Adam
#
# Another idea: give each weight a rate of its own. **Adam** divides each step by the usual size of that weight's
# gradient (the root of the mean of its squares). What is left is mostly the sign: a step is about `rate` long,
# whether the gradient is large or small. Make the loss a thousand times smaller and see who notices:

# %%
for name in ("rate 0.019", "Adam, rate 0.3"):
    normal, tiny = descend(ways[name])[1], descend(ways[name], scale=0.001)[1]
    print(f"{name:15} first step to {normal.round(2)}; with a loss 1000 times smaller to {tiny.round(2)}")

# %% [markdown] name="adam"
# Adam goes from (4, 1) to (3.7, 0.7) both times. Deep networks have weights with huge gradients and others with tiny
# ones. That is why Adam, with a rate near 0.001, often works without much search. It is not always the best: here
# momentum is, and near the end Adam's steps stay long unless the rate is lowered.
#
# Real losses are computed on a few examples at a time, a batch, as all of them would take too long. The gradient
# then points downhill only roughly. Momentum and Adam average over several batches, which helps too.
#
# ### Two means that start too small
#
# Adam keeps two running means for each weight: `m` of its gradients, and `v` of their squares. In each step a mean
# keeps the part `beta` of itself and takes in the part 1 - `beta` of what is new. Both means begin at 0, and that
# pulls them down at first. Watch `m` where every gradient is 4:

# %%
m, beta = 0.0, 0.9
for t in range(1, 5):
    m = beta * m + (1 - beta) * 4
    print(f"step {t}: m = {m:.3f} = {m / 4:.4f} * 4;  1 - beta ** t = {1 - beta**t:.4f};  ", end="")
    print(f"m / (1 - beta ** t) = {m / (1 - beta**t):.1f}")
print(f"in step 1 the root of v is {(1 - 0.999) ** 0.5:.3f} of what it should be, where beta is 0.999")

# %% [markdown] name="corrected"
# The mean of nothing but fours should be 4, and `m` is 0.400, 0.760, ... In each step the share of the 0 at the start
# is multiplied by `beta`, so after step t it is `beta ** t`, and only the rest, 1 - `beta ** t`, is of fours. Adam
# divides by this rest. It does so in the step only: `m` itself goes on as it is. For `v`, `beta` is 0.999. So without
# the correction the root of `v` would be about 32 times too small in the first step, and `m` only 10 times: the first
# step would be three times too long.
#
# ## Implement: tasks 9.1 and 9.2
#
# Task **9.1** is momentum: `minigrad learn check 9.1`. Task **9.2** is Adam, with both means and both corrections.
#
# ## Vanishing and exploding gradients
#
# Now go deep. Backward through a chain of layers, slopes are multiplied (lesson 1). 24 slopes of 0.5 make nearly
# nothing, 24 slopes of 3 make hundreds of billions. Here are networks with 24 layers `tanh(h @ W + b)`, each 16 wide.
# `nn.Affine(16, 16)` is `h @ W + b` with random weights of the size 1/4. Why a quarter? A sum of n random numbers of
# either sign grows like √n only, since many cancel: a sum of 16 is about 4 times as large as one of them. With
# weights of the size 1/√n the numbers `h` stay about as large as they are. We multiply these weights by a `gain` of
# 0.5 or 3: "a little wrong". `nn.Sequential` calls one layer after the other, and `nn.Residual(f)` is `h + f(h)`.
# What it is good for, and `LayerNorm`, comes below.


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
        print(f"loss {losses[kind, gain][0]:5.1f}, after 100 steps {losses[kind, gain][-1]:.1f}")


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
# price: the red line with gain 0.5 does not move at all. There are three remedies.
#
# **A way past** (a *residual connection*): `h + f(h)` instead of `f(h)`. A value used twice gets two contributions
# (lesson 2), so the gradient is multiplied by `1 + f'` instead of `f'`. The 1 is a free way back to the first layer.
# The blue line with gain 0.5 is nearly level.
#
# **Normalisation**: `nn.LayerNorm` (task 6.4) shifts and scales each row to mean 0 and variance 1 before it enters a
# layer. However large the numbers have become, the layer sees numbers of size 1. Compare blue and green with gain 3:
# the exploding is much milder, and the training is better.
#
# **Clipping**: when a gradient is too long, shorten it. This needs no new network.
#
# ## Implement: task 9.3
#
# Task **9.3** clips. Here is why one wants it: a weight that works 20 times in a row makes a cliff in the surface.

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
# A friend trains a small network with 8 hidden numbers (those between its two layers), and one with only 1. Both end
# with the same loss, in all digits shown! A good network with 8 stands beside them. No error is raised, and each
# gradient is right: nudging confirms it. Find out what is wrong **before** you read on. The printed weights help.


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
# **"Where does `zero_grad()` go?"** Anywhere between `step()` and the next `backward()`; never between `backward()`
# and `step()`, where it wipes out what `step()` is about to use. And if it is forgotten, all old gradients count in
# full: that is momentum with `beta` = 1, a ball without friction. It never comes to rest (see below).
#
# **"The loss goes down, so it works."** It means nothing yet. A network that is large enough learns any examples by
# heart, even when there is nothing to learn: below, each label is a coin flip. What counts is the loss on examples
# that were *not* used in training. Keep some apart before you start, and look at both.
#

# %%
forgotten = descend(ways["rate 0.005"], steps=500, clear=False) ** 2 @ [1, 50]
print(f"never cleared: in the last 50 of 500 steps the loss still reaches {forgotten[-50:].max():.0f}")

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
# Two layers, each just `w * h`, each with a way past it. At `x = 1, w = 0.5` you get `p = 1.5`, `q = 2.25`, `e =
# 0.25`, so 0.5 arrives at `q`. On paper: what arrives at `p`, and what at `x`? Then open `out/lessons/09_close.html`.

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
# - The steepest direction limits the learning rate. Too large means that the loss goes *up*.
# - Momentum adds up the steps: what swings cancels, what goes on grows. Adam gives every weight steps of about
#   `rate`.
# - Through many layers gradients are multiplied, so they vanish or explode. A way past keeps a factor 1;
#   normalisation keeps the numbers at one size; clipping limits the damage of a step.
# - Weights start random, all different, and at the right size.
# - Each step: `zero_grad()`, loss, `backward()`, perhaps clip, `step()`.
# - Believe the loss on examples that were kept apart.
#
# ## Explain
#
# One paragraph: *Why could very deep networks not be trained for so long, and what does a way past change?* Compare.
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
# the tie. That is why `nn.Affine` wants an `rng`.
