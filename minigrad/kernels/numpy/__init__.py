"""The kernels for NumPy's arrays, which save passes over memory. Importing this package attaches them."""

# ruff: noqa: F401 - they attach themselves
from . import activations, affine, attention, cross_entropy, dropout, layer_norm, matmul, reductions, softmax
