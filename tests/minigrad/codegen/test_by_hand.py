"""The gradients by hand are those of the tape."""

import numpy as np
import pytest

import minigrad as mg

from .by_hand import BY_HAND


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BY_HAND)
def test_the_step_by_hand_is_that_of_the_tape(name: str, seed: int) -> None:
    program = BY_HAND[name]
    arguments = program.examples(seed)
    loss, *gradients = program.step(*arguments)
    value, expected = mg.value_and_grad(program.forward, argnum=tuple(range(len(gradients))))(*arguments)
    np.testing.assert_allclose(loss, value, rtol=1e-12)
    for gradient, of_tape in zip(gradients, expected, strict=True):
        assert gradient.shape == of_tape.shape
        np.testing.assert_allclose(gradient, of_tape, rtol=1e-10, atol=1e-10)
