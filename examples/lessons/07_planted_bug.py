# %% [markdown] name="title"
# # Lesson 7: find the planted bug
#
# A wrong value is often seen at once. A wrong *gradient* is not: the shapes fit, no error is raised, and the loss
# often falls, only less well than it could. And what it could do is not known. In this lesson you learn to search
# like a detective, with three questions: is it wrong at all? At which step? And what is missing there?
#
# You need: lessons 1 to 6. Time: 20 minutes.

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
# With `z = [0, log(2), 0]`, the exponentials in softmax (lesson 6) are 1, 2 and 1, and the probabilities 0.25, 0.5,
# 0.25. Our program picks the first, with `c = [1, 0, 0]`:
#
#     p = softmax(z)
#     picked = c * p
#     loss = sum(picked)
#
# With `mg.primitive` one makes an operation with a backward rule of one's own. The rule below stands in an article that
# trains a small network (a Transformer, lesson 11) in NumPy, all by hand: the gradient `g` that arrives, times
# `p * (1 - p)`. You know from lesson 6 that this is only the diagonal. But how could the author have noticed, without
# knowing the right rule and without computing a single derivative? That is the question of the page
# `out/lessons/07_open.html`. (It also tells you, in red, that a rule is wrong. How it finds out comes below.)


# %%
def softmax_of(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))  # less the largest, so that exp does not overflow
    return e / e.sum(axis=-1, keepdims=True)


softmax = mg.primitive(softmax_of, name="article_softmax").vjp(s=lambda g, ans: g * ans * (1 - ans))  # ans: the result

# %%
c = np.array([1.0, 0.0, 0.0])
z = mg.Tensor([0.0, np.log(2.0), 0.0], requires_grad=True, name="z")
with mg.trace():
    p = softmax(z)
    picked = c * p
    loss = np.sum(picked)
loss.backward()
print("p:", p.data, " gradient of z by the rule:", z.grad.data)
mg.explain(loss, OUT / "07_open.html", {"z": z}, language=LANGUAGE, lesson="course/07_open")

# %% [markdown] name="whether"
# ## First question: is it wrong at all?
#
# What you just used is the cheapest test there is: something that *must* hold. Move all of `z` alike, and nothing
# happens; so the gradient adds up to 0. There is often such a thing, and it needs no second computation.
#
# The test that always works is the nudge of lesson 1. With many inputs, do not nudge each by itself. Choose a random
# **direction** `v` (lesson 4), move all inputs along it at once, and compare with gradient · v. Two runs are
# enough, however many inputs there are, and a wrong gradient is very unlikely to agree by accident.
# `mg.check_grads` does this:


# %%
def pick(z):
    return np.sum(c * softmax(z))


try:
    mg.check_grads(pick, [z.data], order=1)  # order 1: first derivatives only
except mg.GradientError as error:
    print(error)
h = 0.00001
nudged = [(pick(z.data + h * v) - pick(z.data - h * v)) / (2 * h) for v in np.eye(3)]
print("number by number, by nudging:", np.round([number.item() for number in nudged], 4))

# %% [markdown] name="article"
# The nudges give 0.1875, -0.125 and -0.0625: only the first was right. The rule knows that `z[0]` moves `p[0]`. It
# does not know that `z[1]` and `z[2]` move `p[0]` too, through the sum.
#
# ## Second question: at which step?
#
# That was one rule. Here are three, in a row, as in the article. Its network looks at a sentence of three words. Each
# word is a row of `h`, with two numbers. This is *attention*, which is the topic of lesson 10; you need only three
# lines now. (The article divides `s` by a constant, which is left out here.)
#
#     s = h @ h.T             # how well does each word fit each other word?
#     A = softmax(s)          # row by row: how much of each word does this word take?
#     m = A @ h               # each word becomes a mixture of all words
#
# The article has worked out all rules by hand. The values are right. Read the rules, and write down which of them
# you believe.

# %%
scores = mg.primitive(lambda h: h @ h.T, name="scores").vjp(h=lambda g, h: 2 * g @ h)
mix = mg.primitive(lambda A, h: A @ h, name="mix").vjp(A=lambda g, h: g @ h.T, h=lambda g, A: A @ g)


def network(h, wanted, scores=scores, softmax=softmax, mix=mix):
    A = softmax(scores(h))
    return np.sum((mix(A, h) - wanted) ** 2)


def errors(h):
    """How far each rule of ours is off; and print which are wrong."""
    with mg.trace():
        loss = network(mg.Tensor(h, requires_grad=True), wanted)
    graph = mg.check_edges(loss)
    name = {edge: f"{graph.nodes[edge.target].operation} by {edge.argument}" for edge in graph.edges}
    print([name[edge] for edge in mg.wrong_edges(graph)])
    return {name[edge]: edge.error for edge in graph.edges if name[edge].startswith(("scores", "article", "mix"))}


wanted = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
alike, different = np.array([[1.0, 0.5]] * 3), np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -0.8]])
figure, axes = plt.subplots(figsize=(6.5, 3.8))
for name, words, color, shift in (("words alike", alike, "gray", -0.2), ("different words", different, "tab:red", 0.2)):
    print(f"{name}, wrong are", end=" ")
    found = errors(words)
    axes.bar(np.arange(len(found)) + shift, [error + 1e-13 for error in found.values()], 0.4, color=color, label=name)
axes.axhline(1e-5, color="black", linestyle="--", label="wrong from here on")
axes.set(yscale="log", ylabel="error of the rule", title="Alike words hide a bug in mix", ylim=(1e-13, 1e3))
axes.set_xticks(range(len(found)), list(found), fontsize=8)
axes.legend(loc="upper right")
figure.savefig(OUT / "07_edges.png", dpi=120)

# %% [markdown] name="which"
# `mg.check_edges` takes the steps of a traced program one by one. Each is run again by itself, on its own numbers,
# and its rule is compared with nudges; `mg.wrong_edges` lists the arrows whose rule is wrong. So you need not think
# about the whole network: the list names the step, and for which of its inputs it is wrong.
#
# With three different words there are three faults. With three equal words `mix` looks right! Then all of `A` is
# 1/3, and a table that is the same when rows and columns change places hides a missing transpose (you know this from
# lesson 4). The article's own sentences were made of equal words. **A test sees only what its numbers show.**
#
# ## Third question: what is missing?
#
# | step | the rule by hand | what it should be | what was forgotten |
# |---|---|---|---|
# | `s = h @ h.T` | `2 * g @ h` | `(g + g.T) @ h` | `h` stands in two places, as row and as column |
# | `A = softmax(s)` | `g * A * (1 - A)` | `A * (g - t)` | the way through the sum |
# | `m = A @ h`, with respect to `h` | `A @ g` | `A.T @ g` | the transpose |
#
# (`t` is the sum of `g * A` in each row.) Bugs in gradients are old acquaintances: a way forgotten, a sum forgotten,
# a transpose, a factor, a sign. When you have the right numbers (by nudging) beside the wrong ones, look: is it a
# factor? The other sign? Right in one column? Right up to a transpose?
#
# ## But the loss falls!
#
# Let us put a matrix `W` before the network, `h = words @ W`, and train it (lesson 3): once with the three rules by
# hand, once with the right ones, which minigrad has.

# %%
right = {"scores": lambda h: h @ h.T, "softmax": mg.softmax, "mix": lambda A, h: A @ h}
figure, axes = plt.subplots(figsize=(6, 4))
for name, rules, color in (("rules by hand", {}, "tab:red"), ("right rules", right, "tab:blue")):
    W = mg.Tensor(np.eye(2), requires_grad=True)
    losses = []
    for _ in range(60):
        W.grad = None
        loss = network(different @ W, wanted, **rules)
        loss.backward()
        losses.append(loss.item())
        W.data = W.data - 0.1 * W.grad.data
    print(f"{name}: loss from {losses[0]:.3f} to {losses[-1]:.3f}, lowest {min(losses):.3f}")
    axes.plot(losses, color=color, label=name)
axes.set(xlabel="step", ylabel="loss", title="Trained with wrong gradients, the loss falls too")
axes.legend()
figure.savefig(OUT / "07_training.png", dpi=120)

# %% [markdown] name="falls"
# Both begin at 0.938. With the right rules the loss ends at 0.613. With the rules by hand it falls at first too, as
# far as 0.623, then it turns and ends at 0.652. Had you seen only the red curve, you would say "it learns". A wrong
# gradient often points *roughly* the right way. **A falling loss is no test of a gradient.**
#
# ## Implement: tasks 7.1 to 7.3
#
# Task **7.1**: a finished network whose loss is right and one of whose gradients is wrong. Find the line. In a file
# of NumPy there is no `check_edges`; do the same by hand: nudge, then go through the steps.
# (Task **7.3** has a NaN. It comes below, with what finds one.)
#
# Task **7.2**: the formulas are right, and the gradient is still wrong. The fault is of another kind, a **stale
# value**: the backward pass reads a number that is not the one of the run. Here is a stale value from the article, in
# its layer `x @ W`. Read the class, and say what happens in the second step of a training.


# %%
class Layer:
    x = None

    def forward(self, x, W):
        if self.x is None:
            self.x = x
        return x @ W

    def backward(self, g):
        return self.x.T @ g  # the gradient of W


layer, W, g = Layer(), np.eye(2), np.ones((1, 2))
for x in (np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])):
    layer.forward(x, W)
    print("gradient of W:", layer.backward(g).tolist(), " right:", (x.T @ g).tolist())

factor = np.array([2.0, 3.0])
v = mg.Tensor([1.0, 1.0], requires_grad=True)
end = np.sum(v * factor)
factor[0] = 7.0  # in place, between the run and the backward pass
try:
    end.backward()
except mg.GraphError as error:
    print("refused:", str(error).partition(",")[0], "...")

# %% [markdown] name="stale"
# The layer keeps the `x` of its *first* call for ever. A test that calls it once sees nothing wrong. So call what you
# test twice, with different numbers.
#
# The second half shows the other way to a stale value: an array is changed **in place** (`a[0] = ...`, `a += ...`)
# after the run has noted it. minigrad keeps arrays, not copies, but compares them before it uses them, and refuses.
# It cannot watch what a class or a rule of yours keeps by itself, as `Layer` does.
#
# ## Break
#
# Only the *direction* of `w` should count: `u = w / length`. So the loss for `w` and for `2 * w` is the same. The
# loss is right. `check_grads` says that the gradient is wrong, and `check_edges` says that every rule is right. Both
# are right! Find the fault **before** you read on.


# %%
def broken(w):
    length = np.sqrt(np.sum(w * w)).item()
    u = w / length
    return np.sum((u - np.array([0.0, 1.0])) ** 2)


start = np.array([3.0, 4.0])
print(f"loss {broken(start):.3f}, for 2 * w {broken(2 * start):.3f}")
w = mg.Tensor(start, requires_grad=True, name="w")
with mg.trace():
    loss = broken(w)
loss.backward()
nudged = [(broken(start + h * v) - broken(start - h * v)) / (2 * h) for v in np.eye(2)]
print("gradient by backward:", w.grad.data.round(3), " by nudging:", np.round(nudged, 3))
print("wrong rules:", mg.wrong_edges(mg.check_edges(loss)))

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"A part of my gradient is missing, or `None`."** What is computed inside `with mg.no_grad():`, or from
# `x.detach()`, is not written on the tape: to the backward pass it is a plain number. That is meant for measuring and
# for changing weights. Where the page draws no arrow, no gradient walks.
#
# **"A mask makes gradients 0. Is that a bug?"** No. `np.where(mask, x, 0)` lets some numbers through and blocks the
# others; `relu(x)` blocks what is not above 0. What is blocked does not reach the end, so moving it does not move the
# end; the nudge says 0 too. It is a problem only when *all* examples are blocked: then nothing is learned there. And
# exactly *at* the bend of `relu` there is no derivative: nudging gives 0.5, minigrad answers 0. Do not test there.
#
# **"`np.where` should have protected me from NaN."** It picks the right
# *value*. But backward, the branch that was not taken is walked too, with gradient 0; and the slope of `sqrt` at 0 is
# infinite. 0 times infinity is NaN. For a traced program, `mg.find_nan(loss)` names the step and the cause. Inside
# `with mg.detect_anomaly():` it stops at once, where it happens. Task **7.3** is a program whose whole gradient is NaN as
# soon as one of its rows is zeros: find the step with `mg.find_nan`, and fix it.
#
# **"In my test the numbers differ in the third decimal."** Are they `float32`? Then the computer keeps about 7 digits,
# not 16, and nudging is worse:

# %%
x = mg.Tensor(0.0, requires_grad=True)
mg.relu(x).backward()
print("relu at 0:", x.grad.item(), " by nudging:", (max(h, 0) - max(-h, 0)) / (2 * h))

x = mg.Tensor([0.0, 4.0], requires_grad=True, name="x")
with mg.trace():
    loss = np.sum(np.where(x.data > 0, np.sqrt(x), 0.0))
loss.backward()
print("gradient:", x.grad.data)
print(str(mg.find_nan(loss)).partition(":")[0])
x.grad = None
np.sum(np.where(x.data > 0, np.sqrt(np.where(x.data > 0, x, 1.0)), 0.0)).backward()
print("made safe before the root:", x.grad.data)


def cube(x):
    return x * x * x  # only products: unlike those of exp, their last digits are the same on every computer


for kind in (np.float32, np.float64):
    for step in (kind(0.01), kind(0.00001)):
        slope = (cube(1 + step) - cube(1 - step)) / (2 * step)
        print(f"slope of x * x * x at 1 in {kind.__name__}, nudged by {step:g}: {slope:.4f}")

# %% [markdown] name="close"
# At 1, the slope of `x * x * x` is 3, and in `float32` a nudge of 0.00001 gives 3.0041; even one of 0.01 does better, with
# 3.0001. So test in `float64`, whatever your program trains in. `check_grads` and `check_edges` do so by themselves.
#
# ## Once more: attention without softmax
#
# Two words of one number each, `h = [1, 2]` (upright, as a column), and `c` picks the first word of the result:
#
#     k = h.T
#     s = h @ k
#     m = s @ h
#     picked = c * m
#     loss = sum(picked)
#
# On paper: which contributions reach `h`, and what is its gradient? (The loss is `h[0]**3 + h[0] * h[1]**2`, so you
# can check.) Then open `out/lessons/07_close.html`.

# %%
h = mg.Tensor([[1.0], [2.0]], requires_grad=True, name="h")
c = np.array([[1.0], [0.0]])
with mg.trace():
    k = h.T
    s = h @ k
    m = s @ h
    picked = c * m
    loss = np.sum(picked)
loss.backward()
print("loss", loss.item(), " gradient of h:", h.grad.data.ravel())
print("with the article's rule:", (s.data.T @ c + 2 * (c @ h.data.T) @ h.data).ravel())
mg.explain(loss, OUT / "07_close.html", {"h": h}, language=LANGUAGE, lesson="course/07_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A wrong gradient raises no error, and the loss may fall all the same.
# - Is it wrong at all? Something that must hold (a sum of 0), or nudge along a random direction: `check_grads`.
# - At which step? Each rule by itself, on its own numbers: `check_edges`, or by hand from the end to the beginning.
# - What is missing? A way, a sum, a transpose, a factor, a sign; a stale value; an arrow that is not on the tape.
# - Test with numbers that differ, that are not symmetric, not at a bend, in `float64`, and call it twice.
#
# ## Explain
#
# One paragraph: *A training runs and the loss falls. Why is that no proof that the gradients are right, and what
# would you do to be sure?* Then compare.
#
# ---
#
# **Model answer.** A step makes the loss smaller whenever it points roughly downhill, and a gradient with a forgotten
# part often still does. So the loss falls, only more slowly, or it stops too early, and what would have been possible
# stays unknown. To be sure, I compare with something that does not use the rules: I nudge the inputs along a random
# direction, in `float64`, with numbers that have nothing special about them. If the two disagree, I do the same with
# every step by itself, until I have the step; then I compare its numbers with the right ones to see what is missing.
#
# **The planted fault.** `.item()` makes a plain number of `length`: it leaves the tape, and the arrow from `w` to
# `length` is gone. So every rule that is there is right, and the gradient is wrong, since a *way* is missing (lesson
# 2). `backward()` gives 0.24 and -0.08, nudging 0.192 and -0.144. You could have seen it without nudging: a longer
# `w` has the same loss, so along `w` the slope is 0, and 3 · 0.192 - 4 · 0.144 is 0. `.data`, `.detach()` and
# `no_grad` cut a way just so. (minigrad refuses `float(w)`, which would do it without a word.) When `check_grads`
# complains and `check_edges` does not, look for a missing arrow.
