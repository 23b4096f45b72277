"""What all tests share: the `cuda` marker, and the devices a test can put its arrays on."""

from collections.abc import Callable
from typing import Any

import pytest

from tests import fake_device


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `cuda` where there is no CuPy or no GPU."""
    if item.get_closest_marker("cuda"):
        cupy = pytest.importorskip("cupy", reason="needs CuPy: pip install 'minigrad[gpu]'", exc_type=ImportError)
        if not cupy.is_available():
            pytest.skip("needs a GPU")


@pytest.fixture(params=["fake", pytest.param("cupy", marks=pytest.mark.cuda)])
def put(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """What moves a host array to a device: the strict fake one, or a real GPU."""
    if request.param == "fake":
        return fake_device.asarray
    import cupy

    return cupy.asarray
