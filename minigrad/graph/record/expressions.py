"""What stands in the user's program where an operation was called: its expression, its operands, and what it is assigned to.

Python says which characters an instruction was compiled from (PEP 657); ``ast`` finds the expression at that place.
"""

from __future__ import annotations

import ast
import bisect
import warnings
from collections.abc import Collection, Sequence

import numpy as np

from ..._source import LONGEST_LINE, SourceLine

MOST_UNPARSED = 200  # characters of an expression; a longer one is cut before anybody looks into it
MOST_LINES = 8  # of the same
MODULES = {"np", "numpy", "mg", "minigrad", "nn", "F", "functional", "math", "scipy", "special", "linalg"}
ASSIGNED = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


class Program:
    """The expressions of one file, by their places.

    Args:
        lines: of the file.
        needed: the numbers of the lines that anybody will ask for: all else is left out.
    """

    def __init__(self, lines: Sequence[str], needed: Collection[int]) -> None:
        self.lines = lines
        self.parents: dict[ast.AST, ast.AST] = {}
        self._at: dict[tuple[int, int, int, int], ast.AST] = {}
        self._methods: dict[tuple[int, int], ast.Call] = {}  # by their ends
        self._stored: dict[ast.AST, set[str]] = {}
        self._modules = set(MODULES)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python has said it already
                tree = ast.parse("\n".join(lines))
        except (
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ):  # a notebook's own commands; or a file from anywhere
            return
        self._walk(tree, sorted(needed))

    def _walk(self, tree: ast.AST, needed: list[int]) -> None:
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._modules |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            elif isinstance(node, (ast.expr, ast.AugAssign, ast.For)):
                place = self.place(node)
                self._at[place] = node
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    self._methods[place[2:]] = node
            for child in ast.iter_child_nodes(node):
                if _needed(child, needed):
                    self.parents[child] = node
                    waiting.append(child)

    def place(self, node: ast.AST) -> tuple[int, int, int, int]:
        """First line and character, last line and character, as a SourceLine has them."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return first, self._character(first, start), last, self._character(last, end)

    def _character(self, line: int, byte: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return byte if text.isascii() else len(text.encode(errors="replace")[:byte].decode(errors="ignore"))

    def at(self, source: SourceLine) -> ast.AST | None:
        """The expression (or augmented assignment) of an instruction; None if it is not to be found."""
        line, column, last, end = source.line, source.column, source.end_line, source.end_column
        if column is None or last is None or end is None or not 0 < line <= len(self.lines):
            return None
        if self.lines[line - 1].strip()[:LONGEST_LINE] != source.text:
            return None  # the file is another by now
        found = self._at.get((line, column, last, end))
        if found is None:  # of a method's call over several lines Python notes where its name begins
            found = self._methods.get((last, end))
        return found

    # What an expression is for

    def target(self, node: ast.AST) -> tuple[ast.expr | None, bool]:
        """What the value of an expression is assigned to; and whether it is one of several values of a comprehension."""
        if isinstance(node, ast.AugAssign):
            return node.target, False
        child, parent, element = node, self.parents.get(node), False
        places: list[int] = []
        while parent is not None:
            if isinstance(parent, ast.IfExp) and child is not parent.test:
                pass
            elif isinstance(parent, (ast.ListComp, ast.GeneratorExp)) and child is parent.elt and not element:
                element = True
                if isinstance(parent, ast.GeneratorExp) or len(parent.generators) > 1:
                    return None, True
            elif isinstance(parent, (ast.Tuple, ast.List)) and not element:
                places.append(parent.elts.index(child))  # type: ignore[arg-type]
            elif isinstance(parent, ast.NamedExpr) and not places:
                return parent.target, element
            else:
                break
            child, parent = parent, self.parents.get(parent)
        if not isinstance(parent, ASSIGNED) or child is not parent.value:
            return None, element
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        found = [_inside(target, places[::-1]) for target in targets]
        return next((target for target in found if target is not None), None), element

    def targets(self, node: ast.AST) -> list[ast.expr]:
        """The names that the several results of one expression go to: ``a, b = expression``."""
        parent = self.parents.get(node)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if not isinstance(target, (ast.Tuple, ast.List)) or not all(isinstance(each, ast.Name) for each in target.elts):
            return []
        return target.elts

    def returned(self, node: ast.AST) -> bool:
        """Whether a function returns it."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.Return) or (isinstance(parent, ast.Lambda) and parent.body is node)

    def handed(self, operand: ast.expr, call: ast.Call) -> ast.expr | None:
        """What the parameter that an operand is was given in a call of its function; None if it is no parameter."""
        function: ast.AST | None = operand
        while function is not None and not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            function = self.parents.get(function)
        if function is None or not isinstance(operand, ast.Name):
            return None
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if operand.id not in {*names, *(argument.arg for argument in function.args.kwonlyargs)} - self._assigned(
            function
        ):
            return None
        for keyword in call.keywords:
            if keyword.arg == operand.id:
                return keyword.value
        place = names.index(operand.id) if operand.id in names else -1
        place -= names[:1] == ["self"]
        return call.args[place] if 0 <= place < len(call.args) and not any(map(_is_starred, call.args)) else None

    def _assigned(self, function: ast.FunctionDef | ast.Lambda) -> set[str]:
        """The names that a function gives another value."""
        if function not in self._stored:
            names = (n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            self._stored[function] = {name.id for name in names}
        return self._stored[function]

    def taker(self, node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
        """What takes the elements of something, one after the other; and the something. ``x`` and ``xs`` in ``for x in xs``."""
        parent = self.parents.get(node)
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):  # a, b = xs
            return node, parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None
        if isinstance(node, ast.For):  # Python 3.11 names the loop, later ones the iterable
            parent, node = node, node.iter
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
            parent, node = node.generators[0], node.generators[0].iter
        if not isinstance(node, ast.expr):
            return None, None
        whole, target = node, None
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            target = parent.target
        if isinstance(node, ast.Call):
            if not node.args or isinstance(node.func, ast.Attribute):
                return None, None
            whole = node.args[0]
            if target is not None and self.callee(node) == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[-1]
            elif self.callee(node) not in ("sum", "list", "tuple", "reversed"):
                return None, None
        return target if isinstance(target, ast.Name) else None, whole

    # What goes into an expression

    def callee(self, node: ast.AST) -> str:
        """The last name of what is called."""
        func = node.func if isinstance(node, ast.Call) else None
        return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""

    def operand(self, node: ast.AST, operation: str, argument: str, position: int) -> ast.expr | None:
        """The expression of one argument of an operation that is this expression and nothing else."""
        several: Sequence[ast.expr] = ()
        if isinstance(node, ast.BinOp):
            several = (node.left, node.right)
        elif isinstance(node, ast.AugAssign):
            several = (node.target, node.value)
        elif isinstance(node, ast.UnaryOp):
            several = (node.operand,)
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            several = (node.value,)
        elif isinstance(node, ast.Call) and same_name(self.callee(node), operation):
            for keyword in node.keywords:
                if keyword.arg == argument:
                    return keyword.value
            several = self._arguments(node)
            if (
                argument.isdigit()
            ):  # a function of any number of operands: of a list, or after a text that says what to do
                return self.element(several, position)
        return several[position] if position < len(several) else None

    def only_operand(self, node: ast.AST, module: bool) -> ast.expr | None:
        """What goes into a call into which, literals apart, only one thing can go. ``module``: a module may be called."""
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        given = node.args if module and not any(map(_is_starred, node.args)) else self._arguments(node)
        found = [each for each in given if not isinstance(each, ast.Constant)]
        return found[0] if len(found) == 1 else None

    def _arguments(self, call: ast.Call) -> list[ast.expr]:
        """The arguments by position, of a method with its object."""
        given = list(call.args)
        if isinstance(call.func, ast.Attribute):
            root: ast.expr = call.func
            while isinstance(root, ast.Attribute):
                root = root.value
            name = root.id if isinstance(root, ast.Name) else ""
            if name not in self._modules and not name[:1].isupper():
                given.insert(0, call.func.value)
        starred = next((i for i, each in enumerate(given) if _is_starred(each)), len(given))
        return given[:starred]

    def element(self, given: Sequence[ast.expr], position: int) -> ast.expr | None:
        """One of the operands that are handed over as a list."""
        if given and isinstance(given[0], (ast.List, ast.Tuple)):
            elements = given[0].elts
            return (
                elements[position]
                if position < len(elements) and not any(map(_is_starred, elements[: position + 1]))
                else None
            )
        if len(given) == 1 and isinstance(given[0], (ast.Name, ast.Attribute)):
            return ast.Subscript(given[0], ast.Constant(position), ast.Load())
        if given and isinstance(given[0], ast.Constant):
            given = given[1:]
        return given[position] if len(given) > 1 and position < len(given) else None

    def text(self, node: ast.AST) -> str:
        """An expression in Python's own notation, on one line; of a very long one beginning and end."""
        if isinstance(node, ast.AugAssign):
            node = node.target
        if hasattr(node, "lineno"):
            first, start, last, end = self.place(node)
            head, tail = self.lines[first - 1][start:], self.lines[last - 1][:end]
            if first == last:
                head = tail = head[: end - start]
            if len(head) > MOST_UNPARSED or last - first > MOST_LINES:
                half = MOST_UNPARSED // 2
                return " ".join(f"{head[:half]} … {tail[-half:]}".split())
        try:
            return " ".join(ast.unparse(node).split())
        except (RecursionError, ValueError):
            return ""


def _needed(node: ast.AST, needed: list[int]) -> bool:
    """Whether one of these lines is in it. What has no place of its own is looked into."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if first is None or last is None or isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    first = min([first, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    number = bisect.bisect_left(needed, first)
    return number < len(needed) and needed[number] <= last


def _inside(target: ast.expr, places: Sequence[int]) -> ast.expr | None:
    """The part of a target that takes the element at a place of what is assigned to it."""
    for place in places:
        if isinstance(target, (ast.Name, ast.Attribute)):
            target = ast.Subscript(target, ast.Constant(place), ast.Load())
            continue
        if not isinstance(target, (ast.Tuple, ast.List)) or place >= len(target.elts):
            return None
        if any(map(_is_starred, target.elts)):
            return None
        target = target.elts[place]
    return None if isinstance(target, (ast.Tuple, ast.List, ast.Starred)) else target


def same_name(callee: str, operation: str) -> bool:
    """Whether a function is called as its operation is, or is NumPy's other name for it."""
    return callee == operation or getattr(vars(np).get(callee), "__name__", "") == operation


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)
