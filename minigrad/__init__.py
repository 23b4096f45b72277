"""minigrad: reverse-mode automatic differentiation on NumPy, small enough to read and made to be watched."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _numpy_needed  # noqa: F401 - first, because the other modules need it

# isort: split

from . import rules  # noqa: F401 - fills the registry
from ._version import __version__ as __version__
from .engine import operators  # noqa: F401 - gives each primitive declared after this import a faster form
from .engine.kernels import reference_mode
from .engine.modes import enable_grad, no_grad
from .engine.primitive import Primitive, primitive
from .engine.tape import Entry, tape
from .engine.tensor import Tensor
from .errors import (
    AnomalyError,
    ArgumentError,
    DeviceError,
    DTypeError,
    GraphError,
    LinAlgError,
    MinigradError,
    MissingExtraError,
    MixedDevicesError,
    OutOfMemoryError,
    OutOfRangeError,
    ShadowedError,
    ShapeError,
    UnsupportedError,
    VersionError,
)
from .guards import (
    inplace as _inplace,  # noqa: F401 - watches arrays from the first operation on
    warnings as _warnings,  # noqa: F401 - NumPy's warnings point at the user's line
)
from .rules.attention import scaled_dot_product_attention
from .rules.neural import (
    affine,
    cross_entropy,
    gelu,
    layer_norm,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
)
from .rules.reductions import logsumexp
from .rules.special import erf
from .transforms.function import Function
from .transforms.grad import autograd_grad, elementwise_grad, grad, value_and_grad, vjp

try:
    from .kernels import compiled_kernels, num_threads, set_num_threads
except ImportError as missing:
    if missing.name != f"{__name__}.kernels":
        raise
    from ._without_kernels import compiled_kernels, num_threads, set_num_threads

if TYPE_CHECKING:
    from .codegen.writing import write_numpy
    from .debug.running import debugging
    from .graph import draw_dot, make_dot
    from .graph.pages.attention_maps import attention_maps
    from .graph.pages.explain import explain
    from .graph.record.storage import load_trace, save_trace
    from .graph.record.trace import trace
    from .graph.watch.checks import check_edges, wrong_edges
    from .graph.watch.flow import grad_flow
    from .graph.watch.profile import profile
    from .graph.watch.provenance import find_nan
    from .guards.anomaly import detect_anomaly
    from .guards.checking import GradientError, check_grads
    from .transforms.checkpoint import checkpoint
    from .transforms.derivatives import hessian, hvp, jacobian, jvp
    from .transforms.trees import stop_gradient, tree_map

__all__ = [
    "AnomalyError",
    "ArgumentError",
    "DTypeError",
    "DeviceError",
    "Entry",
    "Function",
    "GradientError",
    "GraphError",
    "LinAlgError",
    "MinigradError",
    "MissingExtraError",
    "MixedDevicesError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Primitive",
    "ShadowedError",
    "ShapeError",
    "Tensor",
    "UnsupportedError",
    "VersionError",
    "affine",
    "attention_maps",
    "autograd_grad",
    "check_edges",
    "check_grads",
    "checkpoint",
    "compiled_kernels",
    "cross_entropy",
    "debugging",
    "detect_anomaly",
    "draw_dot",
    "make_dot",
    "elementwise_grad",
    "enable_grad",
    "erf",
    "explain",
    "find_nan",
    "gelu",
    "grad",
    "grad_flow",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "layer_norm",
    "load_trace",
    "log_softmax",
    "logsumexp",
    "no_grad",
    "num_threads",
    "primitive",
    "profile",
    "reference_mode",
    "relu",
    "save_trace",
    "scaled_dot_product_attention",
    "set_num_threads",
    "sigmoid",
    "silu",
    "softmax",
    "stop_gradient",
    "tape",
    "trace",
    "tree_map",
    "value_and_grad",
    "vjp",
    "write_numpy",
    "wrong_edges",
]

# Names that are imported on first use: training does not need them, and they take longer to import than the rest.
_LATER = {
    "GradientError": "guards.checking",
    "attention_maps": "graph.pages.attention_maps",
    "check_edges": "graph.watch.checks",
    "check_grads": "guards.checking",
    "checkpoint": "transforms.checkpoint",
    "debugging": "debug.running",
    "detect_anomaly": "guards.anomaly",
    "draw_dot": "graph.drawing",
    "explain": "graph.pages.explain",
    "find_nan": "graph.watch.provenance",
    "grad_flow": "graph.watch.flow",
    "hessian": "transforms.derivatives",
    "hvp": "transforms.derivatives",
    "jacobian": "transforms.derivatives",
    "jvp": "transforms.derivatives",
    "load_trace": "graph.record.storage",
    "make_dot": "graph.drawing",
    "profile": "graph.watch.profile",
    "save_trace": "graph.record.storage",
    "stop_gradient": "transforms.trees",
    "trace": "graph.record.trace",
    "tree_map": "transforms.trees",
    "write_numpy": "codegen.writing",
    "wrong_edges": "graph.watch.checks",
}


_MODULES = ("graph", "numpy", "scipy_special", "serialize", "tiny")  # imported on first use, too


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _LATER:
        raise import_module("._other_names", __name__).missing(__name__, name)
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
