"""Writes docs/functions.md, the functions that work on Tensors, and docs/conventions.md, what derivatives are at kinks.

    python -m docs.make_tables

The first comes from the registry, the second from the tables that the tests run. A test holds both files to what this
program would write today, so they are never edited by hand.
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
from docs import autograd_gaps, samples
from minigrad import Primitive
from minigrad.engine.functions import PlainFunction
from minigrad.engine.registry import registry
from minigrad.rules.plain import InPlaceFunction
from tests.minigrad import test_cases, test_numerics

HERE = Path(__file__).parent
INTRODUCTION = """# The functions that work on Tensors

Written by `python -m docs.make_tables` from the registry; tests hold it to the code, and call the function of each row.

Call them as NumPy's (`np.exp(t)`), or as methods where NumPy has the method. Everything else that NumPy offers (`np.nextafter`,
`np.bincount`) gives what NumPy gives, as a Tensor, where no tensor requires a gradient. Where one does it raises a `TypeError`
that names the function: nothing is ever silently cut off from the tape. SciPy's special functions (`erf`, `gamma`,
Bessel functions ...) are those of `import minigrad.scipy_special`.

`&`, `|`, `^`, `~` and shifts are for booleans and integers. What writes into an array raises and names what to write instead:
`t[index] = v` is `t = t.at[index].set(v)`. An array takes a Tensor that requires no gradient: `w.data -= 0.1 * w.grad`.
"""


def name_of(function: Callable[..., Any]) -> str:
    """The name a user writes: ``np.linalg.norm``."""
    if function is operator.getitem:
        return "t[index]"
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy", "np", 1)
    return f"{module}.{function.__name__}"


def of_numpy(function: Callable[..., Any]) -> bool:
    """Whether it is NumPy's, or Python's as ``operator.getitem``; SciPy's are there once its module has been imported."""
    if isinstance(function, np.ufunc):  # SciPy's do not say where they come from
        return getattr(np, function.__name__, None) is function
    return not (getattr(function, "__module__", None) or "").startswith("scipy")


PLACES = [(f"t.at[index].{how}", "derivative in `t`, `values`") for how in ("set", "add", "multiply")]


def group_of(name: str) -> str:
    """The heading a function stands under."""
    parts = name.split(".")
    return {"linalg": "`np.linalg`", "fft": "`np.fft`"}.get(parts[1] if len(parts) > 2 else "", "NumPy")


def rows() -> dict[str, list[tuple[str, str]]]:
    """For each heading the functions under it, with what can be said about each."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list, {"NumPy": list(PLACES)})
    for function, implementation in registry.items():
        if not callable(function) or not of_numpy(function):
            continue
        name = name_of(function)
        if isinstance(implementation, Primitive):
            inputs = implementation.rules or implementation.arguments
            what = (
                "derivative in " + ", ".join(f"`{argument}`" for argument in inputs) if inputs else "derivative in each"
            )
            what += "; with a kernel" if implementation.kernels else ""
        elif isinstance(implementation, PlainFunction):
            what = "gives a Tensor without a gradient" if implementation.gives_tensor else "plain values, no derivative"
        elif isinstance(implementation, InPlaceFunction):
            what = f"raises: write {implementation.instead.replace('|', '')}"
        else:
            what = "a composition of others"
        found[group_of(name)].append((name, what))
    return found


def fused() -> list[tuple[str, str]]:
    """minigrad's own functions, which NumPy does not have."""
    own = [(name, value) for name, value in vars(mg).items() if isinstance(value, Primitive)]
    return [(f"minigrad.{name}", (value.__doc__ or "").strip().splitlines()[0]) for name, value in own]


def differentiated(name: str) -> bool:
    """Whether NumPy's function of this name gives something that requires a gradient, where the matrix does."""
    try:
        result = samples.call(name, mg.Tensor(samples.MATRIX, requires_grad=True))
    except mg.UnsupportedError:
        return False
    return any(isinstance(t, mg.Tensor) and t.requires_grad for t in autograd_gaps.flat(result))


def scoreboard() -> str:
    """What HIPS autograd has no gradient for, and minigrad has, or has not."""
    raising, losing = autograd_gaps.RAISE, autograd_gaps.LOSE
    names = raising + losing
    missing = [name for name in names if not differentiated(name)]

    def listed(names: list[str]) -> str:
        return textwrap.fill(", ".join(f"`np.{name}`" for name in names), 128, break_on_hyphens=False)

    return f"""## Beside HIPS autograd

[Its issue #788](https://github.com/HIPS/autograd/issues/788) counts about fifty functions of NumPy's that it wraps and does
not differentiate. Called one by one (`python -m docs.autograd_gaps`), {len(raising)} that ought to have a gradient raise with
autograd {autograd_gaps.VERSION}, and {len(losing)} give a constant without a word. minigrad differentiates
{len(names) - len(missing)} of these {len(names)}:

{listed([name for name in names if name not in missing])}.

The other {len(missing)} raise a `TypeError`:

{listed(missing)}.
"""


def functions_page() -> str:
    lines = [INTRODUCTION]
    for heading, functions in [*sorted(rows().items()), ("minigrad's own", fused())]:
        lines += [f"## {heading}", "", "| function | on Tensors |", "|---|---|"]
        lines += [f"| `{name}` | {what.replace('|', '&#124;')} |" for name, what in sorted(functions)]
        lines.append("")
    return "\n".join([*lines, scoreboard()])


CONVENTIONS_INTRODUCTION = """# What a derivative is where there is no one answer

Written by `python -m docs.make_tables` from the tables that the tests run: each line is a test. The gradient is that of the
sum of the outputs, with respect to each input in turn.

In short: at a tie the gradient is shared and sums to 1; where a function turns (`abs`, `relu`, a norm at 0) it is 0; on
its bounds `clip` lets the gradient through; where a tangent is vertical (`sqrt` at 0) it is infinite; what is constant
(`x ** 0`) has derivative 0. For complex numbers the gradient of a real `f` is `df/dx - i df/dy`, as in JAX: conjugate it
before comparing with PyTorch.

## The `where` trap

`np.where(x > 0, np.sqrt(x), 0)` has the value 0 at `x = 0` and the gradient NaN: the branch that is not chosen is
differentiated all the same, and gets the cotangent 0, and `0 * inf` is NaN. Keep the argument out of the trap as well:

    np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0)

## float16

float16 arrays are NumPy's own, forward and backward: `np.ones((8192, 3), np.float16).sum(axis=0)` stops at 2048, `x * x` is
infinite from 256 on, and a product of matrices takes a hundred times as long as in float32. Compute in float32:
`x.astype(np.float32)`.
"""


def conventions_page() -> str:
    lines = [CONVENTIONS_INTRODUCTION, "## The table", "", "| case | inputs | gradients |", "|---|---|---|"]
    for label, _, inputs, gradients in [*test_cases.CONVENTIONS, *test_numerics.CONVENTIONS]:
        lines.append(f"| {label} | {_listed(inputs)} | {_listed(gradients)} |".replace("**", "\\*\\*"))
    return "\n".join(lines) + "\n"


def _listed(values: list[Any]) -> str:
    texts = [np.array2string(np.asarray(value), separator=", ").replace("\n", "") for value in values]
    return ", ".join(f"`{text}`" for text in texts)  # without new lines: a row of a table is one line


PAGES = {"functions.md": functions_page, "conventions.md": conventions_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(HERE / name)
