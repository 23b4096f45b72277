"""The structure of the packages, read from their source: who imports whom, and how long things are."""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("minigrad", "nn", "models")

# From the ground up: a module imports from its own floor and those below. The longest prefix that fits counts.
FLOORS = (
    ("minigrad.errors", "minigrad.tiny"),
    ("minigrad.device",),
    ("minigrad.engine",),
    ("minigrad.rules",),
    ("minigrad.kernels",),
    ("minigrad",),  # transforms/ and guards/: functions of functions, and what watches and checks them; files
    ("minigrad.source",),  # the user's program as text
    ("minigrad.graph.record",),
    ("minigrad.codegen",),  # programs, written from what is recorded on paper
    ("minigrad.graph.draw",),
    ("minigrad.graph.pages",),
    ("minigrad.graph",),  # drawings, which show themselves as pictures and pages, and watch
    ("minigrad.debug",),  # rules about what watch/ has seen of a training
    ("minigrad.cli", "minigrad.__main__", "minigrad.learn"),
    ("nn",),
    ("models",),
)


def modules(root: Path = ROOT) -> dict[str, Path]:
    """The packages' files by module name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path, *, when_loaded: bool = False) -> Iterator[str]:
    """The dotted names that a module imports (`from a import b` gives `a.b`): anywhere in its text, in functions and under
    TYPE_CHECKING too, or only while it is loaded."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif when_loaded and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif not (when_loaded and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            pending += (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def arrows(files: dict[str, Path]) -> dict[str, set[str]]:
    """For each module those of ours that it imports. A package's `__init__` is its facade: what it imports does not count."""
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        found[name] = set()
        if path.name == "__init__.py":
            continue
        for target in imported(name, path):
            while target and target not in files:
                target = target.rpartition(".")[0]
            if target and target != name:
                found[name].add(target)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that lead to one another, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in graph:
        if name not in index:
            visit(name)
    return found


def changed_by_facades(files: dict[str, Path]) -> list[str]:
    """The attributes that a package's `__init__` sets in what it imported: arrows that no import shows."""
    found = []
    for name, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.name == "__init__.py" else ast.Module([], [])
        for node in ast.walk(tree):
            set_here = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if set_here or (isinstance(node, ast.Name) and node.id == "setattr"):
                found.append(f"{name}: {ast.unparse(node)}")
    return found


def floor(name: str) -> int:
    fitting = [
        (len(prefix), i) for i, floor in enumerate(FLOORS) for prefix in floor if f"{name}.".startswith(f"{prefix}.")
    ]
    return max(fitting)[1]


def without_examples(path: Path) -> list[str]:
    """The lines of a file, less the examples that end its docstrings."""
    lines = path.read_text(encoding="utf-8").splitlines()
    left_out: set[int] = set()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and "\nExample:\n" in (ast.get_docstring(node) or ""):
            docstring = node.body[0]
            inside = range(docstring.lineno, docstring.end_lineno or 0)
            first = next(i for i in inside if lines[i].strip() == "Example:")
            left_out.update(range(first - 1, inside.stop - 1))  # the blank line before it, too
    return [line for i, line in enumerate(lines) if i not in left_out]


def code_lines(path: Path, function: str) -> int:
    """The lines of a function, or `Class.method`, without its signature, its docstring and blank lines."""
    node: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
    for part in function.split("."):
        node = next(n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part)
    assert isinstance(node, ast.FunctionDef)
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    lines = path.read_text(encoding="utf-8").splitlines()[body[0].lineno - 1 : node.end_lineno]
    return sum(bool(line.strip()) for line in lines)


SPEED = {"in_parts", "in_blocks", "for_each", "threading", "numba", "RawKernel"}
FEW = 8  # axes, arguments or dimensions; a comparison of a count with no more is about their meaning


def for_speed(path: Path) -> Iterator[str]:
    """What a file holds that is only for speed: a word of ``SPEED``, ``out=``, or a size that is compared with a constant."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    sizes = {target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in _names_of_sizes(node)}
    for node in ast.walk(tree):
        names = [getattr(node, field, None) for field in ("id", "attr", "name", "module")]
        yield from SPEED.intersection(name for name in names if isinstance(name, str))
        if isinstance(node, ast.keyword) and node.arg == "out":
            yield "out="
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_size(side, sizes) for side in sides) and any(map(_is_large, sides)):
                yield ast.unparse(node)


def _names_of_sizes(node: ast.Assign) -> Iterator[str]:
    """The names that an assignment gives to sizes, one by one in ``n, m = a.size, b.size``."""
    for target in node.targets:
        several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        pairs = zip(target.elts, node.value.elts) if several else [(target, node.value)]  # type: ignore[attr-defined]
        yield from (part.id for part, value in pairs if isinstance(part, ast.Name) and _is_size(value))


def _is_size(node: ast.AST, names: Collection[str] = ()) -> bool:
    """Whether an expression reads the number of elements of an array, a length, or one of the ``names`` of them."""
    if any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node)):
        return True
    functions = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return bool({"size", "nbytes"} & attributes or {"len", "math.prod", "np.size"} & functions)


def _is_large(node: ast.AST) -> bool:
    """Whether an expression is a constant by its name, or numbers of which one is above ``FEW``."""
    if isinstance(node, ast.Name):
        return node.id.isupper()
    parts = list(ast.walk(node))
    numbers = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, int)]
    return max(numbers, default=0) > FEW and not any(isinstance(part, ast.Name) for part in parts)
