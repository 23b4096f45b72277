"""Wrong programs made from a right one, one slip at a time: a sign, a factor, a transpose, an axis, one name for another."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

Slip = tuple[str, ast.AST]  # the name of a mistake, and what stands in the place of a node
Put = Callable[[ast.AST], None]  # puts another node in the place of one
COSINES = {"sin": "cos", "cos": "sin", "argmax": "argmin"}
LEFT_OUT = {"tanh", "exp", "sqrt", "abs", "log", "outer"}
SUMS = {"sum": "mean_for_sum", "mean": "sum_for_mean"}


def slips(source: str, given: set[str]) -> Iterator[tuple[str, str]]:
    """The name of a mistake, and the whole program with it. Where the same slip can be made twice, also with both.

    The functions that are ``given`` stay as they are.
    """
    tree = ast.parse(source)
    repeated: dict[tuple[str, str, str], list[tuple[Put, ast.AST, ast.AST]]] = {}
    for function in _functions(tree, given):
        names, arguments = _names(function), [arg.arg for arg in function.args.args]
        for put, node in _places(function):
            for name, new in [*_slips_at(node, names), *_exchanged(node, arguments)]:
                note = (
                    f":{node.id}"
                    if name == "other_value" and isinstance(node, ast.Name) and node.id in arguments
                    else ""
                )
                yield name + note, _with(tree, [(put, node, new)])
                key = (name, _text(node)) if name not in _EVERYWHERE else (name, "")
                repeated.setdefault((*key, type(new).__name__), []).append((put, node, new))
    for (name, *_), changes in repeated.items():
        at = {id(change[1]): change for change in changes}
        if len(at) > 1:
            yield name, _with(tree, list(at.values()))


# A habit, not a slip
_EVERYWHERE = ("transpose", "mean_for_sum", "sum_for_mean", "axis", "keepdims", "times_power", "max_of_all")


def _functions(tree: ast.Module, given: set[str]) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        loops = any(isinstance(part, ast.While) for part in ast.walk(node))  # a slip could make the loop endless
        if isinstance(node, ast.FunctionDef) and node.name not in given and not loops:
            yield node


def _names(function: ast.FunctionDef) -> list[str]:
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys([arg.arg for arg in function.args.args] + stored))


def _places(function: ast.FunctionDef) -> Iterator[tuple[Put, ast.AST]]:
    for parent in ast.walk(ast.Module(function.body, [])):
        if isinstance(parent, ast.arguments):
            continue
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(value, ast.AST):
                yield partial(setattr, parent, field), value
            elif isinstance(value, list):
                yield from ((partial(value.__setitem__, i), x) for i, x in enumerate(value) if isinstance(x, ast.AST))


def _with(tree: ast.Module, changes: list[tuple[Put, ast.AST, ast.AST]]) -> str:
    for put, _, new in changes:
        put(ast.fix_missing_locations(new))
    try:
        return ast.unparse(tree)
    finally:
        for put, old, _ in reversed(changes):
            put(old)


def _text(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""


def _slips_at(node: ast.AST, names: list[str]) -> Iterator[Slip]:
    if isinstance(node, ast.BinOp):
        yield from _arithmetic(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "transpose", node.value
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield "one_path", ast.Assign([node.target], node.value)
        yield "sign", ast.AugAssign(node.target, ast.Sub(), node.value)
    elif isinstance(node, ast.AugAssign):
        yield "sign", ast.AugAssign(node.target, ast.Add(), node.value)
        yield "one_path", ast.Pass()
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Gt | ast.Lt):
        other = ast.Lt() if isinstance(node.ops[0], ast.Gt) else ast.Gt()
        yield "mask_flipped", ast.Compare(node.left, [other], node.comparators)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        yield from (("other_value", ast.Name(other, ast.Load())) for other in names if other != node.id)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        items = node.value.elts
        for i in range(len(items) - 1):
            for j in range(i + 1, len(items)):
                order = [*items]
                order[i], order[j] = items[j], items[i]
                yield "swapped", ast.Return(ast.Tuple(order, ast.Load()))


def _exchanged(node: ast.AST, arguments: list[str]) -> Iterator[Slip]:
    """Two arguments that stand for each other in a statement."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return):
        return
    read = [arg for arg in arguments if any(isinstance(part, ast.Name) and part.id == arg for part in ast.walk(node))]
    for one, other in combinations(read, 2):
        new = copy.deepcopy(node)
        for part in ast.walk(new):
            if isinstance(part, ast.Name) and part.id in (one, other) and isinstance(part.ctx, ast.Load):
                part.id = other if part.id == one else one
        yield f"mixed_up:{one}, {other}", new


def _arithmetic(node: ast.BinOp) -> Iterator[Slip]:
    left, op, right = node.left, node.op, node.right
    for new in _regrouped(left, op, right):
        yield "precedence", new
    if isinstance(op, ast.Mult):
        yield _factor(right), left
        yield _factor(left), right
        yield "inverted", ast.BinOp(left, ast.Div(), right)
        yield "twice_factor", ast.BinOp(node, ast.Mult(), right)
        yield "twice_factor", ast.BinOp(left, ast.Mult(), node)
        yield "sum_for_product", ast.BinOp(left, ast.Add(), right)
        square = _text(left) == _text(right)
        yield "times_power", ast.BinOp(left, op, ast.Constant(2)) if square else ast.BinOp(left, ast.Pow(), right)
    elif isinstance(op, ast.Div):
        yield "scale" if any(word in _text(right) for word in ("sqrt(d)", "shape", "len(")) else "factor", left
        yield "inverted", ast.BinOp(left, ast.Mult(), right)
        yield "twice_factor", ast.BinOp(node, ast.Div(), right)
        yield "turned_around", ast.BinOp(right, op, left)
        yield "integer_division", ast.BinOp(left, ast.FloorDiv(), right)
    elif isinstance(op, ast.Add | ast.Sub):
        yield "term", left
        yield "sign", ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
        if isinstance(op, ast.Add):
            yield "term", right
        else:
            yield "sign", ast.BinOp(right, op, left)
    elif isinstance(op, ast.MatMult):
        yield "transpose", ast.BinOp(ast.Attribute(left, "T", ast.Load()), op, right)
        yield "transpose", ast.BinOp(left, op, ast.Attribute(right, "T", ast.Load()))
        yield "order_of_product", ast.BinOp(right, op, left)
    elif isinstance(op, ast.Pow):
        yield "power", left
        yield "times_power", ast.BinOp(left, ast.Mult(), right)
        yield "turned_around", ast.BinOp(right, op, left)


def _regrouped(left: ast.expr, op: ast.operator, right: ast.expr) -> Iterator[ast.expr]:
    """With other brackets: (a o b) p c as a o (b p c), and a p (b o c) as (a p b) o c."""
    if isinstance(left, ast.UnaryOp) and isinstance(op, ast.Div | ast.Pow):
        yield ast.UnaryOp(left.op, ast.BinOp(left.operand, op, right))
    if isinstance(left, ast.BinOp):
        yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right))
    if isinstance(right, ast.BinOp):
        yield ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)


def _factor(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and node.value == 2:
        return "factor_two"
    return "relu_mask" if isinstance(node, ast.Compare) else "factor"


def _calls(node: ast.Call) -> Iterator[Slip]:
    if not isinstance(node.func, ast.Attribute):
        return
    name, owner = node.func.attr, node.func.value
    if name in SUMS:
        yield SUMS[name], _called(node, "mean" if name == "sum" else "sum")
        yield "unsummed" if name == "sum" else "unaveraged", owner
        if not (isinstance(owner, ast.Name) and owner.id == "np"):
            for part in ("[1:]", "[:-1]"):
                some = ast.parse(f"({ast.unparse(owner)}){part}", mode="eval").body
                yield "places_left", ast.Call(ast.Attribute(some, name, ast.Load()), node.args, node.keywords)
        yield from _axes(node)
    elif name in ("max", "var", "std"):
        yield from _axes(node)
    elif name == "outer":
        yield "transpose", ast.Call(node.func, node.args[::-1], [])
    elif name == "swapaxes" and node.args:
        yield "transpose", owner if len(node.args) == 2 else node.args[0]
    if name in COSINES:
        yield "derivative", _called(node, COSINES[name])
    if name in LEFT_OUT and node.args:
        yield "function", node.args[0]
    if name == "copy":
        yield "stale", owner


def _called(node: ast.Call, name: str) -> ast.Call:
    assert isinstance(node.func, ast.Attribute)
    return ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)


def _axes(node: ast.Call) -> Iterator[Slip]:
    """Along another axis, along all of them, or with the axis gone."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    for i, keyword in enumerate(node.keywords):
        rest = node.keywords[:i] + node.keywords[i + 1 :]
        if keyword.arg == "keepdims":
            yield "keepdims", ast.Call(node.func, node.args, rest)
        elif keyword.arg == "axis":
            yield "max_of_all" if name == "max" else "axis", ast.Call(node.func, node.args, rest)
            for axis in (0, 1, -1, -2):
                other = ast.keyword("axis", ast.parse(str(axis), mode="eval").body)
                if ast.unparse(keyword.value) != str(axis):
                    yield "axis", ast.Call(node.func, node.args, [*rest, copy.copy(other)])
