"""The local derivative of an operation as a formula: ``d tanh: g * (1 - y^2)``.

A rule that is one expression (a lambda, or a function that only returns one) is its own formula: it is read from the source,
and NumPy's plumbing is left out of what is shown. For the others there is a table, ``_written_formulas.py``. A formula is
shown with ``g`` for the cotangent of the output and ``y`` for the output (``out``, if an argument is called y).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...engine.primitive import Primitive
from ...engine.registry import is_elementwise
from ...errors import ArgumentError
from ..record.model import Edge, Node
from ._written_formulas import FORMULAS, IN_WORDS, JAPANESE, NAMES, SHOWN

_ELEMENTWISE = {"relu", "sigmoid", "silu", "gelu", "erf", "sinc", "nan_to_num", "clip", "where"}  # besides ufuncs

_known: WeakKeyDictionary[Any, dict[tuple[str, Any], Formula | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Formula:
    """What a rule computes.

    Attributes:
        text: for people.
        expression: the same in Python and NumPy, in the names that a rule may ask for; None for a rule that is no formula.
        names: what else the expression reads: the functions and constants of the rule's module.
        answer: what the output is called in the text.
        elementwise: whether each element is computed from those at its place.
    """

    text: str
    expression: str | None
    names: Mapping[str, Any] = field(repr=False)
    answer: str = "y"
    elementwise: bool = False

    @property
    def text_ja(self) -> str:
        """The same with its words in Japanese."""
        head, words = _parted(self.text)
        return f"{head}、{JAPANESE[words]}" if words in JAPANESE else self.text

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The rule's result for these values of ``g``, ``ans``, the arguments, their shapes and the keywords.

        Raises:
            ArgumentError: the formula is words.
        """
        if self.expression is None:
            raise ArgumentError(
                f"'{self.text}' is words, and cannot be evaluated: look whether .expression is None first"
            )
        with np.errstate(all="ignore"):
            return eval(self.expression, {**self.names, **values})


def formula(primitive: Any, argument: str | int) -> Formula | None:
    """The derivative of a primitive by one of its arguments (for any number of them: by its position).

    Returns:
        None if there is no such derivative, or nothing to read it from: a rule of the user's whose source is not there.
    """
    name, rule = str(argument), rule_of(primitive, str(argument))
    known = _known.setdefault(primitive, {})
    if (name, rule) not in known:
        known[name, rule] = None if rule is None else _formula(primitive, name, rule)
    return known[name, rule]


def formula_values(node: Node, operands: Sequence[Edge], edge: Edge) -> dict[str, Any]:
    """What the formula of one edge into a traced operation is evaluated with: the values that its rule may ask for.

    ``operands`` are all the edges into it. Besides there is ``n``, how many elements of the operand go into one of the output.
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
    """What computes the derivative."""
    if not isinstance(primitive, Primitive):
        return primitive.backward
    rule = primitive.rules.get(argument) or primitive.rule_for_each or primitive.composition
    return rule and inspect.unwrap(rule)


def _formula(primitive: Any, argument: str, rule: Any) -> Formula | None:
    if not isinstance(primitive, Primitive):  # a Function class
        return Formula(f"{primitive.__name__}.backward(g)", None, {})
    answer = "out" if "y" in primitive.arguments else "y"
    elementwise = primitive.name in _ELEMENTWISE or is_elementwise(primitive)
    key = f"{primitive.name}.{argument}" if primitive.arguments else primitive.name
    ours = str(getattr(rule, "__module__", "")).startswith("minigrad.")  # not a user's of the same name
    if ours and key in FORMULAS:
        text, expression = FORMULAS[key]
        return Formula(text, expression, NAMES, answer, elementwise)
    if ours and key in IN_WORDS:
        return Formula(IN_WORDS[key], None, {}, answer)
    if primitive.composition is not None:
        return None if ours else _words_of(rule)  # labels, a mask
    found = returned_expression(rule)
    if found is None:
        return _words_of(rule)
    text = SHOWN[key] if ours and key in SHOWN else shown_text(found, answer)
    read = {**rule.__globals__, **inspect.getclosurevars(rule).nonlocals}
    names = {node.id: read[node.id] for node in ast.walk(found) if isinstance(node, ast.Name) and node.id in read}
    return Formula(text, ast.unparse(found), names, answer, elementwise)


def _words_of(rule: Callable[..., Any]) -> Formula | None:
    """The first line of the docstring of a rule that is longer than one expression."""
    lines = (getattr(rule, "__doc__", None) or "").strip().splitlines()
    text = lines[0].replace("`", "").rstrip(".") if lines else ""
    return Formula(text, None, {}) if text else None


def returned_expression(function: Callable[..., Any]) -> ast.expr | None:
    """What a lambda, or a function of one ``return``, computes, as a syntax tree; None if its source cannot be found.

    Several lambdas may stand in one line: the right one is where the positions in the compiled code lie. It must also use
    the same names and constants, for the file may have been changed since.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    spans = [
        (line, column, end, last) for line, end, column, last in code.co_positions() if last
    ]  # 0: no code of the source
    candidates = []
    for node in _functions(code.co_filename):
        body = _returned(node)
        if body is None or _parameters(node) != list(inspect.signature(function).parameters):
            continue
        whole: Any = body if isinstance(node, ast.Lambda) else node.body[-1]  # of a def the positions hold the "return"
        start, end = (whole.lineno, whole.col_offset), (whole.end_lineno, whole.end_col_offset)
        if spans and min(s[:2] for s in spans) == start and max(s[2:] for s in spans) == end:
            candidates.append((node, body))
    return next((body for node, body in candidates if _vocabulary(_compiled(node)) == _vocabulary(code)), None)


def body_of(function: Callable[..., Any]) -> list[ast.stmt] | None:
    """The statements of a function, of a lambda its return; None if its source cannot be found."""
    if (expression := returned_expression(function)) is not None:
        return [ast.Return(expression)]
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    for node in _functions(code.co_filename):
        if not isinstance(node, ast.FunctionDef) or (node.name, node.lineno) != (code.co_name, code.co_firstlineno):
            continue
        if _vocabulary(_compiled(node)) == _vocabulary(code):
            return node.body
    return None


def _compiled(node: ast.Lambda | ast.FunctionDef) -> CodeType:
    whole = ast.Expression(node) if isinstance(node, ast.Lambda) else ast.Module([node], [])
    code = compile(whole, "<rule>", "eval" if isinstance(node, ast.Lambda) else "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _vocabulary(code: CodeType) -> set[str]:
    """The names that it reads, wherever they are, and its constants."""
    constants = {repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)}
    return constants | {*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars}


@lru_cache(maxsize=64)
def _functions(filename: str) -> list[ast.Lambda | ast.FunctionDef]:
    """All functions in a file, also in a cell of a notebook."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Lambda, ast.FunctionDef))]


def _returned(node: ast.Lambda | ast.FunctionDef) -> ast.expr | None:
    if isinstance(node, ast.Lambda):
        return node.body
    rest = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Return) else None


def _parameters(node: ast.Lambda | ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


# --- from an expression to what people read -------------------------------------------------------------------------

_PLUMBING = {"axis", "keepdims", "dtype"}  # keywords that are not shown
_WORDS = {"absolute": "abs", "conjugate": "conj", "_gap": "gap", "ratio": "", "_ratio_or_0": ""}
_CONSTANTS = {"_ROOT_PI": "math.sqrt(math.pi)", "_ROOT_2PI": "math.sqrt(2 * math.pi)", "_ROOT_HALF": "math.sqrt(0.5)"}


def shown_text(expression: ast.expr, answer: str) -> str:
    """``g * (1 - ans * ans)`` as ``g * (1 - y^2)``."""
    tree = ast.parse(ast.unparse(expression), mode="eval")  # a copy
    return ast.unparse(_ForPeople(answer).visit(tree)).replace(" ** ", "^")


class _ForPeople(ast.NodeTransformer):
    """Drops what is NumPy's and not mathematics."""

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
        if name in ("ratio", "_ratio_or_0"):  # a quotient that is 0 where both are
            return ast.BinOp(args[0], ast.Div(), args[1])
        if name == "_gap":
            return ast.BinOp(args[1], ast.Sub(), args[0])
        if name == "_log_or_0":
            return ast.Call(args[0], [args[2]], [])
        keywords = [self.visit(keyword) for keyword in node.keywords if keyword.arg not in _PLUMBING]
        return ast.Call(self.visit(node.func), args, keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``x * x`` is ``x ** 2``, also at the end of a longer product."""
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
    """Of ``a * b * c`` the three."""
    factors: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        factors.insert(0, node.right)
        node = node.left
    return [node, *factors]


# --- a text and its words -------------------------------------------------------------------------------------------


def _parted(text: str) -> tuple[str, str]:
    """The formula, and the words that stand behind the first comma outside of parentheses."""
    comma = re.search(r"(, |、)(?![^(]*\))", text)
    return (text, "") if comma is None else (text[: comma.start()], text[comma.end() :])
