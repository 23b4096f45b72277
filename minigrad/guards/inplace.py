"""In-place changes of arrays that the tape has kept: found when they are about to falsify a gradient.

Fingerprinting every array that every operation keeps would cost a tenth of a small multiply, so what is watched is chosen
by who could write to it (docs/in-place.md has the measurements, and lists what is caught and what is not):

* An operand that is not differentiated, such as a plain array, has its fingerprint kept beside it, by the plan.
* A tensor's own array is watched from the moment it is handed out, by ``t.data``, ``t.numpy()`` or ``t[...] = ...``,
  while something else holds it too. What was recorded before that moment must not have changed since.
* The array of a leaf that shares memory with its maker (``copy=False``) is sealed by each operation that keeps it.
* Inside ``detect_anomaly()`` everything that is kept is sealed.

A sweep runs code of the user's too: hooks, a ``Function.backward``, the second run of a checkpointed function. So what is
watched when it begins is compared again as each derivative is computed, and what is handed out while it runs, from then on.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine import observers
from ..engine.observers import attach, in_any_thread, sweeps_under_way
from ..engine.tape import Entry, Leaf, next_sequence_number
from ..engine.types import Pull
from ..errors import GraphError

_SMALL = 2048  # bytes; up to here the whole array counts
_SAMPLES = 256  # at least, from a larger array
_COLUMNS = 1021  # a prime, so that rows of another length do not line up


def fingerprint(array: Any, whole: bool = False) -> int | None:
    """A number that changes with the contents of a NumPy array; None for anything else, which is not watched.

    Of an array of more than 2 KiB the fingerprint sees some 256 elements spread evenly, or, if ``whole``, all of them.
    """
    if not isinstance(array, np.ndarray):
        return None
    if array.nbytes <= _SMALL:
        return hash(array.tobytes())
    if not whole:
        flat = array.ravel("K") if array.flags.forc else array.flat  # never a copy of all of it
        return hash(flat[:: array.size // _SAMPLES | 1].tobytes())
    raw = array.ravel("K").view(np.uint8)
    end = raw.size - raw.size % (8 * _COLUMNS)
    sums = raw[:end].view(np.uint64).reshape(-1, _COLUMNS).sum(axis=0)  # several times faster than a hash
    return hash((sums.tobytes(), raw[end:].tobytes()))


# --- Operands that are not differentiated ---


def watch_constants(plan: Any) -> None:
    """Let a new plan keep the fingerprints of the caller's own arrays behind all else, and compare them before it pulls."""
    if plan.constants:
        plan.keep = _with_fingerprints(plan)
        plan.pull, plan.pull_tensors = _checked(plan.pull), _checked(plan.pull_tensors)


observers.plan_made.append(watch_constants)


def _with_fingerprints(plan: Any) -> Callable[[Sequence[Any]], Sequence[Any]]:
    keep, constants = plan.keep, tuple(plan.constants)
    if len(plan.positions) == len(constants) == 1 and not plan.extras:  # x * 2.0, x * array
        (only,) = plan.positions

        def keep_one(values: Sequence[Any]) -> Sequence[Any]:
            value = values[only]
            return (value, fingerprint(value)) if isinstance(value, np.ndarray) else (value,)

        return keep_one

    def keep_all(values: Sequence[Any]) -> Sequence[Any]:
        kept = keep(values)
        return (*kept, *[fingerprint(kept[i]) for i in constants])

    return keep_all


def _checked(pull: Pull) -> Pull:
    def check_and_pull(entry: Entry, g: Any) -> Sequence[Any]:
        check_constants(entry)
        return pull(entry, g)

    return check_and_pull


def check_constants(entry: Entry) -> None:
    """Compare the constants an entry keeps with their fingerprints."""
    kept, plan = entry.kept, entry.plan
    assert kept is not None
    for position, before in zip(plan.constants, kept[len(plan.names) :]):
        if before is not None and fingerprint(kept[position]) != before:
            raise _changed(entry, position)


# --- Arrays of tensors that were handed out ---


class _Sightings:
    """What was in an array, or in views of it, when they were handed out.

    Attributes:
        array: the array that owns the memory.
        seen: when (a sequence number), which view, and its fingerprint then. A view is None for all of it, or the offset,
            shape, strides and dtype of a view, since a view itself may be gone by the time of the sweep.
    """

    __slots__ = ("array", "seen")

    def __init__(self, array: Any) -> None:
        key = id(array)
        self.array = weakref.ref(array, lambda _: watched.pop(key, None))
        self.seen: list[tuple[int, _View, int | None]] = []

    def add(self, view: _View) -> None:
        contents = fingerprint(_take(self.array(), view), whole=True)
        seen = self.seen
        last = next((sighting for sighting in reversed(seen) if sighting[1] == view), None)
        if last is not None and last[2] == contents:
            seen = [sighting for sighting in seen if sighting is not last]  # unchanged: the later moment covers more
        self.seen = [*seen[-63:], (next_sequence_number(), view, contents)]  # a new list: other threads may be reading

    def changed_since(self, seq: float, kept: Any, now: dict[_View, int | None]) -> bool:
        """Whether a view that overlaps with ``kept`` is not what it was when first handed out after number ``seq``.

        ``now`` remembers the fingerprints of the views from one question to the next.
        """
        looked_at: list[_View] = []
        for when, view, contents in self.seen:
            if when > seq and view not in looked_at:
                looked_at.append(view)
                array = _take(self.array(), view)
                if view not in now:
                    now[view] = fingerprint(array, whole=True)
                if now[view] != contents and np.shares_memory(array, kept):
                    return True
        return False


_View = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype[Any]] | None
watched: dict[int, _Sightings] = {}


class _Holder:
    _array = np.empty(0)


# By the attribute, and by the call itself. (Of a variable the count would differ between versions of Python.)
_HELD_ONCE = sys.getrefcount(_Holder._array)


def _alone(tensor: Any) -> bool:
    """Whether nothing but the tensor, no graph in particular, holds its array nor the one that this is a view of."""
    if sys.getrefcount(tensor._array) > _HELD_ONCE:
        return False
    if tensor._array.base is None:
        return True
    owned = isinstance(tensor._array.base, np.ndarray) and tensor._array.base.base is None
    return owned and sys.getrefcount(tensor._array.base) <= _HELD_ONCE


def handed_out(tensor: Any) -> None:
    """The array of ``tensor`` is about to be in the hands of somebody who may write to it.

    Where something else holds it too, which may be a graph, a later change of it is an error in the backward of what has
    been recorded up to now.
    """
    if not watched and sys.getrefcount(tensor._array) <= _HELD_ONCE and tensor._array.base is None:
        return  # the usual case; the rest would say the same
    if not isinstance(tensor._array, np.ndarray):
        return
    alone = _alone(tensor)
    if alone and not watched:
        return
    owner = _owner(tensor._array)
    if alone:
        watched.pop(id(owner), None)
        return
    sightings = watched.get(id(owner)) or watched.setdefault(id(owner), _Sightings(owner))
    sightings.add(_view(tensor._array, owner))
    if tensor._array.flags.writeable:  # as what hooks are given is not
        observers.exposed[threading.get_ident()] = True
    if check_watched not in observers.before_sweep:  # from the first time on that there is something to check
        observers.before_sweep.append(check_watched)


observers.handed_out.append(handed_out)


def check_watched(entries: Sequence[Entry]) -> None:
    """Raise if one of ``entries``, about to be swept, keeps an array that has been changed since it was handed out.

    What keeps one that has not been is compared again when its turn has come.
    """
    if observers.exposed:
        _forget_exposed()
    if watched:
        now: dict[int, dict[_View, int | None]] = {}
        for entry in entries:
            if _compare(entry, now) and _AGAIN not in entry.notes:
                attach(entry, _AGAIN)


def _compare(entry: Entry, now: dict[int, dict[_View, int | None]]) -> bool:
    """Whether ``entry`` keeps an array that was handed out since it was recorded; raise if that was changed."""
    found = False
    for position, value in enumerate(entry.kept or ()):
        for array in _arrays(value):
            owner = id(_owner(array))
            sightings = watched.get(owner)
            if sightings is not None and sightings.seen and sightings.seen[-1][0] > entry.seq:
                found = True
                if sightings.changed_since(entry.seq, array, now.setdefault(owner, {})):
                    raise _changed(entry, position)
    return found


def _compare_pulled(entry: Entry) -> None:
    if watched:
        _compare(entry, {})


observers.before_pull.append(_compare_pulled)


class _WatchedBefore:
    """A note: what the entry keeps was watched when the sweep began. A hook, say, may have written to it since."""

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        """``observed`` has told ``before_pull`` already."""


_AGAIN = _WatchedBefore()


def _forget_exposed() -> None:
    """A sweep begins, and compares everything. One that it may be part of, and those of other threads, are still exposed."""
    if not sweeps_under_way():
        observers.exposed.pop(threading.get_ident(), None)
    for thread in observers.exposed.keys() - sys._current_frames().keys():  # it has ended
        observers.exposed.pop(thread, None)


def check_kept(entry: Entry) -> None:
    """Raise if something that an entry keeps has been changed: for forward mode, which reads it without a pull."""
    if getattr(entry.plan, "constants", ()):  # a checkpointed entry has none before it is pulled
        check_constants(entry)
    for note in entry.notes:
        if isinstance(note, Seal):
            note.check(entry)
    _compare_pulled(entry)


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays in a kept value: itself, or what a kernel saved, several outputs, an index."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays(item)


def _owner(array: Any) -> Any:
    """The array whose memory a view shows."""
    owner = base = array
    while (base := getattr(base, "base", None)) is not None:
        if isinstance(base, np.ndarray):
            owner = base
    return owner


def _view(array: Any, owner: Any) -> _View:
    if array is owner or not (owner.base is None or owner.flags.forc):
        return None
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return offset, array.shape, array.strides, array.dtype


def _take(owner: Any, view: _View) -> Any:
    if view is None:
        return owner
    offset, shape, strides, dtype = view
    return np.ndarray(shape, dtype, owner.ravel("K"), offset, strides)


# --- Sealed entries ---


class Seal:
    """A note with a fingerprint of what an entry keeps, compared when the entry is swept."""

    __slots__ = ("prints", "whole")

    def __init__(self, entry: Entry, positions: Sequence[int], whole: bool) -> None:
        assert entry.kept is not None
        self.whole = whole
        self.prints = [(position, self._print(entry.kept[position])) for position in positions]

    def _print(self, value: Any) -> list[int | None]:
        return [fingerprint(array, self.whole) for array in _arrays(value)]

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        self.check(entry)

    def check(self, entry: Entry) -> None:
        assert entry.kept is not None
        for position, before in self.prints:
            if self._print(entry.kept[position]) != before:
                raise _changed(entry, position)


shared: weakref.WeakSet[Leaf] = weakref.WeakSet()
"""The leaves whose arrays somebody else has too, because they were made with ``copy=False``."""


def share(leaf: Leaf) -> None:
    """From now on, and as long as ``leaf`` lives, operations are recorded the slow way, which seals what it gives."""
    shared.add(leaf)
    in_any_thread.append(shared)
    weakref.finalize(leaf, in_any_thread.remove, shared).atexit = False


observers.leaf_shared.append(share)


def seal_shared(entry: Entry, arrays: Sequence[Any], answer: Any, seconds: float) -> None:
    """Seal the arguments of a new entry that are arrays of shared leaves."""
    if not shared:
        return
    names, arguments = entry.plan.names, _argument_names(entry)
    for name, parent in zip(arguments, entry.parents):
        if name in names and type(parent) is Leaf and parent in shared:
            attach(entry, Seal(entry, [names.index(name)], whole=False))


observers.recorded.append(seal_shared)


def _argument_names(entry: Entry) -> Sequence[str]:
    return entry.primitive.arguments or [f"args{i}" for i in range(len(entry.parents))]


def _changed(entry: Entry, position: int) -> GraphError:
    primitive, name = entry.primitive, entry.plan.names[position]
    which = {"ans": "its result", "saved": "what it saved"}.get(name, f"its argument '{name}'")
    arguments = _argument_names(entry)
    if name in arguments:
        leaf = entry.parents[arguments.index(name)]
        tensor = leaf.tensor if type(leaf) is Leaf else None
        if tensor is not None and tensor.name:
            which += f", the tensor '{tensor.name}',"
    return GraphError(
        f"an array that '{primitive.name}' keeps for its derivative, {which} has been changed in place since the forward "
        "pass, so that the gradient would be wrong: change it after backward(), run the forward pass again, or give the "
        "operation a copy (np.copy) of what will change"
    )
