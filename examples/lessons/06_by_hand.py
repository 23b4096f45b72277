# %% [markdown] name="title"
# # Lesson 6: matmul, softmax, cross-entropy and layer norm by hand
#
# These four steps stand in nearly every network, up to GPT. You work out the backward pass of each with what you know:
# slopes multiply along a way, contributions add up, and a gradient has the shape of its array.
#
# You need: lessons 1 to 5. Time: 20 minutes, and as long as you like for the tasks, which need nothing that stands in a
# box (text with a line at its left).

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
# The number of the right class, here 1, is called the **label**. `log` is the natural logarithm: log(exp(a)) = a, and
# its slope at `p` is 1 / p. This loss is called **cross-entropy**. It is 0 if the right class has the probability 1.
#
# The logits `x` are chosen so that `e` is [1, 2, 5], and `p` is [0.125, 0.25, 0.625]. Only `p[1]` goes into the loss.
# Which logits get a gradient? The page is `out/lessons/06_open.html`.

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
# A network takes many examples at once, a **batch**. Each is a *row* of `x`, and `y = x @ W` has one row for each:
# (2, 3) @ (3, 4) gives (2, 4). This product is called **matmul**.
#
# How does `W[2, 0]` reach the end? In each row `i` it is multiplied by `x[i, 2]`, and goes into `y[i, 0]`. So it is
# used once for each row, like a number that was broadcast, and the contributions `x[i, 2] * g[i, 0]` are added over the
# rows. In the same way, what comes to `x[0, 2]` is added over the columns.

# %%
rng = np.random.default_rng(0)
x, W, g = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
nudge, h = np.zeros((3, 4)), 0.00001
nudge[2, 0] = h
by_nudging = (np.sum(g * (x @ (W + nudge))) - np.sum(g * (x @ (W - nudge)))) / (2 * h)
from_rows = [x[i, 2] * g[i, 0] for i in range(2)]
print(f"W[2, 0] by nudging: {by_nudging:.4f}; from the rows: {from_rows[0]:.4f} + {from_rows[1]:.4f}")

# %% [markdown] name="softmax"
# For all places together, both gradients are matrix products again, which you find by the shapes alone. `g` is (2, 4),
# `W` is (3, 4), and the gradient of `x` must be (2, 3): which product does that, and what must be transposed?
#
# ## Implement: task 6.1
#
# Task **6.1**: write both, also for batches with more axes in front.
#
# ## Softmax: everyone has a part in everyone
#
# Raise one logit, and its probability grows; the others shrink, since together they are 1. So there is a whole table of
# slopes, the Jacobian of lesson 4. From `x[j]` to `p[i] = e[i] / total` two ways lead, as on the page: always through
# `total`, with the slope `-p[i] * p[j]`, and if i = j also directly, with the slope `p[i]`.
#
# > **Box: these two slopes.** The slope of `exp` is its value. So `total` moves by `e[j]`, and `p[i]` by -`e[i]` /
# > total² as much: the product is `-p[i] * p[j]`. On the direct way it is `e[i] / total`, that is `p[i]`.


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
right.set_xticks(range(3), [f"with x[{j}]" for j in range(3)])
right.set_yticks(range(3), [f"p[{i}]" for i in range(3)])
right.set_title("The Jacobian of softmax", fontsize=10)
figure.savefig(OUT / "06_softmax.png", dpi=120)

# %% [markdown] name="overflow"
# Backward you need only `g @ J`, and no table. On the direct way, the class `j` gets `p[j] * g[j]`. Through `total` it
# gets -`p[j]` times the sum of all `p[i] * g[i]`, one number for all classes.
#
# > **Box: what that number is.** It is the average of `g`, in which likely classes count more. So all that matters is
# > by how much `g[j]` differs from this average.
#
# ### An `exp` that is too large
#
# `exp(1000)` is larger than any Python `float`. It becomes `inf` (infinite), which is called an **overflow**, and
# `inf / inf` becomes `nan` (not a number). But each row of the table adds up to 0: if all logits move by the same
# amount, no probability moves. So subtract the largest logit from all of them. Then no `exp` is larger than 1.

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
# The last two lines printed show another hole. With the logits 1000 and 0, the second probability, exp(-1000), is
# rounded to 0, and log 0 is minus infinity. But the loss is simply 1000! It was lost in `exp`. The logarithm of a
# quotient is a difference: log(e / total) = x - log(total). With the largest logit subtracted first, no number gets
# lost.
#
# You have seen the gradient of the logits on the page: it is `p`, with 1 subtracted at the label,
# [0.125, -0.75, 0.625].
#
# > **Box: what a training does with it.** It goes against the gradient. So each wrong class is pushed down by as much
# > probability as it has, and the right class is pushed up by what it lacks.
#
# In a batch, the loss is mostly the *mean* over the rows. Then each row's gradient is divided by their number.
#
# ## Implement: task 6.3
#
# Task **6.3**: loss and gradient, for a batch.
#
# ## Layer norm: two movements that change nothing
#
# Numbers should not grow or shrink from layer to layer. So **layer norm** makes the mean of each row 0, and its
# **variance** 1. The variance `v` is the mean of the squared distances from the mean, and `eps` a small number against
# a division by 0.
#
#     c = x - mean(x)          s = sqrt(v + eps)
#     v = mean(c ** 2)         n = c / s
#
# It is shortest to ask what changes *nothing*:
#
# - All numbers of `x` move by the same amount. The mean takes that away again.
# - All move away from the mean, each by as much as its `n` says. The division by `s` takes that away again (but for
#   `eps`).
#
# The slope along such a movement is 0, and it is the sum of gradient times movement (lesson 4). So the gradient of `x`
# must add up to 0, and times `n` as well. Every other movement `d` changes neither the mean nor `s`, so it moves `n` by
# `d / s`, and the slope along it is that of `g / s`. Only one gradient fits this: `g` without its mean and
# its part along `n`, divided by `s`. That part is `n * mean(g * n)`: since `mean(n * n)` is 1, what is left, times
# `n`, adds up to 0.

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
# > **Box: what `eps` is for, and why it stands inside of the root.** If all numbers of a row are the same, `v` is 0,
# > and `c / s` is 0 / 0. A small `eps` prevents that. Inside of the root, `sqrt(v + eps)`, or outside, `sqrt(v) + eps`?
# > Forward both give 0, as they should. Backward they differ: the slope of sqrt(v) is 1 / (2 sqrt(v)), and at `v = 0`
# > that is infinite. Infinity times 0 is `nan`. After one such row, the next step of a training makes the weights of
# > all earlier layers `nan`; soon all are.

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
# ## Implement: task 6.4
#
# Task **6.4**: layer norm, with a weight and a bias that are learned (task 5.2). If you get stuck, write the step with
# minigrad, and compare the gradients, beginning at the end.
#
# ## Break
#
# A friend knows that log 0 is dangerous, and adds a tiny number first. The loss is right to eight digits, without `inf`
# and `nan`. But in her training the worst mistakes are never corrected: a picture that is called a cat with full
# conviction stays a cat. Find the reason **before** you read on. The picture is a hint.


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
# **"The slope of softmax is p (1 - p)."** That is the diagonal of the table. With it alone, only `x[1]` would get a
# gradient in our first program.
#
# **"Do I apply softmax before `nn.cross_entropy`?"** No, it takes logits. Softmax applied twice learns a little, but
# with three classes the loss never gets below 0.551. For even if the answer is perfect, the second softmax is given 0,
# 1 and 0, and makes e / (e + 2) of the 1. -log of that is 0.551.
#
# > **Box: "`softmax(x).backward(np.ones(3))` gives zeros. A bug?"** No. Ones ask about the *sum* of the probabilities
# > (lesson 4). The sum is always 1, so its slopes are 0. Ask about something that can move.

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
# Here `eps` is 0. Then `m` is 3, `c` is [-2, -2, 2, 2], `v` is 4, `s` is 2, and `n` is [-1, -1, 1, 1]. With the two
# movements in mind: what must be the gradient of `x`? Then go through all the ways on `out/lessons/06_close.html`.

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
# - Matmul: the gradient of a weight is a sum over the rows of the batch. The shapes tell the rest.
# - Softmax: every logit has a part in every probability. The slopes are a table, not only its diagonal.
# - Subtract the largest logit before `exp`. Compute the logarithm of a softmax as a difference.
# - Cross-entropy, backward: `p`, with 1 subtracted at the label; divided by the number of rows if the loss is a mean.
# - Layer norm, backward: without the mean, without the part along `n`, divided by `s`.
#
# ## Explain
#
# One paragraph: *Why does the loss of one class push all the logits?* Then compare.
#
# ---
#
# **Model answer.** The loss looks only at the probability of the right class. But this is its `e` divided by the total,
# which holds the `e` of all classes. If a wrong logit grows, the total grows, the right probability shrinks, and the
# loss grows. So every logit gets a contribution through the total: its probability. The right class also gets -1, on
# the direct way.
#
# **The planted fault.** The tiny number is added to `p[label]` *inside* of the logarithm. If the right class lies 50
# behind, its probability is far smaller than that, and `-log` sees only the tiny number: the loss stays at 20.723,
# which is -log(0.000000001), and a flat line has the slope 0. So the worst mistakes have no gradient. Take the
# logarithm as a difference, and no tiny number is needed.
