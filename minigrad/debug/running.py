"""``with debugging():`` and the run of a script: watch, stop at the first bad numbers, and say what was found."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import numpy as np

from ..guards.nonfinite import Stopped
from .arriving import find_recurrent
from .axes import find_axes
from .finding import DebugFinding, paragraph, ranked
from .own import find_own_rules
from .page import debug_page
from .parameters import find_parameters
from .river import GradientRiver
from .run import find_run
from .units import find_growth, find_units
from .watched import WatchedRun
from .watcher import Watcher

CHECKS = {
    "derivatives of your own": find_own_rules,
    "shapes, axes and masks": find_axes,
    "parameters and updates": find_parameters,
    "loops and layers": find_growth,
    "activations": find_units,
    "recurrent values": find_recurrent,
    "learning rate, data and dropout": find_run,
}
MOST_SHOWN = 3


class debugging:
    """Watch the training inside ``with minigrad.debugging():`` and print what is wrong with it at the end of the block.

    Each backward pass is one step. Every step is looked at cheaply: its loss, the norm of its gradients, NaN and infinity,
    gradients that are left over. A few steps (0 to 5, then pairs at the powers of two) are looked at in full, with values,
    gradients and lines. The program's results are the same to the bit as without watching. When a step has made a NaN or an
    infinity and the program has used it, the block ends there, without an error.

    Args:
        causal: the data are causal, so attention to a later token is wrong.
        quiet: print nothing; the findings are in ``findings``.

    Attributes:
        findings: what was found, the certain and most likely causes first.
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
        self.note = ""

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
            self.note = f" The program ended with {type(raised).__name__}."
        self.findings, failed = found(self.watcher, self.causal)
        self.note += "".join(f" The checks of {name} failed." for name in failed)
        if not self.quiet:
            print(self.text(), flush=True)
        return kind is Stopped

    def text(self) -> str:
        """Return the paragraph that the command prints."""
        return paragraph(self.findings[:MOST_SHOWN], self.steps, list(CHECKS), self.note)

    def page(self, path: str | os.PathLike[str], language: str = "en") -> Path | None:
        """Write the page of the step of the first finding: the loss, the gradients, the batch and the stepper.

        It returns None if no step was traced.

        Raises:
            ArgumentError: ``language`` is neither "en" nor "ja".
        """
        watched = WatchedRun(self.watcher, self.causal)
        if not watched.seen:
            return None
        step = self.findings[0].step if self.findings else watched.seen[-1].step
        seen = min(watched.seen, key=lambda seen: abs(seen.step - step))
        return debug_page(path, self.text(), watched, seen, language)

    @property
    def river(self) -> GradientRiver:
        """The size of the gradients, step by step. A notebook draws it."""
        return self.watcher.river


def found(watcher: Watcher, causal: bool) -> tuple[list[DebugFinding], list[str]]:
    """Return the findings about a watched run, and the names of the checks that failed."""
    watched, failed = WatchedRun(watcher, causal), []
    findings = [] if watcher.origin is None else [watcher.origin[0].at(watched.source(watcher.origin[1]))]
    with np.errstate(all="ignore"):
        for name, check in CHECKS.items():
            try:
                findings += check(watched)
            except Exception:  # a check that fails must not end the user's program
                if os.environ.get("MINIGRAD_DEBUG_RAISE"):
                    raise
                failed.append(name)
    return ranked(findings), failed
