"""Runs written programs in a process of its own, in which minigrad cannot be imported: ``python runner.py FOLDER``.

The folder has a file ``NAME.py`` for each program and ``NAME.pickle`` with the arguments of each call. The outcomes, arrays or
the text of an error, are written to ``outcomes.pickle``.
"""

import pickle
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np


def outcome(step: Any, arguments: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return step(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def run(folder: Path) -> None:
    for package in ("minigrad", "nn", "models"):
        sys.modules[package] = None  # type: ignore[assignment]
    outcomes = {}
    for file in sorted(folder.glob("*.py")):
        calls = pickle.loads(file.with_suffix(".pickle").read_bytes())
        step = runpy.run_path(str(file))["step"]
        outcomes[file.stem] = [outcome(step, call) for call in calls]
    (folder / "outcomes.pickle").write_bytes(pickle.dumps(outcomes))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
