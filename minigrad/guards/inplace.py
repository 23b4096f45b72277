"""Detect in-place changes of arrays that the tape has kept, before they make a gradient wrong.

A fingerprint of every kept array would cost a tenth of a small multiply, so only arrays that other code could write to are
watched. docs/in-place.md has the measurements and lists which changes are caught.

* An operand that is not differentiated, such as a plain array: the plan keeps its fingerprint next to it.
* The array of a tensor, from the moment when ``t.data``, ``t.numpy()`` or ``t[...] = ...`` hands it out while another object
  holds it too. An operation recorded before that moment must find it unchanged.
* The array of a leaf made with ``copy=False``, which shares memory with the caller: each operation that keeps it seals it.
* Inside ``detect_anomaly()``, every kept array is sealed.

A sweep (the backward pass) also runs user code: hooks, a ``Function.backward``, the second run of a checkpointed function.
Therefore watched arrays, including those handed out during the sweep, are compared again before each derivative that reads
them.

Version counters cannot take the place of fingerprints: ``t.data[...] = 0`` writes to a plain NumPy array, which counts nothing,
so a counter would see only ``t[...] = 0``. ``sys.getrefcount`` only saves work, because an array that no graph holds needs no
fingerprint; a count that is too high makes us watch one array more.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine import observers
from ..engine.observers import active, attach, open_contexts
from ..engine.plan import Plan
from ..engine.tape import Entry, Leaf, next_sequence_number
from ..engine.types import Array, Pull
from ..errors import GraphError

_SMALL = 2048  # bytes; the fingerprint of an array up to this size covers all elements
_SAMPLES = 256  # the least number of elements sampled from a larger array
_COLUMNS = 1021  # 8-byte words per row of a checksum; a prime, so that rows of another length do not line up


def fingerprint(array: object, whole: bool = False) -> int | None:
    """Return a number that depends on the contents of a NumPy array; None for any other value, which is not watched.

    For an array of more than 2 KiB it covers about 256 evenly spaced elements, or all elements with ``whole``.
    """
    if not isinstance(array, np.ndarray):
        return None
    if array.nbytes <= _SMALL:
        return hash(array.tobytes())
    if not whole:
        flat = array.ravel("K") if array.flags.forc else array.flat  # never copies the whole array
        return hash(flat[:: array.size // _SAMPLES | 1].tobytes())
    raw = array.ravel("K").view(np.uint8)
    end = raw.size - raw.size % (8 * _COLUMNS)
    sums = raw[:end].view(np.uint64).reshape(-1, _COLUMNS).sum(axis=0)  # several times faster than a hash
    return hash((sums.tobytes(), raw[end:].tobytes()))


# --- Operands that are not differentiated ---


def watch_constants(plan: Plan) -> None:
    """Make a new plan append fingerprints of the caller's arrays to its kept values and compare them before it pulls."""
    if plan.constants:
        plan.keep = _with_fingerprints(plan)
        plan.pull, plan.pull_tensors = _checked(plan.pull), _checked(plan.pull_tensors)


observers.plan_made.append(watch_constants)


def _with_fingerprints(plan: Plan) -> Callable[[Sequence[Any]], Sequence[Any]]:
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
    def check_and_pull(entry: Entry, g: Array) -> Sequence[Any]:
        check_constants(entry)
        return pull(entry, g)

    return check_and_pull


def check_constants(entry: Entry) -> None:
    """Compare the constants that an entry keeps with their fingerprints."""
    kept, plan = entry.kept, entry.plan
    assert kept is not None
    for position, before in zip(plan.constants, kept[len(plan.names) :]):
        if before is not None and fingerprint(kept[position]) != before:
            raise _changed(entry, position)


# --- Arrays of tensors that were handed out ---


class _Sightings:
    """The fingerprints of an array, or of views of it, from the times when they were handed out.

    Attributes:
        array: a weak reference to the array that owns the memory.
        seen: (sequence number, view, fingerprint) for each time. A view is None for the whole array, or else its offset,
            shape, strides and dtype, because the view itself may be gone when the sweep runs.
    """

    __slots__ = ("array", "seen")

    def __init__(self, array: Array) -> None:
        key = id(array)
        self.array = weakref.ref(array, lambda _: watched.pop(key, None))  # lost at the recursion limit
        self.seen: list[tuple[int, _View, int | None]] = []

    def add(self, view: _View) -> None:
        contents = fingerprint(_take(self.array(), view), whole=True)
        seen = self.seen
        last = next((sighting for sighting in reversed(seen) if sighting[1] == view), None)
        if last is not None and last[2] == contents:
            seen = [sighting for sighting in seen if sighting is not last]  # unchanged: the later time covers more
        self.seen = [*seen[-63:], (next_sequence_number(), view, contents)]  # a new list: other threads may read it

    def changed_since(self, seq: float, kept: Any, now: dict[_View, int | None]) -> bool:
        """Return whether a view that overlaps ``kept`` has changed since it was first handed out after number ``seq``.

        ``now`` caches the present fingerprints of the views between calls.
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


def _sightings(owner: Any) -> _Sightings | None:
    """Return what was seen of ``owner``, whose id may stand for an array that died before it."""
    found = watched.get(id(owner))
    if found is None or found.array() is owner:
        return found
    watched.pop(id(owner), None)
    return None


class _Holder:
    _array = np.empty(0)


# The reference count of an array that only an attribute holds. For a variable it would differ between Python versions.
_HELD_ONCE = sys.getrefcount(_Holder._array)


def _alone(tensor: Any) -> bool:
    """Return whether only the tensor, and no graph, holds its array and the array that it is a view of."""
    if sys.getrefcount(tensor._array) > _HELD_ONCE:
        return False
    if tensor._array.base is None:
        return True
    owned = isinstance(tensor._array.base, np.ndarray) and tensor._array.base.base is None
    return owned and sys.getrefcount(tensor._array.base) <= _HELD_ONCE


def handed_out(tensor: Any) -> None:
    """Watch the array of ``tensor``, which is about to be handed out to code that may write to it.

    If another object holds the array too, it may be a graph. Then a later change is an error in the backward pass of the
    operations recorded so far.
    """
    if not watched and sys.getrefcount(tensor._array) <= _HELD_ONCE and tensor._array.base is None:
        return  # a shortcut for the usual case, with the same result
    if not isinstance(tensor._array, np.ndarray):
        return
    alone = _alone(tensor)
    if alone and not watched:
        return
    owner = _owner(tensor._array)
    if alone:
        watched.pop(id(owner), None)
        return
    sightings = _sightings(owner) or watched.setdefault(id(owner), _Sightings(owner))
    sightings.add(_view(tensor._array, owner))
    if tensor._array.flags.writeable:  # the arrays that hooks take are read-only
        observers.exposed[threading.get_ident()] = True
    if check_watched not in observers.before_sweep:  # added once there is something to check
        observers.before_sweep.append(check_watched)


observers.handed_out.append(handed_out)


def check_watched(entries: Sequence[Entry]) -> None:
    """Raise if one of ``entries``, about to be swept, keeps an array that was changed after it was handed out.

    Unchanged arrays that were handed out are compared again when the sweep reaches their entries.
    """
    if observers.exposed:
        _forget_exposed()
    if watched:
        now: dict[int, dict[_View, int | None]] = {}
        for entry in entries:
            if _compare(entry, now) and _AGAIN not in entry.notes:
                attach(entry, _AGAIN)


def _compare(entry: Entry, now: dict[int, dict[_View, int | None]]) -> bool:
    """Return whether ``entry`` keeps an array that was handed out after its recording; raise if that array has changed."""
    found = False
    for position, value in enumerate(entry.kept or ()):
        for array in arrays_in(value):
            owner = _owner(array)
            sightings = _sightings(owner)
            if sightings is not None and sightings.seen and sightings.seen[-1][0] > entry.seq:
                found = True
                if sightings.changed_since(entry.seq, array, now.setdefault(id(owner), {})):
                    raise _changed(entry, position)
    return found


def _compare_pulled(entry: Entry) -> None:
    if watched:
        _compare(entry, {})


observers.before_pull.append(_compare_pulled)


class _WatchedBefore:
    """A note on an entry whose kept arrays were watched when the sweep began; a hook, say, may have changed them since."""

    def backward(self, entry: Entry, cotangent: Array, contributions: Sequence[Any], seconds: float) -> None:
        """Do nothing, because ``before_pull`` has already compared the arrays."""


_AGAIN = _WatchedBefore()


def _forget_exposed() -> None:
    """Forget the exposed arrays of this thread, unless the sweep runs inside another one, and those of ended threads."""
    if not active.sweeps:
        observers.exposed.pop(threading.get_ident(), None)
    for thread in observers.exposed.keys() - sys._current_frames().keys():  # the thread has ended
        observers.exposed.pop(thread, None)


def check_kept(entry: Entry) -> None:
    """Raise if a kept value of an entry has changed; forward mode calls this, because it reads values without a pull."""
    if getattr(entry.plan, "constants", ()):  # a checkpointed entry has none before it is pulled
        check_constants(entry)
    for note in entry.notes:
        if isinstance(note, Seal):
            note.check(entry)
    _compare_pulled(entry)


def arrays_in(value: Any) -> Iterator[Any]:
    """Yield the arrays in a kept value, which is an array, or nested tuples and lists from a kernel or an index."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays_in(item)


def _owner(array: Array) -> Any:
    """Return the array that owns the memory of a view."""
    owner = base = array
    while (base := getattr(base, "base", None)) is not None:
        if isinstance(base, np.ndarray):
            owner = base
    return owner


def _view(array: Array, owner: Array) -> _View:
    if array is owner or not array.size or not (owner.base is None or owner.flags.forc):
        return None
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return offset, array.shape, array.strides, array.dtype


def _take(owner: Array, view: _View) -> Any:
    if view is None:
        return owner
    offset, shape, strides, dtype = view
    return np.ndarray(shape, dtype, owner.ravel("K"), offset, strides)


# --- Sealed entries ---


class Seal:
    """A note with the fingerprints of the values that an entry keeps; the sweep compares them at the entry."""

    __slots__ = ("prints", "whole")

    def __init__(self, entry: Entry, positions: Sequence[int], whole: bool) -> None:
        assert entry.kept is not None
        self.whole = whole
        self.prints = [(position, self._print(entry.kept[position])) for position in positions]

    def _print(self, value: Any) -> list[int | None]:
        return [fingerprint(array, self.whole) for array in arrays_in(value)]

    def backward(self, entry: Entry, cotangent: Array, contributions: Sequence[Any], seconds: float) -> None:
        self.check(entry)

    def check(self, entry: Entry) -> None:
        assert entry.kept is not None
        for position, before in self.prints:
            if self._print(entry.kept[position]) != before:
                raise _changed(entry, position)


shared: weakref.WeakSet[Leaf] = weakref.WeakSet()
"""The leaves that were made with ``copy=False``, so that the caller may hold their arrays."""


def share(leaf: Leaf) -> None:
    """Seal the array of ``leaf`` in each operation that keeps it; while the leaf lives, recording takes the slower path."""
    shared.add(leaf)
    open_contexts.append(shared)
    weakref.finalize(leaf, open_contexts.remove, shared).atexit = False


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
    which = {"ans": "the result", "saved": "a saved value"}.get(name, f"argument '{name}'") + f" of '{primitive.name}'"
    arguments = _argument_names(entry)
    if name in arguments:
        leaf = entry.parents[arguments.index(name)]
        tensor = leaf.tensor if type(leaf) is Leaf else None
        if tensor is not None and tensor.name:
            which += f" (the tensor '{tensor.name}')"
    return GraphError(
        f"{which} has been changed in place since the forward pass. The tape keeps this array for the derivative, so the "
        "gradient would be wrong: change it after backward(), run the forward pass again, or give the operation a copy "
        "(np.copy) of the array"
    )
