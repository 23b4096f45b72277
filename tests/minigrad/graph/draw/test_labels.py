"""Labels: what they say in DOT, and how wide their texts are."""

import pytest

from minigrad.graph.draw.labels import Cell, Letters, Lines, Table, cut, text_width


def test_a_label_of_dot_says_only_what_differs() -> None:
    base = Letters(10, "red")
    lines = Lines([[("a\\b", base), ("<", Letters(10, "red", bold=True))], [("x\ny", Letters(9, "blue"))]])
    small = '<FONT COLOR="blue"><FONT POINT-SIZE="9">x<BR/>y</FONT></FONT>'
    assert lines.dot(base) == f"a\\\\b<B>&lt;</B><BR/>{small}"
    table = Table([[Cell(lines, "white", "black", span=2)]], padding=1.0)
    cell = f'<TD COLSPAN="2" BORDER="1" COLOR="black" BGCOLOR="white">{lines.dot(base)}</TD>'
    assert table.dot(base) == f'<TABLE BORDER="0" CELLPADDING="1"><TR>{cell}</TR></TABLE>'


def test_text_widths_are_not_below_those_of_a_wide_font() -> None:
    manager = pytest.importorskip("matplotlib.font_manager", reason="matplotlib has DejaVu Sans, a wide font")
    ft2font = pytest.importorskip("matplotlib.ft2font")
    font = ft2font.FT2Font(manager.findfont("DejaVu Sans"))
    font.set_size(100, 72)
    for text in ("".join(map(chr, range(32, 127))), "∂loss/∂w × αβγ → −∞ …", "matmul", "h[17] = tanh(w * x + b)"):
        width = sum(font.load_char(ord(c), ft2font.LoadFlags.NO_HINTING).linearHoriAdvance for c in text) / 65536
        assert width <= text_width(text, 100) <= 1.15 * width
    assert text_width("重み", 10) == 20


@pytest.mark.parametrize(
    "text", ["encoder." * 10 + "weight", "iiii" * 30, "日本語" * 20, "a · t=3" * 9, "W" * 30 + " · t=17"]
)
def test_a_text_is_cut_at_its_end_where_it_fits_and_its_round_stays(text: str) -> None:
    short = cut(text, 12.0)
    start, _, place = short.partition("…")
    assert text.startswith(start) and text.endswith(place) and text_width(short, 1) <= 12.0
    spaces = len(text[len(start) :]) - len(text[len(start) :].lstrip())  # which the cut drops
    assert text_width(f"{text[: len(start) + spaces + 1]}…{place}", 1) > 12.0  # one letter more
    assert place == ("" if " · " not in text else text[text.rindex(" · ") :])
    assert cut(text, text_width(text, 1)) == text and cut(" · " + "t" * 99, 5).endswith("…")
