"""The switches between NumPy's kernels, those that numba compiles, and those for CUDA."""

from __future__ import annotations

import numpy as np

from ..device import is_cupy
from ..engine.kernels import Kernel
from ..engine.registry import first_array_of_type, primitives
from ..errors import UnsupportedError, import_extra

_replaced: dict[str, Kernel | None] = {}  # NumPy's kernels (or none), by primitive, while the compiled ones stand there


def compiled_kernels(enabled: bool = True) -> None:
    """Let the functions of neural networks (softmax, layer_norm, attention ...) and Adam run loops that numba compiles.

    They go over memory once where NumPy goes several times. All numbers stay the same to rounding, whatever the number of
    threads; float32 and float64 on the host are served, all else is computed as before. A graph keeps to the kernels that
    were on when it was recorded.

    The first call of each function compiles it, which takes up to two seconds. numba keeps what it compiled in
    ``__pycache__`` beside minigrad's files or, where that cannot be written to, in the user's cache folder (or where the
    environment variable NUMBA_CACHE_DIR says), and later processes read it from there.

    Args:
        enabled: False switches back to NumPy.

    Raises:
        MissingExtraError: numba is not installed.
        UnsupportedError: the folder ``minigrad/kernels/compiled`` has been taken out.

    Example:
        >>> import minigrad as mg
        >>> mg.compiled_kernels()
        >>> mg.softmax(mg.Tensor([0.0, 0.0]))  # the same, in one pass over memory
        Tensor([0.5, 0.5])
        >>> mg.compiled_kernels(False)
    """
    if not enabled:
        for name, kernel in _replaced.items():
            kernels = primitives[name].kernels
            if kernel is None:
                del kernels[np.ndarray]
            else:
                kernels[np.ndarray] = kernel
        _replaced.clear()
        return
    import_extra("numba", "fast", "compiled_kernels()")
    try:
        from .compiled import attention, neural  # noqa: F401 - they hang themselves on their primitives
    except ImportError as error:
        raise _without("compiled", error) from error
    for name, primitive in primitives.items():
        if "compiled" in primitive.kernels and name not in _replaced:
            _replaced[name] = primitive.kernels.get(np.ndarray)
            primitive.kernels[np.ndarray] = primitive.kernels["compiled"]


def compiled() -> bool:
    """Whether the compiled kernels are switched on."""
    return bool(_replaced)


def cuda_kernels(enabled: bool = True) -> None:
    """Experimental: let the functions of neural networks run CUDA kernels of minigrad's own on CuPy's arrays.

    **They have never run on a GPU**: the tests run their source on a CPU. Without them CuPy computes through the same rules as
    NumPy, which is the default. All numbers stay the same to rounding, float16 is computed in float32, and a graph keeps to
    the kernels that were on when it was recorded. A GPU needs compute capability 6.0.

    Args:
        enabled: False switches back to the rules.

    Raises:
        MissingExtraError: CuPy is not installed.
        UnsupportedError: the folder ``minigrad/kernels/cuda`` has been taken out.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.cuda_kernels()
        >>> x = mg.Tensor(mg.device.to_device(np.zeros(2), "cuda"))
        >>> mg.softmax(x).numpy()
        array([0.5, 0.5])
        >>> mg.cuda_kernels(False)
    """
    if enabled:
        import_extra("cupy", "gpu", "cuda_kernels()")
        try:
            from .cuda import neural  # noqa: F401 - hangs its kernels on their primitives
        except ImportError as error:
            raise _without("cuda", error) from error
    _cuda.on = enabled
    for kind in _cuda.kinds:
        _cuda.hang(kind)


class _Cuda:
    """Whether CUDA's kernels are on, and the types of CuPy's arrays that have been met."""

    def __init__(self) -> None:
        self.on = False
        self.kinds: list[type] = []

    def meet(self, kind: type) -> None:
        if is_cupy(kind):
            self.kinds.append(kind)
            self.hang(kind)

    def hang(self, kind: type) -> None:
        for primitive in primitives.values():
            if self.on and "cuda" in primitive.kernels:
                primitive.kernels[kind] = primitive.kernels["cuda"]
            else:
                primitive.kernels.pop(kind, None)


def _without(folder: str, error: ImportError) -> Exception:
    """What to raise where a folder of kernels is not there; ``error`` itself where it is."""
    if error.name != f"{__package__}.{folder}":
        return error
    return UnsupportedError(
        f"{folder}_kernels() needs the folder minigrad/kernels/{folder}, which has been taken out of this copy of minigrad: "
        "the other kernels compute the same numbers, or install minigrad anew"
    )


_cuda = _Cuda()
first_array_of_type.append(_cuda.meet)
