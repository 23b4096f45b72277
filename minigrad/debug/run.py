"""A watched run, as the checks ask it: its looks, its parameters, its data, and the lines from which they come."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._source import SourceLine
from ..engine.tensor import Tensor
from ..guards import gradients
from ..rules import attention, convolution, einsum, elementwise, indexing, linalg, neural
from ..rules.about import known
from ..source.index import FUNCTIONS, callee
from .finding import DebugFinding
from .look import FullLook, TapeValue, Use, arguments_of, whole
from .making import Origins
from .program import At, floor_divisions, names_of_target
from .watcher import Watcher

JOINS = (
    linalg.matmul,
    neural.affine,
    einsum.einsum,
    attention.scaled_dot_product_attention,
    convolution.convolution,
)  # operations after which more of the network may follow

NO_VALUE, INDEX = -1, "index"  # the source and the argument of a use of what is no value of the tape
FEWEST = 16  # rows from which an equality is no chance
SUMS = (elementwise.add, elementwise.subtract, elementwise.negative)


class Param(NamedTuple):
    """A tensor or an input that got a gradient in a step, with its value and its gradient there."""

    value: Any
    gradient: Any
    node: TapeValue


class Given(NamedTuple):
    """An array of the program that enters the tape of a step.

    Attributes:
        array: the array itself; ``use`` is its place on the tape, and ``node`` the operation that reads it.
        meets: the value of the operand that it meets, with one row for each of its own.
    """

    array: Any
    use: Use
    node: TapeValue
    meets: TapeValue


class WatchedRun:
    """A watched program: its looks, and its text.

    Attributes:
        causal: whether no token may depend on a later one: the user says so, or the targets are the next tokens.
        looks: the full looks; ``first`` and ``last`` are the outer ones, and ``pairs`` those of two steps in a row.
    """

    def __init__(self, watcher: Watcher, causal: bool) -> None:
        self.watcher, self.looks, self.by_user = watcher, watcher.looks, causal
        names, scopes = (self.last.names, self.last.scopes) if self.looks else ({}, {})
        self.names = {**watcher.globals, **names}
        self.program = Origins(watcher.files, self.names, scopes)
        self.program.until = self.backward[1] if self.backward is not None else 0

    @property
    def first(self) -> FullLook:
        return self.looks[0]

    @property
    def last(self) -> FullLook:
        return self.looks[-1]

    @property
    def begun(self) -> list[tuple[FullLook, TapeValue]]:
        """The operations of the first look."""
        return [(look, node) for look in self.looks[:1] for node in look.operations]

    @property
    def pairs(self) -> list[tuple[FullLook, FullLook]]:
        return [(a, b) for a, b in zip(self.looks, self.looks[1:]) if b.step == a.step + 1]

    def finding(
        self, grade: str, step: int, /, *places: At | None, say: str = "", kind: str = "", **facts: Any
    ) -> DebugFinding:
        known = list(dict.fromkeys(place for place in places if place is not None))[:2]
        return DebugFinding(kind, step, grade, known, [self.program.text(at) for at in known], say, facts)

    # --- Parameters ---

    def params(self, look: FullLook) -> dict[Any, Param]:
        """Return the values that got a gradient in a step, by what is the same in each step."""
        return {n.key: Param(np.asarray(n.value), n.cotangent, n) for n in look.leaves}

    @functools.cached_property
    def moved(self) -> dict[Any, bool]:
        """For each parameter whether it has ever changed between looks; empty if none was seen twice."""
        moved: dict[Any, bool] = {}
        first: dict[Any, Any] = {}
        for look in self.looks:
            for key, (value, _, _) in self.params(look).items():
                if key in first:
                    same = value.shape == first[key].shape and np.array_equal(value, first[key], equal_nan=True)
                    moved[key] = moved.get(key, False) or not same
                first.setdefault(key, value)
        return moved

    @functools.cached_property
    def optimizers(self) -> list[Any]:
        """The optimizers whose ``step`` was called, in the order of their first calls."""
        return list({id(update.optimizer): update.optimizer for update in self.watcher.updates}.values())

    @functools.cached_property
    def held(self) -> set[int]:
        return {id(p) for optimizer in self.optimizers for p in optimizer.parameters}

    @functools.cached_property
    def relative_steps(self) -> list[tuple[int, float]]:
        """The length of the step of all weights together, divided by their size, for each pair of looks."""
        found = []
        for before, after in self.pairs:
            old, new = self.params(before), self.params(after)
            both = [(old[k].value, new[k].value) for k in old if k in new and old[k].value.shape == new[k].value.shape]
            size = float(np.hypot.reduce([norm(a) for a, _ in both])) if both else 0.0
            if size:
                found.append((before.step, float(np.hypot.reduce([norm(b - a) for a, b in both])) / size))
        return found

    def steps_of(self) -> dict[Any, list[float]]:
        """Return the lengths of the steps of each parameter, divided by its size, for each pair of looks."""
        found: dict[Any, list[float]] = {}
        for before, after in self.pairs:
            old, new = self.params(before), self.params(after)
            for key in old.keys() & new.keys():
                a, b = old[key].value, new[key].value
                if a.shape == b.shape and norm(a):
                    found.setdefault(key, []).append(norm(b - a) / norm(a))
        return found

    def along(self, before: FullLook, after: FullLook) -> dict[Any, float]:
        """Return the length of each parameter's step divided by that of its gradient, where both lie on one line.

        It is negative if the step goes against the gradient.
        """
        old, new, found = self.params(before), self.params(after), {}
        for key, (value, gradient, _) in old.items():
            if key in new and gradient is not None and new[key].value.shape == value.shape and np.any(gradient):
                step, g = np.ravel(new[key].value - value).astype(float), np.ravel(gradient).astype(float)
                lengths = norm(step) * norm(g)
                if lengths and abs(step @ g) > 0.999 * lengths:
                    found[key] = float(np.sign(step @ g)) * norm(step) / norm(g)
        return found

    @functools.cached_property
    def climbs(self) -> int:
        """The number of tensors, if the step of each goes along its gradient, and not against it; else 0."""
        ratios = self.along(*self.pairs[0]) if self.pairs else {}
        whole = bool(ratios) and len(ratios) == sum(
            norm(p.gradient) > 0 for p in self.params(self.pairs[0][0]).values()
        )
        return len(ratios) if whole and min(ratios.values()) > 0 else 0

    # --- Lines ---

    @functools.cached_property
    def backward(self) -> At | None:
        """The line that begins the backward passes."""
        places = [place for place in self.watcher.places if place is not None]
        return places[-1] if places else None

    @property
    def file(self) -> str:
        return self.backward[0] if self.backward is not None else ""

    def made(self, path: str | None) -> At | None:
        return self.program.made(path, self.file)

    def leaf_path(self, look: FullLook, node: TapeValue) -> str | None:
        """Return the path of the variable that holds a tensor, or an array equal to the input of a transform."""
        if isinstance(node.key, tuple):
            return next((p for p, v in look.every if isinstance(v, Tensor) and ("tensor", id(v)) == node.key), None)
        if np.size(node.value) < 2:
            return None
        arrays = [(path, v) for path, v in look.every if isinstance(v, np.ndarray) and v.shape == node.shape]
        return next((path for path, v in arrays if np.array_equal(v, node.value)), None)

    def name(self, look: FullLook, node: TapeValue) -> str:
        return self.leaf_path(look, node) or f"{'x'.join(map(str, node.shape))}"

    def made_leaf(self, look: FullLook, node: TapeValue) -> At | None:
        return self.made(self.leaf_path(look, node))

    def made_by(self, look: FullLook, node: TapeValue) -> list[At | None]:
        """Return the line that made a tensor, and the line that called the function with it."""
        return [self.made_leaf(look, node), *self.program.trail[-2:-1]]

    def made_use(self, look: FullLook, use: Use, *, last: bool = False) -> At | None:
        """Return the line at which an operand was made; None if it is not known. ``last``: see :meth:`Origins.operand`."""
        node, target = look.nodes[use.source], look.nodes[use.target]
        if use.source == NO_VALUE:
            node = target
        elif node.operation is not None:
            return node.at
        if node.kind == "leaf" and (found := self.made_leaf(look, node)):
            return found
        if target.backward:
            return None
        found = self.program.operand(target.places, _position(target, use), last=last) or self.made(look.path(use.raw))
        tables = [] if found else self.tables_of(whole(use.raw))
        return found or (self.made(tables[0]) if len(tables) == 1 else None)

    def history(self, look: FullLook, use: Use) -> list[At]:
        """Return the lines of the last two statements that made the numbers of an operand, before the operation reads it."""
        target = look.nodes[use.target]
        made = self.made_use(look, use)
        if made is None:
            return []
        if made == target.at:  # a part of the operation's own expression
            made = next(iter(self.passed(target, use)[::-1]), target.at)
        before = self.program.before(made) if made is not None else None
        return [at for at in (made, before) if at is not None]

    @functools.cached_property
    def tables(self) -> dict[str, Any]:
        """The arrays of the program with several rows, at the first look."""
        arrays = {p: v for p, v in self.first.values.items() if isinstance(v, np.ndarray)} if self.looks else {}
        return {p: v for p, v in arrays.items() if v.ndim and len(v) >= FEWEST and v.dtype.kind in "iufb"}

    def tables_of(self, batch: Any) -> list[str]:
        """Return the arrays of the program that have each row of a batch: of several views of one array, the first."""
        found: dict[int, str] = {}
        for path, table in self.tables.items() if np.ndim(batch) else ():
            if is_of(table, batch):
                found.setdefault(id(whole(table)), path)
        return [*found.values()]

    def cut(self, given: Given, *, inside: bool = True) -> list[At]:
        """Return the line that cut an array out of its table: see :meth:`Origins.cut`."""
        return self.program.cut(given.node.places, _position(given.node, given.use), inside=inside)

    def chosen(self, given: Given) -> list[At | None]:
        """Return the lines that chose the rows of an array: of their index, if it has a name, and of the choice."""
        return self.program.chosen(given.node.places, _position(given.node, given.use))

    def selection(self, look: FullLook, use: Use) -> At | None:
        """Return the line outside of all loops at which the rows of an operand were selected."""
        target = look.nodes[use.target]
        return self.program.selection(target.places, _position(target, use))

    def orders(self, given: Given) -> dict[Any, At] | None:
        """Return the lines that put the rows of an array into another order, by what did so."""
        return self.program.orders(given.node.places, _position(given.node, given.use))

    def passed(self, target: TapeValue, use: Use) -> list[At]:
        """Return the lines of the statements from which the names in the text of an operand come."""
        return self.program.passed(target.places, _position(target, use))

    def is_near(self, place: SourceLine) -> bool:
        """Return whether a line is in the function that begins the sweeps."""
        index, line = self.program.index(place.file), self.backward[1] if self.backward is not None else 0
        return place.file == self.file and index.function_at(place.line) is index.function_at(line)

    def is_off(self, way: Sequence[SourceLine]) -> bool:
        """Return whether ``eval`` of a module is the last switch before one of these lines, in the same function."""
        module = getattr(sys.modules.get("nn.module"), "Module", None)
        calls = [(i, c, True) for i, c in self.program.calls(module.eval)] if module is not None else []
        calls += [(i, c, False) for i, c in self.program.calls(module.train)] if module is not None else []
        for at in way:
            index = self.program.index(at.file)
            own = index.function_at(at.line)
            before = [(c.lineno, off) for i, c, off in calls if i is index and index.function_at(c.lineno) is own]
            before = [pair for pair in before if pair[0] < at.line]
            if before:
                return max(before)[1]
        return False

    def block(self, at: At) -> At:
        """Return the line of the outermost block of a function that holds a line, but does not begin a sweep."""
        index = self.program.index(at[0])
        around = [each for node in index.on_line(ast.stmt, at[1])[:1] for each in index.around(node)]
        sweeps = self.backward[1] if self.backward is not None and self.backward[0] == at[0] else 0
        line = at[1]
        for each in around:
            if (
                isinstance(each, FUNCTIONS)
                or not isinstance(each, ast.stmt)
                or each.lineno <= sweeps <= (each.end_lineno or 0)
            ):
                break
            line = each.lineno
        return at[0], line

    def behind(self, at: At | None) -> list[At]:
        """Return the line of a fraction with a name that a line reads, such as the size of first weights.

        Without one, it is the line through which the last search went first.
        """
        trail, index = self.program.trail[:1], self.program.index(at[0] if at is not None else self.file)
        names = (
            [n for s in index.on_line(ast.stmt, at[1]) for n in ast.walk(s) if isinstance(n, ast.Name)] if at else []
        )
        made = [(a.line, a.value) for n in names for a in index.assignments if n.id in names_of_target(a.target)]
        fractions = [line for line, value in made if isinstance(value, ast.Constant) and type(value.value) is float]
        return [(index.file, line) for line in fractions[:1]] or trail

    def in_loop(self, path: str | None) -> At | None:
        """Return the line in a loop that gives a new array to a variable."""
        name, index = (path or "").partition("[")[0], self.program.index(self.file)
        found = [a for a in index.find(ast.Assign) if name in names_of_target(a.targets[0]) and index.loops(a)]
        return (index.file, found[-1].lineno) if found else None

    # --- Updates ---

    def constructor(self, *, after: int = 0) -> tuple[Any, ast.Call] | None:
        """Return the first call that makes an optimizer, with its file's index.

        ``after`` means the optimizer that makes the first update after this step, if each optimizer has a call of its own.
        """
        kind = getattr(sys.modules.get("nn.optimizer"), "Optimizer", None)
        calls = self.program.calls(kind) if kind is not None else []
        if after and len(calls) == len(self.optimizers):
            runs = next((u.optimizer for u in self.watcher.updates if u.sweeps > after), None)
            calls = [call for call, each in zip(calls, self.optimizers) if each is runs] or calls
        return next(iter(calls), None)

    def fits(self) -> list[tuple[Any, ast.Call]]:
        """Return the calls of ``nn.fit``."""
        fit = getattr(sys.modules.get("nn.train"), "fit", None)
        return self.program.calls(fit) if fit is not None else []

    def updates(self) -> list[tuple[Any, Any]]:
        """Return the statements that compute with gradients outside of an optimizer, each with the index of its file.

        They read ``.grad``, or what the call at the line of the backward pass has returned.
        """
        found = []
        for file in self.program.files:
            index = self.program.index(file)
            names: set[str] = set()
            line = self.backward[1] if self.backward is not None and file == self.file else 0
            if line:
                for call in index.find(ast.Assign, lambda n: n.lineno <= line <= n.end_lineno):  # noqa: B023
                    targets = call.targets[0]
                    returned = targets.elts[1:] if isinstance(targets, ast.Tuple) else [targets]
                    names |= {name for target in returned for name in names_of_target(target)}
            given = list(self._given_on(index, names))
            for node in index.find((ast.Assign, ast.AugAssign)):
                reads = [n for n in ast.walk(node.value) if isinstance(n, (ast.Name, ast.Attribute))]
                inside = {name for function, name in given if function is index.function_at(node.lineno)}
                grads = any(getattr(n, "attr", "") == "grad" or _is_read(index, n, names | inside) for n in reads)
                loop = [n for n in index.around(node) if isinstance(n, ast.For) and names & names_read(n.iter)]
                zipped = loop and names_read(node.value) & set(names_of_target(loop[0].target))
                arithmetic = isinstance(node, ast.AugAssign) or any(
                    isinstance(n, ast.BinOp) for n in ast.walk(node.value)
                )
                if (grads or zipped) and arithmetic and (file, node.lineno) != self.backward:
                    found.append((index, node))
        return found

    @staticmethod
    def _given_on(index: Any, names: set[str]) -> Iterator[tuple[Any, str]]:
        """Yield the functions of the program that get one of these variables, each with the parameter's name."""
        for call in index.find(ast.Call) if names else ():
            for function in index.definitions(callee(call)):
                for parameter in function.args.args if isinstance(function, FUNCTIONS) else ():
                    if names & {getattr(index.argument(function, parameter.arg, call), "id", "")}:
                        yield function, parameter.arg

    def schedule(self) -> list[At | None]:
        """Return the line that made what computes the learning rate, if a name is called for it, and the line that sets it."""
        at = self.rate()
        index = self.program.index(at[0] if at is not None else self.file)
        calls = index.on_line(ast.Call, at[1]) if at is not None else []
        names = [c.func for c in calls if isinstance(c.func, ast.Name)]
        made = [line for name in names for line in self.program.source_lines(index, name) if line != at]
        return [*made[:1], at]

    def rate(self) -> At | None:
        """Return the line that sets the learning rate: an argument, a variable, or the number in the update."""
        program = self.program
        for index, call in self.fits():
            schedule = program.argument(call, "schedule")
            if schedule is not None:
                return program.source_line(index, schedule)
        for file in program.files:
            index = program.index(file)
            for assign in index.find((ast.Assign, ast.AugAssign), lambda n: getattr(target_of(n), "attr", "") == "lr"):
                if any(program.value(target_of(assign).value) is each for each in self.optimizers):
                    return self._of_schedule(index, assign)
        made = self.constructor()
        if made is not None:
            lr = program.argument(made[1], "lr", 1)
            return (made[0].file, made[1].lineno) if lr is None else program.source_line(made[0], lr)
        for index, node in self.updates():
            for factor in factors(node):
                line = program.source_line(index, factor)
                if line is not None:
                    assigned = index.on_line(ast.Assign, line[1])
                    return self._of_schedule(index, assigned[0]) if assigned and line[1] != node.lineno else line
        return None

    def _of_schedule(self, index: Any, assign: Any) -> At:
        """Return the line of a division by // in the function that computes a rate, or else the line of the assignment."""
        value = assign.value
        name = getattr(getattr(value, "func", None), "id", getattr(getattr(value, "func", None), "attr", ""))
        cuts = [line for own in index.definitions(name) for line in floor_divisions(own)] if name else []
        return index.file, cuts[0] if cuts else assign.lineno

    # --- Data ---

    @functools.cached_property
    def data(self) -> dict[int, tuple[list[Given], list[Given]]]:
        """For each step of a look the arrays that meet a parameter, and those that meet a prediction."""
        return {look.step: (list(_inputs(look)), list(_targets(look))) for look in self.looks}

    def inputs(self, look: FullLook) -> list[Given]:
        return self.data[look.step][0]

    def targets(self, look: FullLook) -> list[Given]:
        return self.data[look.step][1]

    @staticmethod
    def is_error(look: FullLook, y: Given) -> bool:
        """Return whether the loss grows with the distance of a prediction from a target."""
        if y.node.primitive is elementwise.subtract:
            return any(bends(look, reader, y.node) for reader in look.readers(y.node))
        return y.node.operation is not None and bends(look, y.node, y.meets)

    @functools.cached_property
    def ahead(self) -> list[Given]:
        """The tokens, at the first look, whose next ones are the targets."""
        look = self.looks[0] if self.looks else None
        targets = [] if look is None else self.targets(look)
        return [
            x for x in (self.inputs(look) if look else ()) if any(next_token(x.array, y.array) == 1 for y in targets)
        ]


def _position(target: TapeValue, use: Use) -> int:
    """Return the place of an operand among the arguments of its operation; -1 for an index in brackets."""
    if use.source == NO_VALUE and target.primitive is indexing.getitem:
        return -1
    names = arguments_of(target.entry) if target.entry is not None else []
    return names.index(use.argument) if use.argument in names else len(names)


def factors(node: Any) -> list[ast.expr]:
    """Return the names, attributes and numbers that are multiplied in an update, but not what is read of the gradient."""
    found: list[ast.expr] = []
    for part in ast.walk(node.value):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
            for side in (part.left, part.right):
                simple = isinstance(side, (ast.Name, ast.Constant)) or (
                    isinstance(side, ast.Attribute) and side.attr not in ("grad", "data")
                )
                found += [side] if simple else []
    return found


def _is_read(index: Any, node: Any, names: set[str]) -> bool:
    """Return whether a node reads one of these variables, and not an argument of a lambda with its name."""
    lambdas = [f for f in index.around(node) if isinstance(f, ast.Lambda)]
    own = {a.arg for f in lambdas for a in (*f.args.posonlyargs, *f.args.args)}
    return getattr(node, "id", "") in names - own


def target_of(assign: Any) -> Any:
    """Return what an assignment, or an update such as ``+=``, gives a value to first."""
    return assign.target if isinstance(assign, ast.AugAssign) else assign.targets[0]


def names_read(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _inputs(look: FullLook) -> Iterator[Given]:
    """Yield the arrays that a step multiplies with a parameter, or that choose its rows."""
    seen = set()
    for node in look.operations:
        operands = look.operands(node)
        weights = [source for _, source in operands if source.kind == "leaf"]
        if not weights:
            continue
        for use, source in operands:
            if source.kind == "constant" and np.ndim(use.raw) >= 2 and source.id not in seen:
                seen.add(source.id)
                yield Given(np.asarray(use.raw), use, node, weights[0])
        for index in index_arrays(node):
            yield Given(index, index_use(node, index), node, weights[0])


def _targets(look: FullLook) -> Iterator[Given]:
    """Yield the arrays that meet a prediction: no parameter joins between them and the loss."""
    tail: set[int] = set()
    for node in reversed(look.operations):
        after = look.readers(node)
        alone = all(source.kind != "leaf" for _, source in look.operands(node)) and node.primitive not in JOINS
        if alone and all(reader.id in tail for reader in after):
            tail.add(node.id)
    for node in look.operations:
        if node.id not in tail:
            continue
        computed = [source for _, source in look.operands(node) if source.operation is not None]
        for use, source in look.operands(node):
            if (
                source.kind == "constant"
                and computed
                and np.ndim(use.raw)
                and len(use.raw) == (computed[0].shape or (0,))[0]
            ):
                yield Given(np.asarray(use.raw), use, node, computed[0])
        for index in index_arrays(node)[-1:]:
            if computed and index.ndim == 1 and computed[0].shape and len(index) == computed[0].shape[0]:
                yield Given(index, index_use(node, index), node, computed[0])


def bends(look: FullLook, node: TapeValue, of: TapeValue) -> bool:
    """Return whether an operation is not linear in one of its operands. A product of it with itself is not."""
    facts, operands = known(node.primitive), look.operands(node)
    others = [source for _, source in operands if source is not of]
    if facts.linear or facts.view or node.primitive in (*SUMS, indexing.getitem):
        return False
    if facts.product or node.primitive is elementwise.multiply:
        return not others
    return node.primitive is not elementwise.divide or operands[0][1] is not of


def rowwise(array: Any) -> Any:
    """Return an array as a table, with one row for each item."""
    return array.reshape(len(array), -1).astype(float)


def is_of(table: Any, batch: Any) -> bool:
    """Return whether each row of a batch is a row of a table."""
    one, other = rowwise(table).astype(np.float32), rowwise(batch).astype(np.float32)
    alike = table.dtype.kind == batch.dtype.kind and one.shape[1] == other.shape[1]
    return alike and {row.tobytes() for row in other} <= {row.tobytes() for row in one}


def index_use(node: TapeValue, index: Any) -> Use:
    """Return the use of an index, which is a keyword of an operation and no value of the tape."""
    return Use(NO_VALUE, node.id, INDEX, index, index, None)


def index_arrays(node: TapeValue) -> list[Any]:
    """Return the arrays of whole numbers among the keywords of an operation, which choose elements."""
    found = []
    for value in node.keywords.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, np.ndarray) and part.dtype.kind in "iu" and part.size > 1:
                found.append(part)
    return found


def next_token(x: Any, y: Any) -> int | None:
    """Return by how many places targets run ahead of their inputs, both (batch, length); None if they are no such pair."""
    if x.dtype.kind not in "iu" or y.dtype.kind not in "iu" or x.ndim != 2 or y.size != x.size or x.shape[1] < 4:
        return None
    y = y.reshape(x.shape)
    if np.ptp(x) < 2:
        return None
    for shift in (1, 0, 2, -1, 3, -2):
        a, b = (x[:, shift:], y[:, : x.shape[1] - shift]) if shift >= 0 else (x[:, :shift], y[:, -shift:])
        if a.size and np.array_equal(a, b):
            return shift
    return None


def norm(array: Any) -> float:
    """Return the Euclidean norm in double precision; 0 for None, and for several outputs."""
    return 0.0 if array is None or isinstance(array, (dict, tuple)) else gradients.norm(np.asarray(array))


def rms(array: Any) -> float:
    return norm(array) / max(1, np.size(array)) ** 0.5


def median(values: Any) -> float:
    """Return the median; NumPy's own imports ``numpy.ma``, which takes a tenth of a second."""
    ordered = np.sort(np.asarray(values, float), axis=None)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
