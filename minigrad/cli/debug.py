"""``minigrad debug train.py`` runs a training script unchanged and says which step goes wrong, at which line, and why."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..debug.running import debugging
from ..errors import ArgumentError, GraphError
from ..graph.pages.html import LANGUAGES
from .options import add_command, file_to_write
from .program import ProgramFailed, Target, users_errors

FINE, FOUND, INTERRUPTED = 0, 1, 130
EPILOG = """\
The script runs as `python SCRIPT` would: its output, its random numbers and its results stay the same. Each backward
pass is one step, counted from 0. After the first step whose NaN or infinity the script has used, the run ends;
otherwise it ends with the script. Then a paragraph says what was found, with lines and numbers, and FILE.html shows
the step of the first finding, or without one the last step that was looked at in full.

examples:
  minigrad debug train.py
  minigrad debug --causal train.py -- --epochs 3

exit status: 1, something was found; otherwise that of the script (130 if it was interrupted).
"""


def add_to(commands: Any) -> None:
    """Add ``debug`` to the commands of ``minigrad``."""
    about = "run a training script and say which step goes wrong, at which line, and why"
    parser = add_command(commands, "debug", about, EPILOG)
    parser.add_argument("script", metavar="SCRIPT", help="a Python file; its own arguments follow --")
    help = "the data are causal: attention to a later token is wrong (known if the targets are the next tokens)"
    parser.add_argument("--causal", action="store_true", help=help)
    out = Path("debug.html")
    parser.add_argument("--out", type=file_to_write(".html"), default=out, metavar="FILE.html", help=f"default: {out}")
    parser.add_argument("--no-page", action="store_true", help="write no page")
    parser.add_argument(
        "--language", choices=LANGUAGES, default="en", help="language of the text and the page (default: en)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Watch the script, print the findings, and return the exit status.

    Raises:
        ArgumentError: there is no such script, or the text names a function.
    """
    target = Target.parse(options.script)
    if target.function is not None:
        raise ArgumentError(f"minigrad debug runs a whole file: leave ':{target.function}' out of '{options.script}'")
    watched, status = debugging(causal=options.causal, quiet=True), FINE
    with target.surroundings(arguments):
        try:
            with watched, users_errors():
                target.execute()
        except ProgramFailed as failure:
            sys.stdout.flush()
            failure.show()
            status = FOUND
        except KeyboardInterrupt:
            status = INTERRUPTED
        except SystemExit as stop:
            status = _status(stop)
        sys.stdout.flush()
        print(watched.text(options.language))
        if not options.no_page:
            _write_page(watched, options)
    return FOUND if watched.findings else status


def _write_page(watched: debugging, options: argparse.Namespace) -> None:
    try:
        page = watched.page(options.out, options.language)
    except GraphError as error:  # for example, a part of the graph was freed
        print(f"minigrad: no page, because {error}", file=sys.stderr)
        return
    if page is not None:
        print(f"{page}: written")


def _status(stop: SystemExit) -> int:
    """Return the exit status that Python gives a program which raises this error."""
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or FINE
    print(stop.code, file=sys.stderr)
    return FOUND
