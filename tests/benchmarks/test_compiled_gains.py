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

    contexts = compiled.compiled()
    assert list(contexts) == ["gelu", "layer_norm", "cross_entropy", "adam"]
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
    assert compiled.gain(None, compiled.compiled()["gelu"]) == 0.5


def test_a_kernel_of_numpy_is_off_inside_and_found_by_what_it_calls(compiled):
    mg.compiled_kernels(False)
    kernels = compiled.of_numpy()
    x = mg.Tensor(np.linspace(-3, 3, 600).reshape(20, 30), requires_grad=True)
    calls = {
        "softmax": lambda i: mg.softmax(x),
        "hypot (values)": lambda i: np.hypot(x, x),
        "logistic()": lambda i: np.logaddexp(0.0, x).sum().backward(),
        "operators": lambda i: x * x,
    }
    for name, call in calls.items():
        step = compiled.Step(call, dict)
        call(0)  # the first call of an operator makes its plan
        _, off, own = kernels[name]
        assert own & compiled.called(step), name
        with off():
            assert not own & compiled.called(step), name
        assert own & compiled.called(step), name
