"""Training in float16 with float32 master weights: against float32, and what the scale does."""

import contextlib
import copy
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, DTypeError, GraphError, OutOfRangeError, UnsupportedError
from models import GPT, ClassifierConfig, GPTConfig, TransformerClassifier
from nn import SGD, AdaGrad, Adam, AdamW, MixedPrecision, Module, RMSProp, TrainingError
from tests import fake_device
from tests.nn.layers import rng
from tests.nn.mixed import Net, Weights, gradients, mixed
from tests.nn.training import X, Y, loss as net_loss, weights

OPTIMIZERS: list[Any] = [
    lambda p: SGD(p, 0.1),
    lambda p: SGD(p, 0.1, momentum=0.9, weight_decay=0.01),
    lambda p: AdaGrad(p, 0.05),
    lambda p: RMSProp(p, 0.005),
    lambda p: Adam(p, 0.01),
    lambda p: AdamW(p, 0.01),
]
each_optimizer = pytest.mark.parametrize(
    "make", OPTIMIZERS, ids=["SGD", "momentum", "AdaGrad", "RMSProp", "Adam", "AdamW"]
)


def train(model: Module, optimizer: Any, precision: MixedPrecision | None, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with precision or contextlib.nullcontext():
            value = net_loss(model, (X, Y))
        if precision is None:
            value.backward()
            optimizer.step()
        else:
            precision.backward(value)
            precision.step()
        losses.append(value.item())
    return losses


# --- the block ---


def test_inside_the_parameters_are_float16_and_outside_the_masters_are_as_they_were() -> None:
    model = Net()
    optimizer, precision = mixed(model)
    before = [(p.data, p._node, p.data.copy()) for p in model.parameters()]
    with precision as entered:
        assert entered is precision
        assert {p.dtype for p in model.parameters()} == {np.dtype(np.float16)}
        assert all(np.array_equal(p.data, a.astype(np.float16)) for p, (_, _, a) in zip(model.parameters(), before))
        assert model(X).dtype == np.float16
        with pytest.raises(GraphError, match="entered already"), precision:
            pass
        with pytest.raises(GraphError, match="it was computed"):  # what is written here would be lost
            model.astype(np.float64)
        with pytest.raises(GraphError, match=r"SGD.step\(\) inside `with precision:`.*leave the block first"):
            optimizer.step()
    for p, (array, node, values) in zip(model.parameters(), before):
        assert p._array is array and p._node is node and p.requires_grad
        np.testing.assert_array_equal(array, values)


def test_an_error_in_the_block_brings_the_masters_back() -> None:
    model = Net()
    optimizer, precision = mixed(model)
    with pytest.raises(ZeroDivisionError), precision:
        raise ZeroDivisionError
    assert {p.dtype for p in model.parameters()} == {np.dtype(np.float32)}
    assert train(model, optimizer, precision, 2)


def test_without_recording() -> None:
    model = Net()
    _, precision = mixed(model)
    with mg.no_grad(), precision:
        out = model(X)
    assert out.dtype == np.float16 and not out.requires_grad and all(p.requires_grad for p in model.parameters())


def test_frozen_and_tied_parameters() -> None:
    model = Net()
    model.also = model.output  # type: ignore[attr-defined]
    model.hidden.weight.requires_grad = False
    optimizer, precision = mixed(model)
    before = model.state_dict()
    train(model, optimizer, precision, 3)
    changed = {path for path, array in model.state_dict().items() if not np.array_equal(array, before[path])}
    assert changed == before.keys() - {"hidden.weight"} and model.hidden.weight.grad is None


# --- steps ---


def test_masters_keep_what_float16_would_round_away() -> None:
    """A hundred steps of 1e-4 from 1: in float16 the next number below 1 is 0.9995."""
    model = Weights([1.0])
    optimizer, precision = mixed(model, lambda p: SGD(p, 1e-4), scale=2.0**10)
    half = np.float16(1)
    for _ in range(100):
        optimizer.zero_grad()
        with precision:
            value = model().astype(np.float32).sum()
        precision.backward(value)
        assert precision.step()
        half -= np.float16(1e-4)
    np.testing.assert_allclose(model.w.data, [0.99], atol=1e-5)
    assert half == 1


def overflow(model: Module, precision: MixedPrecision) -> None:
    with precision:
        value = model().sum() * np.float16(3.0)
    precision.backward(value)


@each_optimizer
def test_an_overflow_skips_the_step_and_halves_the_scale(make: Any) -> None:
    model = Weights([1.0, -2.0, 3.0])
    optimizer, precision = mixed(model, make, scale=2.0**15)
    with precision:
        value = model().astype(np.float32).sum()
    precision.backward(value)
    assert not precision.overflowed and precision.step()
    before, remembered = model.state_dict(), optimizer.state_dict()
    optimizer.zero_grad()
    overflow(model, precision)  # 3 * 2**15 is beyond 65504
    assert precision.overflowed and not precision.step() and not precision.overflowed
    assert (precision.scale, precision.skipped, precision.good_steps) == (2.0**14, 1, 0)
    np.testing.assert_array_equal(model.state_dict()["w"], before["w"])
    assert repr(optimizer.state_dict()) == repr(remembered)
    optimizer.zero_grad()
    overflow(model, precision)
    assert precision.step() and not np.array_equal(model.w.data, before["w"])
    assert gradients(model)["w"].tolist() == [3.0] * 3
    assert repr(precision) == "MixedPrecision(float16, scale=16384; 1 steps skipped)"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_is_enough(bad: float) -> None:
    model = Weights([1.0] * 100)
    _, precision = mixed(model)
    with precision:
        value = (model() * np.where(np.arange(100) == 57, bad, 1).astype(np.float16)).astype(np.float32).sum()
    precision.backward(value)
    assert not precision.step() and np.array_equal(model.w.data, np.ones(100))


def test_the_scale_grows_after_good_steps() -> None:
    model = Weights([1.0])
    optimizer, precision = mixed(model, scale=4.0, growth_interval=3)
    scales = []
    for step in range(8):
        optimizer.zero_grad()
        with precision:
            value = (model() * (np.float16(np.inf) if step == 4 else np.float16(1))).sum()
        precision.backward(value)
        precision.step()
        scales.append(precision.scale)
    assert scales == [4, 4, 8, 8, 4, 4, 4, 8]
    assert precision.skipped == 1


def test_a_growth_interval_lowered_below_the_count() -> None:
    model = Weights([1.0])
    optimizer, precision = mixed(model, scale=4.0)
    for _ in range(3):
        train_once(model, optimizer, precision)
    precision.growth_interval = 2
    train_once(model, optimizer, precision)
    assert (precision.scale, precision.good_steps) == (8.0, 0)


def train_once(model: Module, optimizer: Any, precision: MixedPrecision) -> None:
    optimizer.zero_grad()
    with precision:
        value = model().astype(np.float32).sum()
    precision.backward(value)
    assert precision.step()


def test_gradients_that_are_never_finite_end_the_training() -> None:
    model = Weights([1.0])
    _, precision = mixed(model)
    with pytest.raises(TrainingError, match=r"not finite, even with a loss scale of 6\.1.*detect_anomaly"):
        for _ in range(100):
            with precision:
                value = (model() * np.float16(np.nan)).sum()
            precision.backward(value)
            precision.step()
    assert precision.skipped == 30 and model.w.tolist() == [1.0]


@each_optimizer
def test_training_in_float16_is_training_in_float32(make: Any) -> None:
    results = {}
    for half in (False, True):
        model = Net()
        optimizer, precision = mixed(model, make)
        results[half] = train(model, optimizer, precision if half else None, 60)
    assert results[False][-1] < 0.5 * results[False][0]
    np.testing.assert_allclose(results[True], results[False], rtol=0.03, atol=2e-3)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_classifier_reaches_the_loss_of_float32(norm: Any) -> None:
    ids = rng().integers(1, 50, (64, 12))
    labels, mask = (ids[:, 0] > 25).astype(int), np.arange(12) < rng(1).integers(4, 13, 64)[:, None]
    losses = {}
    for half in (False, True):
        config = ClassifierConfig(50, 2, d_model=32, num_layers=2, norm=norm, activation="gelu", dropout=0.1)
        model = TransformerClassifier(config, rng=rng(1))
        optimizer, precision = mixed(model, lambda p: AdamW(p, 2e-3))
        for _ in range(30):
            optimizer.zero_grad()
            with precision if half else contextlib.nullcontext():
                out = model(ids, mask)
                value = nn.cross_entropy(out, labels)
            assert out.dtype == (np.float16 if half else np.float32)
            if half:
                precision.backward(value)
                assert precision.step()
            else:
                value.backward()
                optimizer.step()
        losses[half] = value.item()
    assert losses[False] < 0.25 and abs(losses[True] / losses[False] - 1) < 0.05


def test_a_gpt_in_float16_all_the_way() -> None:
    ids = rng().integers(0, 30, (4, 9))
    config = GPTConfig(vocab_size=30, window=8, d_model=16, num_layers=2, num_heads=2)
    model, reference = (GPT(config, rng=rng(2)) for _ in range(2))
    _, precision = mixed(model)
    with precision:
        logits = model(ids[:, :-1])
        value = nn.cross_entropy(logits, ids[:, 1:])
        entries = mg.tape(logits)
    assert {entry.dtype for entry in entries} == {np.dtype(np.float16)}
    precision.backward(value)
    expected = nn.cross_entropy(reference(ids[:, :-1]), ids[:, 1:])
    expected.backward()
    for path, g in gradients(model).items():
        want = gradients(reference)[path]
        np.testing.assert_allclose(g, want, rtol=0, atol=1e-2 * np.abs(want).max() + 5e-6, err_msg=path)


# --- state ---


def test_resumes_to_the_bit() -> None:
    def overflowing(step: int) -> Any:
        return X * (1e6 if step in (2, 10) else 1)

    def go(model: Module, optimizer: Any, precision: MixedPrecision, steps: range) -> list[float]:
        scales = []
        for step in steps:
            optimizer.zero_grad()
            with precision, np.errstate(over="ignore", invalid="ignore"):
                value = net_loss(model, (overflowing(step), Y))
            precision.backward(value)
            precision.step()
            scales.append(precision.scale)
        return scales

    whole, first, second = Net(0), Net(0), Net(5)
    runs = [(model, *mixed(model, OPTIMIZERS[4], growth_interval=4)) for model in (whole, first, second)]
    scales = go(*runs[0], range(12))
    assert go(*runs[1], range(6)) == scales[:6]
    for new, old in zip(runs[2], runs[1], strict=True):
        new.load_state_dict(copy.deepcopy(old.state_dict()))
    assert go(*runs[2], range(6, 12)) == scales[6:]
    assert weights(second) == weights(whole)
    assert runs[2][2].state_dict() == runs[0][2].state_dict()
    assert runs[0][2].skipped == 2 and len(set(scales)) == 2
    assert {a.dtype for a in second.state_dict().values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtype": "bfloat16"}, "no state of"),
        ({"scale": 0.0}, "scale must be"),
        ({"growth_interval": 0}, "growth_interval must be"),
        ({"more": 1}, "no state of"),
        ({"scale": "1"}, "scale must be a positive number, got '1'"),
        ({"scale": None}, "scale must be"),
        ({"growth_interval": 2.5}, "growth_interval must be"),
        ({"good_steps": "x"}, "good_steps must be an integer, 0 or more, got 'x'"),
        ({"skipped": None}, "skipped must be"),
        ({"skipped": -1}, "skipped must be"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: dict[str, Any], words: str) -> None:
    _, precision = mixed(Net())
    before = precision.state_dict()
    with pytest.raises(ArgumentError, match=words):
        precision.load_state_dict(before | {"scale": 8.0, "skipped": 7} | change)
    assert precision.state_dict() == before


@pytest.mark.parametrize("state", [None, [], "float16", {}])
def test_what_is_no_state_at_all(state: Any) -> None:
    with pytest.raises(ArgumentError, match="no state of"):
        mixed(Net())[1].load_state_dict(state)


# --- what is wrong ---


def test_a_model_that_is_half_already() -> None:
    model = Net().astype(np.float16)
    with pytest.raises(DTypeError, match=r"'hidden.weight' is float16: call model.astype\(np.float32\)"):
        mixed(model)


@pytest.mark.parametrize("dtype", ["float32", "int8", np.float64, "nonsense", None])
def test_a_dtype_that_is_not_half(dtype: Any) -> None:
    with pytest.raises(ArgumentError, match="dtype must be 'float16', got"):
        mixed(Net(), dtype=dtype)


@pytest.mark.parametrize("dtype", ["float16", "half", np.float16, np.dtype("float16")])
def test_ways_to_say_float16(dtype: Any) -> None:
    assert mixed(Net(), dtype=dtype)[1].dtype == np.float16


def test_bfloat16_is_an_error_that_says_why() -> None:
    class bfloat16:  # as ml_dtypes' type looks
        pass

    for dtype in ("bfloat16", bfloat16):
        with pytest.raises(UnsupportedError, match=r"no dtype of NumPy.*Use 'float16'"):
            mixed(Net(), dtype=dtype)


def test_settings_out_of_range() -> None:
    bad: list[Any] = [0, -1.0, np.inf, np.nan, "big", None, 1j, 10**400]
    for scale in bad:
        with pytest.raises(ArgumentError, match="scale must be a positive number"):
            mixed(Net(), scale=scale)
    with pytest.raises(ArgumentError, match="growth_interval must be a positive integer"):
        mixed(Net(), growth_interval=0)
    with pytest.raises(ArgumentError, match="2 tensors that are not the model's"):
        MixedPrecision(Net(), SGD([*Net().hidden.parameters()]))


def test_steps_out_of_order() -> None:
    model = Net()
    _, precision = mixed(model)
    with pytest.raises(GraphError, match=r"needs precision.backward\(loss\) before it"):
        precision.step()
    with precision:
        value = net_loss(model, (X, Y))
        with pytest.raises(GraphError, match="leave it first"):
            precision.backward(value)
    value.backward(retain_graph=True)
    with pytest.raises(
        GraphError, match=r"needs precision.backward\(loss\) before it"
    ):  # forgotten: nothing was scaled
        precision.step()
    precision.backward(value)
    with precision, pytest.raises(GraphError, match="leave it first"):
        precision.step()
    assert precision.step()
    with pytest.raises(GraphError, match="before it"):
        precision.step()
    for bad in (1.0, model(X)):
        with pytest.raises(ArgumentError, match="a Tensor of one number, got"):
            precision.backward(bad)  # type: ignore[arg-type]


# --- on a device ---


def test_on_a_device_as_on_the_host_with_one_wait_a_step(put: Any) -> None:
    results = []
    for move in (np.asarray, put):
        model = Net()
        for p in model.parameters():
            p.data = move(p.data)
        optimizer, precision = mixed(model, OPTIMIZERS[4])
        x, y = move(X), move(Y)
        for _ in range(3):
            optimizer.zero_grad()
            with precision:
                value = net_loss(model, (x, y))
            fake_device.host_syncs.clear()
            precision.backward(value)
            assert not fake_device.host_syncs
            assert not precision.overflowed and not precision.overflowed
            nn.clip_grad_value(model.parameters(), 100.0)
            assert precision.step()
        assert len(fake_device.host_syncs) <= 1  # whether the gradients are finite
        assert all(type(p.data) is type(x) and p.dtype == np.float32 for p in model.parameters())
        results.append(model.state_dict())
    for path, array in results[0].items():
        np.testing.assert_allclose(results[1][path], array, atol=3e-3, err_msg=path)


def test_a_label_out_of_range_is_found_before_the_step(put: Any) -> None:
    model = Net()
    for p in model.parameters():
        p.data = put(p.data)
    _, precision = mixed(model)
    arrays = [p.data.copy() for p in model.parameters()]
    with pytest.raises(OutOfRangeError), precision:
        net_loss(model, (put(X), put(Y + 5)))
    assert precision.good_steps == 0
    for array, after in zip(arrays, model.state_dict().values(), strict=True):
        np.testing.assert_array_equal(array.get(), after)
