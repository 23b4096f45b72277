"""``with debugging():`` and the run of a script: watch, stop at the first bad numbers, and say what was found."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import numpy as np

from ..guards.origin import Stopped
from . import arriving, course, data, objective, shapes, units, updates
from .finding import CHECKS, DebugFinding, paragraph, ranked, sentences
from .page import debug_page
from .river import GradientRiver
from .run import WatchedRun
from .watcher import Watcher

MOST_SHOWN = 3
FILES = (shapes, arriving, updates, units, data, objective, course)  # the files that declare checks


class debugging:
    """Watch the training inside ``with minigrad.debugging():`` and print what is wrong with it at the end of the block.

    Each backward pass is one step, counted from 0. Every step is looked at cheaply: its loss, the norm of its gradients, NaN
    and infinity, gradients that are left over. A few steps (the first four, then pairs that lie further and further apart) are
    looked at in full, with values, gradients and lines. The program's results are the same to the bit as without watching.
    When a step has made a NaN or an infinity and the program has used it, the block ends there, without an error.

    Args:
        causal: the data are causal, so attention to a later token is wrong. If the targets are the next tokens, they are.
        quiet: print nothing; the findings are in ``findings``.

    Attributes:
        findings: what was found, what was shown and the most likely causes first.
        steps: the number of backward passes.

    Example:
        >>> import minigrad as mg
        >>> w = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.debugging(quiet=True) as watched:
        ...     for _ in range(3):
        ...         w.zero_grad()
        ...         (w * w).sum().backward()
        ...         w.data -= 0.1 * w.grad
        >>> watched.steps, watched.findings
        (3, [])
    """

    def __init__(self, *, causal: bool = False, quiet: bool = False) -> None:
        self.causal, self.quiet = causal, quiet
        self.watcher = Watcher()
        self.findings: list[DebugFinding] = []
        self.ended: str | None = None
        self.failed: list[str] = []

    @property
    def steps(self) -> int:
        return self.watcher.steps

    def __enter__(self) -> debugging:
        self.watcher.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.watcher.__exit__()
        if kind is not None and kind is not Stopped:
            raised = getattr(error, "of_the_program", error)  # the command line's error has the program's own
            self.ended = type(raised).__name__
        self.findings, self.failed = found(self.run)
        if not self.quiet:
            print(self.text(), flush=True)
        return kind is Stopped

    @property
    def run(self) -> WatchedRun:
        """What was watched, as the checks ask it."""
        return WatchedRun(self.watcher, self.causal)

    def text(self, language: str = "en") -> str:
        """Return the paragraph that the command prints, in English or in Japanese ("ja")."""
        words = sentences(language)
        notes = [] if self.ended is None else [words["ended"].format(error=self.ended)]
        notes += [words["failed"].format(name=name) for name in self.failed]
        return paragraph(self.findings[:MOST_SHOWN], self.steps, notes, language)

    def page(self, path: str | os.PathLike[str], language: str = "en") -> Path | None:
        """Write the page of the first finding's step: the loss, the gradients, the batch and the stepper.

        The stepper opens at the line of the finding. Without a finding the page has no stepper, and shows the last step that
        was looked at in full. It returns None if no step was.

        Raises:
            ArgumentError: ``language`` is neither "en" nor "ja".
        """
        run = self.run
        return debug_page(path, self.text(language), run, self.findings, language) if run.looks else None

    @property
    def river(self) -> GradientRiver:
        """The size of the gradients, step by step. A notebook draws it."""
        return self.watcher.river


def found(run: WatchedRun) -> tuple[list[DebugFinding], list[str]]:
    """Return the findings about a watched run, and the kinds of the checks that failed."""
    findings: list[DebugFinding] = []
    failed = []
    with np.errstate(all="ignore"):
        for check in CHECKS:
            try:
                findings += check.ask(run)
            except Exception:  # a check that fails must not end the user's program
                if os.environ.get("MINIGRAD_DEBUG_RAISE"):
                    raise
                failed.append(check.kind)
    return ranked(findings), failed
