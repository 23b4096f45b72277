"""The training programs in benchmarks/debug_programs: each has an answer beside it, and the answers fit the programs."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.debug import FOLDER, SETS, programs

PROGRAMS = programs()
BROKEN = [(path, answer) for path, answer in PROGRAMS if path.parent.name != "healthy"]
KEYS = {"set", "kind", "lines", "symptom_lines", "begins_at_step", "why", "causal", "validation"}


def test_each_program_has_one_answer_beside_it() -> None:
    assert sorted(path for path, _ in PROGRAMS) == sorted(FOLDER.glob("*/*.py"))
    assert all(answer.keys() == {"set"} for path, answer in PROGRAMS if path.parent.name == "healthy")


def test_a_folder_holds_the_programs_of_one_kind() -> None:
    kinds = {(path.parent.name, answer["kind"]) for path, answer in BROKEN}
    assert len(kinds) == len({folder for folder, _ in kinds}) == len({kind for _, kind in kinds}) >= 39


@pytest.mark.parametrize("path", [path for path, _ in PROGRAMS], ids=lambda path: path.stem)
def test_a_program_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), path.name, "exec")


@pytest.mark.parametrize(("path", "answer"), BROKEN, ids=[path.stem for path, _ in BROKEN])
def test_the_lines_of_an_answer_are_lines_of_code(path: Path, answer: dict[str, Any]) -> None:
    assert answer.keys() == KEYS
    text = path.read_text(encoding="utf-8").splitlines()
    assert answer["lines"], "an answer names at least one line"
    for number in answer["lines"] + answer["symptom_lines"]:
        assert 1 <= number <= len(text)
        code = text[number - 1].strip()
        assert code and not code.startswith("#")
    assert answer["begins_at_step"] is None or answer["begins_at_step"] >= 0


def test_each_set_has_its_programs() -> None:
    broken = Counter(answer["set"] for _, answer in BROKEN)
    whole = Counter(answer["set"] for _, answer in PROGRAMS)
    expected = dict(zip(SETS, [(78, 32), (30, 8), (30, 8), *[(30, 10)] * 3, *[(40, 20)] * 7]))
    assert {name: (broken[name], whole[name] - broken[name]) for name in whole} == {
        name: expected[name] for name in whole
    }


@pytest.mark.parametrize("name", SETS[:6])
def test_how_often_a_set_has_each_kind(name: str) -> None:
    """The first set has two programs or more of each kind, the later ones one at most."""
    kinds = Counter(answer["kind"] for _, answer in BROKEN if answer["set"] == name)
    assert min(kinds.values()) >= 2 if name == "first" else set(kinds.values()) == {1}
