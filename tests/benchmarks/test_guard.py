"""The guard: limits, what is over them, and a machine that cannot be trusted."""

import pytest

from benchmarks import __main__ as command, guard, harness, imports, micro, real
from benchmarks.harness import Row

IMPORTS = {"added_share": 0.3, "foreign": []}


def row(work="tiny", peer="minigrad", **changes):
    return Row(work, peer, **{"ratio": 0.5, "megabytes": 20.0} | changes)


@pytest.mark.parametrize(
    ("changed", "imports", "status", "said"),
    [
        ({}, IMPORTS, 0, "tiny, time over PyTorch's: 0.5, within the limit of 0.75"),
        ({"ratio": 0.75}, IMPORTS, 0, "within the limit of 0.75"),
        ({"ratio": 0.76}, IMPORTS, 1, "tiny, time over PyTorch's: 0.76, OVER the limit of 0.75"),
        ({"ratio": 0.76, "doubt": "PyTorch to itself: 1.30"}, IMPORTS, 2, "not trustworthy, PyTorch to itself: 1.30"),
        ({"error": "RecursionError: too deep"}, IMPORTS, 1, "tiny failed (RecursionError: too deep)"),
        ({"work": "small", "ratio": 1.2, "megabytes": 331.0}, IMPORTS, 1, "small, MB above NumPy: 331, OVER the limit"),
        ({"work": "m3", "ratio": 0.3, "bytes_per_node": 701.0}, IMPORTS, 1, "m3, bytes a node: 701, OVER the limit"),
        ({"work": "m3", "ratio": 0.3, "bytes_per_node": 699.0}, IMPORTS, 0, "m3, bytes a node: 699, within the limit"),
        ({"peer": "minigrad_fast", "ratio": 0.4}, IMPORTS, 1, "tiny with compiled kernels, time over PyTorch's: 0.4, OVER"),
        ({"peer": "torch", "ratio": 9.0}, IMPORTS, 0, ""),
        ({}, {"added_share": 0.5, "foreign": []}, 1, "time over NumPy's import: 0.5, OVER the limit of 0.4"),
        ({}, {"added_share": 0.3, "foreign": ["scipy"]}, 1, "packages that import minigrad brings in beside NumPy: 1, OVER"),
    ],
)  # fmt: skip
def test_a_row_is_over_its_limit_or_not(changed, imports, status, said):
    verdicts = guard.judge([row(**changed)], imports)
    assert guard.status(verdicts) == status
    assert any(said in str(verdict) for verdict in verdicts)


def test_a_fault_that_is_sure_counts_more_than_a_doubt():
    verdicts = guard.judge([row(ratio=2.0, doubt="PyTorch to itself: 1.30"), row(work="toy", ratio=2.0)])
    assert guard.status(verdicts) == 1


def test_compiled_kernels_that_are_not_installed_are_no_fault():
    missing = "MissingExtraError: compiled_kernels() needs numba: pip install numba"
    assert guard.status(guard.judge([row(), row(peer="minigrad_fast", error=missing)])) == 0
    assert guard.status(guard.judge([row(), row(peer="minigrad_fast", error="TypingError: no")])) == 1


def test_every_work_that_is_measured_has_a_limit():
    assert set(guard.WORKS) <= set(guard.RATIOS)
    assert {*command.STEPS, *micro.WORKS, *guard.REAL} == set(guard.RATIOS)
    assert {*guard.REAL} <= {*real.WORKS}


@pytest.mark.parametrize(("doubts", "status"), [((0, 0), 0), ((1, 0), 0), ((1, 1), 2)])
def test_a_doubtful_measurement_is_repeated_once(doubts, status, monkeypatch, capsys):
    found = iter(doubts)

    def measure(work, peers, **_):
        doubt = "PyTorch to itself: 1.30" if next(found) else ""
        return [row(peer="torch", doubt=doubt), row(doubt=doubt)]

    monkeypatch.setattr(harness, "measure", measure)
    monkeypatch.setattr(imports, "measure", lambda rounds: IMPORTS)
    with pytest.raises(SystemExit) as ended:
        command.main(["guard", "--works", "tiny"])
    assert ended.value.code == status
    assert ("This run is not trustworthy" in capsys.readouterr().out) == (status == 2)
