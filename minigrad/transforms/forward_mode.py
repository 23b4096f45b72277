"""Forward mode: walk the tape from its start and compute the tangent of each output from the tangents of its inputs.

No operation declares a second rule for forward mode. The tangent follows from the existing declarations:

- a *linear* operation is applied to the tangents of its inputs: the tangent of a sum is the sum of the tangents;
- for a *product* such as ``x @ y``, each factor in turn is replaced by its tangent, and the terms are added;
- an *elementwise* rule is its own transpose: in ``g * (1 - ans * ans)``, a tangent replaces ``g``;
- a *reference composition*, which declares an operation in terms of others, is run again on a
  tape of its own, and the tangents are carried along that tape.

Every other rule is a linear function of ``g``, so reverse mode through the rule gives its transpose, which maps the tangents of
the inputs to the tangent of the output. This works for all operations. What ``rules/about.py`` knows of an operation only makes
it faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..device import zeros
from ..engine.fitting import as_contribution
from ..engine.messages import cut_off, explained_in_rule
from ..engine.modes import ensure_recording
from ..engine.plan import Plan, kept_tensors, recomposed
from ..engine.primitive import Primitive
from ..engine.tape import Entry, Leaf, Output, cotangent_of, entries_between, sweep
from ..engine.tensor import Tensor, at_new_node, make_tensor
from ..engine.types import Array, Node
from ..guards.inplace import check_kept
from ..rules.about import depends_elementwise, known
from ..rules.reductions import mean, sum
from ..rules.shaping import broadcast_to, expand_dims, reshape, squeeze

Tangents = dict[Node, Any]  # an entry with several outputs has a dict from output index to tangent


@np.errstate(all="ignore")  # because NumPy warned in the forward pass already
def push(
    tangents: Mapping[Node, Array], ends: Iterable[Node], *, create_graph: bool = False, directions: int = 0
) -> Tangents:
    """Carry tangents along the tape, from the nodes of ``tangents`` to ``ends``.

    Each entry in between is visited once, in the order of execution. With ``create_graph`` the tangents are Tensors, and their
    computation is recorded (recording must be switched on).

    Args:
        directions: if not 0, the number of directions to push at once: the length of an extra first axis of the tangents.

    Returns:
        The tangent of every node that depends on a node of ``tangents``. ``cotangent_of`` finds that of an ``Output``.

    Raises:
        GraphError: a value that an entry had saved was released by an earlier sweep or changed in place.
    """
    ends = list(ends)
    entries = entries_between(ends, set(tangents))
    wanted = _outputs([*ends, *(parent for entry in entries for parent in entry.parents)])
    found: Tangents = dict(tangents)
    for entry in entries:
        if entry not in tangents:
            check_kept(entry)
            moves = [None if parent is None else cotangent_of(parent, found) for parent in entry.parents]
            try:
                found[entry] = _Push(entry, wanted.get(entry), create_graph, directions).push(moves)
            except Exception as error:
                raise explained_in_rule(error, entry, [])  # noqa: B904 - it has its cause
    return found


def _outputs(nodes: Iterable[Node]) -> dict[Entry, dict[int, Output]]:
    """Return, for each entry with several outputs, those of its outputs that are among ``nodes``."""
    wanted: dict[Entry, dict[int, Output]] = {}
    for node in nodes:
        if type(node) is Output:
            wanted.setdefault(node.entry, {})[node.index] = node
    return wanted


@dataclass
class _Push:
    """Compute the tangent of the output of one entry from the tangents of its inputs, its *moves*."""

    entry: Entry
    outputs: dict[int, Output] | None
    create_graph: bool
    directions: int

    def push(self, moves: list[Any]) -> Any:
        primitive = self.entry.primitive
        facts = known(primitive)
        plan = self.entry.plan
        # A user-defined Function and a checkpointed entry have no such rules.
        rules = plan.pullbacks if isinstance(plan, Plan) else None
        if self.outputs or rules is None:
            return self._one_by_one(moves)
        if primitive.composition is not None:
            return self._fitted(self._composition(moves))
        if depends_elementwise(primitive):
            return self._fitted(reduce(add, self._elementwise(rules, moves)))
        if facts.product and (not self.directions or (facts.multiplies and self._of_matrices(moves))):
            return self._fitted(reduce(add, self._product(moves)))
        if facts.linear and all(move is not None for move in moves):
            return self._linear(primitive, moves)
        return self._one_by_one(moves)

    def _one_by_one(self, moves: list[Any]) -> Any:
        """Push one direction after the other."""
        if not self.directions:
            return self._transposed(moves)
        alone = replace(self, directions=0)
        moved = [alone.push([None if move is None else move[i] for move in moves]) for i in range(self.directions)]
        if self.outputs:
            return {index: np.stack([one[index] for one in moved]) for index in self.outputs}
        return np.stack(moved)

    def _linear(self, primitive: Primitive, moves: list[Any]) -> Any:
        keywords = {key: value for key, value in self.entry.keywords.items() if key != "initial"}
        if self.directions:  # the common operations take all directions at once, along the extra first axis
            if primitive is broadcast_to:
                return self._broadcast(moves[0])
            if primitive in (reshape, expand_dims, squeeze) and keywords.get("order", "C") == "C":
                return moves[0].reshape(self._shape())
            if primitive not in (sum, mean):
                return self._one_by_one(moves)
            axis = keywords.get("axis")
            axes = range(moves[0].ndim - 1) if axis is None else np.atleast_1d(axis).tolist()
            keywords["axis"] = tuple(i + (i >= 0) for i in axes)
        return self._fitted(primitive(*moves, **keywords))

    def _kept(self) -> Sequence[Any]:
        return kept_tensors(self.entry) if self.create_graph else self.entry.kept or ()

    def _of_matrices(self, moves: list[Any]) -> bool:
        """Return whether no factor has more than two axes, so that the directions are the only batch axis."""
        return all(np.ndim(move) <= 3 for move in moves) and all(np.ndim(kept) <= 2 for kept in self.entry.kept or ())

    def _product(self, moves: list[Any]) -> Iterator[Any]:
        """Replace each factor in turn by its tangent and yield the terms. The backward rules have saved the other factors."""
        entry = self.entry
        kept = dict(zip(entry.plan.names, self._kept()))
        names = entry.primitive.argument_names(len(moves))
        for name, move in zip(names, moves):
            if move is not None:
                factors = [move if other == name else kept[other] for other in names]
                if self.directions and name == "y" and move.ndim == 2:  # x @ v for many v
                    factors = [move, np.swapaxes(factors[0], -1, -2) if factors[0].ndim > 1 else factors[0]]
                yield entry.primitive(*factors, **entry.keywords)

    def _elementwise(self, rules: Sequence[Any], moves: list[Any]) -> Iterator[Any]:
        kept = self._kept()
        for rule, move, node in zip(rules, moves, self.entry.parents):
            if move is not None:
                yield as_contribution(rule(self._broadcast(move), kept), node, self.entry)

    def _composition(self, moves: list[Any]) -> Any:
        inputs: list[Any] = []
        starts: dict[Node, Any] = {}
        for array, parent, move in zip(self.entry.kept or (), self.entry.parents, moves):
            value = array
            if self.create_graph and parent is not None:  # the new tangents depend on it even if it does not move
                value = make_tensor(array, parent)
            if move is not None:
                leaf = Leaf(None, array.shape, array.dtype)
                value = at_new_node(value) if self.create_graph else make_tensor(array, leaf)
                starts[value._node] = move
            inputs.append(value)
        ans = recomposed(self.entry, inputs)
        with ensure_recording():
            found = push(starts, [ans._node], create_graph=self.create_graph, directions=self.directions)
        moved = found.get(ans._node)  # None: the answer does not depend on an input with a tangent
        return zeros(self._shape(), ans._array) if moved is None else moved

    def _transposed(self, moves: list[Any]) -> Any:
        """Transpose the rules, which are linear in ``g``: record them at ``g = 0`` and pull the tangents back to ``g``."""
        entry = self.entry
        nodes: dict[Any, Any] = dict(self.outputs) if self.outputs else {None: entry}
        like = next(move for move in moves if move is not None)
        raw = like._array if isinstance(like, Tensor) else like
        still = {key: zeros(node.shape, raw, node.dtype) for key, node in nodes.items()}
        with ensure_recording():
            g = {key: make_tensor(still[key], Leaf(None, node.shape, node.dtype)) for key, node in nodes.items()}
            rules = entry.plan.pullbacks if isinstance(entry.plan, Plan) and not self.create_graph else None
            probe: Any = g if self.outputs else g[None]
            kept: Any = entry.kept
            pulled: list[Any] = (
                [rule and rule(probe, kept) for rule in rules] if rules else entry.plan.pull_tensors(entry, probe)
            )
            seeds: dict[Node, Any] = {}
            moving = [i for i, move in enumerate(moves) if move is not None and pulled[i] is not None]
            for i in moving:
                node = pulled[i]._node if isinstance(pulled[i], Tensor) else None
                if node is not None:
                    seed = _cast(np.broadcast_to(moves[i], node.shape), node.dtype)
                    seeds[node] = seeds[node] + seed if node in seeds else seed
            ends = {key: t._node for key, t in g.items()}
            found = sweep(seeds, create_graph=self.create_graph, retain_graph=self.create_graph, wanted=ends.values())
            self._check_zero([i for i in moving if not found or getattr(pulled[i], "_node", None) is None], still)
        if self.create_graph:
            still = {key: make_tensor(zero, None) for key, zero in still.items()}
        moved = {key: found.get(node, still[key]) for key, node in ends.items()}
        return moved if self.outputs else moved[None]

    def _check_zero(self, untracked: list[int], still: dict[Any, Any]) -> None:
        """Check that contributions not connected to ``g`` on the tape are 0: compute them from a nonzero ``g``.

        Raises:
            GraphError: a contribution is not 0, so the tangent cannot be computed from it.
        """
        if not untracked:
            return
        others = {key: np.sin(1 + np.cumsum(np.ones_like(zero))).reshape(zero.shape) for key, zero in still.items()}
        pulled = self.entry.plan.pull(self.entry, others if self.outputs else others[None])
        for i in untracked:
            if pulled[i] is not None and np.any(pulled[i]):
                raise cut_off(self.entry.primitive, i)

    def _shape(self) -> tuple[int, ...]:
        return (self.directions, *self.entry.shape) if self.directions else self.entry.shape

    def _broadcast(self, move: Any) -> Any:
        """Broadcast the tangent of an input to the shape of the output."""
        shape = self._shape()
        if move.shape == shape:
            return move
        if self.directions:
            move = move.reshape(move.shape[:1] + (1,) * (len(shape) - move.ndim) + move.shape[1:])
        return np.broadcast_to(move, shape)

    def _fitted(self, move: Any) -> Any:
        """Broadcast and cast a tangent to the shape and dtype of the output; drop the imaginary part for a real output."""
        shape = self._shape()
        return _cast(move if move.shape == shape else np.broadcast_to(move, shape), self.entry.dtype)


def _cast(move: Any, dtype: Any) -> Any:
    if move.dtype == dtype:
        return move
    return (move.real if move.dtype.kind == "c" and dtype.kind != "c" else move).astype(dtype)
