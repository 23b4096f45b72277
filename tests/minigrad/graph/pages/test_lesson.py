"""A teacher's lesson: what is read from it, what is refused and how, and the three that come with minigrad."""

import json
from pathlib import Path
from typing import Any

import pytest

from minigrad import ArgumentError
from minigrad.graph.pages.lesson import lesson_program, lessons, validated
from tests.minigrad.graph.pages.taught import page_of

PROGRAM = """
import minigrad as mg
w = mg.Tensor(2.0, requires_grad=True)
x = mg.Tensor(3.0, requires_grad=True)
with mg.trace():
    a = w * x
    b = w + 1
    loss = a * b
"""
CHOICES = [{"text": "one"}, {"text": "two", "right": True}]
ASKED = {"kind": "choice", "text": "How many?", "choices": CHOICES}


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return page_of(PROGRAM)


def steps(*found: dict[str, Any]) -> dict[str, Any]:
    return {"title": "Two paths", "steps": list(found)}


def place(data: dict[str, Any], at: int | str) -> tuple[str, ...]:
    """What the step at a place does, in names."""
    lesson = validated(steps({"at": at, "stop": True}), data)
    assert lesson is not None
    number = lesson["steps"][0]["at"]
    kind, what = data["steps"][number - 1]
    if kind == "forward":
        return kind, data["nodes"][what]["name"]
    edge = data["edges"][what]
    return kind, data["nodes"][edge["target"]]["name"], data["nodes"][edge["source"]]["name"]


def test_a_whole_lesson(data: dict[str, Any], tmp_path: Path) -> None:
    lesson = {
        "title": "Two paths",
        "intro": {"en": "Look.", "ja": "見ましょう。"},
        "steps": [
            {"at": "end", "text": {"ja": "終わり"}},
            {"at": 1, "text": "one", "stop": True},
            {"at": "backward", "question": ASKED},
        ],
    }
    found = validated(lesson, data)
    assert found is not None
    both = lambda text: {"en": text, "ja": text}
    assert found["title"] == both("Two paths") and found["intro"] == {"en": "Look.", "ja": "見ましょう。"}
    assert [step["at"] for step in found["steps"]] == [1, 3, len(data["steps"])]
    first, second, last = found["steps"]
    assert first == {"at": 1, "text": both("one"), "stop": True, "question": None}
    assert second["question"]["choices"][1] == {"text": both("two"), "right": True, "feedback": None}
    assert last["text"] == both("終わり")  # the one language that there is stands in for the other
    path = tmp_path / "my lesson.json"
    path.write_text(json.dumps(lesson), encoding="utf-8")
    assert validated(path, data) == validated(str(path), data) == found


def test_two_at_the_same_step_are_one(data: dict[str, Any]) -> None:
    lesson = steps({"at": "forward of a", "text": "One."}, {"at": 1, "text": "Two.", "stop": True, "question": ASKED})
    found = validated(lesson, data)
    assert found is not None and len(found["steps"]) == 1
    assert found["steps"][0]["text"] == {"en": "One.\n\nTwo.", "ja": "One.\n\nTwo."}
    assert found["steps"][0]["stop"] and found["steps"][0]["question"]["kind"] == "choice"


def test_places_by_name(data: dict[str, Any]) -> None:
    assert place(data, "forward of a") == ("forward", "a")
    assert place(data, "forward of loss") == ("forward", "loss")
    assert place(data, "backward of loss to b") == ("product", "loss", "b")
    assert place(data, "backward of a to w") == ("product", "a", "w")
    assert place(data, "backward of b")[:2] == ("product", "b")
    # Of the two contributions to w the one that comes last, whichever it is.
    into_w = [(kind, e) for kind, e in data["steps"] if kind != "forward" and place_source(data, e) == "w"]
    assert place(data, "gradient of w")[1] == data["nodes"][data["edges"][into_w[-1][1]]["target"]]["name"]
    assert place(data, "backward") == ("forward", "loss")


def place_source(data: dict[str, Any], edge: int) -> str:
    return str(data["nodes"][data["edges"][edge]["source"]]["name"])


def test_a_name_with_a_to_in_it_and_other_spacing(data: dict[str, Any]) -> None:
    nodes = [node | {"name": {"a": "rate to x", "b": "w+1"}.get(node["name"], node["name"])} for node in data["nodes"]]
    named = data | {"nodes": nodes}
    assert place(named, "forward of rate to x") == ("forward", "rate to x")
    assert place(named, "backward of rate to x to w") == ("product", "rate to x", "w")
    assert place(named, "backward of w + 1 to w") == ("product", "w+1", "w")


BAD = [
    (7, "lesson takes a dict, the path of a JSON file, or a name, got int"),
    ({}, "lesson needs a 'title': a text"),
    ({"title": None}, "lesson needs a 'title': a text"),
    ({"titel": "x"}, "lesson has no field 'titel': did you mean 'title'?"),
    ({"title": ""}, "lesson.title.en takes a text, got ''"),
    ({"title": {"fr": "x"}}, "lesson.title has the language 'fr': the page has 'en', 'ja'"),
    ({"title": ["x"]}, "lesson.title takes a string, or a dict with 'en', 'ja', got ['x']"),
    ({"title": "x", "program": "w = 1"}, "lesson.program takes a list of lines, got 'w = 1'"),
    ({"title": "x", "steps": {}}, "lesson.steps takes a list, got {}"),
    (steps({"text": "x"}), "lesson.steps[0] needs 'at', the step of this entry"),
    (steps({"at": 1}), "lesson.steps[0] is empty: give it 'text', 'stop': true or a 'question'"),
    (steps({"at": 1, "txt": "x"}), "lesson.steps[0] has no field 'txt': did you mean 'text'?"),
    (steps({"at": 1, "stop": "yes"}), "lesson.steps[0].stop takes true or false, got 'yes'"),
    (steps({"at": 99, "stop": True}), "lesson.steps[0].at is 99: this program's steps go from 0 to 8"),
    (steps({"at": True, "stop": True}), "lesson.steps[0].at takes a number, 'start', 'backward'"),
    (steps({"at": "middle", "stop": True}), "lesson.steps[0].at takes a number, 'start', 'backward'"),
    (steps({"at": "forward of los", "stop": True}), "names 'los', which this program does not have: did you mean 'loss'?"),
    (steps({"at": "forward of w", "stop": True}), "no step computes 'w', because it is a leaf: use 'gradient of w'"),
    (steps({"at": "backward of w", "stop": True}), "no step applies a rule of 'w'"),
    (steps({"at": "gradient of loss", "stop": True}), "no step adds to the gradient of 'loss'"),
    (steps({"at": "backward of b to x", "stop": True}), "no step goes from 'b' to 'x': there are 'w'"),
    (steps(*[{"at": at, "question": ASKED} for at in (1, "forward of a")]),
     "lesson.steps[1] asks at step 1, which has another question"),
    (steps({"at": 1, "question": {"kind": "sum"}}), "steps[0].question.kind takes 'edge', 'value', 'choice', got 'sum'"),
    (steps({"at": 1, "question": {"kind": "edge"}}), "asks for the next edge, but step 1 applies no rule"),
    (steps({"at": 0, "question": {"kind": "value"}}), "asks for a value, but step 0 is not a backward step"),
    (steps({"at": 1, "question": {"kind": "value", "choices": CHOICES}}), "choices is only for the kind 'choice', got"),
    (steps({"at": 1, "question": {"kind": "value", "hides": True}}), "hides is only for the kind 'choice' at a step, got"),
    (steps({"at": 0, "question": {"kind": "choice", "text": "?", "hides": True, "choices": CHOICES}}), "got 'choice' at 0"),
    (steps({"at": 1, "question": {"kind": "choice", "choices": CHOICES}}), "question needs a 'text' with the question"),
    (steps({"at": 1, "question": {"kind": "choice", "text": "?", "choices": CHOICES[:1]}}), "got 1, of which 0 are right"),
    (steps({"at": 1, "question": {"kind": "choice", "text": "?", "choices": [{}]}}), "choices[0] needs a 'text'"),
    ("two_path", "lesson='two_path' is not a lesson of minigrad: did you mean 'two_paths'?"),
    ("nowhere.json", "lesson='nowhere.json' cannot be read: No such file"),
]  # fmt: skip


@pytest.mark.parametrize(("lesson", "said"), BAD, ids=[said[:50] for _, said in BAD])
def test_a_bad_field_is_named(lesson: Any, said: str, data: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError) as error:
        validated(lesson, data)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_no_json(data: dict[str, Any], tmp_path: Path) -> None:
    for content in (b"{'title': 1}", b"\xff\xfe", b"[" * 100_000):
        (tmp_path / "bad.json").write_bytes(content)
        with pytest.raises(ArgumentError, match=r"bad\.json' is not JSON in UTF-8"):
            validated(tmp_path / "bad.json", data)


# --- the lessons that come with minigrad ---


@pytest.mark.parametrize("name", lessons())
def test_a_lesson_belongs_to_its_program(name: str) -> None:
    data = page_of(lesson_program(name))
    found = validated(name, data)
    assert found is not None and len(found["steps"]) >= 5
    places = [step["at"] for step in found["steps"]]
    assert places == sorted(set(places))
    assert any(at <= data["turn"] for at in places) and places[-1] == len(data["steps"])
    assert {step["question"]["kind"] for step in found["steps"] if step["question"]}


@pytest.mark.parametrize("name", lessons())
def test_every_text_is_there_in_both_languages(name: str) -> None:
    texts = list(all_texts(validated(name, page_of(lesson_program(name)))))
    assert len(texts) >= 8
    for text in texts:
        assert text["en"].isascii() or any(mark in text["en"] for mark in "∂·“”’"), text
        assert any("぀" <= letter <= "鿿" for letter in text["ja"]), text


def all_texts(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"en", "ja"}:
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from all_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from all_texts(part)


def test_the_numbers_that_the_lessons_speak_of() -> None:
    def gradient(name: str, of: str) -> Any:
        variables: dict[str, Any] = {}
        exec(lesson_program(name), variables)
        variables["loss"].backward()
        return variables[of].grad.numpy().tolist()

    assert gradient("chain_rule", "x") == 0.5 * 1 * 3 * 3
    assert gradient("two_paths", "w") == 15
    assert gradient("neuron_batch", "b") == [2]
    assert gradient("neuron_batch", "w") == [[3], [-1]]
    assert set(lessons()) == {"chain_rule", "two_paths", "neuron_batch"}
    with pytest.raises(ArgumentError, match="has no 'program': its program is in examples/lessons"):
        lesson_program("course/01_open")
