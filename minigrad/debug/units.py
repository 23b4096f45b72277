"""Checks of units and layers: dead and saturated units, and gradients that grow or shrink from layer to layer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..guards.gradients import Turns
from ..rules import einsum, elementwise, linalg, neural
from ..rules.about import known
from .finding import LIKELY, DebugFinding, check
from .look import FullLook, TapeValue, Use
from .program import At
from .run import JOINS, WatchedRun, median, rms

DEAD = 0.9  # the share of units that are 0 for each row of the batch
ALIVE = 0.5  # a ReLU with a smaller share of dead units in step 0 was killed by the updates
SATURATED = 0.6  # the share of elements at which an activation is flat, in each of the first looks
ALL_ON_ONE = 0.8  # the share of one-hot rows of a softmax, in each of the first looks
REPEATS = 6  # iterations of a loop, or layers, from which growth is measured
EXPLODES, VANISHES = 1e4, 1e-4  # the ratio of the gradients at the two ends of a loop
LARGE = 5  # the root mean square above which numbers are large
STILL = 100  # how many times less than the last weights the first ones move, relative to their size
SMALL = 1e-3  # a step of weights, relative to their size, that is small
TINY = 0.01  # the root mean square of inputs that are near 0
STAYS = 0.9  # the share of the first loss above which a loss has not fallen
PER_TURN = 1.3  # the growth per iteration, or 1 / shrinkage, that counts


@check("dead", "arrays tape")
def dead(run: WatchedRun) -> Iterator[DebugFinding]:
    """Units of a hidden ReLU that are 0 for each row of the batch."""
    for rows in _by_place(run, "dead"):
        shares = [share for _, _, share in rows]
        late = [i for i, share in enumerate(shares) if share >= DEAD]
        if not late or len(late) < min(2, len(shares)) or late[-1] != len(shares) - 1:
            continue
        first = next(i for i in late if min(shares[i:]) >= DEAD)
        look, node, share = rows[first]
        if not _feeds_parameters(look, node):
            continue  # a hinge that is satisfied
        line, why, facts = _why(run, *rows[0][:2])
        facts |= {"share": f"{share:.0%}", "limit": f"{DEAD:.0%}", "before": f"{shares[0]:.0%}"}
        if shares[0] < ALIVE and why != "inputs":
            line, why = run.rate(), "killed"
        yield run.finding(LIKELY, look.step, line, node.at, say=why, **facts)


@check("saturated", "arrays tape")
def saturated(run: WatchedRun) -> Iterator[DebugFinding]:
    """An activation that is flat at most elements from the first steps on."""
    for rows in _by_place(run, "saturated"):
        look, node, _ = rows[0]
        softmax = node.primitive is neural.softmax
        limit, least = (ALL_ON_ONE if softmax else SATURATED), min(share for _, _, share in rows[:4])
        if least >= limit and (softmax or _feeds_parameters(look, node)):
            line, why, facts = _why(run, look, node)
            facts |= {"operation": node.operation, "share": f"{least:.0%}", "limit": f"{limit:.0%}"}
            others = run.behind(line) if why in ("weights", "inputs") else []
            yield run.finding(LIKELY, look.step, line, *others, node.at, say=why + "-rows" * softmax, **facts)


def _by_place(run: WatchedRun, kind: str) -> list[list[tuple[FullLook, TapeValue, float]]]:
    """Return the looks at each activation of a kind, each with the share of its units that are dead or saturated."""
    found: dict[Any, list[tuple[FullLook, TapeValue, float]]] = defaultdict(list)
    for look in run.looks:
        met: dict[Any, int] = defaultdict(int)
        for number, (own, share) in look.health.units.items():
            node = look.nodes[number]
            place = node.operation, node.at
            if own == kind:
                found[*place, met[place]].append((look, node, share))
                met[place] += 1
    return list(found.values())


def _feeds_parameters(look: FullLook, node: TapeValue) -> bool:
    """Return whether a parameter, or a matrix product, joins after an operation: it is inside the network."""
    waiting, met = [node], set()
    for value in waiting:
        for reader in look.readers(value):
            others = [source for _, source in look.operands(reader) if source is not value]
            if reader.primitive in (linalg.matmul, einsum.einsum) or any(other.kind == "leaf" for other in others):
                return True
            if reader.id not in met:
                met.add(reader.id)
                waiting.append(reader)
    return False


def _why(run: WatchedRun, look: FullLook, node: TapeValue) -> tuple[At | None, str, dict[str, Any]]:
    """Return the line of the operand that makes the argument of an activation large, which sentence fits, and its numbers."""
    before = next((source for _, source in look.operands(node) if source.kind != "constant"), None)
    if before is None or before.operation is None:
        return node.at, "argument", {"size": "large"}
    facts: dict[str, Any] = {"size": f"{rms(before.value):.3g}"}
    if node.primitive is neural.softmax:
        for use, source in look.operands(before):
            if source.operation is None and _enlarges(before, use):
                facts["factor"] = f"{np.ravel(use.value)[0]:.3g}"
                return run.made_use(look, use) or before.at, "factor", facts
        return _of_inputs(run, look, before, facts) or (before.at, "scores", facts)
    product, bias = _parts(look, before)
    if bias is not None and rms(bias.value) > 3 * rms(before.value - bias.value):
        return run.made_use(look, bias), "bias", facts | {"size": f"{rms(bias.value):.3g}"}
    weights = [use for use, source in product if source.kind == "leaf"]
    for use, source in product:
        if source.kind == "constant" and rms(use.value) > LARGE:
            return run.made_use(look, use), "inputs", facts | {"size": f"{rms(use.value):.3g}"}
    for use in weights:
        if rms(use.value) * use.shape[0] ** 0.5 > 2:
            return run.made_use(look, use), "weights", facts | {"size": f"{rms(use.value):.3g}", "rows": use.shape[0]}
    for use in weights:
        if np.max(use.value) <= 0 or np.min(use.value) >= 0:
            return run.made_use(look, use), "signs", facts
    return _of_inputs(run, look, before, facts) or (before.at, "argument", facts)


def _of_inputs(
    run: WatchedRun, look: FullLook, node: TapeValue, facts: dict[str, Any]
) -> tuple[At | None, str, dict[str, Any]] | None:
    """Return the line of the inputs from which large numbers come, through operations whose results are all large."""
    waiting = [node]
    for value in waiting:
        for use, source in look.operands(value) if rms(value.value) > LARGE else ():
            if source.kind == "constant" and value.primitive in JOINS and rms(use.value) > LARGE:
                return run.made_use(look, use) or value.at, "inputs", facts | {"size": f"{rms(use.value):.3g}"}
            waiting += [source] if source.operation is not None and source not in waiting else []
    return None


def _enlarges(node: TapeValue, use: Use) -> bool:
    """Return whether a product or a quotient is larger by one of its operands, which is one number."""
    size = float(np.abs(use.value).max()) if np.size(use.value) == 1 else 0.0
    return (node.primitive is elementwise.multiply and size > 1) or (
        node.primitive is elementwise.divide and 0 < size < 1
    )


def _parts(look: FullLook, node: TapeValue) -> tuple[list[tuple[Use, TapeValue]], Use | None]:
    """Return the operands of the matrix product that led to a node, and the bias that was added."""
    operands = look.operands(node)
    if node.primitive is neural.affine:
        return operands[:2], operands[2][0] if len(operands) > 2 else None
    if node.primitive not in (elementwise.add, elementwise.subtract):
        return operands, None
    products: list[tuple[Use, TapeValue]] = []
    bias = None
    for use, source in operands:
        if source.primitive in (linalg.matmul, neural.affine, elementwise.add):
            products += _parts(look, source)[0]
        elif source.operation is None:
            bias = use
    return products, bias


# --- Layers and loops ---


@check("exploding", "tape arrays")
def growth(run: WatchedRun) -> Iterator[DebugFinding]:
    """A loop, or a stack of layers, in which the gradient grows or shrinks by a factor in each iteration."""
    for look in run.looks[:2]:
        for turns in look.health.turns:
            if len(turns.nodes) < REPEATS:
                continue
            explodes = turns.ratio > EXPLODES and turns.factor > PER_TURN
            if explodes or (turns.ratio < VANISHES and turns.factor < 1 / PER_TURN):
                facts: dict[str, Any] = {
                    "factor": f"{turns.factor:.3g}",
                    "last": f"{turns.norms[-1]:.3g}",
                    "n": len(turns.norms),
                }
                facts |= {"first": f"{turns.norms[0]:.3g}"}
                kind = "exploding" if explodes else "vanishing"
                made = _weight(run, look, turns)
                yield run.finding(LIKELY, look.step, made, *run.behind(made), turns.nodes[0].at, kind=kind, **facts)
                return


@check("vanishing", "arrays tape")
def first_layer(run: WatchedRun) -> Iterator[DebugFinding]:
    """The weights that meet the inputs move far less than the last ones, or meet inputs near 0 while the loss stays."""
    if len(run.pairs) < 3 or run.watcher.steps < 20:
        return
    steps = run.steps_of()
    losses = run.watcher.losses
    stays = median(losses[-max(1, len(losses) // 4) :]) > STAYS * losses[0] > 0
    matrices = [node for node in run.first.leaves if len(node.shape) > 1 and node.key in steps]
    for x in run.inputs(run.first):
        if x.meets not in matrices or x.array.dtype.kind != "f" or not x.array.any():
            continue
        own, last = median(steps[x.meets.key]), median(steps[matrices[-1].key])
        facts: dict[str, Any] = {"name": run.name(run.first, x.meets), "first": f"{own:.2g}", "last": f"{last:.2g}"}
        facts |= {"size": f"{rms(x.array):.2g}", "limit": STILL}
        if rms(x.array) < TINY and own < SMALL and stays:
            yield run.finding(LIKELY, 0, *run.history(run.first, x.use)[:1], x.node.at, say="inputs", **facts)
            return
        each = list(zip(steps[x.meets.key], steps[matrices[-1].key]))
        if x.meets is matrices[0] and len(matrices) > 1 and own and all(a < min(b / STILL, SMALL) for a, b in each):
            flat = [n.at for n in run.first.operations if known(n.primitive).flat is not None]
            own_rates = any("lr_scale" in own for o in run.optimizers for own in o.overrides)
            made = run.constructor() if own_rates else None
            groups = run.program.written(made[0], made[1].args[0]) if made is not None and made[1].args else []
            ratios = [run.along(*pair) for pair in run.pairs[:1]]
            apart = [r for r in ratios if abs(r.get(matrices[-1].key, 0)) > 10 * abs(r.get(x.meets.key, np.inf))]
            updates = [(index.file, node.lineno) for index, node in run.updates()] if apart else []
            rates = [*updates[:1], run.rate()] if updates else []
            places = [*groups, *rates, run.made_leaf(run.first, x.meets), *flat[-1:]]
            yield run.finding(LIKELY, 0, *places, say="first", **facts)
            return


def _weight(run: WatchedRun, look: FullLook, turns: Turns) -> At | None:
    """Return the line at which the square matrix that the loop multiplies by was made."""
    lines = {node.at for node in turns.nodes}
    for node in look.operations:
        for use, source in (
            look.operands(node) if node.primitive in (linalg.matmul, neural.affine) and node.at in lines else ()
        ):
            if len(use.shape) == 2 and use.shape[0] == use.shape[1] and source.kind == "leaf":
                return run.made_use(look, use)
    return None
