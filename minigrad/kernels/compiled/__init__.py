"""Kernels that numba compiles. :func:`minigrad.compiled_kernels` imports them, as they need numba to be there."""
