"""Common mistakes are named in the tasks in which they are made, with their neighbours, and what is not said."""

from pathlib import Path

import pytest

from minigrad.learn.diagnosis import name_of
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, sentences

from .measure_diagnosis import answered

POWER = ("In Python `^` is no power", "累乗は、`x ** 2` のように")
TIMES = ("`*` and `**` are mixed up", "`*` と `**` を取り違えている")
KEEPDIMS = ("one is the other without its last axis", "`keepdims=True` を付けると")
MAXIMUM = ("one maximum was taken of the whole array", "最大値を一つだけ取っている")
TWO = ("Probably there are 2 mistakes at once:", "考えられる原因が2つあります。")
# The task, what is changed in its solution, and what the report says in both languages.
MADE = [
    ("1.3", ["1 - a**2", "1 - a^2"], POWER),
    ("9.2", ["g**2", "g^2"], POWER),
    ("9.2", ["beta1**t", "beta1^t"], POWER),
    ("13.1", ["h**2", "h^2"], POWER),
    ("1.3", ["1 - a**2", "1 - a*2"], TIMES),
    ("1.3", ["(a - y) ** 2", "(a - y) * 2"], TIMES),
    ("2.1", ["x * x", "x * 2"], TIMES),
    ("4.1", ["1 - y**2", "1 - y*2"], TIMES),
    ("9.2", ["beta1**t", "beta1*t"], TIMES),
    ("9.3", ["**2", "*2"], TIMES),
    ("2.1", ["x * x", "x + x"], ("a sum where a product should be", "積と和を取り違えている")),  # the same number as x * 2
    ("6.2", ["x.max(axis=-1, keepdims=True)", "x.max(axis=-1)"], KEEPDIMS),
    ("6.2", ["(g * p).sum(axis=-1, keepdims=True)", "(g * p).sum(axis=-1)"], KEEPDIMS),
    ("6.3", [", keepdims=True", ""], KEEPDIMS),
    ("6.4", [", keepdims=True", ""], KEEPDIMS),
    ("5.1", ["keepdims=True", "keepdims=False"], ("keepdims=True is missing", "keepdims=True が抜けている")),
    ("1.3", ["dz * x, dz", "dz, dz * x"], ("dloss/dw and dloss/db", "dloss/dw と dloss/db")),
    ("5.2", ["(g * x).sum(axis=0), g.sum(axis=0)", "g.sum(axis=0), (g * x).sum(axis=0)"],
     ("swapped: gradient of scale and gradient of shift", "：scale の勾配 と shift の勾配")),
    ("5.2", [", g.sum(axis=0)", ", g.sum(axis=0)[::-1]"], ("at [0] and [1] are swapped", "[0] の数と [1] の数が入れ替わって")),
    ("5.2", ["g * scale", "g * shift"], ("scale belongs there", "そこで使うのは scale です")),
    ("6.4", ["g * weight", "g * bias"], ("weight belongs there", "そこで使うのは weight です")),
    ("6.4", ["* weight + bias", "* bias + weight"], ("mixed up: weight, bias", "取り違えているようです：weight, bias")),
    ("8.1", ["slope(x) / abs(bend(x))", "bend(x) / abs(slope(x))"], ("mixed up: slope, bend", "：slope, bend")),
    ("2.1", ["b * 2 * x", "b * 2"], ("a factor of the chain rule was left out: x", "因子が一つ抜けているようです：x")),
    ("9.2", ["g**2", "m**2"], ("g belongs there", "そこで使うのは g です")),
    ("6.2", ["x.max(axis=-1, keepdims=True)", "x.max()"], MAXIMUM),
    ("6.3", ["logits.max(axis=-1, keepdims=True)", "logits.max()"], MAXIMUM),
    # Two at once, in parts of their own.
    ("5.2", ["g * scale, (g * x).sum", "g * x, (g * x).mean"], TWO),
    ("5.2", ["(g * x).sum(axis=0), g.sum(axis=0)", "g * x, g.sum()"], TWO),
    ("2.1", ["b * 2 * x, a * np.cos(x)", "b * 2, a * np.sin(x)"], TWO),
]  # fmt: skip
# Mistakes that are not certain, and two in the same numbers: nothing is said of their cause.
UNCERTAIN = [
    ("9.1", ["v = beta * v + g", "v = beta * v + (1 - beta) * g", "w - rate * v", "w + rate * v"]),
    ("6.2", ["p * (g - (g * p).sum(axis=-1, keepdims=True))", "-p * g * (1 - p)"]),
    ("6.2", ["(g * p).sum(axis=-1, keepdims=True)", "(g * p).sum(axis=-1, keepdims=True) ** 3"]),
    ("1.3", ["dz * x, dz", "dz * x + 0.25, dz - 0.5"]),
    ("9.1", ["w = w - rate * v", "w = w - rate * v + 0.125"]),
]


def reports(folder: Path, made: list[tuple[str, list[str]]]) -> list[tuple[str, ...]]:
    """The reports on solutions that were changed, in both languages."""
    sources = []
    for label, changes in made:
        text = find(label).solution.read_text(encoding="utf-8")
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in text, (label, old)
            text = text.replace(old, new)
        sources.append((label, text))
    return [tuple(report(verdict, language) for language in LANGUAGES) for verdict in answered(folder, sources)]


def test_each_is_named_in_both_languages(tmp_path: Path) -> None:
    found = reports(tmp_path, [(label, changes) for label, changes, _ in MADE])
    missing = [
        (label, changes, said)
        for (label, changes, said), texts in zip(MADE, found, strict=True)
        if any(part not in text for part, text in zip(said, texts, strict=True))
    ]
    assert missing == []


def test_what_is_uncertain_is_not_named(tmp_path: Path) -> None:
    words = ("Probably", "考えられる原因")
    for texts in reports(tmp_path, UNCERTAIN):
        assert all(word not in text for word, text in zip(words, texts, strict=True)), texts[0]


def test_two_mistakes_in_two_parts_are_said_of_these_parts(tmp_path: Path) -> None:
    ((label, changes, _),) = (one for one in MADE if one[1][-1] == "b * 2, a * np.sin(x)")
    ((english, japanese),) = reports(tmp_path, [(label, changes)])
    assert "- through a: a factor of the chain rule was left out: x.\n- through b: the derivative" in english
    assert "・a を通る分：" in japanese or "・through a" not in japanese


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_large_numbers_holds_for_each_answer(language: str) -> None:
    """It stands below a wrong answer that has subtracted a maximum, too: so it says what happens, and not what was done."""
    said = sentences(language)["about"]["stable"]
    assert ("Otherwise" in said) or ("引かないと" in said)
    assert "overflow" not in said and "オーバーフロー" not in said


def test_two_mistakes_with_the_same_numbers_are_told_apart_by_the_text(tmp_path: Path) -> None:
    """Nothing is named where the file is gone, or is another one by now: `watch` checks the same file again and again."""
    source = find("2.1").solution.read_text(encoding="utf-8").replace("x * x", "x * 2")
    (verdict,) = answered(tmp_path, [("2.1", source)])
    verdict.path.write_text(source.replace("x * 2", "2 + x - 2 + x"), encoding="utf-8")
    assert name_of(verdict).name is None
    (verdict,) = answered(tmp_path, [("2.1", source)])
    assert name_of(verdict).name == "times_power"
    (verdict,) = answered(tmp_path, [("2.1", source)])
    verdict.path.unlink()
    assert name_of(verdict).name is None
