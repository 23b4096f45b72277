"""Labels: what they say in DOT, and how wide their texts are."""

import pytest

from minigrad.graph.draw.labels import cell, cut, size, small, stacked, table, text, text_width


def test_a_label_of_dot_says_what_differs() -> None:
    line = text("a\\b") + text("<", bold=True)
    below = small("x\nyy", "blue")
    assert line == "a\\\\b<B>&lt;</B>" and text("", bold=True) == small("") == ""
    assert below == '<FONT COLOR="blue"><FONT POINT-SIZE="9">x<BR/>yy</FONT></FONT>'
    both = stacked([line, text(""), below, small("")])
    assert both == f"{line}<BR/>{below}"
    inside = cell(both, "white", "black", span=2)
    assert inside == f'<TD COLSPAN="2" BORDER="1" COLOR="black" BGCOLOR="white">{both}</TD>'
    rows = f"<TR>{inside}</TR><TR>{cell(line)}{cell(below)}</TR>"
    assert (
        table([[inside], [cell(line), cell(below)]])
        == f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2">{rows}</TABLE>'
    )


def test_a_label_is_as_wide_as_its_widest_row_and_as_high_as_its_rows() -> None:
    (width, line), (wide, _) = size(text("ab", bold=True)), size(small("a<b, c"))
    assert size(stacked([text("ab"), small("a<b, c")])) == (max(width, wide), 2 * line)
    rows = [[cell(text("ab"))], [cell(small("a<b, c")), cell(small("1\n2\n3"))]]
    assert size(table(rows)) == (wide + size(small("1"))[0], 4 * line)


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
