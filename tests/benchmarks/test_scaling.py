"""How costs grow."""

import json

import pytest

from benchmarks import micro, report, scaling
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
