# %% [markdown] name="title"
# # Lesson 13: a first hidden layer
#
# Take this lesson after lesson 6. (The numbers of lessons and tasks never change, so that saved work stays valid; a
# lesson that came later has a later number.) You have all the parts of a network: products, broadcasting, a loss. Now
# you put two layers on top of each other, see why something bent must stand between them, watch a boundary move while
# the network learns, and find out how far its answers can be trusted.
#
# You need: lessons 1 to 6. Time: 20 minutes.

# %%
import math
import runpy
from pathlib import Path

import numpy as np

import minigrad as mg
import nn
from minigrad.learn.checker import right_answer
from minigrad.learn.tasks import find

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
#     a = tanh(h)
#     y = v * a
#     r = y - 1
#     loss = r ** 2
#
# Two weights, `w` and `v`, and a `tanh` between them. With `x = 2`, `w = 0.5` and `v = -1` the answer `y` is -0.7616,
# and it should be 1. What would this program be without the `tanh`? And what does `tanh` do to the gradient that comes
# back through it? The page is `out/lessons/13_open.html`.

# %%
x = 2.0
w, v = mg.Tensor(0.5, requires_grad=True, name="w"), mg.Tensor(-1.0, requires_grad=True, name="v")
with mg.trace():
    h = w * x
    a = np.tanh(h)
    y = v * a
    r = y - 1
    loss = r**2
loss.backward()
to_a = 2 * r.item() * v.item()
print(f"a = {a.item():.4f}, y = {y.item():.4f}; to a {to_a:.4f}, times 1 - a ** 2 = {1 - a.item() ** 2:.4f} ", end="")
print(f"is {to_a * (1 - a.item() ** 2):.4f}, to w {w.grad.item():.4f}")
mg.explain(loss, OUT / "13_open.html", {"w": w, "v": v}, language=LANGUAGE, lesson="course/13_open")

# %% [markdown] name="neuron"
# ## One neuron draws a line
#
# Here are two classes of points that lie like two moons, each with one horn inside of the other. A single **neuron**,
# tanh(w · x + b), is above 0 on one side of a straight line and below 0 on the other. Let us train one with the tape
# that *you* wrote. The next cell takes `3_4_tape_train.py` from the folder in which you run the lesson: run it in your
# folder of answers. If your answer to task 3.4 is missing or not right yet, it takes the course's solution, and says so.
# Three lines add a `tanh`, in case your `Value` has none. (How `moons` draws its points does not matter here.)


# %%
def moons(count, noise, rng):
    """Return points (count, 2), every other one on the second moon, and the number of the moon, 0 or 1."""
    turn, label = rng.uniform(0, np.pi, count), np.arange(count) % 2
    first, second = np.stack([np.cos(turn), np.sin(turn)], 1), np.stack([1 - np.cos(turn), 0.5 - np.sin(turn)], 1)
    return np.where(label[:, None] == 0, first, second) + noise * rng.normal(size=(count, 2)), label


answer = right_answer(find("3.4"), Path())
whose = "the course's tape" if answer == find("3.4").solution else "your tape"
Value = runpy.run_path(str(answer))["Value"]


def tanh(value):
    t = math.tanh(value.data)
    return Value(t, (value,), (1 - t**2,))


rng = np.random.default_rng(0)
points, label = moons(60, 0.1, rng)
w0, w1, b = Value(0.1), Value(0.1), Value(0.0)
for _ in range(60):
    w0.grad = w1.grad = b.grad = 0.0
    loss = Value(0.0)
    for (left, up), which in zip(points.tolist(), label.tolist()):
        error = tanh(w0 * left + w1 * up + b) + (
            1.0 if which else -1.0
        )  # less what is wanted: 1 for moon 0, -1 for moon 1
        loss = loss + error * error
    loss.backward()
    for each in (w0, w1, b):
        each.data -= 0.01 * each.grad
guess = (points @ [w0.data, w1.data] + b.data < 0).astype(int)
print(f"one neuron on {whose}: {(guess == label).sum()} of {len(label)} points on the right side of its line")

# %% [markdown] name="collapse"
# A line cannot do it: some points of each moon lie on the wrong side, wherever it runs.
#
# ## Why two layers need a bend
#
# Then take more neurons, a whole **hidden layer**, and a second layer that adds their answers up. *Hidden* says only
# that its numbers are neither given nor wanted. But two layers without a bend are one layer in disguise: the product
# of two matrices is a matrix (lesson 6).

# %%
W1, W2 = rng.normal(size=(2, 16)), rng.normal(size=(16, 2))
print("two layers are one:", np.allclose(points @ W1 @ W2, points @ (W1 @ W2)))
print("with tanh between:  ", np.allclose(np.tanh(points @ W1) @ W2, points @ (W1 @ W2)))

# %% [markdown] name="train"
# With `tanh` between them, each hidden number is a soft step across the plane, along a line of its own. The second layer
# adds such steps, some upward, some downward, and a sum of steps in many directions can follow any shape. The loss is
# the cross-entropy of lesson 6, with a logit for each moon. `nn.Affine(2, 16)` is `x @ W + b` with random weights, as
# the hidden numbers must differ from each other at the start (lesson 9 shows what happens otherwise).


# %%
def network(hidden, rng):
    new = {"rng": rng, "dtype": np.float64}
    return nn.Sequential(nn.Affine(2, hidden, **new), np.tanh, nn.Affine(hidden, 2, **new))


def train(net, points, label, steps, watch=lambda step: None):
    optimizer = nn.SGD(net.parameters(), lr=0.5, momentum=0.9)
    for step in range(steps):
        watch(step)
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(points), label)
        loss.backward()
        optimizer.step()
    return loss.item()


def right(net, points, label):
    with mg.no_grad():
        return int((net(points).data.argmax(axis=1) == label).sum())


net = network(16, rng)
across, up = np.meshgrid(np.linspace(-1.6, 2.6, 80), np.linspace(-1.2, 1.7, 60))
figure, several = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")


def draw(step):
    if step in (0, 20, 299):
        panel = several[[0, 20, 299].index(step)]
        with mg.no_grad():
            logits = net(np.stack([across.ravel(), up.ravel()], 1)).data
        ahead = (logits[:, 1] - logits[:, 0]).reshape(across.shape)
        panel.contourf(across, up, ahead, levels=[-99, 0, 99], cmap="coolwarm", alpha=0.3)
        panel.scatter(*points.T, c=label, cmap="coolwarm", s=12)
        panel.set(title=f"after {step} steps: {right(net, points, label)} of 60")


loss = train(net, points, label, 300, draw)
figure.suptitle("The colour behind a point: what the network says. The colour of the point: what is right.")
figure.savefig(OUT / "13_boundary.png", dpi=120)
print(f"after 300 steps: loss {loss:.3f}, {right(net, points, label)} of 60 right")

# %% [markdown] name="implement"
# In the picture the boundary first lies anywhere, then nearly straight, and at last it goes around both horns.
#
# ## Implement: tasks 13.1 and 13.2
#
# Task **13.1**: this network with your own layers, forward and backward: two products (task 6.1), two biases that
# were broadcast (task 5.2), `tanh` (task 4.2) and the cross-entropy (task 6.3). Task **13.2** is for the next section.
#
# ## What it has learned, and what by heart
#
# All points are right. Is the network good? Not every answer on points that it was trained with is knowledge: a network
# that is large enough learns its examples by heart, with all their accidents. So keep some examples apart, the **held-out**
# ones, never train with them, and measure the loss on them too. Here are few points with much noise, and a large layer:

# %%
rng = np.random.default_rng(1)
few, few_label = moons(30, 0.35, rng)
apart, apart_label = moons(400, 0.35, rng)
net = network(64, rng)
inside, outside = [], []


def note(step):
    with mg.no_grad():
        inside.append(nn.cross_entropy(net(few), few_label).item())
        outside.append(nn.cross_entropy(net(apart), apart_label).item())


train(net, few, few_label, 600, note)
best = int(np.argmin(outside))
print(f"at the end: training loss {inside[-1]:.3f}, held-out loss {outside[-1]:.3f}")
print(f"lowest held-out loss: {outside[best]:.3f}, in step {best}; in training it was {inside[best]:.3f} there")

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(inside, color="tab:blue", label="on the points of the training")
axes.plot(outside, color="tab:red", label="on held-out points")
axes.axvline(best, linestyle=":", color="gray", label="stop here")
axes.set(xlabel="step", ylabel="loss", title="Learning, and then learning by heart", ylim=(0, 1.5))
axes.legend()
figure.savefig(OUT / "13_held_out.png", dpi=120)

# %% [markdown] name="break"
# In training the loss ends at 0.003. The held-out loss falls too at first, is 0.386 in step 35, and then rises until it
# is 2.574: far above 0.693, the loss of a coin flip. The network is more and more sure of what it has learned by heart,
# and on other points that is wrong. This is called **overfitting**. One remedy is to stop where the held-out loss was
# lowest, which is task 13.2; a smaller layer and more points are others.
#
# ## Break
#
# A friend has few points too. She makes more of them: each is copied three times, and each copy is moved by a tiny bit.
# Then she shuffles all of them, keeps a quarter apart, and trains. Her held-out loss ends near 0. But on new points her
# loss is far above 0.693, too. Find the fault **before** you read on.

# %%
rng = np.random.default_rng(2)
copies = np.repeat(few, 4, axis=0) + 0.01 * rng.normal(size=(120, 2))
order = rng.permutation(120)
hers, hers_label = copies[order], np.repeat(few_label, 4)[order]
net = network(64, rng)
train(net, hers[30:], hers_label[30:], 600)
with mg.no_grad():
    told = nn.cross_entropy(net(hers[:30]), hers_label[:30]).item()
    true = nn.cross_entropy(net(apart), apart_label).item()
print(f"her held-out loss: {told:.3f}; on new points: {true:.3f}")

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"More hidden numbers are always better."** They make more shapes possible, the accidents of your examples included.
# With more examples a large layer does no harm; with few, watch the held-out loss.
#
# **"The held-out loss chose the step where I stopped. So it is the loss to report."** Not quite. It is the lowest of
# many losses, so it is a little too good. For a number to report, keep a third part, the *test* set, and look at it
# once.
#
# **"Why tanh, and not something else?"** Any bend will do. relu(z), z above 0 and 0 below, is another; the lessons
# on Transformers use it. What matters is that it is not a straight line, and that a slope is left where you are.
# `tanh` has almost none for large numbers, as the last page shows.
#
# **"Can I begin with all weights 0?"** Then all hidden numbers are equal, and so are their gradients. They stay equal
# for ever: sixteen copies of one neuron. Here it is worse still: what comes back is multiplied by a weight that is 0, so
# only the last bias can move.

# %%
net = network(16, rng)
for each in net.parameters():
    each.data = np.zeros_like(each.data)
loss = train(net, points, label, 300)
print(f"from zeros: loss {loss:.3f}, {right(net, points, label)} of 60 right")

# %% [markdown] name="close"
# ## Once more: wrong, and unable to learn
#
#     h = w * x
#     a = tanh(h)
#     e = a + 1
#     loss = e ** 2
#
# With `x = 3` and `w = 2` the neuron says almost exactly 1, and -1 is wanted: it cannot be more wrong. What gradient does
# `w` get? Guess its size, then look at `out/lessons/13_close.html`.

# %%
x = 3.0
w = mg.Tensor(2.0, requires_grad=True, name="w")
with mg.trace():
    h = w * x
    a = np.tanh(h)
    e = a + 1
    loss = e**2
loss.backward()
print(
    f"a = {a.item():.5f}, loss {loss.item():.4f}, slope of tanh {1 - a.item() ** 2:.6f}, gradient of w {w.grad.item():.6f}"
)
mg.explain(loss, OUT / "13_close.html", {"w": w}, language=LANGUAGE, lesson="course/13_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Layers without a bend between them are a single layer. The bend makes each hidden number a soft step.
# - A network that is large enough learns its examples by heart. Only examples that were kept apart tell what it knows.
# - Stop where the held-out loss is lowest.
# - What is kept apart must have nothing in common with what is trained on: no copies.
# - Where `tanh` is flat, nothing is learned.
#
# ## Explain
#
# Write one paragraph: *Why does the held-out loss rise while the training loss still falls?* Then compare.
#
# ---
#
# **Model answer.** At first the network learns what all the points have in common, the shape of the moons: that helps on
# every point, so both losses fall. When that is learned, the training loss can only fall further by what is peculiar to
# the few points: the boundary bends around single ones that lie on the wrong side by accident. Other points do not have
# these accidents. For them the bent boundary is worse than the smooth one, and the network is even sure of it, which a
# cross-entropy punishes. So the held-out loss rises.
#
# **The planted fault.** The copies were made *before* the points were parted. So nearly every held-out point has a
# copy among those of the training, and what was learned by heart is right for it. Part first, then make copies of the
# part that is trained with.
