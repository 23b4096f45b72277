"""What is shipped, what an import costs, and which floor of the house may know which."""

import ast
import graphlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "minigrad": {"minigrad"},
    "nn": {"nn", "minigrad"},
    "models": {"models", "nn", "minigrad"},
}
ASSETS = {".html", ".css", ".js", ".json"}  # what the interactive pages are made of
each_package = pytest.mark.parametrize("package", MAY_IMPORT)


# --- the wheel ---


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, with the build backend at hand: no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py")}
    markers = {ROOT / package / "py.typed" for package in MAY_IMPORT}
    assets = {path for path in (ROOT / "minigrad" / "graph" / "page").iterdir() if path.suffix in ASSETS}
    assert {path.name for path in assets} >= {"stepper.html", "stepper.css", "stepper.js", "stepper_words.json"}
    assert shipped == {path.relative_to(ROOT).as_posix() for path in sources | markers | assets}


def test_wheel_asks_for_numpy_alone(wheel: Path) -> None:
    needs = metadata(wheel).get_all("Requires-Dist", [])
    assert [need for need in needs if "extra ==" not in need] == ["numpy>=2.3"]
    assert metadata(wheel)["Requires-Python"] == ">=3.11"


def test_wheel_imports_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import minigrad, nn, models; "
    code += "print(*(module.__file__ for module in (minigrad, nn, models)), sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert [Path(line).parent for line in found.stdout.splitlines()] == [tmp_path / package for package in MAY_IMPORT]


# --- what an import brings along ---


@each_package
def test_import_brings_numpy_and_the_floors_below_alone(package: str) -> None:
    code = f"import sys, numpy, numpy.random; before = set(sys.modules); import {package}; "
    code += "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    loaded = set(found.stdout.split())
    assert package in loaded
    assert loaded <= sys.stdlib_module_names | {"numpy"} | MAY_IMPORT[package]


# --- the floors, read from the source without running it ---


def modules(root: Path, package: str) -> dict[str, Path]:
    """The dotted names of a package's modules, and their files."""
    names = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imported(name: str, path: Path, *, when_loaded: bool) -> Iterator[str]:
    """The dotted names that a module imports (`from a import b` gives `a.b`), anywhere or only while it is loaded."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join(above + ([node.module] if node.module else []))
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif when_loaded and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif not (when_loaded and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def import_graph(root: Path, package: str) -> dict[str, set[str]]:
    """For each module of a package, the package's other modules that it needs to load."""
    files = modules(root, package)
    graph: dict[str, set[str]] = {name: set() for name in files}
    for name, path in files.items():
        for target in imported(name, path, when_loaded=True):
            holder = target if target in files else target.rpartition(".")[0]  # a module, or a name in one
            if holder in files:
                graph[name].add(holder)
                parts = holder.split(".")  # a.b.c loads a and a.b first, unless we are inside them
                outer = {".".join(parts[:n]) for n in range(1, len(parts))}
                graph[name] |= {parent for parent in outer if not f"{name}.".startswith(f"{parent}.")}
    return graph


@each_package
def test_no_package_imports_a_floor_above(package: str) -> None:
    above = MAY_IMPORT.keys() - MAY_IMPORT[package]
    files = modules(ROOT, package)
    assert package in files
    for name, path in files.items():
        floors = {target.partition(".")[0] for target in imported(name, path, when_loaded=False)}
        assert not floors & above, f"{path} imports a floor above its own"


@each_package
def test_optional_packages_are_imported_where_they_are_used(package: str) -> None:
    allowed = sys.stdlib_module_names | {"numpy"} | MAY_IMPORT[package]
    for name, path in modules(ROOT, package).items():
        needed = {target.partition(".")[0] for target in imported(name, path, when_loaded=True)}
        if name.startswith("minigrad.kernels.compiled."):  # decorated by numba: the switch imports them, see below
            needed -= {"numba"}
        assert needed <= allowed, f"{path} imports {needed - allowed} before any function asks for it"


def test_what_numba_compiles_is_imported_by_the_switch_alone() -> None:
    lazy = {name for name in modules(ROOT, "minigrad") if name.startswith("minigrad.kernels.compiled.")}
    users = {name for name, targets in import_graph(ROOT, "minigrad").items() if targets & lazy}
    assert len(lazy) > 1 and users <= lazy


def test_the_room_of_kernels_has_two_doors() -> None:
    """It can be taken out (tests/minigrad/kernels/test_removable.py), as nothing else knows of it, late imports counted."""
    users = {
        name
        for package in MAY_IMPORT
        for name, path in modules(ROOT, package).items()
        if any(target.startswith("minigrad.kernels") for target in imported(name, path, when_loaded=False))
    }
    assert {name for name in users if not name.startswith("minigrad.kernels")} == {"minigrad", "nn._speed"}


def test_rules_are_mathematics_only() -> None:
    for path in (ROOT / "minigrad" / "rules").glob("*.py"):
        text = path.read_text("utf-8")
        assert not [word for word in ("in_parts", "in_blocks", "numba", "RawKernel", "out=") if word in text], path


@each_package
def test_no_import_circle(package: str) -> None:
    graphlib.TopologicalSorter(import_graph(ROOT, package)).prepare()  # raises CycleError


@pytest.mark.parametrize(
    ("b", "circle"),
    [
        ("from . import a", True),
        ("from .a import x", True),
        ("import house.a as a", True),
        ("from house import x", True),  # the package itself, which loads a
        ("class C:\n    from .a import x", True),
        ("try:\n    from house.a import x\nexcept ImportError:\n    pass", True),
        ("def f():\n    from .a import x", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x", False),
        ("import a", False),
        ("from .rooms.empty import x", True),  # loads rooms/__init__.py, which loads a
    ],
)
def test_a_planted_circle_is_found(tmp_path: Path, b: str, circle: bool) -> None:
    (tmp_path / "house" / "rooms").mkdir(parents=True)
    house = {"__init__": "from .a import x", "a": "from .b import x", "b": b}
    rooms = {"rooms/__init__": "from house.a import x", "rooms/empty": ""}
    for name, text in {**house, **rooms}.items():
        (tmp_path / "house" / f"{name}.py").write_text(text, encoding="utf-8")
    sorter = graphlib.TopologicalSorter(import_graph(tmp_path, "house"))
    if circle:
        with pytest.raises(graphlib.CycleError):
            sorter.prepare()
    else:
        sorter.prepare()


def test_views_are_imported_when_first_asked_for() -> None:
    program = (
        "import sys, minigrad; early = [m for m in sys.modules if m.startswith('minigrad.graph')]; "
        "names = [getattr(minigrad, name) for name in minigrad.__all__]; "
        "print(early, minigrad.graph.Graph.__name__, minigrad.trace is minigrad.graph.trace.trace)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["[]", "Graph", "True"]
