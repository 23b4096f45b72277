"""Any font that has a character is used. Where none has it, no drawing warns, and one note says what to install."""

import ast
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.graph.draw import figures, fonts, graphviz
from minigrad.graph.pages.attention_maps import Map, draw_maps
from tests.lazy import font_manager

ROOT = Path(__file__).parents[4]
pytestmark = pytest.mark.usefixtures("own_fonts_only")
Install = Callable[..., Path]


def made(family: str, characters: str, weight: int) -> Any:
    """A font of squares."""
    builder = importlib.import_module("fontTools.fontBuilder").FontBuilder(1000)  # Matplotlib needs fontTools
    pen = importlib.import_module("fontTools.pens.ttGlyphPen").TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 800), (800, 800), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", "square"]
    style = "Regular" if weight == 400 else "Bold"
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(c): "square" for c in characters})
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (900, 0)))
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": family, "styleName": style, "fullName": f"{family} {style}"})
    builder.setupOS2(usWeightClass=weight)
    builder.setupPost()
    return builder.font


@pytest.fixture
def file_of(tmp_path: Path) -> Install:
    """`file_of(family, characters, weight=400, suffix=".ttf")` writes a font; a .ttc has it among two."""

    def write(family: str, characters: str, weight: int = 400, suffix: str = ".ttf") -> Path:
        path = tmp_path / f"{family}-{weight}{suffix}"
        font = made(family, characters, weight)
        if suffix == ".ttc":
            collection = importlib.import_module("fontTools.ttLib").TTCollection()
            collection.fonts = [font, made(f"{family} Other", "x", 400)]
            collection.save(str(path))
        else:
            font.save(path)
        return path

    return write


@pytest.fixture
def install(file_of: Install) -> Install:
    """Write a font of which Matplotlib knows."""

    def install(*arguments: Any, **keywords: Any) -> Path:
        path = file_of(*arguments, **keywords)
        font_manager.fontManager.addfont(path)
        return path

    return install


def draw(text: str, path: Path) -> None:
    """As title, caption, label and token; a missing glyph would be a warning, hence an error."""
    draw_maps([[Map(text, [text, "a"], list("ab"), np.eye(2))]], path, caption=text, captions=[text], looks_at=text)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("ελληνικά, русский, ∂f/∂x → 😀", ""),
        ("a こた\tこ", "こた"),
        ("I 🚀 you", "🚀"),
        ("a\U000e0041b\u0378", "\U000e0041\u0378"),
    ],
)
def test_a_character_that_no_font_has_is_drawn_without_a_warning(text: str, lacks: str, tmp_path: Path) -> None:
    assert fonts.lacking(text) == lacks
    draw(text, tmp_path / "a.png")


def test_each_font_is_opened_once(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    ft2font = importlib.import_module("matplotlib.ft2font")
    opened: list[str] = []

    def opening(file: str, **how: Any) -> Any:
        opened.append(file)
        return original(file, **how)

    original = ft2font.FT2Font
    install("Kanji", "食")
    monkeypatch.setattr(ft2font, "FT2Font", opening)
    for text in ("食", "物", "物食", "a食", "🚀"):
        fonts.lacking(text)
    assert len(opened) == len(set(opened)) > 1


def test_one_note_says_which_fonts_to_install(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for text in ("plain", "こたつでみかん", "食べる", "🚀", "मराठी"):
        draw(text, tmp_path / "a.png")
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "note: no installed font has こ た つ で み, so pictures show boxes; install the Noto fonts "
        "(on Debian: apt install fonts-noto)"
    ]


# --- which fonts count ---


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", ["Noto Serif CJK JP", "A Font Nobody Has Heard Of"])
@pytest.mark.parametrize("suffix", [".ttf", ".ttc"])
def test_any_font_that_has_the_character_is_used(
    family: str, suffix: str, install: Install, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    install(family, "食べる", suffix=suffix)
    assert fonts.families("a食べる") == [fonts.OWN, family]
    assert fonts.lacking("食べる物") == "物"
    for end in (".png", ".svg", ".pdf"):
        draw("a食べる", tmp_path / f"a{end}")
    assert "<!-- a食べる -->" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert capfd.readouterr().err == ""


def test_the_better_known_font_comes_first_and_others_fill_its_gaps(install: Install) -> None:
    for family in ("Serif of Kanji", "Sans of Kanji", "Noto Sans CJK JP"):
        install(family, "食" if family.startswith("Noto") else "食物")
    assert fonts.families("物") == [fonts.OWN, "Sans of Kanji"]
    assert fonts.families("食") == [fonts.OWN, "Noto Sans CJK JP"]
    assert fonts.families("物食") == [fonts.OWN, "Noto Sans CJK JP", "Sans of Kanji"]


def test_a_family_without_the_usual_weight_is_used_without_a_remark(
    install: Install, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    install("Bold Alone", "食", weight=700)
    draw("食", tmp_path / "a.png")
    assert fonts.families("食") == [fonts.OWN, "Bold Alone"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("others", [[], [400], [700]])
def test_a_font_that_was_listed_and_removed(others: list[int], install: Install, tmp_path: Path) -> None:
    path = install("Gone", "食")
    for weight in others:
        install("Gone" if weight == 700 else "Still There", "食", weight=weight)
    path.unlink()
    draw("食", tmp_path / "a.png")
    assert fonts.families("食")[1:] == (["Still There"] if others == [400] else [])


def test_a_font_that_was_installed_after_the_list_was_made(
    file_of: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    files = [str(broken), str(file_of("New", "食"))]
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", lambda *paths, **type: files)
    draw("食", tmp_path / "a.png")
    assert fonts.families("食") == [fonts.OWN, "New"]


def test_a_font_of_placeholders_does_not_count(install: Install) -> None:
    install("Last Resort", "食\U000efffd")
    assert fonts.lacking("食") == "食"


def test_a_file_that_is_no_font_any_more_does_not_count(install: Install) -> None:
    install("Broken", "食").write_bytes(b"no font")
    assert fonts.lacking("食") == "食"


# --- every drawing ---


def test_every_text_of_a_figure_has_its_fonts(
    tmp_path: Path, install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    from matplotlib.text import Text

    install("Kanji", "食")
    with figures.figure(3, 3) as figure:
        figure.suptitle("題")
        ax = figure.add_subplot()
        ax.plot([0, 1], [0, 1], label="みかん")
        ax.legend()
        ax.set(title="食べる", ylabel="$x$")
        ax.annotate("a食", (0, 0))
        ax.set_xticks([0, 0.5, 1], ["こ", "食", "物"], rotation=30)
        ax.yaxis.set_major_formatter(lambda value, place: "食べ")
        figures.save(figure, tmp_path / "a.png")
        texts = {text.get_text(): text.get_fontfamily() for text in figure.findobj(Text)}
    assert {"題", "みかん", "食べる", "$x$", "a食", "こ", "食", "物"} <= set(texts)
    assert texts["食べる"] == texts["食"] == texts["a食"] == [fonts.OWN, "Kanji"]
    assert texts["みかん"] == [fonts.OWN]
    assert capfd.readouterr().err.count("install the Noto fonts") == 1


def test_every_drawing_of_the_project_goes_through_save() -> None:
    saving = {
        path.relative_to(ROOT).as_posix()
        for folder in ("minigrad", "nn", "models", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("savefig", "imsave", "print_figure")
    }
    lessons = {name for name in saving if name.startswith("examples/lessons/")}
    assert saving - lessons == {"minigrad/graph/draw/figures.py"}
    assert len(lessons) >= 4


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "lessons").glob("*.py")), ids=lambda path: path.stem)
def test_a_lesson_draws_as_every_tutorial_does_and_writes_nothing_that_matplotlibs_font_lacks(path: Path) -> None:
    drawn = [
        text.value
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and re.match(r"(plt|axes|figure|left|right)\b", ast.unparse(call.func))
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]
    import matplotlib
    from matplotlib.ft2font import FT2Font

    has = FT2Font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))).get_charmap()
    assert drawn and {c for text in drawn for c in text if ord(c) not in has and not c.isspace()} == set()


# --- Graphviz ---


DOT = 'digraph { graph [a=b] node0 [label=<<B>食べる &amp; こ</B>> tooltip="🚀"] }'


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program `dot` that gives back what it was given, and where it should look for fonts."""
    if sys.platform == "win32":
        pytest.skip("the stand-in for dot is a shell script")
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\ncat; if [ -n "$FONTCONFIG_FILE" ]; then cat "$FONTCONFIG_FILE"; fi\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("FONTCONFIG_FILE", raising=False)


@pytest.mark.usefixtures("echo")
def test_a_picture_by_graphviz_names_the_font_too_but_not_an_svg(
    install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    install("Kanji", "食")
    assert DOT in graphviz.typeset(DOT, "svg").decode() and capfd.readouterr().err == ""
    for format in ("png", "pdf"):
        assert DOT in graphviz.typeset(DOT, format).decode()
    said = capfd.readouterr().err
    assert said.startswith("note: no installed font has べ る こ 🚀, so") and said.count("\n") == 1


@pytest.mark.usefixtures("echo")
def test_graphviz_is_lent_a_font_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(font_manager.findfont(fonts.OWN)).parent
    assert f"<dir>{own}</dir>" in graphviz.typeset(DOT, "png").decode()
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", lambda *paths, **type: ["a.ttf"])
    assert "<dir>" not in graphviz.typeset(DOT, "png").decode()


@pytest.mark.usefixtures("echo")
def test_without_matplotlib_nobody_can_look_into_the_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.font_manager", None)
    assert graphviz.typeset(DOT, "pdf").decode() == DOT


def test_pygraphviz_draws_with_the_font_it_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygraphviz", reason="needs pygraphviz: pip install pygraphviz")
    monkeypatch.setattr("shutil.which", lambda name: None)
    dot = 'digraph { graph [a=b] a [label="a long label, in the font that is lent"] }'
    lent = graphviz.typeset(dot, "svg")
    empty = Path(__file__).parent / "nothing"
    monkeypatch.setattr(fonts, "_FONTCONFIG", f"<fontconfig><dir>{empty}</dir></fontconfig>")
    assert graphviz.typeset(dot, "svg") != lent  # without a font Graphviz can only guess the widths
