"""examples/rnn_attention.py: its strings and scores, a quick run as a user starts it, and that attention wins."""

import re
from pathlib import Path

import numpy as np
import pytest

import rnn_attention as example
from models import RNNEncoderDecoder
from tests.examples.processes import command

WRITTEN = {"rnn_attention.safetensors", "rnn_accuracy.png", "rnn_alignment.png"}


def test_strings_have_every_length() -> None:
    strings = example.random_strings(300, 3, 14, np.random.default_rng(0))
    assert {len(string) for string in strings} == set(range(3, 15))
    assert {digit for string in strings for digit in string} == set(range(10))


def test_what_is_read_and_what_is_to_be_written() -> None:
    strings = [(1, 2, 3), (4, 5)]
    np.testing.assert_array_equal(example.padded(strings), [[1, 2, 3], [4, 5, example.PADDING]])
    assert example.reversed_with_end((1, 2, 3)) == (3, 2, 1, example.END)


def test_the_share_of_exact_answers_by_length() -> None:
    correct = np.array([True, False, True])
    assert example.by_length(correct, [(1, 2), (3, 4), (5, 6, 7)]) == [(2, 0.5), (3, 1.0)]


@pytest.mark.thorough
def test_a_quick_run_reports_and_draws(tmp_path: Path) -> None:
    finished = command("rnn_attention.py", "--quick", "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    rows = re.findall(r"(attention|last states only) +(\d\.\d{4})", finished.stdout)
    assert [name for name, _ in rows] == ["attention", "last states only"] * 2
    assert "epoch 1/1" in finished.stderr  # the progress bar
    assert {path.name for path in (tmp_path / "out").iterdir()} == WRITTEN
    asked = command("rnn_attention.py", "--reverse", "31415926", cwd=tmp_path)
    model = RNNEncoderDecoder.load(tmp_path / "out" / "rnn_attention.safetensors")
    assert asked.stdout == "".join(map(str, example.answers(model, [(3, 1, 4, 1, 5, 9, 2, 6)])[0])) + "\n", asked.stderr
    wrong = command("rnn_attention.py", "--reverse", "3a", cwd=tmp_path)
    assert wrong.returncode == 1 and wrong.stderr == "error: --reverse needs digits, got '3a'\n"


def test_without_the_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = example.main(["--quick", "--no-baselines", "--out", str(tmp_path)])
    assert found.keys() == {"attention"} and "last states only" not in capsys.readouterr().out


@pytest.mark.thorough
def test_attention_reverses_and_the_last_states_do_not_hold_the_string(tmp_path: Path) -> None:
    found = example.main(["--out", str(tmp_path)])
    assert found["attention"] > 0.97
    assert found["last states only"] < 0.8


def test_help(tmp_path: Path) -> None:
    printed = command("rnn_attention.py", "--help", cwd=tmp_path).stdout
    assert all(option in printed for option in ("--seed", "--device", "--quick", "--out", "--no-baselines"))
