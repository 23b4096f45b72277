"""What a task expects comes from its forward program: it is what minigrad's own operations give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import find
from minigrad.rules.attention import scaled_dot_product_attention
from minigrad.rules.neural import cross_entropy, layer_norm, softmax
from minigrad.transforms.grad import value_and_grad, vjp


def of_vjp(function: Callable[..., Any], *args: Any, g: Any) -> tuple[Any, ...]:
    return tuple(map(np.asarray, vjp(function, *args)[1](g)))


@pytest.mark.parametrize("seed", [4, 11])
def test_a_forward_program_agrees_with_the_fused_operation(seed: int) -> None:
    for case in find("6.4").questions(seed):
        x, weight, bias, g = (case.inputs[name] for name in ("x", "weight", "bias", "g"))

        def norm(x: Any, weight: Any, bias: Any, eps: float = case.inputs.get("eps", 1e-5)) -> Any:
            return layer_norm(x, weight, bias, eps=eps)

        want = (np.asarray(norm(x, weight, bias)), *of_vjp(norm, x, weight, bias, g=g))
        for got, right in zip(case.expected, want, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)
    for case in find("6.3").questions(seed):
        logits, labels = case.inputs["logits"], case.inputs["labels"]
        right = value_and_grad(lambda logits, labels=labels: cross_entropy(logits, labels))(logits)
        for got, value in zip(case.expected, right, strict=True):
            np.testing.assert_allclose(got, np.asarray(value), rtol=1e-9, atol=1e-12)
    for case in find("10.2").questions(seed):
        q, k, v, g = case.inputs.values()
        for got, value in zip(case.expected, of_vjp(scaled_dot_product_attention, q, k, v, g=g), strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-12)
    for case in (case for case in find("6.2").questions(seed) if case.forward):
        assert case.leaves is not None
        (right,) = of_vjp(softmax, case.leaves["x"], g=case.inputs["g"])
        np.testing.assert_allclose(case.expected, right, rtol=1e-9, atol=1e-12)


def test_parts_are_values_and_gradients_by_their_names() -> None:
    inputs = {"a": 3.0, "b": 5.0}
    case = derived(
        "f(a, b)", inputs, ("c", "gradient of b", "end"), "c = a * b\nend = c * c", places={"end": "gradient of end"}
    )
    assert tuple(map(float, case.expected)) == (15.0, 90.0, 1.0)
    alone = derived("f(a, b)", {**inputs, "g": np.array(2.0)}, (), "end = a * b")
    assert float(alone.expected) == 10.0  # of the first input, times g
