# %% [markdown] name="title"
# # Lesson 6: matmul, softmax, cross-entropy and layer norm by hand
#
# These four steps stand in nearly every network, up to GPT. Here you work out the backward pass of each, with what you
# know: slopes multiply along a way, contributions add up, and a gradient has the shape of its array. And you meet the
# places where a computer's numbers run out: an `exp` that is too large, the logarithm of 0, a division by 0.
#
# You need: lessons 1 to 5. Time: two sittings of 20 minutes, the second from *Cross-entropy* on, and as long as you
# like for the tasks.

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
# A **classifier** looks at a picture and says: cat, dog or bird. It gives each class a number, its **logit**; the
# larger, the more likely. **Softmax** makes probabilities of the logits, numbers between 0 and 1 that add up to 1:
#
#     e = exp(x)
#     total = sum(e)
#     p = e / total
#     picked = p[1]
#     loss = -log(picked)
#
# Here the right class has the number 1; this is called the **label**. `log` is the natural logarithm, which undoes
# `exp`: log(exp(a)) = a. Its slope at `p` is 1 / p. The loss is 0 if the right class has the probability 1, and grows
# the smaller that probability is. It is called **cross-entropy**.
#
# The three logits `x` are chosen so that `e` is [1, 2, 5], and `p` is [0.125, 0.25, 0.625]. Only `p[1]` goes into the
# loss. Which logits get a gradient? The page is `out/lessons/06_open.html`.

# %%
x = mg.Tensor(np.log([1.0, 2.0, 5.0]), requires_grad=True, name="x")
with mg.trace():
    e = np.exp(x)
    total = np.sum(e)
    p = e / total
    picked = p[1]
    loss = -np.log(picked)
loss.backward()
print(f"p = {p.data}, loss = {loss.item():.4f}, gradient of x: {x.grad.data.round(3)}")
to_p = round(-1 / picked.item(), 9)
print(f"to p[1] {to_p}, from there to total {to_p * -2 / 8**2} and to e[1] {to_p / 8}")
mg.explain(loss, OUT / "06_open.html", {"x": x}, language=LANGUAGE, lesson="course/06_open")

# %% [markdown] name="matmul"
# ## Matmul: many examples at once
#
# In lesson 4, `W @ x` was the product with one vector. A network takes many examples at once, a **batch**. Each is a
# *row* of `x`, and `y = x @ W` has one row for each: (2, 3) @ (3, 4) gives (2, 4). Such a matrix product is called
# **matmul** for short.
#
# How does one number of `W`, say `W[2, 0]`, reach the end? In each row `i` it is multiplied by `x[i, 2]`, and goes into
# `y[i, 0]`. So it is used once for each row, like a number that was broadcast, and the contributions
# `x[i, 2] * g[i, 0]` are added over the rows. In the same way `x[0, 2]` is used once for each column of `y`, and its
# contributions `W[2, j] * g[0, j]` are added over the columns.

# %%
rng = np.random.default_rng(0)
x, W, g = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
nudge, h = np.zeros((3, 4)), 0.00001
nudge[2, 0] = h
by_nudging = (np.sum(g * (x @ (W + nudge))) - np.sum(g * (x @ (W - nudge)))) / (2 * h)
from_rows = [x[i, 2] * g[i, 0] for i in range(2)]
print(f"W[2, 0] by nudging: {by_nudging:.4f}; from the rows: {from_rows[0]:.4f} + {from_rows[1]:.4f}")

# %% [markdown] name="softmax"
# For all places together, both gradients are matrix products again. You can find them by the shapes alone. `g` is
# (2, 4), `W` is (3, 4), and the gradient of `x` must be (2, 3): which product does that, and what must be transposed?
#
# ## Implement: task 6.1
#
# Task **6.1**: write both, also for batches with more axes in front (sentences, words, numbers).
#
# ## Softmax: everyone has a part in everyone
#
# Raise one logit, and its probability grows. The others must shrink, since together they are 1. So each number that
# comes out depends on each that goes in, and there is a whole table of slopes, the Jacobian of lesson 4. From `x[j]`
# two ways lead to `p[i] = e[i] / total`:
#
# - Through `total`, always. It moves by `e[j]` (the slope of `exp` is its value), and `p[i]` by -`e[i]` / total² as
#   much. The product is `-p[i] * p[j]`.
# - Through `e[i]`, only if i = j. The product is `e[i] / total`, that is `p[i]`.


# %%
def naive_softmax(x):
    e = np.exp(x)
    return e / np.sum(e)


x = np.log([1.0, 2.0, 5.0])
p = naive_softmax(x)
J = np.diag(p) - np.outer(p, p)  # p[i] on the diagonal, and -p[i] * p[j] everywhere
print("the table:", J.round(3).tolist(), " as minigrad has it:", np.allclose(J, mg.jacobian(naive_softmax)(x)))
print("each row adds up to", J.sum(axis=1).round(9) + 0)

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6))
left.bar(np.arange(3) - 0.2, p, 0.4, label="before", color="lightgray", edgecolor="black")
left.bar(np.arange(3) + 0.2, naive_softmax(x + np.array([1, 0, 0])), 0.4, label="x[0] is raised by 1")
left.set_xticks(range(3), [f"p[{i}]" for i in range(3)])
left.set_title("One grows, the others shrink", fontsize=10)
left.legend()
right.imshow(J, cmap="coolwarm", vmin=-0.3, vmax=0.3)
for i in range(3):
    for j in range(3):
        right.text(j, i, f"{J[i, j]:.3f}", ha="center", va="center")
right.set_xticks(range(3), [f"by x[{j}]" for j in range(3)])
right.set_yticks(range(3), [f"p[{i}]" for i in range(3)])
right.set_title("The Jacobian of softmax", fontsize=10)
figure.savefig(OUT / "06_softmax.png", dpi=120)

# %% [markdown] name="overflow"
# Backward you need only `g @ J`, and no table for it. From the direct way, the class `j` gets `p[j] * g[j]`. From the
# way through `total` it gets -`p[j]` times the sum of all `p[i] * g[i]`, which is one number for all classes: the
# average of `g`, in which likely classes count more. So all that matters is by how much `g[j]` differs from this
# average.
#
# ### An `exp` that is too large
#
# Each row of the table adds up to 0: if all logits move by the same amount, no probability moves at all. That is of
# use. `exp(1000)` is larger than any number that a Python `float` can hold. It becomes `inf` (infinite), which
# is called an **overflow**, and `inf / inf` becomes `nan` (not a number). So subtract the largest logit from all of
# them. The probabilities stay the same, and no `exp` is larger than 1.

# %%
big = np.array([1000.0, 1001.0])
with np.errstate(all="ignore"):  # no warnings from NumPy
    print("naive:", naive_softmax(big), " shifted:", naive_softmax(big - big.max()).round(3))
    apart = np.array([1000.0, 0.0])
    shifted = naive_softmax(apart - apart.max())
    print("naive loss of label 1:", -np.log(shifted[1]))
print("right loss:", nn.cross_entropy(apart[None], np.array([1])).item())  # [None] makes a batch of one row

# %% [markdown] name="cross_entropy"
# ## Implement: task 6.2
#
# Task **6.2**: softmax, forward and backward, along the last axis. Mind `keepdims`.
#
# ## Cross-entropy: never take the log of a softmax
#
# The last two lines printed show another hole. With the logits 1000 and 0, the second probability is exp(-1000), so
# small that it is rounded to 0, and log 0 is minus infinity. But the loss is simply 1000! This number went through
# `exp`, was lost there, and `log` could not bring it back. So do not go there at all. The logarithm of a quotient is a
# difference: log(e / total) = x - log(total). With the largest logit subtracted first, no number gets lost.
#
# Backward is the nicest surprise of this lesson. You have seen it on the page: the gradient of the logits is `p`, with
# 1 subtracted at the label: [0.125, -0.75, 0.625]. A training goes against it. So each wrong class is pushed down by as
# much probability as it has, and the right class is pushed up by what it lacks.
#
# In a batch, the loss is mostly the *mean* over the rows. Then the gradient of each row is divided by their number.
# Sum or mean, both are fine, but the loss and its gradient must mean the same.
#
# ## Implement: task 6.3
#
# Task **6.3**: loss and gradient, for a batch.
#
# ## Layer norm: two movements that change nothing
#
# From layer to layer, the numbers in a network may become larger and larger, or smaller and smaller. **Layer norm**
# puts each row right: its mean becomes 0, and its **variance** 1. The variance `v` is the mean of the squared distances
# from the mean. (`sqrt` is the square root, and `eps` a small number, see below.)
#
#     c = x - mean(x)          s = sqrt(v + eps)
#     v = mean(c ** 2)         n = c / s
#
# All of `x` works in the mean and in the variance, so there are many ways back. You can add them all up (on the last
# page you will). Or you ask: what changes *nothing*? Two movements of `x`:
#
# - All its numbers move by the same amount. The mean takes that away again.
# - All of them move away from the mean, each by as much as its `n` says. The division by `s` takes that away again
#   (but for the small `eps`).
#
# Along what changes nothing the slope is 0. The slope along a movement is the sum of gradient times movement (lesson
# 4). So the gradient of `x` must add up to 0, and times `n` it must add up to 0 as well. To make it so, two parts of
# the gradient `g` that arrives at `n` are taken away: its mean, and its part along `n`, which is `n * mean(g * n)`.
# What is left is divided by `s`, since `n` moves 1 / s times as fast as `x`.

# %%
row, g = np.array([1.0, 2.0, 4.0, 5.0, 9.0, 3.0]), np.array([3.0, 1.0, 0.0, 2.0, 4.0, -1.0])
n, pull = mg.vjp(lambda x: (x - np.mean(x)) / np.std(x), row)
(left_over,) = pull(g)
print("gradient of the row:", left_over.round(3))
print("adds up to", abs(left_over.sum().round(9)), " and times n to", abs((left_over * n).sum().round(9)))

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
parts = {
    "what arrives at n": g,
    "... without its mean": g - g.mean(),
    "... and without its part along n": left_over * row.std(),
}
for each, (name, part) in zip(axes, parts.items(), strict=True):
    each.bar(range(6), part)
    each.plot(range(6), n, "o", color="black", label="n")
    each.set(title=name, xticks=range(6))
axes[0].legend()
figure.savefig(OUT / "06_layer_norm.png", dpi=120)

# %% [markdown] name="epsilon"
# ### What `eps` is for, and why it stands inside of the root
#
# If all numbers of a row are the same, then `v` is 0, and `c / s` is 0 / 0. A small `eps` prevents that. Inside of the
# root, `sqrt(v + eps)`, or outside, `sqrt(v) + eps`? Forward both give 0, as they should. Backward they differ: the
# slope of sqrt(v) is 1 / (2 sqrt(v)), and at `v = 0` that is infinite. Infinity times 0 is `nan`:

# %%
for inside in (True, False):
    x = mg.Tensor([2.0, 2.0, 2.0], requires_grad=True)
    c = x - np.mean(x)
    v = np.mean(c**2)
    n = c / (np.sqrt(v + 0.00001) if inside else np.sqrt(v) + 0.00001)
    with np.errstate(all="ignore"):
        n.backward(np.array([1.0, 0.0, 0.0]))
    print("inside: " if inside else "outside:", "n =", n.data, " gradient of x:", x.grad.data.round(1))

# %% [markdown] name="tasks"
# One such row, and after the next step of a training the weights of all earlier layers are `nan`; soon all are.
#
# ## Implement: task 6.4
#
# Task **6.4**: layer norm, with a weight and a bias that are learned (task 5.2). If you get stuck in one of the tasks,
# write the step with minigrad, and compare each gradient with yours, beginning at the end.
#
# ## Break
#
# A friend knows that log 0 is dangerous, and has an idea: add a tiny number first. No `inf` any more, no `nan`, and the
# loss is right to eight digits, she says. But in her training the worst mistakes are never mended: a picture that is
# called a cat with full conviction stays a cat. Find the reason **before** you read on. The picture is a hint.


# %%
def friends_loss(x, label):
    e = np.exp(x - np.max(x.data))  # a shift, which changes nothing
    p = e / np.sum(e)
    return -np.log(p[label] + 0.000000001)


def right_loss(x, label):
    return nn.cross_entropy(x[None], np.array([label]))


gaps = np.linspace(0, 60, 121)
curves = {right_loss: [], friends_loss: []}
for gap in gaps:  # how far the right class, number 1, lies behind
    for loss_of, curve in curves.items():
        x = mg.Tensor([gap, 0.0], requires_grad=True)
        loss = loss_of(x, 1)
        loss.backward()
        curve.append(loss.item())
        if gap in (5, 50):
            print(f"{loss_of.__name__} at {gap:g}: {loss.item():.3f}, gradient {x.grad.data.round(3) + 0}")

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(gaps, curves[right_loss], color="tab:blue", label="cross-entropy")
axes.plot(gaps, curves[friends_loss], "--", color="tab:red", label="the friend's")
axes.set(xlabel="the right logit lies behind by", ylabel="loss", title="The worse the mistake, the larger the loss?")
axes.legend()
figure.savefig(OUT / "06_friend.png", dpi=120)

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"The slope of softmax is p (1 - p)."** That is the diagonal of the table. Without the rest, in our first program
# only `x[1]` would get a gradient, and the wrong classes would never be pushed down.
#
# **"`softmax(x).backward(np.ones(3))` gives zeros. A bug?"** No. Ones ask about the *sum* of the probabilities (lesson
# 4). The sum is always 1, so its slopes are 0. Ask about something that can move.
#
# **"Do I apply softmax before `nn.cross_entropy`?"** No, it takes logits. Otherwise softmax is applied twice. That
# runs, and learns a little, but with three classes the loss never gets below 0.551, not even for a perfect answer.
# For then the second softmax is given the numbers 0, 1 and 0, makes e / (e + 2) of the 1, and -log of that is 0.551.

# %%
x = mg.Tensor(np.log([1.0, 2.0, 5.0]), requires_grad=True)
p = mg.softmax(x)
print("only the diagonal:", (np.array([0.0, -4.0, 0.0]) * p.data * (1 - p.data)).round(3) + 0)
p.backward(np.ones(3))
print("ones:", x.grad.data.round(9) + 0)
perfect, label = np.array([[0.0, 100.0, 0.0]]), np.array([1])
print(f"logits: {nn.cross_entropy(perfect, label).item():.3f}, ", end="")
print(f"softmax applied twice: {nn.cross_entropy(mg.softmax(perfect), label).item():.3f}")

# %% [markdown] name="close"
# ## Once more: layer norm, every way
#
#     x = [1, 1, 5, 5]        v = mean(c ** 2)        g = [4, 0, 0, 0]
#     m = mean(x)             s = sqrt(v)             q = g * n
#     c = x - m               n = c / s               loss = sum(q)
#
# Here `eps` is 0, so that the numbers stay round: `m` is 3, `c` is [-2, -2, 2, 2], `v` is 4, `s` is 2, and `n` is
# [-1, -1, 1, 1]. With the two movements in mind: what must be the gradient of `x`? Then go through all the ways on
# `out/lessons/06_close.html`.

# %%
x = mg.Tensor([1.0, 1.0, 5.0, 5.0], requires_grad=True, name="x")
g = np.array([4.0, 0.0, 0.0, 0.0])
with mg.trace():
    m = np.mean(x)
    c = x - m
    v = np.mean(c**2)
    s = np.sqrt(v)
    n = c / s
    q = g * n
    loss = np.sum(q)
loss.backward()
print("n =", n.data, " gradient of x:", x.grad.data)
mg.explain(loss, OUT / "06_close.html", {"x": x}, language=LANGUAGE, lesson="course/06_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Matmul: a weight is used for every row of the batch, so its gradient is a sum over them. The shapes tell the rest.
# - Softmax: every logit has a part in every probability. The slopes are a table, not only its diagonal.
# - Subtract the largest logit before `exp`. Compute the logarithm of a softmax as a difference, never with `log` of it.
# - Cross-entropy, backward: `p`, with 1 subtracted at the label; divided by the number of rows if the loss is a mean.
# - Layer norm, backward: without the mean, without the part along `n`, divided by `s`. And `eps` inside of the root.
#
# ## Explain
#
# One paragraph: *Why does the loss of one class push all the logits?* Then compare.
#
# ---
#
# **Model answer.** The loss looks only at the probability of the right class. But this probability is its `e` divided
# by the total, and the total holds the `e` of all classes. If a wrong logit grows, the total grows, the right
# probability shrinks, and the loss grows. So there is a way from each logit to the loss, and along each way comes a
# contribution. For the wrong classes it comes only through the total, and is their probability. For the right class
# the direct way is added, which makes its probability minus 1.
#
# **The planted fault.** The tiny number is added to `p[label]` *inside* of the logarithm. As long as the probability
# is much larger than that, it does no harm. But if the right class lies 50 behind, its probability is far smaller,
# and `-log` sees only the tiny number: the loss stays at 20.723, which is -log(0.000000001), a flat line, and the
# slope of a flat line is 0. So the worst mistakes have no gradient at all, where cross-entropy has -1 for the right
# class. No tiny number is needed if the logarithm of a softmax is never taken.
