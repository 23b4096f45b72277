"""The rule about derivatives that the program itself declares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.record.derivatives import can_be_compared, compared
from ..guards.judging import Comparison
from .case import Seen, WatchedRun, line_of
from .finding import DebugFinding


def find_own_rules(case: WatchedRun) -> list[DebugFinding]:
    """Derivatives that the program itself declares, compared with finite differences on the operands of this batch."""
    files = set(case.watcher.files)
    for seen in case.seen[:1]:
        rng = np.random.default_rng(0)
        done: set[str] = set()
        for node in seen.graph.operations():
            rule = _own_rule(node.primitive, files)
            if rule is None or node.operation in done:
                continue
            done.add(str(node.operation))
            found = _compare(seen, node, rng)
            if found is None:
                continue
            factor = f"{found.exact / found.numeric:.3g} times it"
            what = f"the derivative of '{node.operation}' {found.said(4)}, {factor}."
            remedy = f"mend the rule (relative error {found.error:.2g}); mg.check_grads compares it."
            lines = [rule, line_of(node)]
            return [DebugFinding("own rule", seen.step, what, remedy, lines, certain=True).at(case.source(node.source))]
    return []


def _own_rule(primitive: Any, files: set[str]) -> int | None:
    """Return the line of a rule that the program declares; None for operations of the library."""
    rules = [*getattr(primitive, "rules", {}).values(), getattr(primitive, "backward", None)]
    for rule in rules:
        code = getattr(rule, "__code__", None)
        if code is not None and code.co_filename in files:
            return max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return None


def _compare(seen: Seen, node: Any, rng: Any) -> Comparison | None:
    """Return the comparison of a derivative if the rule is wrong; else None."""
    operands = seen.into[node.id]
    if not can_be_compared(node, operands):
        return None
    try:
        for _, result in compared(node, operands, seen.graph, rng):
            if result.verdict == "wrong" and result.numeric != 0:  # a staircase: the rule may be meant so
                return result
    except Exception:
        if node.again is None:
            raise
    return None  # also for a Function that does not run again on its own
