"""Where in the program something is: the characters of the very instruction, for which Python's own parser is the oracle."""

import ast
import gc
import linecache
from typing import Any

import pytest

import minigrad as mg
from minigrad import _source
from minigrad._source import SourceLine
from minigrad.graph.record.trace import note_of


def places(text: str, file: str = "<a cell>") -> list[SourceLine]:
    """Of the operations behind the variable ``loss`` of a program."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "a_program", "x": mg.Tensor(2.0, requires_grad=True)}
    with mg.trace():
        exec(compile(text, file, "exec"), space)
    notes = [note_of(entry) for entry in mg.tape(space["loss"])]
    return [note.source for note in notes if note is not None and note.source is not None]


def segment(text: str, place: SourceLine) -> str:
    lines = text.splitlines()
    assert place.column is not None and place.end_line is not None
    if place.line == place.end_line:
        return lines[place.line - 1][place.column : place.end_column]
    inner = lines[place.line : place.end_line - 1]
    return "\n".join([lines[place.line - 1][place.column :], *inner, lines[place.end_line - 1][: place.end_column]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = x * 3 + 1\nloss = y - x", ["x * 3", "x * 3 + 1", "y - x"]),
        ("loss = (-x).exp() ** 2", ["-x", "(-x).exp()", "(-x).exp() ** 2"]),
        ("値 = x; é = 'ü'; loss = 値 * 2 + 1; z = 1", ["値 * 2", "値 * 2 + 1"]),
        ("loss = (x *\n  3\n   + 1)", ["x *\n  3", "x *\n  3\n   + 1"]),
        ("y = x\ny *= 3\nloss = y", ["y *= 3"]),
        ("class A:\n\tdef f(self, t):\n\t\treturn t * 2\nloss = A().f(x)", ["t * 2"]),
    ],
)
def test_the_characters_of_an_instruction(text: str, expected: list[str]) -> None:
    found = places(text)
    assert [segment(text, place) for place in found] == expected
    for place, words in zip(found, expected):
        ast.parse(words.replace("\n", " "))
        assert place.text == text.splitlines()[place.line - 1].strip()


def test_without_text_there_is_a_line_and_no_more() -> None:
    space: dict[str, Any] = {"__name__": "a_program", "x": mg.Tensor(2.0, requires_grad=True)}
    with mg.trace():
        exec("\nloss = x * 2", space)
    (note,) = [note_of(entry) for entry in mg.tape(space["loss"])]
    assert note is not None and note.source == SourceLine("<string>", 2, "<module>") and list(note.program) == []


def test_code_that_is_gone_is_forgotten() -> None:
    places("loss = x * 2", "<a cell that goes>")
    gc.collect()
    assert not [known for known in _source._known.values() if known.reference() is None]
    assert all(
        "a cell that goes" not in place.file for known in _source._known.values() for place in known.sources.values()
    )


def test_code_that_died_is_not_taken_for_the_next_one_with_its_id() -> None:
    """At the recursion limit Python has no room for the call that forgets dying code."""
    space: dict[str, Any] = {}
    exec(compile("import sys; frame = sys._getframe()", "<code that died>", "exec"), space)
    text, file = "loss = x * 2", "<code that lives>"
    linecache.cache[file] = (len(text), None, [text], file)
    code = compile(text, file, "exec")
    _source._known[id(code)] = _source._CodePlaces(space["frame"])
    space = {"x": mg.Tensor(2.0, requires_grad=True)}
    with mg.trace():
        exec(code, space)
    (note,) = [note_of(entry) for entry in mg.tape(space["loss"])]
    assert note is not None and note.source is not None and note.source.text == text


def test_what_one_call_does_is_told_from_what_the_next_does() -> None:
    """A loop that calls a module, and one whose operations follow each other without any."""
    import numpy as np

    import nn

    model = nn.Sequential(nn.Affine(2, 2, rng=np.random.default_rng(0)), nn.Affine(2, 2, rng=np.random.default_rng(1)))
    h = mg.Tensor(np.ones((1, 2), np.float32), requires_grad=True)
    with mg.trace():
        for _ in range(3):
            h = model(h)
        for _ in range(2):
            h = h * 2
    calls = [note.call for entry in mg.tape(h) if (note := note_of(entry)) is not None]
    assert [calls.index(call) for call in calls] == [0, 0, 2, 2, 4, 4, 6, 7]


def test_a_cell_that_ipython_times_keeps_its_names() -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    define = "import minigrad as mg\nw = mg.Tensor(2.0, requires_grad=True)\ndef early(t):\n    return t * w\n"
    shell.run_cell("%%time\n" + define, silent=True)
    shell.run_cell(
        "%%time\nwith mg.trace():\n    h = 0.5\n    for t in range(2):\n        h = h * w\n"
        "    h = early(h)\n    loss = h * 3\n",
        silent=True,
    )
    labels = [node.label for node in mg.draw_dot(shell.user_ns["loss"]).operations]
    assert labels[:2] == ["h₁ · t=0", "h · t=1"] or labels[:2] == ["h · t=0", "h · t=1"]
    assert labels[2].startswith(("h", "multiply")) and labels[3] == "loss"
