"""Works as users have them: a GPT that learns and writes, images, graphs, recurrences, derivatives, formulas of a reader.

A file for each family; in it stand, for each work, the function that builds it with minigrad (``..._minigrad``) and the one
that builds it with PyTorch (``..._torch``), side by side, from the same weights and data. They are timed by the suite's own
harness; before it times a work, it checks that both sides compute the same (:mod:`benchmarks.real.agreement`).
"""

from __future__ import annotations

from typing import Any

from benchmarks.real import (
    by_hand,
    decoder,
    formulas,
    gpt,
    images,
    loops,
    plain,
    scattered,
    second_order,
    transformers,
    vae,
)
from benchmarks.real.work import Work, with_sizes
from benchmarks.step import Step

WORKS: dict[str, Work] = gpt.WORKS | transformers.WORKS | loops.WORKS | formulas.WORKS | plain.WORKS | vae.WORKS
WORKS |= second_order.WORKS | by_hand.WORKS | images.WORKS | decoder.WORKS | scattered.WORKS


def is_real(work: str) -> bool:
    return work.partition(":")[0] in WORKS


def has(work: str, library: str) -> bool:
    """Whether this library has a function of its own for the work."""
    return is_real(work) and library in WORKS[work.partition(":")[0]].others


def check(work: str) -> Any:
    """The sizes of "gpt:B=1".

    Raises:
        TypeError, ValueError: it has no such size, or it is no such number.
    """
    name, *changes = work.split(":")
    return with_sizes(WORKS[name], changes)


def build(work: str, library: str) -> Step:
    """The step of a work with ``library``, "minigrad", "torch" or another that it :func:`has`; raises as :func:`check`."""
    found = WORKS[work.partition(":")[0]]
    return ({"minigrad": found.minigrad, "torch": found.torch} | found.others)[library](check(work))
