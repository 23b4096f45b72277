"""A plugin of pytest for the run in Pyodide: leaves out, with a reason, what needs something that does not exist there."""

from __future__ import annotations

import ast
import asyncio
import sys
from collections.abc import Coroutine, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from minigrad.errors import MissingExtraError

_left_out: dict[str, str] = {}


def absent(path: Path) -> str | None:
    """Return the package that a test file imports, outside of its functions, and that is not installed."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        for name in (name.partition(".")[0] for name in names):
            if name and name not in sys.modules and find_spec(name) is None:
                return name
    return None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if collection_path.suffix == ".py" and collection_path.name.startswith("test_"):
        name = absent(collection_path)
        if name is not None:
            _left_out[collection_path.name] = name
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that comes to need a process, a thread, or a package that is not installed."""
    try:
        return (yield)
    except RuntimeError as error:
        if "can't start new thread" in str(error):
            pytest.skip("Pyodide has no threads")
        raise
    except OSError as error:
        if "does not support processes" in str(error):
            pytest.skip("Pyodide has no processes")
        raise
    except MissingExtraError as error:
        pytest.skip(str(error))


def _refuse(main: Coroutine[Any, Any, Any], **keywords: Any) -> None:
    main.close()
    pytest.skip("asyncio.run() needs a JavaScript engine that switches stacks")


asyncio.run = _refuse  # type: ignore[assignment]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for file, name in sorted(_left_out.items()):
        terminalreporter.write_line(f"LEFT OUT {file}: {name} is not installed")
