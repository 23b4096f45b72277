"""Kernels that numba compiles. :func:`minigrad.compiled_kernels` imports them, because they need numba."""
