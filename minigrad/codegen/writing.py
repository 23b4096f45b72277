"""``write_numpy``: run a function and its backward pass once on paper, and return the program that was written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..engine.observers import reference_mode
from .loops import Loop, folded
from .modules import Dicts, Draft, Modules, copied, large_dicts
from .paper import recorded_or_refused
from .program import Arguments, TextLine, WrittenProgram, described, parameter_names
from .record import Recording
from .simplify import Became, simplified
from .sizes import Sizes, generalised
from .text import printed
from .witness import compare, compare_runs, compare_sizes


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
    versions = [
        Arguments(parameter_names(f, len(example)), example, whole_dicts=not sizes) for example in (examples, *sizes)
    ]
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
    program, _ = written_lines(described(f), versions, runs, chosen, free)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        compare(f, program, versions, chosen)
        if free is not None:
            compare_sizes(f, program, free.others(versions[0]), chosen)
    for run in (*runs, again):
        run.finish()  # the function may have kept an array of it, used it later, and caught the refusal
    return program


def written_lines(
    title: str,
    versions: Sequence[Arguments],
    runs: Sequence[Recording],
    chosen: Sequence[int],
    free: Sizes | None,
    became: Became | None = None,
) -> tuple[WrittenProgram, list[TextLine]]:
    """Write the program of the runs for the examples. Return it, and its lines, each with the statements that it runs.

    ``title`` says what the program is written of. If ``became`` is given, the copies of the statements and values of the run
    are noted there, and what replaces a copy.
    """
    arguments = versions[0]
    if free is None:
        draft = _with_functions(runs[0], arguments, chosen, became)
        opening = arguments.opening
    else:
        draft = _for_all_sizes(versions, runs, free)
        opening = arguments.opening + free.opening()
    lines, constants = printed(draft, arguments, opening)
    source = "\n".join([*map(attrgetter("text"), lines), ""])
    head = arguments.head(title, constants.arrays, constants.scipy, free is not None)
    return WrittenProgram(source, head, draft.flat, constants.arrays, arguments), lines


def _with_functions(run: Recording, arguments: Arguments, chosen: Sequence[int], became: Became | None) -> Draft:
    """Write calls of modules as calls of functions, and fold the loops in all functions."""
    statements, results, paths = _simplified(run, arguments, became)
    dicts, results = large_dicts(arguments, [*zip(run.inputs, arguments.leaves)], results, chosen)
    modules = Modules(statements, results, dicts, arguments.taken)
    for function in modules.functions:
        function.body, function.outputs = folded(function.body, function.outputs, {})
    copied_values = copied(results)
    rest, results = folded(modules.rest(), results, paths)
    return Draft(rest, results, copied_values, run, statements, dicts, modules.functions)


def _for_all_sizes(versions: Sequence[Arguments], runs: Sequence[Recording], free: Sizes) -> Draft:
    """Fold the loops of each run, and merge the runs.

    Raises:
        UnsupportedError: the programs differ in more than numbers.
    """
    found = [folded(*_simplified(run, arguments), every=True) for run, arguments in zip(runs, versions)]
    statements, results = generalised(free, found)
    flat = [s for each in statements for s in (each.body if isinstance(each, Loop) else [each])]
    return Draft(statements, results, copied(results), runs[0], flat, Dicts(), [])


def _simplified(run: Recording, arguments: Arguments, became: Became | None = None) -> tuple[Any, Any, Any]:
    """Return the simplified statements of a run, its results, and the text of each of its arguments."""
    paths = {value: leaf.path for value, leaf in zip(run.inputs, arguments.leaves)}
    return *simplified(run.statements, run.results, became), paths
