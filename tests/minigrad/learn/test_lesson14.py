"""The solutions of lesson 14 do what nn and PyTorch do: the same first weights, the same rates, the same steps."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import nn
from minigrad.learn.tasks import find
from tests.lazy import torch


def solution(label: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(find(label).solution.read_text(encoding="utf-8"), label, "exec"), names)
    return names


def test_behind_a_relu_the_first_weights_are_those_of_he() -> None:
    normals = [np.random.default_rng(seed).standard_normal((30, 20)) for seed in (0, 1)]
    first, second = solution("14.1")["start"](normals, 0.5)
    want = nn.init.he_normal((30, 20), rng=np.random.default_rng(1), dtype=np.float64)
    np.testing.assert_allclose(second, want, rtol=1e-14)
    np.testing.assert_allclose(first, normals[0] / np.sqrt(30), rtol=1e-14)


def test_every_layer_computes_numbers_of_one_size() -> None:
    rng = np.random.default_rng(0)
    widths = [300, 200, 400, 300, 250, 300, 200, 400]
    weights = solution("14.1")["start"]([rng.normal(size=shape) for shape in pairwise(widths)], 0.5)
    h = rng.normal(size=(200, 300))
    for W in weights:
        z = h @ W
        assert np.sqrt(np.mean(z**2)) == pytest.approx(1, rel=0.15)
        h = np.maximum(z, 0)


@pytest.mark.parametrize(("warmup", "steps"), [(0, 1), (0, 7), (1, 2), (5, 9), (40, 100)])
def test_the_rates_are_those_of_the_schedule_of_nn(warmup: int, steps: int) -> None:
    rate, schedule = solution("14.2")["rate"], nn.cosine_schedule(0.3, steps=steps, warmup=warmup)
    for step in range(steps + 4):
        assert rate(step, 0.3, warmup, steps) == pytest.approx(schedule(step), rel=1e-12, abs=1e-15)


def test_the_steps_are_those_of_adamw() -> None:
    """The direction is taken from PyTorch's Adam: how far a step of it with the rate 1 goes."""
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=(2, 3)), list(rng.normal(size=(6, 2, 3)) * [1, 100, 0.01])
    rates = [0.1 * (1 + i % 3) for i in range(6)]
    shadow = torch.nn.Parameter(torch.zeros(2, 3, dtype=torch.float64))
    adam = torch.optim.Adam([shadow], lr=1.0)

    def direction(g: np.ndarray) -> np.ndarray:
        before, shadow.grad = shadow.detach().clone(), torch.from_numpy(g)
        adam.step()
        moved: np.ndarray = (before - shadow.detach()).numpy()
        return moved

    got = solution("14.3")["adamw"](start, gradients, direction, rates, 0.4)
    w = torch.nn.Parameter(torch.from_numpy(start.copy()))
    adamw = torch.optim.AdamW([w], weight_decay=0.4)
    for g, rate in zip(gradients, rates):
        adamw.param_groups[0]["lr"], w.grad = rate, torch.from_numpy(g)
        adamw.step()
    np.testing.assert_allclose(got, w.detach().numpy(), rtol=1e-10)
