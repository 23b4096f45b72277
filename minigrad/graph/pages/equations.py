"""Turns the right-hand side of a step, such as ``g * (1 - y^2)``, into a tree with references to the rule's arguments.

The page replaces a reference by the program's name or by the number of this run. So one tree serves both, and stays right
when a reader changes a number. ``KINDS`` lists the kinds of branches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ._written_formulas import JAPANESE
from .formulas import Formula, parted

Tree = list[Any]

KINDS = {
    "row": "side by side",
    "frac": "a numerator and a denominator",
    "sup": "a base and an exponent",
    "sqrt": "a root",
    "call": "the name of a function, then its arguments",
    "T": "a transpose",
    "paren": "parentheses",
    "op": "an operator: · multiplies elementwise, @ multiplies matrices",
    "num": "a number as text",
    "ref": "g, the incoming gradient; ans, the operation's result; or an argument",
    "words": "text in English and Japanese",
}

_SIGNS: dict[type[ast.AST], str] = {
    ast.Mult: "·", ast.MatMult: "@", ast.Add: "+", ast.Sub: "−", ast.LtE: "≤", ast.Lt: "<", ast.GtE: "≥", ast.Gt: ">",
    ast.Eq: "=", ast.NotEq: "≠",
}  # fmt: skip
_ANY, _SUM, _PRODUCT, _SIGN, _POWER = range(5)  # precedences: a larger one binds tighter
_MINUS: Tree = ["op", "−"]


def equation(found: Formula, operation: str, argument: str, values: Mapping[str, Any]) -> Tree:
    """Return the tree of one edge.

    Args:
        found: the formula of the rule.
        operation, argument: the operation and argument of the rule.
        values: the result of :func:`formula_values`. It decides which names are arguments, and gives other names' values.
    """
    if operation == "einsum" and (exact := _einsum(int(argument), values)) is not None:
        return exact
    special = _SPECIAL.get(f"{operation}.{argument}")
    given = special(values) if special is not None else None
    head, words = parted(given or found.text)
    try:
        tree = _Builder(found.answer, values).tree(_parsed(head))
    except (SyntaxError, KeyError):  # a cross product, or any syntax in a rule of the user
        return ["words", {"en": found.text, "ja": found.text_ja}]
    return ["row", tree, ["words", {"en": words, "ja": JAPANESE.get(words, words)}]] if words else tree


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    """Return the syntax tree of a formula, whose text is nearly Python."""
    text = re.sub(r"\bpi (?=[a-z])", "pi * ", text)
    text = re.sub(r"\^-T\b", ".invT", text).replace("^T", ".T").replace("^-1", ".inv").replace("^", "**")
    return ast.parse(text, mode="eval").body


# --- rules whose formula depends on the operands' shapes; a function returns its text, or None for the usual text ---


def _einsum(argument: int, values: Mapping[str, Any]) -> Tree | None:
    """Return the derivative of an einsum as an einsum; None if labels are missing or repeated, or an ellipsis is used."""
    inputs, arrow, output = str(values["subscripts"]).replace(" ", "").partition("->")
    if "." in inputs:
        return None
    terms = inputs.split(",")
    if not arrow:
        output = "".join(sorted(label for label in set(inputs) - {","} if inputs.count(label) == 1))
    own = terms.pop(argument)
    if len(set(own)) < len(own) or not set(own) <= set(output).union(*terms):
        return None
    others = [["ref", str(i)] for i in range(len(terms) + 1) if i != argument]
    subscripts = f"'{','.join([output, *terms])}->{own}'"
    return ["call", "einsum", ["words", {"en": subscripts, "ja": subscripts}], ["ref", "g"], *others]


def _matmul_x(x: int, y: int) -> str | None:
    if y == 1:
        return "g * y" if x == 1 else "outer(g, y)"
    return "g @ y^T, for each matrix of the stack" if x == 1 and y > 2 else None


def _matmul_y(x: int, y: int) -> str | None:
    match x, y:
        case 1, 1:
            return "g * x"
        case 1, 2:
            return "outer(x, g)"
        case 1, _:
            return "outer(x, g), for each matrix of the stack"
    return "x^T @ g, summed over the stack" if x > 2 >= y else None


def _swapped(values: Mapping[str, Any]) -> str | None:
    shape = np.shape(values["a"])
    return "g^T" if len(shape) == 2 and np.shape(values["ans"]) == shape[::-1] != shape else None


def _dot(argument: str) -> Callable[[Mapping[str, Any]], str | None]:
    other = "b" if argument == "a" else "a"

    def text(values: Mapping[str, Any]) -> str | None:
        match np.ndim(values["a"]), np.ndim(values["b"]):
            case (0, _) | (_, 0) if np.ndim(values[argument]) < np.ndim(values[other]):
                return f"sum(g * {other})"
            case (0, _) | (_, 0) | (1, 1):
                return f"g * {other}"
            case (2, 1) if argument == "a":
                return "outer(g, b)"
            case (1, 2) if argument == "b":
                return "outer(a, g)"
            case ((1 | 2), (1 | 2)):
                return None
        return f"g * {other}, summed over the axes that only {other} has"

    return text


def _vectors(text: str) -> Callable[[Mapping[str, Any]], str | None]:
    return lambda values: text if np.ndim(values["a"]) == 1 == np.ndim(values["b"]) else None


def _clip(values: Mapping[str, Any]) -> str:
    low, high = ("" if values.get(name) is None else name for name in ("a_min", "a_max"))
    return f"where({low}{' <= ' if low else ''}a{' <= ' if high else ''}{high}, g, 0)"


_SPECIAL: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    "matmul.x": lambda values: _matmul_x(np.ndim(values["x"]), np.ndim(values["y"])),
    "matmul.y": lambda values: _matmul_y(np.ndim(values["x"]), np.ndim(values["y"])),
    "affine.weight": lambda values: _matmul_y(np.ndim(values["x"]), 2),
    "swapaxes.a": _swapped,
    "transpose.a": _swapped,
    "clip.a": _clip,
    "dot.a": _dot("a"),
    "dot.b": _dot("b"),
    "inner.a": _vectors("g * b"),
    "inner.b": _vectors("g * a"),
}


# --- from Python's tree to the page's ---


class _Builder:
    def __init__(self, answer: str, values: Mapping[str, Any]) -> None:
        self.answer = answer
        self.values = values

    def tree(self, node: ast.expr, at: int = _SUM) -> Tree:
        """Return the tree of an expression, in parentheses if its context ``at`` binds tighter."""
        tree, binds = self._tree(node)
        return tree if binds >= at else ["paren", tree]

    def _tree(self, node: ast.expr) -> tuple[Tree, int]:
        match node:
            case ast.Constant():
                return ["num", f"{node.value:g}" if isinstance(node.value, float) else str(node.value)], _POWER + 1
            case ast.Name():
                return self._name(node.id), _POWER + 1
            case ast.UnaryOp(op=ast.USub()):
                return ["row", _MINUS, self.tree(node.operand, _PRODUCT)], _SUM
            case ast.Attribute():
                inside = self.tree(node.value, _POWER + 1)
                exponent = {"inv": "−1", "invT": "−T"}.get(node.attr)
                return (["T", inside] if exponent is None else ["sup", inside, ["num", exponent]]), _POWER
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare():
                parts = [self.tree(node.left)]
                for op, right in zip(node.ops, node.comparators):
                    parts += [["op", _SIGNS[type(op)]], self.tree(right)]
                return ["row", *parts], _ANY
            case ast.Call(func=ast.Name(id="sqrt"), args=[inside]):
                return ["sqrt", self.tree(inside)], _POWER + 1
            case ast.Call():
                return ["call", ast.unparse(node.func), *(self.tree(arg, _ANY) for arg in node.args)], _POWER + 1
        raise KeyError(type(node).__name__)

    def _binary(self, node: ast.BinOp) -> tuple[Tree, int]:
        if isinstance(node.op, (ast.Mult, ast.MatMult, ast.Div)) and (positive := _without_minus(node)) is not None:
            return ["row", _MINUS, self.tree(positive, _PRODUCT)], _SUM
        if isinstance(node.op, ast.Div):
            return ["frac", self.tree(node.left), self.tree(node.right)], _SIGN
        if isinstance(node.op, ast.Pow):
            return ["sup", self.tree(node.left, _POWER + 1), self.tree(node.right)], _POWER
        at = _level(node.op)
        tight = at + (not isinstance(node.op, ast.Add))  # a - (b + c), a * (b @ c)
        left, right = self.tree(node.left, at), self.tree(node.right, tight)
        alike = left[0] == "row" and isinstance(node.left, ast.BinOp) and _level(node.left.op) == at
        row = left[1:] if alike else [left]
        return ["row", *row, ["op", _SIGNS[type(node.op)]], right], at

    def _name(self, name: str) -> Tree:
        if name == self.answer:
            return ["ref", "ans"]
        if name == "pi":
            return ["num", "π"]
        value = self.values.get(name)
        if name == "g" or f"{name}_shape" in self.values:
            return ["ref", name]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return ["num", f"{value:.4g}"]
        return ["words", {"en": name, "ja": name}]


def _level(op: ast.operator) -> int:
    return _PRODUCT if isinstance(op, (ast.Mult, ast.MatMult)) else _SUM


def _without_minus(node: ast.expr) -> ast.expr | None:
    """Return a product that begins with a minus, without the minus; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.MatMult, ast.Div)):
        left = _without_minus(node.left)
        return None if left is None else ast.BinOp(left, node.op, node.right)
    return None
