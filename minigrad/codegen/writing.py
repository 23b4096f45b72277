"""``write_numpy``: run a function and its backward pass once on paper, and return the program that was written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import map_leaves
from ..engine.kernels import reference_mode
from ..engine.modes import enable_grad
from ..engine.observers import active, attach
from ..engine.tape import Leaf, sweep
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array, Node
from ..errors import ArgumentError, UnsupportedError
from .arguments import CHECK, CHECK_SIZES, Arguments, is_floating
from .folds import folded
from .functions import Dicts, WrittenFunction, function_lines
from .kernels import called, imports as imports_of_kernels
from .loops import Loop, TextLine
from .modules import Modules
from .names import RESERVED, Constants, GivenNames
from .paper import Paper
from .program import WrittenProgram
from .recording import Recording, line_of, named
from .sizes import Sizes, generalised
from .spelling import wrapped
from .statements import Check, Value
from .tidy import live, tidied
from .witness import compare, compare_runs, compare_sizes, described, on_the_tape
from .words import Text


def write_numpy(
    f: Callable[..., Any],
    *examples: Any,
    argnum: int | Sequence[int] | None = None,
    kernels: bool = False,
    sizes: Sequence[Sequence[Any]] = (),
) -> WrittenProgram:
    """Write ``f`` and its gradient as a NumPy program, as a person would have written it by hand.

    The function runs once, forward and backward, on arrays that write down what is done with them. The program holds for the
    shapes and dtypes of the examples, which it checks. A branch that depends on values becomes a check in the program. What
    can be neither written nor checked is refused. The function also runs a few times on the tape, for comparison.

    Args:
        f: a function that returns one real number. Its arguments are arrays, or nested lists, tuples and dicts of arrays.
        examples: the arguments of one call.
        argnum: the arguments to differentiate, by default all that have floating numbers.
        kernels: call minigrad's fast kernels as functions. The program then computes the same bits as the tape, and imports
            minigrad.
        sizes: further examples, each with all arguments, in other sizes. The axes whose lengths differ are then free.

    Raises:
        UnsupportedError: ``f`` does something that cannot be written down. The message names the line and the remedy.
        ArgumentError: there is nothing to differentiate, or ``kernels`` is no bool.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> program = mg.write_numpy(lambda x: np.sum(np.sin(x)), np.zeros(3))
        >>> program(np.array([0.0, 1.0, 2.0]))[1]
        array([ 1.        ,  0.54030231, -0.41614684])
        >>> "dx = np.cos(x)" in program.source  # print(program) shows the function
        True
    """
    if type(kernels) is not bool:
        raise ArgumentError(f"kernels={kernels!r} must be True or False")
    versions = [Arguments(f, example, whole_dicts=not sizes) for example in (examples, *sizes)]
    free = Sizes(versions) if sizes else None
    with called() if kernels else reference_mode():
        return _compared(f, versions, versions[0].chosen(argnum), free)


def _compared(
    f: Callable[..., Any], versions: Sequence[Arguments], chosen: Sequence[int], free: Sizes | None
) -> WrittenProgram:
    """Run the function twice, write the program, and compare it with the tape."""
    runs = [_recorded_or_refused(f, arguments, chosen) for arguments in versions]
    again = _recorded_or_refused(f, versions[0], chosen)
    compare_runs(runs[0], again)
    program, _ = written_lines(f, versions, runs, chosen, free)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        compare(f, program, versions, chosen)
        if free is not None:
            compare_sizes(f, program, free.others(versions[0]), chosen)
    for run in (*runs, again):
        run.finish()  # the function may have kept an array of it, used it later, and caught the refusal
    return program


def written_lines(
    f: Callable[..., Any],
    versions: Sequence[Arguments],
    runs: Sequence[Recording],
    chosen: Sequence[int],
    free: Sizes | None,
    same: dict[Value, Value] | None = None,
) -> tuple[WrittenProgram, list[TextLine]]:
    """Write the program of the runs for the examples. Return it, and its lines, each with the statements that it runs.

    If ``same`` is given, each value that is replaced is noted there, with its replacement.
    """
    arguments, functions, dicts = versions[0], list[WrittenFunction](), Dicts()
    taken = {*_of_step(arguments), *RESERVED}
    if free is None:
        statements, results, paths = _tidied(runs[0], arguments, same)
        flat = statements
        dicts, results = _large_dicts(arguments, [*zip(runs[0].inputs, arguments.leaves)], results, chosen)
        modules = Modules(statements, results, dicts, taken)
        functions = modules.functions
        ((statements, results),) = folded([(modules.rest(), results, paths)])
        for function in functions:
            ((function.body, function.outputs),) = folded([(function.body, function.outputs, {})])
    else:
        statements, results, runs = _for_all_sizes(f, versions, runs, chosen, free)
        flat = [s for each in statements for s in (each.body if isinstance(each, Loop) else [each])]
    fast = imports_of_kernels(flat)
    names = GivenNames(taken)
    leaves = zip(runs[0].inputs, arguments.leaves)
    names.of.update({value: leaf.name if leaf.key == leaf.name else leaf.path for value, leaf in leaves})
    names.of.update({holder: str(holder.name) for holder, _ in dicts.keys.values()})
    groups = {function.group: GivenNames(taken - _of_step(arguments)) for function in functions}
    constants = Constants([names, *groups.values()], runs[0].variables)
    step = Text(statements, results, names, constants)
    inner = [Text(each.body, each.outputs, groups[each.group], constants, each.is_backward) for each in functions]
    written = [*map(function_lines, inner, functions)]
    opening = map(TextLine, [*arguments.opening(), *([] if free is None else free.opening())])
    head = TextLine(f"def step({', '.join(arguments.names)}):")
    written.append([head, *opening, *step.lines(), TextLine(f"return {step.result(results)}")])
    lines = _wrapped(written)
    imports = ["import base64", ""] * bool(constants.arrays) + ["import numpy as np"]
    imports += ["from scipy import special"] * any(text.scipy for text in (step, *inner))
    needs = "\n\nIt calls the kernels of minigrad, which must be installed.\n" * bool(fast)
    title = f'"""The value and the gradients of {described(f)}.{needs}"""'
    check = CHECK if free is None else CHECK_SIZES
    above = "\n".join([title, "", *imports, *fast, "", *arguments.table(), "", "", check])
    checks = [statement.sentence for statement in flat if isinstance(statement, Check)]
    source = "".join(f"{line.text}\n" for line in lines)
    return WrittenProgram(source, above, checks, constants.arrays, arguments), lines


def _wrapped(functions: Sequence[Sequence[TextLine]]) -> list[TextLine]:
    """Return the lines of functions, the long ones divided, with two empty lines between functions."""
    lines: list[TextLine] = []
    for head, *body in functions:
        lines += [*[TextLine("")] * 2 * bool(lines), head]
        lines += [line._replace(text=part.rstrip()) for line in body for part in wrapped(line.text).splitlines()]
    return lines


def _for_all_sizes(
    f: Callable[..., Any],
    versions: Sequence[Arguments],
    runs: Sequence[Recording],
    chosen: Sequence[int],
    free: Sizes,
) -> tuple[Any, Any, Sequence[Recording]]:
    """Fold the loops of the runs in one of several ways, and merge them. Return the statements, the results and the runs.

    Raises:
        UnsupportedError: the programs differ in more than numbers, whichever way they are folded.
    """
    errors = []
    for i, way in enumerate(("lines", "", "all", "inner")):
        if i:  # the first way has changed the statements
            runs = [_recorded_or_refused(f, arguments, chosen) for arguments in versions]
        found: Any = [*map(_tidied, runs, versions)]
        equal = len({len(statements) for statements, *_ in found}) == 1
        if equal is (way in ("all", "inner")) and way != "lines":
            continue
        try:
            found = folded(found, way, free.lengths.values()) if way else [part[:2] for part in found]
            return *generalised(free, found), runs
        except UnsupportedError as error:
            errors.append(error)
    raise next((error for error in errors if "give an example" in str(error)), errors[-1])


def _tidied(run: Recording, arguments: Arguments, same: dict[Value, Value] | None = None) -> tuple[Any, Any, Any]:
    """Return the tidied statements of a run, its results, and the text of each of its arguments."""
    paths = {value: leaf.path for value, leaf in zip(run.inputs, arguments.leaves)}
    return *tidied(run.statements, run.results, same), paths


def _recorded_or_refused(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int]) -> Recording:
    """Run ``f`` on paper. If only that fails, say so; an error that ``f`` raises on any arrays is its own.

    Raises:
        UnsupportedError: ``f`` fails on paper and not on the tape.
    """
    try:
        return recorded(f, arguments, chosen, Recording(Paper))
    except Exception as error:
        if "(line " in str(error) or on_the_tape(f, arguments.examples, chosen) is None:
            raise
        raise UnsupportedError(
            f"the function works on arrays, but not on arrays that write down what is done with them{named(line_of(error))}, "
            f"{type(error).__name__}: {error}. Use NumPy's functions on the arguments themselves"
        ) from error


def _large_dicts(arguments: Arguments, leaves: Any, results: Any, chosen: Sequence[int]) -> tuple[Dicts, Any]:
    """Return the large dicts among the arguments, and the results with dicts for their gradients."""
    dicts, results = Dicts(), list(results)
    for name in arguments.dicts:
        at = arguments.names.index(name)
        gradients = results[1 + chosen.index(at)] if at in chosen else {}
        items = [(value, leaf.key) for value, leaf in leaves if leaf.path.startswith(f"{name}[")]
        found = dicts.add(name, items, gradients)
        if at in chosen:
            results[1 + chosen.index(at)] = found
    return dicts, tuple(results)


def _of_step(arguments: Arguments) -> set[str]:
    """Return the names that only ``step`` has."""
    return {*arguments.names, *(leaf.name for leaf in arguments.leaves)}


def recorded(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int], recording: Recording) -> Recording:
    """Run ``f`` on paper. Return the recording."""
    names = iter(arguments.leaves)
    starts: list[Tensor] = []
    run = _PaperRun(recording)

    def enter(leaf: Any, differentiated: bool) -> Any:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return leaf
        paper = recording.input(leaf, next(names).name)
        if not differentiated or not is_floating(leaf):
            return paper
        starts.append(make_tensor(paper, Leaf(None, leaf.shape, leaf.dtype)))
        recording.values[starts[-1]._node] = paper._value
        return starts[-1]

    given = [
        map_leaves(lambda leaf, i=i: enter(leaf, i in chosen), value) for i, value in enumerate(arguments.examples)
    ]
    value, gradients = run(f, given, starts)
    left = iter(gradients)
    trees = [map_leaves(lambda leaf: next(left) if is_floating(leaf) else None, arguments.examples[i]) for i in chosen]
    recording.results = value, *trees
    recording.statements = live(recording.statements, recording.results)
    return recording


class _PaperRun:
    """One run of a function and of its backward pass on paper. As an observer, it learns which value is whose cotangent."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __call__(
        self, f: Callable[..., Any], arguments: Sequence[Any], starts: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Return the value of ``f`` and the gradients with respect to ``starts``, as values of the program."""
        recording = self.recording
        contexts = active.contexts  # of these, a trace around the call would read what is on paper
        active.contexts = [context for context in contexts if not hasattr(context, "record")]
        active.enter(self)
        try:
            with enable_grad():
                output = f(*arguments)
                recording.finish()
                real = isinstance(output, Tensor) and output.shape == () and output.dtype.kind == "f"
                if not real or output._node is None:
                    raise UnsupportedError(
                        "write_numpy needs a function that returns one real number that depends on the arguments, and "
                        f"{described(f)} does not: sum() its result"
                    )
                gradients = self._backward(output, [t._node for t in starts])
        except Exception:
            if recording.refusal is not None:
                raise recording.refusal from None
            raise
        finally:
            active.leave(self)
            active.contexts = contexts
            recording.close()
        recording.finish()
        missing = [np.zeros(node.shape, node.dtype) for node in (t._node for t in starts)]
        found = [gradients.get(t._node, zeros) for t, zeros in zip(starts, missing)]
        return _value(output._array), [_value(g) for g in found]

    def _backward(self, output: Tensor, starts: Sequence[Node]) -> dict[Node, Any]:
        self.recording.backward = True
        gradients = sweep({output._node: np.ones_like(output._array)}, retain_graph=True, wanted=starts)
        for node, g in gradients.items():
            self.name(g, node)
        return gradients

    def record(self, entry: Any, arrays: Any, answer: Any, seconds: float) -> None:
        if type(answer) is Paper:
            self.recording.values[entry] = answer._value
        self.recording.scopes[entry] = self.recording.scopes_now()
        attach(entry, self)

    def backward(self, entry: Any, g: Array, contributions: Sequence[Any], seconds: float) -> None:
        for contribution, parent in zip(contributions, entry.parents):
            if parent is not None and contribution is not None:
                self.recording.contributed(entry, parent)
        if self.recording.backward:
            self.name(g, entry)
            for contribution, parent in zip(contributions, entry.parents):
                self.name(contribution, parent)

    def name(self, g: Any, node: Node) -> None:
        """Note that ``g`` is the cotangent of the value of a node."""
        value = g._value if type(g) is Paper else None
        if value is None or value.cotangent_of is not None:
            return
        if value.statement is not None and value.statement.backward:
            value.cotangent_of = self.recording.values.get(node)


def _value(array: Any) -> Any:
    return array._value if type(array) is Paper else array
