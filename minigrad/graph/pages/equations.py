"""Turns the right-hand side of a step, such as ``g * (1 - y^2)``, into a tree with references to the rule's arguments.

The page replaces a reference by the program's name or by the number of this run. So one tree serves both, and stays right
when a reader changes a number. ``KINDS`` lists the kinds of branches.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...engine.primitive import Primitive
from ...rules.about import derivative, known
from ..record.model import Node
from .formulas import JAPANESE, Formula, parted

Tree = list[Any]

KINDS = {
    "row": "side by side",
    "frac": "a numerator and a denominator",
    "sup": "a base and an exponent",
    "sqrt": "a root",
    "bars": "an absolute value",
    "call": "the name of a function, then its arguments",
    "T": "a transpose",
    "paren": "parentheses",
    "op": "an operator: · multiplies elementwise, @ multiplies matrices, × vectors",
    "num": "a number as text",
    "ref": "g, the incoming gradient; ans, the operation's result; or an argument",
    "words": "text in English and Japanese",
}

_SIGNS: dict[type[ast.AST], str] = {
    ast.Mult: "·", ast.MatMult: "@", ast.Add: "+", ast.Sub: "−", ast.LtE: "≤", ast.Lt: "<", ast.GtE: "≥", ast.Gt: ">",
    ast.Eq: "=", ast.NotEq: "≠", ast.BitAnd: "∧", ast.BitOr: "∨", ast.LShift: "×",
}  # fmt: skip
_ANY, _SUM, _PRODUCT, _SIGN, _POWER = range(5)  # precedences: a larger one binds tighter
_MINUS: Tree = ["op", "−"]
_CONSTANTS = {"pi": "π", "e": "e", "i": "i"}


def equation(found: Formula, primitive: Any, argument: str, values: Mapping[str, Any]) -> Tree:
    """Return the tree of one edge.

    Args:
        found: the formula of the rule.
        primitive, argument: the operation, and its argument that the derivative is with respect to.
        values: the result of :func:`formula_values`. It decides which names are arguments, and gives other names' values.
    """
    special = derivative(primitive, argument).for_shapes
    given = special and special(**{name: values[name] for name in inspect.signature(special).parameters})
    head, words = parted(given or found.text)
    try:
        tree = _Builder(found.answer, values).tree(_parsed(head))
    except (SyntaxError, KeyError):  # any syntax in a rule of the user
        return ["words", {"en": found.text, "ja": found.text_ja}]
    return ["row", tree, ["words", {"en": words, "ja": JAPANESE.get(words, words)}]] if words else tree


def notation(node: Node, count: int) -> Tree | None:
    """Return the tree of an operation of ``count`` operands; None if mathematics writes it as a call of the function."""
    text = known(node.primitive).notation
    if not text or not isinstance(node.primitive, Primitive):
        return None
    shapes = {f"{name}_shape": None for name in node.primitive.arguments}
    return _Builder("ans", {**node.primitive.defaults, **node.keywords, **shapes, "args": range(count)}).tree(
        _parsed(text)
    )


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    """Return the syntax tree of a formula, whose text is nearly Python."""
    text = re.sub(r"\bpi (?=[a-z])", "pi * ", text)
    text = (
        re.sub(r"\^-T\b", ".invT", text)
        .replace("^T", ".T")
        .replace("^-1", ".inv")
        .replace("^", "**")
        .replace("×", "<<")
    )
    return ast.parse(text, mode="eval").body


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
            case ast.Constant(value=str() as text):
                return _quoted(text), _POWER + 1
            case ast.Constant():
                return ["num", f"{node.value:g}" if isinstance(node.value, float) else str(node.value)], _POWER + 1
            case ast.Name():
                return self._name(node.id), _POWER + 1
            case ast.UnaryOp(op=ast.USub()):
                return ["row", _MINUS, self.tree(node.operand, _PRODUCT)], _SUM
            case ast.Subscript(value=ast.Name(id="args"), slice=ast.Constant() as number) if "args" in self.values:
                return ["ref", str(number.value)], _POWER + 1
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
            case ast.Call(func=ast.Name(id="abs"), args=[inside]):
                return ["bars", self.tree(inside, _ANY)], _POWER + 1
            case ast.Call(args=[*args, ast.Starred(value=ast.Name(id="args"))]):
                refs = [["ref", str(i)] for i in range(len(self.values["args"]))]
                return ["call", ast.unparse(node.func), *map(self.tree, args), *refs], _POWER + 1
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
        value = self.values.get(name)
        if name == "g" or f"{name}_shape" in self.values:
            return ["ref", name]
        if isinstance(value, str):
            return _quoted(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return ["num", f"{value:.4g}"]
        if name in _CONSTANTS:
            return ["num", _CONSTANTS[name]]
        return ["words", {"en": name, "ja": name}]


def _quoted(text: str) -> Tree:
    return ["words", {"en": repr(text), "ja": repr(text)}]


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
