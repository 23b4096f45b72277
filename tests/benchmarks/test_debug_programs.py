"""The training programs in benchmarks/debug_programs: each is listed in answers.json, and the answers fit the programs."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "debug_programs"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
BROKEN = sorted((FOLDER / "broken").glob("*.py"))
HEALTHY = sorted((FOLDER / "healthy").glob("*.py"))
KEYS = {"kind", "lines", "symptom_lines", "begins_at_step", "why", "causal", "validation"}


def test_the_answers_list_each_program_once() -> None:
    assert sorted(ANSWERS) == ["broken", "healthy"]
    assert [path.stem for path in BROKEN] == sorted(ANSWERS["broken"])
    assert [path.stem for path in HEALTHY] == sorted(ANSWERS["healthy"])
    assert len(BROKEN) >= 60 and len(HEALTHY) >= 30


@pytest.mark.parametrize("path", BROKEN + HEALTHY, ids=lambda path: path.stem)
def test_a_program_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), path.name, "exec")


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_the_lines_of_an_answer_are_lines_of_code(path: Path) -> None:
    answer = ANSWERS["broken"][path.stem]
    assert answer.keys() == KEYS
    text = path.read_text(encoding="utf-8").splitlines()
    assert answer["lines"], "an answer names at least one line"
    for number in answer["lines"] + answer["symptom_lines"]:
        assert 1 <= number <= len(text)
        code = text[number - 1].strip()
        assert code and not code.startswith("#")
    assert answer["begins_at_step"] is None or answer["begins_at_step"] >= 0


def test_each_kind_has_two_programs_or_more() -> None:
    kinds = [answer["kind"] for answer in ANSWERS["broken"].values()]
    assert [kind for kind in set(kinds) if kinds.count(kind) < 2] == []
