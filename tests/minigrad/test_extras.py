"""What is said where an optional package is missing: a command that installs it, on any system, whatever minigrad is called."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from minigrad.errors import MissingExtraError, import_extra

ROOT = Path(__file__).parents[2]
FOLDERS = ("minigrad", "nn", "models", "examples", "benchmarks")


def calls() -> list[tuple[str, str]]:
    """The module and the extra of every call of import_extra in the code."""
    found = set()
    texts = (path.read_text(encoding="utf-8") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    for node in (node for text in texts if "import_extra(" in text for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_extra"):
            given = [*node.args, *(keyword.value for keyword in node.keywords)][:2]
            module, extra = (value.value if isinstance(value, ast.Constant) else "" for value in given)
            if module and extra:  # not sklearn's parts by name
                found.add((str(module).partition(".")[0], str(extra)))
    return sorted(found)


def declared(extra: str) -> set[str]:
    """The packages of an extra in pyproject.toml, those of the extras in it included."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    names: set[str] = set()
    for requirement in table[extra]:
        if inner := re.match(r"minigrad\[(.*)\]", requirement):
            names |= set().union(*map(declared, inner[1].split(",")))
        else:
            names.add(re.split(r"[<>=;]", requirement)[0])
    return names


@pytest.mark.parametrize(("module", "extra"), calls())
def test_the_packages_are_named_that_the_extra_holds(module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        import_extra(module, extra, "this")
    said = str(caught.value)
    command = re.fullmatch(rf"this needs {module}: pip install (.*)", said)
    assert command and "'" not in said and "minigrad" not in said
    assert {name.strip('"') for name in command[1].split()} <= declared(extra)


def test_in_a_web_page_no_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(
        MissingExtraError, match=r"^compiled kernels needs numba, which is not there in Pyodide, .*Python$"
    ):
        import_extra("numba", "fast", "compiled kernels")


def test_every_kind_of_call_was_read() -> None:
    assert {extra for _, extra in calls()} >= {"graph", "train", "gpu", "fast", "scipy", "examples", "mpi"}


PLACES = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "conftest.py"]


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.name)
def test_no_page_installs_somebody_elses_project(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"pip install [^\n`]*\bminigrad\[", text)
    assert not re.search(r"pip install (-\S+ )*'", text)  # which the command line of Windows hands on as it is
