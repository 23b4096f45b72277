"""Checks of the objective: what each of its terms, with its sign and its weight, asks of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..rules import elementwise, neural, reductions
from .finding import LIKELY, DebugFinding, check
from .look import FullLook, TapeValue
from .run import FEWEST, WatchedRun, index_arrays, median
from .shapes import PASSES

BELOW = 20  # how many times its size a loss falls below 0
AVERAGES = (reductions.mean, reductions.sum, *PASSES)  # operations that keep the sign of what they average
SCALES = (elementwise.multiply, elementwise.divide)


class Term(NamedTuple):
    """A term of a loss: the loss is a sum of terms.

    Attributes:
        node: the operation that is no sum; ``sign`` is that of its number in the loss, times what scales it.
        turned: the operation that gave it its sign, if one did.
    """

    node: TapeValue
    sign: float
    turned: TapeValue | None


def terms_of(look: FullLook) -> list[Term]:
    """Return the terms of the loss of a step, without those that no parameter changes."""
    waiting, found = [Term(look.operations[-1], 1.0, None)], []
    for node, sign, turned in waiting:
        operands = look.operands(node)
        scale = [float(np.ravel(u.value)[0]) for u, s in operands if s.kind == "constant" and np.size(u.value) == 1]
        parts = [s for _, s in operands if s.operation is not None]
        if node.primitive in (elementwise.add, elementwise.subtract) and parts:
            minus = [node.primitive is elementwise.subtract and i == 1 for i in range(len(operands))]
            rows = [(s, m) for (_, s), m in zip(operands, minus) if s.operation is not None]
            waiting += [Term(s, -sign if m else sign, node if m else turned) for s, m in rows]
        elif node.primitive is elementwise.negative and parts:
            waiting.append(Term(parts[0], -sign, node))
        elif len(parts) == 1 and (node.primitive in AVERAGES or (scale and node.primitive in SCALES)):
            factor = scale[0] if scale and node.primitive in SCALES else 1.0
            factor = 1 / factor if node.primitive is elementwise.divide and factor else factor
            waiting.append(Term(parts[0], sign * factor, node if factor < 0 else turned))
        else:
            found.append(Term(node, sign, turned))
    return found


def _rows_given(look: FullLook, node: TapeValue) -> list[Any]:
    """Return the uses of arrays of the program with several rows by an operation."""
    return [u for u, s in look.operands(node) if s.kind == "constant" and np.ndim(u.raw) and len(u.raw) >= FEWEST // 2]


@check("unbounded", "tape arrays")
def unbounded(run: WatchedRun) -> Iterator[DebugFinding]:
    """A loss that falls below zero without an end: the targets that make its lowest term, or what gives that its sign."""
    values = [loss for loss in run.watcher.losses if np.isfinite(loss)]
    if len(values) < 20 or len(set(run.watcher.places)) > 1 or not run.looks:
        return
    medians = [median(part) for part in np.array_split(values, 4)]
    falls = medians[3] < medians[2] < medians[1] and medians[2] - medians[3] >= 0.8 * (medians[1] - medians[2])
    if falls and medians[3] < -BELOW * max(1.0, abs(values[0])):
        facts: dict[str, Any] = {"start": f"{values[0]:.3g}", "end": f"{values[-1]:.3g}", "steps": len(values)}
        look = run.last
        lowest = min(terms_of(look), key=lambda term: term.sign * float(np.mean(term.node.value)))
        given = _rows_given(look, lowest.node)
        turned = lowest.turned.at if lowest.turned is not None else None
        product = lowest.node.primitive is elementwise.multiply  # of a prediction: it may have any sign
        # Otherwise a term that is never negative got a minus.
        meant = turned is None or product or float(np.min(lowest.node.value)) < 0
        made = run.history(look, given[0])[:1] if given and meant else []
        yield run.finding(LIKELY, 0, *made, *([] if made else [turned]), lowest.node.at, run.backward, **facts)


@check("sign", "tape arrays")
def signs(run: WatchedRun) -> Iterator[DebugFinding]:
    """A loss that grows with the logarithm of a probability of what the program gives, so that this becomes improbable."""
    for look in run.looks[:1]:
        for term in terms_of(look):
            node, given = term.node, bool(_rows_given(look, term.node))
            inner, sign = node, term.sign
            while inner.primitive in (elementwise.multiply, elementwise.negative, *AVERAGES):
                parts = [s for _, s in look.operands(inner) if s.operation is not None]
                if len(parts) != 1:
                    break
                given = given or bool(_rows_given(look, inner)) or bool(index_arrays(inner))
                sign, inner = -sign if inner.primitive is elementwise.negative else sign, parts[0]
            logs = inner.primitive is neural.log_softmax or (
                inner.primitive is elementwise.log and float(np.max(look.operands(inner)[0][0].value)) <= 1
            )
            given = given or any(index_arrays(reader) for reader in look.readers(inner)) or _picked(look, inner)
            if logs and given and sign > 0:
                facts: dict[str, Any] = {"operation": inner.operation, "mean": f"{float(np.mean(inner.value)):.3g}"}
                yield run.finding(LIKELY, look.step, node.at, look.operations[-1].at, **facts)
                return


def _picked(look: FullLook, node: TapeValue) -> bool:
    """Return whether an index of the program picked the numbers of which an operation takes the logarithm."""
    while node.primitive in (elementwise.log, elementwise.add, *PASSES):
        if index_arrays(node):
            return True
        node = look.operands(node)[0][1]
    return False
