"""Runs the examples in full, minutes each, and keeps what they print in docs/printed/, a file each.

    python -m docs.full_runs                      all of them
    python -m docs.full_runs names_gpt lesson     these

Each runs as its docstring says, without --quick, in a folder of its own. The site's build runs them with --quick and shows
beside that what is kept here, with its date; tests hold the numbers of docs/examples.md and of the README to it. Of an
example that fails, or whose data is not installed, the reason is printed, and what was kept of it before stays.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "examples")) if path not in sys.path]

from benchmarks.report import machine  # noqa: E402
from docs import site_examples  # noqa: E402
from docs.site_lessons import child  # noqa: E402
from minigrad import __version__  # noqa: E402

QUIET = 360.0  # seconds; no example takes longer on a quiet machine


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> None:
    """Capture the examples that are named, or all; exit status 1 if one could not be."""
    known = {path.stem: path for path in site_examples.examples(root)}
    parser = argparse.ArgumentParser(
        prog="python -m docs.full_runs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", metavar="example", help="without .py (default: all)")
    names = parser.parse_args(arguments).examples or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no example {', '.join(unknown)}: choose from {', '.join(known)}")
    missed = 0
    for name in names:
        try:
            text = capture(known[name])
            file = site_examples.kept(known[name])
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"{name}: captured", flush=True)
        except RuntimeError as error:
            missed += 1
            print(f"{name}: not captured: {error}", file=sys.stderr, flush=True)
    sys.exit(1 if missed else 0)


def capture(path: Path) -> str:
    """When and where an example ran, in a line, and below it what it printed; no progress bars, which are on standard error.

    Raises:
        RuntimeError: it took more than an hour, or it failed, and the last line that it wrote says why.
    """
    with tempfile.TemporaryDirectory() as folder:
        ran = child([sys.executable, str(path)], Path(folder), QUIET)
    if ran.returncode:
        raise RuntimeError((ran.stderr.strip() or f"exit status {ran.returncode}").splitlines()[-1])
    printed = ran.stdout.strip("\n")
    for place in (folder, str(path.parents[1])):  # paths of this machine
        printed = printed.replace(place + os.sep, "")
    return f"{datetime.date.today()}, minigrad {__version__}, {machine()}{busy()}\n\n{printed}\n"


def busy() -> str:
    """What to add to the machine where other programs took turns with the example."""
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1):
        return ", busy with other programs: the seconds are too long"
    return ""


if __name__ == "__main__":
    main()
