"""checkpoint: recompute a segment of the forward pass in the backward pass instead of keeping its values.

The operations of the segment are ordinary entries of the tape, with their parents, so gradients of every order, gradients of
the variables that the function closes over, hooks and drawings need no special code. Only the values that the entries *keep*
are dropped when the function returns. When a sweep (the backward pass) reaches the first of these entries, the function runs
again. The entries of the second run match those of the first by their order and supply the dropped values.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from .._tree import leaves, map_leaves
from ..engine.modes import enable_grad
from ..engine.observers import active, open_contexts, tell_pulled
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array
from ..errors import GraphError

R = TypeVar("R")


def checkpoint(f: Callable[..., R], /, *args: Any, **kwargs: Any) -> R:
    """Return ``f(*args, **kwargs)`` and keep only its arguments and results; the backward pass runs ``f`` again.

    The gradients are those of ``f``, of any order. They include tensors that ``f`` uses but does not take as arguments, such as
    the parameters of a module: ``x = checkpoint(layer, x)``. For n layers of equal size, checkpoints around groups of
    ``sqrt(n)`` layers need memory for about ``2 sqrt(n)`` layers and cost one more forward pass (Chen et al. 2016,
    arXiv:1604.06174). Checkpoints may be nested.

    ``f`` must do the same both times. ``nn.Dropout`` repeats its mask, and a ``numpy.random.Generator`` among the arguments
    starts both runs from its present state. Other side effects happen twice.

    Raises:
        GraphError: (in the backward pass) the second run recorded other operations or returned other results than the first,
            because a value that ``f`` reads has changed, or is random.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(1.0, requires_grad=True)
        >>> y = mg.checkpoint(lambda x: np.exp(x * x - 1), x)
        >>> [len(entry.kept) for entry in mg.tape(y)]  # no operation keeps values until backward() runs f again
        [0, 0, 0]
        >>> y.backward()
        >>> x.grad.item()
        2.0
    """
    segment = _Segment(f, args, kwargs)
    with _Run() as run:
        output = f(*args, **kwargs)
    segment.drop(run, output)
    return output


class _Run:
    """A context that collects the entries of a run and the values of :func:`replayed`; a second run has them in ``replay``."""

    def __init__(self, replay: Iterator[Any] | None = None) -> None:
        self.replay = replay
        self.entries: list[Entry] = []
        self.values: list[Any] = []

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        self.entries.append(entry)

    def __enter__(self) -> _Run:
        active.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        active.leave(self)


def replayed(make: Callable[[], R]) -> R:
    """Return ``make()``; in the second run of a checkpointed function, return its value from the first run.

    Use it for values that change from call to call, such as the counter of a dropout mask.
    """
    if not open_contexts:
        return make()
    first_runs = []
    for run in reversed([context for context in active.contexts if isinstance(context, _Run)]):
        if run.replay is not None:
            try:
                value: R = next(run.replay)
            except StopIteration:
                raise _differs("it drew more random numbers") from None
            break
        first_runs.append(run)
    else:
        value = make()
    for run in first_runs:
        run.values.append(value)
    return value


def _separate(value: Any) -> Any:
    """Return an argument for the second run: a Tensor at no node of the first run, and a generator in its present state."""
    if isinstance(value, Tensor):
        return make_tensor(value._array, Leaf(None, value.shape, value.dtype) if value.requires_grad else None)
    return copy.deepcopy(value) if isinstance(value, np.random.Generator) else value


class _Segment:
    """A checkpointed call: the function and its arguments, and a description of the first run."""

    def __init__(self, f: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.f = f
        self.arguments = map_leaves(_separate, (args, kwargs))
        self.values: list[Any] = []
        self.done: list[tuple[Any, ...]] = []
        self.outputs: list[Any] = []
        self.dropped: list[int] = []
        self.restored: dict[int, tuple[Any, Any]] | None = None

    def drop(self, run: _Run, output: Any) -> None:
        """Drop the values that the entries of the first run keep."""
        self.values = run.values
        self.done = [_description(entry) for entry in run.entries]
        self.outputs = _arrays(output)
        for i, entry in enumerate(run.entries):
            plan: Any = entry.plan
            if entry.kept or isinstance(plan, _Dropped):  # the latter is a checkpoint inside this one
                self.dropped.append(i)
                entry.plan, entry.kept = cast(Any, _Dropped(self, i, plan)), ()

    def restore(self, entry: Entry, index: int) -> None:
        """Restore the plan and the kept values of ``entry``, number ``index`` of the first run."""
        if self.restored is None:
            self.restored = self._run_again()
        entry.plan, entry.kept = self.restored.pop(index)

    def _run_again(self) -> dict[int, tuple[Any, Any]]:
        args, kwargs = map_leaves(_separate, self.arguments)  # again, because this run may fail and be repeated
        with enable_grad(), _Run(iter(self.values)) as run:
            output = self.f(*args, **kwargs)
        done = [_description(entry) for entry in run.entries]
        if done != self.done:
            pairs = enumerate(zip(done, self.done))
            i = next((i for i, (now, before) in pairs if now != before), min(len(done), len(self.done)))
            before, now = (_show(each[i : i + 1]) for each in (self.done, done))
            raise _differs(f"operation {i + 1} was {before} and is now {now}")
        for before, now in zip(self.outputs, _arrays(output), strict=True):
            if not _close(before, now):
                raise _differs("its results have other values")
        return {i: (run.entries[i].plan, run.entries[i].kept) for i in self.dropped}


class _Dropped:
    """The plan of an entry whose kept values were dropped; the first pull restores the plan and the values."""

    def __init__(self, segment: _Segment, index: int, plan: Any) -> None:
        self.segment, self.index = segment, index
        self.primitive, self.names = plan.primitive, plan.names

    def restore(self, entry: Entry) -> None:
        self.segment.restore(entry, self.index)
        tell_pulled(entry)  # observers of the pull had no values to read before

    def pull(self, entry: Entry, g: Array) -> Sequence[Any]:
        self.restore(entry)
        return entry.plan.pull(entry, g)

    def pull_tensors(self, entry: Entry, g: Array) -> Sequence[Any]:
        self.restore(entry)
        return entry.plan.pull_tensors(entry, g)


def _description(entry: Entry) -> tuple[Any, ...]:
    needs = ["constant" if parent is None else "tracked" for parent in entry.parents]
    return entry.primitive, entry.shape, entry.dtype, ", ".join(needs)


def _show(descriptions: Sequence[tuple[Any, ...]]) -> str:
    """Describe the one operation in a list, or its absence; the last item says which inputs need a gradient."""
    return (
        "".join(f"{op.name} of shape {shape}, {dtype}, inputs {needs}" for op, shape, dtype, needs in descriptions)
        or "missing"
    )


def _arrays(output: Any) -> list[Any]:
    return [t._array for t in leaves(output) if isinstance(t, Tensor)]


def _close(before: Any, now: Any) -> bool:
    """Return whether two arrays are equal up to the rounding in which two runs on one machine may differ."""
    if np.array_equal(before, now):
        return True
    if before.shape != now.shape or before.dtype.kind not in "fc":
        return False
    tolerance = float(np.finfo(before.dtype).eps) ** 0.5
    scale = float(np.max(np.abs(before)))
    return bool(np.allclose(before, now, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def _differs(what: str) -> GraphError:
    return GraphError(
        f"a checkpointed function did not repeat itself: {what}. Do not change the values it reads or write to its result "
        "before backward(), and draw random numbers from a numpy Generator that is an argument of it"
    )
