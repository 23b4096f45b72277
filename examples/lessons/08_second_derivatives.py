# %% [markdown] name="title"
# # Lesson 8: derivatives of derivatives
#
# A slope tells which way is down. It does not tell how far to go. For that one must know how the slope itself
# changes: the derivative of the derivative. In this lesson the backward pass becomes a program that is differentiated
# in its turn. With it we take steps that know their length, first with one number, then with many.
#
# You need: lessons 1 to 4 and 7. Time: 20 minutes.

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
#     square = x ** 2
#     slope = 3 * square
#
# The slope of y = x³ is 3 x². With `x = 4` that is 48. But look: it is made of `x` in two steps, so it is a program in
# its turn, and has a backward pass of its own. The page `out/lessons/08_open.html` shows it. What will it find?

# %%
x = mg.Tensor(4.0, requires_grad=True, name="x")
with mg.trace():
    square = x**2
    slope = 3 * square
mg.explain(slope, OUT / "08_open.html", {"x": x}, language=LANGUAGE, lesson="course/08_open")

# %% [markdown] name="created"
# You need not write this program down. The backward pass of `y = x ** 3` is just that: a power, and a multiplication.
# With `create_graph=True` its steps are written on the tape too. Then `x.grad` is not only a number, but the end of a
# program that begins at `x`:

# %%
x = mg.Tensor(4.0, requires_grad=True)
y = x**3
y.backward(create_graph=True)
slope = x.grad
x.grad = None  # or the next result would be added to the slope
slope.backward()
print("y:", y.item(), " slope:", slope.item(), " slope of the slope:", x.grad.item())

# %% [markdown] name="bend"
# ## The bend
#
# The derivative of the derivative is the **second derivative**, written f''. Where it is positive, the slope grows on
# the way to the right: the curve bends upward, like a bowl. Where it is negative, the curve bends downward, like a
# hill. We will simply say the **bend**.
#
# `mg.grad(f)` makes a new function: it returns the slope of `f`. So `mg.grad(mg.grad(f))` returns the bend. The notes
# are kept for you there; no `create_graph` is needed. Could one nudge instead? The slope to the right minus the slope
# to the left, divided by the distance:


# %%
def f(x):
    return x**2 / 4 + np.cos(x)


def short(error):
    """One digit that is not 0, and no exponent."""
    return np.format_float_positional(abs(error), precision=1, fractional=False)


slope = mg.grad(f)
bend = mg.grad(slope)
print(f"at 3: f {f(3.0):.4f}, slope {slope(3.0):.4f}, bend {bend(3.0):.4f}")
for h in (0.01, 0.0001, 0.000001):
    nudged = (f(3 + h) - 2 * f(3) + f(3 - h)) / h**2  # the two slopes are (f(3 + h) - f(3)) / h, (f(3) - f(3 - h)) / h
    print(f"h = {short(h)}: nudged bend {nudged:.6f}, error {short(nudged - bend(3.0))}")

# %% [markdown] name="nudged"
# Nudging loses digits twice, as the difference of a difference is divided by `h` twice. With 0.000001 the error is
# already 0.00007, and lesson 1 had nine right digits for a slope. `mg.grad(mg.grad(f))` has all digits.
#
# ## Newton's method
#
# To find the lowest point of `f`, look for a place where the slope is 0. We stand at `x`. The slope is f'(x), and it
# changes f''(x) times as fast as `x`. *If it went on changing so*, it would be 0 after
#
#     step = - f'(x) / f''(x)
#
# Or in a picture: lay a parabola on the curve, with the same height, slope and bend, and jump to its lowest point.
# That is **Newton's method**. We compare with *gradient descent* (lesson 3), which goes `rate` times the slope
# downhill.

# %%
newton, descent = [3.0], [3.0]
for _ in range(5):
    newton.append(newton[-1] - slope(newton[-1]) / bend(newton[-1]))
    descent.append(descent[-1] - 0.5 * slope(descent[-1]))
lowest = newton[-1]
for k in range(5):
    print(f"step {k}: error of Newton {short(newton[k] - lowest)}, of gradient descent {short(descent[k] - lowest)}")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
places = np.linspace(-4, 4, 200)
for panel, start in zip(axes, (3.0, 0.5)):
    end = start - slope(start) / bend(start)
    parabola = f(start) + slope(start) * (places - start) + bend(start) * (places - start) ** 2 / 2
    print(f"from {start} Newton jumps to {end:.3f}, where f is {f(end):.3f} (before: {f(start):.3f})")
    panel.plot(places, f(places), color="black", label="f")
    panel.plot(places, parabola, "--", color="tab:blue", label="parabola with the same slope and bend")
    panel.plot(start, f(start), "o", color="tab:red", label="start")
    panel.plot(end, f(end), "*", markersize=12, color="tab:green", label="after one step")
    panel.set(xlabel="x", ylim=(0, 3), title=f"from x = {start}: bend {bend(start):.2f}")
axes[1].legend(loc="upper center", fontsize=8)
figure.savefig(OUT / "08_newton.png", dpi=120)

# %% [markdown] name="digits"
# From 3, the errors of Newton's four steps are 0.2, 0.02, 0.0002, 0.00000001: from step to step the number of right
# digits doubles. Gradient descent has an error of 0.06 after the same four steps, and you had to guess a `rate`.
#
# Now look at the right half of the picture. At 0.5 the curve bends downward. The parabola has no lowest point, only a
# *top*, and Newton's method jumps there, to -0.108. `f` was 0.940 before and is 0.997 after the step. It looks for a
# place where the slope is 0, and the top of a hill is such a place too.
#
# ## Implement: task 8.1
#
# Task **8.1**: write Newton's method so that each step points downhill. `minigrad learn check 8.1`.
#
# ## Many numbers: a table of bends
#
# Now `x` has n numbers, so the slope is a gradient of n numbers. How does it change when `x` moves? Each number of
# the gradient can change with each number of `x`: that is a table with n rows and n columns. It is the Jacobian
# (lesson 4) of the gradient, and is called the **Hessian**, H. `H[i, j]` says how fast the slope with respect to
# `x[i]` changes when `x[j]` moves. It is the same as `H[j, i]`: a Hessian is symmetric.
#
# On the diagonal stand the bends along each `x[i]` alone. The other entries say how much two numbers are *coupled*.
# Newton's step is again the one after which the gradient would be 0: the `step` with `H @ step = -gradient`. NumPy
# finds it with `np.linalg.solve(H, -gradient)`. Here is a valley that lies across both directions:


# %%
def valley(x):
    return x[0] ** 4 / 4 - x[0] + 5 * (x[1] - x[0]) ** 2


gradient, hessian = mg.grad(valley), mg.hessian(valley)
start = np.array([3.0, -1.0])
print("gradient:", gradient(start), " Hessian:", hessian(start).tolist())
newton, descent = [start], [start]
for _ in range(6):
    newton.append(newton[-1] + np.linalg.solve(hessian(newton[-1]), -gradient(newton[-1])))
for _ in range(100):
    descent.append(descent[-1] - 0.02 * gradient(descent[-1]))
print("Newton, 6 steps:", newton[-1].round(4), " gradient descent, 100 steps:", descent[-1].round(4))

figure, axes = plt.subplots(figsize=(6, 4.5))
across, up = np.meshgrid(np.linspace(-0.5, 3.5, 100), np.linspace(-1.5, 3.5, 100))
axes.contour(across, up, valley(np.array([across, up])), levels=[0, 1, 4, 10, 20, 40, 80], colors="lightgray")
axes.plot(*np.transpose(descent), ".-", color="tab:red", label="gradient descent, 100 steps")
axes.plot(*np.transpose(newton), "o-", color="tab:blue", label="Newton, 6 steps")
axes.plot(1, 1, "*", markersize=14, color="tab:green", label="the lowest point")
axes.set(xlabel="x[0]", ylabel="x[1]", title="A valley: lines of equal height, and two ways down")
axes.legend(loc="upper left", fontsize=8)
figure.savefig(OUT / "08_valley.png", dpi=120)

# %% [markdown] name="product"
# Newton is at the lowest point, (1, 1), after 6 steps. Gradient descent first runs down the wall, and then
# creeps along the floor, with a `rate` that must be small because the walls are steep.
#
# Why is not all training done so? Because of the n rows and n columns. A network with a million weights would have a
# Hessian of a million times a million numbers, at 8 bytes each 8 terabytes.
#
# ## A product instead of the table
#
# But do we need the table? Mostly we need `H @ v`: how does the gradient change when `x` moves along `v`? In lesson 4
# we had such products without the Jacobian. Make one number of the gradient, `d` = gradient · v, and ask for *its*
# gradient. Since `v` is fixed, that is `v @ H`, and as H is symmetric, `H @ v`. So: one backward pass through a
# backward pass, whatever n is. It is called the **Hessian-vector product**, and minigrad has it as `mg.hvp`.
#
# What is it good for? Let `x` move along `v`, to `x + t * v`. On this way the slope for `t` is gradient · v, and the
# bend is v · (H @ v). With the gradient as `v` that tells how far a step along it should go: slope divided by bend,
# Newton's idea on one straight line.

# %%
v = gradient(start)
(product,) = mg.hvp(valley, (start,), (v,))
print("H @ v:", product, " with the table:", hessian(start) @ v)
again = mg.grad(lambda x: np.sum(gradient(x) * v))(start)
print("the gradient of gradient · v:", again)
rate = np.sum(v * v) / np.sum(v * product)
print(f"rate {rate:.4f}: from {valley(start):.2f} down to {valley(start - rate * v):.2f}, ", end="")
print(f"with 0.02 to {valley(start - 0.02 * v):.2f}")

# %% [markdown] name="task_two"
# After one step of that length the height is 7.27 (it was 97.25). With the guessed rate, 0.02, it would be 17.98.
#
# ## Implement: task 8.2
#
# Task **8.2**: a Hessian-vector product by hand, with the walk forward of lesson 4 through the program of the
# gradient. The check counts your multiplications: building the table would be too much.
#
# ## Break
#
# A friend wants the diagonal of H: the bend by each number alone. Her function differentiates the gradient once more,
# and for the first test it is right. For the valley it is wrong. Find out what her function really computes,
# **before** you read on.


# %%
def diagonal(f, x):
    """The second derivative with respect to each number of x. It is wrong."""
    return mg.grad(lambda x: np.sum(mg.grad(f)(x)))(x)


def cubes(x):
    return np.sum(x**3)


point = np.array([2.0, 1.0])
for g in (cubes, valley):
    print(f"{g.__name__}: right {np.diag(mg.hessian(g)(point)).tolist()}, hers {diagonal(g, point).tolist()}")

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"`x.grad.backward()` is refused."** After a plain `backward()`, `x.grad` is just numbers: nothing was written down
# on the way. Say `backward(create_graph=True)`, or use `mg.grad(mg.grad(f))`. And do not always say it: the tape
# grows by a whole backward pass.
#
# **"Is it the same as `retain_graph=True`?"** No. That keeps the notes of the *run*, so that you can go backward
# again. `create_graph` makes new notes, of the *backward pass*.
#
# **"My second derivative is too large."** `grad` is added to. If you do not set `x.grad = None` in between, it holds
# the slope *plus* the bend: 48 + 24 = 72.
#
# **"Newton's method went up."** You have seen it: where the bend is negative it looks for a top. With many numbers
# there are also *saddles*: up along one direction, down along another. The gradient is 0 there too, and Newton's
# method is content. Look at the value of `f` after each step.
#
# **"The Hessian of my network is full of zeros."** `relu` is made of two straight lines, and a straight line has no
# bend: its second derivative is 0 everywhere but at the corner.

# %%
x = mg.Tensor(4.0, requires_grad=True)
(x**3).backward()
try:
    x.grad.backward()
except mg.GraphError as error:
    print("refused:", str(error).partition(":")[0])
x.grad = None
(x**3).backward(create_graph=True)
x.grad.backward()
print("not cleared in between:", x.grad.item())
print("bend of relu at 2:", mg.grad(mg.grad(mg.relu))(2.0))

# %% [markdown] name="close"
# ## Once more: backward through a gradient
#
# Take `f = x * x * y`, with x = 2 and y = 3. By school calculus its slope with respect to `x` is 2 x y, and with
# respect to `y` it is x². With `v = [1, -1]` the number `d` = gradient · v is the first minus the second:
#
#     r = x * y
#     p = 2 * r
#     q = x * x
#     d = p - q
#
# Its backward pass gives `H @ v`. On paper: what arrives at `x`, and what at `y`? Then open
# `out/lessons/08_close.html`.

# %%
x = mg.Tensor(2.0, requires_grad=True, name="x")
y = mg.Tensor(3.0, requires_grad=True, name="y")
with mg.trace():
    r = x * y
    p = 2 * r
    q = x * x
    d = p - q
d.backward()
print("H @ v by the tape:", [x.grad.item(), y.grad.item()], end="  ")
print("by hvp:", mg.hvp(lambda z: z[0] * z[0] * z[1], (np.array([2.0, 3.0]),), (np.array([1.0, -1.0]),))[0])
mg.explain(d, OUT / "08_close.html", {"x": x, "y": y}, language=LANGUAGE, lesson="course/08_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A backward pass is a program. Write it down too (`create_graph=True`, or `mg.grad` inside `mg.grad`), and you can
#   differentiate it.
# - The second derivative is the bend: how the slope changes. Newton's step is slope divided by bend.
# - Where the bend is negative, Newton's method goes to a top.
# - With n numbers the bends are a table, the Hessian: n times n, symmetric. Its diagonal is not all of it.
# - `H @ v` costs about as much as a few gradients and needs no table: the gradient of gradient · v, with `v` fixed.
#
# ## Explain
#
# One paragraph: *Why can one multiply by the Hessian of a million weights, which fits into no computer?* Then
# compare.
#
# ---
#
# **Model answer.** The Hessian is the table of how each number of the gradient changes with each weight. It has a
# million times a million entries, but a product with a vector has only a million numbers: the change of the gradient
# when the weights move along that vector. The gradient is itself computed by a program, so its steps can be written
# on a tape. I multiply the gradient with the fixed vector, add up, and go backward from that single number. That is
# one more backward pass, and the table is never built.
#
# **The planted fault.** Her function adds up the gradient before it differentiates, so it computes `H @ [1, 1]`: the
# *sum of each row* of H (lesson 4: "So I pass ones"). For `cubes` each number goes its own way, everything beside the
# diagonal is 0, and the sum of a row is its diagonal entry. In the valley the numbers are coupled: the rows are 22
# and -10, and -10 and 10, so she gets 12 and 0 instead of 22 and 10. Test with a function that couples its inputs.
