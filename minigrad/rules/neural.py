"""The fused functions of neural networks.

Each has a forward in plain NumPy and a derivative: either a rule, or ``.reference(...)``, which differentiates the forward as
a composition of other primitives. Faster kernels are attached from ``minigrad/kernels``, and the tests compare them with the
definitions in this file.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import check_range
from ..engine.fitting import unbroadcast
from ..engine.observers import Replaceable
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from .about import about
from .linalg import product_by_y
from .ranges import power_of_two, squares_fit
from .special import check_not_complex, erf

# --- softmax: exp(x) / sum exp(x) -----------------------------------------------------------------------------------


LOWEST = -1e30  # the score of a masked key: exp(LOWEST - max) is exactly 0, and a fully masked row stays finite


def largest(x: Array, axis: int = -1) -> Array:
    """Return the maximum along ``axis``, or 0 for an axis of length 0; CuPy's max has no ``initial``."""
    return x.max(axis=axis, keepdims=True) if x.size else x.sum(axis=axis, keepdims=True)


def _softmax(x: Array, /, axis: int = -1) -> Array:
    """Return ``exp(x) / sum(exp(x))`` along ``axis`` (Bridle 1990); subtracting the maximum first keeps large inputs stable.

    Example:
        >>> import minigrad as mg
        >>> mg.softmax(mg.Tensor([[0.0, 0.0], [1000.0, 0.0]]))
        Tensor([[0.5, 0.5],
                [1. , 0. ]])
    """
    check_not_complex("softmax", x)
    e = np.exp(x - largest(x, axis))
    return e / np.sum(e, axis=axis, keepdims=True)


softmax = primitive(_softmax, name="softmax").vjp(
    x=lambda g, ans, axis: ans * (g - np.sum(g * ans, axis=axis, keepdims=True))
)


# --- log_softmax: x - log sum exp(x) --------------------------------------------------------------------------------


def _log_softmax(x: Array, /, axis: int = -1) -> Array:
    """Return ``x - log(sum(exp(x)))`` along ``axis``, stable for large inputs.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.log_softmax(np.array([1000.0, 0.0]))  # np.log of the softmax would give -inf
        array([    0., -1000.])
    """
    check_not_complex("log_softmax", x)
    shifted = x - largest(x, axis)
    if not x.size:
        return shifted
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


log_softmax = primitive(_log_softmax, name="log_softmax").vjp(
    x=lambda g, ans, axis: g - np.exp(ans) * np.sum(g, axis=axis, keepdims=True)
)


# --- relu, sigmoid, silu and gelu -----------------------------------------------------------------------------------


def _relu(x: Array, /) -> Array:
    """Return ``max(x, 0)``, whose derivative at 0 is 0 (Nair and Hinton 2010).

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor([-1.0, 0.0, 2.0], requires_grad=True)
        >>> mg.relu(x).sum().backward()
        >>> x.grad
        Tensor([0., 0., 1.])
    """
    check_not_complex("relu", x)
    return np.maximum(x, 0)


relu = primitive(_relu, name="relu").vjp(x=lambda g, ans: g * (ans > 0))
about(relu, elementwise=True, dies=True, bounds=(0, np.inf))


@Replaceable
def logistic(x: Array, /) -> Array:
    """Return ``1 / (1 + exp(-x))``, computed as ``exp(x) / (1 + exp(x))`` where ``exp(-x)`` could overflow.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.sigmoid(np.array([-1000.0, 0.0, 1000.0]))
        array([0. , 0.5, 1. ])
    """
    check_not_complex("sigmoid", x)
    e = np.exp(-np.abs(x))
    return np.maximum(x >= 0, e) / (1 + e)


# sigmoid(-x) equals 1 - sigmoid(x), but the difference would lose the digits of a small result.
sigmoid: Primitive = primitive(logistic, name="sigmoid").vjp(x=lambda g, x, ans: g * ans * sigmoid(-x))
about(sigmoid, elementwise=True, flat=lambda ans: ans * (1 - ans) < 0.01, bounds=(0, 1))


def _silu(x: Array, /) -> Array:
    """Return ``x * sigmoid(x)``, also called swish (Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2).

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.silu(np.array([-1.0, 0.0, 1.0])).round(3)
        array([-0.269,  0.   ,  0.731])
    """
    check_not_complex("silu", x)
    return x * logistic(x)


silu = primitive(_silu, name="silu").vjp(x=lambda g, x: g * sigmoid(x) * (1 + x * sigmoid(-x)))
about(silu, elementwise=True)

TANH_SCALE, TANH_CUBIC = math.sqrt(2 / math.pi), 0.044715
FLAT = 30.0  # bound on |x| before the cube, which could overflow: beyond 22, gelu by tanh equals x or 0 in float64


def _gelu(x: Array, /, approximate: str = "none") -> Array:
    """Return the Gaussian error linear unit ``x * Phi(x)`` (Hendrycks and Gimpel 2016, arXiv:1606.08415).

    ``approximate="none"`` is exact: ``0.5 x (1 + erf(x / sqrt(2)))``. ``"tanh"`` is the paper's approximation
    ``0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))``, computed with ``(1 + tanh(u)) / 2 = sigmoid(2 u)``.

    Raises:
        ArgumentError: ``approximate`` is neither "none" nor "tanh".

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([-1.0, 0.0, 1.0])
        >>> mg.gelu(x).round(4)
        array([-0.1587,  0.    ,  0.8413])
        >>> mg.gelu(x, approximate="tanh").round(4)
        array([-0.1588,  0.    ,  0.8412])
    """
    if approximate == "none":
        return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))
    if approximate == "tanh":
        near = np.clip(x, -FLAT, FLAT)
        return x * sigmoid(2 * TANH_SCALE * (near + TANH_CUBIC * near * near * near))
    raise ArgumentError(f"gelu takes approximate='none' or 'tanh', got {approximate!r}")


gelu = primitive(_gelu, name="gelu").reference(_gelu)


def _gelu_x(g: Array, x: Array, approximate: str) -> Array:
    """Return ``g (Phi(x) + x phi(x))``, or ``g`` times the slope of ``x (1 + tanh(u)) / 2`` with u as in :func:`_gelu`."""
    if approximate == "none":
        return g * (0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))
    t = np.tanh(TANH_SCALE * (x + TANH_CUBIC * x**3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * TANH_SCALE * (1 + 3 * TANH_CUBIC * x * x))


about(
    gelu,
    elementwise=True,
    formulas={"x": "g * (Phi(x) + x * phi(x)), with the normal distribution Phi and its density phi"},
    written={"x": _gelu_x},
)


# --- affine: x W + b ------------------------------------------------------------------------------------------------


def _affine(x: Array, weight: Array, bias: Array, /) -> Array:
    """Return ``x @ weight + bias`` for x (..., in), weight (in, out) and bias (out,); also called Linear or Dense.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> weight = mg.Tensor(np.ones((3, 2)), requires_grad=True)
        >>> bias = mg.Tensor(np.zeros(2), requires_grad=True)
        >>> y = mg.affine(np.ones((4, 3)), weight, bias)
        >>> y.sum().backward()
        >>> y.shape, weight.grad.shape, bias.grad  # each of the 4 rows used the bias
        ((4, 2), (3, 2), Tensor([4., 4.]))
    """
    return np.matmul(x, weight) + bias


affine = primitive(_affine, name="affine").reference(_affine)
about(
    affine,
    word="z",
    multiplies=("x", "weight"),
    only_overflows=True,
    formulas={"x": "g @ weight^T", "weight": "x^T @ g", "bias": "g, summed over the rows"},
    for_shapes={"weight": lambda x_shape: product_by_y(len(x_shape), 2)},
    written={
        "x": lambda g, weight, x_shape: unbroadcast(np.matmul(g, np.swapaxes(weight, -1, -2)), x_shape),
        "weight": lambda g, x, weight_shape: (
            np.outer(x, g) if x.ndim == 1 else unbroadcast(np.matmul(np.swapaxes(x, -1, -2), g), weight_shape)
        ),
        "bias": lambda g, bias_shape: unbroadcast(g, g.shape[-1:] if len(bias_shape) == 1 < g.ndim else bias_shape),
    },
)


# --- layer_norm: (x - mean) / sqrt(var + eps) * gamma + beta --------------------------------------------------------


def _layer_norm(x: Array, gamma: Array, beta: Array, /, eps: float = 1e-5) -> Array:
    """Return ``(x - mean) / sqrt(var + eps) * gamma + beta`` over the last axis, with the biased variance.

    x: (..., d); gamma, beta: (d,). See Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([[1.0, 3.0], [10.0, 30.0]])
        >>> mg.layer_norm(x, np.ones(2), np.zeros(2)).round(3)
        array([[-1.,  1.],
               [-1.,  1.]])
    """
    check_not_complex("layer_norm", x, gamma, beta)
    eps = float(eps)  # a NumPy number would promote float32
    if squares_fit(x, eps):
        return _of_unit_variance(_centred(x), eps) * gamma + beta
    scale = power_of_two(x, 1.0)
    centred, root = _centred(x / scale), math.sqrt(eps) / scale
    scale = power_of_two(centred, root)
    return _of_unit_variance(centred / scale, (root / scale) ** 2) * gamma + beta


def _centred(x: Array) -> Array:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred - np.mean(centred, axis=-1, keepdims=True)  # removes the rounding error of the mean


def _of_unit_variance(centred: Array, eps: Any) -> Array:
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + eps)


layer_norm = primitive(_layer_norm, name="layer_norm").reference(_layer_norm)


def _deviation(x: Array, eps: float) -> Array:
    return np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


def _normed(x: Array, eps: float) -> Array:
    return (x - np.mean(x, axis=-1, keepdims=True)) / _deviation(x, eps)


def _apart(h: Array, z: Array) -> Array:
    """Return ``h`` without its mean and without its component along ``z``."""
    return h - np.mean(h, axis=-1, keepdims=True) - z * np.mean(h * z, axis=-1, keepdims=True)


_DEVIATION = "sqrt(var(x) + eps)"
about(
    layer_norm,
    word="normed",
    formulas={
        "x": f"(h - mean(h) - z * mean(h * z)) / {_DEVIATION}, h = g * gamma, z = (x - mean(x)) / {_DEVIATION}",
        "gamma": f"g * (x - mean(x)) / {_DEVIATION}, summed over the rows",
        "beta": "g, summed over the rows",
    },
    written={
        "x": lambda g, x, gamma, eps, x_shape: unbroadcast(
            _apart(g * gamma, _normed(x, eps)) / _deviation(x, eps), x_shape
        ),
        "gamma": lambda g, x, eps, gamma_shape: unbroadcast(g * _normed(x, eps), gamma_shape),
        "beta": lambda g, beta_shape: unbroadcast(g, beta_shape),
    },
)


# --- rms_norm: x / sqrt(mean(x^2) + eps) * weight -------------------------------------------------------------------


def _rms_norm(x: Array, weight: Array, /, eps: float = 1e-6) -> Array:
    """Return ``x / sqrt(mean(x^2) + eps) * weight`` over the last axis (Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4).

    x: (..., d); weight: (d,).
    """
    check_not_complex("rms_norm", x, weight)
    eps = float(eps)
    if squares_fit(x, eps):
        return _of_unit_variance(x, eps) * weight
    root = math.sqrt(eps)
    scale = power_of_two(x, root)
    return _of_unit_variance(x / scale, (root / scale) ** 2) * weight


rms_norm = primitive(_rms_norm, name="rms_norm").reference(_rms_norm)


def _root_mean_square(x: Array, eps: float) -> Array:
    return np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def _rms_norm_x(g: Array, x: Array, weight: Array, eps: float, x_shape: tuple[int, ...]) -> Array:
    root = _root_mean_square(x, eps)
    h, z = g * weight, x / root
    return unbroadcast((h - z * np.mean(h * z, axis=-1, keepdims=True)) / root, x_shape)


about(
    rms_norm,
    word="normed",
    formulas={
        "x": "(h - z * mean(h * z)) / sqrt(mean(x^2) + eps), h = g * weight, z = x / sqrt(mean(x^2) + eps)",
        "weight": "g * x / sqrt(mean(x^2) + eps), summed over the rows",
    },
    written={
        "x": _rms_norm_x,
        "weight": lambda g, x, eps, weight_shape: unbroadcast(g * (x / _root_mean_square(x, eps)), weight_shape),
    },
)


# --- rotated: pairs of columns as complex numbers, times exp(i angle) -----------------------------------------------


def _rotated(x: Array, cos: Array, sin: Array, /) -> Array:
    """Return ``(a + ib)(cos + i sin)`` for each pair a, b of columns (Su et al. 2021, arXiv:2104.09864, eq. 34).

    x: (..., heads * d); cos, sin: (..., d / 2), the same for all heads.
    """
    half = cos.shape[-1]
    pairs = np.reshape(x, (*x.shape[:-1], x.shape[-1] // (2 * half), half, 2))  # (..., heads, d / 2, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    return np.reshape(np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1), x.shape)


rotated = primitive(_rotated, name="rotated").reference(_rotated)
_PAIRS = "z = x[..., ::2] + i x[..., 1::2], h = g[..., ::2] + i g[..., 1::2]"
about(
    rotated,
    word="rotated",
    formulas={
        "x": "rotated(g, cos, -sin)",
        "cos": f"sum(real(conj(z) * h)), {_PAIRS}",
        "sin": f"sum(imag(conj(z) * h)), {_PAIRS}",
    },
    written={"x": lambda g, cos, sin: _rotated(g, cos, -sin)},
)


# --- cross_entropy: -log softmax(logits)[label] ---------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def _cross_entropy(logits: Array, labels: Array, /, reduction: str = "mean") -> Array:
    """Return ``-log softmax(logits)[label]``, averaged over all labels (``reduction``: "mean", "sum" or "none").

    logits: (..., classes) floating; labels: (...) integers in [0, classes).

    Raises:
        OutOfRangeError: a label is not in [0, classes).
        ShapeError, DTypeError: ``labels`` do not have the shape of ``logits`` without the last axis, or are not integers.
        ArgumentError: ``reduction`` is not "mean", "sum" or "none".

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> logits = mg.Tensor([[0.0, 0.0], [0.0, 0.0]], requires_grad=True)
        >>> loss = mg.cross_entropy(logits, np.array([0, 1]))
        >>> loss.backward()
        >>> round(loss.item(), 4), logits.grad  # log(2), and (softmax - one-hot labels) / 2
        (0.6931, Tensor([[-0.25,  0.25],
                [ 0.25, -0.25]]))
    """
    check_labels(logits, labels, reduction)
    return _of_labels(logits, labels, reduction=reduction)


def _of_labels(logits: Array, labels: Array, /, reduction: str = "mean") -> Array:
    """Compute the cross entropy of labels that have been checked."""
    picked = np.take_along_axis(log_softmax(logits), labels[..., None], axis=-1)[..., 0]
    return REDUCTIONS[reduction](-picked)


def check_labels(scores: Array, labels: Array, reduction: str, function: str = "cross_entropy") -> None:
    """Raise unless ``labels`` (...) are integers in [0, classes) for ``scores`` (..., classes)."""
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise ArgumentError(f"{function} takes reduction='mean', 'sum' or 'none', got {reduction!r}")
    if getattr(labels, "dtype", np.dtype(object)).kind not in "iu":
        raise DTypeError(f"{function} needs integer labels, got {getattr(labels, 'dtype', type(labels).__name__)}")
    if scores.shape[:-1] != labels.shape or not scores.ndim:
        raise ShapeError(
            f"{function} needs logits of shape (..., classes) and labels of shape (...), got {scores.shape} and "
            f"{labels.shape}"
        )
    classes = scores.shape[-1]
    check_range(
        labels,
        classes,
        lambda worst: OutOfRangeError(
            f"{function} got the label {worst}, but logits have {classes} classes: 0 to {classes - 1}"
            + (f"; nn.{function}(..., ignore_index={worst}) leaves such labels out" if worst < 0 else "")
        ),
    )


cross_entropy = primitive(_cross_entropy, name="cross_entropy").reference(_of_labels)


def _by_logits(g: Array, logits: Array, labels: Array, reduction: str) -> Array:
    each = g * np.ones(labels.shape) / (labels.size if reduction == "mean" else 1)
    return each[..., None] * (softmax(logits) - (np.arange(logits.shape[-1]) == labels[..., None]))


about(
    cross_entropy,
    formulas={
        "logits": "g * (softmax(logits) - one_hot(labels)), divided by the number of labels for the mean",
    },
    written={"logits": _by_logits},
)
