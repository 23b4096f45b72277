"""What compiled kernels cost before they save: which process's which time stands where."""

import pytest

from benchmarks import report, warm_up


@pytest.mark.thorough
def test_each_process_tells_of_three_steps(tmp_path):
    switching, *steps = warm_up.seconds("mlp:B=1", False, str(tmp_path))
    assert switching >= 0 and len(steps) == 3 and all(time > 0 for time in steps)


def test_an_empty_cache_comes_before_a_full_one(monkeypatch):
    caches = []

    def seconds(work, compiled, cache):
        caches.append((cache, compiled))
        if not compiled:
            return [0.0, 0.5, 0.3, 0.25]
        first = (cache, True) not in caches[:-1]
        return [1.5 if first else 1.0, 9.0 if first else 0.4, 0.2, 0.125]

    monkeypatch.setattr(warm_up, "seconds", seconds)
    assert warm_up.line("gpt", 2) == [report.title("gpt"), "1.00", "0.50", "9.00", "0.40", "0.25", "0.12"]
    assert len({cache for cache, _ in caches}) == 2  # a new one in each round


@pytest.mark.parametrize("work", warm_up.WORKS)
def test_its_works_have_names(work):
    assert report.title(work) != work
