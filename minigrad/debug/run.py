"""Checks of the run as a whole: the learning rate, validation, batches, data that change, and dropout."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..source.index import Index, callee, names_in
from .dtypes import find_dtypes
from .finding import DebugFinding
from .look import address, in_models
from .source import assignments, floor_divisions, generator_line, in_loop, made_at, number
from .watched import Seen, WatchedRun, norm, pairs, values_of

RATES = ("learning_rate", "lr", "rate", "step_size", "eta")  # names of a learning rate
LARGE, SMALL = 0.2, 1e-3  # the change of the weights per step, relative to their size
DIVERGED = 1e6  # the growth of a loss before an infinity that large updates explain
UNMOVED = 0.02  # the share of the loss by which it must change to have moved
FALLS = 0.8  # a loss whose last quarter is above this share of its first steps has not fallen


def find_run(watched: WatchedRun) -> list[DebugFinding]:
    """Return the findings about the run as a whole."""
    return (
        _learning_rate(watched)
        + _validation(watched)
        + _repeated(watched)
        + _changed_data(watched)
        + find_dtypes(watched)
        + _dropout(watched)
    )


def rate_line(source: Index) -> int:
    """Return the line that sets the learning rate: an argument, a variable, or the number in the update; 0 if unknown."""
    by_hand = source.find(ast.Assign, _is_scheduled)
    if by_hand:
        cuts = [line for own in source.definitions(callee(by_hand[0].value)) for line in floor_divisions(own)]
        return int(cuts[0] if cuts else by_hand[0].lineno)
    words = ("schedule", "lr", "learning_rate")
    for word in words:
        value = source.keyword(word)
        if value is not None and (word == "schedule" or number(value) is not None):
            made = made_at(source, value.id) if isinstance(value, ast.Name) else None
            return made or value.lineno
    for name in (*RATES, *map(str.upper, RATES)):
        for line, value in assignments(source, name):
            if number(value) is not None:
                return line
    for node in source.find(
        (ast.AugAssign, ast.Assign), lambda n: any(isinstance(m, ast.Mult) for m in ast.walk(n.value))
    ):
        text = ast.unparse(node)
        if "grad" in text or " g" in text:
            return int(node.lineno)
    return 0


def _is_scheduled(assign: ast.Assign) -> bool:
    """Return whether a line sets the rate of one step: ``optimizer.lr = ...``, or ``lr = rate(step)``."""
    target = assign.targets[0]
    called_here = getattr(target, "id", "") in RATES and isinstance(assign.value, ast.Call) and bool(assign.value.args)
    return getattr(target, "attr", "") == "lr" or called_here


def _learning_rate(watched: WatchedRun) -> list[DebugFinding]:
    losses, source = np.array(watched.watcher.losses), watched.source()
    if source is not None and watched.watcher.origin is not None:
        return _diverged(source, losses[np.isfinite(losses)])
    if source is None or len(losses) < 20 or not np.isfinite(losses).all():
        return []
    ratios = _relative_steps(watched)
    quarter = max(1, len(losses) // 4)
    start, end = float(np.median(losses[: min(10, quarter)])), float(np.median(losses[-quarter:]))
    line, found = rate_line(source), []
    later = [ratio for step, ratio in ratios if step > 0]
    size = float(np.median(later)) if later else 0.0
    rises = float((np.diff(losses) > 0).mean())
    not_fallen = end > FALLS * start > 0
    wild = _rises_on_same_data(watched, losses)
    first = max((ratio for step, ratio in ratios if 0 < step < 4), default=0.0)
    thrown = first > LARGE and float(losses[1:10].max()) > 1.3 * losses[0] > 0 and end > 0.5 * losses[0]
    size = first if thrown else size
    if (size > LARGE and not_fallen) or (wild is not None and wild > 0.25) or thrown:
        what = f"the loss rises in {rises:.0%} of the steps; a step changes the weights by {size:.3g} of their size."
        if wild is not None:
            what = f"on the same data the loss rises in {wild:.0%} of the steps, where a small step must let it fall."
        remedy = "make the learning rate smaller, by 10 first."
        found.append(DebugFinding("learning rate", 0, what, remedy, [line, watched.backward_line]).at(source))
    elif later and max(later) < SMALL and abs(end - start) < UNMOVED * abs(start):
        what = f"the loss went from {start:.4g} to {end:.4g} in {len(losses)} steps; a step changes the weights by {size:.2g}."
        remedy = "make the learning rate larger, by 10 first; a warmup may be longer than the training."
        found.append(DebugFinding("slow", 0, what, remedy, [line]).at(source))
    return found


def _diverged(source: Index, losses: Any) -> list[DebugFinding]:
    """A loss that has grown more and more before the first number that is not finite."""
    if len(losses) < 3 or not (losses[-3:] > 0).all() or not (np.diff(losses[-3:]) > 0).all():
        return []
    if losses[-1] < DIVERGED * losses[0]:
        return []
    what = f"the loss rose from {losses[0]:.4g} to {losses[-1]:.4g} in {len(losses)} steps, before a number was not finite."
    remedy = "make the learning rate smaller, by 10 first, or clip the gradients."
    return [DebugFinding("learning rate", 0, what, remedy, [rate_line(source)]).at(source)]


def _validation(watched: WatchedRun) -> list[DebugFinding]:
    """A number of the program whose name says that it is a loss on other data, and that rises while the loss falls."""
    source, losses = watched.source(), watched.watcher.losses
    if source is None or len(watched.seen) < 4:
        return []
    for name, series in [*watched.watcher.scalars.items(), *_metrics(watched)]:
        words = name.lower().replace("_", " ").split()
        if not any(word.startswith(("val", "dev", "test")) for word in words) or len(series) < 3:
            continue
        step, best = min(series, key=lambda pair: pair[1])
        last = series[-1][1]
        falls = np.mean(losses[-5:]) < 0.95 * losses[min(step, len(losses) - 1)]
        if best > 0 and last > 1.15 * best and falls and not any(word.startswith("acc") for word in words):
            what = f"'{name}' was {best:.4g} at step {step} and is {last:.4g} at step {series[-1][0]}; the loss still falls."
            remedy = (
                "the training data are learned by heart: stop earlier, use dropout or weight decay, a smaller network."
            )
            path = next((watched.leaf_path(watched.seen[0], node) for _, node, _ in watched.seen[0].look.leaves), None)
            line = watched.of_path(path.split(".")[0].split("[")[0]) if path else watched.backward_line
            data = [name.id for call in source.calls("Batches") for name in names_in(call)]
            rows = next(
                (at for name in data if (at := watched.of_path(name)) and name in watched.seen[0].look.values), 0
            )
            return [DebugFinding("validation", step, what, remedy, [line, rows or watched.backward_line]).at(source)]
    return []


def _metrics(watched: WatchedRun) -> list[tuple[str, list[tuple[int, float]]]]:
    """Return the losses that ``validate`` has returned in each epoch, from a History of the program."""
    found = []
    for history in watched.watcher.globals.values():
        epochs, losses = getattr(history, "metrics", None), getattr(history, "losses", None)
        if not (isinstance(epochs, list) and isinstance(losses, list) and epochs):
            continue
        every = len(losses) // len(epochs)
        for name in epochs[-1] if all(isinstance(epoch, dict) for epoch in epochs) else ():
            if "loss" in name or "error" in name:
                series = [((i + 1) * every, float(epoch.get(name, np.nan))) for i, epoch in enumerate(epochs)]
                found.append((f"validation {name}", series))
    return found


def _relative_steps(watched: WatchedRun) -> list[tuple[int, float]]:
    """Return the length of the step of all weights together, divided by their size, for each pair of looks."""
    found = []
    for before, after in pairs(watched):
        old, new = values_of(before), values_of(after)
        both = [(old[k][0], new[k][0]) for k in old if k in new and old[k][0].shape == new[k][0].shape]
        size = float(np.hypot.reduce([norm(a) for a, _ in both])) if both else 0.0
        if size:
            found.append((before.step, float(np.hypot.reduce([norm(b - a) for a, b in both])) / size))
    return found


def _rises_on_same_data(watched: WatchedRun, losses: Any) -> float | None:
    """Return the share of steps in which the loss rises, if each look saw the same data; else None."""
    prints = [_data_print(seen) for seen in watched.seen]
    if len(prints) < 3 or len(set(prints)) > 1 or watched.watcher.norms[-1] < 1e-6:
        return None
    half = losses[len(losses) // 4 :]
    change = np.diff(half)
    return float((change > 1e-3 * np.abs(half[:-1])).mean())


def _data_print(seen: Seen) -> int:
    """Return a number that depends on all given arrays of a step."""
    parts = []
    for edge in seen.graph.edges:
        if (
            seen.graph.nodes[edge.source].kind == "constant"
            and isinstance(edge.value, np.ndarray)
            and edge.value.size > 1
        ):
            parts.append(edge.value.tobytes())
    for node in seen.graph.operations():
        parts += [np.asarray(v).tobytes() for v in _indices(node.keywords)]
    return hash(tuple(parts))


def _indices(keywords: Any) -> list[Any]:
    found = []
    for value in keywords.values():
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, np.ndarray) and item.size > 1:
                found.append(item)
    return found


def _repeated(watched: WatchedRun) -> list[DebugFinding]:
    """New arrays with the same contents in each step, from a program that holds more rows than these."""
    source = watched.source()
    looks = watched.seen[:5]
    if source is None or len(looks) < 4 or len({_data_print(seen) for seen in looks}) > 1:
        return []
    rows = _batch(looks[0])
    held = max((len(v) for v in looks[0].look.values.values() if isinstance(v, np.ndarray) and v.ndim > 1), default=0)
    if not rows or held < 2 * rows:
        return []
    line = generator_line(source) or next((c.lineno for c in source.calls("next") if in_loop(source, c)), 0)
    what = f"the {rows} rows of the batch are the same in the first {len(looks)} steps, of {held} rows that the program has."
    remedy = "make the generator, or the iterator over batches, once before the loop."
    return [DebugFinding("repeated batch", 1, what, remedy, [line], certain=True).at(source)] if line else []


def _batch(seen: Seen) -> int:
    """Return the number of rows of the first given array, or of the first index."""
    for node in seen.graph.operations():
        for edge, origin in seen.operands(node):
            if origin.kind == "constant" and len(edge.shape) >= 1 and edge.shape[0] > 1:
                return int(edge.shape[0])
    return 0


def _changed_data(watched: WatchedRun) -> list[DebugFinding]:
    """An array of the program that feeds the tape and is written to between steps."""
    source, prints = watched.source(), [seen.look.prints for seen in watched.seen]
    if source is None or len(prints) < 3:
        return []
    given = {address(array) for array in watched.seen[0].arrays.values()} - {0}
    names = [name for name in prints[0] if all(name in p for p in prints)]
    for name in names:
        found = _written_view(source, name, address(watched.seen[0].look.values.get(name)) in given)
        if found is None or len({p[name] for p in prints[:4]}) < min(3, len(prints)):
            continue
        line, written = found
        what = (
            f"'{name}' changes from step to step: line {written} makes a view of it, and line {line} writes into that."
        )
        remedy = "write into a copy: name.copy(), or a + b in place of a += b."
        return [
            DebugFinding("changed data", watched.seen[1].step, what, remedy, [line, written], certain=True).at(source)
        ]
    return []


def _written_view(source: Index, name: str, other_names: bool) -> tuple[int, int] | None:
    """Return the line that writes into a slice of an array, or into another name of it, and the line that made that."""
    for assign in source.find(ast.Assign, lambda n: isinstance(n.targets[0], ast.Name)):
        viewed = assign.value
        if isinstance(viewed, ast.Subscript):
            viewed = viewed.value
        elif not other_names:
            continue
        if not isinstance(viewed, ast.Name) or viewed.id != name:
            continue
        view = assign.targets[0].id
        for write in source.find((ast.AugAssign, ast.Assign)):
            if write.lineno <= assign.lineno:
                continue
            target = write.target if isinstance(write, ast.AugAssign) else write.targets[0]
            base = target.value if isinstance(target, ast.Subscript) else target
            stores = isinstance(write, ast.AugAssign) or isinstance(target, ast.Subscript)
            if stores and isinstance(base, ast.Name) and base.id == view:
                return int(write.lineno), int(assign.lineno)
    return None


def _dropout(watched: WatchedRun) -> list[DebugFinding]:
    """Dropout that ends during the training, or that runs for values that no step uses."""
    source, names = watched.source(), watched.watcher.names
    if source is None or not names:
        return []
    if "dropout" in names[0][1] and "dropout" not in names[-1][1] and len(names) < 5:
        step = next(step for step, found in names if "dropout" not in found)
        if watched.watcher.steps - step > step:
            what = f"dropout ran in the steps before {step}, and in none of the {watched.watcher.steps - step} since."
            evals = source.calls("eval")
            remedy = "model.eval() was called: call model.train() before the next epoch."
            lines = [evals[0].lineno] if evals else [watched.backward_line]
            return [DebugFinding("dropout", step, what, remedy, lines, certain=bool(evals)).at(source)]
    return [] if source.calls("eval") else _switch_forgotten(watched)


def _switch_forgotten(watched: WatchedRun) -> list[DebugFinding]:
    """Dropout, or batch normalisation by the batch's own mean, for values that no step uses, in a program without eval()."""
    nodes = [node for seen in watched.seen for node in seen.graph.operations()]
    places = {place for node in nodes for place in (node.source, *node.callers) if place is not None}
    trained = {(place.file, place.line) for place in places}
    counts: dict[str, int] = {}
    lines: dict[str, Any] = {}
    for (name, way), count in watched.watcher.switched.items():
        others = [at for at in way if (at.file, at.line) not in trained and not in_models(at)]
        if others:
            counts[name] = counts.get(name, 0) + count
            lines.setdefault(name, others[-1])
    for name, line in lines.items():
        what = (
            f"{name} ran {counts[name]} times as in training for values that no step uses, first at line {line.line}."
        )
        remedy = "call model.eval() before the evaluation, and model.train() after it."
        return [DebugFinding("dropout", 0, what, remedy, [line.line]).at(watched.source(line))]
    return []
