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
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import Tensor
from minigrad.engine.observers import active
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph, Node

FILE = itertools.count()
VERSION = re.compile(r"[₀-₉]+$")
PLACE = " · "  # between a name and the round of the loops in which it had this value
LATER = 60  # lines after which a label must have been true


def leaf(value: Any) -> Any:
    return Tensor(value, requires_grad=True)


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
    if re.fullmatch(r"(\w+ \d+|input \d+)", node.label):
        return "nameless"
    if not is_python(expression(node.label)):
        return "words"
    return "true" if node.id in true else "wrong"


def judged(text: str) -> tuple[Graph, dict[int, str]]:
    """Return the graph of a program's ``loss``, and for each node what its label is."""
    recorded = Recorded()
    loss = run(text, recorded)["loss"]
    graph = capture(loss)
    into = graph.edges_into()
    nodes = {  # for each entry, its node and the nodes of its operands that were given
        entry: [node, *[n for edge in into[node.id] if (n := graph.nodes[edge.source]).operation is None]]
        for entry, node in zip(mg.tape(loss), graph.operations(), strict=True)
    }
    evaluated = Evaluated([nodes.get(entry, []) for entry in recorded.entries])
    run(text, evaluated)
    return graph, {node.id: kind_of(node, evaluated.true) for node in graph.nodes}


# --- programs ---


class Draw:
    """Writes random programs. Each block reads the name of a number or of a vector and gives a new one."""

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

    def program(self) -> str:
        lines = [
            f"x = leaf({self.number()})",
            f"xs = [leaf(v) for v in {self.numbers(3)}]",
            f"A = np.array({self.numbers(3)})",
        ]
        name, results = "x", ["x"]
        for _ in range(self.random.randint(2, 5)):
            block = self.random.choice(BLOCKS)
            text, name = block(self, self.random.choice(results))
            lines += text.splitlines()
            results.append(name)
        return "\n".join([*lines, f"loss = {' + '.join(results)}", ""])


Block = Callable[[Draw, str], tuple[str, str]]


def loop(d: Draw, x: str) -> tuple[str, str]:
    h, t = d.new("h"), d.new("t")
    return f"{h} = {x}\nfor {t} in range(4):\n    {h} = np.tanh({h} * {d.number()} + {t})", h


def nested(d: Draw, x: str) -> tuple[str, str]:
    c, i, j, k = d.new("C"), d.new("i"), d.new("j"), d.new("k")
    return (
        f"{c} = [[0.0, 0.0], [0.0, 0.0]]\nfor {i} in range(2):\n    for {j} in range(2):\n        for {k} in range(2):\n"
        f"            {c}[{i}][{j}] += {x} * A[{k}] * ({i} + {j} + {d.number()})\n"
        f"{c} = {c}[0][0] * {c}[1][0] + {c}[0][1] * {c}[1][1]",
        c,
    )


def store(d: Draw, x: str) -> tuple[str, str]:
    hs, t, y = d.new("hs"), d.new("t"), d.new("y")
    return (
        f"{hs} = {{}}\n{hs}[0] = {x} * {d.number()}\nfor {t} in range(1, 4):\n"
        f"    {hs}[{t}] = np.sin({hs}[{t} - 1]) * xs[{t} - 1]\n"
        f"{y} = {hs}[3]",
        hs + "[3]",
    )


def words(d: Draw, x: str) -> tuple[str, str]:
    out, key, value = d.new("out"), d.new("key"), d.new("value")
    return (
        f"{out} = {{}}\nfor {key}, {value} in {{'left': xs[0], 'right': xs[1]}}.items():\n"
        f"    {out}[{key}] = {value} * {x}\n",
        f"{out}['left'] * {out}['right']",
    )


def append(d: Draw, x: str) -> tuple[str, str]:
    acts, w = d.new("acts"), d.new("w")
    return f"{acts} = []\nfor {w} in xs:\n    {acts}.append({w} * {x} + {d.number()})", f"{acts}[0] * {acts}[2]"


def comprehension(d: Draw, x: str) -> tuple[str, str]:
    us, w, i = d.new("us"), d.new("w"), d.new("i")
    return f"{us} = [np.sin({w} * {x}) * {i} for {i}, {w} in enumerate(xs, 1)]", f"({us}[0] + {us}[1]) * {us}[2]"


def deep(d: Draw, x: str) -> tuple[str, str]:
    g, i, j = d.new("G"), d.new("i"), d.new("j")
    return f"{g} = [[{x} * ({i} + 0.5 * {j}) for {j} in range(3)] for {i} in range(1, 3)]", f"{g}[0][1] * {g}[1][2]"


def summed(d: Draw, x: str) -> tuple[str, str]:
    s, a, b = d.new("s"), d.new("a"), d.new("b")
    return f"{s} = sum({a} * {b} for {a}, {b} in zip(xs, {d.numbers(3)})) * {x}", s


def rows(d: Draw, x: str) -> tuple[str, str]:
    e, row, total = d.new("E"), d.new("row"), d.new("total")
    return (
        f"{e} = leaf([{d.numbers(2)}, {d.numbers(2)}, {d.numbers(2)}])\n{total} = 0\nfor {row} in {e}:\n"
        f"    {total} = {total} + ({row} * {x}).sum() + ({row} * {row}).sum()",
        total,
    )


def arrays(d: Draw, x: str) -> tuple[str, str]:
    m, row, total = d.new("M"), d.new("row"), d.new("total")
    return (
        f"{m} = np.array([{d.numbers(2)}, {d.numbers(2)}])\n{total} = {x}\nfor {row} in {m}:\n"
        f"    {total} = {total} * ({row} * {x}).sum() + (A * {x}).sum()",
        total,
    )


def method(d: Draw, x: str) -> tuple[str, str]:
    kind, cells, c, y = d.new("Cell"), d.new("cells"), d.new("cell"), d.new("y")
    return (
        f"class {kind}:\n    def __init__(self, w):\n        self.w = leaf(w)\n    def step(self, x):\n        z = self.w * x\n"
        f"        self.out = np.tanh(z)\n        return self.out\n{cells} = [{kind}(v) for v in {d.numbers(3)}]\n{y} = {x}\n"
        f"for {c} in {cells}:\n    {y} = {c}.step({y})",
        y,
    )


def neurons(d: Draw, x: str) -> tuple[str, str]:
    neuron, layer, out, one = d.new("Neuron"), d.new("layer"), d.new("out"), d.new("n")
    return (
        f"class {neuron}:\n    def __init__(self, seed):\n        self.w = [leaf(v + seed) for v in {d.numbers(2)}]\n"
        f"        self.b = leaf(seed)\n    def __call__(self, x):\n"
        f"        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)\n        return np.tanh(act)\n"
        f"{layer} = [{neuron}(v) for v in {d.numbers(2)}]\n{out} = [{one}([{x}, xs[0]]) for {one} in {layer}]",
        f"{out}[0] * {out}[1]",
    )


def recursion(d: Draw, x: str) -> tuple[str, str]:
    f, y = d.new("power"), d.new("y")
    return (
        f"def {f}(v, n):\n    if n == 0:\n        return v\n    u = v * {d.number()}\n"
        f"    return {f}(np.sin(u), n - 1)\n{y} = {f}({x}, 3)",
        y,
    )


def elsewhere(d: Draw, x: str) -> tuple[str, str]:
    y, z = d.new("y"), d.new("z")
    return f"{y} = mixed({x}, xs[1])\n{z} = rolled(mixed({y}, xs[2]), 3)", z


def objects(d: Draw, x: str) -> tuple[str, str]:
    a, y, s = d.new("scales"), d.new("y"), d.new("scale")
    return (
        f"{a} = {{'a': Scaled(leaf({d.number()})), 'b': Scaled(leaf({d.number()}))}}\n"
        f"{y} = {x}\nfor {s} in {a}.values():\n    {y} = {s}({y})",
        y,
    )


def again(d: Draw, x: str) -> tuple[str, str]:
    v = d.new("v")
    return f"{v} = {x} * {d.number()}\n{v} = np.cos({v})\n{v} += {x}\n{v} = {v} * {v}", v


def waiting(d: Draw, x: str) -> tuple[str, str]:
    n, v = d.new("n"), d.new("v")
    return f"{n}, {v} = 0, {x}\nwhile {n} < 3:\n    {v} = {v} * {d.number()} + {n}\n    {n} += 1", v


def unpacked(d: Draw, x: str) -> tuple[str, str]:
    a, b, c = d.new("a"), d.new("b"), d.new("c")
    return f"{a}, ({b}, {c}) = {x} * {d.number()}, (np.sin({x}), xs[1] * 2)\n{a}, {b} = {b}, {a} * {c}", f"{a} * {b}"


def generator(d: Draw, x: str) -> tuple[str, str]:
    g, v, total = d.new("made"), d.new("v"), d.new("total")
    return (
        f"def {g}(u):\n    for i in range(3):\n        yield u * (i + 0.5)\n{total} = 0\n"
        f"for {v} in {g}({x}):\n    {total} += {v} * {v}",
        total,
    )


def decorated(d: Draw, x: str) -> tuple[str, str]:
    deco, f, y = d.new("deco"), d.new("f"), d.new("y")
    return (
        f"def {deco}(f):\n    def wrapper(*a):\n        return f(*a)\n    return wrapper\n"
        f"@{deco}\ndef {f}(t):\n    return np.sin(t) * {d.number()}\n{y} = {f}({x})\n{y} = {f}({y} * 0.1)",
        y,
    )


def vectors(d: Draw, x: str) -> tuple[str, str]:
    h, w, t, x2 = d.new("h"), d.new("W"), d.new("t"), d.new("x")
    return (
        f"{w} = leaf([{d.numbers(2)}, {d.numbers(2)}])\n{h} = np.zeros(2)\nX = np.array([{d.numbers(2)}, {d.numbers(2)}])\n"
        f"for {t}, {x2} in enumerate(X):\n    {h} = np.tanh({x2} * {x} + {h} @ {w} + X[{t}])\n{h} = {h}.sum()",
        h,
    )


def matched(d: Draw, x: str) -> tuple[str, str]:
    f, hs, t, out = d.new("f"), d.new("hs"), d.new("t"), d.new("out")
    return (
        f"def {f}(x, state):\n    u = x * state['h'] + xs[0]\n    state['h'] = np.tanh(u)\n    return state['h'] * x\n"
        f"{hs}, {out} = {{'h': 0.5}}, []\nfor {t} in range(3):\n    {out}.append({f}({x}, {hs}))",
        f"{out}[0] * {out}[2]",
    )


BLOCKS: list[Block] = [
    loop, nested, store, words, append, comprehension, deep, summed, rows, arrays, method, neurons, recursion, elsewhere,
    objects, again, waiting, unpacked, generator, decorated, vectors, matched,
]  # fmt: skip


def program(seed: int) -> str:
    return Draw(seed).program()


def block(one: Block) -> str:
    """Return a program with one block."""
    draw = Draw(len(one.__name__))
    text, name = one(draw, "x")
    head = f"x = leaf({draw.number()})\nxs = [leaf(v) for v in {draw.numbers(3)}]\nA = np.array({draw.numbers(3)})\n"
    return f"{head}{text}\nloss = {name} * 1\n"


def main() -> None:
    """Print a table of the ten programs with these numbers, and of a program for each block."""
    kinds = ("true", "wrong", "words", "nameless")
    total: Counter[str] = Counter()
    texts = {f"program {seed}": program(seed) for seed in range(10)} | {one.__name__: block(one) for one in BLOCKS}
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
