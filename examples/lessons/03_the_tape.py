# %% [markdown] name="title"
# # Lesson 3: the tape, in forty lines
#
# In lesson 2 the notes for the backward pass were made by hand: parents and slopes. In this lesson the program makes
# them itself while it runs. The list of notes is called the **tape**. First you see the idea as a plain list. Then
# *you* write it as a class, in four small tasks. At the end you can read `tiny.py`, the whole idea of minigrad in one
# file.
#
# You need: lessons 1 and 2, and Python classes (`class`, `self`, `__init__`). Time: 20 minutes, and as long as you
# like for the tasks.

# %%
from pathlib import Path

import numpy as np

import minigrad as mg
from minigrad import tiny

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
#     p = w * x
#     z = p + b
#     loss = z * z
#
# With `w = 2`, `x = 3`, `b = -4` this gives `p = 6`, `z = 2`, `loss = 4`. The question of the page
# `out/lessons/03_open.html`: what must be *remembered* of each step, so that the backward pass can do its work when
# the program is long over?

# %%
w = mg.Tensor(2.0, requires_grad=True, name="w")
x = mg.Tensor(3.0, requires_grad=True, name="x")
b = mg.Tensor(-4.0, requires_grad=True, name="b")
with mg.trace():
    p = w * x
    z = p + b
    loss = z * z
mg.explain(loss, OUT / "03_open.html", {"w": w, "x": x, "b": b}, language=LANGUAGE, lesson="course/03_open")

# %% [markdown] name="list"
# ## The tape as a list
#
# The tape gets one line for each value. A line holds the value's number, and for each parent: in which line it
# stands, and the slope. A number that was given, not computed, has no parents. Lines are counted from 0, as Python
# counts.

# %%
tape = []


def note(number, *parents):
    """A new line at the end of the tape. Returns which line it is."""
    tape.append((number, parents))
    return len(tape) - 1


def number(line):
    return tape[line][0]


def add(i, j):
    return note(number(i) + number(j), (i, 1.0), (j, 1.0))


def multiply(i, j):
    return note(number(i) * number(j), (i, number(j)), (j, number(i)))


def backward(end):
    """The gradient of each line: from the end to the beginning, each handing on to its parents."""
    gradient = [0.0] * len(tape)
    gradient[end] = 1.0
    for line in reversed(range(end + 1)):
        for parent, slope in tape[line][1]:
            gradient[parent] += gradient[line] * slope
    return gradient


w, x, b = note(2.0), note(3.0), note(-4.0)
p = multiply(w, x)
z = add(p, b)
loss = multiply(z, z)
for line, (value, parents) in enumerate(tape):
    print(f"line {line}: {value:4.1f}  parents and slopes: {parents}")
print("gradients:", backward(loss))

# %% [markdown] name="how"
# This is everything. Read it once more, slowly:
#
# - `multiply` computes, *and* writes a line. The slopes are known at this moment: the one with respect to `i` is the
#   number of `j`, and the other way round. Nothing else is kept of the operation, not even its name.
# - `backward` goes through the lines from the last to the first. That is the order of lesson 2, since the lines are
#   in the order of the run. And it has the `+=` of lesson 2: `z * z` adds to line 4 twice.
# - The gradients are 12 for `w`, 8 for `x` and 4 for `b`. School calculus: loss = (w x + b)², so the slope with
#   respect to `w` is 2 (w x + b) x = 2 · 2 · 3.
#
# Here is the tape as a picture. Each arc is an arrow to a parent, and beside it stands the slope.

# %%
figure, axes = plt.subplots(figsize=(7, 3.5))
names = ["w", "x", "b", "p = w * x", "z = p + b", "loss = z * z"]
for line, (value, parents) in enumerate(tape):
    axes.text(line, -0.35, f"line {line}\n{names[line]}\n{value:g}", ha="center", va="top")
    for k, (parent, slope) in enumerate(parents):
        angle = np.linspace(0, np.pi, 50)
        height = (line - parent) * (0.45 if k == 0 else 0.7)
        color = "tab:blue" if k == 0 else "tab:orange"
        axes.plot((line + parent) / 2 + (line - parent) / 2 * np.cos(angle), height * np.sin(angle), color=color)
        axes.text((line + parent) / 2, height + 0.03, f"{slope:g}", ha="center", color=color)
axes.plot(range(len(tape)), [0] * len(tape), "o", color="black")
axes.set(
    xlim=(-0.6, 5.6),
    ylim=(-1.3, 2.4),
    title="The tape: lines in the order of the run, arcs to the parents with their slopes",
)
axes.set_axis_off()
figure.savefig(OUT / "03_tape.png", dpi=120)

# %% [markdown] name="tasks"
# ## Implement: tasks 3.1 to 3.4
#
# `add(multiply(w, x), b)` is no fun to write. We want `w * x + b`. Python helps: when it sees `a * b` it calls
# `a.__mul__(b)`, and for `a + b` it calls `a.__add__(b)`. So you write a class `Value` with these methods. Its
# objects know their parents themselves, so the list is no longer needed; the order comes from task 2.2.
#
# - Task **3.1**: `Value` remembers its number, its parents and their slopes; `+` and `*`.
# - Task **3.2**: more operations: `-`, `/`, `tanh`, `exp`.
# - Task **3.3**: `backward()`. Each `Value` has a `grad`. The order is topological: that of task 2.2, or by numbers that
#   the values get when they are made. (A function that calls itself for each value stops after a thousand values.)
# - Task **3.4**: plain numbers (`2 * w`), a second `backward()`, and training.
#
# Together these are about forty lines. Do them now, or read on and come back: what follows uses minigrad's own
# version.
#
# ## Training, and what happens if nothing is cleared
#
# What is it all for? For this: change `w` and `b` a little *against* their slopes, and the loss gets smaller. Do it
# again and again. That is **training** (by *gradient descent*). Here are four points, and we look for the line
# `w * x + b` that fits best. `tiny` is the small version of minigrad; its Tensors hold whole lists of numbers.
# `w * x` multiplies `w` with each number in the list. The loss of a point is the square of its error, and `np.sum`
# adds the four losses up. `rate` says how far a step goes. (A page has it too: *learning rate*, and below it a button
# that does such a step.)

# %%
x = np.array([0.0, 1.0, 2.0, 3.0])
y = np.array([1.0, 2.9, 5.1, 7.0])


def train(clear, steps=30, rate=0.02):
    w, b = tiny.Tensor(0.0, requires_grad=True), tiny.Tensor(0.0, requires_grad=True)
    losses = []
    for _ in range(steps):
        if clear:
            w.grad = b.grad = None
        error = w * x + b - y
        loss = np.sum(error * error)
        loss.backward()
        w.data = w.data - rate * w.grad.data
        b.data = b.data - rate * b.grad.data
        losses.append(float(loss.data))
    return w, b, losses


w, b, losses = train(clear=True)
forgotten = train(clear=False)[2]
print(f"cleared: w = {w.data:.2f}, b = {b.data:.2f}, loss from {losses[0]:.2f} to {losses[-1]:.2f}")
print(f"not cleared: loss after 30 steps {forgotten[-1]:.2f}, at its largest {max(forgotten):.2f}")

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(losses, "o-", color="tab:blue", label="grad cleared in each step")
axes.plot(forgotten, "o-", color="tab:red", label="grad never cleared")
axes.set(xlabel="step", ylabel="loss", title="The same training, with and without clearing")
axes.set_ylim(-5, 135)
axes.legend(loc="upper right")
figure.savefig(OUT / "03_training.png", dpi=120)

# %% [markdown] name="clear"
# Cleared, the loss falls from 84.42 to 0.02. Not cleared, it swings up and down: each step also walks along all the
# old slopes. Nothing warns you, the program runs. In real programs this line is `optimizer.zero_grad()`; look there
# first when a training swings.
#
# ## Read `tiny.py`
#
# Open `minigrad/tiny.py` (`tiny.__file__` says where it is). It is the tape for arrays of numbers, in 150 lines. You
# know its ideas under other names (what is new to you in its Python can wait):
#
# | here | in your `Value` | in `tiny.py` |
# |---|---|---|
# | a line of the tape | a `Value` | `Entry` |
# | a line without parents | a `Value` that was given | `Leaf` |
# | the slopes | `slopes` | the *rules* of a `Primitive`, and what is `kept` for them |
# | lines are in order | `order()` | `wengert_list()`: sorted by `seq`, the number of the run |
# | `backward()` | `backward()` | `sweep()` |
#
# One thing is new. With arrays, the slopes of one step may be very many numbers. So `tiny.py` does not keep slopes.
# It keeps what a *rule* needs to hand on a gradient, for instance for `tanh`: `lambda g, ans: g * (1.0 - ans * ans)`,
# where `g` is the gradient that arrives and `ans` the result. Why this is better is lesson 4. `__array_ufunc__` is
# how NumPy asks a Tensor what to do when a program calls `np.tanh(x)`; `unbroadcast` is lesson 5, `create_graph`
# lesson 8. Skip them today.
#
# ## Break
#
# Somebody keeps the gradients in a list outside of the function, so that several calls of `backward` add up, as
# `grad` does. The first call is right. After the second, `w` should have 12 + 12 = 24. It has 48. Find out why,
# **before** you read on. (Follow line 4, which is `z`.)

# %%
kept = [0.0] * len(tape)
end = len(tape) - 1


def broken_backward():
    kept[end] = 1.0
    for line in reversed(range(end + 1)):
        for parent, slope in tape[line][1]:
            kept[parent] += kept[line] * slope


broken_backward()
print("once: ", kept)
broken_backward()
print("twice:", kept)

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"What about `if` and `for`?"** The tape never sees them. It sees the steps that were really done, one after the
# other. In the next run another branch may be taken; then there is another tape.
#
# **"I wrote `w = w - rate * w.grad`, and then `w.grad` is `None`."** This makes a *new* `w`, one that was computed: a
# line of the tape with parents, not a given number. `grad` arrives only at given numbers. Change the data of the old
# one: `w.data = ...`, as above.
#
# **"May I change an array between the run and `backward()`?"** The notes would no longer fit the run. minigrad
# notices (`y` in its message is what `multiply` calls its second factor):

# %%
w = mg.Tensor(2.0, requires_grad=True)
(w * w).backward()
w = w - 0.1 * w.grad
(w * w).backward()
print("a computed w:", w.grad)

v = mg.Tensor([1.0, 2.0], requires_grad=True)
end = np.sum(v * v)
v.data[0] = 5.0
try:
    end.backward()
    print("not noticed:", v.grad)
except mg.MinigradError as error:
    print("refused:", error)

# %% [markdown] name="close"
# ## Once more: one step of training
#
# Two points, (1, 2) and (2, 3), and a line through zero: `w * x` should be `y`. The program has `w = 0.5`:
#
#     d = w - 2
#     p = 2 * w
#     e = p - 3
#     s = d * d
#     t = e * e
#     loss = s + t
#
# Write its tape on paper, six lines and the line of `w`, with parents and slopes. A plain number such as 2 needs no line,
# because its gradient is not asked for. Then open `out/lessons/03_close.html` and see whether your tape says the same.

# %%
w = mg.Tensor(0.5, requires_grad=True, name="w")
with mg.trace():
    d = w - 2
    p = 2 * w
    e = p - 3
    s = d * d
    t = e * e
    loss = s + t
loss.backward()
print("loss", loss.item(), "slope", w.grad.item())
mg.explain(loss, OUT / "03_close.html", {"w": w}, language=LANGUAGE, lesson="course/03_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A tape is a list of notes, one for each step that was run: where its inputs came from, and what the slopes need.
# - Numbers are noted, not formulas. The tape does not know `if` or `for`.
# - Backward is one loop over the notes from the end: `gradient[parent] += gradient[line] * slope`.
# - Given numbers keep their `grad` until you clear it. Values in between start at zero in each backward pass.
# - Training: clear, compute the loss, `backward()`, change the data a little against the slope.
#
# ## Explain
#
# One paragraph: *What is written down while the program runs, and why is it enough?* Then compare.
#
# ---
#
# **Model answer.** For each step that is run, the tape notes which values went in, and the slopes of the result by
# each of them (or the numbers from which they can be computed). That is enough because the chain rule needs nothing
# but the slopes of single steps: along a way they are multiplied, and where ways meet they are added. The notes stand
# in the order of the run. So reading them backward meets each value only after all who used it, and one loop gives
# the gradient of every input.
#
# **The planted fault.** The gradients of the values in between are not set back to zero. In the second call `z` still
# has its 4, gets another 4, and hands on 8 instead of 4. `p` still has 4 and gets 8, so it hands on 12. `w` gets 12 ·
# 3 = 36 more: 12 + 36 = 48. Only given numbers may keep their gradients; values in between must start at zero in each
# pass.
