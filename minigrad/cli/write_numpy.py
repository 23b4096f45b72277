"""``minigrad write-numpy FILE.py:function --examples FILE.py:arrays``: the gradient of a function as a NumPy program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from .options import add_command, file_to_write
from .program import Target, users_errors

EXAMPLE = "minigrad write-numpy lesson.py:loss --examples lesson.py:arrays --out step.py"


def add_to(commands: Any) -> None:
    """Add the command to the parser of ``minigrad``."""
    about = "write a function and its gradient as a NumPy program"
    added = add_command(commands, "write-numpy", about, f"examples:\n  {EXAMPLE}")
    added.add_argument("target", metavar="FILE.py:function", help="a function of arrays that returns one real number")
    examples = (
        "its arguments: a tuple, or a function that returns one; name several for a program that holds for all sizes"
    )
    added.add_argument("--examples", metavar="FILE.py:arrays", required=True, action="append", help=examples)
    out = "a file with the function step(), which needs NumPy only; by default the program is printed"
    added.add_argument("--out", type=file_to_write(".py"), metavar="STEP.py", help=out)
    added.set_defaults(run=run)


def run(options: argparse.Namespace, arguments: Sequence[str] = ()) -> int:
    """Run the command and return the exit status."""
    from ..codegen.writing import write_numpy

    function = _load(options.target)
    if not callable(function):
        raise ArgumentError(f"'{options.target}' is no function but a {type(function).__name__}")
    examples, *sizes = [_arguments(text) for text in options.examples]
    program = write_numpy(function, *examples, sizes=sizes)
    if options.out is None:
        print(program.source, end="")
    else:
        program.save(options.out)
        print(f"{options.out}: written")
    return 0


def _load(text: str) -> Any:
    target = Target.parse(text)
    with target.surroundings(()):
        return target.load()


def _arguments(text: str) -> tuple[Any, ...]:
    found = _load(text)
    if callable(found):
        with users_errors():
            found = found()
    if not isinstance(found, (tuple, list)):
        raise ArgumentError(
            f"'{text}' must be a tuple of arguments or a function that returns one, got {type(found).__name__}"
        )
    return tuple(found)
