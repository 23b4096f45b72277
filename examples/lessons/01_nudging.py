# %% [markdown] name="title"
# # Lesson 1: nudging, and the chain rule
#
# How fast does the result of a program change when one of its numbers changes? That question is all of this course.
# In this lesson you answer it twice: first by trying (a *nudge*), then by a rule that needs no trying (the *chain
# rule*).
#
# You need: Python (functions and lists), and from school what the slope of a curve is. Time: 15 minutes.
#
# Run the cells from the top. Each lesson goes the same way: **predict**, **implement**, **break**, **explain**.

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
# Our first program makes a number `y` from a number `x`, in three steps:
#
#     u = 3 * x
#     v = u + 1
#     y = v ** 2
#
# With `x = 0.5` it gives `u = 1.5`, `v = 2.5` and `y = 6.25`. The next cell writes a page,
# `out/lessons/01_open.html`: open it in a browser (in a notebook it shows below the cell). It goes through the
# program step by step and asks you to guess. Wrong guesses are welcome. A question may need what you will learn
# below; then come back.
#
# *Next stop* goes to where the page has something to say, and *Next step* (→) goes a single step. The other controls
# can wait; each is explained when you need it, and so are the words that you do not know yet.

# %%
x = mg.Tensor(0.5, requires_grad=True, name="x")
with mg.trace():  # notes what the page will show
    u = 3 * x
    v = u + 1
    y = v**2
mg.explain(y, OUT / "01_open.html", language=LANGUAGE, lesson="course/01_open")

# %% [markdown] name="nudge"
# ## A nudge
#
# Forget the page for a moment: here is the program as a plain function. We move `x` by a small number `h` and look at
# what comes out.


# %%
def f(x):
    u = 3 * x
    v = u + 1
    return v**2


h = 0.001
print("f(0.5)         =", f(0.5))
print("f(0.501)       =", round(f(0.501), 6))
print("u moved by     ", round(3 * 0.501 - 3 * 0.5, 6))
print("y moved by     ", round(f(0.501) - f(0.5), 6))
print("that is times  ", round((f(0.501) - f(0.5)) / h, 3))

# %% [markdown] name="slope"
# `x` moved by 0.001, and `y` by 0.015009: 15.009 times as much. This ratio is the **slope** of `f` at 0.5. When the
# nudge gets smaller and smaller, the ratio comes closer and closer to one number, the **derivative** of `f` at 0.5.
# It is written dy/dx (on the page ∂y/∂x, and there it is called a *gradient*). School calculus gives it: y = (3x +
# 1)², so dy/dx = 6 (3x + 1), which is 15 at x = 0.5.
#
# A derivative tells what a small change does. "dy/dx = 15" means: move `x` by a little, and `y` moves 15 times as
# far. A negative derivative means that `y` moves the other way.
#
# The nudge gave 15.009 and not 15, since the curve bends upwards to the right. So we nudge to both sides: the two
# errors cancel, as the picture shows. (You need not read the code that draws it. A page calls such a ratio a
# *difference quotient*.)


# %%
def slope(f, x, h):
    """To the right by h, to the left by h: how fast does f change?"""
    return (f(x + h) - f(x - h)) / (2 * h)


print("one side:", round((f(0.5 + h) - f(0.5)) / h, 3), "  both sides:", round(slope(f, 0.5, h), 3))

places = np.linspace(-0.1, 1.1, 100)
figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(places, f(places), color="black", label="y = (3x + 1)²")
wide = 0.4  # a nudge large enough to be seen
for left, right, name, color in (
    (0.5, 0.5 + wide, "one side", "tab:red"),
    (0.5 - wide, 0.5 + wide, "both sides", "tab:blue"),
):
    steepness = (f(right) - f(left)) / (right - left)
    print(f"the line through {name}: slope {steepness:.1f}")
    axes.plot(places, f(left) + steepness * (places - left), "--", color=color, label=f"{name}: slope {steepness:.1f}")
    axes.plot([left, right], [f(left), f(right)], "o", color=color)
axes.plot(places, f(0.5) + 15 * (places - 0.5), color="tab:green", label="the tangent at 0.5: slope 15")
axes.set(xlabel="x", ylabel="y", title="Nudging x by 0.4, to one side and to both")
axes.legend()
figure.savefig(OUT / "01_nudges.png", dpi=120)

# %% [markdown] name="how_small"
# The line through both sides (blue) has the same slope as the tangent (green); the one-sided line (red) is too steep:
# 18.6.
#
# ### How small should the nudge be?
#
# Very small, one would think. Let us try with a function whose derivative we know: `exp(x)` (that is e to the power
# of x) is its own derivative. At x = 1 both are 2.718281828...

# %%
hs = 10.0 ** np.arange(-1, -15, -1)
one_side = np.array([abs((np.exp(1 + h) - np.exp(1)) / h - np.exp(1)) for h in hs])
both_sides = np.array([abs(slope(np.exp, 1.0, h) - np.exp(1)) for h in hs])
print(f"exp(1) = {np.exp(1):.9f}")
for k in (0, 4, 13):
    print(f"both sides, h = {hs[k]:.0e}: error {both_sides[k]:.10f}")

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.loglog(hs, one_side, "o-", color="tab:red", label="one side")
axes.loglog(hs, both_sides, "o-", color="tab:blue", label="both sides")
axes.set(xlabel="size of the nudge, h", ylabel="error of the slope", title="Too large is wrong, too small is wrong too")
axes.legend()
figure.savefig(OUT / "01_how_small.png", dpi=120)

# %% [markdown] name="rounding"
# Read the picture from the right to the left. At first a smaller nudge is better: ten times smaller makes the error of
# the one-sided slope ten times smaller, and that of the two-sided slope a hundred times. Then it turns. The computer
# keeps about 16 digits of a number; `f(x + h)` and `f(x - h)` become almost equal, and their difference is made of the
# last, rounded digits. Both sides, with `h` near 0.00001 (Python writes 1e-05), is a good choice.
#
# ## Implement: tasks 1.1 and 1.2
#
# The exercises live in a folder of yours. In a terminal:
#
#     minigrad learn init my_course
#     cd my_course
#     minigrad learn check 1.1
#
# Task **1.1** asks for `slope`: you have seen it above, so write it from memory. Task **1.2** does the same for an
# array of many numbers, of any shape, one number at a time. The array of all these slopes is called the **gradient**.
# `minigrad learn hint` helps: its first hint says how to go through every place of an array. For most wrong answers
# there is also a page that goes through your own program; its address stands below the message.
#
# ## The chain rule
#
# A nudge is honest work, but slow: a program with a million numbers would have to run two million times. There is
# another way. Look at each step of the program by itself, and nudge what goes into it. (`lambda x: 3 * x` is a
# function without a name: it takes `x` and returns `3 * x`.)

# %%
x, u, v = 0.5, 1.5, 2.5
du_dx = slope(lambda x: 3 * x, x, 0.00001)
dv_du = slope(lambda u: u + 1, u, 0.00001)
dy_dv = slope(lambda v: v**2, v, 0.00001)
print(
    f"du/dx = {du_dx:.3f}, dv/du = {dv_du:.3f}, dy/dv = {dy_dv:.3f}, and their product is {dy_dv * dv_du * du_dx:.3f}"
)

# %% [markdown] name="chain"
# `x` moves `u` 3 times as far. `u` moves `v` just as far. `v` moves `y` 5 times as far. One after the other: 3 · 1 ·
# 5 = 15. Like gears, the ratios *multiply*. That is the **chain rule**:
#
#     dy/dx = dy/dv · dv/du · du/dx
#
# And each of the small slopes can be known without a nudge, from a table, most of which you know from school:
#
# | step | its slope |
# |---|---|
# | `3 * x` | 3 |
# | `u + 1` | 1 |
# | `v ** 2` | `2 * v` |
# | `w * x`, with respect to `w` | `x` |
# | `tanh(z)` | `1 - tanh(z) ** 2` |
#
# `tanh` may be new: it is a function that squeezes every number into the range from -1 to 1, steep at 0 and flat far
# away.
#
# A library for **automatic differentiation** does just that. While the program runs, it writes down the steps. Then
# it goes through them from the end to the beginning and multiplies. It goes backward for a good reason, which is the
# topic of lesson 4; the walk is called the **backward pass**. With minigrad:

# %%
x = mg.Tensor(0.5, requires_grad=True)  # a number whose slope we want to know
y = f(x)  # the steps are written down
print("before:", x.grad)
y.backward()  # ... and gone through from the end
print("after: ", x.grad)

# %% [markdown] name="words"
# Three words, which you will meet everywhere:
#
# - a **Tensor** is a number (or an array of numbers) whose steps are written down; `requires_grad=True` says "I want
#   the slope for this one", and `.item()` or `.data` gives back the plain number or array;
# - `y.backward()` does the backward pass;
# - `x.grad` is where the result is put: dy/dx. Before `backward()` there is nothing in it: `None`.
#
# ## Implement: task 1.3
#
# The smallest part of a neural network is a **neuron**. It has two numbers of its own, a *weight* `w` and a *bias*
# `b`. It takes `x` and makes `a`; how far `a` is from the wanted `y` is called the **loss**:
#
#     z = w * x + b
#     a = tanh(z)
#     loss = (a - y) ** 2
#
# Task **1.3**: write the loss and its derivatives with respect to `w` and to `b`, with the chain rule.
# `minigrad learn check 1.3` compares with nudges.
#
# ## Break
#
# Somebody has done task 1.3, and it is wrong in one place. For the first input below it even looks right! Find the
# fault **before** you read on. You have the tool: nudge.


# %%
def broken_neuron(w, b, x, y):
    z = w * x + b
    a = np.tanh(z)
    dloss_da = 2 * (a - y)
    da_dz = 1 - z**2
    return (a - y) ** 2, dloss_da * da_dz * x, dloss_da * da_dz


def right_loss(w, b, x, y):
    return (np.tanh(w * x + b) - y) ** 2


for w, b, x, y in ((0.1, 0.0, 0.2, 1.0), (0.9, 0.3, 1.0, 0.0)):
    nudged = (right_loss(w + 0.00001, b, x, y) - right_loss(w - 0.00001, b, x, y)) / 0.00002
    print(
        f"w = {w}, x = {x}: dloss/dw by nudging {nudged:.3f}, by the broken neuron {broken_neuron(w, b, x, y)[1]:.3f}"
    )

# %% [markdown] name="confusions"
# The answer is at the end of the lesson.
#
# ## What people stumble over
#
# **"Is a derivative a formula or a number?"** In school mostly a formula, 6 (3x + 1). Here always a number: the
# formula's value at the place where the program was run. Another `x`, another number.
#
# **"`x.grad` is `None`."** No `backward()` yet; or `x` has no `requires_grad=True`; or `x` was computed from
# something else. Only Tensors that you made yourself (they are called *leaves*) keep a `grad`.
#
# **"`Tensor(3, requires_grad=True)` is refused."** A whole number cannot be nudged a little. Write `3.0`.
#
# **"I called `backward()` twice."** There are two cases. A second time for the same `y` is refused: its notes were
# thrown away to save memory. For a `y` that was computed anew it works, and the new slope is *added* to what `x.grad`
# held. Look:

# %%
x = mg.Tensor(0.5, requires_grad=True)
y = f(x)
y.backward()
try:
    y.backward()
except mg.GraphError as error:
    print("refused:", str(error).partition(":")[0])
try:
    mg.Tensor(3, requires_grad=True)
except mg.DTypeError as error:
    print("refused:", error)
print("taken:", mg.Tensor(3.0, requires_grad=True))
f(x).backward()
print("computed anew, and not set back:", x.grad)
x.grad = None
f(x).backward()
print("set back before:", x.grad)

# %% [markdown] name="zero"
# 30 is not the slope of anything here; it is 15 + 15. Why anyone would *want* to add becomes clear in lesson 2. Until
# then: before you call `backward()` again, set `x.grad = None`. (For many Tensors at once, that is what `zero_grad()`
# does.)
#
# ## Once more, with the neuron
#
# The last page, `out/lessons/01_close.html`, is the neuron of task 1.3, at `w = 0.5, b = 0, x = 1, y = 0`. This time
# compute each number before the page shows it. You may use paper, and tanh(0.5) = 0.4621.

# %%
w = mg.Tensor(0.5, requires_grad=True, name="w")
b = mg.Tensor(0.0, requires_grad=True, name="b")
x, y = 1.0, 0.0
with mg.trace():
    z = w * x + b
    a = np.tanh(z)
    e = a - y
    loss = e**2
loss.backward()
print(f"loss = {loss.item():.4f}, dloss/dw = {w.grad.item():.4f}, dloss/db = {b.grad.item():.4f}")
print(f"a = {a.item():.4f}, 2 (a - y) = {2 * a.item():.4f}, 1 - a² = {1 - a.item() ** 2:.4f}, ", end="")
print(f"with four digits only: {0.7864 * 0.9242:.4f}")
mg.explain(loss, OUT / "01_close.html", {"w": w, "b": b}, language=LANGUAGE, lesson="course/01_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A derivative is a ratio: how far the result moves for a small move of an input.
# - A nudge to both sides finds any derivative, slowly. It checks every rule you will ever write.
# - Along a chain of steps the slopes multiply: the chain rule.
# - `backward()` goes through the steps from the end; `x.grad` holds the result, and a second result is added to it.
#
# ## Explain
#
# Write one paragraph, for a friend who missed the lesson: *Why can a computer find the derivative of a long program
# without knowing a formula for the whole program?* Then compare with the model answer.
#
# ---
#
# **Model answer.** A long program is a row of small steps: sums, products, a few functions such as tanh. For each
# small step the slope is known from a short table, and its value is known once the program has run. A change at the
# beginning is passed on from step to step, each time multiplied by that step's slope. So the derivative of the whole
# program is the product of the slopes, and no formula for the whole is ever needed. Whether it is right can be
# checked by nudging the input.
#
# **The planted fault.** `da_dz = 1 - z**2` should be `1 - a**2`: the slope of tanh is one minus the square of its
# *output*. When `z` is near 0, `tanh(z)` is almost `z`, so a test with small numbers does not notice: in the first
# line both print -0.392. In the second line the nudge gives 0.509 and the broken neuron -0.734: even the sign is
# wrong. Test with numbers that are not small, not equal, and not 0 or 1.
