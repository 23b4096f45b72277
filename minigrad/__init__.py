"""minigrad: reverse-mode automatic differentiation on NumPy, small enough to read and made to be watched."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _numpy_needed  # noqa: F401 - first, because the other modules need it

# isort: split

from . import rules  # noqa: F401 - fills the registry
from ._tree import stop_gradient, tree_map
from ._version import __version__ as __version__
from .engine.modes import enable_grad, no_grad
from .engine.observers import reference_mode
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
    from .graph.record.trace import trace
    from .graph.watch.checks import check_edges, wrong_edges
    from .graph.watch.flow import grad_flow
    from .graph.watch.profile import profile
    from .graph.watch.provenance import find_nan
    from .guards.anomaly import detect_anomaly
    from .guards.checking import GradientError, check_grads
    from .transforms.checkpoint import checkpoint
    from .transforms.derivatives import hessian, hvp, jacobian, jvp

__all__ = ["Tensor", "tape", "Entry", "primitive", "Primitive", "no_grad", "enable_grad", "reference_mode"]
__all__ += ["grad", "value_and_grad", "elementwise_grad", "vjp", "jvp", "jacobian", "hessian", "hvp", "autograd_grad"]
__all__ += ["Function", "checkpoint", "stop_gradient", "tree_map"]
__all__ += ["affine", "scaled_dot_product_attention", "layer_norm", "relu", "gelu", "silu", "sigmoid", "erf"]
__all__ += ["softmax", "log_softmax", "logsumexp", "cross_entropy"]
__all__ += ["draw_dot", "make_dot", "explain", "trace", "attention_maps", "write_numpy"]
__all__ += [
    "check_grads",
    "check_edges",
    "wrong_edges",
    "find_nan",
    "detect_anomaly",
    "debugging",
    "grad_flow",
    "profile",
]
__all__ += ["compiled_kernels", "num_threads", "set_num_threads"]
__all__ += [
    "MinigradError",
    "ArgumentError",
    "ShapeError",
    "DTypeError",
    "UnsupportedError",
    "OutOfRangeError",
    "LinAlgError",
]
__all__ += ["GraphError", "AnomalyError", "GradientError", "DeviceError", "MixedDevicesError", "OutOfMemoryError"]
__all__ += ["MissingExtraError", "VersionError", "ShadowedError"]

# Names that are imported on first use: training does not need them, and they take longer to import than the rest.
_LATER = {
    "codegen.writing": "write_numpy",
    "debug.running": "debugging",
    "graph.drawing": "draw_dot make_dot",
    "graph.pages.attention_maps": "attention_maps",
    "graph.pages.explain": "explain",
    "graph.record.trace": "trace",
    "graph.watch.checks": "check_edges wrong_edges",
    "graph.watch.flow": "grad_flow",
    "graph.watch.profile": "profile",
    "graph.watch.provenance": "find_nan",
    "guards.anomaly": "detect_anomaly",
    "guards.checking": "GradientError check_grads",
    "transforms.checkpoint": "checkpoint",
    "transforms.derivatives": "hessian hvp jacobian jvp",
}
_MODULES = ("graph", "numpy", "scipy_special", "serialize", "tiny")  # imported on first use, too


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    module = next((module for module, names in _LATER.items() if name in names.split()), None)
    if module is None:
        raise import_module("._other_names", __name__).missing(__name__, name)
    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
