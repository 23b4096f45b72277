"""Update small parameters together as one array and large ones in cache-sized blocks, for fast optimizer steps.

An update makes about a dozen passes over its arrays. On small arrays (30 arrays of 32 elements, say) the overhead of each
NumPy call dominates. On millions of elements each pass waits for memory, unless the previous pass left them in the cache. This
module knows the arrays and no optimizer: ``nn.Optimizer`` passes the function that updates them.
"""

import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.types import Array
from ..blas import blas
from ..threads import BLOCK, in_parts

_SMALL = 1 << 15  # elements; parameters up to this size are updated together, to save the overhead of calls
Update = Callable[[Array, Array, Mapping[str, Any]], None]


def update_in_blocks(update: Update, p: Array, g: Array, state: Mapping[str, Any]) -> None:
    """Run the elementwise ``update(p, g, state)`` block by block."""
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


class Division:
    """The division of an optimizer's parameters into those updated alone and small ones of the host updated together.

    Attributes:
        alone: the indices of the parameters that are large or on a device.
        together: the groups of small parameters.
    """

    def __init__(
        self,
        ready: Sequence[tuple[int, Array]],
        state: Sequence[dict[str, Any]],
        overrides: Sequence[dict[str, float]],
        elementwise: bool,
    ) -> None:
        self.alone: list[int] = []
        self.together: list[Together] = []
        arrays = dict(ready)
        groups = dict[Any, list[int]]()
        for i, p in ready:
            if elementwise and isinstance(p, np.ndarray) and p.size <= _SMALL:
                form = [(name, None if hasattr(value, "dtype") else value) for name, value in state[i].items()]
                groups.setdefault((p.dtype.char, *form, *overrides[i].items()), []).append(i)
            else:
                self.alone.append(i)
        for members in groups.values():
            if _overlap([arrays[i] for i in members]):
                self.alone += members
            else:
                self.together.append(Together(members, arrays, state))
        # Weak references, so that replaced arrays are released.
        self._made_for = [(i, weakref.ref(p), state[i], list(_arrays(state[i]).items())) for i, p in ready]

    def is_current(self, ready: Sequence[tuple[int, Array]], state: Sequence[dict[str, Any]]) -> bool:
        """Return whether the division was made for these parameters and arrays of state, and is still valid."""
        blas.look()
        if len(ready) != len(self._made_for):
            return False
        for (i, p), (j, own, remembered, arrays) in zip(ready, self._made_for):
            if i != j or own() is not p or state[i] is not remembered:
                return False
            for name, array in arrays:
                if remembered.get(name) is not array:
                    return False
        return all(
            len({state[i][name] for i in group.members}) == 1 for group in self.together for name in group.numbers
        )

    def arrays(
        self, parameters: Sequence[Any], state: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[int, Array, Array, Mapping[str, Any]]]:
        """Iterate over ``(i, p, g, state)``: arrays to update, and the index of one of the parameters that they belong to."""
        for i in self.alone:
            yield i, parameters[i]._array, parameters[i].grad.data, state[i]
        for group in self.together:
            i, members = group.members[0], [parameters[i] for i in group.members]
            yield i, *group.gathered(members), {**state[i], **group.state}
            group.put_back(members)


class Together:
    """A group of small parameters of one dtype that are updated as one array.

    Each name of their state is one flat array in ``state``; the state of each parameter holds a view of its part.
    """

    def __init__(
        self,
        members: Sequence[int],
        arrays: Mapping[int, Array],
        state: Sequence[dict[str, Any]],
    ) -> None:
        self.members = members
        parameters, states = [arrays[i] for i in members], [state[i] for i in members]
        ends = np.cumsum([p.size for p in parameters]).tolist()
        self._p = np.empty(ends[-1], parameters[0].dtype)
        self._g = np.empty_like(self._p)
        slices = [slice(end - p.size, end) for p, end in zip(parameters, ends)]
        self._parts = [self._p[part].reshape(p.shape) for p, part in zip(parameters, slices)]
        self.state: dict[str, Array] = {}
        names = _arrays(states[0])
        self.numbers = [name for name in states[0] if name not in names]  # the counts that the members have in common
        for name in names:
            flat = self.state[name] = np.concatenate([state[name] for state in states], axis=None)
            for own, p, part in zip(states, parameters, slices):
                own[name] = flat[part].reshape(p.shape)

    def gathered(self, members: Sequence[Any]) -> tuple[Array, Array]:
        """Return the parameters as one array, and their gradients as another."""
        np.concatenate([member._array for member in members], axis=None, out=self._p)
        np.concatenate([member._grad._array for member in members], axis=None, out=self._g)
        return self._p, self._g

    def put_back(self, members: Sequence[Any]) -> None:
        """Copy the updated array back into the parameters."""
        for member, part in zip(members, self._parts):
            member._array[...] = part


def _arrays(state: Mapping[str, Any]) -> dict[str, Array]:
    return {name: value for name, value in state.items() if hasattr(value, "dtype")}


def _overlap(arrays: Sequence[Array]) -> bool:
    """Return whether any two arrays may share memory. Copying the results back would then undo some of the updates."""
    bounds = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays if array.size)
    return any(start < end for (_, end), (start, _) in itertools.pairwise(bounds))
