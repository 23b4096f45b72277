# %% [markdown] name="title"
# # Lesson 5: broadcasting, and its reverse
#
# NumPy adds three numbers to a table of six without a word: it uses the three again and again. That is convenient,
# and every network does it. But a value that is used several times gets several contributions. In this lesson you learn
# what NumPy stretches, how the backward pass undoes it, and how a column in the place of a list can spoil a training
# without any error.
#
# You need: lessons 1 to 4, and NumPy arrays. Time: 15 minutes.

# %%
from pathlib import Path

import numpy as np

import minigrad as mg

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
# The **shape** of an array says how many numbers it has in each direction; each direction is called an **axis**. A
# table with 2 rows and 3 columns has the shape `(2, 3)`: axis 0 goes down, from row to row, and axis 1 to the right,
# from column to column. A list of 3 numbers has the shape `(3,)`, with one axis, and a single number `()`, with none.
#
#     x = [[1, 2, 3],         b = [10, 20, 30]        g = [[1, 0, 2],
#          [4, 5, 6]]                                      [3, 1, 1]]
#     y = x + b
#     s = g * y
#     loss = sum(s)
#
# `x` has six numbers, `b` has three. NumPy adds `b` to *both* rows, so `y` is [[11, 22, 33], [14, 25, 36]]. As in
# lesson 4, `g` says what the end makes of `y`: the loss moves with each number of `y` as fast as `g` says. What is the
# gradient of `b`? The page is `out/lessons/05_open.html`.

# %%
x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
g = np.array([[1.0, 0.0, 2.0], [3.0, 1.0, 1.0]])
b = mg.Tensor([10.0, 20.0, 30.0], requires_grad=True, name="b")
with mg.trace():
    y = x + b
    s = g * y
    loss = np.sum(s)
loss.backward()
print("y =", y.data.tolist(), " gradient of b:", b.grad.data)
mg.explain(loss, OUT / "05_open.html", {"b": b}, language=LANGUAGE, lesson="course/05_open")

# %% [markdown] name="rule"
# ## What NumPy stretches
#
# To add two arrays number by number, they must have the same shape. If they have not, NumPy **broadcasts**: it
# stretches the smaller one, by using its numbers several times. The rule has three lines:
#
# 1. Write the two shapes below each other, so that they end at the *right*.
# 2. If one is shorter, put 1s in front of it.
# 3. Where the lengths differ, one of them must be 1, and this one is stretched to the other. If none is 1: error.
#
# | `x` | `b` | with 1s in front | what happens |
# |---|---|---|---|
# | (2, 3) | (3,) | (1, 3) | the row is used for both rows |
# | (2, 3) | (2, 1) | (2, 1) | the column is used for all three columns |
# | (2, 3) | () | (1, 1) | the number is used everywhere |
# | (2, 3) | (2,) | (1, 2) | error: 3 against 2 |
#
# The last line surprises people: two rows, two numbers, why not? Because shapes end at the right, `(2,)` is a *row* of
# two numbers. A column must say that it is one: `(2, 1)`.

# %%
column = np.array([[10.0], [20.0]])
for name, small in (("(3,)", np.array([10.0, 20.0, 30.0])), ("(2, 1)", column), ("()", np.array(10.0))):
    print(f"{name:7}", np.broadcast_to(small, (2, 3)).tolist(), " x + b =", (x + small).tolist())
try:
    x + np.array([10.0, 20.0])
except ValueError as error:
    print("(2,)    refused:", error)

# %% [markdown] name="reverse"
# ## The way back
#
# The 10 stands in two places of the stretched array. Each place sends its contribution, and contributions are added
# (lesson 2). So the gradient of `b[0]` is the sum of `g` over these two places, 1 + 3. A nudge agrees:


# %%
def program(b):
    return np.sum(g * (x + b))


h = 0.001
for place in range(3):
    nudge = np.zeros(3)
    nudge[place] = h
    b = np.array([10.0, 20.0, 30.0])
    print(f"b[{place}] by nudging: {(program(b + nudge) - program(b - nudge)) / (2 * h):.3f}")

# %% [markdown] name="sums"
# **Forward, numbers are copied along an axis. Backward, what arrives is summed along the same axis.** In NumPy,
# `g.sum(axis=0)` adds along axis 0, that is, downward, and the axis is gone: `(2, 3)` becomes `(3,)`.
#
# A column `(2, 1)` was stretched along axis 1. So `g.sum(axis=1)`? The numbers are right, the shape is `(2,)`: the
# axis is gone, and with it the difference between a column and a row. `keepdims=True` ("keep the dimensions") leaves
# it there with the length 1: `(2, 1)`. And a single number gets the sum of everything.
#
# In the picture, a pale number is a copy.


# %%
def table(axes, numbers, title, is_copy=None):
    """A small table of numbers; where is_copy is true, they are pale."""
    rows, columns = numbers.shape
    is_copy = np.zeros((rows, columns), bool) if is_copy is None else is_copy
    for i in range(rows):
        for j in range(columns):
            color = "lightgray" if is_copy[i, j] else "tab:blue"
            axes.add_patch(plt.Rectangle((j, i), 1, 1, facecolor=color, alpha=0.4, edgecolor="black"))
            axes.text(
                j + 0.5, i + 0.5, f"{numbers[i, j]:g}", ha="center", va="center", alpha=0.5 if is_copy[i, j] else 1
            )
    axes.set(xlim=(-0.2, 3.2), ylim=(2.2, -0.2), aspect="equal")
    axes.set_title(title, fontsize=10)
    axes.axis("off")


smalls = {
    "shape (3,)": np.array([[10.0, 20.0, 30.0]]),
    "shape (2, 1)": column,
    "shape ()": np.array([[10.0]]),
}
sums = {
    "g.sum(axis=0)": g.sum(axis=0),
    "g.sum(axis=1, keepdims=True)": g.sum(axis=1, keepdims=True),
    "g.sum()": g.sum(),
}
figure, axes = plt.subplots(3, 3, figsize=(8, 6.2))
for j, (small, (how, result)) in enumerate(zip(smalls.items(), sums.items(), strict=True)):
    name, numbers = small
    rows, columns = np.indices((2, 3))
    is_copy = (rows >= numbers.shape[0]) | (columns >= numbers.shape[1])
    table(axes[0, j], np.broadcast_to(numbers, (2, 3)), f"forward: {name} is stretched", is_copy)
    table(axes[1, j], g, "backward: g arrives")
    table(axes[2, j], result.reshape(numbers.shape), how)
    print(f"{how} = {result.tolist()}, shape {result.shape}")
figure.suptitle("Copied along an axis, summed along the same axis")
figure.tight_layout()
figure.savefig(OUT / "05_stretched.png", dpi=120)

# %% [markdown] name="tasks"
# It works the other way round as well. A *sum* makes one number of many; backward, the one number that arrives is
# handed to all of them: a copy. Copying and summing are each other's reverse. You will see it on the last page.
#
# ## Implement: tasks 5.1 and 5.2
#
# Task **5.1**: write `unbroadcast(g, shape)`, which does this for any shape. It is a handful of lines, and the heart of
# every library of this kind. In `tiny.py` it stands under the same name; look only when yours works.
#
# Task **5.2**: a layer with a scale and a shift for each column, `y = x * scale + shift`. First forget broadcasting: a
# product hands on `g` times the *other* factor. Then think of what was stretched.
#
# ## Break
#
# Twenty points lie near the line y = 2x + 1. Somebody trains `w` and `b` to find it. The loss falls and then stands
# still; no error, no warning, all gradients are right (minigrad computes them). But look at the line. Find the fault
# **before** you read on. Here are three things to print: the shapes of `prediction`, of `wanted`, and of their
# difference.

# %%
rng = np.random.default_rng(0)
xs = np.linspace(-1, 1, 20)
ys = 2 * xs + 1 + 0.1 * rng.normal(size=20)


def train(loss_of):
    w = mg.Tensor(0.0, requires_grad=True)
    b = mg.Tensor(0.0, requires_grad=True)
    inputs = xs[:, None]  # as a column, as networks want it: one row for each point
    for _ in range(200):
        w.grad = b.grad = None
        loss = loss_of(w * inputs + b, ys)
        loss.backward()
        w.data = w.data - 0.2 * w.grad.data
        b.data = b.data - 0.2 * b.grad.data
    return w.data.item(), b.data.item(), loss.item()


def broken_loss(prediction, wanted):
    return np.mean((prediction - wanted) ** 2)


w, b, loss = train(broken_loss)
print(f"w = {abs(w):.2f}, b = {b:.2f}, loss = {loss:.2f}; the mean of the ys is {ys.mean():.2f}")

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(xs, ys, "o", color="black", label="the points")
axes.plot(xs, w * xs + b, color="tab:red", label="what was trained")
axes.set(xlabel="x", ylabel="y", title="The loss stands still, and the line lies flat")
axes.legend()
figure.savefig(OUT / "05_flat.png", dpi=120)

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"What is the difference between (3,) and (3, 1)?"** Both have three numbers. Stretched, `(3,)` is a row and
# `(3, 1)` a column. Put together they make a table of nine: every number with every other. To turn one into the other:
# `v[:, None]` makes a column of a list, and `v.reshape(-1)` a list of a column.
#
# **"What do I need `keepdims` for?"** To go on computing with the result. Below, each row is to be divided by its own
# sum. Without `keepdims` the sums are a row, so NumPy divides each *column* by one of them. Since the table is square,
# it does not even complain.

# %%
v = np.array([1.0, 2.0, 3.0])
print("(3,) + (3, 1):", (v + v[:, None]).shape)
square = np.array([[1.0, 3.0], [2.0, 8.0]])
wrong = square / square.sum(axis=1)
right = square / square.sum(axis=1, keepdims=True)
for name, divided in (("without", wrong), ("with", right)):
    print(f"{name} keepdims the rows add up to {divided[0].sum():.2f}, {divided[1].sum():.2f}")

# %% [markdown] name="mean"
# A row that was divided by its sum must add up to 1. Without `keepdims` one gives 0.55, the other 1.30.
#
# **"Which shape does a gradient have?"** Always that of its array: one slope for each number that can move. Check it in
# every rule that you write. It finds a forgotten sum at once. It does not find a sum over the wrong axis of a *square*
# table, where both sums have the same shape. So test with arrays whose lengths are all different.
#
# **"Why the sum and not the mean? `b` did the same in both rows."** Move `b[0]` by a little: *both* rows move, and the
# loss hears of both. If you want a mean, take it where it belongs, in the loss: `np.mean` divides, and then the smaller
# numbers arrive at `b` by themselves. Below, with the sum, twice as many rows make the gradient 8 instead of 4, and the
# steps of a training would be twice as large too. With the mean it stays at 0.667. So most programs use the mean.
#
# **"`y.backward()` wants `grad` again."** `y` has six numbers, and needs to be told what the end makes of them, in the
# shape of `y` (lesson 4). It does not broadcast that for you: a wrong shape is refused, since it may be a mistake.

# %%
for rows in (2, 4):
    many = np.ones((rows, 3))
    found = {}
    for name, end in (("sum", np.sum), ("mean", np.mean)):
        b = mg.Tensor(np.zeros(3), requires_grad=True)
        end((many + b) ** 2).backward()
        found[name] = b.grad.data.round(3).tolist()
    print(rows, "rows:", found)
b = mg.Tensor(np.zeros(3), requires_grad=True)
y = x + b
try:
    y.backward(np.ones(3))
except mg.ShapeError as error:
    print("refused:", error)
y.backward(np.ones((2, 3)))
print("ones in the shape of y:", b.grad.data)

# %% [markdown] name="close"
# ## Once more: a mean that is taken away
#
# From each row its mean is taken away. Many networks do that, and lesson 6 builds on it.
#
#     x = [[1, 2, 6],         m = mean(x, axis=1, keepdims=True)
#          [0, 4, 8]]         c = x - m
#                             s = g * c          g = [[3, 0, 0],
#                             loss = sum(s)           [1, 2, 6]]
#
# `m` is a column, [[3], [4]], and it is stretched. So there is a copy and a sum in one program: forward, a mean sums,
# and the minus copies; backward, the minus sums, and the mean copies. And `x` is used twice. Find the gradients of `m`
# and of `x` on paper, then open `out/lessons/05_close.html`.

# %%
x = mg.Tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0]], requires_grad=True, name="x")
g = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 6.0]])
with mg.trace():
    m = np.mean(x, axis=1, keepdims=True)
    c = x - m
    s = g * c
    loss = np.sum(s)
loss.backward()
print("m =", m.data.tolist(), " gradient of x:", x.grad.data.tolist())
mg.explain(loss, OUT / "05_close.html", {"x": x}, language=LANGUAGE, lesson="course/05_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Shapes are compared from the right. A missing axis and an axis of length 1 are stretched, nothing else is.
# - Copied forward means summed backward, along the same axes. Summed forward means copied backward.
# - A gradient has the shape of its array. Check it, with arrays whose lengths are all different.
# - `(3,)` is a row, `(3, 1)` a column. `keepdims=True` keeps a column a column.
# - The sum belongs to broadcasting. A mean comes only from a mean in the loss.
#
# ## Explain
#
# One paragraph: *Why is the gradient of an array that was broadcast a sum?* Then compare.
#
# ---
#
# **Model answer.** Broadcasting uses one number in several places. If the number moves a little, all these places move
# with it, and each of them moves the loss in its own way. So the loss is reached along several ways, one for each
# place, and what comes along several ways is added. The stretched array has one gradient for each place; adding them
# along the axes that were stretched leaves one for each number that really exists, in the shape of the original array.
#
# **The planted fault.** `prediction` is a column, `(20, 1)`, and `wanted` is a list, `(20,)`. Their difference has
# the shape `(20, 20)`: every prediction is compared with *every* wanted number, not only with its own. The best
# answer to that is the same for all points, the mean of the ys, 0.98: a flat line. `prediction.reshape(-1) - wanted`
# fixes it. Whenever a training gets stuck at the mean, print the shapes in the loss.
