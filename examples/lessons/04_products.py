# %% [markdown] name="title"
# # Lesson 4: two products with a matrix that is never built, and what they cost
#
# So far every value was one number. Now values are lists of numbers, and then there is not one slope but a whole
# table of them. This lesson shows two ways through the table: forward and backward. It ends with the reason why all
# training goes backward.
#
# You need: lessons 1 to 3. Time: 20 minutes.

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
# First some words. A list of numbers is a **vector**, a table of numbers a **matrix**. `W @ x` makes a vector from a
# matrix and a vector: for each row of `W`, multiply the row's numbers with those of `x`, pair by pair, and add up.
#
#     W = [[1,  2, 0],        x = [0.5, 0.1, 0.2]
#          [0, -1, 1]]
#
#     W @ x = [1 * 0.5 + 2 * 0.1 + 0 * 0.2,    =  [0.7,
#              0 * 0.5 - 1 * 0.1 + 1 * 0.2]        0.1]
#
# Three numbers go in, two come out. Our program is `z = W @ x`, then `y = tanh(z)`, number by number. At the end,
# `g = [1, 0]` picks the first of the two: `s = g * y` and `loss = sum(s)`. The page is `out/lessons/04_open.html`. On
# it a vector stands upright, as a matrix with one column, just as on paper: (2, 1) means 2 rows and 1 column. A small
# square in a box is a number: green is positive, violet is negative, and the darker, the farther from 0. Right of the
# bar stand the gradients.

# %%
W = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
g = np.array([[1.0], [0.0]])
x = mg.Tensor([[0.5], [0.1], [0.2]], requires_grad=True, name="x")
with mg.trace():
    z = W @ x
    y = np.tanh(z)
    s = g * y
    loss = np.sum(s)
loss.backward()
print("z =", z.data.ravel().round(3), " y =", y.data.ravel().round(3), " gradient of x:", x.grad.data.ravel().round(3))
mg.explain(loss, OUT / "04_open.html", {"x": x}, language=LANGUAGE, lesson="course/04_open")

# %% [markdown] name="jacobian"
# ## The table of all slopes
#
# Nudge one number of `x` at a time, and see how both numbers of `y` move. That fills a table: one row for each number
# that comes out, one column for each number that goes in. It is called the **Jacobian**, J.


# %%
def f(x):
    return np.tanh(W @ x)


x = np.array([0.5, 0.1, 0.2])
h = 0.00001
J = np.zeros((2, 3))
for j in range(3):
    nudge = np.zeros(3)
    nudge[j] = h
    J[:, j] = (f(x + nudge) - f(x - nudge)) / (2 * h)
print(J.round(3))

figure, axes = plt.subplots(figsize=(6, 3.6))
picture = axes.imshow(J, cmap="coolwarm", vmin=-1.5, vmax=1.5)
for i in range(2):
    for j in range(3):
        axes.text(j, i, f"{J[i, j] + 0:.3f}", ha="center", va="center")
axes.add_patch(plt.Rectangle((-0.49, -0.49), 2.98, 0.98, fill=False, linewidth=4, edgecolor="tab:green"))
axes.add_patch(plt.Rectangle((0.53, -0.45), 0.94, 1.9, fill=False, linewidth=4, edgecolor="black"))
axes.set_xticks(range(3), ["with x[0]", "with x[1]", "with x[2]"])
axes.set_yticks(range(2), ["y[0]", "y[1]"])
axes.set_title(
    "The Jacobian. Black: one forward walk gives a column.\nGreen: one backward walk gives a row.", fontsize=10
)
figure.colorbar(picture)
figure.savefig(OUT / "04_jacobian.png", dpi=120)

# %% [markdown] name="jvp"
# In the middle of the first row stands 1.269: nudge `x[1]`, and `y[0]` moves 1.269 times as far.
#
# ## Forward: a direction comes in
#
# Let `x` move in a **direction** `v`, all numbers at once: to `x + h * v`. How does `y` move? Every number of `y`
# gets a contribution from every number of `x` that moves, so multiply each row of J with `v` and add up: that is
# `J @ v`. It is called the **Jacobian-vector product**, in short **JVP**.
#
# One can find it without J. Carry the movement along while the program runs: `z = W @ x` moves by `W @ v`, and `tanh`
# multiplies each number's movement by its slope. One walk forward, beside the program itself.
#
# If `v = [0, 1, 0]`, only `x[1]` moves, and `J @ v` is the column of `x[1]`. Look for the two numbers in the table:

# %%
y, moved = mg.jvp(f, (x,), (np.array([0.0, 1.0, 0.0]),))
print("a column:", moved.round(3))
y, moved = mg.jvp(f, (x,), (np.array([1.0, 1.0, 1.0]),))
print("all three move:", moved.round(3), "by nudging:", ((f(x + h) - f(x - h)) / (2 * h)).round(3))

# %% [markdown] name="vjp"
# ## Implement: task 4.1
#
# Task **4.1**: write this walk for `tanh(W @ x)`. `minigrad learn check 4.1` also counts what you compute.
#
# ## Backward: a question comes from the end
#
# Now the other way round. Somewhere behind `y` there is a loss, and `g` says how fast it moves with each number of
# `y`. How fast does it move with each number of `x`? `x[j]` moves `y[0]` and `y[1]`: two ways, so add (lesson 2)
# `g[0] * J[0, j]` and `g[1] * J[1, j]`. For all `j` at once that is `g @ J`, each *row* of J multiplied by its number
# in `g`, and the rows added. It is called the **vector-Jacobian product**, in short **VJP**.
#
# This is what a backward pass does at each step, and it needs no J either. With `g = [1, 0]` you get the first row:

# %%
y, pull = mg.vjp(f, x)  # pull does the backward walk
(row,) = pull(np.array([1.0, 0.0]))
print("a row:", row.round(3))
(mixed,) = pull(np.array([1.0, -2.0]))
print("first row minus twice the second:", mixed.round(3), " J says:", (np.array([1.0, -2.0]) @ J).round(3))

# %% [markdown] name="rules"
# For the step `z = W @ x` alone the table of slopes is `W` itself. So forward it hands on `W @ v`, and backward
# `g @ W`, which is the same as `W.T @ g`. `W.T` is `W` **transposed**: rows become columns. For the step `tanh`, the
# number at place i moves only the number at place i. Its table is zero except on the diagonal:

# %%
many = np.linspace(-1, 1, 1000)
print(
    "slopes of tanh for 1000 numbers:", (1 - np.tanh(many) ** 2).nbytes, "bytes; as a table:", 1000 * 1000 * 8, "bytes"
)

# %% [markdown] name="never"
# The slopes are 8000 bytes, the table would be 8000000 bytes, nearly all of them zeros. So a rule is written as a
# *product*, "given `g`, hand on `g * (1 - y ** 2)`", and the table is never built. That is why `tiny.py` in lesson 3
# keeps rules and not slopes.
#
# ## Implement: task 4.2
#
# Task **4.2**: the backward walk, for `x` and for `W` too. Hint for `W`: `z[i]` moves with `W[i, j]` by `x[j]`.
#
# ## What it costs
#
# A loss is *one* number, and in training it has very many inputs. J has one row, and as many columns as there are
# inputs. We want all of it. Three ways, and we count the multiplications in `@`, which are nearly all:


# %%
counted = []


def times(matrix, vector):
    """matrix @ vector; how many multiplications that takes is noted."""
    counted.append(matrix.size)
    return matrix @ vector


def by_nudging(W, x):  # two runs for each input
    def run(x):
        return np.tanh(times(W, x)).sum()

    steps = h * np.eye(len(x))  # np.eye(3) has the rows [1, 0, 0], [0, 1, 0], [0, 0, 1]: row j nudges x[j]
    return np.array([(run(x + step) - run(x - step)) / (2 * h) for step in steps])


def by_forward_walks(W, x):  # one run, and one walk for each input
    y = np.tanh(times(W, x))
    return np.array([((1 - y**2) * times(W, v)).sum() for v in np.eye(len(x))])


def by_one_backward_walk(W, x):  # one run, one walk
    y = np.tanh(times(W, x))
    return times(W.T, 1 - y**2)


sizes = [3, 10, 30, 100, 300]
ways = {"nudging": by_nudging, "forward walks": by_forward_walks, "one backward walk": by_one_backward_walk}
costs = {name: [] for name in ways}
rng = np.random.default_rng(0)
for n in sizes:
    A, point = rng.normal(size=(n, n)) / n, rng.normal(size=n)
    answers = []
    for name, way in ways.items():
        counted.clear()
        answers.append(way(A, point))
        costs[name].append(sum(counted))
    print(n, "inputs:", {name: cost[-1] for name, cost in costs.items()}, "the same:", np.allclose(answers, answers[0]))

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, cost in costs.items():
    axes.loglog(sizes, cost, "o-", label=name)
axes.set(xlabel="number of inputs", ylabel="multiplications", title="The gradient of one number, in three ways")
axes.legend()
figure.savefig(OUT / "04_costs.png", dpi=120)

# %% [markdown] name="cost"
# With 300 inputs, nudging takes 54000000 multiplications, forward walks 27090000, and one backward walk 180000: twice
# a single run. In general, for a program with `n` inputs and `m` outputs:
#
# | | one walk gives | all of J takes | best when |
# |---|---|---|---|
# | forward (JVP) | a column | `n` walks | few inputs |
# | backward (VJP) | a row | `m` walks | few outputs |
#
# Training has a million inputs and one output, the loss. So it goes backward: the whole gradient for the price of two
# or three runs, however many inputs there are. The price is memory: the backward walk begins when the run is over,
# and needs what was noted in every step. The forward walk needs no notes; it goes along with the run. (minigrad's
# `mg.jvp` walks along the same notes as `backward()`, from their beginning, and each step's rule serves both walks.)
#
# ## Break
#
# A backward walk for `tanh(W @ x)`, tested with a first `W`: right. With a second `W`: wrong. No error is raised, the
# shapes fit. Find the fault **before** you read on. What is special about the first `W`?


# %%
def broken_vjp(W, x, g):
    y = np.tanh(W @ x)
    gz = g * (1 - y**2)
    return W @ gz


point, g = np.array([0.5, -0.25]), np.array([1.0, 2.0])
for square in (np.array([[1.0, 0.5], [0.5, 2.0]]), np.array([[1.0, 0.5], [-0.5, 2.0]])):
    _, pull = mg.vjp(lambda W, x: np.tanh(W @ x), square, point)
    print("right:", pull(g)[1].round(3), " broken:", broken_vjp(square, point, g).round(3))

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"`y.backward()` says that it needs `grad`."** `y` has several numbers, and there is no such thing as *the*
# gradient of several numbers: there is a table. Say which question you ask: `y.backward(g)`. It is the same as
# `np.sum(g * y).backward()`.
#
# **"So I pass ones."** Then you ask about the *sum* of `y`. That is fine if the sum is what you mean. It is not a
# list of the gradients of each `y`: their contributions are added up, and cannot be told apart any more.
#
# **"Why has `x.grad` the shape of `x`, and not of J?"** Because it is `g @ J`: one number for each input.
#
# **"How do I get all of J?"** One walk for each row, `m` in all: `mg.jacobian(f)(x)` does that. If `m` is large, ask
# yourself whether you need J, or only a product with it.

# %%
x = mg.Tensor([0.5, 0.1, 0.2], requires_grad=True)
try:
    f(x).backward()
except mg.GraphError as error:
    print("refused:", str(error).partition(":")[0])
f(x).backward(np.array([1.0, -2.0]))
print("backward(g):     ", x.grad.data.round(3))
x.grad = None
np.sum(np.array([1.0, -2.0]) * f(x)).backward()
print("sum(g * y):      ", x.grad.data.round(3))
x.grad = None
f(x).backward(np.ones(2))
print("ones, so the sum:", x.grad.data.round(3))
print("all of J:", mg.jacobian(f)(x.data).round(3).tolist())

# %% [markdown] name="close"
# ## Once more: a layer, backward
#
# A **layer** is one part of a network: it takes numbers and hands on others. The plainest is a product with a matrix,
# and then a function such as tanh.
#
#     W = [[0.5, -0.25],     x = [1, 2]
#          [0.25,  0.5]]
#     z = W @ x
#     y = tanh(z)
#     loss = sum(y)
#
# `z` is [0, 1.25], and the slopes of tanh there are 1 and 0.2804. On paper: which vector arrives at `z`, and what are
# the gradients of `x` and of `W`? Then open `out/lessons/04_close.html`.

# %%
W = mg.Tensor([[0.5, -0.25], [0.25, 0.5]], requires_grad=True, name="W")
x = mg.Tensor([[1.0], [2.0]], requires_grad=True, name="x")
with mg.trace():
    z = W @ x
    y = np.tanh(z)
    loss = np.sum(y)
loss.backward()
print("z:", z.data.ravel(), " slopes of tanh:", (1 - y.data**2).ravel().round(4))
print("gradient of x:", x.grad.data.ravel().round(4), " of W:", W.grad.data.round(4).tolist())
mg.explain(loss, OUT / "04_close.html", {"W": W, "x": x}, language=LANGUAGE, lesson="course/04_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Many numbers in, many out: the slopes form a table, the Jacobian J. One row for each output, one column for each
#   input.
# - Forward, `J @ v`: how everything moves when the inputs move along `v`. With one 1 in `v`, a column.
# - Backward, `g @ J`: how the end depends on every input. With one 1 in `g`, a row.
# - Neither needs J. Rules are products; the tables are never built.
# - One loss, many inputs: one backward walk gives the whole gradient, for the price of two or three runs, and of the
#   memory for the notes.
# - `backward()` starts from one number, or it must be told `g`.
#
# ## Explain
#
# One paragraph: *Why does training go backward and not forward?* Then compare.
#
# ---
#
# **Model answer.** A walk forward answers the question "if this input moves, what happens to all outputs?", so a
# million inputs take a million walks. A walk backward answers "on which inputs does this output depend, and how
# much?", for all inputs at once. Training has one output, the loss, and needs its slope with respect to every weight.
# One backward walk gives them all, for about two or three times the work of the program itself. For that it must keep
# the notes of every step until the walk is over: it pays with memory.
#
# **The planted fault.** `W @ gz` should be `W.T @ gz`. The first `W` is *symmetric*: its rows are the same as its
# columns, so transposing changes nothing, and the test cannot see it. And since `W` is square, the shapes fit as
# well. Test with a matrix that is neither symmetric nor square.
