"""The user's program: what its variables hold, what its calls call, and the line at which a value was made."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from .._source import SourceLine, of_library
from ..engine.primitive import Primitive
from ..engine.registry import registry
from ..engine.tensor import Tensor
from ..source.index import FUNCTIONS, Index, callee, index_of, names_in, operands, value_of, written_by

DEEPEST = 6  # nested containers that are searched for tensors and arrays
MOST_VALUES = 4000  # values that are searched
MOST_LINKS = 12  # assignments that are followed from a name to the value
LIBRARIES = (
    "numpy",
    "builtins",
    "types",
    "minigrad",
    "collections",
    "functools",
)  # modules whose objects are not searched

At = tuple[str, int]  # a line of the program: the file and the number


# --- What the variables hold ---


def frames_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the program's own code, the innermost first. What runs its file, such as IPython, is not one."""
    while frame is not None:
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            yield frame
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


def variables_of(frame: FrameType | None) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the variables of the running functions and of the file, the innermost first, and the function of each.

    A function is given by the line at which it begins, and the file itself by 0.
    """
    found: dict[str, Any] = {}
    scopes: dict[str, int] = {}
    for own in frames_of(frame):
        local = own.f_code.co_name != "<module>"
        for variables, scope in ((own.f_locals, own.f_code.co_firstlineno if local else 0), (own.f_globals, 0)):
            for name, value in variables.items():
                if not name.startswith("__") and name not in found:
                    found[name], scopes[name] = value, scope
    return found, scopes


def reachable(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors, arrays and lists of numbers that variables hold, also inside of containers, each with its path."""
    waiting: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in variables.items()]
    seen: set[int] = set()
    for path, value, depth in waiting:
        if len(waiting) > MOST_VALUES:
            return
        if isinstance(value, (Tensor, np.ndarray)):
            yield path, value
            continue
        if id(value) in seen or depth >= DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            named = [(key, item) for key, item in value.items() if isinstance(key, (str, int))]
            waiting += [(f"{path}[{key!r}]", item, depth + 1) for key, item in named]
        elif isinstance(value, (list, tuple)) and len(value) > 2 and all(type(v) is float for v in value[:3]):
            yield path, value
        elif isinstance(value, (list, tuple)) and len(value) <= 200:
            waiting += [(f"{path}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        elif hasattr(value, "__dict__") and not isinstance(value, type) and not _is_closed(value):
            own = of_library(type(value).__module__)  # not the buffers of an optimizer, whose views parameters are
            names = [name for name in vars(value) if not (own and name.startswith("_"))]
            waiting += [(f"{path}.{name}", vars(value)[name], depth + 1) for name in names]


def _is_closed(value: Any) -> bool:
    """Return whether a value is a function, a module, or an object of a library that holds no variables of the program."""
    return inspect.isroutine(value) or inspect.ismodule(value) or type(value).__module__.partition(".")[0] in LIBRARIES


def address(value: Any) -> int:
    """Return the address of the first element of an array; 0 for other values."""
    array = value._array if isinstance(value, Tensor) else value
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else 0


# --- What the text says ---

Picks = tuple[Any, ...]  # keys and attributes that lead from a value to a part of it
NOWHERE: At = "", 0  # what the library gave, which no line of the program made


class _Reading(NamedTuple):
    """A place at which a name is read.

    Attributes:
        function: the function around it; None outside of functions.
        line: its line; None where an outer function, or the file, is searched.
        calls: the calls that led to the function, the innermost first, each with the index of its file.
        through: whether rows that a statement chose are followed to their table.
    """

    source: Index
    function: Any
    line: int | None = None
    calls: tuple[tuple[Index, Any], ...] = ()
    through: bool = False


class Program:
    """The files of a program, with the values that its variables had at the last full look.

    Attributes:
        names: the variables.
        scopes: the function of each, by its first line.
    """

    def __init__(self, files: Mapping[str, Sequence[str]], names: Mapping[str, Any], scopes: Mapping[str, int]) -> None:
        self.files, self.names, self.scopes = files, names, scopes
        self.trail: list[At] = []  # the statements that the last search has followed, from the use to the origin
        self.until = 0  # the line of the sweep, before which the program makes what it trains with
        self._values: dict[ast.AST, Any] = {}

    def index(self, file: str) -> Index:
        return index_of(file, self.files.get(file, ()))

    def text(self, at: At) -> str:
        return self.index(at[0]).text(at[1])

    def expression(self, place: SourceLine | None) -> Any:
        """Return the expression at a place; None if it cannot be found."""
        return None if place is None else self.index(place.file).at(place)

    def in_loop(self, at: At) -> bool:
        """Return whether a loop or a comprehension runs what begins on a line."""
        index = self.index(at[0])
        return any(index.loops(node) for node in index.on_line((ast.expr, ast.stmt), at[1]))

    def calls(self, *wanted: Any) -> list[tuple[Index, ast.Call]]:
        """Return the calls of these functions or methods, or of these classes or their subclasses, under any name."""
        return [(index, call) for index, call in self._calls if self.is_one(call.func, *wanted)]

    def method(self, call: ast.Call) -> tuple[Any, str]:
        """Return the object whose method a call calls, and the method; None and an empty text for another call."""
        func = call.func
        return (self.value(func.value), func.attr) if isinstance(func, ast.Attribute) else (None, "")

    @functools.cached_property
    def _calls(self) -> list[tuple[Index, ast.Call]]:
        return [(index, call) for index in map(self.index, self.files) for call in index.find(ast.Call)]

    def is_one(self, function: ast.AST, *wanted: Any) -> bool:
        """Return whether a name or an attribute stands for one of these functions, or for a class or a subclass of it."""
        value = self.value(function)
        if isinstance(value, type):
            return any(isinstance(each, type) and issubclass(value, each) for each in wanted)
        return value is not None and any(value is each for each in wanted)

    def methods(self, owner: type) -> list[tuple[Index, ast.Call]]:
        """Return the calls of any method of the objects of a class."""
        return [
            (index, call)
            for index, call in self._calls
            if isinstance(call.func, ast.Attribute) and isinstance(self.value(call.func.value), owner)
        ]

    def value(self, node: ast.AST) -> Any:
        """Return what a name or an attribute stands for; a literal number as itself; None if it is not known."""
        if node not in self._values:
            value = node.value if isinstance(node, ast.Constant) else value_of(node, self.names)
            if value is None and isinstance(node, ast.Name):
                value = getattr(builtins, node.id, None)
            if isinstance(node, ast.Call) and len(node.args) == 1:  # a number such as np.uint8(100)
                kind, held = self.value(node.func), self.value(node.args[0])
                if isinstance(kind, type) and issubclass(kind, np.number) and isinstance(held, int):
                    value = kind(held)
            self._values[node] = getattr(value, "__func__", value)
        return self._values[node]

    def array(self, index: Index, node: ast.expr) -> Any:
        """Return the array of a name or of a part of one by constants, also of a parameter that one call gives; else None."""
        match node:
            case ast.Call(func=func, args=[first, *_]) if self.value(func) is np.round or isinstance(
                self.value(func), np.ufunc
            ):
                held = self.array(index, first)
                return self.value(func)(held) if isinstance(held, np.ndarray) else None
            case ast.Subscript():
                held = self.array(index, node.value)
                key = tuple(map(_constant, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))
                try:
                    return held[key] if isinstance(held, np.ndarray) and None not in key else None
                except IndexError:
                    return None
            case ast.Name():
                own = _function(index, node)
                given = [index.argument(own, node.id, c) for c in index.calls(own.name)] if own is not None else []
                if given and given[0] is not None and given[0] is not node:
                    return self.array(index, given[0])
        return self.value(node)

    def argument(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """Return the argument of a call by its keyword or its position."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        return call.args[position] if position is not None and position < len(call.args) else None

    # Where values are made

    def made(self, path: str | None, file: str) -> At | None:
        """Return the line of the statement that made the numbers of a variable, such as ``W1`` or ``net.layers[0]['W']``."""
        try:
            value: ast.expr = ast.parse(path or "", mode="eval").body
        except SyntaxError:
            return None
        index, fields = self.index(file), [n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)]
        begins = next((self.scopes[n.id] for n in names_in(value) if n.id in self.scopes), 0)
        inside = index.find(FUNCTIONS, lambda f: begins == min([f.lineno, *(d.lineno for d in f.decorator_list)]))
        use, self.trail = _Reading(index, inside[0] if inside else None), []
        found = self._replaced(index, fields) or self._overwritten(index, fields[0] if fields else path or "")
        found = found or _known(self.created(use, value))
        return found or next((at for name in fields for at in self._of_field(use, name, (), 0)), None)

    def _replaced(self, index: Index, fields: list[str]) -> At | None:
        """Return the line that gives a part of an object another value, as ``self.second.weight = ...`` does."""
        for node in index.find(ast.Assign) if len(fields) > 1 else ():
            for target in node.targets:
                names = [n.attr for n in ast.walk(target) if isinstance(n, ast.Attribute)]
                if isinstance(target, ast.Attribute) and len(names) > 1 and names == fields[: len(names)]:
                    use = _Reading(index, _function(index, node), node.lineno)
                    return self.created(use, node.value, (), 1) or (index.file, node.lineno)
        return None

    def _overwritten(self, index: Index, name: str) -> At | None:
        """Return the line that writes other numbers into a tensor, as ``layer.bias.data[:] = 1`` does."""
        for node in index.find(ast.Assign):
            held = [t.value if isinstance(t, ast.Subscript) else t for t in node.targets]
            data = [t.value for t in held if isinstance(t, ast.Attribute) and t.attr == "data"]
            own = any(name in (getattr(t, "attr", ""), getattr(t, "id", "")) for t in data)
            if own and name not in {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node.value)}:
                use = _Reading(index, _function(index, node), node.lineno)
                return self.created(use, node.value, (), 1) or (index.file, node.lineno)
        return None

    def operand(self, places: Sequence[SourceLine], position: int, *, last: bool = False) -> At | None:
        """Return the line that made an operand of the operation at the first of its places; None if it is not known.

        ``last`` means the last argument, where the program calls a module that carries out the operation.
        """
        found, self.trail = self._read(places, position, last), []
        return None if found is None else self._line(*found)

    def chosen(self, places: Sequence[SourceLine], position: int) -> list[At | None]:
        """Return the line of the index that chose the rows of an operand, if it has a name, and the line of the choice."""
        found = self._read(places, position, False)
        if found is None:
            return [(places[0].file, places[0].line)] if places else []
        (index, function, _, calls, _), value = found
        at = index.file, value.lineno
        while isinstance(value, ast.Name) and function is not None:  # a parameter: what its call gives
            made = [n for n in index.find(ast.Assign) if value.id in _variables(n.targets[0])]
            if any(_function(index, n) is function for n in made):
                break
            calls = calls or self._of_transform(index, function)
            if not calls or not isinstance(calls[0][1], ast.Call):
                break
            given = index.argument(function, value.id, calls[0][1])
            if given is None:
                break
            (index, call), value, calls = calls[0], given, calls[1:]
            at, function = (index.file, call.lineno), _function(index, call)
        use = _Reading(index, function, at[1])
        lines = [at, *self._line_of(use, value)]
        made = [call for line in lines[-1:] for call in self.index(line[0]).on_line(ast.Call, line[1])]
        inside = [own for call in made for own in index.definitions(callee(call)) if isinstance(own, FUNCTIONS)]
        lines += [(index.file, n.lineno) for own in inside for n in ast.walk(own) if isinstance(n, ast.Return)]
        for at in lines[::-1]:
            index = self.index(at[0])
            parts = [n for s in index.on_line(ast.stmt, at[1]) for n in ast.walk(s) if isinstance(n, ast.Subscript)]
            names = [n for part in parts for n in names_in(part.slice)]
            if parts:
                return [*self._line_of(_Reading(index, _function(index, parts[0]), at[1]), *names[:1])[:1], at]
        return [lines[-1]]

    def _of_transform(self, index: Index, function: Any) -> tuple[tuple[Index, Any], ...]:
        """Return the call of a transformed function at the line of the sweeps: it gives as many arguments."""
        found = index.on_line(ast.Call, self.until)
        return tuple((index, call) for call in found if len(call.args) == len(function.args.args))[:1]

    def _of_fit(self, function: Any) -> tuple[tuple[Index, Any], ...]:
        """Return the call of ``nn.fit`` that gets a function as its loss: both begin with the model and the batches."""
        fit = getattr(sys.modules.get("nn.train"), "fit", None)
        for index, call in self.calls(fit) if fit is not None else ():
            loss = self.argument(call, "loss", 2)
            if loss is function or (isinstance(loss, ast.Name) and loss.id == getattr(function, "name", "")):
                return ((index, call),)
        return ()

    def _line_of(self, use: _Reading, *values: ast.expr) -> list[At]:
        """Return the line of the statement that gave a name its value; none if the expression is no name."""
        self.trail = []
        for value in values:
            if isinstance(value, ast.Name):
                self._of_name(use, value, (), 1)
        return self.trail

    def cut(self, places: Sequence[SourceLine], position: int, *, inside: bool = True) -> list[At]:
        """Return the line of the last statement that gave an operand's name its value, such as ``y = y[1:]``.

        It is the operation's own line if its text cuts the operand out of a name itself, and ``inside`` is True.
        """
        found = self._read(places, position, False)
        if found is None or (inside and not isinstance(found[1], ast.Name)):
            return [(places[0].file, places[0].line)] if places else []
        use, value = found
        for _ in range(MOST_LINKS):
            while isinstance(value, (ast.Subscript, ast.Attribute, ast.Call)):
                value = value.func if isinstance(value, ast.Call) else value.value
            bound = self._bound(use, value, {}) if isinstance(value, ast.Name) else None
            if not bound:
                break
            use, value, _ = bound[0]
            if isinstance(use.source.parents.get(value), (ast.Assign, ast.For)):
                return [(use.source.file, use.line or value.lineno)]
        return []

    def before(self, at: At) -> At | None:
        """Return the line of the latest statement that made something which the statement on a line reads; None if none did."""
        index = self.index(at[0])
        inside = [n for n in index.find(ast.stmt) if n.lineno <= at[1] <= (n.end_lineno or 0)]
        value = getattr(inside[-1], "value", getattr(inside[-1], "iter", None)) if inside else None
        callees = {n.func for n in ast.walk(value) if isinstance(n, ast.Call)} if value is not None else set()
        bounds = (
            {n for s in ast.walk(value) if isinstance(s, ast.Slice) for n in ast.walk(s)}
            if value is not None
            else set()
        )
        found: list[At] = []
        for name in names_in(value) if value is not None else ():
            if name not in callees | bounds and not isinstance(self.value(name), (int, float, np.random.Generator)):
                found += self._line_of(_Reading(index, _function(index, name), inside[-1].lineno), name)[:1]
        return max((each for each in found if each != at), key=lambda each: each[1], default=None)

    def kept_rows(self, name: str, file: str) -> At | None:
        """Return the line of the mask or index by which the program keeps some rows of a variable: ``x = x[keep]``."""
        index = self.index(file)
        for node in index.find(ast.Assign, lambda n: any(name in _variables(t) for t in n.targets)):
            for part in (n for n in ast.walk(node.value) if isinstance(n, ast.Subscript)):
                if getattr(part.value, "id", "") == name and not isinstance(part.slice, (ast.Slice, ast.Constant)):
                    use = _Reading(index, _function(index, node), node.lineno)
                    return next(iter(self._line_of(use, part.slice)), (index.file, node.lineno))
        return None

    def orders(self, places: Sequence[SourceLine], position: int) -> dict[Any, At] | None:
        """Return the lines at which the rows of an operand were put into another order, by the draw or the sort that did so.

        It returns None if it is not known where the operand comes from.
        """
        found = self._read(places, position, False)
        orders: dict[Any, At] = {}
        waiting: list[tuple[_Reading, ast.expr, Picks]] = [(found[0], found[1], ())] if found is not None else []
        met: set[Any] = set()
        for use, whole, before in waiting:
            value, picks = self._part(whole, before)
            key = value, picks, tuple(call for _, call in use.calls)
            if key in met or len(waiting) > MOST_VALUES:
                continue
            met.add(key)
            drawn = [n for n in ast.walk(whole) if isinstance(n, ast.Call) and self.is_one(n.func, *self._batches)]
            orders |= {(call, (), ()): (use.source.file, call.lineno) for call in drawn}
            own: set[ast.AST] = set()  # of calls of the program's functions: what these return is read instead
            for call in (n for n in ast.walk(value) if isinstance(n, ast.Call)):
                returned = self._returned(use, call, picks)
                own |= set(ast.walk(call)) if returned else set()
                waiting += returned
                if self._reorders(call):  # in a comprehension, each item is drawn anew
                    each = picks if any(isinstance(loop, ast.ListComp) for loop in use.source.loops(call)) else ()
                    orders[call, each, key[2]] = use.source.file, call.lineno
            for name in names_in(value):
                given = self._bound(use, name, orders) if name not in own else []
                if given is None:
                    return None
                carried = picks if value is name else ()
                waiting += [(inside, part, (*own_picks, *carried)) for inside, part, own_picks in given]
            for part in (n for n in ast.walk(value) if isinstance(n, ast.Attribute) and n not in own):
                waiting += self._stored(use, part, orders)
        return orders if found is not None else None

    def _stored(
        self, use: _Reading, part: ast.Attribute, orders: dict[Any, At]
    ) -> list[tuple[_Reading, ast.expr, Picks]]:
        """Return what the program stored in an attribute, and note the sorts and shuffles of it."""
        index = use.source
        made = [a for a in index.assignments if isinstance(a.target, ast.Attribute) and a.target.attr == part.attr]
        for call in index.find(ast.Call) if made else ():
            changed = call.args[:1] or [getattr(call.func, "value", call)]
            alone = isinstance(index.parents[call], ast.Expr) and any(
                getattr(n, "attr", "") == part.attr for n in changed
            )
            if alone and self._reorders(call):
                orders[call, (), ()] = index.file, call.lineno
        return [(_Reading(index, _function(index, a.value), a.line), a.value, ()) for a in made]

    def _part(self, value: ast.expr, picks: Picks) -> tuple[ast.expr, Picks]:
        """Return the part of an expression that the first of some picks mean, and the others."""
        while True:
            match value:
                case ast.Tuple() | ast.List() if picks and picks[0] in range(len(value.elts)):
                    value, picks = value.elts[picks[0]], picks[1:]
                case ast.Subscript(slice=ast.Constant(value=int(place))):
                    value, picks = value.value, (place, *picks)
                case ast.Call(args=[held, *_]) if self._wraps(value) or self.is_one(value.func, *self._batches):
                    value = held
                case ast.Call(func=ast.Attribute(value=owner)) if picks and isinstance(
                    self.value(owner), self._batches
                ):
                    value = owner
                case ast.Call(args=given) if picks and self.is_one(value.func, zip) and picks[0] in range(len(given)):
                    value, picks = given[picks[0]], picks[1:]
                case ast.Call(args=[held, *_]) if picks[:1] == (1,) and self.is_one(value.func, enumerate):
                    value, picks = held, picks[1:]
                case _:
                    return value, picks

    def selection(self, places: Sequence[SourceLine], position: int) -> At | None:
        """Return the line outside of all loops at which the rows of an operand were selected; None if all are used."""
        found = self._read(places, position, False)
        parts = [n.slice for n in ast.walk(found[1]) if isinstance(n, ast.Subscript)] if found is not None else []
        waiting = (
            [(found[0], part, ()) for part in parts if not isinstance(part, ast.Slice)] if found is not None else []
        )
        for use, value, _ in waiting:
            names = [name for name in names_in(value) if isinstance(self.value(name), (np.ndarray, list, range))]
            for bound in (bound for name in names for bound in self._bound(use, name, {}) or ()):
                made = [n for n in use.source.on_line(ast.stmt, bound[0].line or 0) if not isinstance(n, ast.For)]
                if made and not use.source.loops(made[0]):
                    return use.source.file, made[0].lineno
                waiting += [bound] if len(waiting) < MOST_VALUES else []
        return None

    def _returned(self, use: _Reading, call: ast.Call, picks: Picks) -> list[tuple[_Reading, ast.expr, Picks]]:
        """Return what a function of the program returns to a call."""
        calls = ((use.source, call), *use.calls)
        if len(calls) > MOST_LINKS:
            return []
        own = [f for f in use.source.definitions(callee(call)) if isinstance(f, FUNCTIONS)]
        ends = [(f, n) for f in own for n in ast.walk(f) if isinstance(n, ast.Return) and n.value is not None]
        return [(_Reading(use.source, f, n.lineno, calls), n.value, picks) for f, n in ends if n.value is not None]

    def _bound(
        self, use: _Reading, name: ast.Name, orders: dict[Any, At]
    ) -> list[tuple[_Reading, ast.expr, Picks]] | None:
        """Return what a name was given last before it is read, and note the sorts and shuffles of it in between.

        It returns None if the name is a parameter, and it is not known what a call gives for it.
        """
        index = use.source
        function = next(
            (f for f in index.around(name) if isinstance(f, ast.Lambda) and name.id in _parameters(f)), use.function
        )
        made = index.find((ast.Assign, ast.For), lambda n: any(name.id in _variables(t) for t in _targets(n)))
        made = [n for n in made if _function(index, n) is function and n.lineno < (use.line or self.until)]
        made = [] if isinstance(function, ast.Lambda) else made
        for call in index.find(ast.Call) if made else ():
            changed = call.args[:1] or [getattr(call.func, "value", call)]  # shuffle(x), and x.sort()
            alone = isinstance(index.parents[call], ast.Expr) and any(getattr(n, "id", "") == name.id for n in changed)
            if alone and made[-1].lineno < call.lineno < (use.line or self.until) and self._reorders(call):
                orders[call, (), ()] = index.file, call.lineno
        if made:
            picks = _places(_targets(made[-1]), name.id)
            return [(use._replace(line=made[-1].lineno), _given(made[-1]), picks)]
        if function is None or name.id not in _parameters(function):
            return [] if function is None else self._bound(use._replace(function=None, line=None), name, orders)
        owner = index.parents[function]
        calls = index.calls(owner.name if isinstance(owner, ast.ClassDef) else getattr(function, "name", ""))[:1]
        known = use.calls[:1] or self._of_fit(function) or self._of_transform(index, function)
        known = known or tuple((index, call) for call in calls)
        given = [(i, c, index.argument(function, name.id, c)) for i, c in known if isinstance(c, ast.Call)]
        values = [(_Reading(i, _function(i, c), c.lineno, use.calls[1:]), v) for i, c, v in given if v is not None]
        starred = any(isinstance(each, ast.Starred) for _, call, _ in given for each in call.args)
        starred = starred or name.id in _parameters(function)[::-1][: len(function.args.defaults)]
        own = index.is_method(function) and name.id == function.args.args[0].arg
        return [(outer, value, ()) for outer, value in values] if values or own or starred else None

    def _reorders(self, call: ast.Call) -> bool:
        """Return whether a call draws an order, shuffles or sorts."""
        owner, method = self.method(call)
        drawn = isinstance(owner, np.random.Generator) and method in ("permutation", "permuted", "shuffle")
        sorts = isinstance(owner, (np.ndarray, list)) and method in ("sort", "argsort")
        return drawn or sorts or self.is_one(call.func, np.sort, np.argsort, np.random.permutation, np.random.shuffle)

    def passed(self, places: Sequence[SourceLine], position: int) -> list[At]:
        """Return the lines of the statements from which the names in the text of an operand come."""
        found, self.trail = self._read(places, position, False), []
        for name in names_in(found[1]) if found is not None else ():
            self._of_name(found[0], name, (), 1)  # type: ignore[index]
        return self.trail

    def _read(self, places: Sequence[SourceLine], position: int, last: bool) -> tuple[_Reading, ast.expr] | None:
        """Return the text of an operand, and where it is read."""
        here = self.expression(places[0]) if places else None
        if here is None:
            return None
        given, index = operands(here), self.index(places[0].file)
        called = self.value(here.func) if isinstance(here, ast.Call) else None
        direct = isinstance(called, Primitive) or (callable(called) and called in registry)
        if isinstance(here, ast.Call) and last and not direct:
            given, position = [*here.args[1:], *(k.value for k in here.keywords)][-1:], 0
        if position < 0 and isinstance(here, ast.Subscript):  # the last part of its index
            given = here.slice.elts[-1:] if isinstance(here.slice, ast.Tuple) else [here.slice]
        if position >= len(given):
            return None
        calls = tuple((self.index(place.file), self.expression(place)) for place in places[1:])
        return _Reading(index, _function(index, here), places[0].line, calls, True), given[position]

    def source_line(self, index: Index, value: ast.expr | None) -> At | None:
        """Return the line of an argument's value: of a name, the line that made it; of a number, its own."""
        return None if value is None else self._line(_Reading(index, _function(index, value), value.lineno), value)

    def written(self, index: Index, value: ast.expr) -> list[At]:
        """Return the lines that append to the list of a name, and the line that made it."""
        name = getattr(value, "id", None)
        added = [c for c in index.calls("append") if name and getattr(getattr(c.func, "value", 0), "id", "") == name]
        return [(index.file, call.lineno) for call in added] + [at for at in (self.source_line(index, value),) if at]

    def source_lines(self, index: Index, name: ast.Name) -> list[At]:
        """Return the lines of the statements that gave a name its value, the last one first."""
        return self._line_of(_Reading(index, _function(index, name), name.lineno), name)

    def _line(self, use: _Reading, value: ast.expr) -> At | None:
        return _known(self.created(use, value) or (use.source.file, value.lineno))

    def created(self, use: _Reading, value: ast.expr, picks: Picks = (), links: int = 0) -> At | None:
        """Return the line of the statement that made the numbers of an expression; None if the expression itself did.

        Names are followed to what was assigned to them, parameters to the call that gave them, and calls of the program's own
        functions to what they return. ``picks`` are the keys and attributes that lead to a part of the value.
        """
        file, inner, rest = use.source.file, value, picks
        if links > MOST_LINKS:
            return None
        match value:
            case ast.Attribute():
                return self.created(use, value.value, (value.attr, *picks), links)
            case ast.Subscript():
                key = value.slice.value if isinstance(value.slice, ast.Constant) else None
                if key is None and links and not use.through:
                    return None  # the statement chose these rows
                return self.created(use, value.value, (key, *picks), links)
            case ast.Name():
                return self._of_name(use, value, picks, links + 1)
            case ast.Tuple() | ast.List() if picks and isinstance(picks[0], int) and picks[0] < len(value.elts):
                inner, rest = value.elts[picks[0]], picks[1:]
            case ast.BinOp(left=ast.List() as first, right=second) if picks and isinstance(picks[0], int):
                later = picks[0] >= len(first.elts)
                inner, rest = (second, (picks[0] - len(first.elts), *picks[1:])) if later else (first, picks)
            case ast.Dict() if picks:
                written = [*zip(value.keys, value.values)]
                written += [pair for other in use.source.find(ast.Dict) for pair in zip(other.keys, other.values)]
                inner, rest = next((v for k, v in written if getattr(k, "value", value) == picks[0]), value), picks[1:]
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                inner, rest = value.value if isinstance(value, ast.DictComp) else value.elt, picks[1:]
                bare = inner.args[0] if isinstance(inner, ast.Call) and self._wraps(inner) else inner
                over = value.generators[0]
                if isinstance(bare, ast.Name) and bare.id in {name.id for name in names_in(over.target)}:
                    held = getattr(over.iter, "func", None)  # of p.items()
                    inner, rest = held.value if isinstance(held, ast.Attribute) else over.iter, picks
            case ast.Call() if (part := self._part(value, picks))[0] is not value:
                inner, rest = part
            case ast.Call():
                return next(self._of_call(use, value, picks, links + 1), None)
        return None if inner is value else self.created(use, inner, rest, links + 1) or (file, inner.lineno)

    def _wraps(self, call: ast.Call) -> bool:
        """Return whether a call makes no numbers of its own: it makes a tensor of an array that has a name."""
        named = bool(call.args) and isinstance(call.args[0], (ast.Name, ast.Subscript))
        return named and self.is_one(call.func, Tensor)

    @property
    def _batches(self) -> tuple[type, ...]:
        """The class of batches, if the program has imported it."""
        return (sys.modules["nn.data"].Batches,) if "nn.data" in sys.modules else ()

    def _of_name(self, use: _Reading, name: ast.Name, picks: Picks, links: int) -> At | None:
        """Return the line of the last assignment to a name before its use that does not update what was there."""
        index, function = use.source, use.function
        lambdas = [f for f in index.around(name) if isinstance(f, ast.Lambda) and name.id in _parameters(f)]
        if lambdas:
            return self._of_parameter(use._replace(function=lambdas[0]), name.id, picks, links)
        made = [
            node for node in index.find((ast.Assign, ast.For)) if any(name.id in _variables(t) for t in _targets(node))
        ]
        made = [node for node in made if _function(index, node) is function]
        before = [node for node in made if node.lineno < (use.line or self.until)] or made
        fresh = [node for node in before if name.id not in {each.id for each in names_in(_given(node))}]
        if not fresh and function is not None:
            if name.id in _parameters(function):
                return self._of_parameter(use, name.id, picks, links)
            if not made:
                return self._of_name(use._replace(function=_function(index, function), line=None), name, picks, links)
        for node in (fresh or before[:1])[-1:]:
            value, line = _given(node), node.lineno
            if isinstance(value, ast.List) and not value.elts and picks:  # layers = [], then layers.append(...)
                added = [
                    c
                    for c in index.calls("append")
                    if getattr(getattr(c.func, "value", 0), "id", "") == name.id and c.args
                ]
                value, line, picks = (added[0].args[0], added[0].lineno, picks[1:]) if added else (value, line, picks)
            inside = use._replace(line=line)
            self.trail.append((index.file, line))
            found = self.created(inside, value, (*_places(_targets(node), name.id), *picks), links)
            return found or (index.file, line)
        return None

    def _of_parameter(self, use: _Reading, name: str, picks: Picks, links: int) -> At | None:
        """Return the line of what a call gives for a parameter, or of its default."""
        index, function = use.source, use.function
        owner: Any = index.parents[function]
        if index.is_method(function) and name == function.args.args[0].arg:
            return next(self._of_field(use, str(picks[0]), picks[1:], links), NOWHERE) if picks else NOWHERE
        known = index.calls(owner.name if isinstance(owner, ast.ClassDef) else getattr(function, "name", ""))
        for place, call in (
            use.calls[:1]
            or self._of_fit(function)
            or self._of_transform(index, function)
            or [(index, c) for c in known[:1]]
        ):
            given = index.argument(function, name, call) if isinstance(call, ast.Call) else None
            if given is not None:
                outer = _Reading(place, _function(place, call), call.lineno, use.calls[1:], use.through)
                given = given.value if isinstance(given, ast.Subscript) else given  # rows of a table
                return self.created(outer, given, picks, links) or (place.file, given.lineno)
        arguments = function.args
        optional = arguments.args[len(arguments.args) - len(arguments.defaults) :] + arguments.kwonlyargs
        return (index.file, function.lineno) if name in [each.arg for each in optional] else NOWHERE

    def _of_call(self, use: _Reading, call: ast.Call, picks: Picks, links: int) -> Iterator[At]:
        """Yield the line of what a function of the program returns, or of what a class of it sets."""
        for own in use.source.definitions(callee(call))[:1]:
            if isinstance(own, ast.ClassDef):
                yield from self._of_field(use, str(picks[0]), picks[1:], links, call) if picks else ()
                return
            for node in [n for n in ast.walk(own) if isinstance(n, ast.Return) and n.value is not None][-1:]:
                inside = _Reading(use.source, own, node.lineno, ((use.source, call), *use.calls), use.through)
                yield self.created(inside, node.value, picks, links) or (use.source.file, node.lineno)  # type: ignore[arg-type]

    def _of_field(
        self, use: _Reading, name: str, picks: Picks, links: int, call: ast.Call | None = None
    ) -> Iterator[At]:
        """Yield the lines of what was made for an attribute of an object, which the call has made."""
        index, calls = use.source, ((use.source, call),) if call is not None else ()
        for made in index.assignments:
            if isinstance(made.target, ast.Attribute) and made.target.attr == name:
                inside = _Reading(index, _function(index, made.value), made.line, calls, use.through)
                self.trail.append((index.file, made.line))
                yield self.created(inside, made.value, picks, links + 1) or (index.file, made.line)

    def views(self, index: Index, name: ast.Name, path: str) -> At | None:
        """Return the line that makes a name a view of the variable with a path, through parameters; None if it is none."""
        waiting: list[tuple[ast.expr, Any, At | None]] = [(name, _function(index, name), None)]
        for value, function, at in waiting:
            while isinstance(value, ast.Subscript):
                value, at = value.value, at or (index.file, value.lineno)
            if isinstance(value, ast.Attribute) and value.attr == path.rpartition(".")[2] and "." in path:
                return at or (index.file, value.lineno)
            if not isinstance(value, ast.Name) or len(waiting) > MOST_LINKS:
                continue
            if (
                value.id == path
                and value is not name
                and self.scopes.get(path, 0) in (0, getattr(function, "lineno", 0))
            ):
                return at or (index.file, value.lineno)
            made = [n for n in index.find(ast.Assign) if _function(index, n) is function and n.lineno < value.lineno]
            made = [n for n in made if isinstance(n.targets[0], ast.Name) and n.targets[0].id == value.id]
            waiting += [(n.value, function, (index.file, n.lineno)) for n in made[-1:]]
            if not made and function is not None:
                calls = index.calls(function.name)
                given = [(index.argument(function, value.id, call), call) for call in calls]
                waiting += [(g, _function(index, c), (index.file, c.lineno)) for g, c in given if g is not None]
        return None

    def assigned(self, index: Index, name: str) -> list[tuple[int, ast.expr]]:
        """Return the line and the value of each assignment to a name."""
        return [(a.line, a.value) for a in index.assignments if name in names_of_target(a.target)]

    def repeats(self, index: Index, node: ast.AST, around: int) -> bool:
        """Return whether a node runs again in each turn of the innermost loop around a line, there or in a function called."""
        here = [n for n in index.find(ast.stmt) if n.lineno <= around <= (n.end_lineno or 0)]
        loops = [n for n in here if isinstance(n, (ast.For, ast.While))]
        caller = index.function_at(around)
        if caller is not None and not any(loop.lineno >= caller.lineno for loop in loops):  # a step in its own function
            loops += [loop for call in index.calls(caller.name) for loop in index.loops(call)]
        within: list[Any] = [loops[-1]] if loops else []
        for part in within:
            names = set()
            for each in ast.walk(part):
                if each is node:
                    return True
                names |= {callee(each)} if isinstance(each, ast.Call) else set()
            iterated = getattr(part, "iter", None)
            if iterated is not None and part is within[0] and any(each is node for each in ast.walk(iterated)):
                return False  # the loop computes what it runs over once
            within += [f for name in names for f in index.definitions(name) if f not in within]
        return False


def _function(index: Index, node: ast.AST) -> Any:
    """Return the innermost function around a node; None outside of functions."""
    return next((each for each in index.around(node) if isinstance(each, FUNCTIONS)), None)


def _constant(node: ast.expr) -> Any:
    """Return the part of an index that is written as a number or as a slice of numbers; None for others."""
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        known = all(each is None or isinstance(each, ast.Constant) for each in ends)
        return slice(*(getattr(each, "value", None) for each in ends)) if known else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _parameters(function: Any) -> list[str]:
    """Return the names of the parameters of a function or a lambda."""
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _targets(node: Any) -> list[ast.expr]:
    """Return what an assignment, or a ``for``, assigns."""
    return [node.target] if isinstance(node, ast.For) else list(node.targets)


def _given(node: Any) -> ast.expr:
    """Return the value of an assignment, or what a ``for`` runs over."""
    return node.iter if isinstance(node, ast.For) else node.value


def _places(targets: Sequence[ast.expr], name: str) -> Picks:
    """Return the places at which a name stands in nested targets: (1, 0) for ``b`` in ``a, (b, c) = ...``."""
    for target in targets:
        for place, part in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
            if name in _variables(part):
                return place, *_places([part], name)
    return ()


def _variables(target: ast.expr) -> list[str]:
    """Return the variables that an assignment changes: ``a`` and ``b`` for ``a, b.data[:] = ...``."""
    parts = [
        each.value if isinstance(each, ast.Attribute) and each.attr == "data" else each for each in written_by(target)
    ]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def _known(at: At | None) -> At | None:
    return None if at == NOWHERE else at


def names_of_target(target: ast.expr) -> list[str]:
    """Return the names that an assignment changes: ``a``, ``b`` in ``a, b.data[:] = ...``."""
    found = []
    for part in written_by(target):
        if isinstance(part, ast.Attribute):
            found += names_of_target(part.value) if part.attr == "data" else [part.attr]
        else:
            found.append(part.id)
    return found


def floor_divisions(node: ast.AST) -> list[int]:
    """Return the lines of the divisions by ``//`` in a part of the program."""
    return [n.lineno for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)]
