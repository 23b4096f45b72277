"""WeightAverage: held to PyTorch's, and what it leaves in the model."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError
from tests.lazy import torch


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.99])
def test_it_is_pytorchs_average(decay: float) -> None:
    rng = np.random.default_rng(0)
    model = nn.Affine(3, 2, rng=rng, dtype=np.float64)
    theirs = torch.nn.Linear(3, 2).double()
    averaged = torch.optim.swa_utils.AveragedModel(
        theirs, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(decay)
    )
    average = nn.WeightAverage(model, decay)
    for _ in range(5):
        weight, bias = rng.normal(size=(3, 2)), rng.normal(size=2)
        model.load_state_dict({"weight": weight, "bias": bias})
        with torch.no_grad():
            theirs.weight.copy_(torch.from_numpy(weight.T))
            theirs.bias.copy_(torch.from_numpy(bias))
        average.update()
        averaged.update_parameters(theirs)
        with average.applied():
            np.testing.assert_allclose(model.weight.numpy().T, averaged.module.weight.detach().numpy(), rtol=1e-12)
            np.testing.assert_allclose(model.state_dict()["bias"], averaged.module.bias.detach().numpy(), rtol=1e-12)
        np.testing.assert_array_equal(model.weight.numpy(), weight)


def test_after_an_error_the_model_has_its_own_parameters() -> None:
    model = nn.LayerNorm(2)
    average = nn.WeightAverage(model, 0.5)
    average.update()
    model.weight.data[:] = 3.0
    average.update()
    array = model.weight.data
    with pytest.raises(RuntimeError, match="inside"), average.applied():
        assert model.weight.numpy().tolist() == [2.0, 2.0]
        raise RuntimeError("inside")
    assert model.weight.numpy().tolist() == [3.0, 3.0] and model.weight.data is array


def test_fit_takes_it_as_a_function_of_each_step() -> None:
    model = nn.Affine(2, 1, rng=np.random.default_rng(0))
    average = nn.WeightAverage(model, 0.9)
    batches = nn.Batches([np.ones((8, 2))], 2, seed=0)
    seen: list[Any] = []

    def step() -> None:
        average.update()
        seen.append(model.weight.numpy().copy())

    sgd = nn.SGD(model.parameters(), lr=0.1)
    nn.fit(model, batches, lambda m, b: (m(b[0]) ** 2).mean(), sgd, epochs=1, on_step=step, progress=False)
    expected = seen[0]
    for weight in seen[1:]:
        expected = 0.9 * expected + 0.1 * weight
    with average.applied():
        np.testing.assert_allclose(model.weight.numpy(), expected, rtol=1e-6)


def test_what_does_not_fit_is_named() -> None:
    model = nn.LayerNorm(2)
    with pytest.raises(ArgumentError, match=r"decay must be in \[0, 1\), got 1"):
        nn.WeightAverage(model, 1.0)
    average = nn.WeightAverage(model)
    with pytest.raises(ArgumentError, match=r"there is no average yet: call update\(\)"), average.applied():
        pass
    average.update()
    with average.applied():
        with pytest.raises(ArgumentError, match="the average is applied: leave"):
            average.update()
        with pytest.raises(ArgumentError, match="the average is applied already"), average.applied():
            pass


def test_small_steps_count_in_float16() -> None:
    """The average of float16 parameters is kept in float32: a thousandth of a difference is less than a rounding error."""
    model = nn.LayerNorm(2, dtype=np.float16)
    average = nn.WeightAverage(model, decay=0.999)
    average.update()
    model.weight.data[:] = 1.5
    for _ in range(2000):
        average.update()
    with average.applied():
        assert model.weight.dtype == np.float16
        np.testing.assert_allclose(model.weight.numpy(), 1.5 - 0.5 * 0.999**2000, rtol=1e-3)
