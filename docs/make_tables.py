"""Write docs/functions.md, the functions that work on Tensors, and docs/conventions.md, the derivatives at kinks and ties.

It also writes the section of docs/from-pytorch.md on classes and their weights.

    python -m docs.make_tables

The first page comes from the registry, the second from the tables that the tests run. A test compares both files with what this
program writes. Do not edit them by hand.
"""

from __future__ import annotations

import operator
import textwrap
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from docs import autograd_gaps, samples, torch_classes
from minigrad import Primitive
from minigrad.engine.functions import InPlaceFunction, PlainFunction
from minigrad.engine.registry import registry
from tests.minigrad.rules import test_cases, test_numerics

HERE = Path(__file__).parent
INTRODUCTION = """# The functions that work on Tensors

`python -m docs.make_tables` writes this page from the registry. Tests compare it with the code and call the function of each
row. In the tables, "derivative in `x`" means that the function has a rule for its argument `x`, and "has a kernel" means that
minigrad has a faster implementation of the function.

Call the functions by NumPy's names (`np.exp(t)`), or as methods where NumPy has the method. All other functions of NumPy
(`np.nextafter`, `np.bincount`) give NumPy's result as a Tensor if no tensor requires a gradient. If one does, they raise a
`TypeError` that names the function. No gradient is ever lost silently. `import minigrad.scipy_special` adds SciPy's special
functions (`erf`, `gamma`, Bessel functions and others).

`&`, `|`, `^`, `~` and shifts work on booleans and integers. Functions that write into an array raise an error that names the
replacement: write `t = t.at[index].set(v)` for `t[index] = v`. You may write a Tensor that requires no gradient into an
array: `w.data -= 0.1 * w.grad`.
"""


def name_of(function: Callable[..., Any]) -> str:
    """Return the name that a user writes, such as ``np.linalg.norm``."""
    if function is operator.getitem:
        return "t[index]"
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy", "np", 1)
    return f"{module}.{function.__name__}"


def of_numpy(function: Callable[..., Any]) -> bool:
    """Return whether the function is NumPy's or Python's, not SciPy's, which is registered once its module is imported."""
    if isinstance(function, np.ufunc):  # SciPy's ufuncs do not name their module
        return getattr(np, function.__name__, None) is function
    return not (getattr(function, "__module__", None) or "").startswith("scipy")


PLACES = [(f"t.at[index].{how}", "derivative in `t`, `values`") for how in ("set", "add", "multiply")]


def group_of(name: str) -> str:
    """Return the heading that lists the function."""
    parts = name.split(".")
    return {"linalg": "`np.linalg`", "fft": "`np.fft`"}.get(parts[1] if len(parts) > 2 else "", "NumPy")


def rows() -> dict[str, list[tuple[str, str]]]:
    """Return the functions under each heading, with a description of each."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list, {"NumPy": list(PLACES)})
    for function, implementation in registry.items():
        if not callable(function) or not of_numpy(function):
            continue
        name = name_of(function)
        if isinstance(implementation, Primitive):
            inputs = ["t"] if function is operator.getitem else implementation.rules or implementation.arguments
            what = (
                "derivative in " + ", ".join(f"`{argument}`" for argument in inputs)
                if inputs
                else "derivative in each array"
            )
            what += "; has a kernel" if implementation.kernels else ""
        elif isinstance(implementation, PlainFunction):
            kind = "a Tensor" if implementation.gives_tensor else "an array or a Python value"
            what = f"gives {kind} without a gradient"
        elif isinstance(implementation, InPlaceFunction):
            what = f"raises: write {implementation.instead.replace('|', '')}"
        else:
            what = "differentiable, built from other functions"
        found[group_of(name)].append((name, what))
    return found


def fused() -> list[tuple[str, str]]:
    """Return minigrad's own functions, which NumPy does not have."""
    own = [(name, value) for name, value in vars(mg).items() if isinstance(value, Primitive)]
    return [(f"minigrad.{name}", (value.__doc__ or "").strip().splitlines()[0]) for name, value in own]


def differentiated(name: str) -> bool:
    """Return whether NumPy's function of this name gives a result that requires a gradient if its input does."""
    try:
        result = samples.call(name, mg.Tensor(samples.MATRIX, requires_grad=True))
    except mg.UnsupportedError:
        return False
    return any(isinstance(t, mg.Tensor) and t.requires_grad for t in autograd_gaps.flat(result))


def scoreboard() -> str:
    """Return the section on functions without a gradient in HIPS autograd, split by whether minigrad has one."""
    raising, losing = autograd_gaps.RAISE, autograd_gaps.LOSE
    names = raising + losing
    missing = [name for name in names if not differentiated(name)]

    def listed(names: list[str]) -> str:
        return textwrap.fill(", ".join(f"`np.{name}`" for name in names), 128, break_on_hyphens=False)

    return f"""## Compared with HIPS autograd

[Issue #788 of HIPS autograd](https://github.com/HIPS/autograd/issues/788) counts about fifty NumPy functions that it wraps
but does not differentiate. `python -m docs.autograd_gaps` called NumPy's functions one by one with autograd
{autograd_gaps.VERSION}: {len(raising)} functions that should have a gradient raise an error, and {len(losing)} silently give
a constant. minigrad differentiates {len(names) - len(missing)} of these {len(names)}:

{listed([name for name in names if name not in missing])}.

minigrad has no derivative for the other {len(missing)}, which raise a `TypeError`:

{listed(missing)}.
"""


def functions_page() -> str:
    lines = [INTRODUCTION]
    for heading, functions in [*sorted(rows().items()), ("minigrad's own", fused())]:
        lines += [f"## {heading}", "", "| function | on Tensors |", "|---|---|"]
        lines += [f"| `{name}` | {what.replace('|', '&#124;')} |" for name, what in sorted(functions)]
        lines.append("")
    return "\n".join([*lines, scoreboard()])


CONVENTIONS_INTRODUCTION = """# Derivatives at kinks, ties and bounds

At some points a derivative has more than one reasonable value. This page lists the value that minigrad gives.
`python -m docs.make_tables` writes it from the tables that the tests run: each line is a test. The gradient is the gradient
of the sum of the outputs with respect to each input.

- At a tie, the inputs share the gradient, and their shares sum to 1. But `sort`, `median`, `quantile`, `unique`, and the
  running maximum and minimum (`np.maximum.accumulate`) give the whole gradient to one of the equal elements.
  `nn.MaxPool2d` gives it to the first, as PyTorch does.
- At a kink (`abs`, `relu` or a norm at 0), the derivative is 0. All higher derivatives through it are 0, too, as for
  `np.linalg.norm(x) ** 2`, `np.std(x) ** 2` and `abs(x) ** 2`, although these squares are smooth. Write `np.sum(x * x)`,
  `np.var(x)` and `x * x`, whose second derivatives are right.
- Vectors of equal eigenvalues or singular values have no derivative: a loss that reads one has the gradient NaN or infinity.
  The other vectors have theirs. The eigenvalues alone have a first derivative, and a second one of NaN.
- On its bounds, `clip` passes the gradient through.
- Where the tangent is vertical (`sqrt` at 0), the derivative is infinite.
- A constant function (`x ** 0`) has derivative 0.
- For complex numbers, the gradient of a real `f` is `df/dx - i df/dy`, as in JAX. Conjugate it before you compare it with
  PyTorch.

## The `where` trap

At `x = 0`, `np.where(x > 0, np.sqrt(x), 0)` has the value 0 and the gradient NaN. The backward pass also differentiates the
branch that is not chosen. Its cotangent is 0, the derivative of `sqrt` is infinite, and `0 * inf` is NaN. Replace the
argument of `sqrt`, too:

    np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0)

## Powers

`t ** 3`, `t ** 4` and `t ** -2` are products in float32 and float64. Their error is at most 2 units in the last place, and
NumPy's is at most 1. NumPy takes up to a hundred times as long for a negative base.

`np.logaddexp` and `np.logaddexp2` of 256 elements or more, and `np.einsum` of two arrays from 8,192 multiplications on, may
differ from NumPy in the last bits. They use faster formulas of the same accuracy.

## float32 and float64

Layers are float32 and cast their input. In between, NumPy's rule holds: a float32 array and a float64 array, or a number of
NumPy such as `np.sqrt(16)`, give float64, and all that follows takes twice the memory and time. A layer that gets such a result
says so in a warning, once for each line. `16**0.5` and `np.zeros(n, np.float32)` keep float32.

## float16

minigrad leaves float16 arithmetic to NumPy, forward and backward. `np.ones((8192, 3), np.float16).sum(axis=0)` stops at 2048.
`x * x` is infinite from `x = 256` on. A matrix product takes a hundred times as long as in float32. Compute in float32
instead: `x.astype(np.float32)`. Only a count is never float16: the gradient of
`np.mean` of 70,000 numbers is 1 / 70,000, although float16 ends at 65,504.
"""


def conventions_page() -> str:
    lines = [CONVENTIONS_INTRODUCTION, "## The table", "", "| case | inputs | gradients |", "|---|---|---|"]
    for label, _, inputs, gradients in [*test_cases.CONVENTIONS, *test_numerics.CONVENTIONS]:
        lines.append(f"| {label} | {_listed(inputs)} | {_listed(gradients)} |".replace("**", "\\*\\*"))
    return "\n".join(lines) + "\n"


def _listed(values: list[Any]) -> str:
    texts = [np.array2string(np.asarray(value), separator=", ").replace("\n", "") for value in values]
    return ", ".join(f"`{text}`" for text in texts)  # without line breaks, because a table row is one line


def from_pytorch_page() -> str:
    """Return the page as it is, with its generated section written again."""
    text = (HERE / "from-pytorch.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(torch_classes.HEADING)
    return before + torch_classes.section() + "\n" + rest[rest.index("## ") :]


PAGES = {"functions.md": functions_page, "conventions.md": conventions_page, "from-pytorch.md": from_pytorch_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(HERE / name)
