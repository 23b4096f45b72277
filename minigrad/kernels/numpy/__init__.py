"""The kernels for NumPy arrays, which make fewer passes over memory. Importing this package attaches them."""

# ruff: noqa: F401 - these modules attach themselves when they are imported
from . import (
    activations,
    attention,
    dropout,
    einsum,
    elementwise,
    indexing,
    layer_norm,
    linalg,
    padding,
    products,
    reductions,
    rotated,
    softmax,
    sums,
)
