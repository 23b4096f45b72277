"""The functions of ``numpy.linalg`` that work on Tensors; see ``minigrad.numpy``."""

import numpy.linalg as _linalg

from ._names import names as _names

globals().update(_names(_linalg))
