"""Programs with loops, lists, classes and recursion, and an oracle for the labels of their graphs: Python itself.

``python -m tests.minigrad.graph.record.true_labels`` prints how many labels are true for ten programs.

A program runs twice. The first run gives the labels. The second run evaluates each label in the running frames, when its value
is recorded and again after each line that follows, until it has that value. Values are random, so two of them are equal only if
they are the same.
"""

import contextlib
import itertools
import linecache
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import Tensor
from minigrad.engine.observers import active
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph, Node
from tests.leaves import leaf

FILE = itertools.count()
VERSION = re.compile(r"[₀-₉]+$")
PLACE = " · "  # between a name and the round of the loops in which it had this value
LATER = 60  # lines after which a label must have been true


# --- running a program ---


def compiled(text: str, name: str) -> Any:
    file = f"<{name} {next(FILE)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return compile(text, file, "exec")


HELPERS = """import numpy as np
def mixed(p, q):
    r = p * 0.75
    return np.tanh(r - q)
def rolled(h, n):
    for step in range(n):
        h = np.sin(h + 0.1 * step)
    return h
class Scaled:
    def __init__(self, factor):
        self.factor = factor
    def __call__(self, value):
        self.last = value * self.factor
        return self.last
"""


def run(text: str, watch: Any = None) -> dict[str, Any]:
    """Return the variables of a program that has run in a trace. Its functions are in two files."""
    helpers: dict[str, Any] = {"__name__": "helpers_of_the_program"}
    exec(compiled(HELPERS, "helpers"), helpers)
    space = helpers | {"__name__": "a_program", "np": np, "mg": mg, "leaf": leaf}
    with mg.trace(), watch or contextlib.nullcontext():
        exec(compiled(text, "program"), space)
    return space


class Recorded:
    """A context that keeps the entries of a run in order."""

    def __init__(self) -> None:
        self.entries: list[Any] = []

    def __enter__(self) -> None:
        active.enter(self)

    def __exit__(self, *error: object) -> None:
        active.leave(self)

    def record(self, entry: Any, arrays: list[Any], answer: Any, seconds: float) -> None:
        self.entries.append(entry)


# --- the oracle ---


class Evaluated:
    """A context that evaluates labels while the program runs a second time.

    Attributes:
        true: the nodes whose labels were true.
    """

    def __init__(self, nodes: Sequence[Sequence[Node]]) -> None:
        self.true: set[int] = set()
        self.order = iter(nodes)
        self.waiting: list[tuple[Node, int]] = []

    def __enter__(self) -> None:
        active.enter(self)
        sys.settrace(self.called)

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)
        active.leave(self)

    def record(self, entry: Any, arrays: list[Any], answer: Any, seconds: float) -> None:
        self.waiting += [(node, LATER) for node in next(self.order) if node.id not in self.true]
        self.look(sys._getframe(1))

    def called(self, frame: FrameType, event: str, _: Any) -> Any:
        return self.line if is_users(frame) else None

    def line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event in ("line", "return"):
            self.look(frame)
        return self.line

    def look(self, frame: FrameType) -> None:
        """Evaluate the waiting labels in the frame and in those around it."""
        frames, at = [], frame
        while at is not None:
            if is_users(at):
                frames.append(at)
            at = at.f_back  # type: ignore[assignment]
        left = []
        with mg.no_grad():  # so that an evaluation is not recorded
            for node, lines in self.waiting:
                if any(holds(node, one, frames) for one in frames):
                    self.true.add(node.id)
                elif lines:
                    left.append((node, lines - 1))
        self.waiting = left


def is_users(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(("<program", "<helpers"))


def expression(label: str) -> str:
    """Return the part of a label that is Python: without its version, and without the round of its loops."""
    return VERSION.sub("", label.partition(PLACE)[0])


def is_python(text: str) -> bool:
    try:
        compile(text, "<label>", "eval")
    except SyntaxError:
        return False
    return True


def holds(node: Node, frame: FrameType, frames: list[FrameType]) -> bool:
    """Return whether the label has the node's value in a frame, and the loops are in the round that it names."""
    try:
        found = eval(expression(node.label), frame.f_globals, dict(frame.f_locals))
    except Exception:
        return False
    if isinstance(found, (tuple, list)) and isinstance(node.value, tuple):
        same = len(found) == len(node.value) and all(map(equal, found, node.value))
    else:
        same = equal(found, node.value)
    rounds = node.label.partition(PLACE)[2]
    return same and all(round_holds(part, frames) for part in rounds.split(", ") if part)


def round_holds(part: str, frames: list[FrameType]) -> bool:
    name, equals, value = part.partition("=")
    if not equals:  # "Neuron 2": an object of this class
        kind = part.rpartition(" ")[0]
        return any(type(v).__name__ == kind for f in frames for v in f.f_locals.values())
    return any(name in frame.f_locals and repr(frame.f_locals[name]) == value for frame in frames)


def equal(found: Any, value: Any) -> bool:
    found = found.data if isinstance(found, Tensor) else found
    if not isinstance(found, (np.ndarray, np.generic, int, float, complex)):
        return False
    return np.shape(found) == np.shape(value) and bool(np.array_equal(found, value))


def kind_of(node: Node, true: set[int]) -> str:
    """Return "true", "wrong", "number" for a constant, or "words" for a label that is no expression."""
    if node.kind == "constant" and not np.shape(node.value):
        return "number"
    if re.fullmatch(r"\w+ (\d+|\(.*\)\w*)", node.label):
        return "nameless"
    if not is_python(expression(node.label)):
        return "words"
    return "true" if node.id in true else "wrong"


def judged(text: str) -> tuple[Graph, dict[int, str]]:
    """Return the graph of a program's ``loss``, and for each node what its label is."""
    recorded = Recorded()
    loss = run(text, recorded)["loss"]
    graph = capture(loss)
    into = graph.edges_into
    nodes = {  # for each entry, its node and the nodes of its operands that were given
        entry: [node, *[n for edge in into[node.id] if (n := graph.nodes[edge.source]).operation is None]]
        for entry, node in zip(mg.tape(loss), graph.operations, strict=True)
    }
    evaluated = Evaluated([nodes.get(entry, []) for entry in recorded.entries])
    run(text, evaluated)
    return graph, {node.id: kind_of(node, evaluated.true) for node in graph.nodes}


# --- programs ---

TABLE = tomllib.loads((Path(__file__).parent / "constructs.toml").read_text(encoding="utf-8"))
CONSTRUCTS = list(TABLE)
COUNTS = {"number": 1, "pair": 2, "three": 3}  # how many random numbers take the place of such a word


class Draw:
    """Writes random programs. Each construct reads the name of a number and gives a new one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def number(self) -> str:
        return f"{self.random.uniform(0.3, 1.7):.6f}"

    def numbers(self, count: int) -> str:
        return f"[{', '.join(self.number() for _ in range(count))}]"

    def construct(self, which: str, x: str) -> tuple[str, str]:
        """Return a construct that reads ``x``, and its result, with new names and numbers."""
        one = TABLE[which]
        names = {stem: self.new(stem) for stem in one["names"].split()} | {"x": x}

        def written(found: re.Match[str]) -> str:
            count = COUNTS.get(found[1])
            return names[found[1]] if count is None else self.number() if count == 1 else self.numbers(count)

        return re.sub(r"\$(\w+)", written, one["text"]), re.sub(r"\$(\w+)", written, one["result"])

    def program(self) -> str:
        lines = [
            f"x = leaf({self.number()})",
            f"xs = [leaf(v) for v in {self.numbers(3)}]",
            f"A = np.array({self.numbers(3)})",
        ]
        name, results = "x", ["x"]
        for _ in range(self.random.randint(2, 5)):
            text, name = self.construct(self.random.choice(CONSTRUCTS), self.random.choice(results))
            lines += text.splitlines()
            results.append(name)
        return "\n".join([*lines, f"loss = {' + '.join(results)}", ""])


def program(seed: int) -> str:
    return Draw(seed).program()


def alone(which: str) -> str:
    """Return a program with one construct."""
    draw = Draw(len(which))
    text, name = draw.construct(which, "x")
    head = f"x = leaf({draw.number()})\nxs = [leaf(v) for v in {draw.numbers(3)}]\nA = np.array({draw.numbers(3)})\n"
    return f"{head}{text}\nloss = {name} * 1\n"


def main() -> None:
    """Print a table of the ten programs with these numbers, and of a program for each construct."""
    kinds = ("true", "wrong", "words", "nameless")
    total: Counter[str] = Counter()
    texts = {f"program {seed}": program(seed) for seed in range(10)} | {which: alone(which) for which in CONSTRUCTS}
    print("program".ljust(16), *(kind.rjust(8) for kind in kinds))
    for name, text in texts.items():
        graph, found = judged(text)
        counts = Counter(found.values())
        total += counts
        print(name.ljust(16), *(str(counts[kind]).rjust(8) for kind in kinds), flush=True)
        if "-v" in sys.argv:
            for node in graph.nodes:
                if found[node.id] in kinds[1:]:
                    print("   ", found[node.id], repr(node.label))
        if "-vv" in sys.argv:
            print(text, *(f"    {node.label!r} {found[node.id]}" for node in graph.nodes), sep="\n")
    print("all".ljust(16), *(str(total[kind]).rjust(8) for kind in kinds))


if __name__ == "__main__":
    main()
