"""Checks of the run as a whole: the learning rate, validation, batches that repeat, dropout, and the first bad number."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.tape import entry_of
from ..graph.record.trace import note_of
from ..rules import dropout as dropouts
from .finding import LIKELY, SHOWN, DebugFinding, check
from .look import FullLook, in_models, print_of
from .program import At
from .run import WatchedRun, index_arrays, median
from .variables import address

LARGE, SMALL = 0.2, 1e-3  # the change of the weights per step, relative to their size
DIVERGED = 1e6  # the growth of a loss before an infinity that large updates explain
UNMOVED = 0.02  # the share of the loss by which it must change to have moved
FALLS = 0.8  # a loss whose last quarter is above this share of its first steps has not fallen
RISES = 0.25  # the share of steps in which a loss on the same data rises
OFTEN = 0.4  # the same, for a loss that falls on the whole
WORSE = 1.15  # how much a loss on other data rises above its best
PART = 4  # how many times as many rows a table has as a batch that could have more of them
RANDOM = (dropouts.dropout,)  # operations whose result is drawn anew


@check("nonfinite", "tape")
def nonfinite(run: WatchedRun) -> Iterator[DebugFinding]:
    """The operation that made the first NaN or infinity."""
    bad = run.watcher.origin
    if bad is not None:
        places = [None if place is None else (place.file, place.line) for place in bad.places]
        grade = LIKELY if bad.say == "unclear" else SHOWN
        yield run.finding(grade, bad.step, *places, say=bad.say, **bad.facts)


@check("learning rate", "arrays")
def learning_rate(run: WatchedRun) -> Iterator[DebugFinding]:
    """Steps that are large beside the weights, or a loss that rises on the same data."""
    losses = np.array(run.watcher.losses)
    if run.watcher.origin is not None:
        finite = losses[np.isfinite(losses)]
        last = finite[-3:]
        if len(finite) >= 3 and (last > 0).all() and (np.diff(last) > 0).all() and finite[-1] >= DIVERGED * finite[0]:
            facts: dict[str, Any] = {"start": f"{finite[0]:.4g}", "end": f"{finite[-1]:.4g}", "steps": len(finite)}
            yield run.finding(LIKELY, 0, run.rate(), say="diverged", **facts)
        return
    if len(losses) < 20 or not np.isfinite(losses).all() or run.climbs:
        return
    ratios = run.relative_steps
    quarter = max(1, len(losses) // 4)
    start, end = median(losses[: min(10, quarter)]), median(losses[-quarter:])
    later = [ratio for step, ratio in ratios if step > 0]
    size = median(later) if later else 0.0
    wild = _rises_on_same_data(run, losses)
    first = max((ratio for step, ratio in ratios if 0 < step < 4), default=0.0)
    thrown = first > LARGE and float(losses[1:10].max()) > 1.3 * losses[0] > 0 and end > 0.5 * losses[0]
    if (size > LARGE and end > FALLS * start > 0) or thrown:
        facts = {
            "rises": f"{(np.diff(losses) > 0).mean():.0%}",
            "size": f"{max(size, first * thrown):.3g}",
            "limit": LARGE,
        }
        yield run.finding(LIKELY, 0, run.rate(), run.backward, **facts)
    elif wild is not None and wild > (RISES if end > 0.5 * start else OFTEN):
        yield run.finding(LIKELY, 0, run.rate(), run.backward, say="same", rises=f"{wild:.0%}", limit=f"{RISES:.0%}")


@check("slow", "arrays")
def slow(run: WatchedRun) -> Iterator[DebugFinding]:
    """Steps that are tiny beside the weights, and a loss that stays where it is."""
    losses = np.array(run.watcher.losses)
    if len(losses) < 20 or not np.isfinite(losses).all() or run.watcher.origin is not None:
        return
    quarter = max(1, len(losses) // 4)
    start, end = median(losses[: min(10, quarter)]), median(losses[-quarter:])
    later = [ratio for step, ratio in run.relative_steps if step > 0]
    if later and any(run.moved.values()) and max(later) < SMALL and abs(end - start) < UNMOVED * abs(start):
        facts: dict[str, Any] = {
            "start": f"{start:.4g}",
            "end": f"{end:.4g}",
            "steps": len(losses),
            "size": f"{max(later):.2g}",
        }
        yield run.finding(LIKELY, 0, run.rate(), limit=SMALL, **facts)


def _rises_on_same_data(run: WatchedRun, losses: Any) -> float | None:
    """Return the share of steps in which the loss rises, if each look saw the same data and drew nothing; else None."""
    prints = [_data_print(run, look) for look in run.looks]
    random = any(node.primitive in RANDOM for look in run.looks for node in look.operations)
    if len(prints) < 3 or len(set(prints)) > 1 or None in prints or random or run.watcher.norms[-1] < 1e-6:
        return None
    if len(set(run.watcher.places)) > 1:
        return None  # several losses in turn
    half = losses[len(losses) // 4 :]
    one, two = (float((half[n:] - half[:-n] > 1e-3 * np.abs(half[:-n])).mean()) for n in (1, 2))
    before, after = map(median, np.array_split(half, 2))
    zigzag = two < RISES and before - after > 1e-3 * abs(before)  # around a loss that falls: it costs nothing
    return two if zigzag else one


def _data_print(run: WatchedRun, look: FullLook) -> int | None:
    """Return a number that depends on all given arrays of a step; None if there are none, or if tensors are made anew."""
    parts = [print_of(use.value) for _, use in look.given if np.size(use.value) > 1]
    parts += [print_of(index) for node in look.operations for index in index_arrays(node)]
    fresh = [node for node in look.leaves if isinstance(node.key, tuple) and node.key not in run.moved]
    return hash(tuple(parts)) if parts and not fresh else None


@check("validation", "arrays")
def validation(run: WatchedRun) -> Iterator[DebugFinding]:
    """A number of the program that began as the loss did, fell with it, and rises while the loss still falls."""
    losses = run.watcher.losses
    if len(run.looks) < 3:
        return
    for name, series in _series(run):
        values = np.array([value for _, value in series])
        if len(values) < 4 or not np.isfinite(values).all() or set(values) & set(losses):
            continue
        at = [losses[min(max(step - 1, 0), len(losses) - 1)] for step, _ in series]
        best = int(values.argmin())
        moves = np.diff(values)
        down, up = (
            (moves[:best] < 0).mean() if best else 1.0,
            (moves[best:] > 0).mean() if best < len(values) - 2 else 0.0,
        )
        began = at[0] > 0 and 0.4 < values[0] / at[0] < 2.5 and (best > 0 or values[-1] > 1)  # or it may be a share
        falls = np.mean(losses[-5:]) < 0.95 * at[best]
        if began and values[best] > 0 and values[-1] > WORSE * values[best] and falls and min(down, up) > 0.6:
            step = min(series[best][0], len(losses) - 1)
            facts: dict[str, Any] = {
                "name": name,
                "best": f"{values[best]:.4g}",
                "last": f"{values[-1]:.4g}",
                "step": step,
            }
            yield run.finding(LIKELY, step, *_fitted(run), **facts)
            return


def _series(run: WatchedRun) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield the lists of numbers of the program and the numbers that its variables held, each after how many steps."""
    steps = run.watcher.steps
    for path, value in run.last.every:
        if isinstance(value, (list, tuple)) and 3 <= len(value) < steps and all(type(v) is float for v in value):
            yield path, [((i + 1) * steps // len(value), v) for i, v in enumerate(value)]
    yield from run.watcher.numbers.items()
    for metrics in (history.metrics for history in run.watcher.histories):
        for name in metrics[-1] if metrics else ():
            yield name, [((i + 1) * steps // len(metrics), epoch.get(name, np.nan)) for i, epoch in enumerate(metrics)]


def _fitted(run: WatchedRun) -> list[Any]:
    """Return the lines that made the model and the data on which it is trained."""
    look = run.first
    path = next((run.leaf_path(look, node) for node in look.leaves), None)
    model = run.made(path.split(".")[0].split("[")[0]) if path else run.backward
    batches = sys.modules["nn.data"].Batches if "nn.data" in sys.modules else None
    for _, call in run.program.calls(batches) if batches is not None else ():
        for name in (n for n in ast.walk(call) if isinstance(n, ast.Name)):
            if isinstance(run.program.value(name), np.ndarray):
                return [model, run.made(name.id)]
    inputs = run.inputs(look)
    return [model, run.made_use(look, inputs[0].use) if inputs else run.backward]


@check("repeated batch", "arrays calls")
def repeated(run: WatchedRun) -> Iterator[DebugFinding]:
    """The same few rows in each step: drawn by a generator that each step makes anew, or a small part of a table."""
    looks = run.looks
    if len(looks) < 4 or run.backward is None or len({_data_print(run, look) for look in looks[:4]}) > 1:
        return
    first, second = ({address(use.raw) for _, use in look.given} for look in looks[:2])
    new = [use for _, use in looks[0].given if looks[0].path(use.raw) is None or address(use.raw) not in first & second]
    seeds = [
        one for one in run.program.calls(np.random.default_rng, np.random.RandomState, np.random.seed) if one[1].args
    ]
    seeds += [one for one in run.program.calls(next) if isinstance(one[1].args[0], ast.Call)]  # of a new iterator
    again = [(i, c) for i, c in seeds if i.file == run.file and run.program.repeats(i, c, run.backward[1])]
    if new and again:
        rows = max(len(use.value) for use in new)
        yield run.finding(LIKELY, 1, (again[0][0].file, again[0][1].lineno), rows=rows, looks=4)
        return
    if len({_data_print(run, look) for look in looks}) > 1 or len(set(run.watcher.places)) > 1:
        return
    for x in run.inputs(looks[0]):
        sizes = [len(run.tables[path]) for path in run.tables_of(x.array)]
        if x.array.ndim > 1 and sizes and min(sizes) >= PART * len(x.array):
            facts: dict[str, Any] = {"rows": len(x.array), "looks": len(looks), "of": min(sizes)}
            yield run.finding(LIKELY, 1, *run.chosen(x), say="part", **facts)
            return


@check("dropout", "calls tape")
def dropout(run: WatchedRun) -> Iterator[DebugFinding]:
    """Dropout that ends during the training, or that runs for values that no step uses."""
    steps, module = run.watcher.steps, getattr(sys.modules.get("nn.module"), "Module", None)
    if module is None or not run.looks:
        return
    evals = run.program.calls(module.eval) + [
        (i, c) for i, c in run.program.calls(module.train) if run.program.argument(c, "mode", 0) is not None
    ]
    trained = _training_lines(run)
    last: dict[str, int] = {}  # of the calls that lead to the loss: after how many steps
    for (name, way), step in run.watcher.switched_last.items():
        if all((at.file, at.line) in trained or in_models(at) for at in way):
            last[name] = max(last.get(name, 0), step + 1)
    for name, ends in last.items():
        if steps - ends > ends and evals and len(set(run.watcher.places)) == 1:
            facts: dict[str, Any] = {"name": name, "step": ends, "since": steps - ends}
            yield run.finding(SHOWN, ends, (evals[0][0].file, evals[0][1].lineno), run.backward, say="ended", **facts)
            return
    yield from _switch_forgotten(run, trained)


def _training_lines(run: WatchedRun) -> set[At]:
    """Return the lines that led to the losses."""
    trained = {(p.file, p.line) for look in run.looks for node in look.operations for p in node.places}
    return trained | {(p.file, p.line) for look in run.looks for p in _detached(look)}


def _switch_forgotten(run: WatchedRun, trained: set[At]) -> Iterator[DebugFinding]:
    """Dropout, or batch normalisation by the batch's own mean, in calls whose results no step uses."""
    counts: Counter[str] = Counter()
    lines: dict[str, Any] = {}
    for (name, way), count in run.watcher.switched.items():
        others = [at for at in way if (at.file, at.line) not in trained and not in_models(at)]
        if others and run.watcher.switched_at[name, way] > 0:
            counts[name] += count
            always = run.is_off(others) and next((at for at in way if not in_models(at)), None)
            lines.setdefault(name, (others, run.watcher.switched_at[name, way], always or None))
    for name, (others, step, always) in lines.items():
        inner, outer = ((at.file, at.line) for at in (others[0], others[-1]))
        if always is not None:  # eval() was called before, and does not reach this call
            facts: dict[str, Any] = {"name": name, "n": counts[name], "line": always.line}
            yield run.finding(LIKELY, step, (always.file, always.line), outer, say="always", **facts)
            continue
        places = run.block(inner), outer
        facts = {"name": name, "n": counts[name], "line": outer[1]}
        yield run.finding(LIKELY, min(step, run.watcher.steps - 1), *places[:: 1 if inner == outer else -1], **facts)


def _detached(look: FullLook) -> Iterator[Any]:
    """Yield the lines that led to values which the program takes out of the tape and gives back to it as arrays."""
    entering = {address(use.raw) for uses in look.edges_into.values() for use in uses if np.ndim(use.raw)} - {0}
    for entry, _, answer in look.window.made:
        note = note_of(entry)
        if note is not None and address(answer) in entering:
            reach, waiting = set(), [entry]
            for each in waiting:  # all that led to it
                waiting += [
                    p for p in map(entry_of, filter(None, each.parents)) if hasattr(p, "parents") and p not in reach
                ]
                reach.update(waiting)
                own = note_of(each)
                yield from [p for p in (own.source, *(c for c, _ in own.callers)) if p is not None] if own else []
