"""The table of the real works: what a ratio has reached, what is not valid, the file, and the command."""

import json
import os

import pytest

from benchmarks import __main__ as command, compare, harness, real, report
from benchmarks.harness import Row
from benchmarks.real import agreement, goals, table
from benchmarks.real.goals import Goal


def rows(work="gpt", ratio=1.2, fast=0.8, doubt="", **changes):
    """What a work came to, for each peer."""
    found = {"torch": 1.0, "torch again": 1.01, "minigrad": ratio, "minigrad_fast": fast}
    common = {"ms": 100.0, "rounds": 15, "megabytes": 150.0, "loss_difference": 1e-7, "gradient_difference": 6e-7}
    return [
        Row(work, peer, ratio=r, quartiles=(r - 0.1, r + 0.1), doubt=doubt, **common | changes)
        for peer, r in found.items()
    ]


@pytest.mark.parametrize(
    ("before", "goal", "half_way"), [(1.66, 1.0, 1.33), (13.9, 1.0, 7.45), (0.83, 0.6, 0.83), (1.01, 0.85, 0.93)]
)
def test_half_way_is_the_middle_above_one_and_no_worse_below(before, goal, half_way):
    assert Goal(before, goal).half_way == pytest.approx(half_way)


def test_every_goal_is_that_of_a_line():
    assert set(goals.NUMBA) <= set(goals.NUMPY) <= set(table.LINES)
    assert all(goal.goal < goal.before for goal in [*goals.NUMPY.values(), *goals.NUMBA.values()])
    assert not set(goals.NUMBA) & set(table.NOT_COMPILED)


@pytest.mark.parametrize(
    ("ratio", "fast", "doubt", "said"),
    [
        (1.0, 0.8, "", "goal / goal"),
        (1.33, 1.2, "", "half way / no"),
        (1.34, 1.1, "", "no / half way"),
        (1.0, 0.8, "PyTorch to itself: 1.30", "? / ?"),
    ],
)
def test_a_line_says_what_is_reached(ratio, fast, doubt, said):
    line = table.table(rows(ratio=ratio, fast=fast, doubt=doubt)).splitlines()[-1]
    assert line.startswith("| GPT, training step | ")
    assert f" | 1.01 | 1.66 / 1.47 | 1.00 / 0.80 | 1.33 / 1.14 | {said} | " in line.replace("1.13", "1.14")
    assert line.endswith(" | 100 (100) | 150 (150) | 1e-07, 6e-07 |")
    assert line.count("not valid") == (2 if doubt else 0)


def test_a_peer_that_is_wrong_has_its_reason_and_no_figure():
    found = rows()
    found[2] = Row("gpt", "minigrad", error="the output differs | by much")
    line = table.table(found).splitlines()[-1]
    assert "| the output differs / by much |" in line
    assert "? / goal" in line


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (2.0, 1.0, "0.50 | 1.00 | 1.50 | goal"),
        (2.0, 1.4, "0.70 | 1.00 | 1.50 | half way"),
        (2.0, 1.6, "0.80 | 1.00 | 1.50 | no"),
        (0.9, 0.94, "1.04 | 0.60 | 0.90 | no worse"),
        (0.9, 0.96, "1.07 | 0.60 | 0.90 | no"),
        (0.9, 0.5, "0.56 | 0.60 | 0.90 | goal"),
    ],
)
def test_what_was_is_measured_in_the_same_rounds(before, now, said, monkeypatch):
    wanted = 1.0 if before > 1 else 0.6
    monkeypatch.setitem(goals.NUMPY, "gpt", Goal(1.66, wanted))
    found = rows(ratio=now)
    assert "in the same rounds" not in table.text(found, "here")
    found.append(Row("gpt", "minigrad before", ratio=before, quartiles=(before - 0.1, before + 0.1)))
    lines = table.text(found, "here").splitlines()
    assert lines[-1].startswith("| GPT, training step | NumPy | ") and lines[-1].endswith(f" | {said} |")
    assert lines[-3].startswith("| work |")  # one line: compiled kernels were not measured before


def test_a_checkout_that_cannot_do_a_work_says_why():
    found = [*rows(), Row("gpt", "minigrad before", error="AttributeError: no hvp")]
    assert (
        table.table_before(found)
        .splitlines()[-1]
        .startswith("| GPT, training step | NumPy | AttributeError: no hvp | 1.20")
    )


def test_optional_peers_stand_beside():
    found = [*rows("plain_tiny"), *rows("jacobian")[:3], Row("plain_tiny", "jax", ratio=0.5, quartiles=(0.4, 0.6))]
    lines = table.table(found).splitlines()
    assert lines[0].endswith("| others |")
    assert lines[2].endswith("| jax 0.50 (0.40-0.60) |") and lines[3].endswith("|  |")
    assert "| 13.90 | 1.00 | 7.45 |" in lines[3]


def test_a_program_that_is_written_stands_beside_its_goal():
    written = Row("moons", "written", ratio=0.09, quartiles=(0.08, 0.1))
    slow = Row("tiny", "written", ratio=0.61, quartiles=(0.6, 0.62))
    other = Row("loop", "written", ratio=0.2, quartiles=(0.1, 0.3))
    names = ("moons", "tiny", "loop", "gpt")
    found = [row for name in names for row in rows(name)] + [written, slow, other]
    header, _, *lines = table.table(found).splitlines()
    at = header.split(" | ").index("written out")
    assert [line.split(" | ")[at : at + 2] for line in lines] == [
        ["0.09 (0.08-0.10)", "0.10: goal"],
        ["0.61 (0.60-0.62)", "0.60: no"],
        ["0.20 (0.10-0.30)", ""],
        ["", ""],
    ]
    assert "written out" not in table.table(rows("moons"))


def test_the_program_that_is_written_takes_part_where_there_is_one(measured):
    command.main(["real"])
    there = {work.partition(":")[0] for work, peers, _ in measured[0] if harness.WRITTEN in peers}
    assert there == {name for name in real.WORKS if real.has(name, harness.WRITTEN)} | {*table.WRITTEN_TOO}
    assert set(goals.WRITTEN) <= there
    assert harness.WRITTEN not in command.peers_of("tiny", harness.OPTIONAL)


def test_optional_peers_take_part_where_they_have_the_work():
    optional = list(harness.OPTIONAL)
    there = {line: [peer for peer in command.peers_of(line, optional) if peer in optional] for line in table.LINES}
    assert [line for line, peers in there.items() if peers == ["jax"]] == [
        *("gpt", "gpt:D=100", "gpt:B=1", "gpt:B=1:L=1024", "gpt:V=30000:B=2", "gru")
    ]
    assert there["jacobian"] == there["hessian"] == ["jax", "autograd"]
    for line in ("encoder", "loop", "plain_tiny", "plain_m2", "mlp", "mlp:B=1", "formula", "tiny", "toy", "small"):
        assert there[line] == optional
    assert there["moons"] == there["m1"] == there["vit"] == there["generate"] == []
    assert command.peers_of("mlp", ["dezero"])[4:] == ["dezero"]


def test_titles_say_which_sizes_are_others():
    assert report.title("gpt:V=30000:B=2") == "GPT, training step, vocabulary 30,000, batch 2"
    assert report.title("vit:dropout=0.5").endswith(", dropout 0.5")
    assert all(report.title(line) for line in table.LINES)


@pytest.mark.parametrize(("limits", "name"), [("", "real"), ("1 core, 4 threads", "real_1_core_4_threads")])
def test_a_run_is_saved_whole(limits, name, tmp_path):
    table.save(rows("vit"), limits, tmp_path)
    table.save(rows(), limits, tmp_path)
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(report.machine() + (f", {limits}; " if limits else "; ") + "15 rounds\n")
    assert "| GPT, training step |" in text and "digits_vit" not in text
    assert {row["work"] for row in json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))} == {"gpt"}


@pytest.fixture
def measured(monkeypatch):
    """What was asked of the harness, which gives made up rows; nothing is written."""
    asked, saved = [], []

    def measure(work, peers, **options):
        asked.append((work, peers, options))
        return rows(work)[: len(peers)]

    monkeypatch.setattr(harness, "measure", measure)
    monkeypatch.setattr(table, "save", lambda found, limits, name: saved.append((found, limits, name)))
    return asked, saved


def test_the_written_programs_are_measured_by_their_own_command(measured):
    asked, saved = measured
    command.main(["written"])
    assert [work for work, _, _ in asked] == list(goals.WRITTEN)
    assert saved[0][2] == "written"


def test_the_command_checks_every_line_and_saves_the_run(measured, capsys):
    asked, saved = measured
    command.main(["real"])
    assert [work for work, _, _ in asked] == list(table.LINES)
    assert all((options["check"], options["rounds"]) == (agreement.check, 15) for _, _, options in asked)
    assert len(saved) == 1 and saved[0][1] == ""
    assert "| GPT, training step, vocabulary 30,000, batch 2 |" in capsys.readouterr().out


def test_a_work_in_doubt_is_measured_again_and_all_its_rounds_count(measured, monkeypatch):
    found = rows("gpt")
    found[0].doubt = "PyTorch to itself: 1.06"
    given = []

    def measure(work, peers, *, bursts, **options):
        given.append(bursts)
        return found if work == "gpt" else rows(work)

    monkeypatch.setattr(harness, "measure", measure)
    command.main(["real", "--works", "gpt,vit"])
    assert len(given) == 3 and given[0] is given[1] is not given[2]


def test_two_numbers_of_rounds_are_both_told():
    found = [*rows("gpt"), *rows("vit")]
    found[-1].rounds = 30
    assert table.text(found, "here").startswith("here; 15 or 30 rounds\n")


def test_another_checkout_takes_part_where_it_is_named(measured):
    command.main(["real", str(compare.OWN), "--works", "gpt,jacobian,toy"])
    old = ["minigrad before", "minigrad_fast before"]
    there = [[peer for peer in peers if peer.endswith(harness.BEFORE)] for _, peers, _ in measured[0]]
    assert there == [old, old[:1], old]
    assert {options["before"] for _, _, options in measured[0]} == {str(compare.OWN)}


def test_a_run_of_some_is_printed_only(measured, capsys):
    asked, saved = measured
    command.main(["real", "--works", "gpt:B=1,toy"])
    assert [work for work, _, _ in asked] == ["gpt:B=1", "toy"]
    assert not saved and "| training step, toy |" in capsys.readouterr().out


def test_the_command_ends_with_1_where_minigrad_is_wrong(monkeypatch, capsys):
    wrong = [*rows()[:2], Row("gpt", "minigrad", error="the first loss differs")]
    monkeypatch.setattr(harness, "measure", lambda work, peers, **_: wrong)
    with pytest.raises(SystemExit) as ended:
        command.main(["real", "--works", "gpt"])
    assert ended.value.code == 1


def test_cores_and_threads_are_those_of_every_worker(measured, monkeypatch):
    before = os.sched_getaffinity(0)
    for name in command.THREADS:
        monkeypatch.setenv(name, "7")
    try:
        command.main(["real", "--cores", "1", "--threads", "4"])
        assert len(os.sched_getaffinity(0)) == 1
        assert {os.environ[name] for name in command.THREADS} == {"4"}
    finally:
        os.sched_setaffinity(0, before)
    assert measured[1][0][1] == "1 core, 4 threads"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["real", "--works", "gpt:Z=3"], "gpt:Z=3"),
        (["works", "--works", "gru:B=many"], "gru:B=many"),
        (["works", "--device", "cuda", "--works", "gpt"], "the real works run on the CPU only"),
        (["real", "--works", "vit,m3"], "'m3' is none of the real works: python -m benchmarks works --works m3"),
        (["real", "--device", "cuda"], "the real works run on the CPU only"),
        (["real", "--threads", "0"], "at least 1"),
    ],
)
def test_the_command_line_names_what_it_cannot_do(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_more_cores_than_there_are_is_an_error():
    with pytest.raises(SystemExit, match=r"--cores 100000: \d+ cores can be chosen"):
        command.main(["real", "--cores", "100000"])


def test_two_checkouts_can_be_compared_at_a_real_work():
    assert command.works("gpt:B=1,vit") == ["gpt:B=1", "vit"]
    assert all(real.is_real(work) or work in report.TITLES for work in table.LINES)
