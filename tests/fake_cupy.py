"""A module that stands for `cupy` itself: its arrays are the fake device's, and its errors are CuPy's by name.

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module())

Then `to_device(array, "cuda")` and `model.to("cuda")` take the way that they take where CuPy is, up to the fake device.
The names, and what the errors say, are those of CuPy 14 (`cupy/cuda/memory.pyx`, `cupy/cuda/device.pyx`,
`cupy_backends/cuda/api/runtime.pyx`).
"""

from types import ModuleType, SimpleNamespace
from typing import Any, Self

import numpy as np

from tests import fake_device

NO_DRIVER = "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
NO_GPU = "cudaErrorNoDevice: no CUDA-capable device is detected"
_NO_SUCH_GPU = "cudaErrorInvalidDevice: invalid device ordinal"


class CUDARuntimeError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    """As CuPy words it; errors of minigrad look at the module's name."""

    def __init__(self, size: int, total: int) -> None:
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes).")


OutOfMemoryError.__module__ = "cupy.cuda.memory"


def module(*, broken: str = "", gpus: int = 1, memory: int | None = None) -> Any:
    """
    Args:
        broken: what CUDA says when it is asked for a GPU, e.g. NO_DRIVER.
        gpus: how many there are.
        memory: of the GPU, in bytes; it only ever fills up.
    """
    used = 0

    class Device:
        def __init__(self, number: int) -> None:
            self.id = number

        def __enter__(self) -> Self:
            if broken or self.id >= gpus:
                raise CUDARuntimeError(broken or _NO_SUCH_GPU)
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def asarray(host: Any) -> Any:
        nonlocal used
        size = 0 if isinstance(host, fake_device.FakeArray) else np.asarray(host).nbytes
        if memory is not None and used + size > memory:
            raise OutOfMemoryError(size, used)
        used += size
        return fake_device.asarray(host)

    fake: Any = ModuleType("cupy")
    fake.ndarray, fake.asarray, fake.is_available = fake_device.FakeArray, asarray, lambda: not broken
    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=lambda: gpus)
    fake.cuda = SimpleNamespace(
        Device=Device, runtime=runtime, memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
    )
    # No more than this is asked of a pool: its blocks are the user's to free.
    pool = SimpleNamespace(used_bytes=lambda: used, total_bytes=lambda: used + 1024)
    fake.get_default_memory_pool = lambda: pool
    return fake
