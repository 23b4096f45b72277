"""docs/articles.md: every class, example and test that its tables name exists."""

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "articles.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| subject")
]
SUBJECTS = [row[0] for row in ROWS]
CODE = re.compile(r"`([^`]+)`")


def test_the_page_has_its_tables() -> None:
    assert len(ROWS) > 40 and all(len(row) == 4 for row in ROWS)
    assert len(set(SUBJECTS)) == len(SUBJECTS)


@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_the_classes_and_functions_exist(row: list[str]) -> None:
    names = [name for name in CODE.findall(row[1]) if re.match(r"(nn|models|minigrad)\.", name)]
    assert names
    for name in names:
        package, *attributes = name.split(".")
        found = importlib.import_module(package)
        for attribute in attributes:
            found = getattr(found, attribute)


@functools.cache
def names_used(path: Path) -> set[str]:
    """The names in the code (not in the text) of an example, and of what it imports from examples/ and models/."""
    names, done, todo = set(), {path}, [path]
    while todo:
        tree = ast.parse(todo.pop().read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, (ast.Name, ast.ClassDef)):
                names.add(node.id if isinstance(node, ast.Name) else node.name)
        new = set(_imported(tree)) - done
        done |= new
        todo += new
    return names


def _imported(tree: ast.Module) -> list[Path]:
    """`from common import run` is examples/common.py; `from models import GPT` is the file in which the class is."""
    paths = []
    for statement in ast.walk(tree):
        homes = []
        if isinstance(statement, ast.Import):
            homes = [f"examples.{alias.name}" for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            if statement.module == "models":
                models = importlib.import_module("models")
                homes = [getattr(getattr(models, alias.name), "__module__", "") for alias in statement.names]
            else:
                homes = [statement.module, f"examples.{statement.module}"]
                homes += [f"models.{statement.module}"] * statement.level  # from .transformer import ...
        paths += [ROOT / (home.replace(".", "/") + ".py") for home in homes]
    return [path for path in paths if path.parent.name in ("examples", "models") and path.is_file()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_the_examples_use_what_they_stand_beside(row: list[str]) -> None:
    paths = [ROOT / path for path in CODE.findall(row[2])]
    assert all(path.parent == ROOT / "examples" and path.is_file() for path in paths)
    assert paths or row[2] == "—"
    names = [name for name in CODE.findall(row[1]) if re.match(r"(nn|models|minigrad)\.", name)]
    used = set().union(*map(names_used, paths))
    for name in names if paths else ():
        assert name.rpartition(".")[2] in used, f"{name} is in none of {row[2]}"


@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_an_example_named_as_a_place_exists(row: list[str]) -> None:
    for path in CODE.findall(row[1]):
        assert not path.startswith("examples/") or (ROOT / path).is_file(), path


@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_the_tests_exist(row: list[str]) -> None:
    tests = CODE.findall(row[3])
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        assert path.startswith("tests/") and (ROOT / path).is_file(), path
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8") if name else True, test
