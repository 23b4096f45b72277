"""examples/translate_dates.py: the data and its split, the baselines, what is written, checkpoints and bad input."""

import datetime
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dates
import translate_dates as example
from common import run
from dates import END, LOCALES, PADDING, START, STYLES, Characters, Dates, padded
from minigrad.serialize import load_checkpoint, save_checkpoint
from models import Transformer, TransformerConfig
from tests.examples.processes import command
from translate_dates import Translator

WRITTEN = {"dates.safetensors", "dates_loss.png", "dates_cross_attention.png", "dates_heads.png"}


@pytest.fixture(scope="module")
def split() -> tuple[Dates, Dates]:
    return dates.split_dates(3000, 300, rng=np.random.default_rng(0))


@pytest.fixture
def translator(split: tuple[Dates, Dates]) -> Translator:
    """Untrained."""
    characters = Characters("".join(split[0].sources + split[0].targets))
    notes = {"characters": "".join(characters.characters)}
    config = TransformerConfig(len(characters), START, END, d_model=16, num_layers=1, num_heads=2, notes=notes)
    return Translator(Transformer(config, rng=np.random.default_rng(0)), characters)


# --- the data ---


def test_no_day_is_on_both_sides_of_the_split(split: tuple[Dates, Dates]) -> None:
    train, test = split
    assert (len(train), len(test)) == (3000, 300)
    assert len(set(test.targets)) == 300
    assert not set(train.targets) & set(test.targets)
    every_day = (dates.LAST - dates.FIRST).days + 1
    more, held_out = dates.split_dates(every_day + 100, 1000, rng=np.random.default_rng(1))  # days repeat
    assert len(more) == every_day + 100
    assert not set(more.targets) & set(held_out.targets)


def test_the_dates_are_of_a_dozen_locales_and_three_styles(split: tuple[Dates, Dates]) -> None:
    train, _ = split
    assert len(LOCALES) == 12 and STYLES == ("medium", "long", "full")
    assert {*zip(train.locales, train.styles)} == {(locale, style) for locale in LOCALES for style in STYLES}
    days = {datetime.date.fromisoformat(target) for target in train.targets}
    assert min(days) >= dates.FIRST and max(days) <= dates.LAST


def test_dates_are_written_as_babel_writes_them() -> None:
    day = datetime.date(2031, 2, 3)
    written = dates.written_dates([day] * 600, np.random.default_rng(0))
    assert set(written.targets) == {"2031-02-03"}
    forms = {(locale, style): source for source, locale, style in zip(written.sources, written.locales, written.styles)}
    assert forms["en_US", "full"] == "Monday, February 3, 2031"
    assert forms["de_DE", "medium"] == "03.02.2031"
    assert forms["ja_JP", "long"] == "2031年2月3日"
    assert forms["ru_RU", "long"].startswith("3 февраля 2031")


def test_characters_come_back_from_their_ids() -> None:
    characters = Characters("2月3日")
    assert len(characters) == 7
    ids = characters.encode("3月☃2")
    assert characters.decode([START, *ids, END, PADDING]) == "3月2"  # what is unknown is left out
    np.testing.assert_array_equal(padded([[5, 4], [3]]), [[5, 4], [3, PADDING]])


# --- the baselines ---


def test_the_rules_know_what_they_say(split: tuple[Dates, Dates]) -> None:
    train, test = split
    only_digits = Dates(["03.02.2031", "2031/02/03", "3 Feb 2031"], ["2031-02-03"] * 3, ["de_DE"] * 3, ["medium"] * 3)
    month = max({t[5:7] for t in train.targets}, key=[t[5:7] for t in train.targets].count)
    assert dates.copied_digits(train, only_digits) == ["2031-02-03", "2031-02-03", f"2031-{month}-03"]
    assert dates.copied_digits_and_months(train, only_digits) == only_digits.targets
    assert dates.exact(dates.copied_digits_and_months(train, test), test) > 0.9
    assert dates.exact(dates.most_common(train, test), test) == 0  # no day of the test is in training
    assert len(set(dates.most_common(train, test))) == 1


def test_the_nearest_neighbour_is_nearest(split: tuple[Dates, Dates]) -> None:
    train, test = split
    assert dates.nearest(train, Dates(train.sources[:50], train.targets[:50], [], [])) == train.targets[:50]
    answers = dates.nearest(train, test)
    assert dates.exact(answers, test) == 0 and dates.characters_right(answers, test) > 0.6
    assert dates.characters_right(["2031-02-03"], Dates(["x"], ["2031-12-04"], [], [])) == pytest.approx(0.8)


# --- the command ---


@pytest.mark.thorough
def test_a_quick_run_reports_and_writes_its_files(tmp_path: Path) -> None:
    done = command("translate_dates.py", "--quick", "--out", "new/out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "640 dates in 12 locales" in done.stdout and "epoch 2/2" in done.stderr
    assert re.search(r"exact +Transformer, greedy +0\.\d+\n +Transformer, beam of 4 +0\.\d+", done.stdout)
    assert {path.name for path in (tmp_path / "new" / "out").iterdir()} == WRITTEN
    asked = command("translate_dates.py", "--out", "new/out", "--translate", "2031年2月3日", cwd=tmp_path)
    assert re.fullmatch(r"2031年2月3日 -> [\d-]+\n", asked.stdout)


@pytest.mark.thorough
def test_nearly_all_unseen_dates_are_translated(tmp_path: Path) -> None:
    history = example.main(["--out", str(tmp_path), "--no-baselines"])
    assert history is not None and history.metrics[-1]["exact"] >= 0.97


def test_help(tmp_path: Path) -> None:
    printed = command("translate_dates.py", "--help", cwd=tmp_path).stdout
    assert all(option in printed for option in ("--seed", "--device", "--quick", "--out", "--epochs", "--translate"))


def test_the_baselines_are_printed_beside_the_model(
    translator: Translator, split: tuple[Dates, Dates], capsys: pytest.CaptureFixture[str]
) -> None:
    known, unseen = split
    some = Dates(unseen.sources[:20], unseen.targets[:20], unseen.locales[:20], unseen.styles[:20])
    example.report(translator, known, some, baselines=True)
    printed = capsys.readouterr().out
    for name in (
        "most common answer",
        "rule: copy the digits",
        "nearest training date",
        "rule that is told about months",
    ):
        assert name in printed
    assert printed.count("wrong: ") == 5


@pytest.mark.usefixtures("own_fonts_only")
def test_pictures_of_dates_that_no_font_can_draw(
    translator: Translator, split: tuple[Dates, Dates], tmp_path: Path
) -> None:
    example.look(translator, split[1], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"dates_cross_attention.png", "dates_heads.png"}


def test_the_cross_attention_is_that_of_the_answer(translator: Translator) -> None:
    answer, weights = example.cross_attention(translator, "3 Feb 2031")
    assert answer == translator.translate(["3 Feb 2031"])[0]
    assert weights.shape == (2, len(answer) + 1, 10)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


def test_other_dates_of_the_batch_change_nothing(translator: Translator, split: tuple[Dates, Dates]) -> None:
    sources = split[1].sources[:30]
    for beam in (1, 2):
        assert translator.translate(sources, beam) == [translator.translate([source], beam)[0] for source in sources]


# --- checkpoints and bad input ---


def test_a_checkpoint_gives_the_same_answers(
    translator: Translator, split: tuple[Dates, Dates], tmp_path: Path
) -> None:
    translator.model.save(tmp_path / "dates.safetensors")
    loaded = Translator.load(tmp_path / "dates.safetensors")
    assert loaded.translate(split[1].sources[:10]) == translator.translate(split[1].sources[:10])


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs the program in `tmp_path` and gives the one line it exits with."""

    def run_it(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["translate_dates.py", *arguments])
        with pytest.raises(SystemExit) as caught:
            run(example.main)
        message = caught.value.code
        assert isinstance(message, str) and message.startswith("error: ") and "\n" not in message
        return message

    return run_it


def test_what_is_no_checkpoint_is_a_clear_error(translator: Translator, tmp_path: Path, fails: Any) -> None:
    path = tmp_path / "given.safetensors"
    ask = ("--translate", "3 Feb 2031", "--checkpoint", str(path))
    assert f"no checkpoint at '{path}'" in fails(*ask)
    save_checkpoint(path, {"weight": np.ones(3)}, {"model": "Decoder"})
    assert "fit did not write" in fails(*ask)
    translator.model.save(path)
    arrays, about = load_checkpoint(path)
    for changed, words in (
        ({"d_model": 32}, "does not fit: the state dict has shape"),
        ({"bias": False}, "does not make a Transformer: TransformerConfig has no 'bias'"),
        ({"notes": {"characters": "☃"}}, "does not have the characters of this example in its notes: train again"),
        ({"notes": {}}, "does not have the characters"),
    ):
        save_checkpoint(path, arrays, about | {"config": about["config"] | changed})
        assert words in fails(*ask)


def test_what_cannot_be_translated_is_said(
    translator: Translator, tmp_path: Path, fails: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    translator.model.save(tmp_path / "dates.safetensors")
    for text in ("", "☃"):
        assert "needs a date with at least one character that the model knows" in fails(
            "--out", str(tmp_path), "--translate", text
        )
    example.translate(translator, ["3 Feb ☃ 2031"])
    assert "1 of the 12 characters of '3 Feb ☃ 2031' are unknown" in capsys.readouterr().err


def test_a_setting_out_of_range_is_a_clear_error(tmp_path: Path, fails: Any) -> None:
    (tmp_path / "taken").write_text("")
    assert "num_heads=4 does not divide d_model=6" in fails("--quick", "--d-model", "6")
    assert "--out 'taken' cannot be made" in fails("--quick", "--out", "taken")
