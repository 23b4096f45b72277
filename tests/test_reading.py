"""What docs/read-the-source.md says of how much there is to read and to run is what is there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import reading

NUMBER = r"\d[\d,]*"
SOURCE = """
def outer(n):
    total = sum(
        i * i
        for i in range(n)
    )
    if n > 100:
        never()
    for _ in range(2):
        total += inner(n)
    return [inner(i) for i in range(2)]


def inner(n):
    # a comment is no line that runs
    return (lambda: abs(n))()


def never():
    pass
"""


def test_the_page_says_at_least_what_is_counted() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.reading"], capture_output=True, text=True, check=True)
    way, printed = done.stdout.splitlines()[-3], done.stdout.splitlines()[-1]
    changes, returns = map(int, re.findall(r"(\d+) times", way))
    assert changes <= 101 and returns <= 60, way  # at most a third of what they were once
    said = " ".join((reading.ROOT.parent / "docs" / "read-the-source.md").read_text(encoding="utf-8").split())
    pattern = f"({NUMBER})".join(map(re.escape, re.split(NUMBER, printed)))
    found = re.search(pattern, said)
    assert found, f"docs/read-the-source.md has to say: {printed}"
    counted, allowed = (
        [int(number.replace(",", "")) for number in re.findall(NUMBER, text)] for text in (printed, found[0])
    )
    assert len(counted) == 14
    statements, _, files = counted[4:7]  # that the program enters; in a process in which nothing else has run
    assert statements <= 157 and files <= 10
    assert all(now <= then for now, then in zip(counted, allowed, strict=True)), (
        f"docs/read-the-source.md has to say: {printed}"
    )


def test_a_walk_counts_the_changes_of_file_and_the_returns(tmp_path: Path) -> None:
    """a.one, b.two, a.three, b.four: three changes, of which two lead back; what is entered again is not met again."""
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    own: dict[str, Any] = {}
    first.write_text("def one():\n    two()\n    four()\n    two()\n\ndef three():\n    pass\n", encoding="utf-8")
    second.write_text("def two():\n    three()\n\ndef four():\n    pass\n", encoding="utf-8")
    for path in (first, second):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), own)
    assert reading.walk(own["one"], tmp_path) == reading.Walk(functions=4, files=2, changes=3, returns=2)
    assert reading.walk(own["one"], tmp_path / "a.py") == reading.Walk(functions=2, files=1, changes=0, returns=0)


def test_distinct_statements_functions_and_files_are_counted(tmp_path: Path) -> None:
    file, other = tmp_path / "own.py", tmp_path / "other.py"
    file.write_text(SOURCE, encoding="utf-8")
    other.write_text("def call(f):\n    return f(3)\n", encoding="utf-8")
    own: dict[str, object] = {}
    for path in (file, other):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), own)
    outer, call = own["outer"], own["call"]
    before = sys.gettrace()
    # total, if, for, total, return; return of inner; and outer, inner, lambda
    assert reading.executed(lambda: call(outer), file) == (6, 3, 1)  # type: ignore[operator]
    assert reading.executed(lambda: call(outer), tmp_path) == (7, 4, 2)  # type: ignore[operator]
    assert sys.gettrace() is before


def test_a_second_measurement_is_the_first() -> None:
    for library in reading.own_libraries():
        assert library.measure() == library.measure()


def test_a_library_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("micrograd", "micrograd.engine", "dezero", "benchmarks.peer_dezero"):
        monkeypatch.setitem(sys.modules, name, None)
    said = list(reading.other_libraries())
    assert len(said) == 2
    assert all(isinstance(one, str) and "is left out (" in one and "pip install" in one for one in said)
