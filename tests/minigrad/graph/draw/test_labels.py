"""Labels: what they say in DOT, and how wide their texts are."""

import pytest

from minigrad.graph.draw.labels import beside, cell, cut, small, stacked, table, text, text_width


def test_a_label_of_dot_says_what_differs_and_is_as_large_as_its_parts() -> None:
    line = beside([text("a\\b"), text("<", bold=True)])
    below = small("x\nyy", "blue")
    assert line.dot == "a\\\\b<B>&lt;</B>"
    assert below.dot == '<FONT COLOR="blue"><FONT POINT-SIZE="9">x<BR/>yy</FONT></FONT>'
    both = stacked([line, text(""), below, small("")])
    assert both.dot == f"{line.dot}<BR/>{below.dot}"
    assert (both.width, both.height) == (max(line.width, below.width), line.height + below.height)
    assert below.height == 2 * small("x").height and line.width > text_width("a\\b<", 11)
    inside = cell(both, "white", "black", span=2)
    assert inside.dot == f'<TD COLSPAN="2" BORDER="1" COLOR="black" BGCOLOR="white">{both.dot}</TD>'
    whole = table([[inside], [cell(line), cell(below)]], padding=1.0)
    rows = f"<TR>{inside.dot}</TR><TR>{cell(line).dot}{cell(below).dot}</TR>"
    assert whole.dot == f'<TABLE BORDER="0" CELLPADDING="1">{rows}</TABLE>'
    assert whole.width == max(inside.width, cell(line).width + cell(below).width)
    assert whole.height == inside.height + cell(below).height


def test_text_widths_are_not_below_those_of_a_wide_font() -> None:
    manager = pytest.importorskip("matplotlib.font_manager", reason="matplotlib has DejaVu Sans, a wide font")
    ft2font = pytest.importorskip("matplotlib.ft2font")
    font = ft2font.FT2Font(manager.findfont("DejaVu Sans"))
    font.set_size(100, 72)
    for words in ("".join(map(chr, range(32, 127))), "∂loss/∂w × αβγ → −∞ …", "matmul", "h[17] = tanh(w * x + b)"):
        width = sum(font.load_char(ord(c), ft2font.LoadFlags.NO_HINTING).linearHoriAdvance for c in words) / 65536
        assert width <= text_width(words, 100) <= 1.15 * width
    assert text_width("重み", 10) == 20


@pytest.mark.parametrize(
    "words", ["encoder." * 10 + "weight", "iiii" * 30, "日本語" * 20, "a · t=3" * 9, "W" * 30 + " · t=17"]
)
def test_a_text_is_cut_at_its_end_where_it_fits_and_its_round_stays(words: str) -> None:
    short = cut(words, 12.0)
    start, _, place = short.partition("…")
    assert words.startswith(start) and words.endswith(place) and text_width(short, 1) <= 12.0
    spaces = len(words[len(start) :]) - len(words[len(start) :].lstrip())  # which the cut drops
    assert text_width(f"{words[: len(start) + spaces + 1]}…{place}", 1) > 12.0  # one letter more
    assert place == ("" if " · " not in words else words[words.rindex(" · ") :])
    assert cut(words, text_width(words, 1)) == words and cut(" · " + "t" * 99, 5).endswith("…")
