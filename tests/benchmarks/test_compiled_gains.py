"""The table of what each kernel of numba gains: each is off for a while, and on again afterwards."""

import importlib
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.registry import primitives


@pytest.fixture
def compiled(monkeypatch):
    pytest.importorskip("numba")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # as the module sets them, and as before afterwards
    yield importlib.import_module("benchmarks.compiled")
    mg.compiled_kernels(False)


def test_a_kernel_is_off_inside_and_on_afterwards(compiled):
    optim: Any = importlib.import_module("nn.optim")

    contexts = compiled.kernels()
    assert list(contexts) == ["gelu", "layer_norm", "attention", "adam"]
    for name in list(contexts)[:-1]:
        table = primitives[name].kernels
        with contexts[name]():
            assert table[np.ndarray] is not table["compiled"]
        assert table[np.ndarray] is table["compiled"]
    with contexts["adam"]():
        assert optim.compiled_adam() is None
    assert optim.compiled_adam() is not None


def test_a_gain_is_the_time_without_it(compiled, monkeypatch):
    times = iter([3.0, 2.0] * 100)
    monkeypatch.setattr(compiled, "seconds", lambda step: next(times))
    assert compiled.gain(None, compiled.kernels()["gelu"]) == 0.5
