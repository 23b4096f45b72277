"""What the commands share: how one is added, and types that check a value before a program runs, which may take long."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any


def add_command(commands: Any, name: str, about: str, epilog: str) -> argparse.ArgumentParser:
    """Add a command to those of ``minigrad``. Options cannot be abbreviated: --n may be an option of the user's program."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about.capitalize()}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def file_to_write(*suffixes: str) -> Callable[[str], Path]:
    """Return the ``type=`` of an option that names a file to write."""

    def file(text: str) -> Path:
        path = Path(text)
        if path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"'{text}' must end in {' or '.join(suffixes)}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"there is no folder '{path.parent}' to write '{path.name}' into")
        return path

    return file


def at_least(least: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
        return value

    count.__name__ = "int"  # for argparse's message "invalid int value"
    return count
