"""The line at which a value was made: a name, an operand or an attribute is followed to the statement that made its numbers."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._source import SourceLine
from ..engine.primitive import Primitive
from ..engine.registry import registry
from ..engine.tensor import Tensor
from ..source.index import FUNCTIONS, Index, callee, names_in, operands, written_by
from .program import At, Program, function_around
from .variables import MOST_VALUES

MOST_LINKS = 12  # assignments that are followed from a name to the value
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


class Origins(Program):
    """A program whose values are followed, through names, calls and attributes, to the statements that made them.

    Attributes:
        trail: the statements that the last search has followed, from the use to the origin.
    """

    def __init__(self, files: Mapping[str, Sequence[str]], names: Mapping[str, Any], scopes: Mapping[str, int]) -> None:
        super().__init__(files, names, scopes)
        self.trail: list[At] = []

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
                    use = _Reading(index, function_around(index, node), node.lineno)
                    return self.created(use, node.value, (), 1) or (index.file, node.lineno)
        return None

    def _overwritten(self, index: Index, name: str) -> At | None:
        """Return the line that writes other numbers into a tensor, as ``layer.bias.data[:] = 1`` does."""
        for node in index.find(ast.Assign):
            held = [t.value if isinstance(t, ast.Subscript) else t for t in node.targets]
            data = [t.value for t in held if isinstance(t, ast.Attribute) and t.attr == "data"]
            own = any(name in (getattr(t, "attr", ""), getattr(t, "id", "")) for t in data)
            if own and name not in {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node.value)}:
                use = _Reading(index, function_around(index, node), node.lineno)
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
        use, value = found
        at = use.source.file, value.lineno
        while isinstance(value, ast.Name):  # of a parameter: what its call gives
            owner, made = self._owner(use, value)
            given = [] if made else self._callers(owner, value.id)
            if not given:
                break
            use, value = given[0]
            at = use.source.file, use.line or value.lineno
        index = use.source
        lines = [at, *self._line_of(_Reading(index, use.function, at[1]), value)]
        calls = [call for line in lines[-1:] for call in self.index(line[0]).on_line(ast.Call, line[1])]
        inside = [own for call in calls for own in index.definitions(callee(call)) if isinstance(own, FUNCTIONS)]
        lines += [(index.file, n.lineno) for own in inside for n in ast.walk(own) if isinstance(n, ast.Return)]
        for at in lines[::-1]:
            index = self.index(at[0])
            parts = [n for s in index.on_line(ast.stmt, at[1]) for n in ast.walk(s) if isinstance(n, ast.Subscript)]
            names = [n for part in parts for n in names_in(part.slice)]
            if parts:
                return [*self._line_of(_Reading(index, function_around(index, parts[0]), at[1]), *names[:1])[:1], at]
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
                found += self._line_of(_Reading(index, function_around(index, name), inside[-1].lineno), name)[:1]
        return max((each for each in found if each != at), key=lambda each: each[1], default=None)

    def kept_rows(self, name: str, file: str) -> At | None:
        """Return the line of the mask or index by which the program keeps some rows of a variable: ``x = x[keep]``."""
        index = self.index(file)
        for node in index.find(ast.Assign, lambda n: any(name in _variables(t) for t in n.targets)):
            for part in (n for n in ast.walk(node.value) if isinstance(n, ast.Subscript)):
                if getattr(part.value, "id", "") == name and not isinstance(part.slice, (ast.Slice, ast.Constant)):
                    use = _Reading(index, function_around(index, node), node.lineno)
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
        made = self._fields(use, part.attr)
        for call in index.find(ast.Call) if made else ():
            changed = call.args[:1] or [getattr(call.func, "value", call)]
            alone = isinstance(index.parents[call], ast.Expr) and any(
                getattr(n, "attr", "") == part.attr for n in changed
            )
            if alone and self._reorders(call):
                orders[call, (), ()] = index.file, call.lineno
        return [(*each, ()) for each in made]

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
        ends = [(f, n, n.value) for f in own for n in ast.walk(f) if isinstance(n, ast.Return) and n.value]
        return [(_Reading(use.source, f, n.lineno, calls, use.through), value, picks) for f, n, value in ends]

    @staticmethod
    def _fields(use: _Reading, name: str, call: ast.Call | None = None) -> list[tuple[_Reading, ast.expr]]:
        """Return what the program stores in an attribute of an object, which the call has made."""
        index, calls = use.source, ((use.source, call),) if call is not None else ()
        return [
            (_Reading(index, function_around(index, a.value), a.line, calls, use.through), a.value)
            for a in index.assignments
            if isinstance(a.target, ast.Attribute) and a.target.attr == name
        ]

    def _owner(self, use: _Reading, name: ast.Name) -> tuple[_Reading, list[Any]]:
        """Return the reading in the function that owns a name, with the statements there that give it a value."""
        index = use.source
        for function in index.around(name):
            if isinstance(function, ast.Lambda) and name.id in _parameters(function):
                return use._replace(function=function), []
        made = index.find((ast.Assign, ast.For), lambda n: any(name.id in _variables(t) for t in _targets(n)))
        made = [node for node in made if function_around(index, node) is use.function]
        if made or use.function is None or name.id in _parameters(use.function):
            return use, made
        return self._owner(use._replace(function=function_around(index, use.function), line=None), name)

    def _callers(self, use: _Reading, name: str) -> list[tuple[_Reading, ast.expr]]:
        """Return what the call of the function gives for a parameter."""
        given = [(i, c, i.argument(use.function, name, c)) for i, c in self._leading(use)]
        return [
            (_Reading(i, function_around(i, c), c.lineno, use.calls[1:], use.through), value)
            for i, c, value in given
            if value is not None
        ]

    def _leading(self, use: _Reading) -> list[tuple[Index, ast.Call]]:
        """Return the call that led to a function: the one on the way here, or else the first one that is known."""
        index, function = use.source, use.function
        if function is None:
            return []
        known = use.calls[:1] or self._of_fit(function) or self._of_transform(index, function)
        if not known:
            owner = index.parents[function]
            name = owner.name if isinstance(owner, ast.ClassDef) else getattr(function, "name", "")
            known = tuple((index, call) for call in index.calls(name)[:1])
        return [(i, call) for i, call in known if isinstance(call, ast.Call)]

    def _bound(
        self, use: _Reading, name: ast.Name, orders: dict[Any, At]
    ) -> list[tuple[_Reading, ast.expr, Picks]] | None:
        """Return what a name was given last before it is read, and note the sorts and shuffles of it in between.

        It returns None if the name is a parameter, and it is not known what a call gives for it.
        """
        use, made = self._owner(use, name)
        index, function = use.source, use.function
        made = [node for node in made if node.lineno < (use.line or self.until)]
        for call in index.find(ast.Call) if made else ():
            changed = call.args[:1] or [getattr(call.func, "value", call)]  # shuffle(x), and x.sort()
            alone = isinstance(index.parents[call], ast.Expr) and any(getattr(n, "id", "") == name.id for n in changed)
            if alone and made[-1].lineno < call.lineno < (use.line or self.until) and self._reorders(call):
                orders[call, (), ()] = index.file, call.lineno
        if made:
            picks = _places(_targets(made[-1]), name.id)
            return [(use._replace(line=made[-1].lineno), _given(made[-1]), picks)]
        if function is None or name.id not in _parameters(function):
            return []
        values = self._callers(use, name.id)
        starred = any(isinstance(each, ast.Starred) for _, call in self._leading(use) for each in call.args)
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
        return _Reading(index, function_around(index, here), places[0].line, calls, True), given[position]

    def source_line(self, index: Index, value: ast.expr | None) -> At | None:
        """Return the line of an argument's value: of a name, the line that made it; of a number, its own."""
        return (
            None if value is None else self._line(_Reading(index, function_around(index, value), value.lineno), value)
        )

    def written(self, index: Index, value: ast.expr) -> list[At]:
        """Return the lines that append to the list of a name, and the line that made it."""
        name = getattr(value, "id", None)
        added = [c for c in index.calls("append") if name and getattr(getattr(c.func, "value", 0), "id", "") == name]
        return [(index.file, call.lineno) for call in added] + [at for at in (self.source_line(index, value),) if at]

    def source_lines(self, index: Index, name: ast.Name) -> list[At]:
        """Return the lines of the statements that gave a name its value, the last one first."""
        return self._line_of(_Reading(index, function_around(index, name), name.lineno), name)

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
            case ast.Call() | ast.Tuple() | ast.List() if (part := self._part(value, picks))[0] is not value:
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
        use, made = self._owner(use, name)
        index, function = use.source, use.function
        before = [node for node in made if node.lineno < (use.line or self.until)] or made
        fresh = [node for node in before if name.id not in {each.id for each in names_in(_given(node))}]
        if not fresh and function is not None and name.id in _parameters(function):
            return self._of_parameter(use, name.id, picks, links)
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
        if index.is_method(function) and name == function.args.args[0].arg:
            return next(self._of_field(use, str(picks[0]), picks[1:], links), NOWHERE) if picks else NOWHERE
        for outer, given in self._callers(use, name):
            value = given.value if isinstance(given, ast.Subscript) else given  # rows of a table
            return self.created(outer, value, picks, links) or (outer.source.file, value.lineno)
        arguments = function.args
        optional = arguments.args[len(arguments.args) - len(arguments.defaults) :] + arguments.kwonlyargs
        return (index.file, function.lineno) if name in [each.arg for each in optional] else NOWHERE

    def _of_call(self, use: _Reading, call: ast.Call, picks: Picks, links: int) -> Iterator[At]:
        """Yield the line of what a function of the program returns, or of what a class of it sets."""
        for own in use.source.definitions(callee(call))[:1]:
            if isinstance(own, ast.ClassDef):
                yield from self._of_field(use, str(picks[0]), picks[1:], links, call) if picks else ()
                return
            ends = [each for each in self._returned(use, call, picks) if each[0].function is own]
            for inside, value, _ in ends[-1:]:
                yield self.created(inside, value, picks, links) or (use.source.file, inside.line or value.lineno)

    def _of_field(
        self, use: _Reading, name: str, picks: Picks, links: int, call: ast.Call | None = None
    ) -> Iterator[At]:
        """Yield the lines of what was made for an attribute of an object, which the call has made."""
        for inside, value in self._fields(use, name, call):
            at = inside.source.file, inside.line or value.lineno
            self.trail.append(at)
            yield self.created(inside, value, picks, links + 1) or at

    def views(self, index: Index, name: ast.Name, path: str) -> At | None:
        """Return the line that makes a name a view of the variable with a path, through parameters; None if it is none."""
        waiting: list[tuple[ast.expr, Any, At | None]] = [(name, function_around(index, name), None)]
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
            made = [
                n for n in index.find(ast.Assign) if function_around(index, n) is function and n.lineno < value.lineno
            ]
            made = [n for n in made if isinstance(n.targets[0], ast.Name) and n.targets[0].id == value.id]
            waiting += [(n.value, function, (index.file, n.lineno)) for n in made[-1:]]
            if not made and function is not None:
                calls = index.calls(function.name)
                given = [(index.argument(function, value.id, call), call) for call in calls]
                waiting += [(g, function_around(index, c), (index.file, c.lineno)) for g, c in given if g is not None]
        return None


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
