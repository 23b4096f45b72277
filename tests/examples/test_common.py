"""examples/common.py: the options, errors as one sentence, the table, and fonts."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import common
from minigrad import DeviceError, MissingExtraError

ROOT = Path(__file__).parents[2]


def test_one_blas_thread_comes_before_numpy_and_leaves_what_the_user_set() -> None:
    program = (
        "import os, sys; from common import one_blas_thread; assert 'numpy' not in sys.modules; one_blas_thread(); "
        "print([os.environ[f'{name}_NUM_THREADS'] for name in ('OPENBLAS', 'MKL', 'OMP')])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"PYTHONPATH": str(ROOT / "examples"), "MKL_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("['1', '3', '1']\n", "")


def test_the_options_have_defaults() -> None:
    args = common.argument_parser("What it does.", quick="one epoch", baselines="n-grams").parse_args([])
    assert vars(args) == {"seed": 0, "device": "cpu", "quick": False, "out": Path("out"), "no_baselines": False}


def test_options_that_do_not_fit_are_left_out() -> None:
    parser = common.argument_parser(None, quick="one epoch", out=None, device=False)
    assert vars(parser.parse_args([])) == {"seed": 0, "quick": False}


def test_help_says_what_quick_and_no_baselines_do(capsys: pytest.CaptureFixture[str]) -> None:
    parser = common.argument_parser("What\nit does.", quick="one epoch on 640 texts", baselines="the n-grams")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    shown = capsys.readouterr().out
    assert "What\nit does." in shown
    words = " ".join(shown.split())
    assert "one epoch on 640 texts, to see that everything works" in words
    assert "leave out the n-grams" in words


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--seed -1", "argument --seed: must be at least 0, got -1"),
        ("--seed x", "argument --seed: invalid int value: 'x'"),
        ("--device gpu", "argument --device: invalid choice: 'gpu'"),
        ("--steps 0", "argument --steps: must be at least 1, got 0"),
    ],
)
def test_a_bad_option_is_refused_with_the_usage(option: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = common.argument_parser(None, quick="one epoch")
    parser.add_argument("--steps", type=common.at_least(1))
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(option.split())
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError("no"), OSError("no"), DeviceError("no"), MissingExtraError("no")])
def test_an_error_that_a_user_can_mend_is_one_sentence(error: Exception) -> None:
    def main() -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        common.run(main)
    assert caught.value.code == "error: no"  # Python prints it and exits with status 1


def test_other_errors_keep_their_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        common.run(lambda: 1 // 0)


def test_ctrl_c_is_told_to_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as caught:
        common.run(main)
    assert (caught.value.code, capsys.readouterr().err) == (130, "\ninterrupted\n")


def test_ctrl_c_names_the_way_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        common.run(main, interrupted="--resume goes on")
    assert capsys.readouterr().err == "\ninterrupted: --resume goes on\n"
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    resumable = [text for text in scripts if '"--resume"' in text]
    assert resumable and all("run(main, interrupted=" in text for text in resumable)


def test_a_program_without_errors_just_ends() -> None:
    common.run(lambda: "anything")


def test_the_folder_is_made(tmp_path: Path) -> None:
    assert common.make_folder(tmp_path / "a" / "b").is_dir()
    assert common.make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "taken").write_text("")
    with pytest.raises(ValueError, match=r"--out '.*taken' cannot be made \(File exists\): name another folder"):
        common.make_folder(tmp_path / "taken")


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_the_peak_memory_is_in_bytes() -> None:
    peak = common.peak_memory()
    assert peak is not None
    array = np.ones(peak // 8 + 10_000_000)  # more than all that was there
    after = common.peak_memory()
    assert after is not None
    assert array.nbytes < after < peak + 2 * array.nbytes


def test_what_training_cost_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "peak_memory", lambda: 183_400_000)
    assert common.trained_in(61.4) == "trained in 61 s, peak memory 183 MB"
    monkeypatch.setattr(common, "peak_memory", lambda: None)
    assert common.trained_in(61.4) == "trained in 61 s"


def test_the_table_has_numbers_under_each_other() -> None:
    rows: list[tuple[str, float | str]] = [
        ("ours", 0.90919),
        ("most frequent class", 0.076),
        ("n-grams", "not computed"),
    ]
    assert common.table("accuracy", rows).splitlines() == [
        "accuracy  ours                 0.9092",
        "          most frequent class  0.0760",
        "          n-grams              not computed",
    ]
    assert common.table("nats", [("ours", 2.0)], digits=1) == "nats  ours  2.0"


def test_pictures_are_written_without_a_window(tmp_path: Path) -> None:
    plt = common.pyplot()
    assert plt.get_backend().lower() == "agg"
    before = len(plt.get_fignums())
    figure, _ = plt.subplots()
    common.save_figure(figure, tmp_path / "new folder" / "picture.png")
    assert (tmp_path / "new folder" / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert len(plt.get_fignums()) == before


def test_progress_gives_the_items_and_counts_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # tqdm cuts what a narrow terminal has no room for
    assert list(common.progress(["a", "b"], "letters")) == ["a", "b"]
    said = capsys.readouterr()
    assert said.out == "" and "letters: 100%" in said.err and "2/2" in said.err
