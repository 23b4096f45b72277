"""An index of a Python file: its functions, loops, calls and assignments, and the expression at each instruction.

It states facts of the text, and guesses nothing from how a name is spelled. Python stores the position of the text that an
instruction was compiled from (PEP 657), and the index finds the expression there. :func:`text_of` writes an expression as one
line. A text that is not Python, for example because of a notebook's commands, has lines and nothing else. Each text is parsed
once.
"""

from __future__ import annotations

import ast
import copy
import inspect
import operator
import tokenize
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from os import PathLike
from typing import Any, NamedTuple

from .._source import LONGEST_LINE, SourceLine, character

MOST_FILES = 64  # texts whose indices are kept
MOST_UNPARSED = 200  # characters of an expression; a longer one is cut before it is parsed
MOST_LINES = 8  # lines of an expression; a longer one is cut too
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
Span = tuple[int, int, int, int]  # the first line and character, the last line and the character after it


class Assignment(NamedTuple):
    """A variable or an attribute that a statement assigns.

    Attributes:
        line: the line of the statement.
        target: the variable or the attribute. It is ``a`` in ``a[0], b = value`` too.
        value: the whole assigned value.
    """

    line: int
    target: ast.Name | ast.Attribute
    value: ast.expr


def index_of(file: str, lines: Sequence[str]) -> Index:
    """Return the index of a file with these lines."""
    known = _by_lines.get(id(lines))
    if known is None or known[0] is not lines or known[1].file != file:
        if len(_by_lines) >= MOST_FILES:
            _by_lines.clear()
        index = _index(file, "\n".join(line.rstrip("\r\n") for line in lines))
        known = _by_lines[id(lines)] = lines, index
    return known[1]


def index_of_file(path: str | PathLike[str]) -> Index:
    """Return the index of a file as it is now.

    Raises:
        OSError, SyntaxError, ValueError: the file cannot be read.
    """
    with tokenize.open(path) as file:
        return _index(str(path), file.read().removesuffix("\n"))


class Index:
    """The text of a file, and what it says.

    Attributes:
        file: the path of the file.
        lines: its lines, without line ends.
        tree: its syntax tree; empty if the text is not Python.
        nodes: all nodes of the tree. A node comes after its parent.
        parents: the parent of each node.
        functions: its functions, in the order of their lines.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file, self.lines, self.tree = file, text.split("\n") if text else [], _parsed(text)
        self.nodes: list[Any] = [self.tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # the loop appends to nodes
            children = list(ast.iter_child_nodes(node))
            self.nodes += children
            self.parents.update(dict.fromkeys(children, node))
        self.functions: list[Any] = self.find(FUNCTIONS)
        self._found: dict[Span, ast.AST | None] = {}  # the nodes that were found before
        self.texts: dict[ast.AST, tuple[str, bool]] = {}  # what :func:`text_of` has written before

    def text(self, line: int) -> str:
        """Return a line without the spaces around it; an empty text if there is no such line."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def find(self, kind: Any, test: Callable[[Any], object] = lambda node: True) -> list[Any]:
        """Return the nodes of one kind that pass a test, in the order of their lines."""
        return sorted((n for n in self.nodes if isinstance(n, kind) and test(n)), key=lambda n: n.lineno)

    def on_line(self, kind: Any, line: int) -> list[Any]:
        """Return the nodes of one kind that begin on a line."""
        return self.find(kind, lambda node: node.lineno == line)

    # Expressions and their places

    def span(self, node: Any) -> Span:
        """Return where an expression or a statement stands, in characters, as in a SourceLine."""
        first, last = self.lines[node.lineno - 1], self.lines[node.end_lineno - 1]
        return node.lineno, character(first, node.col_offset), node.end_lineno, character(last, node.end_col_offset)

    def at(self, place: SourceLine) -> ast.AST | None:
        """Return the expression, the augmented assignment or the ``for`` of an instruction; None if it cannot be found."""
        line, column, last, end = place.line, place.column, place.end_line, place.end_column
        if column is None or last is None or end is None or self.text(line)[:LONGEST_LINE] != place.text:
            return None  # Python does not know the place, or the file has changed since
        span = line, column, last, end
        if span not in self._found:
            self._found[span] = self._find(span)
        return self._found[span]

    def _find(self, span: Span) -> ast.AST | None:
        """Return the node of a span, or the call of a method that ends there.

        For a method's call over several lines, Python stores where the method's name begins.
        """
        method = None
        for node in self._by_last_line[span[2]]:
            place = self.span(node)
            if place == span:
                return node
            if place[2:] == span[2:] and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                method = node
        return method

    @cached_property
    def _by_last_line(self) -> dict[int, list[ast.AST]]:
        """The nodes that may be an instruction."""
        found: dict[int, list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            if isinstance(node, (ast.expr, ast.AugAssign, ast.For)):
                found[node.end_lineno or 0].append(node)
        return found

    # Functions, loops and calls

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes that contain a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def function_at(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around a line; None if the line is outside of functions."""
        around = [f for f in self.functions if f.lineno <= line <= f.end_lineno]
        return around[-1] if around else None

    def is_method(self, function: ast.AST) -> bool:
        """Return whether a function gets the object, or the class, of a call ``a.f(x)`` as its first argument."""
        static = "staticmethod" in (getattr(each, "id", "") for each in getattr(function, "decorator_list", ()))
        return isinstance(self.parents.get(function), ast.ClassDef) and not static

    def loops(self, node: ast.AST) -> list[Any]:
        """Return the loops and comprehensions that run a node again and again, in its function, outermost first."""
        found: list[Any] = []
        for parent in self.around(node):
            if isinstance(parent, SCOPES):
                break
            repeats = isinstance(parent, ast.While) or (isinstance(parent, LOOPS) and node in parent.body)
            if repeats or (isinstance(parent, COMPREHENSIONS) and node is not parent.generators[0]):
                found.insert(0, parent)
            node = parent
        return found

    def loop_variables(self, node: ast.AST) -> list[str]:
        """Return the variables of the loops around a node, outermost first: what ``for`` assigns and ``while`` tests."""
        found: list[str] = []
        for loop in self.loops(node):
            match loop:
                case ast.While():
                    parts = [loop.test]
                case ast.For() | ast.AsyncFor():
                    parts = [loop.target]
                case _:
                    parts = [each.target for each in loop.generators]
            found += [name.id for part in parts for name in names_in(part)]
        return list(dict.fromkeys(found))

    def definitions(self, name: str) -> list[Any]:
        """Return the functions and classes of this name."""
        return self.find((*FUNCTIONS, ast.ClassDef), lambda each: each.name == name)

    def calls(self, *names: str) -> list[ast.Call]:
        """Return the calls of functions or methods with these names."""
        return self.find(ast.Call, lambda call: callee(call) in names)

    def keyword(self, *names: str) -> ast.expr | None:
        """Return the value of the first keyword argument with one of these names; None if there is none."""
        found = self.find(ast.keyword, lambda k: k.arg in names)
        return found[0].value if found else None

    # Names, and what they are bound to

    @cached_property
    def assignments(self) -> list[Assignment]:
        """The variables and attributes that the assignments ``a = value`` of the file change, in the order of their lines."""
        return [
            Assignment(node.lineno, written, node.value)
            for node in self.find(ast.Assign)
            for target in node.targets
            for written in written_by(target)
        ]

    def target(self, node: ast.AST, *, lists: bool = False) -> ast.expr | None:
        """Return the target of an expression's assignment; None if there is none.

        An element of a list comprehension has no target of its own. With ``lists``, it has the target of its list.
        """
        if isinstance(node, ast.AugAssign):
            return node.target
        target, listed = self._targets.get(node, (None, False))
        return target if lists or not listed else None

    @cached_property
    def _targets(self) -> dict[ast.AST, tuple[ast.expr, bool]]:
        """The target of each assigned expression, also of a part of a tuple, and whether it is the target of its list."""
        found: dict[ast.AST, tuple[ast.expr, bool]] = {}
        for node in self.nodes:
            if not isinstance(node, ASSIGNMENTS) or node.value is None:
                continue
            for whole in node.targets if isinstance(node, ast.Assign) else [node.target]:
                work: list[tuple[ast.expr, ast.expr, bool]] = [(node.value, whole, False)]
                for value, target, listed in work:  # the loop appends to work
                    if not isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
                        found.setdefault(value, (target, listed))
                    if isinstance(value, ast.IfExp):
                        work += [(value.body, target, listed), (value.orelse, target, listed)]
                    elif isinstance(value, ast.ListComp):
                        work.append((value.elt, target, True))
                    elif isinstance(value, (ast.Tuple, ast.List)):
                        parts = enumerate(value.elts)
                        work += [(each, part, listed) for i, each in parts if (part := part_of(target, i)) is not None]
        return found

    def returned(self, node: ast.AST) -> bool:
        """Return whether an expression is the returned value of a function."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.Return) or (isinstance(parent, ast.Lambda) and parent.body is node)

    def parameters(self, operand: ast.AST) -> set[str]:
        """Return the names of the parameters of the function around an operand."""
        function = next((n for n in self.around(operand) if isinstance(n, (ast.FunctionDef, ast.Lambda))), None)
        found = () if function is None else ast.walk(function.args)
        return {parameter.arg for parameter in found if isinstance(parameter, ast.arg)}

    def given(self, operand: ast.expr, call: ast.Call) -> ast.expr | None:
        """Return the argument of ``call`` for an operand that is a parameter of its function; None for other operands."""
        function = next((n for n in self.around(operand) if isinstance(n, (ast.FunctionDef, ast.Lambda))), None)
        if function is None or not isinstance(operand, ast.Name) or operand.id in self._stored[function]:
            return None
        return self.argument(function, operand.id, call)

    def argument(self, function: Any, name: str, call: ast.Call) -> ast.expr | None:
        """Return the argument of a call for a parameter of the function that it calls; None if the call does not give it."""
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if name not in {*names, *(argument.arg for argument in function.args.kwonlyargs)}:
            return None
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        place = names.index(name) if name in names else -1
        place -= self.is_method(function)
        return call.args[place] if 0 <= place < len(call.args) and not any(map(is_starred, call.args)) else None

    @cached_property
    def _stored(self) -> dict[ast.AST, set[str]]:
        """The names that are assigned anywhere in a statement or an expression."""
        found: dict[ast.AST, set[str]] = defaultdict(set)
        for name in self.nodes:
            for node in self.around(name) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) else ():
                found[node].add(name.id)
        return found


_by_lines: dict[int, tuple[Sequence[str], Index]] = {}  # by the id of the list of lines, which is kept alive here
_index = lru_cache(MOST_FILES)(Index)


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has shown these warnings already
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


# --- one node -------------------------------------------------------------------------------------------------------


def callee(node: ast.AST) -> str:
    """Return the last name of the function that a call calls; an empty text if it has none."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def operands(node: ast.AST) -> list[ast.expr]:
    """Return what an operator computes with; the arguments by position, up to the first starred one, for a call."""
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Subscript() | ast.Attribute():
            return [node.value]
        case ast.Call():
            return list(takewhile(lambda argument: not is_starred(argument), node.args))
    return []


def call_at(node: ast.AST) -> ast.Call | None:
    """Return the call that is an expression, or that gives a ``for`` or a comprehension its elements; None for another one."""
    if isinstance(node, ast.For):
        node = node.iter
    elif isinstance(node, COMPREHENSIONS):
        node = node.generators[0].iter
    return node if isinstance(node, ast.Call) else None


def names_in(node: ast.AST) -> list[ast.Name]:
    """Return the variables in a part of the program."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Name)]


def written_by(target: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """Yield the variables and attributes that an assignment changes: ``a`` and ``b.data`` for ``a, b.data[:] = ...``."""
    work = [target]
    for part in work:  # the loop appends to work
        if isinstance(part, (ast.Tuple, ast.List)):
            work += part.elts
        elif isinstance(part, (ast.Subscript, ast.Starred)):
            work.append(part.value)
        elif isinstance(part, (ast.Name, ast.Attribute)):
            yield part


def part_of(target: ast.expr, position: int) -> ast.expr | None:
    """Return the part of a target that takes one element of the assigned value; None if that cannot be known."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        return ast.Subscript(target, ast.Constant(position), ast.Load())
    if not isinstance(target, (ast.Tuple, ast.List)) or any(map(is_starred, target.elts)):
        return None
    return target.elts[position] if position < len(target.elts) else None


def is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def value_of(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Return the object that ``f`` or ``module.f`` stands for where the program has these names; None if it is not known.

    No code of the program runs, so the value of an attribute that the program computes is not known.
    """
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    holder = value_of(node.value, names)
    return None if holder is None else inspect.getattr_static(holder, node.attr, None)


# --- an expression as one line of text -------------------------------------------------------------------------------


def text_of(index: Index, node: ast.AST, values: Mapping[str, Any] | None = None) -> str:
    """Return an expression as Python writes it, on one printable line. A very long one keeps only its beginning and end.

    ``values`` replace the names of loop variables inside brackets: ``hs[t - 1]`` becomes ``hs[4]``.
    """
    if isinstance(node, ast.AugAssign):
        node = node.target
    text, indexed = index.texts.get(node) or _text(index, node)
    return _unparsed(_Indices(values).visit(copy.deepcopy(node))) if values and indexed else text


def _text(index: Index, node: ast.AST) -> tuple[str, bool]:
    """Return the text of an expression, and whether values may replace names in it."""
    if not hasattr(node, "lineno"):  # it is not part of the file
        return _unparsed(node), True
    first, start, last, end = index.span(node)
    head, tail = index.lines[first - 1][start:], index.lines[last - 1][:end]
    if first == last:
        head = tail = head[: end - start]
    if len(head) > MOST_UNPARSED or last - first > MOST_LINES:
        half = MOST_UNPARSED // 2
        found = printable(" ".join(f"{head[:half]} … {tail[-half:]}".split())), False
    else:
        found = _unparsed(node), any(isinstance(part, ast.Subscript) for part in ast.walk(node))
    index.texts[node] = found
    return found


def _unparsed(node: ast.AST) -> str:
    try:
        return printable(" ".join(ast.unparse(node).split()))
    except (RecursionError, ValueError):
        return ""


class _Indices(ast.NodeTransformer):
    """Writes the values of loop variables into the indices of an expression, and adds and multiplies them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values, self.inside = values, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        self.inside, before = True, self.inside
        node.slice = self.visit(node.slice)
        self.inside = before
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id) if self.inside else None
        return ast.Constant(value) if isinstance(value, (int, str)) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        run = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}.get(type(node.op))
        pair = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
        if not (self.inside and run and len(pair) == 2 and all(type(value) is int for value in pair)):
            return node
        return ast.Constant(run(*pair))


def element(given: Sequence[ast.expr], position: int) -> ast.expr | None:
    """Return one of the operands that the program passes as a list."""
    if given and isinstance(given[0], (ast.List, ast.Tuple)):
        before = given[0].elts[: position + 1]
        return before[position] if position < len(before) and not any(map(is_starred, before)) else None
    if len(given) == 1 and isinstance(given[0], (ast.Name, ast.Attribute)):
        return ast.Subscript(given[0], ast.Constant(position), ast.Load())
    if given and isinstance(given[0], ast.Constant):
        given = given[1:]
    return given[position] if len(given) > 1 and position < len(given) else None


def printable(text: str) -> str:
    """Return a text without line breaks and without escape sequences for the terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
