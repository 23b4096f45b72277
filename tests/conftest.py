"""What all tests share: the `cuda` marker, the devices a test can put its arrays on, and what Ctrl-C does."""

import gc
import itertools
import math
import signal
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from minigrad.guards.inplace import watched
from minigrad.kernels.blas import blas
from tests import fake_cupy, fake_device, lazy

_finished = itertools.count(1)
NOT_HERE = pytest.StashKey[set[str]]()  # the functions of which no row runs in this session
DEVICES = ["fake", pytest.param("cupy", marks=pytest.mark.cuda)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--primitive", action="append", metavar="NAME", help="only this primitive's cases (may be repeated)"
    )
    parser.addoption(
        "--thorough", action="store_true", help="only the large generated sets, which `make thorough` runs"
    )
    parser.addoption("--every", action="store_true", help="what `make test` runs and what `make thorough` runs")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOT_HERE] = set()
    blas._next_look = math.inf  # whether other programs use the cores is no matter of the tests


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Meanwhile PyTorch and the like stay unimported, and the table of cases is cut to the primitives that are asked for."""
    lazy.collecting = True
    try:
        if names := session.config.getoption("primitive"):
            from tests.minigrad.rules import table

            table.choose(names)
            if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
                session.config.args = [str(session.config.rootpath / path) for path in table.WHOLE]
        return (yield)
    finally:
        lazy.collecting = False


def kept_from_thorough(function: pytest.Function, rows: Sequence[Any], sampling: bool) -> list[Any]:
    """Return the rows that `make test` runs: those not marked `thorough`, and one in n, with the first, if `sampled(n)`.

    A row is chosen by its name within the module, so that it stays where it is when the file moves.
    """
    sampled = function.get_closest_marker("sampled")
    one_in = sampled.args[0] if sampled and sampling else 1
    name = function.nodeid.partition("::")[2]
    rows = [row for row in rows if all(mark.name != "thorough" for mark in row.marks)]
    return [row for i, row in enumerate(rows) if i == 0 or zlib.crc32(f"{name}[{row.id}]".encode()) % one_in == 0]


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Leave the large generated sets to `make thorough`, which runs nothing else.

    A row of a table is left out before a test is made of it: making 37,000 tests only to deselect them takes seconds.
    """
    yield
    config, function = metafunc.config, metafunc.definition
    rows: list[Any] = metafunc._calls  # pytest has no public way to take rows away
    thorough, whole = config.getoption("thorough"), function.get_closest_marker("thorough") is not None
    if config.getoption("every"):
        return
    if whole or not rows:
        runs_here = whole == thorough
    else:
        kept = {row.id for row in kept_from_thorough(function, rows, not config.getoption("primitive"))}
        here = [row for row in rows if (row.id in kept) != thorough]
        rows[:] = here or rows[:1]
        runs_here = bool(here)
    if not runs_here:
        config.stash[NOT_HERE].add(function.nodeid)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the functions of which nothing runs here; --primitive: all cases, no other test."""

    def choose(chosen: Callable[[pytest.Item], bool]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if not chosen(item)])
        items[:] = filter(chosen, items)

    choose(lambda item: item.nodeid.partition("[")[0] not in config.stash[NOT_HERE])
    if config.getoption("primitive"):
        from tests.minigrad.rules.table import runs_a_case

        choose(runs_a_case)


def pytest_collection_finish() -> None:
    """The tests themselves, thousands of objects, live to the end: the garbage collector need not look at them each time."""
    lazy.collected = {name.partition(".")[0] for name in sys.modules}
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    """Nor at what has come to stay since: PyTorch and the like, and caches, which make a full collection take half a second."""
    if next(_finished) % 250 == 0:
        gc.collect()  # what is garbage now would never be found later
        gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `cuda` where there is no CuPy or no GPU."""
    if item.get_closest_marker("cuda"):
        cupy = pytest.importorskip("cupy", reason='needs CuPy: pip install "cupy-cuda12x[ctk]"', exc_type=ImportError)
        if not cupy.is_available():
            pytest.skip("needs a GPU")


@pytest.fixture(autouse=True)
def pythons_own_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, in the processes that a test starts as well, and a test leaves it so.

    A shell has it ignored in what it starts in the background, and a process hands on what it ignores, but no handler.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler, "the test left another handler of Ctrl-C"


@pytest.fixture
def own_fonts_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server without fonts: Matplotlib has those that it brings along, and finds no others."""
    from matplotlib import font_manager, get_data_path

    from minigrad.graph.draw import fonts

    manager, find = font_manager.fontManager, font_manager.findSystemFonts
    own = [entry for entry in manager.ttflist if entry.fname.startswith(get_data_path())]
    monkeypatch.setattr(manager, "ttflist", own)
    monkeypatch.setattr(
        font_manager, "findSystemFonts", lambda paths=None, **type: find(paths, **type) if paths else []
    )
    monkeypatch.setattr(font_manager, "json_dump", lambda *arguments: None)  # its list of fonts stays what it is
    monkeypatch.setattr(fonts, "_noted", False)
    caches: list[Any] = [manager._findfont_cached, fonts._list_new_fonts, fonts._characters]  # type: ignore[attr-defined]
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def no_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the program `dot` nor pygraphviz, whose wheels carry Graphviz."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)


@pytest.fixture
def no_gc() -> Iterator[None]:
    """Reference counting alone."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture
def nothing_watched() -> Iterator[None]:
    """Arrays of other tests' modules, which live on, are not watched meanwhile."""
    others = dict(watched)
    watched.clear()
    yield
    watched.update(others)


@pytest.fixture(params=DEVICES)
def put(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """What moves a host array to a device: the strict fake one, or a real GPU."""
    if request.param == "fake":
        return fake_device.asarray
    import cupy

    return cupy.asarray


@pytest.fixture(params=DEVICES)
def cuda(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a device to move to: a stand-in for CuPy takes the call to the fake device, or it is a real GPU."""
    if request.param == "fake":
        monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module())
    return "cuda"
