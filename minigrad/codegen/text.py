"""Print: the text of expressions, which of them are part of another line, and the names and numbers in them."""

from __future__ import annotations

import base64
import importlib
import inspect
import math
import re
from collections.abc import Iterable, Sequence
from operator import getitem, setitem
from typing import Any

import numpy as np

from ..engine.registry import registry
from ..rules.about import known
from .loops import Expression, Loop, Spread
from .modules import Key, text_of_key
from .program import RESERVED, new_name, quoted
from .record import Augmented, Memory, Method, Statement, Value, identity, in_place, owns, replaced, ufunc_of, values_in
from .simplify import constant, in_order

# The longest expressions that are put into another line: in the backward pass, and where the user's line has both.
JOINED, JOINED_FORWARD = 48, 64
ADDING: dict[Any, str] = {in_place(np.add): "+", in_place(np.subtract): "-"}
_KEY = re.compile(r"\[[^][]*\"\]")  # the key of a parameter, which is not counted
_TURNS = {np.transpose, np.swapaxes}
ATOM = 10  # how tightly an expression binds: a name or a call binds tightest
# The operators of Python, each with how tightly it binds.
OPERATORS = {
    np.add: ("+", 5), np.subtract: ("-", 5), np.multiply: ("*", 6), np.divide: ("/", 6), np.floor_divide: ("//", 6),
    np.remainder: ("%", 6), np.matmul: ("@", 6), np.power: ("**", 8), np.greater: (">", 2), np.less: ("<", 2),
    np.equal: ("==", 2), np.greater_equal: (">=", 2), np.less_equal: ("<=", 2), np.not_equal: ("!=", 2),
    np.bitwise_and: ("&", 4), np.bitwise_or: ("|", 3), np.bitwise_xor: ("^", 3.5), np.left_shift: ("<<", 4.5),
    np.right_shift: (">>", 4.5),
}  # fmt: skip
# Functions that are written as methods of a name: z.sum(axis=0).
_METHODS = {
    np.sum, np.mean, np.max, np.min, np.reshape, np.swapaxes, np.transpose, np.squeeze, np.ravel, np.any, np.all, np.prod,
    np.cumsum, np.cumprod, np.argmax, np.argmin, np.argsort, np.repeat, np.take, np.var, np.std,
}  # fmt: skip


class Text:
    """Turns values and calls of a function into expressions of Python, and decides which of them are part of another line.

    Attributes:
        statements: the body of the function. results: what it returns. backward: whether all of it is of the backward pass.
        uses: the statements that read or write a value; twice None for what lasts: a result, or an item of a list. What has
            more than one use gets a name, unless it is as short as ``x.T``; so what must have one is counted twice.
        names: the names in the function.
        constants: the arrays that are no arguments.
        joined: the text of each expression that is part of the line that uses it, and how tightly it binds. Or it is put off
            until the line that adds to it: ``dh = a`` and ``dh += b`` are printed ``dh = a + b``.
        lists: the name of the list that collects a value in a loop.
        variable: the name of the loop variable of all loops; "" before the first loop.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        results: Any,
        names: GivenNames,
        constants: Constants,
        backward: bool = False,
    ) -> None:
        self.statements, self.results, self.backward = statements, results, backward
        self.names, self.constants, self.variable = names, constants, ""
        self.uses: dict[Value, list[Statement | None]] = {}
        self._loop_of: dict[Statement | None, Loop] = {}
        self._find_uses(statements)
        for value in values_in(results):
            self.uses.setdefault(value, []).extend([None, None])
        self.joined: dict[Value, tuple[str, float]] = {}
        self.lists: dict[Value, str] = {}

    def _find_uses(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            for value in statement.values:
                self.uses.setdefault(value, []).append(statement)
            if isinstance(statement, Loop):
                self._loop_of.update(dict.fromkeys(statement.body, statement))
                self._find_uses(statement.body)
                # A first value has its name from before the loop, which may take the name over.
                for value in values_in([carried.first for carried in statement.carried]):
                    self.uses.setdefault(value, []).extend([statement, statement])
                lasting: list[Any] = [*statement.collected, *(carried.last for carried in statement.carried)]
                lasting += [each.source for each in (*statement.elements, *statement.read_later)]
                for value in values_in(lasting):
                    self.uses.setdefault(value, []).extend([None, None])

    # Expressions

    def expression(self, statement: Statement) -> tuple[str, float]:
        """Return the text of a call, and how tightly it binds."""
        call, args, keywords = statement.call, statement.args, statement.keywords
        if isinstance(call, np.ufunc) and not keywords:
            if call in OPERATORS and len(args) == 2:
                sign, level = OPERATORS[call]
                left, right = (level + 1, level) if call is np.power else (level, level + 1)
                left += level == 2  # a < b < c would be two comparisons joined by "and"
                return f"{self.of(args[0], left)} {sign} {self.of(args[1], right)}", level
            if call is np.negative:
                return f"-{self.of(args[0], 7)}", 7
            if call is np.square:
                return f"{self.of(args[0], 9)} ** 2", 8
            if call is np.invert:
                return f"~{self.of(args[0], 7)}", 7
        if ufunc_of(call) is not None:
            return f"{self._function(call)}({self._arguments(args, keywords)})", ATOM
        name = getattr(call, "__name__", "")
        if call is getitem:
            return f"{self.of(args[0], ATOM)}[{self._index(args[1])}]", ATOM
        if isinstance(call, Method):
            return f"{self.of(args[0], ATOM)}.{name}({self._arguments(args[1:], keywords)})", ATOM
        if call in (np.transpose, np.swapaxes) and (turned := transpose_text(statement)):
            return f"{self.of(args[0], ATOM)}{turned}", ATOM
        positional, keywords = without_defaults(call, args, keywords)
        if isinstance(axis := keywords.get("axis"), tuple) and len(axis) == 1:
            keywords = keywords | {"axis": axis[0]}
        if call in (np.real, np.imag):
            return f"{self.of(args[0], ATOM)}.{name}", ATOM
        as_user = not statement.backward and f"np.{name}(" in _source_text(statement)
        if call in _METHODS and self.is_name(args[0]) and not as_user:
            if call in (np.reshape, np.ravel) and isinstance(positional[-1], str):
                keywords = {"order": positional.pop(), **keywords}
            if call in (np.reshape, np.transpose) and len(positional) == 2 and isinstance(positional[1], tuple):
                positional = [positional[0], *(positional[1] or [()])]
            return f"{self.of(args[0], ATOM)}.{name}({self._arguments(positional[1:], keywords)})", ATOM
        return f"{self._function(call)}({self._arguments(positional, keywords)})", ATOM

    def is_name(self, arg: Any) -> bool:
        return type(arg) is Value and (arg not in self.joined or self.joined[arg][1] == ATOM)

    def of(self, leaf: Any, level: float = 0) -> str:
        """Return the text of an argument, in parentheses if it binds less tightly than ``level``."""
        if type(leaf) is Value:
            if leaf in self.joined:
                text, tightness = self.joined[leaf]
                return f"({text})" if tightness < level else text
            number = constant(leaf) if np.ndim(leaf.data) == 0 else None
            return self.names.given[leaf] if number is None or leaf in self.names.given else self.of(number, level)
        if isinstance(leaf, Expression):
            return f"({leaf.text})" if leaf.tightness < level else leaf.text
        if isinstance(leaf, np.ndarray):
            return self._array(leaf)
        if isinstance(leaf, Spread):
            return f"*{leaf.spelled(self.lists[leaf.source])}"
        if isinstance(leaf, Key):
            return self._key(leaf)
        if isinstance(leaf, tuple):
            if len(leaf) == 1 and isinstance(leaf[0], Spread):
                return leaf[0].spelled(self.lists[leaf[0].source])
            return f"({', '.join(map(self.of, leaf))}{',' * (len(leaf) == 1)})"
        if isinstance(leaf, list):
            return f"[{', '.join(map(self.of, leaf))}]"
        if isinstance(leaf, dict):
            return "{" + ", ".join(f"{quoted(key)}: {self.of(item)}" for key, item in leaf.items()) + "}"
        if isinstance(leaf, slice):
            return f"slice({self.of(leaf.start)}, {self.of(leaf.stop)}, {self.of(leaf.step)})"
        if isinstance(leaf, np.generic):
            return f"np.{dtype_name(leaf.dtype)}({number_text(leaf.item())})"
        if isinstance(leaf, np.dtype):
            return dtype_text(leaf)
        if isinstance(leaf, type):
            return f"np.{leaf.__name__}" if issubclass(leaf, np.generic) else leaf.__name__
        if isinstance(leaf, (int, float, complex)) and type(leaf) is not bool:
            text = number_text(leaf)
            tightness = 6 if "/" in text else 7 if text.startswith("-") else ATOM
            return f"({text})" if tightness < level else text
        return "..." if leaf is Ellipsis else self._function(leaf) if callable(leaf) else repr(leaf)

    def _array(self, array: Any) -> str:
        """Return the name of a constant array, or its text if it is short."""
        if array.ndim == 0:
            return self.of(array[()])
        if not array.size:
            return f"np.zeros({array.shape}, {dtype_text(array.dtype)})"
        first = array.flat[0]
        if array.dtype.kind in "iuf" and array.tobytes() == np.full_like(array, first).tobytes():
            shape = array.shape[0] if array.ndim == 1 else array.shape
            dtype = "" if array.dtype == np.dtype(float) else f", {dtype_text(array.dtype)}"
            by_name = {0: "zeros", 1: "ones"}.get(first)
            if by_name and not np.signbit(first):
                return f"np.{by_name}({shape}{dtype})"
            return f"np.full({shape}, {number_text(first.item())}, {dtype_text(array.dtype)})"
        if array.ndim == 1 and array.size <= 6 and array.dtype.kind in "iufb":
            plain = array.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool))
            items = ", ".join(number_text(item) for item in array.tolist())
            return f"np.array([{items}]{'' if plain else ', ' + dtype_text(array.dtype)})"
        return self.constants.name(array)

    def _index(self, index: Any) -> str:
        if isinstance(index, Key):
            return self._key(index)
        if isinstance(index, tuple) and index:
            return ", ".join(map(self._part, index)) + "," * (len(index) == 1)
        return self._part(index)

    def _part(self, part: Any) -> str:
        if not isinstance(part, slice):
            return self.of(part)
        ends = ["" if end is None else self.of(end) for end in (part.start, part.stop)]
        return ":".join(ends) + ("" if part.step is None else f":{self.of(part.step)}")

    def _key(self, key: Key) -> str:
        """Return the text of a key: a string, ``at + "weight"``, or a formatted string with a loop variable."""
        first, *others = key.parts
        if all(isinstance(part, (str, int)) for part in key.parts):
            return quoted(text_of_key(key))
        if type(first) is Value and all(isinstance(part, (str, int)) for part in others):
            return " + ".join([self.of(first), *[quoted("".join(map(str, others)))] * bool(others)])
        return 'f"' + "".join(part if isinstance(part, str) else f"{{{self.of(part)}}}" for part in key.parts) + '"'

    def _arguments(self, args: Iterable[Any], keywords: dict[str, Any]) -> str:
        return ", ".join([*map(self.of, args), *(f"{name}={self.of(item)}" for name, item in keywords.items())])

    def _function(self, function: Any) -> str:
        ufunc, name = ufunc_of(function), function.__name__
        if ufunc not in (None, function):
            return f"{self._function(ufunc)}.{name}"
        for holder, module in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
            if getattr(holder, name, None) is function:
                return f"{module}.{'abs' if function is np.absolute else name}"
        if getattr(np.lib.stride_tricks, name, None) is function:
            return f"np.lib.stride_tricks.{name}"
        self.constants.scipy = True  # the private ufuncs compute for SciPy's public functions
        special = importlib.import_module("scipy.special")
        return f"special.{name}" if getattr(special, name, None) is function else f"special._ufuncs.{name}"

    def result(self, tree: Any) -> str:
        """Return the text of what the program returns, with a copy of each array whose memory another object has."""
        given: list[Any] = []

        def text(value: Any) -> str:
            if type(value) is not Value:
                return "None" if value is None else self.of(value)
            given.append(value.memory)
            shared = value.memory.caller or given.count(value.memory) > 1 or not owns(value)
            number = constant(value) if np.ndim(value.data) == 0 and value not in self.names.given else None
            name = self.of(value, ATOM) if number is None else self.of(number)
            return f"{name}.copy()" if shared and isinstance(value.data, np.ndarray) else name

        return self.of(replaced(lambda value: Expression(text(value), ATOM), tree))[1:-1]

    # Expressions inside of other lines

    def _joins(self, statement: Statement, value: Value, text: str, tightness: float) -> bool:
        """Whether an expression is part of the lines that use it."""
        uses = self.uses[value]
        source: Any = next(iter(statement.args), None)
        if self._leaves_loop(statement, value) or None in uses or not self._unwritten(statement, uses):
            return False
        if uses[0] is not None and _writes_by_call(uses[0], value):
            uses = list(dict.fromkeys(uses))  # np.add.at(x.reshape(-1), ...) reads the view once
        turned = statement.call in _TURNS and text.endswith("T") and self.is_name(source)
        if turned or (_picks_part(statement, (int, Expression)) and bool(source.name)):
            return True  # x.T and x[3] are short
        user = uses[0]
        stores = user is not None and user.call is setitem and isinstance(user.args[1], Key)  # dp["weight"] = ...
        long = len(_KEY.sub("", text)) > (JOINED if statement.backward else JOINED_FORWARD) and not stores
        if len(uses) > 1 or user is None or long:
            return False
        if self._loop_of.get(user) is not self._loop_of.get(statement) or user.backward != statement.backward:
            return False  # a value outside of a loop is computed once, and not in each turn
        near = str(statement.place) == str(user.place)
        if not statement.backward:
            return near or (_picks_part(statement) and not _named(value))
        result = _result_of(user)
        own_line = _named(value.cotangent_of) and result is not value.cotangent_of and not stores
        if own_line and (result or user.call is not np.sum):
            return False  # dh has a line of its own where h has one
        if user.call is np.matmul and tightness <= 6 and statement.call is not np.matmul:
            return False
        return stores or near or statement.call in (*_TURNS, np.reshape, np.sum) or getattr(user.call, "indexed", False)

    def _begins(self, statement: Statement, value: Value, text: str) -> bool:
        """Whether the next line that uses a value adds to it, in place: then both may be one line, ``dh = a + b``."""
        user = self.uses[value][0]
        if user is None or not statement.backward or user.target is not value or user.call not in ADDING:
            return False
        other = user.args[1]  # a sum of arrays in another order would lie in another order, too
        alike = type(other) is Value and in_order(value) and in_order(other)
        near = str(user.place) == str(statement.place) and self._loop_of.get(user) is self._loop_of.get(statement)
        return alike and near and len(text) <= JOINED and self._unwritten(statement, [user])

    def _leaves_loop(self, statement: Statement, value: Value) -> bool:
        """Whether a value of a loop is used outside of it."""
        loop = self._loop_of.get(statement)
        return loop is not None and any(self._loop_of.get(use) is not loop for use in self.uses[value])

    def _unwritten(self, statement: Statement, uses: Iterable[Statement | None]) -> bool:
        """Whether nothing that the expression reads is written to before its last use.

        ``np.add.at`` reads before it writes, so its own write does not count.
        """
        last: float = max(use.number - _writes_by_call(use, statement.outputs[0]) for use in uses if use is not None)
        if any(self._loop_of.get(use) is not self._loop_of.get(statement) for use in uses):
            last = math.inf  # a turn may read after the last turn writes
        read: set[Memory] = set()
        waiting = [statement]
        while waiting:
            for value in waiting.pop().values:
                read.add(value.memory)
                if value in self.joined and value.statement is not None:
                    waiting.append(value.statement)
        return not any(statement.number < write <= last for memory in read for write in memory.writes)

    def gives_way(self, value: Value, loop: Loop) -> bool:
        """Whether a loop can use the name of a value for what it carries: nothing reads the value later."""
        uses = self.uses[value]
        if uses.count(loop) > 2 or any(use is None or (use is not loop and use.number >= loop.number) for use in uses):
            return False
        joined = [o for use in uses if use is not None for o in use.outputs if o in self.joined]
        return all(self.gives_way(output, loop) for output in joined)


def _writes_by_call(statement: Statement, value: Value) -> bool:
    """Whether a statement writes into a value by a call that has it as an argument once, such as ``np.add.at``."""
    by_call = ufunc_of(statement.call) is not None and not isinstance(statement.call, Augmented)
    return by_call and statement.target is value


def _named(value: Value | None) -> bool:
    """Whether the user's program has a name for a value."""
    return value is not None and bool(value.name or (value.statement is not None and value.statement.name))


def _result_of(statement: Statement) -> Value | None:
    """Return the value whose cotangent a statement computes or adds to."""
    value = statement.target if isinstance(statement.call, Augmented) else next(iter(statement.outputs), None)
    return None if value is None else value.cotangent_of


def _picks_part(statement: Statement, kinds: Any = object) -> bool:
    """Whether a statement picks a part of a value at an index that is known, such as ``z[:, :4]``."""
    if statement.call is not getitem or type(statement.args[0]) is not Value:
        return False
    return isinstance(statement.args[1], kinds) and not any(values_in(statement.args[1]))


def _source_text(statement: Statement) -> str:
    return "" if statement.place is None else statement.place.text


# --- Names ---


class GivenNames:
    """The names in one function, each given once.

    Attributes:
        given: the name of each value that has one.
        taken: the names that mean something in the function.
    """

    def __init__(self, taken: set[str], given: dict[Value, str] | None = None) -> None:
        self.given: dict[Value, str] = given or {}
        self.taken = taken | RESERVED

    def give(self, value: Value) -> str:
        """Return the name of a value; choose a free one if it has none."""
        if value not in self.given:
            self.given[value] = self.take(self.wanted(value))
        return self.given[value]

    def take(self, wanted: str) -> str:
        """Return ``wanted``, or with the first number that makes it a new name, and take it."""
        return new_name(wanted, self.taken)

    def wanted(self, value: Value) -> str:
        """Return what a value would be called if no other value were."""
        statement = value.statement
        of = value.cotangent_of
        if of is not None:
            names = self.given.get(of), of.name, of.statement.name if of.statement is not None else None
            base = next((name for name in names if name and name.isidentifier()), None)
            return f"d{base}" if base else "dz"
        if value.name:
            return value.name
        assert statement is not None
        return statement.name or self._word(statement)

    def _word(self, statement: Statement) -> str:
        """Return the word of the operation that a statement calls, by default the name of the function."""
        call = statement.call
        function = getattr(np, call.__name__, call) if isinstance(call, Method) else ufunc_of(call) or call
        word = statement.word or getattr(call, "word", "")  # a written function has its own
        return word or known(registry.get(function)).word or getattr(function, "__name__", "u")


class Constants:
    """What the functions of a program read and that is no argument.

    Attributes:
        arrays: the arrays, each by its name in the program.
        scipy: whether the program calls ``scipy.special``.
    """

    def __init__(self, scopes: Sequence[GivenNames], variables: Sequence[tuple[Any, str]]) -> None:
        self.arrays: dict[str, Any] = {}
        self.scipy = False
        self._names: dict[Any, str] = {}
        self._scopes = scopes  # the names in each function, none of which may hide a constant
        self._variables = {identity(array): name for array, name in reversed(variables)}

    def name(self, array: Any) -> str:
        key = identity(array)
        if key not in self._names:
            taken = set[str]().union(*[scope.taken for scope in self._scopes])
            name = new_name(self._variables.get(key) or _kind_of(array), taken)
            for scope in self._scopes:
                scope.taken.add(name)
            self._names[key] = name
            self.arrays[name] = array
        return self._names[key]

    def lines(self) -> tuple[list[str], list[str]]:
        """Return the lines of the imports, and those of the arrays."""
        arrays = [f"{name} = {array_text(array)}" for name, array in self.arrays.items()]
        imports = ["import base64", ""] * any("base64." in line for line in arrays)
        return [*imports, "import numpy as np", *["from scipy import special"] * self.scipy], arrays


def _kind_of(array: Any) -> str:
    """Return a word for an array that has no name."""
    if array.dtype.kind in "bui":
        return "mask" if array.dtype.kind == "b" else "integers"
    return {1: "vector", 2: "matrix"}.get(array.ndim, "array")


# --- Spelling ---


def transpose_text(statement: Statement) -> str:
    """Return ".T" or ".mT" if that is what a transpose does, and "" otherwise."""
    source, result = statement.args[0], statement.outputs[0]
    if type(source) is not Value:
        return ""
    data = source.data
    reverse, last_two = tuple(range(data.ndim))[::-1], (*range(data.ndim - 2), data.ndim - 1, data.ndim - 2)
    for text, axes in ((".T", reverse), (".mT", last_two)):
        if data.ndim >= 2 and _axes_of(statement, data.ndim) == axes and np.shape(result.data):
            return text
    return ""


def _axes_of(statement: Statement, ndim: int) -> tuple[int, ...] | None:
    """Return the order of axes that a transpose or swapaxes makes."""
    bound = inspect.signature(statement.call).bind(*statement.args, **statement.keywords).arguments
    order = list(range(ndim))
    if statement.call is np.transpose:
        axes = bound.get("axes")
        return tuple(order[::-1]) if axes is None else tuple(int(axis) % ndim for axis in axes)
    first, second = int(bound["axis1"]) % ndim, int(bound["axis2"]) % ndim
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def without_defaults(call: Any, args: Sequence[Any], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments without those that are the default anyway."""
    no = {name for name, item in keywords.items() if item is np._NoValue or (name == "keepdims" and item is False)}
    keywords = {name: item for name, item in keywords.items() if name not in no}
    try:
        parameters = inspect.signature(call).parameters
    except (ValueError, TypeError):
        return list(args), keywords
    kept = {n: v for n, v in keywords.items() if n not in parameters or not is_default(v, parameters[n].default)}
    positional, named = list(args), list(parameters.values())
    while 1 < len(positional) <= len(named) and is_default(positional[-1], named[len(positional) - 1].default):
        positional.pop()
    for i in range(1, min(len(positional), len(named))):
        if is_default(positional[i], named[i].default) and named[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            given = [*zip(named[i:], positional[i:])]  # norm(x, None, 1) is norm(x, axis=1)
            return positional[:i], {p.name: item for p, item in given if not is_default(item, p.default)} | kept
    return positional, kept


def is_default(item: Any, default: Any) -> bool:
    """Whether an argument is the default anyway."""
    plain = type(item) in (bool, int, float, str)
    return item is default or (plain and type(item) is type(default) and item == default)


def dtype_name(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype == np.dtype(bool) else dtype.name


def dtype_text(dtype: np.dtype[Any]) -> str:
    return "bool" if dtype == np.dtype(bool) else f"np.{dtype.name}"


def number_text(number: Any) -> str:
    """Return a Python number as it is written in a program with ``import numpy as np``."""
    if isinstance(number, complex):
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    if isinstance(number, float) and not math.isfinite(number):
        return "np.nan" if math.isnan(number) else "np.inf" if number > 0 else "-np.inf"
    text = repr(number)
    if isinstance(number, float) and 0 < abs(number) < 1:  # 1 / 6, not 0.16666666666666666
        n = round(1 / number) if abs(number) > 1e-9 else 1
        fraction = f"{'-' * (n < 0)}1 / {abs(n)}"
        text = fraction if 1 / n == number and len(fraction) < len(text) else text
    return text


def array_text(array: Any) -> str:
    """Return the text of a constant array: its numbers if they are few, or else its bytes."""
    if array.size <= 100 and array.dtype.kind in "iufb" and np.isfinite(array).all():
        return f"np.array({array.tolist()!r}, np.{array.dtype.name})"
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return f"np.frombuffer(base64.b64decode({text!r}), {array.dtype.str!r}).reshape({array.shape})"
