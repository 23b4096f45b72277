"""Turns forward functions and rules into trees, ``["multiply", "g", ["cos", "x"]]``, so that the page can run them.

The page interprets them (``assets/python.js``) with NumPy's functions in JavaScript (``assets/numpy.js``). A number is
itself, a text is a name, and a list is a function with its arguments. Functions that are written in NumPy, and the helpers
that they call, become trees. NumPy's functions stay names, and the page can run a tree if it has all of them. It also has some
functions of minigrad: numpy.js defines them under their full names, which are read from there.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ...device import is_device_array
from ...engine.primitive import Primitive
from ...rules.about import derivative
from ...rules.attention import scaled_dot_product_attention, weights_of
from ...rules.ranges import all_finite, squares_fit
from ...source.functions import body_of, names_of
from ..record.model import Graph
from .formulas import rule_behind
from .html import asset
from .tensors import keyword_data

Tree = Any
Data = dict[str, Any]

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.Mod: "remainder",
    ast.FloorDiv: "floor_divide", ast.MatMult: "matmul", ast.BitAnd: "logical_and", ast.BitOr: "logical_or",
    ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "logical_not", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal", ast.Is: "is", ast.IsNot: "is", ast.In: "in", ast.NotIn: "in",
}  # fmt: skip
_BUILTINS: dict[Any, str] = {
    len: "len", range: "range", enumerate: "enumerate", zip: "zip", sum: "sum", float: "float", int: "float", bool: "float",
    tuple: "tolist", list: "tolist", max: "maximum", min: "minimum", abs: "absolute",
}  # fmt: skip
_ANSWERS: dict[Any, bool] = {  # to questions about arrays; what a rule would do otherwise is left out
    is_device_array: False, np.iscomplexobj: False, squares_fit: True, all_finite: True,
}  # fmt: skip
_KINDS: dict[type, str] = {
    int: "number",
    float: "number",
    tuple: "list",
    list: "list",
    str: "text",
}  # of values on a page


@cache
def page_functions() -> dict[Any, str]:
    """Return the functions of minigrad that the page has, and their names there."""
    return {_resolved(name): name for name in re.findall(r'\("(minigrad\.[\w.]+)"', asset("numpy.js"))}


def _resolved(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


class _NotATreeError(Exception):
    """A function is not made of what the page can interpret."""


def replay_data(graph: Graph) -> Data:
    """Return the operations of a graph, by name, and the helpers that their trees call: ``[parameters, defaults, body]``.

    An operation has ``arguments``, the ``defaults`` of its keywords, the name of its ``forward`` function, and ``vjp``: the
    tree of each argument's derivative (under ``"*"`` if the number of arguments varies). An attention also has the name of the
    function of its ``weights``.
    """
    trees = _Trees()
    used: dict[str, set[Any]] = {}
    for node in graph.operations:
        used.setdefault(node.operation or "", set()).add(node.primitive)
    operations = {
        name: trees.operation(*primitives)
        for name, primitives in used.items()
        if len(primitives) == 1 and isinstance(next(iter(primitives)), Primitive)  # shared names are left out
    }
    return {"operations": operations, "helpers": trees.helpers}


class _Trees:
    def __init__(self) -> None:
        self.helpers: dict[str, list[Any] | None] = {}
        self.names: dict[Any, str] = {}

    def operation(self, primitive: Primitive) -> Data:
        arguments = primitive.arguments or ("*",)
        derivatives = {name: self._derivative(primitive, "0" if name == "*" else name) for name in arguments}
        return {
            "arguments": primitive.arguments,
            "defaults": keyword_data(primitive.defaults),
            "forward": self._called(primitive),
            "weights": self._called(weights_of) if primitive is scaled_dot_product_attention else None,
            "vjp": {name: tree for name, tree in derivatives.items() if tree is not None},
        }

    def _called(self, function: Any) -> str | None:
        """Return the page's name of a function; None if the page cannot have it."""
        try:
            return self._name(function)
        except _NotATreeError:
            return None

    def _derivative(self, primitive: Primitive, argument: str) -> Tree:
        """Return the tree of the rule, or of what is written for the page; None if there is no tree."""
        rule, written = rule_behind(primitive, argument), derivative(primitive, argument).written
        if written is None and (rule is None or primitive.composition is not None):
            return None
        try:
            return self._helper(written or rule, {"g", "ans", *primitive.arguments})[2]
        except _NotATreeError:
            return None

    def _name(self, function: Any) -> str:
        """Return the page's name of a function. The name of a helper begins with a colon.

        Raises:
            _NotATreeError: the function cannot become a tree and is not NumPy's.
        """
        if function in page_functions():
            return page_functions()[function]
        plain = function.function if isinstance(function, Primitive) else function
        numpys = plain if _of_numpy(plain) else next(filter(_of_numpy, getattr(function, "_numpy", ())), None)
        if numpys is not None:
            return str(numpys.__name__)
        if plain in _BUILTINS:
            return _BUILTINS[plain]
        if function not in self.names:
            self.names[function] = f":{getattr(function, '__name__', '')}{len(self.names) or ''}"
            self.helpers[self.names[function]] = self._helper(plain)
        return self.names[function]

    def _helper(self, function: Any, arrays: Iterable[str] = ()) -> list[Any]:
        """Return the parameters of a function, its defaults and its tree. ``arrays`` are parameters that are always arrays."""
        body = body_of(function := inspect.unwrap(function))
        if body is None:
            raise _NotATreeError
        names, parameters = names_of(function), inspect.signature(function).parameters
        defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
        reader = _Reader(self, names, parameters, arrays)
        return [list(parameters), keyword_data(defaults), reader.block(body)]


def _of_numpy(function: Any) -> bool:
    """Return whether the page may have a function by its own name: it is NumPy's, or Python's with numbers or an index."""
    module = str(getattr(function, "__module__", None) or "numpy").partition(".")[0]
    return isinstance(function, np.ufunc) or (callable(function) and module in ("numpy", "math", "_operator"))


class _Reader:
    """Turns Python's syntax tree into a tree for the page. ``names`` are the module's, ``own`` the function's."""

    def __init__(self, trees: _Trees, names: Mapping[str, Any], own: Iterable[str], arrays: Iterable[str]) -> None:
        self.trees, self.names, self.own, self.arrays = trees, names, set(own), set(arrays)

    def block(self, steps: list[ast.stmt]) -> Tree:
        """Read assignments and branches up to a ``return``. Checks that raise are left out: the program has passed them."""
        if not steps:
            return None
        step, rest = steps[0], steps[1:]
        match step:
            case ast.Return(value=ast.expr() as value):
                return self.tree(value)
            case ast.Assign(targets=[target]):
                return self._before(self._assigned(target, self.tree(step.value)), rest)
            case ast.AugAssign(target=ast.Name() as target):
                changed = [_operator(step.op), target.id, self.tree(step.value)]
                return self._before(self._assigned(target, changed), rest)
            case ast.If() if isinstance(step.body[-1], ast.Raise):
                return self.block([*step.orelse, *rest])
            case ast.If():
                test = self.tree(step.test)
                if isinstance(test, bool):  # an answer that is known
                    return self.block([*(step.body if test else step.orelse), *rest])
                if not any(isinstance(inside, ast.Return) for inside in ast.walk(step)):
                    return self._before(["?", test, self.block(step.body), self.block(step.orelse)], rest)
                return ["?", test, self.block([*step.body, *rest]), self.block([*step.orelse, *rest])]
            case ast.With():
                return self.block([*step.body, *rest])
            case ast.Expr():
                return self.block(rest)
            case ast.Raise():
                return None
        raise _NotATreeError

    def _before(self, first: Tree, rest: list[ast.stmt]) -> Tree:
        then = self.block(rest)
        return [";", first, *(then[1:] if isinstance(then, list) and then[0] == ";" else [then])]

    def _assigned(self, target: ast.expr, value: Tree) -> Tree:
        return ["=", self._target(target), value]

    def _target(self, target: ast.expr) -> Tree:
        match target:
            case ast.Name():
                self.own.add(target.id)
                return target.id
            case ast.Tuple():
                return ["[]", *map(self._target, target.elts)]
        raise _NotATreeError

    def tree(self, node: ast.expr | None) -> Tree:
        match node:
            case None:
                return None
            case ast.Constant():
                return self._literal(node.value)
            case ast.Name():
                known = node.id not in self.own and node.id in self.names
                return self._literal(self.names[node.id]) if known else node.id
            case ast.BinOp():
                return [_operator(node.op), self.tree(node.left), self.tree(node.right)]
            case ast.UnaryOp():
                operand = self.tree(node.operand)
                known = isinstance(node.op, ast.Not) and isinstance(operand, bool)
                return not operand if known else [_operator(node.op), operand]
            case ast.BoolOp():
                return self._all_or_any(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                test = self.tree(node.test)
                if isinstance(test, bool):  # an answer that is known
                    return self.tree(node.body if test else node.orelse)
                return ["?", test, self.tree(node.body), self.tree(node.orelse)]
            case ast.NamedExpr():
                return self._assigned(node.target, self.tree(node.value))
            case ast.Tuple() | ast.List():
                return ["[]", *map(self.tree, node.elts)]
            case ast.Starred():
                return ["*", self.tree(node.value)]
            case ast.Slice():
                return [":", self.tree(node.lower), self.tree(node.upper), self.tree(node.step)]
            case ast.Subscript():
                return ["at", self.tree(node.value), self.tree(node.slice)]
            case ast.ListComp(generators=[part]) | ast.GeneratorExp(generators=[part]):
                all_values, target = self.tree(part.iter), self._target(part.target)
                return ["for", target, all_values, self.tree(node.elt), *map(self.tree, part.ifs)]
            case ast.Attribute():
                found = self._object(node)
                return self._literal(found) if found is not None else [node.attr, self.tree(node.value)]
            case ast.Call():
                return self._call(node)
        raise _NotATreeError

    def _all_or_any(self, node: ast.BoolOp) -> Tree:
        """Read ``a and b and c``, or ``or``, up to an answer that is known and decides it."""
        decides = isinstance(node.op, ast.Or)
        found: Tree = not decides
        for value in node.values:
            one = self.tree(value)
            if one is decides:
                return one if isinstance(found, bool) else [_operator(node.op), found, one]
            if not isinstance(one, bool):
                found = one if isinstance(found, bool) else [_operator(node.op), found, one]
        return found

    def _literal(self, value: Any) -> Tree:
        if isinstance(value, str):
            return ["'", value]
        if value is Ellipsis:
            return ["..."]
        if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, float):
            return ["float", ["'", {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")]]
        raise _NotATreeError

    def _comparison(self, node: ast.Compare) -> Tree:
        """Read a comparison. ``a <= b <= c`` becomes two."""
        found: Tree = None
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators):
            one: Tree = [_operator(op), self.tree(left), self.tree(right)]
            one = ["not", one] if isinstance(op, (ast.IsNot, ast.NotIn)) else one
            found = one if found is None else ["and", found, one]
        return found

    def _object(self, node: ast.expr) -> Any:
        """Return the object of a dotted name of the module; None for any other expression."""
        if isinstance(node, ast.Name) and node.id not in self.own:
            return self.names.get(node.id, getattr(builtins, node.id, {"np": np, "math": math}.get(node.id)))
        if not isinstance(node, ast.Attribute):
            return None
        base = self._object(node.value)
        return getattr(base, node.attr, None) if isinstance(base, (ModuleType, Primitive)) else None

    def _call(self, node: ast.Call) -> Tree:
        given = [self.tree(argument) for argument in node.args]
        kept = [keyword for keyword in node.keywords if keyword.arg not in ("dtype", "kind")]
        keywords = {keyword.arg: self.tree(keyword.value) for keyword in kept}
        if None in keywords:
            raise _NotATreeError
        more = [keywords] if keywords else []
        match node.func:
            case ast.Subscript(value=ast.Name() as table, slice=key) if isinstance(self._object(table), dict):
                tree: Tree = None  # a choice from a table of functions
                for name, function in self._object(table).items():
                    chosen = [self.trees._name(function), *given, *more]
                    tree = ["?", ["equal", self.tree(key), ["'", name]], chosen, tree]
                return tree
        found = self._object(node.func)
        if isinstance(found, Hashable) and found in _ANSWERS:
            return _ANSWERS[found]
        if found is hasattr and isinstance(name := node.args[1], ast.Constant):  # is it a Tensor?
            return hasattr(np.ndarray, str(name.value))
        if found is isinstance:
            return self._is_of_kind(*node.args)
        if found is not None:
            return [self.trees._name(found), *given, *more]
        if isinstance(node.func, ast.Attribute):  # a method
            return [node.func.attr, self.tree(node.func.value), *given, *more]
        raise _NotATreeError

    def _is_of_kind(self, value: ast.expr, classes: ast.expr) -> Tree:
        """Read ``isinstance``. The page has arrays, which are NumPy's, numbers, lists and texts."""
        asked = [self._object(one) for one in (classes.elts if isinstance(classes, ast.Tuple) else [classes])]
        if np.ndarray in asked or not all(isinstance(one, type) for one in asked):
            raise _NotATreeError
        kinds = [_KINDS[one] for one in asked if one in _KINDS]
        if not kinds or (isinstance(value, ast.Name) and value.id in self.arrays):
            return False
        return ["isinstance", self.tree(value), ["[]", *[["'", kind] for kind in kinds]]]


def _operator(op: ast.AST) -> str:
    if type(op) not in _OPERATORS:
        raise _NotATreeError
    return _OPERATORS[type(op)]
