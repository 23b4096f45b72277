"""Updating many small arrays as one, and large ones a block at a time: how optimizers get over their parameters quickly.

An update is a dozen passes over its arrays. On 30 arrays of 32 numbers they cost what they cost on 30 of 10,000, and on
millions of numbers each pass waits for memory, unless what one has left in the cache is there for the next.
"""

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad._threads import BLOCK, in_parts

Array = Any
Update = Callable[[Array, Array, Mapping[str, Any]], None]


def update_in_blocks(update: Update, p: Array, g: Array, state: Mapping[str, Any]) -> None:
    """``update(p, g, state)``, for an update that treats every element alike."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    if p.size <= BLOCK or not all(array.flags.c_contiguous for array in (p, *arrays.values())):
        update(p, g, state)
        return
    p, g = p.reshape(-1), g.reshape(-1)
    arrays = {name: array.reshape(-1) for name, array in arrays.items()}

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):
            block = slice(i * BLOCK, (i + 1) * BLOCK)
            update(p[block], g[block], {**state, **{name: array[block] for name, array in arrays.items()}})

    in_parts(some, -(-p.size // BLOCK), 10 * p.size)


class Together:
    """Small parameters of one dtype that are updated as one array.

    What is remembered about them lies in one array a slot, of which each parameter's state has its stretch.
    """

    def __init__(self, parameters: Sequence[Array], states: Sequence[dict[str, Any]], slots: Sequence[str]) -> None:
        ends = np.cumsum([p.size for p in parameters]).tolist()
        self._p = np.empty(ends[-1], parameters[0].dtype)
        self._g = np.empty_like(self._p)
        stretches = [slice(end - p.size, end) for p, end in zip(parameters, ends)]
        self._parts = [self._p[stretch].reshape(p.shape) for p, stretch in zip(parameters, stretches)]
        self._flat: dict[str, Array] = {}
        for name in slots:
            flat = self._flat[name] = np.concatenate([state[name] for state in states], axis=None)
            for state, p, stretch in zip(states, parameters, stretches):
                state[name] = flat[stretch].reshape(p.shape)
        self._parameters = [weakref.ref(p) for p in parameters]  # not to hold what is replaced
        self._held = [[state[name] for state in states] for name in slots]

    def holds(self, parameters: Sequence[Array], states: Sequence[dict[str, Any]]) -> bool:
        """Whether it was made for these arrays, and what their states remember is (still) in its own."""
        return all(own() is p for own, p in zip(self._parameters, parameters)) and all(
            state.get(name) is array for name, held in zip(self._flat, self._held) for state, array in zip(states, held)
        )

    def update(self, update: Update, parameters: Sequence[Array], gradients: Sequence[Array], state: Any) -> None:
        """``update(p, g, state)`` for all of them; ``state`` has what they have in common."""
        np.concatenate(parameters, axis=None, out=self._p)
        np.concatenate(gradients, axis=None, out=self._g)
        update(self._p, self._g, {**state, **self._flat})
        for array, part in zip(parameters, self._parts):
            np.copyto(array, part)


def overlap(arrays: Sequence[Array]) -> bool:
    """Whether any two of them may share memory: then the last to be written to would undo what happened to the others."""
    bounds = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays if array.size)
    return any(start < end for (_, end), (start, _) in itertools.pairwise(bounds))
