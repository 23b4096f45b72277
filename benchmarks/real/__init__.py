"""Works as users have them: a GPT that learns and writes, images, translation, recurrences, derivatives, a reader's formulas.

A file for each family; in it stand, for each work, the function that builds it with minigrad (``..._minigrad``) and the one
that builds it with PyTorch (``..._torch``), side by side, from the same weights and data. They are timed by the suite's own
harness; before it times a work, it checks that both sides compute the same (:mod:`benchmarks.real.agreement`).
"""

from __future__ import annotations

from benchmarks.real import formulas, gpt, loops, plain, transformers
from benchmarks.real.work import Work, with_sizes
from benchmarks.step import Step

WORKS: dict[str, Work] = gpt.WORKS | transformers.WORKS | loops.WORKS | formulas.WORKS | plain.WORKS


def is_real(work: str) -> bool:
    return work.partition(":")[0] in WORKS


def build(work: str, library: str) -> Step:
    """The step of "gpt:B=1" with ``library``, "minigrad" or "torch".

    Raises:
        TypeError, ValueError: it has no such size.
    """
    name, *changes = work.split(":")
    found = WORKS[name]
    step: Step = getattr(found, library)(with_sizes(found, changes))
    return step
