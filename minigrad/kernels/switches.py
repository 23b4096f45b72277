"""The switch between NumPy's kernels and those that numba compiles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.kernels import Kernel, reference_mode
from ..engine.registry import primitives
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
        if error.name != f"{__package__}.compiled":
            raise
        raise UnsupportedError(
            "compiled_kernels() needs the folder minigrad/kernels/compiled, which has been taken out of this copy of minigrad: "
            "the other kernels compute the same numbers, or install minigrad anew"
        ) from error
    for name, primitive in primitives.items():
        if "compiled" in primitive.kernels and name not in _replaced:
            _replaced[name] = primitive.kernels.get(np.ndarray)
            primitive.kernels[np.ndarray] = primitive.kernels["compiled"]


def compiled() -> bool:
    """Whether the compiled kernels are switched on."""
    return bool(_replaced)


def compiled_adam() -> Callable[..., None] | None:
    """Give the step of Adam that numba compiles, while the compiled kernels are switched on."""
    if not compiled() or reference_mode.active():
        return None
    from .compiled.adam import adam_step

    return adam_step
