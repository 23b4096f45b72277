"""``with profile():`` measures the time and the kept memory of each operation and each module."""

from __future__ import annotations

import html
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from ..._source import SourceLine
from ...engine.observers import attach
from ...engine.tape import Entry
from ..record.names import expressions
from ..record.numerals import aligned
from ..record.trace import note_of, trace


@dataclass(slots=True, eq=False)
class Event:
    """An operation that ran, with its time and its memory.

    Attributes:
        operation: the name of the primitive.
        module: the path of the innermost module around it; "" outside of modules.
        source: the line of the program that called it.
        program: the lines of that file.
        shape, dtype: the shape and dtype of its output.
        start, seconds: the start of its forward, in seconds since the profile was created, and its duration.
        backward_start, backward_seconds: the same for its derivative rules; None before a sweep has reached it.
        kept: the arrays that the tape keeps for its backward, as a dict from an array's number to its bytes.
        new_bytes: the bytes of the arrays in ``kept`` that no earlier operation kept.
        freed_bytes: the bytes that the tape released in its backward, because no other operation kept them.
        freed_by: the operation whose backward released the last array in ``kept``; None before that.
    """

    operation: str
    module: str
    source: SourceLine | None
    shape: tuple[int, ...]
    dtype: str
    start: float
    seconds: float
    backward_start: float | None = None
    backward_seconds: float | None = None
    kept: dict[int, int] = field(default_factory=dict)
    new_bytes: int = 0
    freed_bytes: int = 0
    freed_by: Event | None = None
    program: Sequence[str] = field(default=(), repr=False)


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
    values, so drawings of the computation show times and bytes too.

    Attributes:
        events: the operations that ran, in order.
        peak_bytes: the largest value that ``kept_bytes`` has had.

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
        # A dict from the number of an array to the events that have kept it, and whether each of them still keeps it
        self._keepers: dict[int, dict[Event, bool]] = defaultdict(dict)
        self._began = perf_counter()
        self._swept: tuple[Entry, Event] | None = None

    @property
    def kept_bytes(self) -> int:
        """The bytes of the distinct arrays that the tape keeps now for operations recorded inside the block."""
        self._settle()
        return self._kept_bytes

    def __exit__(self, *error: object) -> None:
        self._settle()
        super().__exit__(*error)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Note an entry. The engine calls this for each one."""
        super().record(entry, arrays, answer, seconds)
        self._settle()
        note = note_of(entry)
        assert note is not None
        module = note.modules[-1].name if note.modules else ""
        start = perf_counter() - self._began - seconds
        event = Event(entry.primitive.name, module, note.source, entry.shape, str(entry.dtype), start, seconds)
        event.program = note.program
        for number, size in note.kept.items():
            if not self._keepers[number]:
                event.new_bytes += size
            self._keepers[number][event] = True
            event.kept[number] = size
        self._kept_bytes += event.new_bytes
        self.peak_bytes = max(self.peak_bytes, self._kept_bytes)
        self.events.append(event)
        attach(entry, _Watch(self, event))

    def _settle(self) -> None:
        """Examine the last swept entry. The sweep frees its arrays after its rules, so this is called at the next entry."""
        if self._swept is not None:
            entry, event = self._swept
            self._swept = None
            if entry.kept is None:
                self._release(event, event)

    def _release(self, event: Event, by: Event) -> None:
        """Note that the entry of ``event`` has released its arrays, in the backward of ``by`` or with its graph."""
        for number, size in event.kept.items():
            keepers = self._keepers.get(number, {})
            if keepers.get(event):
                keepers[event] = False
                if not any(keepers.values()):
                    del self._keepers[number]
                    self._kept_bytes -= size
                    by.freed_bytes += size
                    for keeper in keepers:
                        keeper.freed_by = by

    # Tables

    def by_operation(self) -> list[Row]:
        """Return the total times and bytes of each kind of operation, the slowest first."""
        return _rows(self.events, lambda event: event.operation)

    def by_module(self) -> list[Row]:
        """Return the total times and bytes of each module without the modules inside it, the slowest first."""
        return _rows(self.events, lambda event: event.module or "(outside of modules)")

    def by_expression(self) -> list[Row]:
        """Return the total times and bytes of each result of the program, the slowest first.

        A row has the result's name in the program, or else its expression. A call of a module is one expression. If the
        program's text is not known, the row has the operation's name.
        """
        called = self._expressions()
        return _rows(self.events, lambda event: called.get(event.source, event.operation))

    def _expressions(self) -> dict[SourceLine | None, str]:
        return expressions({event.source: event.program for event in self.events if event.source is not None})

    def table(self, most: int = 20) -> str:
        """Return all tables as text, each with at most ``most`` rows."""
        seconds = sum(event.seconds for event in self.events)
        backward = sum(event.backward_seconds or 0.0 for event in self.events)
        total = (
            f"{len(self.events)} operations: {1e3 * seconds:.3f} ms forward, {1e3 * backward:.3f} ms backward; the tape keeps "
            f"{self.kept_bytes:,} bytes now, and kept at most {self.peak_bytes:,}"
        )
        tables = {"operation": self.by_operation(), "module": self.by_module(), "expression": self.by_expression()}
        return "\n\n".join([*(_format(title, rows, most) for title, rows in tables.items()), total])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"profile({len(self.events)} operations)"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table())}</pre>"

    def save_chrome_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write the events to a file for chrome://tracing or ui.perfetto.dev.

        Forward and backward are two rows, above a graph of the kept bytes. The format is Google's "Trace Event Format":
        complete events ("X") in microseconds, and counters ("C").
        """
        written: list[dict[str, Any]] = [
            {"ph": "M", "pid": 0, "tid": lane, "name": "thread_name", "args": {"name": name}}
            for lane, name in enumerate(("forward", "backward"))
        ]
        changes: list[tuple[float, int]] = []
        called = self._expressions()
        for event in self.events:
            about = {
                "module": event.module,
                "expression": called.get(event.source, ""),
                "source": str(event.source or ""),
                "shape": str(event.shape),
                "kept": event.new_bytes,
            }
            written.append(_complete(event.operation, 0, event.start, event.seconds, about))
            changes.append((event.start + event.seconds, event.new_bytes))
            if event.backward_start is not None and event.backward_seconds is not None:
                about = {"module": event.module, "freed": event.freed_bytes}
                written.append(_complete(event.operation, 1, event.backward_start, event.backward_seconds, about))
                changes.append((event.backward_start + event.backward_seconds, -event.freed_bytes))
        kept = 0
        for moment, change in sorted(changes):
            kept += change
            written.append({"ph": "C", "pid": 0, "name": "bytes kept", "ts": 1e6 * moment, "args": {"bytes": kept}})
        target = Path(path)
        target.write_text(json.dumps({"traceEvents": written, "displayTimeUnit": "ms"}), encoding="utf-8")
        return target


class _Watch:
    """A note on an entry that calls the profile after the entry's rules, and when the entry is freed."""

    __slots__ = ("event", "profile")

    def __init__(self, owner: profile, event: Event) -> None:
        self.profile = owner
        self.event = event

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        self.profile._settle()
        self.event.backward_seconds = seconds
        self.event.backward_start = perf_counter() - self.profile._began - seconds
        self.profile._swept = entry, self.event

    def __del__(self) -> None:
        self.profile._release(self.event, self.event)


def _complete(name: str, lane: int, start: float, seconds: float, about: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "X", "pid": 0, "tid": lane, "name": name, "ts": 1e6 * start, "dur": 1e6 * seconds, "args": about}


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
