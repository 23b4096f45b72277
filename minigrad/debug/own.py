"""The check of derivatives that the program itself declares."""

from __future__ import annotations

from typing import Any

from ..graph.record.derivatives import comparisons
from ..graph.record.model import Node
from .finding import DebugFinding
from .watched import WatchedRun, line_of


def find_own_rules(watched: WatchedRun) -> list[DebugFinding]:
    """Derivatives that the program itself declares, compared with finite differences on the operands of this batch."""
    files = set(watched.watcher.files)
    for seen in watched.seen[:1]:
        declared: dict[str | None, Node] = {}
        for node in seen.graph.operations():
            if node.operation not in declared and _own_rule(node.primitive, files):
                declared[node.operation] = node
        for edge, found in comparisons(seen.graph, declared.values()):
            if found.verdict != "wrong" or found.numeric == 0:  # 0: a staircase, whose rule may be meant so
                continue
            node = seen.graph.nodes[edge.target]
            factor = f"{found.exact / found.numeric:.3g} times it"
            what = f"the derivative of '{node.operation}' {found.said(4)}, {factor}."
            remedy = f"mend the rule (relative error {found.error:.2g}); mg.check_grads compares it."
            lines = [_own_rule(node.primitive, files) or 0, line_of(node)]
            return [
                DebugFinding("own rule", seen.step, what, remedy, lines, certain=True).at(watched.source(node.source))
            ]
    return []


def _own_rule(primitive: Any, files: set[str]) -> int | None:
    """Return the line of a rule that the program declares; None for operations of the library."""
    rules = [*getattr(primitive, "rules", {}).values(), getattr(primitive, "backward", None)]
    for rule in rules:
        code = getattr(rule, "__code__", None)
        if code is not None and code.co_filename in files:
            return max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return None
