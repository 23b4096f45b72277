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
Place = tuple[Path, Function]
MARKS = ("skip", "skipif", "xfail")


class Source:
    """The functions of the files below tests/, and how much each asserts."""

    def __init__(self, files: list[Path]) -> None:
        self.functions: dict[Path, dict[str, list[Function]]] = {}
        self.imports: dict[
            Path, dict[str, tuple[str, str]]
        ] = {}  # name in the file: last name of the module, name there
        self.of_stem = defaultdict[str, list[Path]](list)
        self._own: dict[Function, tuple[int, int, list[Place]]] = {}
        for path in files:
            self.functions[path], self.imports[path] = defaultdict(list), {}
            self.of_stem[path.stem].append(path)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, Function):
                    self.functions[path][node.name].append(node)
                elif isinstance(node, ast.ImportFrom):
                    stem = (node.module or "").rpartition(".")[2]
                    self.imports[path] |= {alias.asname or alias.name: (stem, alias.name) for alias in node.names}

    def counts(self, path: Path, function: Function) -> tuple[int, int]:
        """Return how many assertions a function has, and how many errors it expects.

        Those of its helpers count once, however often it calls them. Each call of a helper that asserts something counts too.
        """
        reached = self.reached((path, function))
        calls = sum(
            any(self.own(inner)[0] for inner in self.reached(helper))
            for each in reached
            for helper in self.own(each)[2]
        )
        return sum(self.own(each)[0] for each in reached) + calls, sum(self.own(each)[1] for each in reached)

    def reached(self, place: Place) -> list[Place]:
        """Return a function and the helpers that it calls, and those that they call."""
        found = [place]
        for each in found:  # which grows meanwhile
            found += dict.fromkeys(helper for helper in self.own(each)[2] if helper not in found)
        return found

    def own(self, place: Place) -> tuple[int, int, list[Place]]:
        """Return the assertions and the expected errors in the text of a function, and its calls of helpers."""
        path, function = place
        if function not in self._own:
            nodes = list(ast.walk(function))
            called = [(name_called(node), self.helper(path, node)) for node in nodes if isinstance(node, ast.Call)]
            helpers = [helper for _, helper in called if helper and helper[1] not in nodes]
            raises = sum(name == "raises" for name, _ in called)
            others = sum(name in ("warns", "fail") for name, _ in called)
            others += sum(helper is None and name.startswith(("assert_", "check_")) for name, helper in called)
            self._own[function] = sum(isinstance(node, ast.Assert) for node in nodes) + raises + others, raises, helpers
        return self._own[function]

    def helper(self, path: Path, call: ast.Call) -> Place | None:
        """Return the function that is called, if it is one of the same file, or of a file below tests/ that is imported."""
        if isinstance(call.func, ast.Name):
            if here := self.functions[path].get(call.func.id):
                return path, here[0]
            stem, name = self.imports[path].get(call.func.id, ("", ""))
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            stem, name = self.imports[path].get(call.func.value.id, ("", ""))[1], call.func.attr
        else:
            return None
        found = [(file, self.functions[file][name][0]) for file in self.of_stem[stem] if name in self.functions[file]]
        return found[0] if found else None

    def of_item(self, item: Any) -> tuple[int, int]:
        """Return the counts of a collected test."""
        line = item.function.__code__.co_firstlineno
        same = self.functions.get(Path(item.path), {}).get(item.function.__name__, [])
        starts = [min([f.lineno, *(d.lineno for d in f.decorator_list)]) for f in same]
        function = next((f for f, start in zip(same, starts) if start == line), same[0] if same else None)
        return self.counts(Path(item.path), function) if function else (0, 0)


def name_called(call: ast.Call) -> str:
    """Return the last name of what is called, "" if it has none."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def key_of(item: Any) -> str:
    """Return the name of a test without its path: class, function and parameters."""
    return str(item.nodeid).partition("::")[2]


class Collected:
    """A plugin of pytest that keeps the collected tests before any is deselected, of `make thorough` too."""

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
            try:
                return leave(context, error_type, error, trace)
            except pytest.fail.Exception:
                return True  # another message than expected: the test goes on to its next one

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
    known = any("--every" in path.read_text(encoding="utf-8") for path in side.test_files("conftest.py"))
    run_pytest(side, plugin, "--collect-only", *(["--every"] * known))
    counts = dict[tuple[Path, str], str]()
    for item in plugin.items:
        marks = [mark for mark in MARKS if item.get_closest_marker(mark)]
        name = key_of(item).partition("[")[0]
        said = f"{name}: {source.of_item(item)[0]} assertions{''.join(f', {mark}' for mark in marks)}"
        counts[Path(item.path), name] = said
    yield "assertions", sorted(counts.values())
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
