"""Types of command-line values. They check a value before the program runs, because that may take long."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


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


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]


numbers.__name__ = "list of numbers"
