"""Speed, attached from outside: kernels that hang themselves on the primitives of ``minigrad/rules``, threads, BLAS, allocator.

Importing this package attaches NumPy's kernels. It may be taken out, and so may ``compiled/`` in it: everything
computes through the plain rules then, to the same numbers.
"""

from . import numpy, stretches  # noqa: F401 - attach themselves
from .allocator import keep_freed_memory
from .switches import compiled_kernels
from .threads import num_threads, set_num_threads

__all__ = ["compiled_kernels", "keep_freed_memory", "num_threads", "set_num_threads"]

keep_freed_memory()
