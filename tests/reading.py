"""How much there is to read, and how much of it one small program runs: ``python -m tests.reading``

Of what is read, all lines and words of the files are counted, comments, docstrings and blank lines too. Of the program

    (x @ W).tanh().sum().backward()        x and W fresh leaves of shapes (2, 3) and (3, 4)

the distinct lines, functions and files of the library itself that Python enters, once with the forward pass and once in
``backward()`` alone: what runs twice counts once, a statement that goes on over several lines is one line, a lambda is a
function, a comprehension belongs to the function around it, and NumPy, the standard library and what is written in C do not
count. The program has run before, so that whatever is made once (plans, first imports) is there. micrograd has neither
matrices nor tanh: there it is ``((a * b + c).relu() ** 2).backward()``, each of its four operations once. DeZero's is the
same as minigrad's, as functions.

Printed before it is the way through a view: of ``explain(loss)`` each function where it is entered first, and how often the
next one stands in another file, or in a file that was left before.

The counts are the same in every run and with every version of Python. docs/read-the-source.md quotes the sentence that is
printed last; a test holds it to its numbers.
"""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import minigrad
from benchmarks.report import grid
from minigrad import tiny

ROOT = Path(minigrad.__file__).parent
ENGINE = [ROOT / "engine" / f"{name}.py" for name in ("tape", "tensor", "plan", "primitive")]
PROGRAM = "`(x @ W).tanh().sum().backward()`"


class Executed(NamedTuple):
    """How many distinct ones were entered."""

    lines: int
    functions: int
    files: int

    def __str__(self) -> str:
        return f"{self.lines} lines, {self.functions} functions, {self.files} file{'s' * (self.files > 1)}"


@dataclass(frozen=True)
class Library:
    """What is measured of one library.

    Attributes:
        files: what is read.
        counted: the folder or file whose code counts as its own.
        inputs: fresh leaves. forward: of these the number whose ``backward()`` is called.
    """

    name: str
    files: Sequence[Path]
    counted: Path
    inputs: Callable[[], tuple[Any, ...]]
    forward: Callable[..., Any]

    @property
    def lines(self) -> int:
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in self.files)

    @property
    def words(self) -> int:
        return sum(len(path.read_text(encoding="utf-8").split()) for path in self.files)

    def measure(self) -> tuple[Executed, Executed]:
        """``backward()`` alone, and the whole program."""
        for _ in range(2):  # plans are made
            self.forward(*self.inputs()).backward()
        first, second = self.inputs(), self.inputs()
        loss = self.forward(*first)
        alone = executed(loss.backward, self.counted)
        return alone, executed(lambda: self.forward(*second).backward(), self.counted)


def executed(run: Callable[[], Any], counted: Path) -> Executed:
    """What ``run()`` enters of the code in the file or folder ``counted``."""
    lines: set[tuple[str, int]] = set()
    functions: set[tuple[str, CodeType]] = set()
    own: dict[str, bool] = {}

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        file = code.co_filename
        if file not in own:
            own[file] = Path(file).is_relative_to(counted)
        if not own[file]:
            return None
        if code.co_name == "<lambda>" or not code.co_name.startswith("<"):  # <listcomp>, <genexpr> ...
            functions.add((file, code))
        return on_line

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        run()
    finally:
        sys.settrace(before)
    statements = {(file, first_line(file, line)) for file, line in lines}
    return Executed(len(statements), len(functions), len({file for file, _ in statements}))


class Walk(NamedTuple):
    """What somebody meets who reads each function where the program enters it first.

    Attributes:
        changes: how often the next function stands in another file. returns: how often in a file that was left before.
    """

    functions: int
    files: int
    changes: int
    returns: int


def walk(run: Callable[[], Any], counted: Path) -> Walk:
    """Note the functions in the folder ``counted`` in the order in which ``run()`` enters them first."""
    entered: dict[CodeType, str] = {}

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            entered.setdefault(frame.f_code, frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(before)
    files = [file for file in entered.values() if Path(file).is_relative_to(counted)]
    visits = [file for file, _ in itertools.groupby(files)]
    different = len(set(visits))
    return Walk(len(files), different, len(visits) - 1, len(visits) - different)


def walk_of_explain() -> Walk:
    """Walk through ``explain(loss)`` of the program above, which has explained another loss before."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with minigrad.trace():
                x, W = _leaves(minigrad.Tensor)
                loss = (x @ W).tanh().sum()
                loss.backward()
            found = walk(lambda loss=loss: minigrad.explain(loss, Path(folder) / "page.html"), ROOT)  # type: ignore[misc]
    return found


def first_line(file: str, line: int) -> int:
    """Where the innermost statement around a line begins."""
    return max(first for first, last in _statements(file) if first <= line <= last)


@functools.cache
def _statements(file: str) -> list[tuple[int, int]]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return [(node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def _leaves(tensor: Callable[..., Any]) -> tuple[Any, Any]:
    x, W = np.linspace(-1, 1, 6).reshape(2, 3), np.linspace(1, -1, 12).reshape(3, 4)
    return tensor(x, requires_grad=True), tensor(W, requires_grad=True)


def own_libraries() -> tuple[Library, Library]:
    return (
        Library(
            "minigrad/tiny.py",
            [Path(tiny.__file__)],
            Path(tiny.__file__),
            lambda: _leaves(tiny.Tensor),
            lambda x, W: np.sum(np.tanh(x @ W)),
        ),
        Library(
            "minigrad/engine: " + ", ".join(path.stem for path in ENGINE),
            ENGINE,
            ROOT,
            lambda: _leaves(minigrad.Tensor),
            lambda x, W: (x @ W).tanh().sum(),
        ),
    )


def _micrograd() -> Library:
    engine = importlib.import_module("micrograd.engine")
    file = Path(engine.__file__ or "")
    return Library(
        "micrograd: engine",
        [file],
        file,
        lambda: tuple(map(engine.Value, (2.0, 3.0, 1.0))),
        lambda a, b, c: (a * b + c).relu() ** 2,
    )


def _dezero() -> Library:
    peer = importlib.import_module("benchmarks.peer_dezero")  # which lets it run with today's NumPy
    Variable, F = peer.dezero.Variable, peer.F
    files = [Path(sys.modules[f"dezero.{name}"].__file__ or "") for name in ("core", "functions")]
    return Library(
        "DeZero: core, functions",
        files,
        files[0].parent,
        lambda: (Variable(np.ones((2, 3))), Variable(np.ones((3, 4)))),
        lambda x, W: F.sum(F.tanh(F.matmul(x, W))),
    )


def other_libraries() -> Iterator[Library | str]:
    """Those that are installed; of another why it is left out."""
    for name, library in (("micrograd", _micrograd), ("dezero", _dezero)):
        try:
            yield library()
        except ImportError as error:
            yield f"{name} is left out ({error}): pip install {name}"


def sentence(tiny: Library, engine: Library) -> str:
    """What docs/read-the-source.md says."""
    (tiny_back, tiny_both), (back, both) = tiny.measure(), engine.measure()
    return (
        f"`tiny.py` has {tiny.lines:,} lines and {tiny.words:,} words. The four files of the engine have {engine.lines:,} "
        f"lines and {engine.words:,} words. The program {PROGRAM} executes {both.lines} different lines in {both.functions} "
        f"functions and {both.files} files of minigrad: this is what you read to follow it. Its `backward()` alone executes "
        f"{back.lines} lines in {back.functions} functions and {back.files} files. With `tiny.py`, the program executes "
        f"{tiny_both.lines} lines in {tiny_both.functions} functions, and its `backward()` executes {tiny_back.lines} lines in "
        f"{tiny_back.functions} functions."
    )


def main() -> None:
    own, others = own_libraries(), list(other_libraries())
    rows = []
    for library in [*own, *[other for other in others if isinstance(other, Library)]]:
        alone, both = library.measure()
        rows.append([library.name, f"{library.lines:,}", f"{library.words:,}", str(alone), str(both)])
    print(grid(["to read", "lines", "words", "`backward()` runs", "forward and backward run"], rows))
    print("".join(f"\n{other}" for other in others if isinstance(other, str)))
    said, way = sentence(*own), walk_of_explain()  # a trace makes the program enter more: it comes last
    print(
        f"\nexplain(loss) enters {way.functions} functions in {way.files} files. Read in the order of their first entry, they "
        f"change to another file {way.changes} times, {way.returns} times to a file that was left before."
    )
    print(f"\n{said}")


if __name__ == "__main__":
    main()
