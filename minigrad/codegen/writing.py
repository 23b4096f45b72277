"""``write_numpy``: run a function and its backward pass once on paper, and return the program that was written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine.observers import reference_mode
from .arguments import Arguments
from .folds import folded
from .functions import Dicts, WrittenFunction, function_lines
from .loops import Loop, TextLine
from .modules import Modules
from .names import RESERVED, Constants, GivenNames
from .program import WrittenProgram
from .recording import Recording
from .running import recorded_or_refused
from .simplify import simplified
from .sizes import Sizes, generalised
from .spelling import array_text, wrapped
from .statements import Check, Statement
from .witness import compare, compare_runs, compare_sizes, described
from .words import Text


def write_numpy(
    f: Callable[..., Any],
    *examples: Any,
    argnum: int | Sequence[int] | None = None,
    sizes: Sequence[Sequence[Any]] = (),
) -> WrittenProgram:
    """Write ``f`` and its gradient as a NumPy program, as a person would have written it by hand.

    The function runs once, forward and backward, on arrays that write down what is done with them. The program holds for the
    shapes and dtypes of the examples, which it checks. A branch that depends on values becomes a check in the program. What
    can be neither written nor checked is refused. The function also runs a few times on the tape, for comparison.

    Args:
        f: a function that returns one real number. Its arguments are arrays, or nested lists, tuples and dicts of arrays.
        examples: the arguments of one call. The program takes what they are: arrays, Python numbers, Tensors ...
        argnum: the arguments to differentiate, by default all that have floating numbers.
        sizes: further examples, each with all arguments, in other sizes. The axes whose lengths differ are then free.

    Raises:
        UnsupportedError: ``f`` does something that cannot be written down. The message names the line and the remedy.
        ArgumentError: there is nothing to differentiate.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> program = mg.write_numpy(lambda x: np.sum(np.sin(x)), np.zeros(3))
        >>> program(np.array([0.0, 1.0, 2.0]))[1]
        array([ 1.        ,  0.54030231, -0.41614684])
        >>> "dx = np.cos(x)" in program.source  # print(program) shows the function
        True
    """
    versions = [Arguments(f, example, whole_dicts=not sizes) for example in (examples, *sizes)]
    free = Sizes(versions) if sizes else None
    with reference_mode():
        return _compared(f, versions, versions[0].chosen(argnum), free)


def _compared(
    f: Callable[..., Any], versions: Sequence[Arguments], chosen: Sequence[int], free: Sizes | None
) -> WrittenProgram:
    """Run the function twice, write the program, and compare it with the tape."""
    runs = [recorded_or_refused(f, arguments, chosen) for arguments in versions]
    again = recorded_or_refused(f, versions[0], chosen)
    compare_runs(runs[0], again)
    program, _ = written_lines(f, versions, runs, chosen, free)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        compare(f, program, versions, chosen)
        if free is not None:
            compare_sizes(f, program, free.others(versions[0]), chosen)
    for run in (*runs, again):
        run.finish()  # the function may have kept an array of it, used it later, and caught the refusal
    return program


class _Draft(NamedTuple):
    """A program before it is text.

    Attributes:
        statements: those of ``step``, with their loops folded.
        results: what ``step`` returns.
        run: the recording that they come from.
        flat: the statements of all functions, without loops around them.
        dicts: the arguments that the program reads by key.
        functions: the functions that ``step`` calls.
    """

    statements: Sequence[Statement]
    results: Any
    run: Recording
    flat: Sequence[Statement]
    dicts: Dicts
    functions: Sequence[WrittenFunction]


def written_lines(
    f: Callable[..., Any],
    versions: Sequence[Arguments],
    runs: Sequence[Recording],
    chosen: Sequence[int],
    free: Sizes | None,
    same: dict[Any, Any] | None = None,
) -> tuple[WrittenProgram, list[TextLine]]:
    """Write the program of the runs for the examples. Return it, and its lines, each with the statements that it runs.

    If ``same`` is given, the copies of the statements and values of the runs are noted there, and what replaces a value.
    """
    arguments = versions[0]
    taken = {*_of_step(arguments), *RESERVED}
    draft = (
        _with_functions(runs[0], arguments, chosen, taken, same)
        if free is None
        else _for_all_sizes(versions, runs, free)
    )
    names = GivenNames(taken)
    leaves = zip(draft.run.inputs, arguments.leaves)
    names.of.update({value: leaf.name if leaf.key == leaf.name else leaf.path for value, leaf in leaves})
    names.of.update({holder: str(holder.name) for holder, _ in draft.dicts.keys.values()})
    groups = {function.group: GivenNames(taken - _of_step(arguments)) for function in draft.functions}
    constants = Constants([names, *groups.values()], draft.run.variables)
    inner = [Text(each.body, each.outputs, groups[each.group], constants, each.is_backward) for each in draft.functions]
    written = [*map(function_lines, inner, draft.functions)]
    step = Text(draft.statements, draft.results, names, constants)
    opening = map(TextLine, [*arguments.opening(), *([] if free is None else free.opening())])
    first = TextLine(f"def step({', '.join(arguments.names)}):")
    written.append([first, *opening, *step.lines(), TextLine(f"return {step.result(draft.results)}")])
    lines = _wrapped(written)
    scipy = any(text.scipy for text in (step, *inner))
    head = _head(f, arguments, arguments.check(free is not None), constants.arrays, scipy)
    checks = [statement.sentence for statement in draft.flat if isinstance(statement, Check)]
    source = "".join(f"{line.text}\n" for line in lines)
    return WrittenProgram(source, head, checks, constants.arrays, arguments), lines


def _head(f: Any, arguments: Arguments, check: str, constants: dict[str, Any], scipy: bool) -> str:
    """Return the text above the functions: what the program is, imports, constants, and the check of the arguments."""
    arrays = [f"{name} = {array_text(array)}" for name, array in constants.items()]
    imports = ["import base64", ""] * any("base64." in line for line in arrays)
    imports += ["import numpy as np", *["from scipy import special"] * scipy]
    title = f'"""The value and the gradients of {described(f)}."""'
    return "\n".join([title, "", *imports, "", *arguments.table(), *arrays, "", "", check, "", ""])


def _with_functions(
    run: Recording, arguments: Arguments, chosen: Sequence[int], taken: set[str], same: dict[Any, Any] | None
) -> _Draft:
    """Write calls of modules as calls of functions, and fold the loops in all functions. Their names are added to ``taken``."""
    statements, results, paths = _simplified(run, arguments, same)
    dicts, results = _large_dicts(arguments, [*zip(run.inputs, arguments.leaves)], results, chosen)
    modules = Modules(statements, results, dicts, taken)
    for function in modules.functions:
        function.body, function.outputs = folded(function.body, function.outputs, {})
    rest, results = folded(modules.rest(), results, paths)
    return _Draft(rest, results, run, statements, dicts, modules.functions)


def _wrapped(functions: Sequence[Sequence[TextLine]]) -> list[TextLine]:
    """Return the lines of functions, the long ones divided, with two empty lines between functions."""
    lines: list[TextLine] = []
    for head, *body in functions:
        lines += [*[TextLine("")] * 2 * bool(lines), head]
        lines += [line._replace(text=part.rstrip()) for line in body for part in wrapped(line.text).splitlines()]
    return lines


def _for_all_sizes(versions: Sequence[Arguments], runs: Sequence[Recording], free: Sizes) -> _Draft:
    """Fold the loops of each run, and merge the runs.

    Raises:
        UnsupportedError: the programs differ in more than numbers.
    """
    found = [folded(*_simplified(run, arguments), every=True) for run, arguments in zip(runs, versions)]
    statements, results = generalised(free, found)
    flat = [s for each in statements for s in (each.body if isinstance(each, Loop) else [each])]
    return _Draft(statements, results, runs[0], flat, Dicts(), [])


def _simplified(run: Recording, arguments: Arguments, same: dict[Any, Any] | None = None) -> tuple[Any, Any, Any]:
    """Return the simplified statements of a run, its results, and the text of each of its arguments."""
    paths = {value: leaf.path for value, leaf in zip(run.inputs, arguments.leaves)}
    return *simplified(run.statements, run.results, same), paths


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
