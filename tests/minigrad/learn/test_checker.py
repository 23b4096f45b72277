"""The process that a learner's file runs in: its limits, and what is said when it breaks off."""

import os
import threading
import time
from pathlib import Path

import pytest

from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.report import report
from minigrad.learn.tasks import find

from .answers import ANSWERS

posix = pytest.mark.skipif(os.name != "posix", reason="limits of memory are POSIX's")
RIGHT = "def slope(f, x, h=1e-5):\n    return (f(x + h) - f(x - h)) / (2 * h)\n"


def answered(folder: Path, source: str, *, before: str = "", **limits: float) -> Verdict:
    """The verdict on an answer to task 1.1 whose function is made of these lines."""
    lines = "".join(f"    {line}\n" for line in source.splitlines())
    return whole(folder, f"{before}def slope(f, x, h=1e-5):\n{lines}", **limits)


def whole(folder: Path, source: str, **limits: float) -> Verdict:
    path = folder / "answer_1.py"
    path.write_text(source, encoding="utf-8")
    (verdict,) = check([Job(find("1.1"), path, 3)], **limits)  # type: ignore[arg-type]
    return verdict


def kind(verdict: Verdict) -> str:
    assert verdict.finding is not None
    return verdict.finding.kind


def test_what_minigrad_said_is_told_and_not_what_numpy_made_of_it(tmp_path: Path) -> None:
    verdict = answered(
        tmp_path,
        "import numpy as np, minigrad as mg\nout = np.zeros(1)\nout[0] = mg.Tensor(2.0, requires_grad=True)\nreturn 1.0",
    )
    text = report(verdict, "en")
    assert "UnsupportedError: write t.item() for the number" in text and "setting an array element" not in text


def test_an_endless_loop_is_said_with_its_line(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "while True:\n    x = x + 1", seconds=0.5)
    assert kind(verdict) == "late_at"
    text = report(verdict, "en")
    assert "does not come to an end" in text and ("line 2" in text or "line 3" in text)
    assert ("while True:" in text) or ("x = x + 1" in text)


def test_an_endless_loop_that_swallows_every_exception_ends_too(tmp_path: Path) -> None:
    source = "while True:\n    try:\n        x = x + 1\n    except BaseException:\n        pass"
    assert kind(answered(tmp_path, source, seconds=0.5)) == "late_at"


def test_an_endless_loop_at_the_top_of_the_file(tmp_path: Path) -> None:
    assert kind(whole(tmp_path, "while True:\n    pass\n" + RIGHT, seconds=0.5)) == "late_at"


@pytest.mark.thorough
@posix
def test_a_call_that_lets_no_other_thread_run_is_ended_by_the_system(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "return 9 ** 9 ** 9", seconds=0.2)
    assert kind(verdict) == "late_at" and "9 ** 9 ** 9" in report(verdict, "en")


@pytest.mark.thorough
def test_one_that_waits_for_ever_is_late(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "import time\ntime.sleep(3600)", seconds=0.2)
    assert kind(verdict) == "late_at" and "time.sleep(3600)" in report(verdict, "en")


@pytest.mark.thorough
def test_those_after_one_that_hangs_or_dies_are_checked(tmp_path: Path) -> None:
    jobs = []
    for name, body in (("a", "return 1"), ("b", "while True: pass"), ("c", "import os; os._exit(3)"), ("d", None)):
        path = tmp_path / f"{name}.py"
        path.write_text(RIGHT if body is None else f"def slope(f, x, h=1e-5):\n    {body}\n", encoding="utf-8")
        jobs.append(Job(find("1.1"), path, 3))
    verdicts = check(jobs, seconds=0.5)
    assert [verdict.path for verdict in verdicts] == [job.path for job in jobs]
    assert [verdict.finding.kind if verdict.finding else None for verdict in verdicts] == [
        "scalar",
        "late_at",
        "ended",
        None,
    ]
    assert "exit status 3" in report(verdicts[2], "en")


@posix
@pytest.mark.parametrize("source", ["return [0] * 10**9", "import numpy as np\nreturn np.ones((50_000, 50_000))"])
def test_memory_has_a_limit(tmp_path: Path, source: str) -> None:
    verdict = answered(tmp_path, source, megabytes=1024)
    assert kind(verdict) == "memory_at"
    assert "too much memory" in report(verdict, "en") and source.splitlines()[-1] in report(verdict, "en")


@posix
def test_a_crash_names_its_signal(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert kind(verdict) == "ended" and "SIGSEGV" in report(verdict, "en")


def test_megabytes_of_output_are_cut_and_the_answer_arrives(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "print('spam ' * 2_000_000)\nreturn (f(x + h) - f(x - h)) / (2 * h)", seconds=20)
    assert verdict.passed
    assert verdict.printed.startswith("spam spam") and len(verdict.printed) == 4000
    assert len(report(verdict, "en")) < 3000


@posix
def test_output_that_would_fill_the_disk_is_an_error_of_its_line(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "while True:\n    print('spam ' * 2_000_000)", seconds=20)
    assert kind(verdict) == "raised_at" and "print('spam ' * 2_000_000)" in report(verdict, "en")


def test_output_without_end_is_an_endless_loop(tmp_path: Path) -> None:
    verdict = answered(tmp_path, "while True:\n    print('spam')", seconds=0.5)
    assert kind(verdict) == "late_at" and "spam" in report(verdict, "en")


def test_what_is_written_to_the_streams_is_no_answer(tmp_path: Path) -> None:
    forged = '{"values": [{"value": 1}]}'
    source = f"import os, sys\nos.write(1, b'{forged}\\n')\nprint('{forged}', file=sys.__stdout__)\nreturn 0"
    verdict = answered(tmp_path, source)
    assert kind(verdict) == "scalar" and forged in verdict.printed


def test_its_working_folder_is_a_scratch_one(tmp_path: Path) -> None:
    before = "import os, shutil\nopen('litter.txt', 'w').close()\nshutil.rmtree(os.getcwd())\n"
    assert whole(tmp_path, before + RIGHT).passed
    assert [path.name for path in tmp_path.iterdir()] == ["answer_1.py"]


@posix
def test_processes_that_it_starts_do_not_outlive_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    source = (
        "import os, time\nchild = os.fork()\nif child == 0:\n    time.sleep(60)\n"
        f"open({str(note)!r}, 'w').write(str(child))\nos._exit(0)"
    )
    assert kind(answered(tmp_path, source)) == "ended"
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(int(note.read_text()), 0)
        except ProcessLookupError:
            return
        if (
            Path(f"/proc/{note.read_text()}/stat").exists()
            and ") Z " in Path(f"/proc/{note.read_text()}/stat").read_text()
        ):
            return  # ended, and nobody has asked for its status
        time.sleep(0.05)
    raise AssertionError("it lives on")


def test_threads_that_it_starts_hold_nothing_up(tmp_path: Path) -> None:
    source = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\nreturn 0.0"
    begun = time.monotonic()
    assert kind(answered(tmp_path, source)) == "scalar"
    assert time.monotonic() - begun < 30
    assert threading.active_count() < 20


# Each of these leaves its process as it is, so that one process runs them all: a file, and what the report says of it.
SAID: dict[str, tuple[str, list[str]]] = {
    "no UTF-8": ("x = '\udcff'\n", ["cannot be run", "SyntaxError"]),
    **{name: (each["file"], each["says"]) for name, each in ANSWERS["said"].items()},
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    jobs = []
    for source, _ in SAID.values():
        path = tmp_path_factory.mktemp("answer") / "answer.py"
        path.write_text(source, encoding="utf-8", errors="surrogateescape")
        jobs.append(Job(find("1.1"), path, 3))
    return dict(zip(SAID, check(jobs)))


@pytest.mark.parametrize("name", SAID)
def test_what_went_wrong_is_said(name: str, said: dict[str, Verdict]) -> None:
    verdict, words = said[name], SAID[name][1]
    assert verdict.passed == (not words)
    for language in ("en", "ja"):
        text = report(verdict, language)
        assert "child.py" not in text and "Traceback" not in text and len(text) < 2000
        for word in words:
            assert language == "ja" or word in text, text


def test_an_argument_changed_in_place_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def clip(gradients, limit):\n    gradients[0] *= 0\n    return 1, gradients\n", encoding="utf-8")
    (verdict,) = check([Job(find("9.3"), path, 3)])
    assert kind(verdict) == "changed" and "gradients" in report(verdict, "en")


def test_a_folder_with_spaces_and_letters_of_any_script(tmp_path: Path) -> None:
    folder = tmp_path / "課題 é and more"
    folder.mkdir()
    assert whole(folder, "# 傾き\n" + RIGHT).passed
    assert kind(whole(folder, "while True:\n    pass\n", seconds=0.2)) == "late_at"
