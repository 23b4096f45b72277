"""The table of the real works: what stands beside a ratio, what is not valid, the file, and the command."""

import json
import os

import pytest

from benchmarks import __main__ as command, compare, harness, real, report
from benchmarks.harness import Row
from benchmarks.real import agreement, table


def rows(work="gpt", ratio=1.2, fast=0.8, doubt="", **changes):
    """What a work came to, for each peer."""
    found = {"torch": 1.0, "torch again": 1.01, "minigrad": ratio, "minigrad_fast": fast}
    common = {"ms": 100.0, "rounds": 15, "megabytes": 150.0, "loss_difference": 1e-7, "gradient_difference": 6e-7}
    return [
        Row(work, peer, ratio=r, quartiles=(r - 0.1, r + 0.1), doubt=doubt, **common | changes)
        for peer, r in found.items()
    ]


def test_a_line_has_the_ratios_and_what_is_not_valid():
    line = table.table(rows()).splitlines()[-1]
    assert line.startswith("| GPT, training step | 1.20 (1.10-1.30) | 0.80 (0.70-0.90) | 1.01 | ")
    assert line.endswith(" | 100 (100) | 150 (150) | 1e-07, 6e-07 |")
    assert table.table(rows(doubt="PyTorch to itself: 1.30")).count("not valid") == 2


def test_a_floor_stands_beside():
    floor = Row("gpt", "floor", ms=80.0, ratio=0.6, quartiles=(0.5, 0.7))
    header, _, first, second = table.table([*rows(ms=120.0), floor, *rows("jacobian")[:3]]).splitlines()
    at = header.split(" | ").index("floor / PyTorch")
    assert first.split(" | ")[at : at + 3] == ["0.60 (0.50-0.70)", "1.50", "1.50"]
    assert second.split(" | ")[at : at + 3] == ["", "", ""]


def test_a_peer_that_is_wrong_has_its_reason_and_no_figure():
    found = rows()
    found[2] = Row("gpt", "minigrad", error="the output differs | by much")
    line = table.table(found).splitlines()[-1]
    assert "| the output differs / by much |" in line
    assert "| 0.80 (0.70-0.90) |" in line


def test_what_was_is_measured_in_the_same_rounds():
    found = rows()
    assert "in the same rounds" not in table.text(found, "here")
    found.append(Row("gpt", "minigrad before", ms=200.0, ratio=2.4, quartiles=(2.3, 2.5)))
    found.append(Row("gpt", "floor", ms=80.0, ratio=0.8, quartiles=(0.7, 0.9)))
    lines = table.text(found, "here").splitlines()
    assert lines[-1].startswith("| GPT, training step | NumPy | 100 | 80 | 200 | 100 | 0.50 | 2.40 (2.30-2.50) | 1.20 ")
    assert lines[-1].endswith(" | 2.50 | 1.25 |")
    assert lines[-3].startswith("| work |")  # one line: compiled kernels were not measured before


def test_a_checkout_that_cannot_do_a_work_says_why():
    found = [*rows(), Row("gpt", "minigrad before", error="AttributeError: no hvp")]
    assert "|  | AttributeError: no hvp | 1.20 (" in table.table_before(found).splitlines()[-1]


def test_optional_peers_stand_beside():
    found = [*rows("plain_tiny"), *rows("jacobian")[:3], Row("plain_tiny", "jax", ratio=0.5, quartiles=(0.4, 0.6))]
    lines = table.table(found).splitlines()
    assert lines[0].endswith("| others |")
    assert lines[2].endswith("| jax 0.50 (0.40-0.60) |") and lines[3].endswith("|  |")


def test_a_program_that_is_written_stands_beside():
    written = Row("moons", "written", ratio=0.09, quartiles=(0.08, 0.1))
    header, _, *lines = table.table([*rows("moons"), *rows("gpt"), written]).splitlines()
    at = header.split(" | ").index("written out")
    assert [line.split(" | ")[at] for line in lines] == ["0.09 (0.08-0.10)", ""]
    assert "written out" not in table.table(rows("moons"))


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
    there = {name for name in real.WORKS if real.has(name, harness.WRITTEN)} | {*table.WRITTEN_TOO}
    assert {work for work, peers, _ in asked if harness.WRITTEN in peers} == {work for work, *_ in asked} == there
    assert saved[0][2] == "written"


def test_a_floor_takes_part_where_there_is_one(measured):
    command.main(["real", "--works", "gpt:B=1,jacobian,toy"])
    assert ["floor" in peers for _, peers, _ in measured[0]] == [True, False, True]


def test_the_minutes_are_shared_by_the_works_that_are_left(measured):
    command.main(["real", "--works", "gpt,vit,toy", "--minutes", "6"])
    assert [round(options["limit"]) for *_, options in measured[0]] == [240, 360, 720]


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
