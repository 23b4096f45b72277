"""fit(..., precision="float16"): the loop written by hand, steps that overflow, and resumption to the bit."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, Tensor, UnsupportedError
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from nn import SGD, AdamW, Module
from tests.nn.mixed import Net, Weights, mixed
from tests.nn.training import X, Y, ctrl_c, loss as net_loss, run, stopping, weights


def test_fit_is_the_loop_written_by_hand() -> None:
    ours, theirs = Net(), Net()
    made = AdamW(ours.parameters(), 0.02)
    history = nn.fit(
        ours, nn.Batches([X, Y], 8, seed=5), net_loss, made, epochs=2, clip_norm=0.5, clip_value=0.1, progress=False,
        precision="float16",
    )  # fmt: skip
    optimizer, precision = mixed(theirs, lambda p: AdamW(p, 0.02))
    losses = []
    for epoch in range(2):
        for batch in nn.Batches([X, Y], 8, seed=5).epoch(epoch):
            optimizer.zero_grad()
            with precision:
                value = net_loss(theirs, batch)
            precision.backward(value)
            if not precision.overflowed:
                nn.clip_grad_norm(theirs.parameters(), 0.5)
                nn.clip_grad_value(theirs.parameters(), 0.1)
            precision.step()
            losses.append(value.item())
    assert history.losses == losses and weights(ours) == weights(theirs) and 0 < precision.skipped < 5


def test_fit_skips_a_step_that_overflows(tmp_path: Any) -> None:
    """There is nothing to clip then, and no error."""
    model = Weights([1.0])

    def value(model: Module, batch: Any) -> Tensor:
        return (model() * np.float16(3)).sum()  # a loss in float16: 65536 is beyond it, and 3 * 32768 too

    clips: list[dict[str, Any]] = [{}, {"clip_norm": 1.0}, {"clip_value": 1.0}]
    for clip in clips:
        path = tmp_path / f"{len(clip)}.safetensors"
        optimizer = SGD(model.parameters(), 0.01)
        nn.fit(model, nn.Batches([X], 10, seed=0), value, optimizer, epochs=1, progress=False, precision="float16",
               checkpoint=path, **clip)  # fmt: skip
        arrays, about = load_checkpoint(path)
        assert about["precision"] == {
            "dtype": "float16", "scale": 2.0**14, "growth_interval": 2000, "good_steps": 2, "skipped": 2,
        }  # fmt: skip
        assert arrays["model.w"].dtype == np.float32
    np.testing.assert_allclose(model.w.data, [1 - 0.06 - 0.02 - 0.02], rtol=1e-5)


@pytest.mark.parametrize("call", [3, 11, 18])
def test_fit_resumes_to_the_bit(call: int, tmp_path: Any) -> None:
    """Stopped by Ctrl-C in the middle of a forward pass, where the parameters are copies."""
    options: dict[str, Any] = {"precision": "float16", "epochs": 2}
    expected, model = run(tmp_path / "whole", **options)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "stopped", loss=stopping(net_loss, call, ctrl_c), **options)
    history, resumed = run(tmp_path / "stopped", seed=99 if call > 3 else 0, **options)
    assert history == expected and weights(resumed) == weights(model)
    states = [load_checkpoint(tmp_path / name / "last.safetensors")[1]["precision"] for name in ("whole", "stopped")]
    assert states[0] == states[1] and states[0]["good_steps"] + states[0]["skipped"] == len(history.losses)
    with pytest.raises(CheckpointError, match="precision is 'float16' there and None here"):
        run(tmp_path / "stopped")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"good_steps": "x"}, "good_steps must be"),
        ({"skipped": None}, "skipped must be"),
        ({"scale": "1"}, "scale must be"),
        (None, "no state of"),
    ],
)
def test_a_damaged_state_is_found_before_anything_is_restored(damage: Any, words: str, tmp_path: Any) -> None:
    path = tmp_path / "last.safetensors"
    options: dict[str, Any] = {"progress": False, "precision": "float16", "checkpoint": path}

    def go(model: Module, optimizer: Any) -> None:
        nn.fit(model, nn.Batches([X, Y], 8, seed=5), net_loss, optimizer, epochs=1, **options)

    first = Net(0)
    go(first, AdamW(first.parameters(), 0.02))
    arrays, about = load_checkpoint(path)
    about["precision"] = damage and about["precision"] | damage
    save_checkpoint(path, arrays, about)
    model = Net(1)
    optimizer = AdamW(model.parameters(), 0.02)
    before, remembered = weights(model), repr(optimizer.state_dict())
    options["resume"] = True
    with pytest.raises(CheckpointError, match=f"does not fit: .*{words}"):
        go(model, optimizer)
    assert weights(model) == before and repr(optimizer.state_dict()) == remembered


def test_fit_refuses_another_precision_before_anything_happens() -> None:
    with pytest.raises(ArgumentError, match="dtype must be 'float16'"):
        run(None, precision="float8")
    with pytest.raises(UnsupportedError, match="bfloat16"):
        run(None, precision="bfloat16")


def test_masters_come_back_after_an_interruption_while_they_are_put_back() -> None:
    model = Net()
    _, precision = mixed(model)
    before = [p._array for p in model.parameters()]
    precision.__enter__()
    next(model.parameters())._array = before[0]  # as far as it came
    precision.restore_masters()
    precision.restore_masters()
    assert [p._array is a for p, a in zip(model.parameters(), before)] == [True] * len(before)
