"""The right-hand side of a step as a tree: ``g * (1 - y^2)`` with references in the place of the rule's formal names.

The page writes the program's names, or this run's numbers, where the tree has a reference, so one tree serves both, and stays
right when a reader changes a number. The kinds of branches are listed in ``KINDS``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .formulas import Formula, _parted

Tree = list[Any]

KINDS = {
    "row": "side by side",
    "frac": "a numerator and a denominator",
    "sup": "a base and an exponent",
    "sqrt": "a root",
    "call": "a function's name, then what it is given",
    "T": "a transpose",
    "paren": "parentheses",
    "op": "a sign: · of each element with its like, @ of matrices",
    "num": "a number as text",
    "ref": "g, the gradient that arrives; ans, the operation's result; or an argument",
    "words": "text in English and Japanese",
}

_SIGNS: dict[type[ast.AST], str] = {
    ast.Mult: "·",
    ast.MatMult: "@",
    ast.Add: "+",
    ast.Sub: "−",
    ast.LtE: "≤",
    ast.Lt: "<",
    ast.GtE: "≥",
    ast.Gt: ">",
    ast.Eq: "=",
    ast.NotEq: "≠",
}
_ANY, _SUM, _PRODUCT, _SIGN, _POWER = range(5)  # what binds tighter is greater
_MINUS: Tree = ["op", "−"]


def equation(found: Formula, operation: str, argument: str, values: Mapping[str, Any]) -> Tree:
    """The tree of one edge.

    Args:
        found: the rule.
        operation, argument: whose it is.
        values: what :func:`formula_values` gives: it says which names are arguments, and the numbers of the others.
    """
    if operation == "einsum" and (exact := _einsum(int(argument), values)) is not None:
        return exact
    special = _SPECIAL.get(f"{operation}.{argument}")
    given = special(values) if special is not None else None
    head, words = _parted(found.text if given is None else given[0])
    words_ja = found.text_ja[len(head) + 1 :].strip() if given is None else given[1]
    try:
        tree = _Builder(found.answer, values).tree(_parsed(head))
    except (SyntaxError, KeyError):  # a cross product, or what a rule of the user's is written with
        return ["words", {"en": found.text, "ja": found.text_ja}]
    return ["row", tree, ["words", {"en": words, "ja": words_ja or words}]] if words else tree


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    """A formula, whose text is nearly Python."""
    text = re.sub(r"\bpi (?=[a-z])", "pi * ", text)
    text = re.sub(r"\^-T\b", ".invT", text).replace("^T", ".T").replace("^-1", ".inv").replace("^", "**")
    return ast.parse(text, mode="eval").body


# --- rules whose formula depends on the operands' shapes: the text, and its words in Japanese ---

Special = tuple[str, str] | None


def _einsum(argument: int, values: Mapping[str, Any]) -> Tree | None:
    """The einsum that is the derivative, with its own subscripts; None where labels are missing, repeated or an ellipsis."""
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


_FOR_EACH = ", for each matrix of the stack", "積み重ねた行列ごとに"
_OVER_STACK = ", summed over the stack", "積み重ねた行列についての和"


def _matmul_x(values: Mapping[str, Any]) -> Special:
    x, y = np.ndim(values["x"]), np.ndim(values["y"])
    if y == 1:
        return ("g * y" if x == 1 else "outer(g, y)"), ""
    return (f"g @ y^T{_FOR_EACH[0]}", _FOR_EACH[1]) if x == 1 and y > 2 else None


def _matmul_y(values: Mapping[str, Any]) -> Special:
    x, y = np.ndim(values["x"]), np.ndim(values["y"])
    if x == 1:
        return (f"outer(x, g){_FOR_EACH[0]}", _FOR_EACH[1]) if y > 2 else ("g * x" if y == 1 else "outer(x, g)", "")
    if y == 1:
        return ("diag(g) @ x", "") if x == 2 else ("g * x, each row by its element", "各行にその要素を掛ける")
    return (f"x^T @ g{_OVER_STACK[0]}", _OVER_STACK[1]) if x > 2 == y else None


def _affine_weight(values: Mapping[str, Any]) -> Special:
    x = np.ndim(values["x"])
    return ("outer(x, g)", "") if x == 1 else (f"x^T @ g{_OVER_STACK[0]}", _OVER_STACK[1]) if x > 2 else None


def _swapped(values: Mapping[str, Any]) -> Special:
    shape = np.shape(values["a"])
    return ("g^T", "") if len(shape) == 2 and np.shape(values["ans"]) == shape[::-1] != shape else None


def _dot(argument: str) -> Callable[[Mapping[str, Any]], Special]:
    other = "b" if argument == "a" else "a"

    def text(values: Mapping[str, Any]) -> Special:
        match np.ndim(values["a"]), np.ndim(values["b"]):
            case (0, _) | (_, 0) if np.ndim(values[argument]) < np.ndim(values[other]):
                return f"sum(g * {other})", ""
            case (0, _) | (_, 0) | (1, 1):
                return f"g * {other}", ""
            case (2, 1) if argument == "a":
                return "outer(g, b)", ""
            case (1, 2) if argument == "b":
                return "outer(a, g)", ""
            case ((1 | 2), (1 | 2)):
                return None
        return f"g * {other}, summed over the axes that only {other} brought", f"{other} だけの軸についての和"

    return text


def _vectors(text: str) -> Callable[[Mapping[str, Any]], Special]:
    return lambda values: (text, "") if np.ndim(values["a"]) == 1 == np.ndim(values["b"]) else None


def _clip(values: Mapping[str, Any]) -> Special:
    low, high = ("" if values.get(name) is None else name for name in ("a_min", "a_max"))
    return f"where({low}{' <= ' if low else ''}a{' <= ' if high else ''}{high}, g, 0)", ""


_SPECIAL: dict[str, Callable[[Mapping[str, Any]], Special]] = {
    "matmul.x": _matmul_x,
    "matmul.y": _matmul_y,
    "affine.weight": _affine_weight,
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
        """The tree of an expression, in parentheses if it stands where something binds tighter than itself."""
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
    """Of a product that begins with a minus what stands behind it; None of another."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.MatMult, ast.Div)):
        left = _without_minus(node.left)
        return None if left is None else ast.BinOp(left, node.op, node.right)
    return None
