"""What is said of single mistakes: the sentence that helps, and not one that says another thing."""

from pathlib import Path

import pytest

from minigrad.learn.checker import Verdict
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, sentences

from .measure_diagnosis import answered

STALE: tuple[str, ...] = ("y = x * scale\n", "y = x * scale\n    before = y\n", "out = y + h ", "out = y\n    y += h ")
STALE += ("np.tanh(y) ** 2", "np.tanh(before) ** 2")
COPIED = (*STALE, "before = y\n", "before = y.copy()\n", "(gy * x)", "(gy * y)")
# The task, what is changed in its solution, what is said in English and in Japanese, and what is not.
SAID: list[tuple[str, tuple[str, ...], str, str, str]] = [
    ("2.1", ("b * 2 * x", "2 * x"), "Nothing is added here", "ここではまだ足しません", "add them"),
    ("6.4", ("(g * n).sum(axis=0), g", "(g * x).sum(axis=0), g"), "should: n belongs there", "使うのは n です", "by another"),
    ("7.1", ("gx = gx + gz", "gx = x + gz"), "should: g_out belongs there", "使うのは g_out です", "by another argument"),
    ("11.1", ("h.T @ gz", "x.T @ gz"), "should: h belongs there", "使うのは h です", "by another argument"),
    ("5.2", ("g * scale", "g * x"), "the derivative by another argument", "ほかの引数で微分", "belongs there"),
    ("9.2", ("np.sqrt(v / (1 - beta2**t))", "np.sqrt(v) / (1 - beta2**t)"), "the bracket of the square root closes too early",
     "かっこを閉じるのが早すぎる", "left out"),
    ("9.2", ("np.sqrt(v / (1 - beta2**t))", "v / (1 - beta2**t)"), "the square root was left out", "平方根が抜けて", "bracket"),
    ("9.2", ("enumerate(gradients, 1)", "enumerate(gradients)"), "the steps are counted from 0", "歩数を 0 から", "off by one"),
    ("7.2", STALE, "Line 9, `before = y`, makes no copy", "9 行目の `before = y` ではコピーになりません", "Probably"),
    ("7.2", COPIED, "Probably: ", "考えられる原因", "makes no copy"),
    ("6.1", ("np.swapaxes(x, -1, -2)", "x"), "must be as long as the last but one of b", "長さが同じでなければ", "Probably"),
    ("6.1", ("np.swapaxes(x, -1, -2) @ g", "2 @ g"), "one of the two is a single number", "片方がただの数です", "as long"),
    ("6.1", ("np.swapaxes(x, -1, -2) @ g", "(x.T @ g if x.ndim == 2 else x[:1] @ x[:2].swapaxes(-1, -2) @ np.ones((4, 2, 2)))"),
     "the axes before the last two are a batch", "バッチの軸が合っていません", "as long"),
    ("6.1", ("np.swapaxes(x, -1, -2) @ g", "np.dot(x, g)"), "Here the shapes are (", "ここでは形が (", "single number"),
    ("5.2", ("(g * x)", "(g * np.ones(7))"), "equally long or 1 long", "長さが同じか、片方が 1", "Probably"),
    ("5.2", ("(g * x).sum(axis=0)", "np.add(g, x, out=np.zeros(len(scale)))"), "writes into a", "a に書き込む", "equally"),
    ("5.2", ("(g * x).sum(axis=0)", "(g * x).sum(axis=2)"), "there is no axis 2", "軸 2 はありません", "Probably"),
    ("10.3", ("heads, d // heads)", "heads, d)"), "reshape keeps every number", "数の個数は変わりません", "Probably"),
    ("6.3", ("log_p[rows, labels]", "log_p[rows, labels + 9]"), "there is no place", "番目はありません", "Probably"),
]  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    sources = []
    for label, changes, *_ in SAID:
        source = find(label).solution.read_text(encoding="utf-8")
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in source, (label, old)
            source = source.replace(old, new)
        sources.append((label, source))
    return answered(tmp_path_factory.mktemp("said"), sources)


@pytest.mark.parametrize("i", range(len(SAID)), ids=[f"{label}-{english[:24]}" for label, _, english, *_ in SAID])
def test_what_is_said(i: int, verdicts: list[Verdict]) -> None:
    _, _, english, japanese, never = SAID[i]
    told = report(verdicts[i], "en")
    assert english in told and never not in told, told
    assert japanese in report(verdicts[i], "ja"), report(verdicts[i], "ja")


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
