"""Updating many small arrays as one, and large ones a block at a time: how optimizers get over their parameters quickly.

An update is a dozen passes over its arrays. On 30 arrays of 32 numbers they cost what they cost on 30 of 10,000, and on
millions of numbers each pass waits for memory, unless what one has left in the cache is there for the next.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad._threads import in_parts

Array = Any
Update = Callable[[Array, Array, Mapping[str, Any]], None]
_BLOCK = 1 << 15  # elements: the four arrays of Adam and its intermediate stay in a second-level cache


def update_in_blocks(update: Update, p: Array, g: Array, state: Mapping[str, Any]) -> None:
    """``update(p, g, state)``, for an update that treats every element alike."""
    if not isinstance(p, np.ndarray) or p.size <= _BLOCK or not p.flags.c_contiguous:
        update(p, g, state)
        return
    p, g = p.reshape(-1), g.reshape(-1)
    arrays = {name: value.reshape(-1) for name, value in state.items() if isinstance(value, np.ndarray)}

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):
            block = slice(i * _BLOCK, (i + 1) * _BLOCK)
            update(p[block], g[block], {**state, **{name: array[block] for name, array in arrays.items()}})

    in_parts(some, -(-p.size // _BLOCK), 10 * p.size)


class Together:
    """Small parameters of one dtype that are updated as one array.

    What is remembered about them lies in one array a slot, of which each parameter's state has its stretch.
    """

    def __init__(self, parameters: Sequence[Array], states: Sequence[dict[str, Any]]) -> None:
        ends = np.cumsum([p.size for p in parameters]).tolist()
        self._p = np.empty(ends[-1], parameters[0].dtype)
        self._g = np.empty_like(self._p)
        stretches = [slice(end - p.size, end) for p, end in zip(parameters, ends)]
        self._parts = [self._p[stretch].reshape(p.shape) for p, stretch in zip(parameters, stretches)]
        self._flat: dict[str, Array] = {}
        for name in [name for name, value in states[0].items() if isinstance(value, np.ndarray)]:
            flat = self._flat[name] = np.concatenate([state[name] for state in states], axis=None)
            for state, p, stretch in zip(states, parameters, stretches):
                state[name] = flat[stretch].reshape(p.shape)
        self._first = states[0]
        self._slot = next(iter(self._flat), "")  # an array of it for each state; the other slots go with it
        self._held = [state.get(self._slot) for state in states]

    def holds(self, states: Sequence[dict[str, Any]]) -> bool:
        """Whether what these states remember is (still) in the arrays of this group."""
        slot = self._slot
        return all(state.get(slot) is array for state, array in zip(states, self._held))

    def update(self, update: Update, parameters: Sequence[Tensor]) -> None:
        """``update(p, g, state)`` for all of them."""
        arrays = [parameter._data for parameter in parameters]
        gradients = [parameter._grad._data for parameter in parameters if parameter._grad is not None]
        np.concatenate(arrays, axis=None, out=self._p)
        np.concatenate(gradients, axis=None, out=self._g)
        update(self._p, self._g, {**self._first, **self._flat})
        for array, part in zip(arrays, self._parts):
            np.copyto(array, part)
