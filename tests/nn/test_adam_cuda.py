"""Adam and AdamW in one launch: run on a CPU from the kernel's own source, and on a GPU where there is one."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, Tensor, cross_entropy, reference_mode
from nn import _adam_cuda
from nn.optim import Adam, AdamW
from tests import cuda_emulator, fake_device
from tests.minigrad.oracle import home

DTYPES = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3}
SHAPES = [(3, 5), (1,), (4097,), (0, 2), (2, 3, 4), (256,)]


@pytest.fixture(params=["emulated", pytest.param("cupy", marks=pytest.mark.cuda)])
def put(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(_adam_cuda, "_tables", {})
    monkeypatch.setattr(_adam_cuda, "_MOST_BLOCKS", 3)  # so that a thread has more than one element
    if request.param == "cupy":
        import cupy

        yield cupy.asarray
        return
    emulator = request.getfixturevalue("emulator").installed(monkeypatch)
    yield fake_device.asarray
    emulator.removed()


def settings(t: int, **more: Any) -> dict[str, Any]:
    chosen = {"lr": 0.1, "beta_1": 0.8, "beta_2": 0.9, "eps": 1e-3, "weight_decay": 0.01, "decoupled": True} | more
    return chosen | {"correction_1": 1 - chosen["beta_1"] ** t, "correction_2": 1 - chosen["beta_2"] ** t}


def normal(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("weight_decay", [0, 0.1])
@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_optimizer_on_the_host(
    put: Any, request: Any, dtype: str, decoupled: bool, weight_decay: float
) -> None:
    started = [normal(shape, dtype, i) for i, shape in enumerate(SHAPES)]
    theirs = [Tensor(a.astype(float), requires_grad=True) for a in started]
    how: dict[str, Any] = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": weight_decay}
    optimizer = (AdamW if decoupled else Adam)(theirs, **how)
    parameters, zeros = [put(a) for a in started], [np.zeros_like(a) for a in started]
    first, second = [put(a) for a in zeros], [put(a) for a in zeros]
    for t in (1, 2, 3):
        gradients = [normal(shape, dtype, 10 * t + i) for i, shape in enumerate(SHAPES)]
        for tensor, g in zip(theirs, gradients):
            tensor.grad = Tensor(g.astype(float))
        with reference_mode():
            optimizer.step()
        more = settings(t, decoupled=decoupled, weight_decay=weight_decay)
        _adam_cuda.adam_step(parameters, [put(g) for g in gradients], first, second, **more)
    for i, tensor in enumerate(theirs):
        state = optimizer.state[i]
        for got, want in ((parameters[i], tensor.numpy()), (first[i], state["m"]), (second[i], state["v"])):
            assert got.dtype == dtype
            np.testing.assert_allclose(home(got), want, rtol=DTYPES[dtype], atol=5 * DTYPES[dtype])


def test_one_launch_a_dtype_and_no_waiting(put: Any, emulator: cuda_emulator.Emulator) -> None:
    p, g, m = ([put(normal(shape, dtype, i)) for dtype in DTYPES for shape in SHAPES] for i in range(3))
    squares = [put(normal(shape, dtype) ** 2) for dtype in DTYPES for shape in SHAPES]
    emulator.launches.clear()
    fake_device.host_syncs.clear()
    for t in (1, 2):
        _adam_cuda.adam_step(p, g, m, squares, **settings(t))
    if put is fake_device.asarray:
        assert emulator.launches == ["adam"] * 6 and fake_device.host_syncs == []


def test_addresses_are_sent_when_they_change(put: Any) -> None:
    arrays = [[put(normal((5,), "float32", i))] for i in range(4)]
    arrays[3][0] *= arrays[3][0]
    _adam_cuda.adam_step(*arrays, **settings(1))
    table = _adam_cuda._tables[0, "float32"]
    _adam_cuda.adam_step(*arrays, **settings(2))
    assert _adam_cuda._tables[0, "float32"] is table
    before = home(arrays[0][0])
    zeros = put(np.zeros(5, "float32"))
    _adam_cuda.adam_step(
        arrays[0], [zeros], [put(np.zeros(5, "float32"))], [arrays[3][0]], **settings(2, weight_decay=0)
    )
    assert _adam_cuda._tables[0, "float32"] is not table
    np.testing.assert_array_equal(home(arrays[0][0]), before)  # nothing remembered, no gradient: no change


def test_another_thread_that_steps_at_the_same_time_does_not_change_the_addresses(
    put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shared(dict[Any, Any]):
        def __setitem__(self, where: Any, entry: Any) -> None:  # the other thread writes right after this one
            super().__setitem__(where, (b"", put(np.zeros((5, 1), np.int64))))

    monkeypatch.setattr(_adam_cuda, "_tables", Shared())
    table = np.arange(5).reshape(5, 1)
    np.testing.assert_array_equal(home(_adam_cuda._on_device((0, "float32"), table)), table)


def test_arrays_that_are_not_contiguous_and_gradients_of_another_dtype(put: Any) -> None:
    p, g, m, v = (normal((6, 4), "float64", i) for i in range(4))
    want = [put(a) for a in (p, g, m, v * v)]
    _adam_cuda.adam_step(*([a] for a in want), **settings(3))
    got = [put(np.ascontiguousarray(a.T)).T for a in (p, g, m, v * v)]
    _adam_cuda.adam_step(*([a] for a in got), **settings(3))
    for a, b in zip(got, want):
        np.testing.assert_array_equal(home(a), home(b))
    single = [put(a) for a in (p, g.astype("float32"), m, v * v)]
    _adam_cuda.adam_step(*([a] for a in single), **settings(3))
    np.testing.assert_allclose(home(single[0]), home(want[0]), rtol=1e-5)


def test_integers_will_do_for_rates(put: Any) -> None:
    p, g, m = (put(normal((5,), "float32", i)) for i in range(3))
    before = home(p)
    _adam_cuda.adam_step([p], [g], [m], [put(np.ones(5, "float32"))], **settings(1, lr=0, weight_decay=0))
    np.testing.assert_array_equal(home(p), before)


@pytest.mark.parametrize(
    "wrong", [np.zeros(4, "float32"), np.zeros(5), np.zeros(5, int)], ids=["shape", "dtype", "integers"]
)
def test_what_does_not_fit_is_refused_before_anything_changes(put: Any, wrong: np.ndarray) -> None:
    good = [put(normal((5,), "float32", i)) for i in range(4)]
    before = home(good[0])
    with pytest.raises(ArgumentError, match=re.escape("parameter 1")):
        _adam_cuda.adam_step([good[0], put(wrong)], [good[1]] * 2, [good[2]] * 2, [good[3]] * 2, **settings(1))
    with pytest.raises(ArgumentError, match="as many"):
        _adam_cuda.adam_step([good[0]], [], [good[2]], [good[3]], **settings(1))
    np.testing.assert_array_equal(home(good[0]), before)


def network() -> nn.Sequential:
    """A layer of each kind that has a kernel."""
    rng = np.random.default_rng(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.2, activation="gelu", rng=rng)
    return nn.Sequential(nn.Embedding(7, 8, rng=rng), layer, nn.Affine(8, 7, rng=rng))


def losses_of_training(put: Any, on_device: bool) -> list[Any]:
    model, ids = network(), np.random.default_rng(1).integers(0, 7, (3, 5))
    optimizer = AdamW(model.parameters(), lr=1e-2)
    if on_device:
        model.to("cuda")
    parameters = list(model.parameters())
    first, second = ([put(np.zeros(p.shape, p.dtype)) for p in parameters] for _ in range(2))
    losses = []
    for t in (1, 2, 3):
        model.zero_grad()
        losses.append(cross_entropy(model(put(ids)), put(ids[::-1].copy())))
        losses[-1].backward()
        if not on_device:
            optimizer.step()
            continue
        how = settings(t, lr=1e-2, beta_1=0.9, beta_2=0.999, eps=1e-8)
        arrays = [p.data for p in parameters], [p.grad.data for p in parameters if p.grad is not None]
        _adam_cuda.adam_step(*arrays, first, second, **how)
    return losses


def test_training_gives_the_losses_of_the_host_and_never_waits(put: Any) -> None:
    want = losses_of_training(lambda a: a, False)
    fake_device.host_syncs.clear()
    got = losses_of_training(put, True)
    if put is fake_device.asarray:
        assert fake_device.host_syncs == []
    np.testing.assert_allclose([home(loss) for loss in got], [loss.item() for loss in want], rtol=1e-5)
