"""What all tests share: the `cuda` marker, the devices a test can put its arrays on, and what Ctrl-C does."""

import gc
import signal
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from minigrad.guards.inplace import watched
from tests import fake_cupy, fake_device, lazy

DEVICES = ["fake", pytest.param("cupy", marks=pytest.mark.cuda)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--primitive", action="append", metavar="NAME", help="only this primitive's cases (may be repeated)"
    )
    parser.addoption(
        "--thorough", action="store_true", help="only the large generated sets, which `make thorough` runs"
    )


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


def left_to_thorough(items: Iterable[pytest.Item], sampling: bool = True) -> set[pytest.Item]:
    """What is marked `thorough`, and the rows of a `sampled(n)` table but one in n and the first of each function.

    A row is chosen by its name within the module, so that it stays where it is when the file moves.
    """
    left, met = set(), set()
    for item in items:
        if item.get_closest_marker("thorough"):
            left.add(item)
        elif sampling and (sampled := item.get_closest_marker("sampled")):
            path, _, name = item.nodeid.partition("::")
            function = path, name.partition("[")[0]
            if function in met and zlib.crc32(name.encode()) % sampled.args[0]:
                left.add(item)
            met.add(function)
    return left


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the large generated sets to `make thorough`, which runs nothing else; --primitive: all cases, no other test."""
    left, thorough = left_to_thorough(items, not config.getoption("primitive")), config.getoption("thorough")
    config.hook.pytest_deselected(items=[item for item in items if (item in left) != thorough])
    items[:] = [item for item in items if (item in left) == thorough]
    if config.getoption("primitive"):
        from tests.minigrad.rules.table import runs_a_case

        config.hook.pytest_deselected(items=[item for item in items if not runs_a_case(item)])
        items[:] = [item for item in items if runs_a_case(item)]


def pytest_collection_finish() -> None:
    """The tests themselves, thousands of objects, live to the end: the garbage collector need not look at them each time."""
    lazy.collected = {name.partition(".")[0] for name in sys.modules}
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
    monkeypatch.setattr(fonts, "_family_of", dict.fromkeys("\n\t\r", fonts.OWN))
    monkeypatch.setattr(fonts, "_named", set())
    caches: list[Any] = [manager._findfont_cached, fonts._list_new_fonts]  # type: ignore[attr-defined]
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
