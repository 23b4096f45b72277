"""What is only for the speed of ``nn``: kernels of the primitives that only ``nn`` uses, and the steps of optimizers.

Importing this package attaches the kernels.
"""

from . import convolution, losses, pooling, recurrent  # noqa: F401 - these modules attach themselves when they are imported
from .optimizers import Division, update_in_blocks

__all__ = ["Division", "update_in_blocks"]
