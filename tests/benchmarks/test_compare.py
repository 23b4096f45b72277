"""Two checkouts side by side: what is slower, what is noise, where the code comes from, and counted instructions."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command, calls, compare
from benchmarks.compare import Compared
from benchmarks.harness import Process, Task
from tests.benchmarks.fake_peer import Fake

OTHER = Path("other")


def compared(other, again, this, rounds=8, work="tiny"):
    """With these times a burst, each in turn; the tasks that were started; and the peers."""
    peers = [times if isinstance(times, Fake) else Fake(times) for times in (other, again, this)]
    tasks: list[Task] = []

    def start(task):
        tasks.append(task)
        return peers[len(tasks) - 1]

    found = compare.compare(work, OTHER, rounds=rounds, seconds=0.1, start=start, quiet=lambda: None)
    return found, tasks, peers


def test_a_ratio_is_that_of_the_same_round():
    slow = [10.0, 100.0, 1000.0, 10.0]
    found, _, _ = compared(slow, slow, [12.0, 120.0, 1200.0, 12.0])
    assert found.ratio == pytest.approx(1.2)
    assert found.quartiles == pytest.approx((1.2, 1.2))
    assert found.spread == (1.0, 1.0)
    assert found.other == "55 ms"


@pytest.mark.parametrize(
    ("ratio", "spread", "slower"),
    [
        (1.06, (0.99, 1.01), True),
        (1.04, (0.99, 1.01), False),  # outside the spread, but not 5 % over
        (1.06, (0.99, 1.07), False),  # inside the spread
        (1.06, (0.93, 1.01), False),  # inside, had the two runs changed places
        (1.30, (0.80, 1.20), True),
        (1.24, (0.80, 1.20), False),
        (0.50, (0.99, 1.01), False),
        (9.00, (-0.3, 2.67), False),  # quartiles of two rounds reach beyond them: nothing is known
    ],
)
def test_slower_is_over_the_limit_and_outside_the_spread(ratio, spread, slower):
    assert Compared("tiny", "1 ms", ratio, (ratio, ratio), spread).slower is slower


def test_fewer_percent_count_where_instructions_do():
    assert not Compared("m3", ratio=1.04).slower
    assert Compared("m3", ratio=1.04, tolerance=compare.TOLERANCE_COUNTED).slower


def test_noise_of_the_machine_makes_nothing_slower():
    found, _, _ = compared([10.0] * 4, [10.0, 14.0, 8.0, 12.0], [11.0] * 4)
    assert (found.ratio, found.slower) == (pytest.approx(1.1), False)
    found, _, _ = compared([10.0] * 4, [10.0, 10.1, 9.9, 10.0], [11.0] * 4)
    assert (found.ratio, found.slower) == (pytest.approx(1.1), True)


def test_the_other_checkout_runs_twice_and_everybody_is_closed():
    _, tasks, peers = compared([1.0], [1.0], [1.0])
    assert [task.checkout for task in tasks] == ["other", "other", str(compare.OWN)]
    assert all(peer.closed and len(peer.bursts) == 8 for peer in peers)


@pytest.mark.parametrize("place", range(3))
def test_a_work_that_one_of_them_cannot_do_has_a_reason(place):
    times = [Fake([1.0]) for _ in range(3)]
    times[place] = Fake([1.0], error="KeyError: 'tiny'")
    found, _, peers = compared(*times)
    assert found.error == f"{(compare.OTHER, compare.AGAIN, compare.THIS)[place]}: KeyError: 'tiny'"
    assert not found.slower
    assert all(peer.closed and not peer.bursts for peer in peers)


def counting(per_step, report='{"losses": []}'):
    """Instructions of a process: a start that takes many, and as many a step as the checkout's own."""

    def count(arguments):
        task = json.loads(arguments[-1])
        return 10**9 + per_step[Path(task["checkout"])] * task["steps"], report

    return count


def test_instructions_are_those_of_the_steps_alone():
    found = compare.compare_counted("m3", OTHER, counting({OTHER: 2_000_000, compare.OWN: 2_050_000}))
    assert (found.other, found.ratio, found.slower) == ("2 million instructions", 1.025, False)
    assert compare.compare_counted("m3", OTHER, counting({OTHER: 2_000_000, compare.OWN: 2_070_000})).slower


@pytest.mark.parametrize(
    ("printed", "said"), [('{"error": "no m3"}', "other: no m3"), ("", "other: its process ended")]
)
def test_a_worker_that_failed_is_not_counted(printed, said):
    found = compare.compare_counted("m3", OTHER, counting({OTHER: 1, compare.OWN: 1}, printed))
    assert found.error == said


# A shell's script: the path of Python may hold a space, which a first line of Python's own would not allow.
TOOL = """#!/bin/sh
echo '{says}' >&2
while [ "$1" != '{python}' ]; do shift; done
exec "$@"
"""


def installed(folder, name, says):
    file = folder / name
    file.write_text(TOOL.format(python=sys.executable, says=says), encoding="utf-8")
    file.chmod(0o755)


PERF, VALGRIND = compare.TOOLS


@pytest.mark.parametrize(
    ("tools", "chosen", "instructions"),
    [
        ({}, None, 0),
        ({"perf": "1234,,instructions:u,99,100.00,,", "valgrind": "==7== Collected : 99"}, PERF, 1234),
        ({"perf": "<not supported>,,instructions:u,0,100.00,,", "valgrind": "==7== Collected : 99"}, VALGRIND, 99),
        ({"perf": "<not supported>,,instructions:u,0,100.00,,"}, None, 0),
    ],
)
def test_the_first_tool_that_counts_is_taken(tools, chosen, instructions, tmp_path, monkeypatch):
    for name, says in tools.items():
        installed(tmp_path, name, says)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compare.counting_tool() == chosen
    if chosen:
        assert compare.count([sys.executable, "-c", "print(6 * 7)"], chosen) == (instructions, "42\n")


@pytest.mark.parametrize("tool", [None, PERF])
def test_without_a_tool_times_are_compared_and_a_sentence_says_so(tool, monkeypatch, capsys):
    monkeypatch.setattr(compare, "counting_tool", lambda: tool)
    monkeypatch.setattr(compare, "compare_counted", lambda work, other, count: Compared(work, "instructions"))
    monkeypatch.setattr(compare, "compare", lambda work, other, **_: Compared(work, "ms"))
    found = compare.measure(["multiply", "tiny"], OTHER, rounds=2, seconds=0.1)
    times = [("multiply", "ms"), ("tiny", "ms")]
    assert [(one.work, one.other) for one in found] == ([("multiply", "instructions")] if tool else []) + times
    assert (compare.NO_TOOL in capsys.readouterr().err) == (tool is None)


def test_the_table_marks_what_is_slower():
    lines = compare.table(
        [
            Compared("tiny", "2 ms", 1.2, (1.1, 1.3), (0.98, 1.02)),
            Compared("m1", "1 ms", 0.9, (0.8, 1.0), (0.98, 1.02)),
            Compared("m3", "9 million instructions", 1.0251, (1.0251, 1.0251), tolerance=0.03),
            Compared("toy", error="this: a | b"),
        ]
    ).splitlines()
    assert lines[2:] == [
        "| tiny | 2 ms | 1.20 (1.10-1.30) | 0.98-1.02 | SLOWER |",
        "| m1 | 1 ms | 0.90 (0.80-1.00) | 0.98-1.02 |  |",
        "| m3 | 9 million instructions | 1.025 | 1.00-1.00 |  |",
        "| toy | - | - | - | this: a / b |",
    ]


@pytest.fixture
def checkout(tmp_path):
    """One that differs from this by a single line."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("minigrad", "nn", "models"):
        shutil.copytree(compare.OWN / package, tmp_path / package, ignore=ignored)
    with (tmp_path / "minigrad/__init__.py").open("a", encoding="utf-8") as file:
        file.write("\nsoftmax = 'that of the copy'\n")
    return tmp_path


@pytest.mark.thorough
def test_a_worker_runs_the_minigrad_of_its_checkout(checkout):
    for folder, said in ((checkout, "'str' object is not callable"), (compare.OWN, "")):
        process = Process(Task("minigrad", "softmax(x)", 1, checkout=str(folder)))
        process.close()
        assert said in process.about.get("error", "")
    assert process.about["losses"]


def test_a_checkout_without_minigrad_is_not_replaced_by_ours(tmp_path):
    process = Process(Task("minigrad", "m1", 1, checkout=str(tmp_path)))
    process.close()
    assert f"was to come from {tmp_path}" in process.about["error"]


@pytest.mark.thorough
def test_the_import_is_that_of_the_checkout(checkout):
    (checkout / "minigrad/__init__.py").write_text("import time\ntime.sleep(0.3)\n", encoding="utf-8")
    peer = compare.start(Task("minigrad", compare.IMPORT, checkout=str(checkout)))
    peer.burst(0.0)
    peer.close()
    assert peer.bursts[0]["ms"] > 300


@pytest.mark.parametrize("work", calls.CALLS)
def test_each_call_does_something(work):
    assert calls.build(work).loss(0) != 0


@pytest.mark.parametrize(("ratio", "error", "status"), [(1.0, "", 0), (1.2, "", 1), (1.0, "this: no", 1)])
def test_the_command_ends_with_1_if_something_is_slower(ratio, error, status, checkout, monkeypatch, capsys):
    asked = []

    def measure(works, other, **options):
        asked.append((works, other, options))
        return [Compared("tiny", "1 ms", ratio, error=error)]

    monkeypatch.setattr(compare, "measure", measure)
    with pytest.raises(SystemExit) as ended:
        command.main(["compare", str(checkout), "--works", "tiny,np.exp(x)", "--rounds", "3"])
    assert ended.value.code == status
    assert asked == [(["tiny", "np.exp(x)"], checkout, {"rounds": 3, "seconds": 0.25, "clock": "wall"})]
    assert "| tiny |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare"], "compare needs the folder of another checkout"),
        (["works", "."], "works takes no folder of another checkout: only compare, real and functions do"),
        (["compare", "nowhere"], "is no checkout of minigrad: it has no minigrad/__init__.py"),
        (["works", "--works", "np.exp(x)"], "'np.exp(x)' is a work of minigrad alone: only compare has it"),
        (["compare", ".", "--works", "np.log(x)"], "np.log(x)"),
    ],
)
def test_the_command_line_says_what_it_lacks(arguments, said, capsys, monkeypatch):
    monkeypatch.chdir(compare.OWN)
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
