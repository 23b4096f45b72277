"""docs/articles.md: every class, example and test that its tables name exists."""

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


@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_the_examples_exist(row: list[str]) -> None:
    paths = [path for path in CODE.findall(row[1] + row[2]) if path.startswith("examples/")]
    assert paths
    for path in paths:
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("row", ROWS, ids=SUBJECTS)
def test_the_tests_exist(row: list[str]) -> None:
    tests = CODE.findall(row[3])
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        assert path.startswith("tests/") and (ROOT / path).is_file(), path
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8") if name else True, test
