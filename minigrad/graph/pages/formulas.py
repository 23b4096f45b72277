"""Writes the local derivative of an operation as a formula: ``d tanh: g * (1 - y^2)``.

A formula that stands below the rule (``rules/about.py``) comes first. Otherwise it is read from the source of the rule, without
NumPy's plumbing, if the rule is one expression (a lambda, or a function that only returns one). ``g`` is the cotangent of the
output, and ``y`` is the output (``out``, if an argument is called y).
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...engine.primitive import Primitive
from ...engine.registry import registry
from ...rules.about import depends_elementwise, derivative, known, reading_of, rule_of
from ...source.functions import returned_expression
from ...source.index import value_of
from ..record.model import Edge, Node
from .html import asset

# The Japanese translations of the words in formulas
JAPANESE: dict[str, str] = json.loads(asset("formulas_words.json"))["ja"]

_found: WeakKeyDictionary[Any, dict[tuple[str, Any], Formula | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Formula:
    """The formula of a rule.

    Attributes:
        text: the readable formula.
        answer: the name of the output in the text.
        elementwise: whether each element depends only on the elements at the same position.
    """

    text: str
    answer: str = "y"
    elementwise: bool = False

    @property
    def text_ja(self) -> str:
        """The text with its words in Japanese."""
        head, words = parted(self.text)
        return f"{head}、{JAPANESE[words]}" if words in JAPANESE else self.text


def formula(primitive: Any, argument: str | int) -> Formula | None:
    """Return the derivative of a primitive with respect to an argument.

    ``argument`` is its name, or its position if the number of arguments varies.

    Returns:
        None if there is no such derivative, or if it is a rule of the user whose source is not available.
    """
    name, rule = str(argument), rule_behind(primitive, str(argument))
    found = _found.setdefault(primitive, {})
    if (name, rule) not in found:
        found[name, rule] = None if rule is None else _formula(primitive, name, rule)
    return found[name, rule]


def formula_values(node: Node, operands: Sequence[Edge], edge: Edge) -> dict[str, Any]:
    """Return the values for the formula of one edge into a traced operation, by name.

    ``operands`` are all edges into the operation. ``n`` is the number of the operand's elements per element of the output.
    """
    primitive = node.primitive
    values: dict[str, Any] = {
        **getattr(primitive, "defaults", {}),
        **node.keywords,
        "g": node.cotangent,
        "ans": node.value,
    }
    names = getattr(primitive, "arguments", ())
    for name in names:
        values[name] = None
    if not names and isinstance(primitive, Primitive):
        values |= {"i": int(edge.argument), "args": [operand.value for operand in operands]}
    for operand in operands:
        values[operand.argument] = operand.value
        values[f"{operand.argument}_shape"] = np.shape(operand.value)
    if "n" not in names and values.get("where", True) is True and np.size(node.cotangent):
        values.setdefault("n", np.size(edge.value) // np.size(node.cotangent))
    return values


# --- from a rule to its formula -------------------------------------------------------------------------------------


def rule_behind(primitive: Any, argument: str) -> Any:
    """Return the function that computes the derivative, without what only marks it; None if there is none."""
    if not isinstance(primitive, Primitive):
        return primitive.backward
    rule = rule_of(primitive, argument)
    return rule and inspect.unwrap(rule)


def _formula(primitive: Any, argument: str, rule: Any) -> Formula | None:
    if not isinstance(primitive, Primitive):  # a Function class
        return Formula(f"{primitive.__name__}.backward(g)")
    answer = "out" if "y" in primitive.arguments else "y"
    elementwise, said = depends_elementwise(primitive), derivative(primitive, argument).formula
    if said is not None:
        return Formula(said, answer, elementwise)
    if primitive.composition is not None:  # labels and masks have no derivative; the words of the forward describe none
        return None if known(primitive).formulas or rule is primitive.compute else _words_of(rule)
    found = returned_expression(rule)
    return _words_of(rule) if found is None else Formula(shown_text(found, answer, rule), answer, elementwise)


def _words_of(rule: Callable[..., Any]) -> Formula | None:
    """Return the first line of the docstring of a rule that is longer than one expression."""
    lines = (getattr(rule, "__doc__", None) or "").strip().splitlines()
    text = lines[0].replace("`", "").rstrip(".") if lines else ""
    return Formula(text) if text else None


# --- from an expression to a readable text --------------------------------------------------------------------------

_PLUMBING = {"axis", "keepdims", "dtype"}  # keywords that are not shown


def shown_text(expression: ast.expr, answer: str, rule: Any) -> str:
    """Return a readable text: ``g * (1 - ans * ans)`` becomes ``g * (1 - y^2)``."""
    tree = ast.parse(ast.unparse(expression), mode="eval")  # a copy, because visiting changes it
    text = ast.unparse(_ForPeople({"ans": ast.Name(answer)}, names_of(rule)).visit(tree))
    return re.sub(r"\.T\b", "^T", text).replace(" ** ", "^")


def names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the names in the text of a function mean: those of its module, and those of the functions around it."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


class _ForPeople(ast.NodeTransformer):
    """Removes the parts that belong to NumPy and not to mathematics.

    Args:
        shown: the expressions that replace names.
        names: what the other names mean.
    """

    def __init__(self, shown: Mapping[str, ast.expr], names: Mapping[str, Any]) -> None:
        self.shown, self.names = shown, names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.shown.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and self.names.get(node.value.id) in (np, math):
            return ast.Name(known(registry.get(value_of(node, self.names))).called or node.attr)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function, args = value_of(node.func, self.names), [self.visit(arg) for arg in node.args]
        if function is np.zeros_like:
            return ast.Constant(0)
        if (reading := reading_of(function)) is not None:
            told = dict(zip(inspect.signature(function).parameters, args))
            return _ForPeople(told, {}).visit(ast.parse(reading, mode="eval").body)
        keywords = [self.visit(keyword) for keyword in node.keywords if keyword.arg not in _PLUMBING]
        return ast.Call(self.visit(node.func), args, keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Turn ``x * x`` into ``x ** 2``, also at the end of a longer product."""
        if not isinstance(node.op, ast.Mult):
            return self.generic_visit(node)  # type: ignore[return-value]
        first, *rest = _factors(node)
        if isinstance(first, ast.UnaryOp) and rest and ast.dump(first.operand) == ast.dump(rest[0]):  # -x * x
            return ast.UnaryOp(first.op, self.visit(reduce(_times, [first.operand, *rest])))
        factors: list[tuple[ast.expr, int]] = []
        for factor in map(self.visit, _factors(node)):
            if factors and ast.dump(factors[-1][0]) == ast.dump(factor):
                factors[-1] = (factor, factors[-1][1] + 1)
            else:
                factors.append((factor, 1))
        powers = [f if n == 1 else ast.BinOp(f, ast.Pow(), ast.Constant(n)) for f, n in factors]
        return reduce(_times, powers)


def _times(a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.BinOp(a, ast.Mult(), b)


def _factors(node: ast.expr) -> list[ast.expr]:
    """Return the factors of a product: three for ``a * b * c``."""
    factors: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        factors.insert(0, node.right)
        node = node.left
    return [node, *factors]


# --- a text and its words -------------------------------------------------------------------------------------------


def parted(text: str) -> tuple[str, str]:
    """Return the formula, and the words after the first comma outside of parentheses."""
    for comma in re.finditer(r", |、", text):
        head = text[: comma.start()]
        if head.count("(") == head.count(")"):
            return head, text[comma.end() :]
    return text, ""
