"""The functions of ``numpy.fft`` that work on Tensors; see ``minigrad.numpy``."""

import numpy.fft as _fft

from ._names import names as _names

globals().update(_names(_fft))
