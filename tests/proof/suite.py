"""Sections about the tests: the errors that they provoke, and what they assert."""

import ast
import contextlib
import io
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.proof.interface import Texts
from tests.proof.side import Side

Function = ast.FunctionDef | ast.AsyncFunctionDef
MARKS = ("skip", "skipif", "xfail")


def name_called(node: ast.AST) -> str:
    """Return the last name of what is called, "" if it has none or if this is no call."""
    called = node.func if isinstance(node, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


class Source:
    """The functions of the files below tests/, and how many assertions and provoked errors each has, helpers included."""

    def __init__(self, files: list[Path]) -> None:
        self.of_file: dict[Path, dict[str, list[Function]]] = {}
        self.of_name = defaultdict[str, list[tuple[Path, Function]]](list)
        self._counts: dict[Function, tuple[int, int]] = {}
        for path in files:
            own = self.of_file[path] = defaultdict[str, list[Function]](list)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, Function):
                    own[node.name].append(node)
                    self.of_name[node.name].append((path, node))

    def count(self, path: Path, function: Function) -> tuple[int, int]:
        """Return the numbers of assertions and of provoked errors. A helper counts where it is called."""
        if function in self._counts:
            return self._counts[function]
        self._counts[function] = 0, 0  # in a circle of helpers, each counts once
        nodes = list(ast.walk(function))
        asserted = raised = 0
        for node in nodes:
            name = name_called(node)
            raised += name == "raises"
            asserted += isinstance(node, ast.Assert) or name in ("raises", "warns", "fail")
            helper = self.helper(path, name)
            if helper is None:
                asserted += name.startswith(("assert_", "check_"))
            elif helper[1] not in nodes:  # an inner function is counted already
                more = self.count(*helper)
                asserted, raised = asserted + more[0], raised + more[1]
        self._counts[function] = asserted, raised
        return asserted, raised

    def helper(self, path: Path, name: str) -> tuple[Path, Function] | None:
        """Return the function of this name in the same file, else in any file, if there is just one."""
        here, anywhere = self.of_file[path].get(name, []), self.of_name.get(name, [])
        return (path, here[0]) if here else anywhere[0] if len(anywhere) == 1 else None

    def of_item(self, item: Any) -> tuple[int, int]:
        """Return the counts of a collected test."""
        line = item.function.__code__.co_firstlineno
        same = self.of_file.get(Path(item.path), {}).get(item.function.__name__, [])
        starts = [min([f.lineno, *(d.lineno for d in f.decorator_list)]) for f in same]
        function = next((f for f, start in zip(same, starts) if start == line), same[0] if same else None)
        return self.count(Path(item.path), function) if function else (0, 0)


def key_of(item: Any) -> str:
    """Return the name of a test without its path: class, function and parameters."""
    return str(item.nodeid).partition("::")[2]


class Collected:
    """A plugin of pytest that keeps the collected tests before any is deselected."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self.items = list(items)


class Provoked:
    """A plugin of pytest that runs the tests that it is told to, and keeps the error in each ``pytest.raises``."""

    def __init__(self, wanted: Callable[[Any], bool]) -> None:
        self.wanted, self.errors, self.now = wanted, list[tuple[str, str]](), ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        items[:] = [item for item in items if self.wanted(item)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        self.now = key_of(item)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        kind: Any = type(pytest.raises(Exception))
        leave = kind.__exit__

        def leaving(context: Any, error_type: Any, error: Any, trace: Any) -> Any:
            if error is not None and self.now:
                self.errors.append((self.now, f"{type(error).__name__}: {error}"))
            return leave(context, error_type, error, trace)

        kind.__exit__ = leaving
        try:
            yield
        finally:
            kind.__exit__ = leave


def run_pytest(side: Side, plugin: object, *options: str) -> None:
    """Run pytest in this process, without what it prints."""
    arguments = [str(side.root / "tests"), "--rootdir", str(side.root), "-c", str(side.root / "pyproject.toml")]
    arguments += ["-q", "-p", "no:cacheprovider", f"--ignore={Path(__file__).parent}", *options]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = pytest.main(arguments, plugins=[plugin])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest: {said.getvalue()[-3000:]}")


def tests(side: Side) -> Texts:
    """Each test by name and parameters, and how many assertions its function has, without the file."""
    source, plugin = Source(side.test_files()), Collected()
    run_pytest(side, plugin, "--collect-only")
    counts = set[str]()
    for item in plugin.items:
        marks = [mark for mark in MARKS if item.get_closest_marker(mark)]
        where = "::".join(key_of(item).partition("[")[0].split("::"))
        counts.add(f"{where}: {source.of_item(item)[0]} assertions{''.join(f', {mark}' for mark in marks)}")
    yield "assertions", sorted(counts)
    yield "parameters", sorted(key_of(item) for item in plugin.items)


def messages(side: Side) -> Texts:
    """Type and text of each error that a test expects with ``pytest.raises``."""
    source = Source(side.test_files())
    known = dict[Any, bool]()

    def wanted(item: Any) -> bool:
        function = getattr(item, "function", None)
        if function is None or item.get_closest_marker("browser") or item.get_closest_marker("cuda"):
            return False
        if function not in known:
            known[function] = source.of_item(item)[1] > 0
        return known[function] and side.takes(function.__name__)

    plugin = Provoked(wanted)
    with plugin.listening():
        run_pytest(side, plugin)
    yield "messages", sorted(f"{key}: {text}" for key, text in plugin.errors)
