"""Groups of parameters with settings of their own, against PyTorch's, and in checkpoint files."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError
from minigrad.serialize import CheckpointError
from nn import SGD, Adam, AdamW, Affine, Parameter
from tests.nn.layers import assert_close, rng, to_torch
from tests.nn.test_optim import each_optimizer, parameters, run, set_gradients
from tests.nn.training import Stop, fail, loss, run as fitted, stopping, weights

GROUPS = [{"weight_decay": 0.0}, {"lr_scale": 0.5}, {}, {"lr_scale": 0.0, "weight_decay": 0.7}]


def in_groups(tensors):
    return [{"params": [p], **own} for p, own in zip(tensors, GROUPS, strict=True)]


@each_optimizer
def test_groups_equal_those_of_pytorch(ours, theirs, settings) -> None:
    tensors = parameters()
    torch_tensors = [to_torch(p.data, True) for p in tensors]
    optimizer = ours(in_groups(tensors), **settings)
    lr = optimizer.lr
    torch_groups = [
        {"params": [p]} | {name: lr * value if name == "lr_scale" else value for name, value in own.items()}
        for p, own in zip(torch_tensors, GROUPS, strict=True)
    ]
    for group in torch_groups:
        if "lr_scale" in group:
            group["lr"] = group.pop("lr_scale")
    torch_optimizer = theirs(torch_groups, **settings)
    for step in range(30):
        if step == 15:  # a schedule changes all groups
            optimizer.lr = 0.5 * lr
            for group in torch_optimizer.param_groups:
                group["lr"] *= 0.5
        set_gradients(tensors, step)
        for p, torch_p in zip(tensors, torch_tensors, strict=True):
            torch_p.grad = None if p.grad is None else to_torch(p.grad.numpy())
        optimizer.step()
        torch_optimizer.step()
        for p, torch_p in zip(tensors, torch_tensors, strict=True):
            assert_close(p.numpy(), torch_p.detach().numpy())


@pytest.mark.parametrize("size", [3, (1 << 15) + 1], ids=["together", "alone"])
def test_groups_with_the_same_settings_are_updated_together(size) -> None:
    tensors = [Parameter(np.ones(size)) for _ in range(4)]
    for p in tensors:
        p.grad = np.zeros(size)
    optimizer = AdamW([{"params": p, "weight_decay": 0.5 * (i % 2)} for i, p in enumerate(tensors)], lr=0.1)
    optimizer.step()
    assert [p.numpy()[0] for p in tensors] == [1, 0.95, 1, 0.95]
    division = optimizer._division
    assert division is not None
    assert [group.members for group in division.together] == ([[0, 2], [1, 3]] if size == 3 else [])


@each_optimizer
def test_groups_resume_to_the_bit_and_change_with_the_state(ours, theirs, settings) -> None:
    whole, first = (ours(in_groups(parameters()), **settings) for _ in range(2))
    run(whole, range(20))
    run(first, range(10))
    saved, weights = first.state_dict(), [p.numpy().copy() for p in first.parameters]
    for groups in (in_groups, list):
        resumed = ours(groups([Parameter(w) for w in weights]), lr=123.0)
        resumed.load_state_dict(saved)
        assert repr(resumed) == repr(first)
        run(resumed, range(10, 20))
        for p, q in zip(whole.parameters, resumed.parameters, strict=True):
            np.testing.assert_array_equal(p.numpy(), q.numpy())
    saved["settings"]["overrides"].pop()
    with pytest.raises(ArgumentError, match="for 4 parameters"):
        first.load_state_dict(saved)


def test_a_state_without_groups_ends_the_groups() -> None:
    optimizer = AdamW(parameters())
    grouped = AdamW(in_groups(parameters()))
    grouped.load_state_dict(optimizer.state_dict())
    assert grouped.overrides == [{}] * 4 and grouped.settings == AdamW.settings


def test_groups_of_one_setting_are_none() -> None:
    a, b, c = (Parameter([1.0]) for _ in range(3))
    groups: list[dict[str, Any]] = [{"params": iter([a, b])}, {"params": c}, {"params": []}]
    optimizer = SGD(groups, lr=0.5)
    assert optimizer.parameters == [a, b, c] and optimizer.settings == SGD.settings
    assert repr(optimizer) == "SGD(lr=0.5, momentum=0.0, weight_decay=0.0; 3 tensors)"


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (lambda p: [{"params": p, "lr": 0.1}], r"'lr_scale', a factor of the optimizer's lr; got \['params', 'lr'\]"),
        (lambda p: [{"weight_decay": 0.1}], r"a group has 'params' .* got \['weight_decay'\]"),
        (lambda p: [{"params": p[:1]}, p[1]], "a group has 'params' .* got Parameter"),
        (lambda p: [{"params": p, "weight_decay": -1}], "weight_decay must be a number >= 0, got -1"),
        (lambda p: [{"params": p, "lr_scale": math.inf}], "lr_scale must be a number >= 0, got inf"),
        (lambda p: [{"params": p}, {"params": p[2], "lr_scale": 0.1}], "in two groups with different settings: leave"),
        (lambda p: [{"params": Affine(2, 2, rng=rng())}], r"pass module.parameters\(\)"),
        (lambda p: [{"params": []}], "Adam got no parameters"),
    ],
)
def test_bad_groups(groups, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        Adam(groups(parameters()))


def test_a_run_of_fit_with_groups_resumes_and_refuses_other_groups(tmp_path: Path) -> None:
    def make(decay: float) -> Any:
        return lambda model: AdamW(
            [{"params": p, "weight_decay": decay * (p.ndim > 1)} for p in model.parameters()], 0.05
        )

    _, expected = fitted(make=make(0.5))
    with pytest.raises(Stop):
        fitted(tmp_path, make=make(0.5), loss=stopping(loss, 13, fail))
    for other in (make(0.25), lambda model: nn.AdamW(model.parameters(), 0.05)):
        with pytest.raises(CheckpointError, match="overrides"):
            fitted(tmp_path, make=other)
    _, model = fitted(tmp_path, make=make(0.5), seed=3)
    assert weights(model) == weights(expected)
