"""Writes the types of minigrad.numpy: minigrad/numpy/__init__.pyi, linalg.pyi and fft.pyi, from the registry.

    python -m docs.make_stubs

A test holds the files to what this program would write today, so they are never edited by hand, and the results that they
promise to those of every sample call in tests/minigrad/rules/table.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import minigrad.numpy
from minigrad import Primitive
from minigrad.engine.functions import PlainFunction
from minigrad.engine.registry import registry

FOLDER = Path(minigrad.numpy.__file__).parent
MODULES: dict[str, ModuleType] = {"__init__": np, "linalg": np.linalg, "fft": np.fft}
INTRODUCTION = '''"""{name} on Tensors, for editors and type checkers. Written by `python -m docs.make_stubs`, never by hand."""

from typing import Any, TypeAlias

{more}from numpy.typing import ArrayLike, DTypeLike

from minigrad import Tensor
{rooms}
Operand: TypeAlias = Tensor | ArrayLike
Axis: TypeAlias = int | tuple[int, ...] | None
'''

# What our own signatures do not tell: functions of any number of arrays, and arguments that NumPy gives other names too.
SIGNATURES = {
    "concatenate": "(arrays: Any, /, axis: int | None = 0)",
    "stack": "(arrays: Any, axis: int = 0)",
    "einsum": "(subscripts: Any, /, *operands: Any, optimize: Any = False)",
    "clip": "(a: Operand, a_min: Operand | None = None, a_max: Operand | None = None)",
}

# What is not one Tensor. Any: it depends on an argument.
LISTS = {"split", "array_split", "vsplit", "hsplit", "dsplit"}
TUPLES = {"broadcast_arrays", "meshgrid", "unstack", "modf", "divmod", "slogdet", "eigh", "eig", "lstsq"}
DEPENDS = {
    "linspace",
    "polyfit",
    "qr",
    "svd",
    "gradient",
    "average",
    "unique",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
}

ANNOTATIONS = {
    "axis": "Axis", "dtype": "DTypeLike | None", "keepdims": "bool", "where": "Any", "initial": "Any",
}  # fmt: skip
OPERANDS = {"a", "x", "y", "z", "m", "v", "x1", "x2", "arr", "ary", "array", "values", "p", "b"}


def result_of(name: str) -> str:
    """The type that a function is declared to give."""
    if name in LISTS:
        return "list[Tensor]"
    if name in TUPLES:
        return "tuple[Tensor, ...]"
    return "Any" if name in DEPENDS else "Tensor"


def signature_of(function: Callable[..., Any]) -> str:
    """The parameters that the function takes when an argument is a Tensor, in our words: NumPy's differ by its version."""
    implementation, name = registry[function], function.__name__
    if name in SIGNATURES:
        return SIGNATURES[name]
    if isinstance(function, np.ufunc) and isinstance(implementation, Primitive):
        return f"({', '.join(f'{argument}: Operand' for argument in implementation.arguments)}, /)"
    if isinstance(implementation, PlainFunction):
        return "(a: Operand, *args: Any, **kwargs: Any)"
    shown = [_parameter(p, implementation) for p in inspect.signature(implementation).parameters.values()]
    kinds = [p.kind for p in inspect.signature(implementation).parameters.values()]
    before = [k for k in kinds if k is inspect.Parameter.POSITIONAL_ONLY]
    if before:
        shown.insert(len(before), "/")
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY) + bool(before), "*")
    return f"({', '.join(shown)})"


def _parameter(parameter: inspect.Parameter, implementation: Any) -> str:
    name = parameter.name
    arrays = implementation.arguments if isinstance(implementation, Primitive) else OPERANDS
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return f"{'*' if parameter.kind is parameter.VAR_POSITIONAL else '**'}{name}: Any"
    if parameter.default is parameter.empty:
        return f"{name}: {'Operand' if name in arrays else ANNOTATIONS.get(name, 'Any')}"
    is_plain = parameter.default is None or isinstance(parameter.default, (bool, int, str))
    default = repr(parameter.default).replace("'", '"') if is_plain else "..."
    return f"{name}: {ANNOTATIONS.get(name, 'Any')} = {default}"


def document_of(function: Callable[..., Any], name: str) -> str:
    """What is to be known of it beside NumPy's own documentation."""
    implementation = registry[function]
    if isinstance(implementation, Primitive):
        rules = list(implementation.rules) or list(implementation.arguments)
        how = f"with a derivative in {', '.join(rules)}" if rules else "with a derivative in each array"
    elif isinstance(implementation, PlainFunction):
        how = "a Tensor of its own, without a gradient"
    else:
        how = "a composition of differentiable functions"
    return f"NumPy's {name}: {how}."


def public(module: ModuleType) -> list[str]:
    """The names of its functions."""
    return sorted(
        name for name, f in vars(module).items() if not name.startswith("_") and not isinstance(f, ModuleType)
    )


def page(file: str) -> str:
    """The whole text of a ``.pyi`` file."""
    module = MODULES[file]
    ours = minigrad.numpy if file == "__init__" else getattr(minigrad.numpy, file)
    rooms = "\nfrom . import fft as fft, linalg as linalg\n" if file == "__init__" else ""
    more = ""
    lines, plain = [], []
    for name in public(ours):
        function = getattr(module, name)
        implementation = registry[function]
        if isinstance(implementation, PlainFunction) and not implementation.gives_tensor:
            plain.append(name)  # NumPy's own types say what it gives
            continue
        result = result_of(function.__name__)
        lines.append(f"def {name}{signature_of(function)} -> {result}:")
        lines.append(f'    """{document_of(function, function.__name__)}"""\n')
    if plain:
        named = ",\n    ".join(f"{name} as {name}" for name in plain)
        more = f"from {module.__name__} import (\n    {named},\n)\n"
    return INTRODUCTION.format(name=ours.__name__, more=more, rooms=rooms) + "\n" + "\n".join(lines)


def pages() -> dict[Path, str]:
    return {FOLDER / f"{file}.pyi": page(file) for file in MODULES}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
