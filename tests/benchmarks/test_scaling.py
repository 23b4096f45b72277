"""How costs grow, and the floor below them."""

import json

import numpy as np
import pytest

from benchmarks import floor, micro, report, scaling
from benchmarks.scaling import Point
from benchmarks.workload import sizes
from tests.benchmarks.fake_peer import Fake

# Times that grow with the square of the size, memory in proportion; PyTorch takes twice the time.
POINTS = [
    Point("length", size, peer, ms * size**2, ms / 2, float(size))
    for size in (10, 20, 40)
    for peer, ms in (("torch", 2.0), ("minigrad", 1.0))
]


def test_the_growth_at_the_end_is_the_power_of_the_size():
    table = scaling.table(POINTS)
    assert "| length | 40 | 1.6e+03 | 3.2e+03 | 0.50 | 40 | 40 |" in table
    assert "| length | growth at the end | size^2.0 | size^2.0 |  | size^1.0 | size^1.0 |" in table


def test_a_point_is_the_median_of_its_rounds():
    peers = iter([Fake([10.0], peak=150.0), Fake([4.0, 5.0, 6.0], peak=80.0)])
    works = []

    def start(task):
        works.append(task.work)
        return next(peers)

    torch, minigrad = scaling.measure_point("width", 32, 3, 0.1, start, quiet=lambda: None)
    assert works == ["toy:D=32", "toy:D=32"]
    assert (torch.ms, torch.ratio, torch.megabytes) == (10, 1, 100)
    assert (minigrad.ms, minigrad.ratio, minigrad.megabytes) == (5, 0.5, 30)


def test_a_size_that_cannot_be_measured_ends_it_with_a_reason():
    with pytest.raises(SystemExit, match=r"toy:D=32, torch: out of memory"):
        scaling.measure_point("width", 32, 2, 0.1, lambda task: Fake([1.0], error="out of memory"), lambda: None)


def test_every_point_of_every_panel_can_be_built():
    for work, numbers in scaling.PANELS.values():
        for n in numbers:
            name = work.format(n)
            assert micro.check(name)[1] == n if micro.is_micro(name) else sizes(name)


def test_table_points_and_plot_are_saved(tmp_path):
    scaling.save(POINTS, tmp_path)
    assert (tmp_path / "scaling.md").read_text(encoding="utf-8").startswith(report.machine())
    assert len(json.loads((tmp_path / "scaling.json").read_text(encoding="utf-8"))["points"]) == 6
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("work", "gigaflops"), [("tiny", 0.041), ("toy", 0.655), ("small", 41.9)])
def test_the_operations_of_the_matrix_products_are_counted(work, gigaflops):
    assert floor.flops(sizes(work)) / 1e9 == pytest.approx(gigaflops, rel=0.01)


def test_the_products_that_are_timed_are_those_that_are_counted(monkeypatch):
    done = []

    def count(a, b, out=None):
        done.append(2 * a.size * b.shape[-1])
        return a

    monkeypatch.setattr(np, "matmul", count)
    run = floor.products(sizes("toy"))
    done.clear()
    run()
    classifier = 3 * 2 * 32 * 64 * 6
    assert sum(done) == floor.flops(sizes("toy")) - classifier


def test_bytes_that_must_move_grow_with_parameters_and_tokens():
    """By hand: 28,738 parameters of which 3,200 are the embedding; 256 tokens of width 32, 2 layers, 10 arrays."""
    expected = 4 * (8 * 28_738 + 2 * (28_738 - 3_200)) + 16 * 2 * 10 * 256 * 32
    assert floor.moved_bytes(sizes("tiny")) == expected


def test_the_floor_is_the_larger_of_two_bounds():
    rates = {"flops": 1e9, "bytes": 1e9}
    found = floor.floor_of("tiny", rates, {"tiny calls": 100.0, "tiny products": 50.0, "tiny step": 120.0})
    assert found.arithmetic == pytest.approx(40.9, rel=0.01)
    assert (found.bound, found.bound_by) == (found.arithmetic, "arithmetic")
    table = floor.table(rates, [found])
    assert "Matrix products: 1 GFLOP/s. Copying: 1.0 GB/s" in table
    assert "| arithmetic | 100 | 50 | 120 | 2.9 times |" in table


def test_the_floor_is_measured_and_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(floor, "wait_until_quiet", lambda: None)
    monkeypatch.setattr(floor, "large_product", lambda: (lambda: None, 1e6))
    monkeypatch.setattr(floor, "large_copy", lambda: (lambda: None, 1e6))
    floor.save(*floor.measure(["tiny"], rounds=1), tmp_path)
    (found,) = json.loads((tmp_path / "floor.json").read_text(encoding="utf-8"))["floors"]
    assert min(found["step"], found["calls"], found["products"]) > 0


def test_rates_are_those_of_what_is_run():
    product, operations = floor.large_product(8)
    assert (np.asarray(product()) == 8).all()
    assert operations == 2 * 8**3
    copy, moved = floor.large_copy(1)
    copy()
    assert moved == 2 * 2**20
