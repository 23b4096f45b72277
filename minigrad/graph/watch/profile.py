"""``with profile():`` measures the time and the kept memory of each operation, each module and each line."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._source import SourceLine
from ...device import is_device_array
from ...engine.observers import attach
from ...engine.tape import Entry
from ...guards.inplace import arrays_in
from ..record.names import shortened
from ..record.numerals import aligned
from ..record.trace import note_of, trace

LONGEST = 48  # characters of a line of the program in a table


@dataclass(slots=True, eq=False)
class Event:
    """An operation that ran, with its time and its memory.

    Attributes:
        operation: the name of the primitive.
        module: the path of the innermost module around it; "" outside of modules.
        source: the line of the program that called it.
        seconds, backward_seconds: the time of its forward and of its derivative rules; None before a sweep has reached it.
        new_bytes: the bytes of the arrays that the tape keeps for its backward, and that no earlier operation kept.
    """

    operation: str
    module: str
    source: SourceLine | None
    seconds: float
    backward_seconds: float | None = None
    new_bytes: int = 0


@dataclass
class Row:
    """A row of a table: the total times and bytes of all events of one name."""

    name: str
    calls: int = 0
    seconds: float = 0.0
    backward_seconds: float = 0.0
    new_bytes: int = 0


class profile(trace):
    """Measure the time and the bytes of each operation recorded inside ``with minigrad.profile() as p:``.

    ``print(p)`` shows the tables. The times are those of the operations and of their rules, without the program's own Python
    around them. Profiling adds some microseconds to each operation, which are not counted. A profile is also a trace without
    values.

    Attributes:
        events: the operations that ran, in order.
        peak_bytes: the most bytes that the tape has kept at one time for operations recorded inside the block. A backward
            pass releases those of each operation, unless it retains the graph.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(np.ones(1000), requires_grad=True)
        >>> with mg.profile() as p:
        ...     loss = np.sum(np.exp(x))
        >>> [(event.operation, event.new_bytes) for event in p.events]  # print(p) shows the times as well
        [('exp', 8000), ('sum', 0)]
    """

    def __init__(self) -> None:
        super().__init__(values=False)
        self.events: list[Event] = []
        self.peak_bytes = 0
        self._kept_bytes = 0
        self._keepers: Counter[int] = Counter()  # by the number of an array, the operations that keep it now
        self._swept: tuple[Entry, _Watch] | None = None  # the last one; a sweep frees its arrays after its rules

    def __exit__(self, *error: object) -> None:
        self._settle()
        super().__exit__(*error)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Note an entry. The engine calls this for each one."""
        super().record(entry, arrays, answer, seconds)
        self._settle()
        note = note_of(entry)
        assert note is not None
        event = Event(entry.primitive.name, note.modules[-1].name if note.modules else "", note.source, seconds)
        kept = {id(array): array.nbytes for value in entry.kept or () for array in _arrays(value)}
        event.new_bytes = sum(size for number, size in kept.items() if not self._keepers[number])
        self._keepers.update(kept.keys())
        self._kept_bytes += event.new_bytes
        self.peak_bytes = max(self.peak_bytes, self._kept_bytes)
        self.events.append(event)
        attach(entry, _Watch(self, event, kept))

    def _settle(self) -> None:
        """Count the arrays of the last swept operation as gone, unless the sweep has retained them."""
        swept, self._swept = self._swept, None
        if swept is not None and swept[0].kept is None:
            swept[1].release()

    # Tables

    def by_operation(self) -> list[Row]:
        """Return the total times and bytes of each kind of operation, the slowest first."""
        return _rows(self.events, lambda event: event.operation)

    def by_module(self) -> list[Row]:
        """Return the total times and bytes of each module without the modules inside it, the slowest first."""
        return _rows(self.events, lambda event: event.module or "(outside of modules)")

    def by_line(self) -> list[Row]:
        """Return the total times and bytes of each line of the program, the slowest first."""
        return _rows(self.events, lambda event: "(not known)" if event.source is None else _line(event.source))

    def table(self, most: int = 20) -> str:
        """Return all tables as text, each with at most ``most`` rows."""
        seconds = sum(event.seconds for event in self.events)
        backward = sum(event.backward_seconds or 0.0 for event in self.events)
        total = (
            f"{len(self.events)} operations: {1e3 * seconds:.3f} ms forward, {1e3 * backward:.3f} ms backward; the tape kept "
            f"at most {self.peak_bytes:,} bytes"
        )
        tables = {"operation": self.by_operation(), "module": self.by_module(), "line": self.by_line()}
        return "\n\n".join([*(_format(title, rows, most) for title, rows in tables.items()), total])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"profile({len(self.events)} operations)"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table())}</pre>"


class _Watch:
    """A note on an entry. It learns when the entry's rules have run, and when its arrays are gone."""

    __slots__ = ("event", "kept", "profile")

    def __init__(self, owner: profile, event: Event, kept: Mapping[int, int]) -> None:
        self.profile = owner
        self.event = event
        self.kept = kept

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        self.profile._settle()
        self.event.backward_seconds = seconds
        self.profile._swept = entry, self

    def release(self) -> None:
        """Count the arrays of this entry as gone, except those that others keep."""
        kept, self.kept = self.kept, {}
        keepers = self.profile._keepers
        for number, size in kept.items():
            keepers[number] -= 1
            if not keepers[number]:
                del keepers[number]
                self.profile._kept_bytes -= size

    __del__ = release


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays in a value that an entry keeps, on any device."""
    if is_device_array(value):
        yield value
    else:
        yield from arrays_in(value)


def _line(source: SourceLine) -> str:
    return shortened(f"{os.path.basename(source.file)}:{source.line}: {source.text}", LONGEST)


def _rows(events: Iterable[Event], name: Callable[[Event], str]) -> list[Row]:
    rows: dict[str, Row] = {}
    for event in events:
        row = rows.setdefault(name(event), Row(name(event)))
        row.calls += 1
        row.seconds += event.seconds
        row.backward_seconds += event.backward_seconds or 0.0
        row.new_bytes += event.new_bytes
    return sorted(rows.values(), key=lambda row: -(row.seconds + row.backward_seconds))


def _format(title: str, rows: list[Row], most: int) -> str:
    words = [[title, "calls", "forward ms", "backward ms", "bytes kept"]]
    for row in rows[:most]:
        times = [f"{1e3 * seconds:.3f}" for seconds in (row.seconds, row.backward_seconds)]
        words.append([row.name, str(row.calls), *times, f"{row.new_bytes:,}"])
    return "\n".join([*aligned(words), *([f"... and {len(rows) - most} more"] if len(rows) > most else [])])
