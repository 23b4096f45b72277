"""What is said of single mistakes: the sentence that helps, and not one that says another thing."""

from pathlib import Path

import pytest

from minigrad.learn.checker import Verdict
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, sentences

from .answers import ANSWERS
from .measure_diagnosis import answered

WORDS = ANSWERS["words"]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    sources = []
    for each in WORDS:
        source = find(each["task"]).solution.read_text(encoding="utf-8")
        for old, new in each["changes"]:
            assert old in source, (each["task"], old)
            source = source.replace(old, new)
        sources.append((each["task"], source))
    return answered(tmp_path_factory.mktemp("said"), sources)


@pytest.mark.parametrize("i", range(len(WORDS)), ids=[f"{each['task']}-{each['english'][:24]}" for each in WORDS])
def test_what_is_said(i: int, verdicts: list[Verdict]) -> None:
    told = report(verdicts[i], "en")
    assert WORDS[i]["english"] in told and WORDS[i]["never"] not in told, told
    assert WORDS[i]["japanese"] in report(verdicts[i], "ja"), report(verdicts[i], "ja")


def test_the_shapes_of_the_line_that_stops_are_named(tmp_path: Path) -> None:
    source = "import numpy as np\n\ndef matmul_backward(x, W, g):\n    total = x @ x + W + g\n    return total, total\n"
    (verdict,) = answered(tmp_path, [("6.1", source)])
    assert verdict.finding is not None and verdict.case is not None
    shapes = {name: verdict.case.inputs[name].shape for name in "xWg"}
    assert f"In this line: x {shapes['x']}, W {shapes['W']}, g {shapes['g']}." in report(verdict, "en")


def test_other_errors_are_left_as_they_are(tmp_path: Path) -> None:
    (verdict,) = answered(tmp_path, [("6.1", "def matmul_backward(x, W, g):\n    return x @ W, W.shapes\n")])
    told = report(verdict, "en")
    assert "has no attribute 'shapes'" in told and "In this line" not in told


def test_each_message_of_numpy_has_words_in_each_language() -> None:
    assert all(sentences(language)["numpy"].keys() == sentences("numpy").keys() for language in LANGUAGES)
