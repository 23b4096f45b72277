"""Kernels for CuPy's arrays, in CUDA C: experimental. :func:`minigrad.cuda_kernels` imports them."""
