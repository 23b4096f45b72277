"""Every case of the case table, written once and run on new data in a process where minigrad cannot be imported."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests.minigrad.codegen.apart import close, on_the_tape, outcomes_apart, same_bits
from tests.minigrad.rules.cases import CASES, Case
from tests.minigrad.rules.test_cases import all_primitives  # noqa: F401 - with it the table is full

# Parts of the table: (i, n) is the i-th of n. `make test` runs the smallest; together the others are the whole table.
SAMPLE, WHOLE = (0, 24), [(i, 8) for i in range(8)]
SEEDS = 3


def loss_of(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the same arguments with one real result, which weighs each element of each output differently."""

    def loss(*args: Any) -> Any:
        total: Any = 0.0
        for output in _outputs(f(*args)):
            if output.dtype.kind == "c":
                total = total + np.sum(np.real(output * np.conjugate(output)) * 0.5 + np.real(output))
            elif output.dtype.kind == "f":
                total = total + np.sum(np.sin(output) * output)
        return total

    return loss


def _outputs(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [output for part in result for output in _outputs(part)]
    return [result] if isinstance(result, mg.Tensor) else []


def data_of(case: Case, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(zlib.crc32(case.id.encode()) + seed)
    return [np.asarray(spec(rng)) for spec in case.inputs]


def form(arrays: list[np.ndarray]) -> list[Any]:
    return [(array.shape, array.dtype) for array in arrays]


@pytest.mark.parametrize(
    ("i", "n"), [SAMPLE, *(pytest.param(*part, marks=pytest.mark.thorough) for part in WHOLE)], ids=str
)
def test_a_case_that_was_written_once_computes_what_the_tape_does_on_new_data(i: int, n: int, tmp_path: Path) -> None:
    cases = [case for case in CASES if zlib.crc32(case.id.encode()) % n == i]
    programs: dict[str, Any] = {}
    calls: dict[str, list[Any]] = {}
    expected: dict[str, list[Any]] = {}
    refused, ids = [], {}
    for number, case in enumerate(cases):
        first = case.arrays()
        floating = tuple(k for k, array in enumerate(first) if array.dtype.kind in "fc")
        f = loss_of(case.f)
        if not floating or isinstance(on_the_tape(f, first, floating), Exception):
            continue
        name = f"case{number}"
        ids[name] = case.id
        try:
            programs[name] = mg.write_numpy(f, *first)
        except mg.UnsupportedError:
            refused.append(case.id)
            continue
        data = [d for seed in range(1, SEEDS + 1) if form(d := data_of(case, seed)) == form(first)]
        calls[name] = [d for d in data if not isinstance(on_the_tape(f, d, floating), Exception)]
        expected[name] = [on_the_tape(f, d, floating) for d in calls[name]]
    found = outcomes_apart(tmp_path, programs, calls)
    bits = wrong = stopped = 0
    failures = []
    for name, results in found.items():
        for result, should in zip(results, expected[name], strict=True):
            if isinstance(result, str) and "written where" in result:
                stopped += 1
            elif same_bits(result, should):
                bits += 1
            elif not close(result, should, 1e-13):
                wrong += 1
                failures.append((ids[name], result if isinstance(result, str) else "another number"))
    assert not failures
    assert len(refused) <= 0.02 * len(cases), refused
    assert bits >= 0.97 * (bits + stopped)
