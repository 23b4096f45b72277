"""The states of recurrent networks after each token of a sequence.

The docstrings of ``nn.GRUCell`` and ``nn.LSTMCell`` have the formulas of one step, and their sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array
from .about import about
from .neural import affine, sigmoid


def scan(step: Callable[..., Any], images: Any, state: Any, is_token: Array | None, reverse: bool) -> Any:
    """Return the state after each token, (batch, length, width), with ``step(image, state)``; padding does not change it."""
    length = images.shape[1]
    states = [state] * length
    for t in reversed(range(length)) if reverse else range(length):
        new = step(images[:, t], state)
        state = new if is_token is None else np.where(is_token[:, t], new, state)
        states[t] = state
    return np.stack(states, axis=1)


# --- a gated recurrent unit -----------------------------------------------------------------------------------------


def gru_step(h: Array, image: Array, memory: Array) -> Any:
    """Return the new state from h, ``image = x W + b`` and ``memory = h U + c``, both (batch, 3 hidden_dim)."""
    d = h.shape[-1]
    gates = sigmoid(image[:, : 2 * d] + memory[:, : 2 * d])
    reset, keep = gates[:, :d], gates[:, d:]
    candidate = np.tanh(image[:, 2 * d :] + reset * memory[:, 2 * d :])
    return candidate + keep * (h - candidate)


def _gru_states(
    images: Array,
    initial: Array,
    weight: Array,
    bias: Array | None,
    /,
    is_token: Array | None = None,
    reverse: bool = False,
) -> Any:
    """Return the state after each token, (batch, length, hidden_dim). Padding does not change the state."""
    return scan(lambda image, h: gru_step(h, image, affine(h, weight, bias)), images, initial, is_token, reverse)


gru_states = primitive(_gru_states, name="gru_states").reference(_gru_states)

# --- long short-term memory -----------------------------------------------------------------------------------------


def lstm_step(c: Any, sums: Any) -> Any:
    """Return the new state and cell from the cell c and ``sums = x W + b + h U + a``, (batch, 4 hidden_dim)."""
    d = c.shape[-1]
    first, o = sigmoid(sums[:, : 2 * d]), sigmoid(sums[:, 3 * d :])
    c = first[:, d:] * c + first[:, :d] * np.tanh(sums[:, 2 * d : 3 * d])
    return o * np.tanh(c), c


def _lstm_states(
    images: Array,
    initial: Array,
    cell: Array,
    weight: Array,
    bias: Array | None,
    /,
    is_token: Array | None = None,
    reverse: bool = False,
) -> Any:
    """Return the state and the cell after each token, (batch, length, 2 hidden_dim). Padding changes neither."""
    d = initial.shape[-1]

    def step(image: Any, both: Any) -> Any:
        return np.concatenate(lstm_step(both[:, d:], image + affine(both[:, :d], weight, bias)), axis=-1)

    return scan(step, images, np.concatenate([initial, cell], axis=-1), is_token, reverse)


lstm_states = primitive(_lstm_states, name="lstm_states").reference(_lstm_states)

_BACK_THROUGH_TIME = "g, carried back through all steps"
for _states in (gru_states, lstm_states):
    about(_states, formulas=dict.fromkeys(_states.arguments, _BACK_THROUGH_TIME))
