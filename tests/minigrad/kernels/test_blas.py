"""The warning about threads of OpenBLAS that wait for one another."""

import warnings

import numpy as np
import pytest

import nn
from minigrad.kernels import blas as module
from minigrad.kernels.layers import optimizers


class Threads:
    """OpenBLAS as the switch sees it, and the times of a product by the number of threads."""

    def __init__(self, many, one, count=2):
        self.count, self.times = count, {1: one, count: many}

    def pair(self):
        return (lambda: self.count), (lambda count: setattr(self, "count", count))


def blas_of(threads, monkeypatch, lost=1000):
    """A switch that looks at every call, on a machine that takes the core ``lost`` times between two looks."""
    found, taken, now = module.Blas(), iter(range(0, 100 * lost + 1, max(lost, 1))), iter(range(1, 1000, 10))
    found._functions, found._looked = threads.pair(), True
    monkeypatch.setattr(module, "_cores_lost", lambda: next(taken) if lost else 0)
    monkeypatch.setattr(f"{module.__name__}.time.monotonic", lambda: float(next(now)))
    monkeypatch.setattr(found, "_milliseconds", threads.times.__getitem__)
    return found


def warned(blas, looks=4):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(looks):
            blas.look()
    return [str(one.message) for one in seen]


def test_threads_that_wait_for_one_another_are_reported_once(monkeypatch):
    (said,) = warned(blas_of(Threads(187.4, 0.12), monkeypatch))
    assert said == (
        "other programs use the cores: a matrix product takes 187 ms with OpenBLAS's 2 threads, which wait for one another, "
        "and 0.12 ms with one thread. Set OPENBLAS_NUM_THREADS=1 before Python starts"
    )


@pytest.mark.parametrize(
    ("threads", "lost"),
    [(Threads(0.9, 0.1), 1000), (Threads(187.0, 0.1), 50), (Threads(187.0, 187.0, count=1), 1000), (Threads(1, 1), 0)],
)
def test_others_are_not(threads, lost, monkeypatch):
    """Threads that are less than ten times as slow; a process that keeps its cores; one thread; a system that says nothing."""
    assert warned(blas_of(threads, monkeypatch, lost)) == []


def test_the_number_of_threads_is_as_before_a_product_was_timed(monkeypatch):
    threads = Threads(1, 1)
    blas = module.Blas()
    blas._functions, blas._looked = threads.pair(), True
    assert blas._milliseconds(1) > 0 and threads.count == 2


def test_a_step_of_training_looks(monkeypatch):
    threads, weight = Threads(50.0, 0.1), nn.Parameter(np.ones(3))
    monkeypatch.setattr(optimizers, "blas", blas_of(threads, monkeypatch))
    optimizer = nn.SGD([weight], lr=0.1)
    with pytest.warns(RuntimeWarning, match="OPENBLAS_NUM_THREADS=1") as seen:
        for _ in range(4):
            optimizer.zero_grad()
            weight.sum().backward()
            optimizer.step()
    assert [one.filename for one in seen] == [__file__]


def test_this_system_says_how_often_a_core_was_lost():
    assert module._cores_lost() >= 0
