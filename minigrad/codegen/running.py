"""Run a function and its backward pass once on paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import map_leaves
from ..engine.modes import enable_grad
from ..engine.observers import active, attach
from ..engine.tape import Leaf, sweep
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array, Node
from ..errors import UnsupportedError
from .arguments import Arguments, is_floating
from .paper import Paper
from .recording import Recording, line_of, named
from .simplify import live
from .witness import described, on_the_tape


def recorded_or_refused(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int]) -> Recording:
    """Run ``f`` on paper. If only that fails, say so; an error that ``f`` raises on any arrays is its own.

    Raises:
        UnsupportedError: ``f`` fails on paper and not on the tape.
    """
    recording = Recording(Paper)
    try:
        return recorded(f, arguments, chosen, recording)
    except Exception as error:
        if error is recording.refusal or on_the_tape(f, arguments.examples, chosen) is None:
            raise
        raise UnsupportedError(
            f"the function works on arrays, but not on arrays that write down what is done with them{named(line_of(error))}, "
            f"{type(error).__name__}: {error}. Use NumPy's functions on the arguments themselves"
        ) from error


def recorded(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int], recording: Recording) -> Recording:
    """Run ``f`` on paper. Return the recording."""
    names = iter(arguments.leaves)
    starts: list[Tensor] = []
    run = _PaperRun(recording)

    def enter(leaf: Any, differentiated: bool) -> Any:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return leaf
        paper = recording.input(leaf, next(names).name)
        if not differentiated or not is_floating(leaf):
            return paper
        starts.append(make_tensor(paper, Leaf(None, leaf.shape, leaf.dtype)))
        recording.values[starts[-1]._node] = paper._value
        return starts[-1]

    given = [
        map_leaves(lambda leaf, i=i: enter(leaf, i in chosen), value) for i, value in enumerate(arguments.examples)
    ]
    value, gradients = run(f, given, starts)
    left = iter(gradients)
    trees = [map_leaves(lambda leaf: next(left) if is_floating(leaf) else None, arguments.examples[i]) for i in chosen]
    recording.results = value, *trees
    recording.statements = live(recording.statements, recording.results)
    return recording


class _PaperRun:
    """One run of a function and of its backward pass on paper. As an observer, it learns which value is whose cotangent."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __call__(
        self, f: Callable[..., Any], arguments: Sequence[Any], starts: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Return the value of ``f`` and the gradients with respect to ``starts``, as values of the program."""
        recording = self.recording
        contexts = active.contexts  # of these, a trace around the call would read what is on paper
        active.contexts = [context for context in contexts if not hasattr(context, "record")]
        active.enter(self)
        try:
            with enable_grad():
                output = f(*arguments)
                recording.finish()
                real = isinstance(output, Tensor) and output.shape == () and output.dtype.kind == "f"
                if not real or output._node is None:
                    raise UnsupportedError(
                        "write_numpy needs a function that returns one real number that depends on the arguments, and "
                        f"{described(f)} does not: sum() its result"
                    )
                gradients = self._backward(output, [t._node for t in starts])
        except Exception:
            if recording.refusal is not None:
                raise recording.refusal from None
            raise
        finally:
            active.leave(self)
            active.contexts = contexts
            recording.close()
        recording.finish()
        missing = [np.zeros(node.shape, node.dtype) for node in (t._node for t in starts)]
        found = [gradients.get(t._node, zeros) for t, zeros in zip(starts, missing)]
        return _value(output._array), [_value(g) for g in found]

    def _backward(self, output: Tensor, starts: Sequence[Node]) -> dict[Node, Any]:
        self.recording.backward = True
        gradients = sweep({output._node: np.ones_like(output._array)}, retain_graph=True, wanted=starts)
        for node, g in gradients.items():
            self.name(g, node)
        return gradients

    def record(self, entry: Any, arrays: Any, answer: Any, seconds: float) -> None:
        if type(answer) is Paper:
            self.recording.values[entry] = answer._value
        self.recording.scopes[entry] = self.recording.scopes_now()
        attach(entry, self)

    def backward(self, entry: Any, g: Array, contributions: Sequence[Any], seconds: float) -> None:
        for contribution, parent in zip(contributions, entry.parents):
            if parent is not None and contribution is not None:
                self.recording.contributed(entry, parent)
        if self.recording.backward:
            self.name(g, entry)
            for contribution, parent in zip(contributions, entry.parents):
                self.name(contribution, parent)

    def name(self, g: Any, node: Node) -> None:
        """Note that ``g`` is the cotangent of the value of a node."""
        value = g._value if type(g) is Paper else None
        if value is None or value.cotangent_of is not None:
            return
        if value.statement is not None and value.statement.backward:
            value.cotangent_of = self.recording.values.get(node)


def _value(array: Any) -> Any:
    return array._value if type(array) is Paper else array
