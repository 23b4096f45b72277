"""Writes the local derivative of an operation as a formula: ``d tanh: g * (1 - y^2)``.

If a rule is one expression (a lambda, or a function that only returns one), the formula is read from its source, without
NumPy's plumbing. Other formulas are in the table ``_written_formulas.py``. ``g`` is the cotangent of the output, and ``y`` is
the output (``out``, if an argument is called y).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...engine.primitive import Primitive
from ...engine.registry import is_elementwise
from ..record.model import Edge, Node
from ._written_formulas import JAPANESE, TEXTS

_ELEMENTWISE = {"relu", "sigmoid", "silu", "gelu", "erf", "sinc", "nan_to_num", "clip", "where"}  # besides the ufuncs

_known: WeakKeyDictionary[Any, dict[tuple[str, Any], Formula | None]] = WeakKeyDictionary()


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
    name, rule = str(argument), rule_of(primitive, str(argument))
    known = _known.setdefault(primitive, {})
    if (name, rule) not in known:
        known[name, rule] = None if rule is None else _formula(primitive, name, rule)
    return known[name, rule]


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


def rule_of(primitive: Any, argument: str) -> Any:
    """Return the function that computes the derivative; None if there is none."""
    if not isinstance(primitive, Primitive):
        return primitive.backward
    rule = primitive.rules.get(argument) or primitive.rule_for_each or primitive.composition
    return rule and inspect.unwrap(rule)


def _formula(primitive: Any, argument: str, rule: Any) -> Formula | None:
    if not isinstance(primitive, Primitive):  # a Function class
        return Formula(f"{primitive.__name__}.backward(g)")
    answer = "out" if "y" in primitive.arguments else "y"
    elementwise = primitive.name in _ELEMENTWISE or is_elementwise(primitive)
    key = rule_key(primitive, argument)
    if is_ours(rule) and key in TEXTS:
        return Formula(TEXTS[key], answer, elementwise)
    if primitive.composition is not None:
        return None if is_ours(rule) else _words_of(rule)  # labels and masks have none
    found = returned_expression(rule)
    return _words_of(rule) if found is None else Formula(shown_text(found, answer), answer, elementwise)


def rule_key(primitive: Primitive, argument: str) -> str:
    """Return the key of a rule in the tables of formulas."""
    return f"{primitive.name}.{argument}" if primitive.arguments else primitive.name


def is_ours(rule: Any) -> bool:
    """Return whether a rule is minigrad's, and not a user's with the same name."""
    return str(getattr(rule, "__module__", "")).startswith("minigrad.")


def _words_of(rule: Callable[..., Any]) -> Formula | None:
    """Return the first line of the docstring of a rule that is longer than one expression."""
    lines = (getattr(rule, "__doc__", None) or "").strip().splitlines()
    text = lines[0].replace("`", "").rstrip(".") if lines else ""
    return Formula(text) if text else None


def returned_expression(function: Callable[..., Any]) -> ast.expr | None:
    """Return the expression of a lambda, or of a function with only a ``return``; None if its source cannot be found."""
    body = body_of(function)
    if body is None:
        return None
    rest = [step for step in body if not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))]
    return rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Return) else None


def body_of(function: Callable[..., Any]) -> list[ast.stmt] | None:
    """Return the statements of a function, or the return of a lambda; None if its source cannot be found.

    Its text must use the same names and constants as the compiled code, because the file may have changed since.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    for node in _functions(code.co_filename):
        if _is_at(node, code) and _vocabulary(_compiled(node)) == _vocabulary(code):
            return [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    return None


def _is_at(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Return whether a function is at the position of the code. The columns distinguish several lambdas in a line."""
    if isinstance(node, ast.FunctionDef):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return (node.name, first) == (code.co_name, code.co_firstlineno)
    # An instruction without a last column belongs to no text.
    spans = [(line, column, end, last) for line, end, column, last in code.co_positions() if last]
    begin, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return bool(spans) and min(s[:2] for s in spans) == begin and max(s[2:] for s in spans) == end


def _compiled(node: ast.Lambda | ast.FunctionDef) -> CodeType:
    whole = ast.Expression(node) if isinstance(node, ast.Lambda) else ast.Module([node], [])
    code = compile(whole, "<rule>", "eval" if isinstance(node, ast.Lambda) else "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _vocabulary(code: CodeType) -> set[str]:
    """Return the names that the code reads (local, global or attribute) and its constants."""
    constants = {repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)}
    return constants | {*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars}


@lru_cache(maxsize=64)
def _functions(filename: str) -> list[ast.Lambda | ast.FunctionDef]:
    """Return all functions in a file or in a cell of a notebook."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Lambda, ast.FunctionDef))]


# --- from an expression to a readable text --------------------------------------------------------------------------

_PLUMBING = {"axis", "keepdims", "dtype"}  # keywords that are not shown
_WORDS = {"absolute": "abs", "conjugate": "conj"}
_CONSTANTS = {"_ROOT_PI": "math.sqrt(math.pi)", "_ROOT_2PI": "math.sqrt(2 * math.pi)", "_ROOT_HALF": "math.sqrt(0.5)"}


def shown_text(expression: ast.expr, answer: str) -> str:
    """Return a readable text: ``g * (1 - ans * ans)`` becomes ``g * (1 - y^2)``."""
    tree = ast.parse(ast.unparse(expression), mode="eval")  # a copy, because visiting changes it
    return ast.unparse(_ForPeople(answer).visit(tree)).replace(" ** ", "^")


class _ForPeople(ast.NodeTransformer):
    """Removes the parts that belong to NumPy and not to mathematics."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in _CONSTANTS:
            return self.visit(ast.parse(_CONSTANTS[node.id], mode="eval").body)
        return ast.Name(self.answer if node.id == "ans" else node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            return ast.Name(_WORDS.get(node.attr, node.attr))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func).removeprefix("np.")
        args = [self.visit(arg) for arg in node.args]
        if name == "zeros_like":
            return ast.Constant(0)
        if name in ("ratio", "_ratio_or_0"):  # a quotient in which 0 / 0 is 0
            return ast.BinOp(args[0], ast.Div(), args[1])
        if name == "_gap":
            return ast.BinOp(args[1], ast.Sub(), args[0])
        if name == "_log_or_0":
            return ast.Call(args[0], [args[2]], [])
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
