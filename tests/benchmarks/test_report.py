"""Tables, the files they are kept in, and their place in docs/speed.md."""

import importlib.util
import json
import shutil

import pytest

from benchmarks import imports, report
from benchmarks.harness import Row
from benchmarks.real import table as real_table

MADE = [
    Row("tiny", "torch", ms=2.0, ratio=1.0, quartiles=(1.0, 1.0), rounds=15, megabytes=280.0, loss_difference=0.0),
    Row("tiny", "torch again", ms=2.0, ratio=1.01, quartiles=(0.98, 1.02), rounds=15, megabytes=280.0),
    Row("tiny", "minigrad", ms=1.4, ratio=0.7, quartiles=(0.65, 0.75), rounds=15, megabytes=15.0, loss_difference=3e-7),
    Row("tiny", "minigrad_fast", error="compiled_kernels() needs numba: pip install numba"),
]
IMPORTS = {"ms": {"numpy": 80.0, "minigrad": 100.0, "torch": 1200.0}, "added_ms": 20.0, "quartiles": [18.0, 23.0],
           "added_share": 0.25, "foreign": [], "rounds": 15}  # fmt: skip


def test_the_table_of_works_says_everything():
    table = report.works_table(MADE)
    assert "| tiny | minigrad | 0.70 (0.65-0.75) | 1.4 | 15 | 3e-07 |  |  |" in table
    assert "| tiny | minigrad fast | - | - | - | - | - | compiled_kernels() needs numba: pip install" in table


def test_a_ratio_that_is_not_to_be_trusted_says_so():
    row = Row("m3", "minigrad", ratio=0.7, quartiles=(0.1, 2.0), bytes_per_node=385.4, doubt="PyTorch to itself: 1.30")
    table = report.works_table([row])
    assert "0.70 (0.10-2.00) not valid" in table
    assert "PyTorch to itself: 1.30; 385 bytes a node" in table


def test_the_page_has_a_line_for_each_work_in_order(tmp_path):
    other = [Row("small", peer, ratio=1.0, quartiles=(1.0, 1.0)) for peer in ("torch", "torch again", "minigrad")]
    lines = report.page_table([*other, *MADE], IMPORTS).splitlines()
    assert lines[2] == "| training step, tiny | 0.70 (0.65-0.75) |  | 1.01 | 15 (280) |"
    assert "training step, small" in lines[3]
    assert lines[-1] == "`import minigrad` takes 100 ms where NumPy alone takes 80 and PyTorch 1200."


def test_the_page_holds_real_works_of_the_same_machine(tmp_path, monkeypatch):
    page = tmp_path / "speed.md"
    page.write_text(f"{report.BEGIN}\n{report.END}\n", encoding="utf-8")
    report.save_works(MADE, tmp_path)
    gpt = [Row("gpt", row.peer, ratio=1.2, quartiles=(1.1, 1.3)) for row in MADE[:3]]
    real_table.save(gpt, folder=tmp_path)
    report.write_page(page, tmp_path)
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[3].startswith("| GPT, training step | 1.20 (1.10-1.30) |")
    assert lines[4].startswith("| training step, tiny | 0.70")
    monkeypatch.setattr(report, "machine", lambda: "another machine")
    real_table.save(gpt, folder=tmp_path)
    report.write_page(page, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "another machine" in text and "tiny" not in text


def test_only_what_is_between_the_comments_changes(tmp_path):
    report.save_works(MADE, tmp_path)
    imports.save(IMPORTS, tmp_path)
    page = tmp_path / "speed.md"
    shutil.copy(report.PAGE, page)
    text = page.read_text(encoding="utf-8").replace(report.BEGIN, "").replace(report.END, "")
    before, _, after = text.partition("## What limits each size")
    page.write_text(f"{before}{report.BEGIN}\nold\n{report.END}\n\n## What limits each size{after}", encoding="utf-8")
    for _ in range(2):  # the second time finds what the first has written
        report.write_page(page, tmp_path)
        new = page.read_text(encoding="utf-8")
        assert new.startswith(f"{before}{report.BEGIN}\n| ")
        assert new.endswith(f"{report.END}\n\n## What limits each size{after}")
        assert "0.70 (0.65-0.75)" in new
        assert "\nold\n" not in new
        assert report.machine() in new


@pytest.mark.parametrize("text", ["", "BEGIN", "END BEGIN", "BEGIN BEGIN END", "BEGIN END END"])
def test_a_page_without_the_comments_is_left_alone(text):
    with pytest.raises(ValueError, match="the table's place is not marked"):
        report.replace_between(text.replace("BEGIN", report.BEGIN).replace("END", report.END), "new")


def test_saving_keeps_the_other_works_of_the_same_machine_only(tmp_path, monkeypatch):
    report.save_works(MADE, tmp_path)
    report.save_works([Row("m1", "minigrad", ratio=0.5)], tmp_path)
    known = report.read_rows(tmp_path / "works.json")
    assert [(row.work, row.peer) for row in known] == [(r.work, r.peer) for r in MADE] + [("m1", "minigrad")]
    assert known[2] == MADE[2]
    monkeypatch.setattr(report, "machine", lambda: "another machine")
    report.save_works([Row("m1", "minigrad", ratio=0.4)], tmp_path)
    assert [row.ratio for row in report.read_rows(tmp_path / "works.json")] == [0.4]
    assert (tmp_path / "works.md").read_text(encoding="utf-8").startswith("another machine\n\n| work |")


def test_a_table_of_a_gpu_names_it(tmp_path):
    report.save_works([Row("toy", "minigrad", ratio=0.5)], tmp_path, "gpu_some", device="Some GPU")
    assert (tmp_path / "gpu_some.md").read_text(encoding="utf-8").startswith("Some GPU, ")


def test_the_machine_is_described_without_importing_pytorch():
    described = report.machine()
    for part in ("cores", "Python 3.", "NumPy "):
        assert part in described
    assert ("PyTorch " in described) == (importlib.util.find_spec("torch") is not None)


def test_what_an_import_brings_in():
    assert imports.foreign(["json", "numpy", "minigrad", "_ctypes", "__future__"]) == []
    assert imports.foreign(["numpy", "cupy", "tqdm"]) == ["cupy", "tqdm"]


def test_import_times_are_summed_and_compared_in_one_process():
    times = {"numpy": [[0.08], [0.1], [0.09]], "numpy minigrad": [[0.08, 0.02], [0.2, 0.04], [0.1, 0.03]]}
    found = imports.summary(times | {"torch": [[1.0], [1.2], [1.1]]})
    assert found["ms"] == pytest.approx({"numpy": 90, "minigrad": 130, "torch": 1100})
    assert (found["added_ms"], found["added_share"]) == (pytest.approx(30), pytest.approx(0.25))
    table = imports.table(found | {"foreign": []})
    assert "imports nothing" in table
    assert "| minigrad, where NumPy is imported (quartiles) | 30 (20-40) |" in table


def test_import_minigrad_brings_in_nothing_but_numpy(tmp_path):
    _, packages = imports.import_once("numpy minigrad", str(tmp_path))
    assert {"numpy", "minigrad"} <= set(packages)
    assert imports.foreign(packages) == []
    assert list(tmp_path.rglob("minigrad/__init__.*.pyc")), "the bytecode is cached for the next time"


def test_saved_imports_name_their_machine(tmp_path):
    imports.save(IMPORTS, tmp_path)
    assert json.loads((tmp_path / "imports.json").read_text(encoding="utf-8"))["machine"] == report.machine()
    assert (tmp_path / "imports.md").read_text(encoding="utf-8").startswith(report.machine())
