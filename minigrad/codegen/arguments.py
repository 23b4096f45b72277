"""The arguments of a written program: their names, and the lines that take them apart and check them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._tree import check_structure, leaves, map_leaves
from ..engine.arrays import as_array
from ..engine.tensor import Tensor
from ..errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from .names import RESERVED, quoted

_MANY = 12  # arrays; a larger dict, or one of a model with layers, is not taken apart into variables
_FROZEN = (bool, int, str, type(None))

CHECK = '''\
def check_arguments(*arrays):
    """Raise ValueError or TypeError unless the arrays have the shapes and dtypes in ARGUMENTS."""
    for (name, (shape, dtype)), array in zip(ARGUMENTS.items(), arrays):
        if type(array) is not np.ndarray and not isinstance(array, np.generic):
            raise TypeError(f"{name} is a {type(array).__name__}: pass a NumPy array")
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}: this program was written for {shape}")
        if array.dtype != dtype:
            raise TypeError(f"{name} has dtype {array.dtype}: this program was written for {dtype}")
'''

CHECK_SIZES = '''\
def check_arguments(*arrays):
    """Raise ValueError or TypeError unless the arrays have the shapes and dtypes in ARGUMENTS. Equal texts are equal sizes."""
    sizes = {}
    for (name, (shape, dtype)), array in zip(ARGUMENTS.items(), arrays):
        if type(array) is not np.ndarray and not isinstance(array, np.generic):
            raise TypeError(f"{name} is a {type(array).__name__}: pass a NumPy array")
        expected = []
        for size, n in zip(shape, array.shape):
            base, _, plus = str(size).partition(" + ")
            least = int(plus or 0)
            expected.append(sizes.setdefault(base, n - least) + least if isinstance(size, str) else size)
        if len(shape) != array.ndim or list(array.shape) != expected:
            raise ValueError(f"{name} has shape {array.shape}: this program was written for {shape}")
        if array.dtype != dtype:
            raise TypeError(f"{name} has dtype {array.dtype}: this program was written for {dtype}")
'''

AS_ARRAY = '''

def as_array(value, *kinds):
    """Return the array of a value, if its type has one of these names."""
    if type(value).__name__ not in kinds:
        return value
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)
'''


class ArrayArgument:
    """One array inside the arguments.

    Attributes:
        name: its name in the program.
        key: its key in ARGUMENTS: its name, or its key in a large dict.
        path: the text that takes it out of its argument, such as ``params["W1"]``; the name itself for an array.
        array: the example.
        shape: its shape; a free length is replaced by the text of its size.
        kind: the type of the example if that was no array of NumPy, such as float; else None. A saved program, which cannot
            import the type, compares its name.
    """

    def __init__(self, name: str, path: str, array: Any, example: Any) -> None:
        self.name, self.path, self.array, self.key = name, path, array, name
        self.shape: tuple[Any, ...] = array.shape
        plain = type(example) is np.ndarray or isinstance(example, np.generic)
        self.kind = None if plain else type(example)


class Arguments:
    """The arguments of one example.

    Attributes:
        names: the names of the parameters.
        examples: the arguments, with plain arrays in place of Tensors and floats.
        leaves: the arrays in them, in order.
        frozen: the parameters that are no arrays, with the value that the program was written for.
    """

    def __init__(self, f: Callable[..., Any], examples: Sequence[Any], whole_dicts: bool = False) -> None:
        self.names = _parameter_names(f, len(examples))
        self.leaves: list[ArrayArgument] = []
        self.frozen: dict[str, Any] = {}
        self._taken = {*self.names, *RESERVED}
        self.examples = tuple([self._enter(value, name, name) for name, value in zip(self.names, examples)])
        self.dicts = self._large_dicts() if whole_dicts else []

    def _enter(self, value: Any, path: str, name: str) -> Any:
        if isinstance(value, dict):
            if not all(isinstance(key, (str, int)) for key in value):
                raise UnsupportedError(f"the keys of {path} must be strings or integers")
            return {
                key: self._enter(item, f"{path}[{quoted(key)}]", self._short(key, name)) for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            items = [self._enter(item, f"{path}[{i}]", f"{name}_{i}") for i, item in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if type(value) in _FROZEN:
            self.frozen[path] = value
            return value
        try:
            array = as_array(value._array if isinstance(value, Tensor) else value)
        except DTypeError as error:
            raise UnsupportedError(
                f"{path}: {error}; other objects belong into the function: lambda x: f(x, {path})"
            ) from error
        leaf = ArrayArgument(self._free(name) if path != name else name, path, array, value)
        self.leaves.append(leaf)
        return array

    def _large_dicts(self) -> list[str]:
        """Return the arguments that are large dicts of arrays by text: the program reads their items by their keys."""
        texts = [key for value in self.examples if isinstance(value, dict) for key in value]
        if len({*texts, *self.names}) < len(texts) + len(self.names):
            return []
        found = []
        for name, value in zip(self.names, self.examples):
            if (
                isinstance(value, dict)
                and (len(value) > _MANY or any("." in str(key) for key in value))
                and all(
                    isinstance(key, str) and isinstance(item, (np.ndarray, np.generic)) for key, item in value.items()
                )
            ):
                found.append(name)
                keys = {f"{name}[{quoted(key)}]": key for key in value}
                for leaf in self.leaves:
                    leaf.key = keys.get(leaf.path, leaf.key)
        return found

    def _short(self, key: Any, name: str) -> str:
        short = re.sub(r"\W", "_", str(key))
        return short if short.isidentifier() and short not in self._taken else f"{name}_{short}"

    def _free(self, name: str) -> str:
        name = name if name.isidentifier() else "x"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def chosen(self, argnum: int | Sequence[int] | None) -> list[int]:
        """Return the positions of the arguments to differentiate.

        Raises:
            ArgumentError: there is no such argument, or none is floating.
        """
        count = len(self.examples)
        floating = [i for i, value in enumerate(self.examples) if any(map(is_floating, leaves(value)))]
        if argnum is None:
            found = floating
        else:
            numbers = [argnum] if isinstance(argnum, int) else list(argnum)
            found = [i % count for i in numbers if -count <= i < count]
            if len(set(found)) < len(numbers) or not set(found) <= set(floating):
                raise ArgumentError(
                    f"argnum={argnum!r} must name floating arguments, each once; the function got {count}"
                )
        if not found:
            raise ArgumentError("there is nothing to differentiate: pass floating arguments (2.0 rather than 2)")
        return found

    def plain(self, args: Sequence[Any], check: Callable[..., None]) -> list[Any]:
        """Return the arguments of a call of the program as arrays. ``check`` is the program's own check of arrays.

        Raises:
            ArgumentError, ShapeError, DTypeError: they are not like the example.
        """
        if _is_like(list(self.examples), list(args), iter(self.leaves)):
            return list(args)
        check_structure(list(self.examples), list(args), "the arguments")
        arrays, given = [], iter(self.leaves)

        def plain(example: Any, value: Any) -> Any:
            if type(example) in _FROZEN:
                if type(value) is not type(example) or value != example:
                    raise ArgumentError(f"an argument is {value!r}; the program was written for {example!r}")
                return value
            value = value._array if isinstance(value, Tensor) else value
            arrays.append(as_array(value) if type(value) in (float, next(given).kind) else value)
            return arrays[-1]

        found = [map_leaves(plain, example, value) for example, value in zip(self.examples, args)]
        try:
            check(*arrays)
        except ValueError as error:
            raise ShapeError(str(error)) from None
        except TypeError as error:
            raise DTypeError(str(error)) from None
        return found

    # Text

    def table(self) -> list[str]:
        """Return the lines of ARGUMENTS, the shapes and dtypes."""
        rows = []
        for leaf in self.leaves:
            dtype = leaf.array.dtype
            rows.append(f'    {quoted(leaf.key)}: ({_text(leaf.shape)}, "{dtype if dtype.isnative else dtype.str}"),')
        return ["ARGUMENTS = {", *rows, "}"]

    def check(self, sizes: bool) -> str:
        """Return the functions that check the arguments, and take the arrays out of those that were no arrays."""
        return (CHECK_SIZES if sizes else CHECK) + AS_ARRAY * any(leaf.kind for leaf in self.leaves)

    def opening(self) -> list[str]:
        """Return the first lines of the program: they take the arguments apart and check them."""
        lines = []
        if self.frozen:
            values = ", ".join(self.frozen)
            expected = ", ".join(f"{path}={value!r}" for path, value in self.frozen.items())
            lines += [
                f"if repr(({values},)) != {repr(tuple(self.frozen.values()))!r}:",
                f"    raise ValueError({'this program was written for ' + expected!r})",
            ]
        named = [leaf for leaf in self.leaves if leaf.key == leaf.name]
        for leaf in named:
            taken = f"as_array({leaf.path}, {quoted(leaf.kind.__name__)})" if leaf.kind else leaf.path
            lines += [f"{leaf.name} = {taken}"] * (taken != leaf.name)
        for name in self.dicts:
            kinds = {leaf.kind.__name__ for leaf in self.leaves if leaf.kind and leaf.path.startswith(f"{name}[")}
            if kinds:
                taken = f"as_array(value, {', '.join(map(quoted, sorted(kinds)))})"
                lines.append(f"{name} = {{key: {taken} for key, value in {name}.items()}}")
        names = ", ".join(leaf.name for leaf in named)
        if self.dicts:
            arrays = " | ".join(
                [*self.dicts, *["{" + ", ".join(f'"{leaf.name}": {leaf.name}' for leaf in named) + "}"] * bool(named)]
            )
            names = f"*map(({arrays}).get, ARGUMENTS)"
        return [*lines, f"check_arguments({names})"]


def _text(shape: tuple[Any, ...]) -> str:
    """Return the text of a shape, with double quotes around sizes."""
    return f"({', '.join(map(quoted, shape))}{',' * (len(shape) == 1)})"


def parts_of(size: Any) -> tuple[str, int]:
    """Return the size and the number in ``len(x) + 1``."""
    base, _, plus = str(size).partition(" + ")
    return base, int(plus or 0)


def _is_like(example: Any, value: Any, arrays: Iterator[ArrayArgument]) -> bool:
    """Whether a value is nested like an example, and has arrays of its shapes and dtypes. Most calls need to know no more."""
    kind, found = type(example), type(value)
    if isinstance(example, (np.ndarray, np.generic)):
        array = found is np.ndarray or found is np.float64
        return array and value.shape == next(arrays).shape and bool(value.dtype == example.dtype)
    if found is not kind:
        return False
    if isinstance(example, dict):
        return value.keys() == example.keys() and all(
            _is_like(item, value[key], arrays) for key, item in example.items()
        )
    if isinstance(example, (list, tuple)):
        return len(value) == len(example) and all(_is_like(item, other, arrays) for item, other in zip(example, value))
    return bool(value == example)


def is_floating(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """Return names for ``count`` arguments: those of the parameters of ``f``, and ``x0`` and so on where it has none."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (ValueError, TypeError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = (names + [f"x{i}" for i in range(len(names), count)])[:count]
    return [f"{name}_" if name in RESERVED else name for name in names]
