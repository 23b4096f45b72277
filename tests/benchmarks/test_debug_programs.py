"""The training programs in benchmarks/debug_programs: each is listed in answers.json, and the answers fit the programs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "debug_programs"
SECOND = FOLDER / "second"


def read_answers(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "answers.json").read_text(encoding="utf-8"))


ANSWERS = read_answers(FOLDER)
BROKEN = sorted((FOLDER / "broken").glob("*.py"))
HEALTHY = sorted((FOLDER / "healthy").glob("*.py"))
SECOND_ANSWERS = read_answers(SECOND)
SECOND_PROGRAMS = sorted(SECOND.glob("*.py"))
CASES = [(path, ANSWERS) for path in BROKEN]
CASES += [(path, SECOND_ANSWERS) for path in SECOND_PROGRAMS if path.stem in SECOND_ANSWERS["broken"]]
KEYS = {"kind", "lines", "symptom_lines", "begins_at_step", "why", "causal", "validation"}


def test_the_answers_list_each_program_once() -> None:
    assert sorted(ANSWERS) == ["broken", "healthy"]
    assert [path.stem for path in BROKEN] == sorted(ANSWERS["broken"])
    assert [path.stem for path in HEALTHY] == sorted(ANSWERS["healthy"])
    assert len(BROKEN) >= 60 and len(HEALTHY) >= 30


def test_the_answers_of_the_second_set_list_each_program_once() -> None:
    assert sorted(SECOND_ANSWERS) == ["broken", "healthy"]
    assert [path.stem for path in SECOND_PROGRAMS] == sorted([*SECOND_ANSWERS["broken"], *SECOND_ANSWERS["healthy"]])
    assert len(SECOND_ANSWERS["broken"]) == 30 and len(SECOND_ANSWERS["healthy"]) == 8


def test_the_second_set_repeats_no_program() -> None:
    assert not {path.stem for path in SECOND_PROGRAMS} & {path.stem for path in BROKEN + HEALTHY}


@pytest.mark.parametrize("path", BROKEN + HEALTHY + SECOND_PROGRAMS, ids=lambda path: path.stem)
def test_a_program_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), path.name, "exec")


@pytest.mark.parametrize(("path", "answers"), CASES, ids=[path.stem for path, _ in CASES])
def test_the_lines_of_an_answer_are_lines_of_code(path: Path, answers: dict[str, Any]) -> None:
    answer = answers["broken"][path.stem]
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


def test_no_kind_has_two_programs_in_the_second_set() -> None:
    kinds = Counter(answer["kind"] for answer in SECOND_ANSWERS["broken"].values())
    assert [kind for kind, count in kinds.items() if count > 1] == []
