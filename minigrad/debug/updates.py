"""Checks of the steps of an optimizer: parameters that it leaves out or holds twice, and steps that are undone."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import numpy as np

from ..engine.tape import Leaf
from ..engine.tensor import Tensor
from ..source.index import Index
from .finding import DebugFinding
from .source import number
from .watched import Seen, WatchedRun, name_of, norm, pairs, values_of

NEGLIGIBLE = 1e-4  # a gradient below this share of the largest one may change nothing
OPTIMIZERS = ".parameters"  # a part of the path of each list that an optimizer holds
UNDONE = 0.02  # the share of a parameter that each step takes away


def not_optimized(watched: WatchedRun, moved: dict[Any, bool]) -> list[DebugFinding]:
    """Parameters with a gradient that never change, although others do."""
    active: dict[Any, bool] = {}
    for seen in watched.seen:
        norms = {key: norm(gradient) for key, (_, gradient, _) in values_of(seen).items()}
        for key, size in norms.items():  # a step by a tiny gradient may be lost in rounding
            active[key] = active.get(key, True) and size > NEGLIGIBLE * max(norms.values())
    still = [key for key, changed in moved.items() if not changed and active.get(key)]
    if not still or not any(moved.values()) or len(watched.seen) < 3:
        return []
    seen = watched.seen[-1]
    nodes = [node for key, node, tensor in seen.look.leaves if key in still and tensor is not None]
    if not nodes:
        return []
    names = [name_of(watched, seen, node)[0] for node in nodes]
    one, steps = len(names) == 1, watched.watcher.steps
    verbs = ("gets", "has") if one else ("get", "have")
    what = (
        f"{', '.join(names[:3])} {verbs[0]} a gradient and {verbs[1]} not changed in {steps} steps, while others have."
    )
    remedy = f"give {'it' if one else 'them'} to the optimizer, or to the loop that updates."
    line = _collection_line(watched, names)
    found = DebugFinding("not optimized", watched.seen[1].step, what, remedy, [line], certain=True)
    return [found.at(watched.source())] if line else []


def _collection_line(watched: WatchedRun, names: list[str]) -> int:
    """Return the line that makes the optimizer, or else the list of parameters that leaves these names out."""
    source = watched.source()
    if source is None:
        return 0
    calls = source.find(ast.Call, lambda c: any(k.arg == "lr" for k in c.keywords) and bool(c.args))
    if calls:
        return int(calls[0].lineno)
    lists = source.find((ast.List, ast.Tuple), lambda n: isinstance(n.ctx, ast.Load) and len(n.elts) > 1)
    words = {name.rpartition(".")[2] for name in names}
    for node in lists:
        found = {getattr(e, "id", getattr(e, "attr", None)) for e in node.elts}
        if None not in found and not found & words and all(isinstance(e, (ast.Name, ast.Attribute)) for e in node.elts):
            return int(node.lineno)
    return watched.backward_line


def given_twice(watched: WatchedRun) -> list[DebugFinding]:
    """Parameters in a list, or in several optimizers, more than once, whose step is that many times as long."""
    seen = watched.seen[-1]
    counts: dict[int, int] = defaultdict(int)
    holders: dict[str, list[int]] = defaultdict(list)
    for path, value in seen.look.every:
        if isinstance(value, Tensor) and type(value._node) is Leaf and "[" in path:  # two names of a tensor are no list
            holders[_container(path)].append(id(value))
    for found in holders.values():
        for key in set(found):
            counts[key] = max(counts[key], found.count(key))
    for before, after in pairs(watched)[:1]:
        ratios = _step_ratios(before, after)
        usual = min(ratios.values(), default=0.0)
        for key, node, tensor in before.look.leaves:
            times = ratios.get(key, 0.0) / usual if usual else 0.0
            if (
                tensor is not None
                and counts[id(tensor)] > 1
                and 1.5 < times < counts[id(tensor)] + 1.5  # a loop variable may hide one of them
                and abs(times - round(times)) < 0.05 * times
            ):
                name, _ = name_of(watched, before, node)
                what = f"{name} is held {counts[id(tensor)]} times; its step is {times:.3g} times as long as that of others."
                remedy = "give each parameter to one optimizer once: list({id(p): p for p in parameters}.values())."
                lines = [_holder_line(watched, seen, id(tensor), holders)]
                return [
                    DebugFinding("given twice", before.step, what, remedy, lines, certain=True).at(watched.source())
                ]
    return []


def _container(path: str) -> str:
    """Return the path of the list that holds a tensor, with all optimizers as one."""
    head, _, _ = path.rpartition("[")
    return OPTIMIZERS if OPTIMIZERS in head else head


def _holder_line(watched: WatchedRun, seen: Seen, key: int, holders: dict[str, list[int]]) -> int:
    path = max((p for p in holders if holders[p].count(key) > 1), key=lambda p: holders[p].count(key), default="")
    if path == OPTIMIZERS:
        path = [p for p, value in seen.look.every if id(value) == key and OPTIMIZERS in p][-1].split("[")[0]
    return watched.of_path(path.split(".")[0]) if path else 0


def _step_ratios(before: Seen, after: Seen) -> dict[Any, float]:
    """Return the length of each parameter's step divided by that of its gradient, where both have one direction."""
    old, new = values_of(before), values_of(after)
    found = {}
    for key, (value, gradient, _) in old.items():
        if key in new and gradient is not None and new[key][0].shape == value.shape and np.any(gradient):
            step = np.ravel(new[key][0] - value).astype(float)
            g = np.ravel(gradient).astype(float)
            lengths = norm(step) * norm(g)
            if lengths and abs(step @ g) > 0.999 * lengths:
                found[key] = norm(step) / norm(g)
    return found


def undone(watched: WatchedRun) -> list[DebugFinding]:
    """Weight decay that takes away what the gradient adds, and clipping that leaves nothing."""
    source = watched.source()
    two = pairs(watched)
    if source is None or not two:
        return []
    shares, ends = [], []
    for before, after in two:
        old, new = values_of(before), values_of(after)
        for key, (value, gradient, _) in old.items():
            if key not in new or gradient is None or value.size < 8 or new[key][0].shape != value.shape:
                continue
            p, g = np.ravel(value).astype(float), np.ravel(gradient).astype(float)
            step = np.ravel(new[key][0]).astype(float) - p
            table = np.stack([p, g], axis=1)
            weights, *_ = np.linalg.lstsq(table, step, rcond=None)
            error = norm(table @ weights - step)
            if norm(p) and error < 0.3 * norm(step):
                shares.append(-float(weights[0]))
            largest = np.abs(new[key][0]).max()
            ends.append(float((np.abs(np.abs(new[key][0]) - largest) <= 1e-6 * largest).mean()) if largest else 0.0)
    found = []
    decay = source.keyword("weight_decay")
    share = float(np.median(shares)) if shares else 0.0
    shrinks = source.find(ast.AugAssign, lambda n: isinstance(n.op, ast.Mult) and ".data" in ast.unparse(n.target))
    if share > UNDONE and (decay is not None or shrinks):
        line = decay.lineno if decay is not None else shrinks[0].lineno
        what = f"each step takes {share:.1%} of every weight away, besides what the gradient does."
        remedy = "make the decay smaller: 0.0001 to 0.01 of a weight per step is usual at most."
        found.append(DebugFinding("decay", two[0][0].step, what, remedy, [line], certain=share > 2 * UNDONE).at(source))
    clips = [c for c in source.calls("clip", "minimum", "maximum") if ".data" in source.text(c.lineno)]
    if ends and np.median(ends) > 0.3 and clips:
        what = f"{np.median(ends):.0%} of the weights lie at the end of the interval to which they are clipped."
        remedy = "the clipping undoes the steps: make the interval wider."
        found.append(DebugFinding("clipping", two[0][0].step, what, remedy, [clips[0].lineno], certain=True).at(source))
    return found + _clipped_gradients(watched, source)


def _clipped_gradients(watched: WatchedRun, source: Index) -> list[DebugFinding]:
    """A norm to which the gradients are clipped that is a small part of all of them."""
    given = source.keyword("clip_norm")
    limits: list[Any] = [*([given] if given is not None else [])]
    limits += [call.args[1] for call in source.calls("clip_grad_norm") if len(call.args) > 1]
    norms = [value for value in watched.watcher.norms if np.isfinite(value)]
    for limit in limits:
        value = number(limit)
        if value and norms and np.median(norms) > 50 * value:
            what = (
                f"the gradients have norm {np.median(norms):.3g} (median), and are clipped to {value:g} in each step."
            )
            remedy = "clip at a few times the usual norm."
            return [DebugFinding("clipping", 0, what, remedy, [limit.lineno], certain=True).at(source)]
    return []
