"""Programs by people who had not seen the writer: ordinary ones, and ones made to fool it.

A written program, called with other data of the same shapes and dtypes, gives what the tape gives, or raises.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import leaves, map_leaves
from tests.minigrad.codegen import hostile_programs, ordinary_programs
from tests.minigrad.codegen.apart import close, on_the_tape

SEEDS = range(6)
# Programs that stop at a check on other data, or are refused, with the reason. All others are right on every seed.
STOPPED = {
    "message passing": "adds to a constant at indices that are an argument",
    "label smoothing": "writes into a NumPy array at indices that are an argument",
    "vanilla rnn": "writes into a NumPy array at indices that are an argument",
}


def is_float(leaf: Any) -> bool:
    return isinstance(leaf, float) or getattr(getattr(leaf, "dtype", None), "kind", "") in ("f", "c")


def by_the_tape(f: Callable[..., Any], args: Any) -> Any:
    """Return the value and the gradients of all floating leaves; the error, if there is one."""
    floating = [leaf for leaf in leaves(list(args)) if is_float(leaf)]

    def of_floating(parts: Any) -> Any:
        given = iter(parts)
        return f(*[map_leaves(lambda leaf: next(given) if is_float(leaf) else leaf, arg) for arg in args])

    found = on_the_tape(of_floating, (floating,), (0,))
    return found if isinstance(found, Exception) else leaves(list(found))


def tolerance(expected: Any) -> float:
    return 2e-4 if any(np.asarray(getattr(e, "_array", e)).dtype.char in "fF" for e in expected) else 1e-8


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", ordinary_programs.PROGRAMS)
def test_an_ordinary_program_is_right_on_other_data(name: str) -> None:
    ordinary = ordinary_programs.PROGRAMS[name]
    try:
        program = mg.write_numpy(ordinary.function, *ordinary.examples(0))
        found = [leaves(list(program(*ordinary.examples(seed)))) for seed in SEEDS]
    except (mg.UnsupportedError, ValueError) as error:
        assert name in STOPPED, error
        return
    assert name not in STOPPED
    for seed, result in zip(SEEDS, found):
        expected = by_the_tape(ordinary.function, ordinary.examples(seed))
        assert close(result, expected, tolerance(expected)), seed


@pytest.mark.parametrize("name", hostile_programs.PROGRAMS)
def test_a_program_made_to_fool_the_writer_is_right_or_refused(name: str) -> None:
    hostile = hostile_programs.PROGRAMS[name]
    hostile.fresh()
    try:
        program = mg.write_numpy(hostile.function, *hostile.examples(0))
    except mg.MinigradError:
        return  # refused
    except Exception as error:
        hostile.fresh()
        assert isinstance(by_the_tape(hostile.function, hostile.examples(0)), type(error))  # the function's own error
        return
    assert hostile.must != "refuse"
    for seed in SEEDS:
        hostile.fresh()
        try:
            found = leaves(list(program(*hostile.examples(seed))))
        except Exception:
            continue  # a check, or what NumPy raises for these data
        hostile.fresh()
        expected = by_the_tape(hostile.function, hostile.examples(seed))
        assert not isinstance(expected, Exception), f"seed {seed}: the tape raises {expected}"
        assert close(found, expected, tolerance(expected)), seed
