"""Running a lesson, once for all tests of it."""

import contextlib
import io
import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a lesson printed, its variables, and its folder; each lesson runs once."""
    done: dict[Path, tuple[str, dict[str, Any], Path]] = {}

    def once(path: Path) -> tuple[str, dict[str, Any], Path]:
        if path not in done:
            pytest.importorskip("matplotlib", exc_type=ImportError).use("Agg")
            from matplotlib import pyplot

            folder, printed = tmp_path_factory.mktemp(path.stem), io.StringIO()
            with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
                variables = runpy.run_path(str(path))
            pyplot.close("all")
            done[path] = printed.getvalue(), variables, folder / "out/lessons"
        return done[path]

    return once
