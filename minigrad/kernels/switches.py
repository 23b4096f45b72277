"""Switch between the NumPy kernels and the kernels that numba compiles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.kernels import Kernel
from ..engine.observers import reference_mode
from ..engine.registry import primitives
from ..errors import UnsupportedError, import_extra

_replaced: dict[str, Kernel | None] = {}  # by primitive, the NumPy kernel (or None) that a compiled kernel has replaced


def compiled_kernels(enabled: bool = True) -> None:
    """Use loops compiled by numba for gelu, layer_norm, cross_entropy and Adam.

    The loops read memory once; NumPy reads it several times. The results are the same up to rounding, and do not depend on
    the number of threads. The loops handle float32 on the host. Other arrays are computed as before. The backward of a graph
    uses the kernels that were on when the graph was recorded.

    The first call of each function compiles it, which takes up to two seconds. numba stores the compiled code in
    ``__pycache__`` next to minigrad's files, and later processes read it from there. If that folder is not writable, numba
    uses the user's cache folder. The environment variable NUMBA_CACHE_DIR names another folder.

    Args:
        enabled: False switches back to NumPy.

    Raises:
        MissingExtraError: numba is not installed.
        UnsupportedError: the folder ``minigrad/kernels/compiled`` has been deleted.

    Example:
        >>> import minigrad as mg
        >>> mg.compiled_kernels()
        >>> mg.gelu(mg.Tensor([0.0, 9.0]))  # the same, in one pass over memory
        Tensor([0., 9.])
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
        from .compiled import neural  # noqa: F401 - it attaches its kernels when it is imported
    except ImportError as error:
        if error.name != f"{__package__}.compiled":
            raise
        raise UnsupportedError(
            "compiled_kernels() needs the folder minigrad/kernels/compiled, which has been taken out of this copy of minigrad: "
            "the other kernels compute the same numbers, or install minigrad again"
        ) from error
    for name, primitive in primitives.items():
        if "compiled" in primitive.kernels and name not in _replaced:
            _replaced[name] = primitive.kernels.get(np.ndarray)
            primitive.kernels[np.ndarray] = primitive.kernels["compiled"]


def compiled() -> bool:
    """Whether the compiled kernels are switched on."""
    return bool(_replaced)


def compiled_adam() -> Callable[..., None] | None:
    """Return the compiled step of Adam, or None if the compiled kernels are switched off."""
    if not compiled() or reference_mode.active():
        return None
    from .compiled.adam import adam_step

    return adam_step
