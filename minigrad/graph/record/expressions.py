"""Finds the expression in the user's program that called an operation, its operands, and the target of its assignment.

Python stores the position of the text that an instruction was compiled from (PEP 657), and ``ast`` finds the expression there.
"""

from __future__ import annotations

import ast
import copy
import operator
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._source import LONGEST_LINE, SourceLine

MOST_UNPARSED = 200  # characters of an expression; a longer one is cut before it is parsed
MOST_LINES = 8  # lines of an expression; a longer one is cut too
MODULES = {"np", "numpy", "mg", "minigrad", "nn", "F", "functional", "math", "scipy", "special", "linalg"}
Span = tuple[int, int, int, int]  # the first line and character, the last line and the character after it
ASSIGNED = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


class Program:
    """The expressions of one file, by their position."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [line.rstrip("\r\n") for line in lines]
        self.parents: dict[ast.AST, ast.AST] = {}
        self._ending: dict[int, list[ast.AST]] = defaultdict(list)  # nodes that may be an instruction, by last line
        self._at: dict[Span, ast.AST | None] = {}  # the nodes that were found before
        self._stored: dict[ast.AST, set[str]] = {}
        self._modules = set(MODULES)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python has shown these warnings already
                tree = ast.parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return  # the text is not Python, for example because of a notebook's commands
        nodes: list[ast.AST] = [tree]
        for node in nodes:  # the loop appends to nodes
            children = list(ast.iter_child_nodes(node))
            nodes += children
            self.parents.update(dict.fromkeys(children, node))
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._modules |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            elif isinstance(node, (ast.expr, ast.AugAssign, ast.For)):
                self._ending[node.end_lineno or 0].append(node)

    def place(self, node: ast.AST) -> Span:
        """Return the first line and character, and the last line and character, as in a SourceLine."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return first, self._character(first, start), last, self._character(last, end)

    def _character(self, line: int, byte: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return byte if text.isascii() else len(text.encode(errors="replace")[:byte].decode(errors="ignore"))

    def at(self, source: SourceLine) -> ast.AST | None:
        """Return the expression (or augmented assignment) of an instruction; None if it cannot be found."""
        line, column, last, end = source.line, source.column, source.end_line, source.end_column
        if column is None or last is None or end is None or not 0 < line <= len(self.lines):
            return None
        if self.lines[line - 1].strip()[:LONGEST_LINE] != source.text:
            return None  # the file has changed since
        span = line, column, last, end
        if span not in self._at:
            self._at[span] = self._find(span)
        return self._at[span]

    def _find(self, span: Span) -> ast.AST | None:
        """Return the node of a span, or the call of a method that ends there.

        For a method's call over several lines, Python stores where the method's name begins.
        """
        method = None
        for node in self._ending[span[2]]:
            place = self.place(node)
            if place == span:
                return node
            if place[2:] == span[2:] and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                method = node
        return method

    # The use of an expression

    def target(self, node: ast.AST, *, lists: bool = False) -> ast.expr | None:
        """Return the target of an expression's assignment; None if there is none.

        An element of a list comprehension has no target of its own. With ``lists``, it has the target of its list.
        """
        if isinstance(node, ast.AugAssign):
            return node.target
        child, parent = node, self.parents.get(node)
        places: list[int] = []
        while parent is not None:
            branch = isinstance(parent, ast.IfExp) and child is not parent.test
            if branch or (lists and isinstance(parent, ast.ListComp) and child is parent.elt):
                pass
            elif isinstance(parent, (ast.Tuple, ast.List)):
                places.append(parent.elts.index(child))  # type: ignore[arg-type]
            elif isinstance(parent, ast.NamedExpr) and not places:
                return parent.target
            else:
                break
            child, parent = parent, self.parents.get(parent)
        if not isinstance(parent, ASSIGNED) or child is not parent.value:
            return None
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        found = [_inside(target, places[::-1]) for target in targets]
        return next((target for target in found if target is not None), None)

    def targets(self, node: ast.AST) -> list[ast.expr]:
        """Return the targets of an expression with several results: ``a, b = expression``."""
        parent = self.parents.get(node)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if not isinstance(target, (ast.Tuple, ast.List)) or not all(isinstance(each, ast.Name) for each in target.elts):
            return []
        return target.elts

    def returned(self, node: ast.AST) -> bool:
        """Return whether the expression is the returned value of a function."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.Return) or (isinstance(parent, ast.Lambda) and parent.body is node)

    def handed(self, operand: ast.expr, call: ast.Call) -> ast.expr | None:
        """Return the argument of ``call`` for an operand that is a parameter of its function; None for other operands."""
        function: ast.AST | None = operand
        while function is not None and not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            function = self.parents.get(function)
        if function is None or not isinstance(operand, ast.Name):
            return None
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        by_keyword = [argument.arg for argument in function.args.kwonlyargs]
        if operand.id not in {*names, *by_keyword} - self._assigned(function):
            return None
        for keyword in call.keywords:
            if keyword.arg == operand.id:
                return keyword.value
        place = names.index(operand.id) if operand.id in names else -1
        place -= names[:1] == ["self"]
        return call.args[place] if 0 <= place < len(call.args) and not any(map(_is_starred, call.args)) else None

    def _assigned(self, function: ast.FunctionDef | ast.Lambda) -> set[str]:
        """Return the names that a function assigns."""
        if function not in self._stored:
            names = (n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            self._stored[function] = {name.id for name in names}
        return self._stored[function]

    def taker(self, node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
        """Return the target that takes elements one by one, and their container: ``x`` and ``xs`` in ``for x in xs``."""
        parent = self.parents.get(node)
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):  # a, b = xs
            return node, parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None
        if isinstance(node, ast.For):  # the position is the loop's in Python 3.11, the iterable's in later versions
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

    # The operands of an expression

    def callee(self, node: ast.AST) -> str:
        """Return the last name of the called function."""
        func = node.func if isinstance(node, ast.Call) else None
        return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""

    def operand(self, node: ast.AST, operation: str, argument: str, position: int) -> ast.expr | None:
        """Return the expression of one argument. The operation must be this whole expression."""
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
            if argument.isdigit():  # one of a variable number of operands, in a list or after a text (einsum)
                return self.element(several, position)
        return several[position] if position < len(several) else None

    def only_operand(self, node: ast.AST, module: bool) -> ast.expr | None:
        """Return the only operand of a call that is not a literal; else None. ``module``: whether a module may be called."""
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        given = node.args if module and not any(map(_is_starred, node.args)) else self._arguments(node)
        found = [each for each in given if not isinstance(each, ast.Constant)]
        return found[0] if len(found) == 1 else None

    def _arguments(self, call: ast.Call) -> list[ast.expr]:
        """Return the arguments by position. For a method, its object comes first."""
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
        """Return one of the operands that the program passes as a list."""
        if given and isinstance(given[0], (ast.List, ast.Tuple)):
            before = given[0].elts[: position + 1]
            return before[position] if position < len(before) and not any(map(_is_starred, before)) else None
        if len(given) == 1 and isinstance(given[0], (ast.Name, ast.Attribute)):
            return ast.Subscript(given[0], ast.Constant(position), ast.Load())
        if given and isinstance(given[0], ast.Constant):
            given = given[1:]
        return given[position] if len(given) > 1 and position < len(given) else None

    def text(self, node: ast.AST, values: Mapping[str, Any] | None = None) -> str:
        """Return an expression as Python writes it, on one line. A very long one keeps only its beginning and end.

        ``values`` replace the names of loop variables inside brackets: ``hs[t - 1]`` becomes ``hs[4]``.
        """
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
            if values and any(isinstance(part, ast.Subscript) for part in ast.walk(node)):
                node = _Indices(values).visit(copy.deepcopy(node))
            return " ".join(ast.unparse(node).split())
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


def _inside(target: ast.expr, places: Sequence[int]) -> ast.expr | None:
    """Return the part of a target that takes the element at these positions of the assigned value."""
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
    """Return whether a function has the name of its operation, or another name that NumPy gives it."""
    return callee == operation or getattr(vars(np).get(callee), "__name__", "") == operation


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)
