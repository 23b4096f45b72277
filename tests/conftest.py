"""What all tests share: the `cuda` marker, and the devices a test can put its arrays on."""

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minigrad import device
from minigrad._inplace import watched
from tests import cuda_emulator, fake_cupy, fake_device, lazy

DEVICES = ["fake", pytest.param("cupy", marks=pytest.mark.cuda)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--primitive", action="append", metavar="NAME", help="only this primitive's cases (may be repeated)"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Meanwhile PyTorch and the like stay unimported, and the table of cases is cut to the primitives that are asked for."""
    lazy.collecting = True
    try:
        if names := session.config.getoption("primitive"):
            from tests.minigrad import table

            table.choose(names)
            if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
                session.config.args = [str(session.config.rootpath / path) for path in table.WHOLE]
        return (yield)
    finally:
        lazy.collecting = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --primitive, tests of other things in the same files are left out."""
    if config.getoption("primitive"):
        from tests.minigrad.table import runs_a_case

        config.hook.pytest_deselected(items=[item for item in items if not runs_a_case(item)])
        items[:] = [item for item in items if runs_a_case(item)]


def pytest_collection_finish() -> None:
    """The tests themselves, thousands of objects, live to the end: the garbage collector need not look at them each time."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `cuda` where there is no CuPy or no GPU."""
    if item.get_closest_marker("cuda"):
        cupy = pytest.importorskip("cupy", reason="needs CuPy: pip install 'minigrad[gpu]'", exc_type=ImportError)
        if not cupy.is_available():
            pytest.skip("needs a GPU")


@pytest.fixture(autouse=True)
def no_late_errors_from_before() -> Iterator[None]:
    """A check on a device that one test never looked at is no matter of the next."""
    yield
    device._late.checks.clear()


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


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> cuda_emulator.Emulator:
    """What runs CUDA kernels from their source on the CPU."""
    if cuda_emulator.COMPILER is None:
        pytest.skip("needs a C++ compiler: c++, g++ or clang++")
    return cuda_emulator.Emulator(tmp_path_factory.mktemp("kernels"))
