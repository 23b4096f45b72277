"""The derivative rules. Importing this package fills the registry."""

from ..engine import plain  # noqa: F401
from . import (  # noqa: F401
    at,
    attention,
    axes,
    calculus,
    choosing,
    decompositions,
    determinants,
    dropout,
    einsum,
    elementwise,
    fft,
    indexing,
    least_squares,
    linalg,
    methods,
    neural,
    norms,
    padding,
    products,
    reductions,
    shaping,
    sorting,
    special,
    statistics,
)
