"""The program that the user gets: its arguments, the lines that take them apart and check them, the function that its text
defines, and how its lines are laid out: indented, without comments that say nothing, and divided where they are long.
"""

from __future__ import annotations

import base64
import html
import inspect
import io
import json
import keyword
import os
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from .._tree import check_structure, leaves, map_leaves
from ..engine.arrays import as_array
from ..engine.tensor import Tensor
from ..errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from .record import Check, Statement

# Names that the text of a program may use for something else.
RESERVED = {
    "np", "special", "base64", "check_arguments", "as_array", "step", "ARGUMENTS", "range", "reversed", "len", "map", "dict",
    "repr", "slice", "bool", "int", "float", "complex", "str", "list", "type", "isinstance", "hasattr", "zip", "ValueError",
    "TypeError",
}  # fmt: skip
# Styles that can be read on white and on black.
_STYLES = {"keyword": "font-weight: bold", "string": "color: #2f8f5b", "comment": "font-style: italic; opacity: 0.7"}
WIDTH = 100  # characters of a line
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
# The same, where a size may be a text: equal texts are equal sizes.
CHECK_SIZES = (
    CHECK.replace("in ARGUMENTS.", "in ARGUMENTS. Equal texts are equal sizes.")
    .replace("    for (name", "    sizes = {}\n    for (name")
    .replace(
        "        if array.shape != shape:\n",
        """\
        expected = []
        for size, n in zip(shape, array.shape):
            base, _, plus = str(size).partition(" + ")
            least = int(plus or 0)
            expected.append(sizes.setdefault(base, n - least) + least if isinstance(size, str) else size)
        if len(shape) != array.ndim or list(array.shape) != expected:
""",
    )
)
AS_ARRAY = '''

def as_array(value, *kinds):
    """Return the array of a value, if its type has one of these names."""
    if type(value).__name__ not in kinds:
        return value
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)
'''


class WrittenProgram:
    """A NumPy program that computes the value of a function and its gradients. Call it with arrays.

    Attributes:
        source: the text of the whole file. It imports NumPy only, and SciPy if the function calls it.
        checks: the conditions on the values under which it holds, one sentence each.
        constants: the arrays that it reads and that are no arguments, by name.
    """

    def __init__(
        self,
        functions: str,
        head: str,
        statements: Sequence[Statement],
        constants: dict[str, Any],
        arguments: Arguments,
    ) -> None:
        self.checks = [statement.sentence for statement in statements if isinstance(statement, Check)]
        self.constants = constants
        self.source = head + functions
        self._text, self._arguments = functions, arguments
        namespace: dict[str, Any] = {}
        exec(compile(self.source, "<written program>", "exec"), namespace)
        self._check, self._step = namespace["check_arguments"], namespace["step"]
        namespace["check_arguments"] = lambda *_: None  # __call__ checks them

    def __call__(self, *args: Any) -> Any:
        """Compute the value and the gradients: ``(value, gradient, ...)``, one gradient per differentiated argument.

        Raises:
            ShapeError, DTypeError: an array has another shape or dtype than in the example.
            ArgumentError: the arguments are nested differently, or one that is no array is another than in the example.
            ValueError: one of :attr:`checks` does not hold.
        """
        return self._step(*self._arguments.plain(args, self._check))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :attr:`source` to a file, whose function ``step`` does not need minigrad."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """Return the text for a notebook, with keywords, strings and comments set off."""
        offsets = [0, *accumulate(map(len, io.StringIO(self._text)))]
        parts, end = [], 0
        for token in tokenize.generate_tokens(io.StringIO(self._text).readline):
            kind = "keyword" if keyword.iskeyword(token.string) else tokenize.tok_name[token.type].lower()
            if kind in _STYLES:
                start, last = (offsets[row - 1] + column for row, column in (token.start, token.end))
                shown = f'<span style="{_STYLES[kind]}">{html.escape(self._text[start:last])}</span>'
                parts.append(html.escape(self._text[end:start]) + shown)
                end = last
        return f"<pre>{''.join(parts)}{html.escape(self._text[end:])}</pre>"


class Arguments:
    """The arguments of one example. An example is one call: its arguments are values.

    Attributes:
        names: the names of the parameters.
        examples: the arguments, with plain arrays in place of Tensors and floats.
        leaves: the arrays in them, in order.
        frozen: the parameters that are no arrays, with the value that the program was written for.
        taken: the names that mean something in ``step`` before its first statement.
        dicts: the parameters that are large dicts of arrays by text: the program reads their items by their keys.
        opening: the first lines of the program: they take the arguments apart and check them.
    """

    def __init__(self, names: Sequence[str], examples: Sequence[Any], whole_dicts: bool = False) -> None:
        self.names = names
        self.leaves: list[ArrayArgument] = []
        self.frozen: dict[str, Any] = {}
        self.taken = {*self.names, *RESERVED}
        self.examples = tuple([self._enter(value, name, name) for name, value in zip(self.names, examples)])
        self.dicts = self._large_dicts() if whole_dicts else []
        self.opening = self._opening()

    def _enter(self, value: Any, path: str, name: str) -> Any:
        if isinstance(value, dict):
            if not all(isinstance(key, (str, int)) for key in value):
                raise UnsupportedError(f"the keys of {path} must be strings or integers")
            return {k: self._enter(v, f"{path}[{quoted(k)}]", self._short(k, name)) for k, v in value.items()}
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
        texts = [key for value in self.examples if isinstance(value, dict) for key in value]
        if len({*texts, *self.names}) < len(texts) + len(self.names):
            return []
        found = []
        for name, value in zip(self.names, self.examples):
            large = isinstance(value, dict) and (len(value) > _MANY or any("." in str(key) for key in value))
            arrays = large and all(isinstance(item, (np.ndarray, np.generic)) for item in value.values())
            if arrays and all(isinstance(key, str) for key in value):
                found.append(name)
                keys = {f"{name}[{quoted(key)}]": key for key in value}
                for leaf in self.leaves:
                    leaf.key = keys.get(leaf.path, leaf.key)
        return found

    def _short(self, key: Any, name: str) -> str:
        short = re.sub(r"\W", "_", str(key))
        return short if short.isidentifier() and short not in self.taken else f"{name}_{short}"

    def _free(self, name: str) -> str:
        name = name if name.isidentifier() else "x"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
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

    def head(self, title: str, constants: dict[str, Any], scipy: bool, sizes: bool) -> str:
        """Return the text above the functions: what the program is, imports, constants, and the check of the arguments.

        ``title`` says what it was written of, ``scipy`` whether it calls ``scipy.special``, ``sizes`` whether sizes are free.
        """
        check = (CHECK_SIZES if sizes else CHECK) + AS_ARRAY * any(leaf.kind for leaf in self.leaves)
        first = f'"""The value and the gradients of {title}."""'
        arrays = [f"{name} = {_array_text(array)}" for name, array in constants.items()]
        imports = ["import base64", ""] * any("base64." in line for line in arrays)
        imports += ["import numpy as np", *["from scipy import special"] * scipy]
        return "\n".join([first, "", *imports, "", *self.table(), *arrays, "", "", check, "", ""])

    def table(self) -> list[str]:
        """Return the lines of ARGUMENTS, the shapes and dtypes."""
        rows = []
        for leaf in self.leaves:
            dtype = leaf.array.dtype if leaf.array.dtype.isnative else leaf.array.dtype.str
            rows.append(f'    {quoted(leaf.key)}: ({_shape_text(leaf.shape)}, "{dtype}"),')
        return ["ARGUMENTS = {", *rows, "}"]

    def _opening(self) -> list[str]:
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
            items = ", ".join(f'"{leaf.name}": {leaf.name}' for leaf in named)
            arrays = " | ".join([*self.dicts, *["{" + items + "}"] * bool(named)])
            names = f"*map(({arrays}).get, ARGUMENTS)"
        return [*lines, f"check_arguments({names})"]


class ArrayArgument:
    """One array inside the arguments.

    Attributes:
        name: its name in the program.
        key: its key in ARGUMENTS: its name, or its key in a large dict.
        path: the text that takes it out of its argument, such as ``params["W1"]``; the name itself for an array.
        array: the example.
        floating: whether it can be differentiated.
        shape: its shape; a free length is replaced by the text of its size.
        kind: the type of the example if that was no array of NumPy, such as float; else None. A saved program, which cannot
            import the type, compares its name.
    """

    def __init__(self, name: str, path: str, array: Any, example: Any) -> None:
        self.name, self.path, self.array, self.key = name, path, array, name
        self.shape: tuple[Any, ...] = array.shape
        self.floating = is_floating(array)
        plain = type(example) is np.ndarray or isinstance(example, np.generic)
        self.kind = None if plain else type(example)


def _shape_text(shape: tuple[Any, ...]) -> str:
    """Return the text of a shape, with double quotes around sizes."""
    return f"({', '.join(map(quoted, shape))}{',' * (len(shape) == 1)})"


def _array_text(array: Any) -> str:
    """Return the text of a constant array: its numbers if they are few, or else its bytes."""
    if array.size <= 100 and array.dtype.kind in "iufb" and np.isfinite(array).all():
        return f"np.array({array.tolist()!r}, np.{array.dtype.name})"
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return f"np.frombuffer(base64.b64decode({text!r}), {array.dtype.str!r}).reshape({array.shape})"


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
        return value.keys() == example.keys() and all(_is_like(v, value[k], arrays) for k, v in example.items())
    if isinstance(example, (list, tuple)):
        return len(value) == len(example) and all(_is_like(item, other, arrays) for item, other in zip(example, value))
    return bool(value == example)


def is_floating(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """Return names for ``count`` arguments: those of the parameters of ``f``, and ``x0`` and so on where it has none."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (ValueError, TypeError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = (names + [f"x{i}" for i in range(len(names), count)])[:count]
    return [f"{name}_" if name in RESERVED else name for name in names]


def quoted(key: Any) -> str:
    """Return the text of a key of a dict, with double quotes."""
    return json.dumps(key) if isinstance(key, str) and key.isascii() else repr(key)


def new_name(wanted: str, taken: set[str]) -> str:
    """Return ``wanted``, or with the first number that makes it a new name, and add it to those that are taken."""
    wanted = wanted if wanted.isidentifier() else "u"
    wanted += "_" * keyword.iskeyword(wanted)
    name, number = wanted, 2
    while name in taken:
        name = f"{wanted}_{number}" if wanted[-1].isdigit() else f"{wanted}{number}"
        number += 1
    taken.add(name)
    return name


def described(f: Any) -> str:
    """Return the name of a function, and its line."""
    name = getattr(f, "__name__", type(f).__name__).replace("<lambda>", "a function")
    code = getattr(f, "__code__", None)
    return name if code is None else f"{name} ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})"


def agree(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether results are those of the tape, up to rounding. The tape has None where it has no result."""
    known = [(a, np.asarray(getattr(b, "_array", b))) for a, b in zip(found, expected, strict=True) if b is not None]
    largest = max(_size(array) for _, array in known)
    return all(_close(a, b, largest) for a, b in known)


def _close(found: Any, expected: Any, largest: float) -> bool:
    """Whether two arrays agree. ``largest`` is the largest number of all results: a gradient that would be 0 without
    rounding, such as that of the bias of a key, is as exact as the numbers that cancel in it.
    """
    found = np.asarray(found)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    tolerance = 1e-4 if expected.dtype.char in "feF" else 1e-8
    rounding = 16 * float(np.finfo(expected.dtype).eps) * largest
    with np.errstate(all="ignore"):
        allowed = max(tolerance * _size(expected), rounding)
        return bool(np.allclose(found, expected, rtol=tolerance, atol=allowed, equal_nan=True))


def _size(array: Any) -> float:
    """Return the largest finite absolute value."""
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))


class TextLine(NamedTuple):
    """A line of the program: its text, whether it is a comment on where it comes from, and the statements it runs."""

    text: str
    comment: bool = False
    statements: Sequence[Statement] = ()


def laid_out(head: str, opening: Sequence[str], body: Sequence[TextLine], returned: str) -> list[TextLine]:
    """Return the lines of a function, its body indented, and the long ones divided."""
    lines = [*map(TextLine, opening), *without_repeats(body)]
    lines += [TextLine(f"return {returned}")] * bool(returned)
    divided = [line._replace(text=part.rstrip()) for line in lines for part in _wrapped(line.text).splitlines()]
    return [TextLine(f"def {head}:"), *divided]


def without_repeats(lines: Sequence[TextLine]) -> list[TextLine]:
    """Leave out a comment that says only what its one line says."""

    def squeezed(text: str) -> str:
        return "".join(text.split()).replace("(", "").replace(")", "")

    kept = []
    for i, line in enumerate(lines):
        if line.comment and not line.text.startswith("# back through "):
            alone = i + 2 >= len(lines) or lines[i + 2].comment or not lines[i + 2].text
            said, written = squeezed(line.text[2:].partition("  #")[0]), squeezed(lines[i + 1].text)
            if alone and (said == written or said == f"return{written.partition('=')[2]}"):
                continue
        kept.append(line)
    return kept


def _wrapped(line: str) -> str:
    indent, line = " " * (4 + len(line) - len(line.lstrip())), line.lstrip()
    if len(indent + line) <= WIDTH or line.startswith(("#", "raise")):
        return indent + line
    head, right = re.match(r"(\S+(?:, \S+)* \S{0,2}= |return |)(.*)", line).groups()  # type: ignore[union-attr]
    right = f"({right})" if _divisible(right) else right
    if head.endswith("= "):
        targets, sign = head.split(" ")[:-2], head.split(" ")[-2]
        long = len(targets) > 1 and len(indent + head + right.partition(" ")[0]) > WIDTH
        head = (f"({' '.join(targets)})" if long else " ".join(targets)) + f"\0{sign}\0"  # a line cannot end there
    pieces = textwrap.wrap(
        head + right,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(pieces).replace("\0", " ")


def _divisible(text: str) -> bool:
    """Whether a text has a space outside of brackets, where a line cannot end."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return True
    return False
