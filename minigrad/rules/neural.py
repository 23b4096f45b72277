"""The fused functions of neural networks.

Each stands here three times, one below the other: the forward in plain NumPy, its derivative (rules, or a *reference*
composition of other primitives), and a kernel for NumPy arrays that saves passes over memory. The tests hold the three
together at first and second order; ``reference_mode()`` switches the kernels off.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._primitive import primitive
from ..errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from .special import erf

Needs = Sequence[bool]

# --- softmax: exp(x) / sum exp(x) -----------------------------------------------------------------------------------


def _largest(x: Any, axis: int = -1) -> Any:
    """What is subtracted before exp; 0 along an axis of length 0, which has no maximum (and CuPy's max no ``initial``)."""
    return np.max(x, axis=axis, keepdims=True) if x.size else np.sum(x, axis=axis, keepdims=True)


def _softmax(x: Any, /, axis: int = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along ``axis``, stable for large inputs: the maximum is subtracted first."""
    e = np.exp(x - _largest(x, axis))
    return e / np.sum(e, axis=axis, keepdims=True)


def _softmax_forward(x: Any, axis: int = -1) -> tuple[Any, None]:
    e = np.subtract(x, _largest(x, axis))
    _softmax_in_place(e, axis)
    return e, None


def _softmax_in_place(e: Any, axis: int) -> None:
    if e.size:  # the reciprocal of an empty sum would warn
        np.exp(e, out=e)
        e *= np.reciprocal(np.sum(e, axis=axis, keepdims=True))


def _softmax_backward(g: Any, needs: Needs, ans: Any, axis: int) -> tuple[Any]:
    d = g * ans
    d -= ans * np.sum(d, axis=axis, keepdims=True)
    return (d,)


softmax = primitive(_softmax, name="softmax").vjp(
    x=lambda g, ans, axis: ans * (g - np.sum(g * ans, axis=axis, keepdims=True))
)
softmax.kernel(np.ndarray, _softmax_forward, _softmax_backward)


# --- log_softmax: x - log sum exp(x) --------------------------------------------------------------------------------


def _log_softmax(x: Any, /, axis: int = -1) -> Any:
    """``x - log(sum(exp(x)))`` along ``axis``, stable for large inputs."""
    shifted = x - _largest(x, axis)
    if not x.size:
        return shifted
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


log_softmax = primitive(_log_softmax, name="log_softmax").vjp(
    x=lambda g, ans, axis: g - np.exp(ans) * np.sum(g, axis=axis, keepdims=True)
)


# --- relu, sigmoid, silu and gelu -----------------------------------------------------------------------------------


def _relu(x: Any, /) -> Any:
    """``max(x, 0)``; its derivative at 0 is 0."""
    return np.maximum(x, 0)


relu = primitive(_relu, name="relu").vjp(x=lambda g, ans: g * (ans > 0))


def _sigmoid(x: Any, /) -> Any:
    """``1 / (1 + exp(-x))``, without overflow: ``exp(x) / (1 + exp(x))`` where x is negative."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1 + e)


sigmoid = primitive(_sigmoid, name="sigmoid").vjp(x=lambda g, ans: g * ans * (1 - ans))


def _silu(x: Any, /) -> Any:
    """``x * sigmoid(x)``, which others call swish. Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2."""
    return x * _sigmoid(x)


silu = primitive(_silu, name="silu").vjp(x=lambda g, x, ans: g * (ans + sigmoid(x) * (1 - ans)))

_TANH_SCALE, _TANH_CUBIC = math.sqrt(2 / math.pi), 0.044715


def _gelu(x: Any, /, approximate: str = "none") -> Any:
    """Gaussian error linear unit, ``x * Phi(x)`` (Hendrycks and Gimpel 2016, arXiv:1606.08415).

    ``approximate="none"`` is exact, ``0.5 x (1 + erf(x / sqrt(2)))``; ``"tanh"`` is the paper's approximation
    ``0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))``.
    """
    if approximate == "none":
        return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_TANH_SCALE * (x + _TANH_CUBIC * x * x * x)))
    raise ArgumentError(f"gelu takes approximate='none' or 'tanh', got {approximate!r}")


def _gelu_forward(x: Any, approximate: str = "none") -> Any:
    if approximate == "none":
        cdf = erf(x * math.sqrt(0.5))
        cdf += 1
        cdf *= 0.5
        return x * cdf, cdf
    if approximate != "tanh":
        return NotImplemented
    t = x * x
    t *= _TANH_CUBIC
    t += 1
    t *= x
    t *= _TANH_SCALE
    np.tanh(t, out=t)
    ans = t + 1
    ans *= x
    ans *= 0.5
    return ans, t


def _gelu_backward(g: Any, needs: Needs, x: Any, saved: Any, approximate: str) -> tuple[Any]:
    d = x * x
    if approximate == "none":  # Phi(x) + x exp(-x^2/2) / sqrt(2 pi)
        d *= -0.5
        np.exp(d, out=d)
        d *= x
        d *= 1 / math.sqrt(2 * math.pi)
        d += saved
    else:  # (1 + t)/2 + x (1 - t^2)/2 * sqrt(2/pi) (1 + 3 * 0.044715 x^2)
        d *= 3 * _TANH_CUBIC
        d += 1
        d *= x
        d *= 0.5 * _TANH_SCALE
        one_minus = saved * saved
        np.subtract(1, one_minus, out=one_minus)
        d *= one_minus
        np.multiply(saved, 0.5, out=one_minus)
        d += one_minus
        d += 0.5
    d *= g
    return (d,)


gelu = primitive(_gelu, name="gelu").reference(_gelu).kernel(np.ndarray, _gelu_forward, _gelu_backward)


# --- affine: x W + b ------------------------------------------------------------------------------------------------


def _affine(x: Any, weight: Any, bias: Any, /) -> Any:
    """``x @ weight + bias``; x: (..., in), weight: (in, out), bias: (out,). Others call it Linear or Dense."""
    return np.matmul(x, weight) + bias


def _rows(a: Any) -> Any:
    """``a`` as a matrix: all axes but the last in one."""
    return a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def _affine_forward(x: Any, weight: Any, bias: Any) -> Any:
    if x.ndim < 2 or weight.ndim != 2 or bias.ndim != 1 or x.shape[-1] != weight.shape[0]:
        return NotImplemented
    ans = np.matmul(_rows(x), weight)
    ans += bias
    return ans.reshape(*x.shape[:-1], weight.shape[1]), None


def _affine_backward(g: Any, needs: Needs, x: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    rows, g2 = _rows(x), _rows(g)
    return (
        np.matmul(g2, weight.T).reshape(x.shape) if needs[0] else None,
        np.matmul(rows.T, g2) if needs[1] else None,
        np.matmul(np.ones(len(g2), g.dtype), g2) if needs[2] else None,  # a product beats a sum over the first axis
    )


affine = primitive(_affine, name="affine").reference(_affine).kernel(np.ndarray, _affine_forward, _affine_backward)


# --- layer_norm: (x - mean) / sqrt(var + eps) * gamma + beta --------------------------------------------------------


def _layer_norm(x: Any, gamma: Any, beta: Any, /, eps: float = 1e-5) -> Any:
    """``(x - mean) / sqrt(var + eps) * gamma + beta`` over the last axis, with the biased variance.

    x: (..., d); gamma, beta: (d,). Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4.
    """
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gamma + beta


def _layer_norm_forward(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    d = x.shape[-1]
    if not gamma.shape == beta.shape == (d,):
        return NotImplemented
    rows = _rows(x)
    averaging = np.full((d, 1), 1 / d if d else 0, x.dtype)  # mean as a product: several times faster than np.mean
    normed = rows - np.matmul(rows, averaging)
    deviation = np.einsum("ij,ij->i", normed, normed)[:, None]
    deviation *= 1 / d if d else 0
    deviation += eps
    np.sqrt(deviation, out=deviation)
    inverse = np.reciprocal(deviation, out=deviation)
    normed *= inverse
    ans = normed * gamma
    ans += beta
    return ans.reshape(x.shape), (normed, inverse)


def _layer_norm_backward(g: Any, needs: Needs, saved: Any, x_shape: Any, gamma: Any) -> tuple[Any, ...]:
    normed, inverse = saved
    n, d = normed.shape
    rows, ones = _rows(g), np.ones(n, g.dtype)
    scaled = rows * normed
    d_gamma = np.matmul(ones, scaled) if needs[1] else None
    d_beta = np.matmul(ones, rows) if needs[2] else None
    if not needs[0]:
        return None, d_gamma, d_beta
    # dx = (g' - mean(g') - normed * mean(g' * normed)) / std with g' = g * gamma
    along = np.matmul(scaled, gamma)[:, None]
    along *= 1 / d if d else 0
    np.multiply(normed, along, out=scaled)
    dx = rows * gamma
    dx -= np.matmul(dx, np.full((d, 1), 1 / d if d else 0, g.dtype))
    dx -= scaled
    dx *= inverse
    return dx.reshape(x_shape), d_gamma, d_beta


layer_norm = (
    primitive(_layer_norm, name="layer_norm")
    .reference(_layer_norm)
    .kernel(np.ndarray, _layer_norm_forward, _layer_norm_backward)
)


# --- cross_entropy: -log softmax(logits)[label] ---------------------------------------------------------------------

_REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def _cross_entropy(logits: Any, labels: Any, /, reduction: str = "mean") -> Any:
    """``-log softmax(logits)[label]``, averaged over all labels (``reduction``: "mean", "sum" or "none").

    logits: (..., classes) floating; labels: (...) integers in [0, classes).

    Raises:
        OutOfRangeError: a label is not in [0, classes).
    """
    check_labels(logits, labels, reduction)
    picked = np.take_along_axis(log_softmax(logits), labels[..., None], axis=-1)[..., 0]
    return _REDUCTIONS[reduction](-picked)


def check_labels(scores: Any, labels: Any, reduction: str, function: str = "cross_entropy") -> None:
    """Raise unless ``labels`` (...) are classes of ``scores`` (..., classes)."""
    if reduction not in _REDUCTIONS:
        raise ArgumentError(f"{function} takes reduction='mean', 'sum' or 'none', got {reduction!r}")
    if getattr(labels, "dtype", np.dtype(object)).kind not in "iu":
        raise DTypeError(f"{function} needs integer labels, got {getattr(labels, 'dtype', type(labels).__name__)}")
    if scores.shape[:-1] != labels.shape or not scores.ndim:
        raise ShapeError(
            f"{function} needs logits of shape (..., classes) and labels of shape (...), got {scores.shape} and "
            f"{labels.shape}"
        )
    classes = scores.shape[-1]
    if labels.size and (int(labels.min()) < 0 or int(labels.max()) >= classes):
        worst = int(labels.min()) if int(labels.min()) < 0 else int(labels.max())
        raise OutOfRangeError(
            f"{function} got the label {worst}, but logits have {classes} classes: 0 to {classes - 1}"
            + (f"; nn.{function}(..., ignore_index={worst}) leaves such labels out" if worst < 0 else "")
        )


def _cross_entropy_forward(logits: Any, labels: Any, reduction: str = "mean") -> tuple[Any, Any]:
    check_labels(logits, labels, reduction)
    rows = _rows(logits)
    probabilities = rows - np.max(rows, axis=-1, keepdims=True)
    picked = probabilities[np.arange(len(rows)), labels.ravel()]
    np.exp(probabilities, out=probabilities)
    total = np.sum(probabilities, axis=-1, keepdims=True)
    probabilities /= total
    return _REDUCTIONS[reduction](
        np.log(total[:, 0]).reshape(labels.shape) - picked.reshape(labels.shape)
    ), probabilities


def _cross_entropy_backward(g: Any, needs: Needs, saved: Any, logits_shape: Any, labels: Any, reduction: str) -> Any:
    """softmax(logits) - one_hot(label), for each row times its cotangent."""
    d = saved.copy()
    d[np.arange(len(d)), labels.ravel()] -= 1
    d *= g.reshape(-1, 1) if reduction == "none" else g * (1 / len(d) if reduction == "mean" and len(d) else 1)
    return d.reshape(logits_shape), None


cross_entropy = (
    primitive(_cross_entropy, name="cross_entropy")
    .reference(_cross_entropy)
    .kernel(np.ndarray, _cross_entropy_forward, _cross_entropy_backward)
)


# --- scaled_dot_product_attention: softmax(q k^T / sqrt(d)) v -------------------------------------------------------

_LOWEST = -1e30  # a masked score: exp(_LOWEST - max) is exactly 0, and a fully masked row stays finite


def _attention(
    query: Any, key: Any, value: Any, mask: Any = None, /, scale: float | None = None, num_heads: int = 1
) -> Any:
    """``softmax(q k^T * scale) v`` (Vaswani et al. 2017, arXiv:1706.03762, eq. 1), with ``num_heads`` heads side by side.

    query: (..., query, heads * d), key: (..., key, heads * d), value: (..., key, heads * e) -> (..., query, heads * e).
    mask: booleans, True = attend, that broadcast to (..., heads, query, key); a query with no key to attend to gives
    zeros. scale: 1 / sqrt(d) by default.
    """
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))  # (..., heads, length, d)
    weights = attention_weights(q, k, mask, scale)  # (..., heads, query, key)
    context = np.matmul(weights, v).swapaxes(-3, -2)  # (..., query, heads, e)
    return context.reshape(*context.shape[:-2], context.shape[-2] * context.shape[-1])


def split_heads(x: Any, num_heads: int) -> Any:
    """(..., length, heads * d) -> (..., heads, length, d)"""
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-3, -2)


def attention_weights(q: Any, k: Any, mask: Any = None, scale: float | None = None) -> Any:
    """``softmax(q k^T * scale)`` over the keys the mask allows; (..., query, d), (..., key, d) -> (..., query, key)."""
    scores = np.matmul(q, k.swapaxes(-1, -2)) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is None:
        return softmax(scores)
    return np.where(mask, softmax(np.where(mask, scores, _LOWEST)), 0.0)


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))  # views
    weights = np.matmul(q, k.swapaxes(-1, -2))
    weights *= 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    if mask is not None:
        np.copyto(weights, _LOWEST, where=~mask)
    weights -= _largest(weights)
    _softmax_in_place(weights, -1)
    if mask is not None and not mask.any(axis=-1).all():
        weights *= mask
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    np.matmul(weights, v, out=split_heads(ans, num_heads))
    return ans, weights


def _attention_backward(
    g: Any,
    needs: Needs,
    query: Any,
    key: Any,
    value: Any,
    ans: Any,
    saved: Any,
    scale: float | None,
    num_heads: int,
) -> tuple[Any, ...]:
    q, k, v, do, o = (split_heads(t, num_heads) for t in (query, key, value, g, ans))
    dq, dk, dv = (np.empty(t.shape, t.dtype) for t in (query, key, value))
    np.matmul(saved.swapaxes(-1, -2), do, out=split_heads(dv, num_heads))
    ds = np.matmul(do, v.swapaxes(-1, -2))
    ds -= np.einsum("...i,...i->...", do, o)[..., None]  # sum_j w_j dw_j = do . o: a shorter sum than over the keys
    ds *= saved
    ds *= 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    np.matmul(ds, k, out=split_heads(dq, num_heads))
    np.matmul(ds.swapaxes(-1, -2), q, out=split_heads(dk, num_heads))
    return dq, dk, dv, None


scaled_dot_product_attention = primitive(_attention, name="attention").reference(_attention)
scaled_dot_product_attention.kernel(np.ndarray, _attention_forward, _attention_backward)
