"""Write programs, run them where minigrad cannot be imported, and compare them with the tape."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad._tree import leaves


def outcomes_apart(folder: Path, programs: dict[str, Any], calls: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Save each program, run it on its calls in another process, and return what each call gave."""
    for name, program in programs.items():
        program.save(folder / f"{name}.py")
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(calls[name]))
    command = [sys.executable, str(Path(__file__).with_name("runner.py")), str(folder)]
    subprocess.run(command, check=True, timeout=600)
    found: dict[str, list[Any]] = pickle.loads((folder / "outcomes.pickle").read_bytes())
    return found


def on_the_tape(f: Callable[..., Any], args: Sequence[Any], argnum: tuple[int, ...]) -> Any:
    """Return the value and the gradients by the plain rules; the error, if there is one."""
    try:
        with mg.reference_mode(), np.errstate(all="ignore"):
            value, gradients = mg.value_and_grad(f, argnum=argnum)(*args)
    except Exception as error:
        return error
    return value, *gradients


def same_bits(found: Any, expected: Any) -> bool:
    return _all(found, expected, lambda a, b: np.array_equal(a, b, equal_nan=True))


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether no number differs by more than ``tolerance`` times the largest."""

    def near(a: Any, b: Any) -> bool:
        size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        return np.allclose(a, b, rtol=tolerance, atol=tolerance * float(size), equal_nan=True)

    return _all(found, expected, near)


def _all(found: Any, expected: Any, compare: Callable[[Any, Any], Any]) -> bool:
    if isinstance(found, str):
        return False
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(leaves(found), leaves(expected), strict=True)]
    with np.errstate(all="ignore"):
        return all(a.shape == b.shape and a.dtype == b.dtype and bool(compare(a, b)) for a, b in pairs)
