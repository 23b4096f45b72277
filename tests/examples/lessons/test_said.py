"""What the programs of the Japanese lessons print and draw: in Japanese, and in English where no font has the letters."""

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import lesson_notebooks
import minigrad as mg
from lesson_notebooks import cells, lessons
from minigrad.graph.draw import fonts

JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
DECIMAL = re.compile(r"-?\d+\.\d+")
# Words that stay as they are: of the sentences that the networks read, and names of things.
KEPT = {"the", "cat", "dog", "bird", "fox", "hen", "saw", "heard", "fed", "sees"}
KEPT |= {"True", "False", "None", "nan", "inf", "dloss", "relu", "attention", "float32", "float64", "mathdefault"}
NAME = re.compile(r"[A-Za-z]\w*[._][\w.]*")  # such as layers.0.attention.key.bias and layer_norm
# Lines that quote what is written by minigrad, NumPy or the GPT of lesson 12.
QUOTED = re.compile("エラー：|the derivative|^元の文章に|^温度|^'")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the pictures that a lesson saves. No pages are written: the lessons in English test these."""
    figure = pytest.importorskip("matplotlib.figure", exc_type=ImportError)
    text = pytest.importorskip("matplotlib.text", exc_type=ImportError).Text
    pytest.importorskip("matplotlib").use("Agg")
    said: list[str] = []

    def save(self: Any, *_: Any, **settings: Any) -> None:
        self.draw_without_rendering()
        said.extend(one.get_text() for one in self.findobj(text))

    monkeypatch.setattr(figure.Figure, "savefig", save)
    monkeypatch.setattr(mg, "explain", lambda *_, **settings: None)
    return said


def programs(path: Path, language: str) -> str:
    return "\n\n".join(cell.text for cell in cells(path, language) if cell.name is None)


def printed(path: Path, folder: Path) -> str:
    """What the Japanese lesson prints."""
    rc_context = pytest.importorskip("matplotlib").rc_context
    pyplot = pytest.importorskip("matplotlib.pyplot")
    out = io.StringIO()
    file = folder / path.name
    file.write_text(programs(path, "ja"), encoding="utf-8")
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), rc_context():
        exec(compile(file.read_bytes(), str(file), "exec"), {"__name__": "__main__"})
    pyplot.close("all")
    return out.getvalue()


def names_in(path: Path) -> set[str]:
    """The parts of the names and attributes in a lesson's program."""
    nodes = list(ast.walk(ast.parse(programs(path, "en"))))
    names = [getattr(node, kind, None) or "" for node in nodes for kind in ("id", "attr", "name", "arg")]
    return {part for name in names for part in re.findall("[A-Za-z0-9]+", name)}


@pytest.mark.sampled(14)
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_japanese_lesson_speaks_japanese(
    path: Path, run: Any, drawn: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a font for all letters, whatever this computer has. The numbers are those of the English lesson, line by line."""
    english = run(path)[0].splitlines()
    drawn.clear()
    monkeypatch.setattr(fonts, "lacking", lambda text: "")
    monkeypatch.setattr(fonts, "families", lambda text: [fonts.OWN])
    japanese = printed(path, tmp_path).splitlines()
    known = KEPT | names_in(path)
    for line in [*japanese, *drawn]:
        if not QUOTED.search(line):
            words = re.findall(r"[A-Za-z0-9]+", NAME.sub("", line))
            assert {word for word in words if re.search("[A-Za-z]{3}", word)} <= known, line
    assert [sorted(DECIMAL.findall(line)) for line in japanese] == [sorted(DECIMAL.findall(line)) for line in english]
    assert sum(bool(JAPANESE.search(text)) for text in drawn) >= 4


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("own_fonts_only")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.name[:2] in ("05", "10") else pytest.mark.thorough)
        for path in lessons()
    ],
)
def test_with_matplotlibs_own_font_the_pictures_are_english(path: Path, drawn: list[str], tmp_path: Path) -> None:
    """A letter that the font lacks would be a warning, hence an error. What is printed stays Japanese."""
    assert JAPANESE.search(printed(path, tmp_path))
    assert drawn and not any(JAPANESE.search(text) for text in drawn)


def test_a_text_that_may_be_drawn_is_decided_when_it_is_drawn() -> None:
    code = 'LANGUAGE = "en"\nnames = {"step": 1}\nprint("now", f"{names} of {2}", "step")\nraise SystemExit("now")'
    said = {'"step"': '"歩"', '"now"': '"今"', 'f"{names} of {2}"': 'f"{2} の {names}"'}
    (found,) = lesson_notebooks._in_words([code], said, {'"en"': '"ja"'}, "x.py")
    program, _, function = found.partition("\n\n")
    assert program == (
        'LANGUAGE = "ja"\nnames = {drawn("歩", "step"): 1}\nprint("今", f"{2} の {names}", drawn("歩", "step"))\n'
        'raise SystemExit("今")'
    )
    assert "def drawn(japanese, english):" in function
    with pytest.raises(ValueError, match=r'x\.py: no program says "later"'):
        lesson_notebooks._in_words([code], {'"later"': '"後"'}, {}, "x.py")


def test_each_line_of_words_is_read() -> None:
    for path in lessons():
        text = lesson_notebooks.translation(path.parent / "ja" / f"{path.stem}.md")["said"]
        assert all(lesson_notebooks.WORD.fullmatch(line) for line in text.splitlines()), path.stem
