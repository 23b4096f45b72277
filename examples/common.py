"""What the examples share: their options, one sentence for an error, a table of results, and drawing.

This module imports neither NumPy nor minigrad at its top, so that a script can call `prepare` before they are:

    if __name__ == "__main__":
        from common import prepare

        prepare("nn", "models")

    import numpy as np
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def prepare(*packages: str) -> None:
    """Prepare a script before its other imports: set one BLAS thread, and check that they will find minigrad and NumPy.

    In a clone where minigrad is not installed, the clone itself is used; it needs NumPy and nothing else.

    Args:
        packages: which of `nn` and `models` the script imports.
    """
    one_blas_thread()
    if importlib.util.find_spec("minigrad") is None:
        sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # after the script's own folder
    if importlib.util.find_spec("numpy") is None:
        sys.exit("error: minigrad needs NumPy: pip install numpy")
    from minigrad.errors import MinigradError, check_ours

    try:
        check_ours(*packages)
    except MinigradError as error:
        sys.exit(f"error: {error}")


def one_blas_thread() -> None:
    """Let the matrix library use one thread; call it before NumPy is imported, as it looks only once.

    The matrices are small: a second thread gains little on an idle machine, and on a busy one costs several times the time.
    A number that the user has set stays.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def argument_parser(
    description: str | None, *, quick: str, out: str | None = "out", baselines: str | None = None, device: bool = True
) -> argparse.ArgumentParser:
    """A parser that knows --seed, --device and --quick, and --out and --no-baselines where they fit.

    Args:
        description: usually `__doc__`.
        quick: what --quick does, for --help: "one epoch on 640 texts".
        out: the folder that --out stands for by default; None: the example writes nothing.
        baselines: what --no-baselines leaves out; None: there is no such option.
        device: whether the example can run on a GPU.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=at_least(0), default=0, help="of all that is random (default: 0)")
    if device:
        help = "where to compute (default: cpu); cuda needs CuPy and a GPU"
        parser.add_argument("--device", type=usable_device, choices=("cpu", "cuda"), default="cpu", help=help)
    parser.add_argument("--quick", action="store_true", help=f"{quick}, to see that everything works")
    if out is not None:
        parser.add_argument("--out", type=Path, default=Path(out), help=f"folder for what is written (default: {out}/)")
    if baselines is not None:
        parser.add_argument("--no-baselines", action="store_true", help=f"leave out {baselines}")
    return parser


def usable_device(text: str) -> str:
    """The `type=` of --device, which looks for the GPU now and not when the data has been read.

    Raises:
        MissingExtraError, DeviceError: there is no CuPy, or no GPU.
    """
    if text == "cuda":
        import numpy as np

        from minigrad.device import to_device

        to_device(np.zeros(1), text)
    return text


def at_least(least: int) -> Callable[[str], int]:
    """The `type=` of an option that counts something: an integer not below `least`."""

    def count(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
        return value

    count.__name__ = "int"  # argparse says: invalid int value
    return count


def run(main: Callable[[], object], interrupted: str = "") -> None:
    """Run the program: an error that a user can mend is one sentence and exit status 1, Ctrl-C is 130.

    Args:
        interrupted: what to do after Ctrl-C, as in "go on with --resume".
    """
    from minigrad.errors import MinigradError

    try:
        main()
    except (MinigradError, ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        then = f": {interrupted}" if interrupted else ""
        print(f"\ninterrupted{then}", file=sys.stderr)  # the progress bar left the line open
        sys.exit(130)  # what a shell gives for a program that SIGINT ended


def make_folder(path: Path) -> Path:
    """The folder for results: make it before the training, as it may be impossible.

    Raises:
        ValueError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out '{path}' cannot be made ({error.strerror}): name another folder") from error
    return path


def peak_memory() -> int | None:
    """The most bytes that this process has held in memory so far; None where the system does not say (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # Linux counts in KiB


def trained_in(seconds: float) -> str:
    """ "trained in 61 s, peak memory 183 MB"."""
    peak = peak_memory()
    return f"trained in {seconds:.0f} s" + ("" if peak is None else f", peak memory {peak / 1e6:.0f} MB")


def table(title: str, rows: Sequence[tuple[str, float | str]], digits: int = 4, width: int = 0) -> str:
    """Results beside their baselines, a line each: a name and a number, or why there is none.

    Args:
        width: of the names, at least; for a table that is printed in parts.

    >>> print(table("validation accuracy", [("Transformer", 0.9092), ("most frequent class", 0.076)]))
    validation accuracy  Transformer          0.9092
                         most frequent class  0.0760
    """
    width = max(width, *(len(name) for name, _ in rows))
    lines = []
    for i, (name, value) in enumerate(rows):
        shown = value if isinstance(value, str) else f"{value:.{digits}f}"
        lines.append(f"{title if i == 0 else '':{len(title)}}  {name:{width}}  {shown}".rstrip())
    return "\n".join(lines)


def progress(items: Sequence[T], label: str) -> Iterable[T]:
    """The items, with a progress bar (on standard error, if tqdm is installed) of how many have been taken."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[T] = tqdm(items, desc=label)
    return bar


# Drawing


def pyplot() -> Any:
    """matplotlib.pyplot, drawing into files: no window, and no display needed.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from minigrad.errors import import_extra
    from minigrad.graph.draw.fonts import OWN

    matplotlib = import_extra("matplotlib", "examples", "drawing")
    matplotlib.use("Agg")
    plt = import_extra("matplotlib.pyplot", "examples", "drawing")
    plt.rcParams["font.family"] = OWN
    return plt


def save_figure(figure: Any, path: Path, dpi: int = 120) -> None:
    """Write a figure to a file, whose folder is made, and forget it. It needs no font: see `minigrad.graph.draw.fonts`."""
    from minigrad.graph.draw.figures import save

    path.parent.mkdir(parents=True, exist_ok=True)
    save(figure, path, dpi)
    pyplot().close(figure)
