# %% [markdown] name="title"
# # Lesson 2: one value used twice, and the right order
#
# In lesson 1 every value was used once, and the slopes of a chain were multiplied. Real programs use values several
# times: a weight works on every word of a sentence. What is the slope then? And in which order must the backward pass
# visit the steps?
#
# You need: lesson 1, and dictionaries. Time: 15 minutes.

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
#     a = 3 * x
#     b = a + 1
#     y = a * b
#
# With `x = 2` this gives `a = 6`, `b = 7`, `y = 42`. Look at `a`: it is used *twice*, by `b` and by `y`. The page
# `out/lessons/02_open.html` asks how many numbers arrive at `a`, and whose turn it is when.

# %%
x = mg.Tensor(2.0, requires_grad=True, name="x")
with mg.trace():
    a = 3 * x
    b = a + 1
    y = a * b
mg.explain(y, OUT / "02_open.html", language=LANGUAGE, lesson="course/02_open")

# %% [markdown] name="add"
# ## Two ways add up
#
# Why a sum? Draw `y = a * b` as the area of a rectangle, `a` wide and `b` high. Nudge `a`: it gets wider. But
# `b = a + 1` moves with `a`, so it also gets higher. The area grows by *two* strips and a corner.

# %%
a, b, move = 6.0, 7.0, 0.5
figure, axes = plt.subplots(figsize=(6, 5))
axes.add_patch(plt.Rectangle((0, 0), a, b, color="lightgray"))
axes.add_patch(plt.Rectangle((a, 0), move, b, color="tab:blue"))
axes.add_patch(plt.Rectangle((0, b), a, move, color="tab:orange"))
axes.add_patch(plt.Rectangle((a, b), move, move, color="tab:red"))
axes.text(a / 2, b / 2, "y = a * b = 42", ha="center")
axes.text(a + move + 0.2, b / 2, "wider:\nb * move", color="tab:blue")
axes.text(a / 2, b + move + 0.3, "higher: a * move", color="tab:orange", ha="center")
axes.text(a + move + 0.2, b + 0.1, "corner:\nmove * move", color="tab:red")
axes.set(xlim=(0, 13), ylim=(0, 10), xlabel="a", ylabel="b", aspect="equal", title="a moves, and b moves with it")
figure.savefig(OUT / "02_strips.png", dpi=120)

a, b = 6.0, 7.0
for move in (0.5, 0.01):
    strips, corner = b * move + a * move, move * move
    more = (a + move) * (b + move) - a * b
    print(f"{move}: {more:.4f} = {strips:.4f} + {corner:.4f}")

# %% [markdown] name="sum"
# The small red corner is `move * move`. For a nudge of 0.01 the strips are 0.1300 and the corner only 0.0001: when
# the nudge gets smaller, the corner does not count. What is left is (7 + 6) times the move: dy/da = 13.
#
# **In general: what reaches the end along several ways gets one number from each way, and these numbers are added.**
# Along a way slopes are multiplied, as in lesson 1. What comes along one way is called a **contribution**.
#
# Then `x`: `a` moves 3 times as far as `x`, so dy/dx = 13 · 3 = 39. The nudge agrees:


# %%
def f(x):
    a = 3 * x
    b = a + 1
    return a * b


print(f"by nudging: {(f(2.00001) - f(1.99999)) / 0.00002:.3f}")

# %% [markdown] name="order"
# ## Implement: task 2.1
#
# Task **2.1**: `minigrad learn check 2.1`. `y = (x * x) * sin(x)`, and you write what comes along each of the two
# ways. (The slope of sin(x) is cos(x).)
#
# ## The order of the backward pass
#
# Let us write a backward pass ourselves. Our program is a **graph**: values, and arrows between them. For each value
# we note its **parents**, the values it was computed from, and for each arrow its slope. For each value we look for
# its **gradient**: how fast the end moves when this value moves. (This is all that is needed. How these notes are
# made while a program runs is lesson 3.)


# %%
parents = {"x": [], "a": ["x"], "b": ["a"], "y": ["a", "b"]}
slopes = {("a", "x"): 3, ("b", "a"): 1, ("y", "a"): 7, ("y", "b"): 6}


def backward(order):
    gradient = {"x": 0, "a": 0, "b": 0, "y": 0}
    gradient[order[0]] = 1  # y moves as far as y
    for name in order:  # its turn: it hands its gradient on to each parent
        for parent in parents[name]:
            gradient[parent] += gradient[name] * slopes[name, parent]
    return gradient


print("y, b, a, x:", backward(["y", "b", "a", "x"]))
print("y, a, b, x:", backward(["y", "a", "b", "x"]))

# %% [markdown] name="topological"
# The first order gives 39 for `x`. The second gives 21, although every slope and the `+=` are right! There `a` had
# its turn when it had only the 7 from `y`. It handed on 7 · 3 = 21. The 6 from `b` came later, too late to be handed
# on.
#
# So the rule is: **a value hands on its gradient only when it is complete, that is, when all who used the value have
# had their turn.** A list in which every value comes after all of its parents is called a **topological order**: here
# `x, a, b, y`. Read from its end it is just what the backward pass needs.
#
# Where does one get it? There is a trick so simple that it is easily missed: *the order in which the program was run*
# is a topological order. A step can only use what is already there. So minigrad numbers the steps as they are run,
# and goes backward by the numbers.
#
# ## Implement: task 2.2
#
# Sometimes there are no numbers, only parents. Task **2.2**: write `order(parents, end)`, a topological order. Start at
# the end, and let each value wait until all of its parents are in the list.
#
# ## Why not simply follow every way?
#
# One could forget about order, and walk from the end along *every* way separately. That is right too:


# %%
def walk(name, number, gradient):
    """From a value on along every way; returns how many steps that took."""
    gradient[name] += number
    return 1 + sum(walk(parent, number * slopes[name, parent], gradient) for parent in parents[name])


gradient = {"x": 0, "a": 0, "b": 0, "y": 0}
print(walk("y", 1, gradient), "steps:", gradient)

lengths = range(1, 17)
ways = []
for length in lengths:  # v1 = v0 + v0, v2 = v1 + v1, ...: each value is used twice
    parents = {"v0": []}
    for i in range(1, length + 1):
        parents[f"v{i}"] = [f"v{i - 1}", f"v{i - 1}"]
    slopes = {(name, parent): 1 for name in parents for parent in parents[name]}
    gradient = dict.fromkeys(parents, 0)  # a dictionary with a 0 for each
    ways.append(walk(f"v{length}", 1, gradient))
in_order = [length + 1 for length in lengths]
print("every way:", ways[-1], "steps; in order:", in_order[-1])

figure, axes = plt.subplots(figsize=(6, 4))
axes.semilogy(lengths, ways, "o-", color="tab:red", label="every way by itself")
axes.semilogy(lengths, in_order, "o-", color="tab:blue", label="each value once, in order")
axes.set(xlabel="number of doublings in the program", ylabel="steps", title="Ways double, values do not")
axes.legend()
figure.savefig(OUT / "02_ways.png", dpi=120)

# %% [markdown] name="cost"
# The answer is right, and the price is terrible. Sixteen doublings have 65536 ways; walking them takes 131071 steps.
# (Each step up the scale is ten times as many.) With sixty doublings `walk` would need thousands of years. In a
# topological order each value has *one* turn: 17 turns. The order is not only about being right. It is what makes the
# backward pass fast.
#
# ## Break
#
# A friend has found an order of her own: *nearest first*. First the end, then what it was computed from, then what
# these were computed from, and so on; each value once. On two programs it works. Find a program of four values for
# which it gives a wrong gradient, **before** you read on. You have already seen one.


# %%
def nearest_first(parents, end):
    """For the backward pass. It is wrong."""
    order = [end]
    for name in order:  # the list grows while we go through it
        for parent in parents[name]:
            if parent not in order:
                order.append(parent)
    return order


chain = {"x": [], "u": ["x"], "v": ["u"], "y": ["v"]}
two_ways = {"x": [], "a": ["x"], "b": ["x"], "y": ["a", "b"]}
print("chain:   ", nearest_first(chain, "y"))
print("two ways:", nearest_first(two_ways, "y"))

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"`x * x` uses `x` twice, but it is one operation."** Two arrows lead from it to `x` (a page draws them as one), so
# two contributions arrive: `x` + `x`. At 3 that is 6, as it should be for x².

# %%
x = mg.Tensor(3.0, requires_grad=True)
(x * x).backward()
print("x * x at 3:", x.grad)

# %% [markdown] name="clearing"
# **"What does `zero_grad` clear?"** Only the `grad` of the parameters, the numbers that are trained. Not the
# parameters themselves, not the notes of a program. `backward()` *adds* to `grad`, for the reason of this lesson:
# every contribution is added. It adds over several calls too. That is useful: a large pile of examples can be done in
# two halves. But it means that you must clear. (Below, `nn.Parameter` is a Tensor that is to be trained, and `nn.SGD`
# is an *optimizer*: it holds the parameters, and would change them.)

# %%
w = nn.Parameter(np.array(2.0))
optimizer = nn.SGD([w], lr=0.1)  # lr: how far a step would go; here none is made
for clear in (False, True):
    seen = []
    for _ in range(3):
        if clear:
            optimizer.zero_grad()
        (5.0 * w).backward()
        seen.append(w.grad.item())
    print("cleared:" if clear else "not cleared:", seen)
    optimizer.zero_grad()

# %% [markdown] name="second"
# The slope of `5 * w` is 5, always. Without clearing you see 5, 10, 15.
#
# **"I have two losses, and the second `backward()` fails."** They share a step. The first `backward()` threw the
# notes of that step away. (The message calls them *kept values*; a first call that fails throws them away too.) Add
# the losses and call `backward()` once (the slope of a sum is the sum of the slopes), or
# keep the notes:

# %%
w = mg.Tensor(2.0, requires_grad=True)
shared = w * w
one, two = 3 * shared, shared + 1
one.backward()
try:
    two.backward()
except mg.GraphError as error:
    print("refused:", str(error).partition(":")[0])

w.grad = None
shared = w * w
(3 * shared + (shared + 1)).backward()
print("sum of the losses:", w.grad)

w.grad = None
shared = w * w
one, two = 3 * shared, shared + 1
one.backward(retain_graph=True)
two.backward()
print("notes kept:       ", w.grad)

# %% [markdown] name="close"
# **"A value that does not lead to the end: what is its gradient?"** Nothing arrives there: its `grad` stays `None`.
# Moving it does not move the end.
#
# ## Once more: a weight used at two times
#
# A neuron with memory reads its own last output, with the same weight:
#
#     p = w * x
#     h = tanh(p)
#     q = w * h
#     y = tanh(q)
#     loss = y ** 2
#
# `w` works in `p` and in `q`. On `out/lessons/02_close.html`, find both contributions to `w` before the page shows
# them.

# %%
x = mg.Tensor(0.8, requires_grad=True, name="x")
w = mg.Tensor(1.5, requires_grad=True, name="w")
with mg.trace():
    p = w * x
    h = np.tanh(p)
    q = w * h
    y = np.tanh(q)
    loss = y**2
loss.backward()
to_q = 2 * y.item() * (1 - y.item() ** 2)
to_p = to_q * w.item() * (1 - h.item() ** 2)
print(f"h = {h.item():.4f}; to q {to_q:.4f}, to p {to_p:.4f}; ", end="")
print(f"w from q {to_q * h.item():.4f}, from p {to_p * 0.8:.4f}, together {w.grad.item():.4f}")
mg.explain(loss, OUT / "02_close.html", {"w": w, "x": x}, language=LANGUAGE, lesson="course/02_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Along a way multiply, at a value where ways meet add: `+=`, never `=`.
# - A value hands on its gradient only when it is complete. A topological order, read from its end, sees to that.
# - The order in which the program was run is a topological order.
# - In order, each value has one turn. Following every way by itself takes twice as many steps for each further
#   value that is used twice.
# - `grad` is added to, over several calls of `backward()` too. `zero_grad` clears it, and nothing else.
#
# ## Explain
#
# One paragraph: *Why must the backward pass wait at a value that was used twice, and for what?* Then compare.
#
# ---
#
# **Model answer.** A value that is used twice moves the end along two ways, so its gradient is the sum of two
# contributions. Everything before the value was moved through it, and needs the whole sum. If the value handed on its
# gradient after the first contribution, what lies before would miss the second. So it waits until all its users have
# had their turn. Going backward through the steps in the opposite order of the run guarantees that, since users
# always run after what they use.
#
# **The planted fault.** Nearest first is wrong for the program at the top of this lesson: `y = a * b` and
# `b = a + 1`. Both `a` and `b` are one arrow away from `y`, and `a` is named first, so the order is `y, a, b, x`, and
# the gradient of `x` is 21 instead of 39. What counts is not the shortest way to the end but the longest: `a` must
# wait for `b`.
