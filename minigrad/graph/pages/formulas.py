"""Writes the local derivative of an operation: from its rule to a formula, ``g * (1 - y^2)``, and from this to a tree.

A formula that stands below the rule (``rules/about.py``) comes first. Otherwise it is read from the source of the rule, without
NumPy's plumbing, if the rule is one expression (a lambda, or a function that only returns one). ``g`` is the cotangent of the
output, and ``y`` is the output (``out``, if an argument is called y).

The tree has references to the rule's arguments. The page replaces a reference by its name in the rule or in the program, or by
the number of this run. So one tree serves all, and stays right when a reader changes a number. ``KINDS`` lists the kinds of
branches.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine.messages import short
from ...engine.primitive import Primitive
from ...engine.registry import is_elementwise, registry
from ...rules.about import depends_elementwise, derivative, known, reading_of
from ...rules.indexing import clip
from ...rules.neural import softmax
from ...source.functions import names_of, returned_expression
from ...source.index import value_of
from ..record.model import Edge, Graph, Node
from .html import LANGUAGES, asset

Data = dict[str, Any]
Tree = list[Any]

NOTHING: Data = {"notation": None, "options": "", "tells": None, "changed": []}  # what is said of a value
# The Japanese translations of the words in formulas
JAPANESE: dict[str, str] = json.loads(asset("formulas_words.json"))["ja"]

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


# --- what the page says of the operations and of their derivatives --------------------------------------------------


def said_of(graph: Graph) -> tuple[list[Data], list[Data]]:
    """Return how the page writes each operation, and the rule of each edge: nothing for a value."""
    into, nodes = graph.edges_into, graph.nodes
    rules = [_rule(nodes[edge.target], into[edge.target], edge) for edge in graph.edges]
    operations = [NOTHING if node.operation is None else _operation(node, into[node.id]) for node in nodes]
    return operations, [_derivative(rule) for rule in rules]


def _rule(node: Node, operands: Sequence[Edge], edge: Edge) -> tuple[Formula, str, dict[str, Any]] | None:
    """Return the formula of the rule for an edge, its text and its values; None if the page writes no rule."""
    found = None if edge.contribution is None else formula(node.primitive, edge.argument)
    if found is None:
        return None
    values = formula_values(node, operands, edge)
    return found, readable(found, values), values


def _derivative(rule: tuple[Formula, str, dict[str, Any]] | None) -> Data:
    """Return what the page says of a rule: its tree, the name of the output in it, and whether it is elementwise."""
    if rule is None:
        return {"equation": None, "answer": "y", "elementwise": False}
    found, text, values = rule
    return {"equation": equation(found, text, values), "answer": found.answer, "elementwise": found.elementwise}


def _operation(node: Node, operands: Sequence[Edge]) -> Data:
    """Return how the page writes an operation, and what it has done to its operands."""
    facts, usual = known(node.primitive), getattr(node.primitive, "defaults", {})
    told = {name: option_text(value) for name, value in node.keywords.items() if value is not None}
    different = [
        f"{name}={text}" for name, text in told.items() if name not in usual or option_text(usual[name]) != text
    ]
    return {
        "notation": _notation(node, facts.notation, len(operands)),
        "options": ", ".join(different),
        "tells": "rows" if node.primitive is softmax else "zeros" if facts.dies else None,
        "changed": _changed(node, operands),
    }


def option_text(value: Any) -> str:
    """Return the value of a keyword as a short text that is never cut inside of a bracket.

    A slice is ``1:3``, an array of numbers is a list, and a long list shows its first three items and its last one.
    """
    if isinstance(value, slice):
        start, stop = ("" if end is None else option_text(end) for end in (value.start, value.stop))
        return f"{start}:{stop}" + ("" if value.step is None else f":{option_text(value.step)}")
    if value is Ellipsis:
        return "…"
    if isinstance(value, (np.ndarray, np.generic)):
        return option_text(value.tolist())
    if isinstance(value, (tuple, list)):
        items = [*value[:3], *value[-1:]] if len(value) > 4 else value
        texts = [option_text(item) for item in items]
        inside = ", ".join([*texts[:3], "…", *texts[3:]] if len(value) > 4 else texts)
        return f"({inside}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{inside}]"
    return f"{value:.4g}" if isinstance(value, float) else short(value)


def _changed(node: Node, operands: Sequence[Edge]) -> list[str]:
    """Return what else happened to the operands here: one was broadcast, its dtype changed, or values were clipped."""
    if isinstance(node.value, tuple) or node.value is None:
        return []
    found, elementwise = [], is_elementwise(node.primitive)
    arrays = [edge.value for edge in operands if edge.value is not None]
    if elementwise and len(arrays) > 1 and any(np.shape(a) != np.shape(node.value) for a in arrays):
        found.append("broadcast")
    typed = {a.dtype.kind + str(a.dtype.itemsize) for a in arrays if isinstance(a, (np.ndarray, np.generic))}
    result = np.asarray(node.value).dtype
    if elementwise and result.kind in "fc" and typed - {result.kind + str(result.itemsize)}:
        found.append("cast")
    if node.primitive is clip and operands and np.any(np.not_equal(operands[0].value, node.value)):
        found.append("clipped")
    return found


# --- the formula of a rule ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """The formula of a rule.

    Attributes:
        text: the readable formula.
        answer: the name of the output in the text.
        elementwise: whether each element depends only on the elements at the same position.
        for_shapes: a function that returns a better text for some shapes or keywords, and None for the others.
    """

    text: str
    answer: str = "y"
    elementwise: bool = False
    for_shapes: Callable[..., str | None] | None = None


def formula(primitive: Any, argument: str) -> Formula | None:
    """Return the derivative of a primitive with respect to an argument.

    ``argument`` is its name, or its position if the number of arguments varies.

    Returns:
        None if there is no such derivative, or if it is a rule of the user whose source is not available.
    """
    rule = rule_behind(primitive, argument)
    return None if rule is None else _formula(primitive, argument, rule)


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


def rule_behind(primitive: Any, argument: str) -> Any:
    """Return the function that computes the derivative, without what only marks it; None if there is none."""
    if not isinstance(primitive, Primitive):
        return primitive.backward
    rule = derivative(primitive, argument).rule
    return rule and inspect.unwrap(rule)


@lru_cache(maxsize=256)
def _formula(primitive: Any, argument: str, rule: Any) -> Formula | None:
    if not isinstance(primitive, Primitive):  # a Function class
        return Formula(f"{primitive.__name__}.backward(g)")
    answer = "out" if "y" in primitive.arguments else "y"
    elementwise, said = depends_elementwise(primitive), derivative(primitive, argument)
    if said.formula is not None:
        return Formula(said.formula, answer, elementwise, said.for_shapes)
    if primitive.composition is not None:  # labels and masks have no derivative; the words of the forward describe none
        return None if known(primitive).formulas or rule is primitive.compute else _words_of(rule)
    found = returned_expression(rule)
    if found is None:
        return _words_of(rule)
    return Formula(shown_text(found, answer, rule), answer, elementwise, said.for_shapes)


def _words_of(rule: Callable[..., Any]) -> Formula | None:
    """Return the first line of the docstring of a rule that is longer than one expression."""
    lines = (getattr(rule, "__doc__", None) or "").strip().splitlines()
    text = lines[0].replace("`", "").rstrip(".") if lines else ""
    return Formula(text) if text else None


# --- from an expression to a readable text --------------------------------------------------------------------------

_PLUMBING = {"axis", "keepdims", "dtype"}  # keywords that are not shown


def shown_text(expression: ast.expr, answer: str, rule: Any) -> str:
    """Return a readable text: ``g * np.exp(ans) ** 2`` becomes ``g * exp(y)^2``."""
    tree = ast.parse(ast.unparse(expression), mode="eval")  # a copy, because visiting changes it
    text = ast.unparse(_ForPeople({"ans": ast.Name(answer)}, names_of(rule)).visit(tree))
    return re.sub(r"\.T\b", "^T", text).replace(" ** ", "^")


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


# --- from a formula to its tree -------------------------------------------------------------------------------------


def readable(found: Formula, values: Mapping[str, Any]) -> str:
    """Return the text of a formula for the ``values`` of one edge, the result of :func:`formula_values`."""
    special = found.for_shapes
    given = special and special(**{name: values[name] for name in inspect.signature(special).parameters})
    return given or found.text


def equation(found: Formula, text: str, values: Mapping[str, Any]) -> Tree:
    """Return the tree of a formula's text. The values decide which names are arguments, and give other names' values."""
    head, words = parted(text)
    try:
        tree = _Builder(found.answer, values).tree(_parsed(head))
    except (SyntaxError, KeyError):  # any syntax in a rule of the user
        return ["words", dict.fromkeys(LANGUAGES, found.text)]
    return ["row", tree, ["words", {"en": words, "ja": JAPANESE.get(words, words)}]] if words else tree


def _notation(node: Node, text: str, count: int) -> Tree | None:
    """Return the tree of an operation of ``count`` operands; None if mathematics writes it as a call of the function."""
    if not text or not isinstance(node.primitive, Primitive):
        return None
    shapes = {f"{name}_shape": None for name in node.primitive.arguments}
    return _Builder("ans", {**node.primitive.defaults, **node.keywords, **shapes, "args": range(count)}).tree(
        _parsed(text)
    )


def parted(text: str) -> tuple[str, str]:
    """Return the formula, and the words after the first comma outside of parentheses."""
    for comma in re.finditer(", ", text):
        head = text[: comma.start()]
        if head.count("(") == head.count(")"):
            return head, text[comma.end() :]
    return text, ""


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
        if isinstance(node.op, ast.Mult) and (power := _power(row[-1], right)) is not None:
            return ["row", *row[:-1], power] if alike else power, at
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


def _power(left: Tree, right: Tree) -> Tree | None:
    """Return the power that two factors make, x · x or x² · x; None if they are different."""
    counted = left[0] == "sup" and left[2][0] == "num" and left[2][1].isdecimal()
    base, exponent = (left[1], int(left[2][1])) if counted else (left, 1)
    return ["sup", base, ["num", str(exponent + 1)]] if base == right and right[0] in ("ref", "paren", "call") else None


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
