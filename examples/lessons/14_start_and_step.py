# %% [markdown] name="title"
# # Lesson 14: start and step
#
# Take this lesson after lesson 8. A gradient says which way is down. It does not say which weights to start with, or
# how far to go. A few formulas decide both, and you derive them in this lesson: the size of the *first weights*,
# *momentum*, *Adam*, and how the learning rate *rises and falls*.
#
# You need: lessons 1 to 6, and 13. Time: 25 minutes.

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
# **The start.** Toss a coin 100 times, and write down 1 or -1 each time. How far from 0 is the sum of the 100 numbers,
# as a rule: about 100, about 10, or about 1?
#
# **The step.** Think of a loss as a landscape: for two weights `a` and `b`, the loss is the height of the ground at
# the place (a, b). It is called the **loss surface**. Ours is a narrow valley, fifty times as steep across (`b`) as
# along (`a`):
#
#     p = a ** 2
#     q = b ** 2
#     r = 50 * q
#     loss = p + r
#
# We stand at `a = 4, b = 1`; the lowest point is at (0, 0). A step of *gradient descent* (lesson 3) moves each weight
# against its slope: by -rate times its slope, with one **learning rate** for both. The page `out/lessons/14_open.html`
# asks where a step with rate 0.02 ends.

# %%
rng = np.random.default_rng(0)
sums = rng.choice([-1.0, 1.0], size=(10000, 100)).sum(axis=1)
print(f"some sums of 100 numbers: {sums[:6]}; root of the mean of their squares: {np.sqrt(np.mean(sums**2)):.1f}")

a = mg.Tensor(4.0, requires_grad=True, name="a")
b = mg.Tensor(1.0, requires_grad=True, name="b")
with mg.trace():
    p = a**2
    q = b**2
    r = 50 * q
    loss = p + r
mg.explain(loss, OUT / "14_open.html", {"a": a, "b": b}, language=LANGUAGE, lesson="course/14_open")

# %% [markdown] name="scale"
# ## How large the first weights are
#
# The sums are about 10, the root of 100. Here is why. The square of a sum of two numbers is (u + v)² = u² + v² + 2uv.
# If their signs are random, 2uv is as often above 0 as below, and its mean is 0. So in the mean **the squares add
# up**: 100 numbers of the size 1 have a sum whose square is 100 in the mean. From now on the *size* of some numbers is
# the root of the mean of their squares.
#
# A layer computes such sums. Each number of `h @ W` is a sum of n products, where n is the number of inputs of the
# layer. If the inputs have the size u, and the weights are random and have the size s, the squares of the products are
# u² · s² in the mean, and the square of the sum is n · u² · s². The sum is as large as the inputs, u, if n · s² = 1:
#
# **Weights of the size 1/√n keep the size of the numbers from one layer to the next.**
#
# With the size c/√n each layer multiplies by c. That does not look dangerous. The picture shows four scales c.


# %%
def through(scale, bend, depth=20, n=256):
    """Return the sizes of the numbers after each layer, and of the gradients that arrive at each."""
    rng = np.random.default_rng(0)
    values = [mg.Tensor(rng.normal(size=(32, n)), requires_grad=True)]
    for _ in range(depth):
        values.append(bend(values[-1] @ (scale / np.sqrt(n) * rng.normal(size=(n, n)))))
        values[-1].retain_grad()
    (values[-1] * rng.normal(size=(32, n))).sum().backward()
    return tuple([np.sqrt(np.mean(x**2)) for x in rows] for rows in zip(*((v.data, v.grad.data) for v in values)))


bends = {"no bend": lambda z: z, "relu": lambda z: np.maximum(z, 0)}
scales = {"0.5": 0.5, "1": 1.0, "√2": np.sqrt(2), "2": 2.0}
figure, several = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
sizes = {}
for axes, (title, bend) in zip(several, bends.items()):
    for name, scale in scales.items():
        sizes[title, name], gradients = through(scale, bend)
        axes.semilogy(sizes[title, name], ".-", label=f"{name} / √n")
        sized = f"size after 20 layers {sizes[title, name][-1]:8.2g}, gradient at the first {gradients[0]:8.2g}"
        print(f"{title:7} {name:>3} / √n: {sized}")
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set(title=title, xlabel="layer", xticks=range(0, 21, 5), ylabel="size of the numbers")
several[0].legend()
figure.savefig(OUT / "14_scales.png", dpi=120)

# %% [markdown] name="keeps"
# At the left, where nothing bends, the line of 1/√n is level. With half of it the numbers are a millionth after 20
# layers, and with twice of it a million. The same happens to the gradients on the way back, for they are sums too, of
# as many products as the layer has *outputs*.
#
# At the right there is a relu (lesson 13) after each layer. It sets about half of the numbers to 0, so only half of
# the mean square is left, and the line of 1/√n falls. To make up for it, n · s² must be 2: the line of √2/√n is level.
# `tanh` leaves small numbers nearly as they are, and makes large ones smaller, so one takes 1/√n, or a little more.
#
# ## Implement: task 14.1
#
# Task **14.1** chooses the weights of a whole network: `minigrad learn check 14.1`.
#
# ## How far a step goes
#
# From now on an **optimizer** makes the steps (lesson 2): `nn.SGD` does plain gradient descent, and the others below
# differ only in what `step()` makes of the gradients. `descend` walks in the valley of the first page, and notes its path.


# %%
def descend(optimizer_for, steps=30, scale=1.0):
    a, b = nn.Parameter(np.array(4.0)), nn.Parameter(np.array(1.0))
    optimizer = optimizer_for([a, b])
    path = [(a.item(), b.item())]
    for _ in range(steps):
        optimizer.zero_grad()
        (scale * (a**2 + 50 * b**2)).backward()
        optimizer.step()
        path.append((a.item(), b.item()))
    return np.array(path)


rates = (0.005, 0.019, 0.02, 0.0204)
ways = {f"rate {rate}": lambda weights, rate=rate: nn.SGD(weights, lr=rate) for rate in rates}
ways["momentum"] = lambda weights: nn.SGD(weights, lr=0.019, momentum=0.6)
ways["Adam, rate 0.3"] = lambda weights: nn.Adam(weights, lr=0.3)
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
figure.savefig(OUT / "14_valley.png", dpi=120)

# %% [markdown] name="too_large"
# The lines in the picture are lines of equal height, as on a map. In each step `a` is multiplied by `1 - 2 * rate` and
# `b` by `1 - 100 * rate`. With 0.005, `b` is soon near 0, and `a` goes slowly. With 0.019, `b` is multiplied by -0.9:
# it jumps to the other wall each time, a little lower. With 0.02, as on the first page, it jumps to and fro at the
# same height, for ever. With 0.0204 each jump lands *higher*. That is what "the learning rate is too large" means: not
# that it goes fast, but that it goes up. **The steepest direction limits the rate, and all others have to wait.**
#
# ## Momentum
#
# The jumps across the valley point left, right, left, so their sum is small. The small steps along the valley all
# point the same way, so their sum grows. So let a step keep a part `beta` of the one before, like a heavy ball that
# rolls. That is **momentum**. A gradient then counts in full in its own step, `beta` times in the next, `beta ** 2`
# times in the one after, and so on. If every gradient is 1, the step grows to 1 + beta + beta² + ..., which comes to 1
# / (1 - beta). If they are 1, -1, 1, -1, ... it shrinks to 1 - beta + beta² - ..., which comes to 1 / (1 + beta). With
# `beta` 0.9 a steady pull moves the weight ten times as far, and one that turns each time about half as far. In our
# valley, with rate 0.019 and `beta` 0.6, the loss after thirty steps is 0.016. Without momentum it was 1.655.
#
# ## Adam
#
# Another idea is to give each weight a rate of its own. **Adam** divides each step by the usual size of that weight's
# gradient. What is left is mostly the sign: a step is about `rate` long, whether the gradient is large or small. Make
# the loss a thousand times smaller, and see which of two optimizers goes another way:

# %%
for name in ("rate 0.019", "Adam, rate 0.3"):
    normal, tiny = descend(ways[name])[1], descend(ways[name], scale=0.001)[1]
    print(f"{name:15} first step to {normal.round(2)}; with a loss 1000 times smaller to {tiny.round(2)}")

# %% [markdown] name="adam"
# Adam goes from (4, 1) to (3.7, 0.7) both times. Deep networks have weights with huge gradients and others with tiny
# ones. That is why Adam, with a rate near 0.001, often works without much search.
#
# What is the usual size of a gradient that changes in each step? Real losses are computed on a few examples at a time,
# a batch, as all of them would take too long. A gradient is then partly chance, and a mean of several is better than
# one. Adam keeps two running means for each weight: `m` of its gradients, and `v` of their squares, whose root is the
# size. In each step a mean keeps the part `beta` of itself and takes in the part 1 - `beta` of what is new. So old
# gradients are forgotten bit by bit, and nothing but `m` and `v` must be stored.
#
# Both means begin at 0, and that pulls them down at first. Watch `m` where every gradient is 4:

# %%
m, beta = 0.0, 0.9
for t in range(1, 5):
    m = beta * m + (1 - beta) * 4
    print(f"step {t}: m = {m:.3f}; 1 - beta ** t = {1 - beta**t:.4f}; the quotient is {m / (1 - beta**t):.1f}")

# %% [markdown] name="corrected"
# The mean of nothing but fours should be 4, and `m` is 0.400, 0.760, ... In each step the share of the 0 at the start
# is multiplied by `beta`, so after step t it is `beta ** t`, and only the rest, 1 - `beta ** t`, is of gradients. Adam
# divides by this rest. It does so in the step only: `m` itself goes on as it is. For `v`, `beta` is 0.999. So without
# the correction the root of `v` would be about 32 times too small in the first step, and `m` only 10 times: the first
# step would be three times too long.
#
# This is right for any gradients, not only for equal ones. After step t the newest gradient stands in `m` with the
# weight 1 - `beta`, the one before with (1 - `beta`) · `beta`, and so on. Together the weights come to
# 1 - `beta ** t`. Divided by that they come to 1, as in every weighted mean. Do it by hand for two gradients, 4 and then 2:
#
# | | step 1, gradient 4 | step 2, gradient 2 |
# |---|---|---|
# | `m` | 0.1 · 4 = 0.4 | 0.9 · 0.4 + 0.1 · 2 = 0.56 |
# | its correction | 1 - 0.9 = 0.1 | 1 - 0.81 = 0.19 |
# | corrected | 0.4 / 0.1 = 4 | 0.56 / 0.19 = 2.947 |
# | `v` | 0.001 · 16 = 0.016 | 0.999 · 0.016 + 0.001 · 4 = 0.019984 |
# | its correction | 1 - 0.999 = 0.001 | 1 - 0.998001 = 0.001999 |
# | corrected | 0.016 / 0.001 = 16 | 0.019984 / 0.001999 = 9.997 |
# | its root | 4 | 3.162 |
# | step | 4 / 4 = 1 times the rate | 2.947 / 3.162 = 0.932 times the rate |
#
# The first step is as long as the rate, for every gradient. Here are the same numbers as weighted means:

# %%
print(f"0.9 ** 2 = {0.9**2:.2f}, 0.999 ** 2 = {0.999**2:.6f}")
print(f"m: {0.9 * 0.4 + 0.1 * 2:.2f} / {1 - 0.9**2:.2f}; v: {0.999 * 0.016 + 0.001 * 4:.6f} / {1 - 0.999**2:.6f}")
mean, square = np.average([4, 2], weights=[0.9, 1]), np.average([16, 4], weights=[0.999, 1])
print(f"weighted means: {mean:.3f} and {square:.3f}; root {np.sqrt(square):.3f}; step {mean / np.sqrt(square):.3f}")

# %% [markdown] name="schedule"
# ## Warm-up and decay
#
# Adam's first step is as long as the rate, although it knows a single gradient, of a few examples, at random weights.
# So one begins with a small rate and lets it rise, until the means are means of several gradients. That is the
# **warm-up**. And near the end the steps should become short: as long as they are not, each batch throws the weights a
# little to and fro. So the rate falls again, to 0. That is the **decay**. Here is a network with four hidden layers,
# trained three times, with Adam and a rate of 0.03.


# %%
def losses_with(schedule, steps=300):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((256, 2))
    y = np.sin(2 * x[:, :1]) * x[:, 1:]
    new = {"rng": rng, "dtype": np.float64}
    hidden = [nn.Sequential(nn.Affine(32, 32, **new), np.tanh) for _ in range(4)]
    net = nn.Sequential(nn.Affine(2, 32, **new), *hidden, nn.Affine(32, 1, **new))
    optimizer, losses = nn.Adam(net.parameters()), []
    for step in range(steps):
        with mg.no_grad():
            losses.append(nn.mean_squared_error(net(x), y).item())
        optimizer.lr = schedule(step)
        optimizer.zero_grad()
        chosen = rng.integers(0, len(x), 32)  # a batch
        nn.mean_squared_error(net(x[chosen]), y[chosen]).backward()
        optimizer.step()
    return losses


schedules = {
    "always 0.03": lambda step: 0.03,
    "warm-up": lambda step: 0.03 * min(1, (step + 1) / 50),
    "warm-up and decay": nn.cosine_schedule(0.03, steps=300, warmup=50),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
trained = {}
for name, schedule in schedules.items():
    trained[name] = losses_with(schedule)
    left.plot([schedule(step) for step in range(300)], label=name)
    right.semilogy(trained[name])
    print(f"{name:17} largest loss {max(trained[name]):5.2f}, mean of the last 30 {np.mean(trained[name][-30:]):.3f}")
left.set(xlabel="step", title="rate")
right.set(xlabel="step", title="loss")
left.legend()
figure.savefig(OUT / "14_schedule.png", dpi=120)

# %% [markdown] name="clipping"
# Without a warm-up the second loss is 3.65, where the first was below 0.7: the first step threw the weights away. This
# small network recovers; a deep one may not. Without decay the loss swings to the end, about 0.050; with it, it rests at 0.028.
#
# ## Clipping
#
# Even in the middle of a training a step can be ruinous. A weight that works several times in a row makes a cliff in
# the loss surface, and on a cliff the gradient is huge. **Clipping** makes a gradient that is longer than a limit as
# long as the limit, and leaves its direction. The last page of this lesson does it by hand.
#
# ## Weight decay
#
# Large weights make a network sure of itself, and with few examples it is sure of their accidents (lesson 13). So one
# lets every step take a small part of each weight away: the **weight decay**. A weight fades if the examples do not
# ask for it again and again. In plain gradient descent it is enough to add `decay * w` to the gradient. With Adam that
# goes wrong, for Adam divides what it gets by its usual size. **AdamW** keeps the two apart. Here are two weights
# whose gradients only change their sign, so that nothing but the decay can move them for long. Those of the first are
# large, those of the second small.

# %%
for kind in (nn.Adam, nn.AdamW):
    w = nn.Parameter(np.array([1.0, 1.0]))
    optimizer = kind([w], lr=0.01, weight_decay=0.5)
    for step in range(300):
        optimizer.zero_grad()
        (w * [100.0 * (-1) ** step, 0.01 * (-1) ** step]).sum().backward()
        optimizer.step()
    print(f"{kind.__name__:5} the weights 1 and 1 become {w.data[0]:.3f} and {w.data[1]:.3f} in 300 steps")

# %% [markdown] name="implement"
# Where the decay is part of the gradient, the weight with the large gradients hardly feels it (0.968), and the other
# is gone. AdamW takes the same part from both: 0.5 percent in each step.
#
# ## Implement: tasks 14.2 and 14.3
#
# Task **14.2** is the rate of each step, with warm-up and decay. Task **14.3** is the weight decay of AdamW. You write
# momentum, Adam and clipping in lesson 9.
#
# ## Break
#
# A friend trains with Adam, too, and wants to choose the rate anew in each step. So she writes `her_step`. No error is
# raised, her loss falls, and every gradient is right. But it makes no difference which `betas` she takes: the path is
# the same, in all digits. Find out why **before** you read on. How far `a` goes in each step will help.


# %%
def her_step(weights, rate, betas):
    nn.Adam(weights, lr=rate, betas=betas).step()


for betas in ((0.9, 0.999), (0.5, 0.9)):
    a, b = nn.Parameter(np.array(4.0)), nn.Parameter(np.array(1.0))
    hers = [a.item()]
    for _ in range(60):
        a.grad = b.grad = None
        (a**2 + 50 * b**2).backward()
        her_step([a, b], 0.3, betas)
        hers.append(a.item())
    right_path = descend(lambda weights, betas=betas: nn.Adam(weights, lr=0.3, betas=betas), steps=60)
    print(f"betas {betas}: her a: {np.round(hers[:5], 4)}, with one Adam: {right_path[:5, 0].round(4)}")

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"A larger network should start with larger weights."** It should start with smaller ones, because more of them are
# added up.
#
# **"Decay is decay."** There are two: the decay of the *rate* makes steps shorter, the decay of the *weights* makes
# weights smaller.
#
# **"Where does `zero_grad()` go?"** Call it anywhere between `step()` and the next `backward()`. Between `backward()`
# and `step()` it would wipe out the gradients that `step()` is about to use. If it is forgotten, all old gradients
# count in full. That is momentum with `beta` = 1, a ball without friction. It never comes to rest.
#
# ## Once more: a step from a cliff
#
#     p = w ** 4
#     e = p - 1
#     loss = e ** 2
#
# At `w = 3` you get `p = 81` and `e = 80`; the lowest points are at 1 and -1. On paper: what gradient arrives at `p`,
# and what at `w`? Where does a step with rate 0.01 end, and where with the gradient clipped to 1? Then open
# `out/lessons/14_close.html`.

# %%
w = mg.Tensor(3.0, requires_grad=True, name="w")
with mg.trace():
    p = w**4
    e = p - 1
    loss = e**2
loss.backward()
g = w.grad.item()
print(f"loss {loss.item():.0f}, gradient of w {g:.0f}: the step ends at {3 - 0.01 * g:.1f}, clipped at {3 - 0.01:.2f}")
mg.explain(loss, OUT / "14_close.html", {"w": w}, language=LANGUAGE, lesson="course/14_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Squares of random numbers add up. Weights of the size 1/√n keep the numbers at one size, √2/√n behind a relu.
# - The steepest direction limits the learning rate. Too large means that the loss goes *up*.
# - Momentum adds up the steps: what swings cancels, what goes on grows, up to 1 / (1 - beta) times.
# - Adam divides a mean of gradients by the root of a mean of squares, each corrected for its start at 0.
# - Begin with a small rate, end with a small rate, and clip what is too long.
# - Weight decay goes beside Adam, not through it.
#
# ## Explain
#
# Write one paragraph: *Why does Adam divide its means by 1 - `beta ** t`, and what would happen without?* Then
# compare.
#
# ---
#
# **Model answer.** The running means start at 0 and take in only a small part of each gradient. After t steps the
# gradients have the weight 1 - `beta ** t` in the mean, and the 0 of the start has the rest. So the mean is too small
# by just this factor, and dividing by it makes it a proper weighted mean, whose weights sum to 1. Without it both
# means are too small at first, but not equally: `v` forgets more slowly, so it is too small for longer, and as the
# step divides by its root, the first steps would be too long.
#
# **The planted fault.** She makes a new Adam for each step. So both means begin at 0 each time, and every step is a
# *first* step: exactly the rate, in the direction of the sign. `a` goes 0.3, 0.3, 0.3, ... Nothing is averaged, and
# `betas` have no effect. Keep one optimizer for the whole training, and change its rate: `optimizer.lr = rate`.
