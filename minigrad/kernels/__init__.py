"""Everything that is only for speed: kernels for the primitives of ``minigrad/rules``, shorter ways from an operator such as
``x * y`` to its primitive, threads, BLAS and the allocator.

Importing this package attaches the NumPy kernels. ``minigrad.internal`` imports ``layers/`` for ``nn``, and
``minigrad.scipy_special`` its own kernels. You may delete this package, or only its folder ``compiled/``. Then the plain rules
compute the same results, up to rounding.
"""

from . import numpy, operators, stretches  # noqa: F401 - these modules attach themselves when they are imported
from .allocator import keep_freed_memory
from .switches import compiled_kernels
from .threads import num_threads, set_num_threads

__all__ = ["compiled_kernels", "keep_freed_memory", "num_threads", "set_num_threads"]

keep_freed_memory()
