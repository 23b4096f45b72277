"""minigrad: reverse-mode automatic differentiation on NumPy, small enough to read and made to be watched."""

from . import rules  # noqa: F401 - fills the registry
from ._memory import keep_freed_memory
from ._primitive import Primitive, primitive, reference_mode
from ._tape import Entry, enable_grad, no_grad, tape
from .checking import GradientError, check_grads
from .errors import (
    ArgumentError,
    DTypeError,
    GraphError,
    MinigradError,
    MissingExtraError,
    OutOfRangeError,
    ShapeError,
    UnsupportedError,
)
from .graph import draw_dot
from .graph.trace import trace
from .rules.neural import (
    affine,
    cross_entropy,
    gelu,
    layer_norm,
    log_softmax,
    relu,
    scaled_dot_product_attention,
    softmax,
)
from .rules.special import erf
from .tensor import Tensor
from .transforms import grad, value_and_grad, vjp

__version__ = "0.1.0"

keep_freed_memory()

__all__ = [
    "ArgumentError",
    "DTypeError",
    "Entry",
    "GradientError",
    "GraphError",
    "MinigradError",
    "MissingExtraError",
    "OutOfRangeError",
    "Primitive",
    "ShapeError",
    "Tensor",
    "UnsupportedError",
    "affine",
    "check_grads",
    "cross_entropy",
    "draw_dot",
    "enable_grad",
    "erf",
    "gelu",
    "grad",
    "layer_norm",
    "log_softmax",
    "no_grad",
    "primitive",
    "reference_mode",
    "relu",
    "scaled_dot_product_attention",
    "softmax",
    "tape",
    "trace",
    "value_and_grad",
    "vjp",
]
