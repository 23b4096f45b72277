"""Gives every name of a program another one, and wraps the program in ``main()``, without changing its lines' order."""

import ast


def renamed(text: str) -> str:
    """Return a program with other names for its variables, functions, classes, parameters and attributes."""
    tree, lines = ast.parse(text), text.split("\n")
    nodes = list(ast.walk(tree))
    functions = {
        n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name not in ("forward", "__init__")
    }
    functions -= {n.name for n in nodes if isinstance(n, ast.FunctionDef) and n.decorator_list}  # of mg.Function
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | functions
    names |= {n.arg for n in nodes if isinstance(n, ast.arg)} - {"self", "ctx", "ans", "g"}
    names -= {n.arg for n in nodes if isinstance(n, ast.arg) and _is_rule(n, tree)}
    attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    attributes -= {"data", "grad", "lr", "weight", "bias", "n", "requires_grad"}
    places: list[tuple[int, int, str]] = []
    for n in nodes:
        if isinstance(n, ast.Name) and n.id in names:
            places.append((n.lineno, n.col_offset, n.id))
        elif isinstance(n, ast.arg) and n.arg in names:
            places.append((n.lineno, n.col_offset, n.arg))
        elif isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name in names:
            places.append((n.lineno, lines[n.lineno - 1].index(n.name, n.col_offset + 3), n.name))
        elif isinstance(n, ast.Attribute) and n.attr in attributes:
            places.append((n.end_lineno or 0, (n.end_col_offset or 0) - len(n.attr), n.attr))
    for line, column, name in sorted(places, reverse=True):
        row = lines[line - 1]
        assert row[column : column + len(name)] == name, (row, name)
        lines[line - 1] = row[:column] + _other(name) + row[column + len(name) :]
    return "\n".join(lines)


def _other(name: str) -> str:
    """Return another name: it tells neither what a value is, nor that two of them are alike."""
    return f"q{sum(ord(letter) * 31**place for place, letter in enumerate(name)) % 99991}"


def _is_rule(arg: ast.arg, tree: ast.AST) -> bool:
    """Return whether a parameter is one of a lambda, whose name tells a rule of a primitive what it reads."""
    return any(arg in n.args.args for n in ast.walk(tree) if isinstance(n, ast.Lambda))


def wrapped(text: str) -> str:
    """Return a program whose statements after the imports are the body of ``main()``: each is one line further down."""
    lines = text.strip("\n").split("\n")
    first = next(i for i, line in enumerate(lines) if line and not line.startswith(("import", "from")))
    body = [f"    {line}" if line else "" for line in lines[first:]]
    return "\n".join([*lines[:first], "def main():", *body, "main()", ""])
