"""The floors: what they count, the fastest way of each part, and that they use nothing but NumPy."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as command, compare, harness, peer_floor
from benchmarks.floors import parts, table, timing, works
from benchmarks.floors.parts import Part
from benchmarks.real import table as real_table
from benchmarks.workload import sizes
from tests.benchmarks.test_real import SIZES, SMALL


def test_they_import_nothing_of_minigrad():
    program = """if True:
        import sys, time
        from benchmarks import peer_floor
        from benchmarks.floors import works
        step = peer_floor.build("gpt:B=1:L=4:D=8:H=2:layers=1:V=5")
        assert step.timed is not None and step.timed(0.0, time.process_time) > 0
        print({name.partition(".")[0] for name in sys.modules} & {"minigrad", "nn", "models", "torch"})
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=compare.OWN)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("name", works.FLOORS)
def test_every_floor_runs_and_is_of_a_line(name):
    assert name in real_table.LINES
    step = peer_floor.build(f"{name}:{SIZES.get(name, SMALL)}")
    assert step.timed is not None and step.timed(0.0, time.process_time) > 0


@pytest.mark.parametrize("work", ["tiny", "toy", "tiny:B=3:L=8"])
def test_the_products_of_a_classifier_are_counted(work, monkeypatch):
    """Forward, and twice as many backward; not the sums of rows, which are products with ones."""
    done, s, multiply = [], sizes(work), np.matmul

    def count(a, b, out=None):
        if a.shape[-2] > 1:
            done.append(2 * a.size * b.shape[-1])
        return multiply(a, b, out=out)

    monkeypatch.setattr(np, "matmul", count)
    for part in works.parts_of(work):
        for _ in range(part.count):
            part.run(0, part.rows)
    tokens = s.B * s.L
    layer = 2 * tokens * 12 * s.D**2 + 2 * 2 * tokens * s.L * s.D
    assert sum(done) == 3 * (s.layers * layer + 2 * s.B * s.D * s.C)


def test_strips_of_a_causal_attention_spare_products(monkeypatch):
    done, multiply = [], np.matmul

    def count(a, b, out=None):
        done.append(2 * a.size * b.shape[-1])
        return multiply(a, b, out=out)

    monkeypatch.setattr(np, "matmul", count)
    for causal in (False, True):
        done.append(0)
        parts.attention(2, 2 * parts.STRIP, 2 * parts.STRIP, 4, causal).run(0, 2)
    second = done.index(0, 1)
    assert sum(done[second:]) == 3 / 4 * sum(done[:second])


@pytest.mark.parametrize("name", parts.CALLS)
def test_a_pass_leaves_its_inputs_as_they_are(name):
    """Else they would shrink from run to run, and denormal numbers take longer. Adam's gradients stay, and so does it."""
    calls, count = parts.CALLS[name]
    inputs = [np.random.default_rng(0).uniform(0.5, 1.5, (6, 8)).astype(np.float32) for _ in range(count)]
    before = [array.copy() for array in inputs]
    for _ in range(50):
        calls(np.empty((6, 8), np.float32), np.empty((6, 8), np.float32), *inputs)
    if name == "adam":
        inputs, before = inputs[1:2], before[1:2]
    assert all(np.array_equal(*pair) for pair in zip(inputs, before))


@pytest.mark.parametrize(("rows", "added"), [(5, 40), (70_000, 30), (30, 1)])
def test_sums_of_rows_by_ids_are_those_of_add_at(rows, added):
    random = np.random.default_rng(3)
    ids, updates = random.integers(0, rows, added), random.standard_normal((added, 6), np.float32)
    expected = np.zeros((rows, 6), np.float32)
    np.add.at(expected, ids, updates)
    run: Any = parts.scatter(rows, added, 6).run
    assert np.array_equal(run(0, 6), expected)
    assert np.array_equal(np.concatenate([run(0, 3), run(3, 6)], axis=1), expected)


@pytest.mark.parametrize(("whole", "half", "ms"), [(7, 2, 2e3), (7, 8, 7e3)])
def test_the_fastest_way_counts(whole, half, ms, monkeypatch):
    """A clock that is set forward by each run: the caller's part of a divided one is timed."""
    now = [0.0]
    caller, seen = threading.get_ident(), []

    def run(start, stop):
        seen.append((start, stop))
        if threading.get_ident() == caller:
            now[0] += whole if stop - start == 4 else half

    part = Part("made up", 4, run)
    assert timing.best([part, part], 0.0, lambda: now[0], 2) == 2 * ms
    assert {(0, 4), (0, 2), (2, 4)} == set(seen)


def test_a_part_that_cannot_be_divided_has_one_thread():
    with ThreadPoolExecutor(1) as pool:
        ways = [timing.ways_of(Part("made up", rows, lambda start, stop: None), pool, 2) for rows in (1, 2)]
    assert [set(found) for found in ways] == [{"one thread"}, {"one thread", "divided"}]


BURSTS = {
    "torch": [{"ms": 2.0}, {"ms": 4.0}, {"ms": 2.0}],
    "torch again": [{"ms": 2.0}, {"ms": 4.0}, {"ms": 2.2}],
    "minigrad": [{"ms": 3.0}, {"ms": 6.0}, {"ms": 2.4}],
    "floor": [{"ms": 2.0}, {"ms": 3.0}, {"ms": 2.0}],
}


def test_a_line_has_the_ratios_of_each_round(tmp_path):
    found = table.line("gpt", BURSTS)
    assert (found.over_floor, found.floor_over_torch, found.over_torch, found.noise) == (1.5, 1.0, 1.5, 1.0)
    table.save([found], "cpu", "1 thread", tmp_path)
    text = (tmp_path / "floors_1_thread.md").read_text(encoding="utf-8")
    assert f"OpenBLAS for {timing.kernel_of_blas()}, " in text and "processor time" in text
    assert "**1.50**" in text
    assert "| GPT, training step | 2 | 3 | 2 | **1.50** (1.20-2.00) | 1.00 | 1.50 | 1.00 | 3 |" in text


def test_lines_of_other_works_stay(tmp_path):
    for work in ("mlp", "gpt:B=1", "gpt", "mlp"):
        table.save([table.line(work, BURSTS)], "wall", "", tmp_path)
    lines = json.loads((tmp_path / "floors.json").read_text(encoding="utf-8"))["lines"]
    assert [line["work"] for line in lines] == ["gpt", "gpt:B=1", "mlp"]
    table.save([table.line("gru", BURSTS)], "cpu", "", tmp_path)
    assert "elapsed" not in (tmp_path / "floors.md").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "floors.json").read_text(encoding="utf-8"))["lines"]) == 1


def test_the_command_measures_all_four(monkeypatch, capsys):
    asked = []

    def measure(work, peers, *, bursts, **options):
        asked.append((work, peers, options["clock"]))
        bursts |= BURSTS
        return []

    monkeypatch.setattr(harness, "measure", measure)
    monkeypatch.setattr(command, "limit", lambda *_: None)
    monkeypatch.setattr(table, "save", lambda *_: None)
    command.main(["floors", "--works", "gpt:B=1,mlp", "--threads", "1", "--clock", "cpu"])
    peers = ["torch", "torch again", "minigrad", "floor"]
    assert asked == [("gpt:B=1", peers, "cpu"), ("mlp", peers, "cpu")]
    assert "| GPT, training step, batch 1 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["floors", "--works", "moons"], "'moons' has no floor: take one of gpt, "),
        (["real", "--clock", "cpu"], "it needs --threads 1"),
    ],
)
def test_the_command_line_names_what_it_cannot_do(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
