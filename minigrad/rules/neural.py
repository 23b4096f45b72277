"""The fused functions of neural networks.

Each stands here three times, one below the other: the forward in plain NumPy, its derivative (rules, or a *reference*
composition of other primitives), and a kernel for NumPy arrays that saves passes over memory. The tests hold the three
together at first and second order; ``reference_mode()`` switches the kernels off.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._half import in_float32
from .._threads import BLOCK, PARTS, in_blocks, in_parts
from ..device import check_range
from ..engine.primitive import primitive
from ..errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from .special import erf

Needs = Sequence[bool]
_KEPT = 1 << 15  # numbers in the longest vector of ones that is kept, 128 KiB in float32


def ones(n: int, dtype: Any, value: float = 1.0) -> Any:
    """A vector that turns sums (or means) into products, which are several times faster. It is not to be written to."""
    return _filled(n, dtype, value) if n <= _KEPT else np.full(n, value, dtype)


@functools.lru_cache(maxsize=64)
def _filled(n: int, dtype: Any, value: float) -> Any:
    vector = np.full(n, value, dtype)
    vector.flags.writeable = False
    return vector


def as_rows(a: Any) -> Any:
    """``a`` as a matrix: all axes but the last in one."""
    return a.reshape(-1, a.shape[-1]) if a.size else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def row_sums(rows: Any, weights: Any, out: Any = None) -> Any:
    """``rows @ weights``, the sum of each row with these weights."""
    if len(weights) == 5:  # of float32 rows of 5 OpenBLAS reads a number that nobody wrote: if it is a NaN, NumPy warns
        return np.vecdot(rows, weights, out=out)
    return rows.dot(weights, out)


# --- softmax: exp(x) / sum exp(x) -----------------------------------------------------------------------------------


_MODERATE = 30.0  # exp of nothing larger can make a sum overflow: no largest score need be subtracted
LOWEST = -1e30  # a masked score: exp(LOWEST - max) is exactly 0, and a fully masked row stays finite


def _largest(x: Any, axis: int = -1) -> Any:
    """What is subtracted before exp; 0 along an axis of length 0, which has no maximum (and CuPy's max no ``initial``)."""
    return x.max(axis=axis, keepdims=True) if x.size else x.sum(axis=axis, keepdims=True)


@in_float32
def _softmax(x: Any, /, axis: int = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along ``axis``, stable for large inputs: the maximum is subtracted first."""
    e = np.exp(x - _largest(x, axis))
    return e / np.sum(e, axis=axis, keepdims=True)


def _softmax_forward(x: Any, axis: int = -1) -> Any:
    if axis not in (-1, x.ndim - 1):
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)

    def some(x: Any, result: Any) -> None:
        np.copyto(result, x)
        softmax_in_place(result)

    in_blocks(some, as_rows(x), as_rows(ans))
    return ans, None


def softmax_in_place(scores: Any, allowed: Any = None) -> None:
    """The softmax along the last axis, over what is allowed (booleans that broadcast); zeros for the rest."""
    if not scores.size:
        return
    moderate = scores.max() <= _MODERATE and scores.min() >= -_MODERATE
    if not moderate:  # the largest of each row takes far longer to find
        if allowed is not None:
            np.copyto(scores, LOWEST, where=~allowed)
        scores -= np.max(scores, axis=-1, keepdims=True)
        normal = np.log(np.finfo(scores.dtype).tiny)
        if scores.min() < normal:  # numbers too small to be normal make a product 200 times slower: let them be 0
            np.copyto(scores, -np.inf, where=scores < normal)
    np.exp(scores, out=scores)
    if allowed is not None:
        scores *= allowed
    total = row_sums(as_rows(scores), ones(scores.shape[-1], scores.dtype))  # several times faster than np.sum
    np.maximum(total, np.finfo(total.dtype).tiny, out=total)  # in a row in which nothing is allowed it is 0
    np.reciprocal(total, out=total)
    scores *= total.reshape(scores.shape[:-1] + (1,))
    if not moderate and allowed is not None:
        np.copyto(scores, 0, where=~allowed)  # in a row with NaN, too


def _softmax_backward(g: Any, needs: Needs, ans: Any) -> tuple[Any]:
    dx = np.empty(ans.shape, ans.dtype)

    def some(g: Any, ans: Any, d: Any) -> None:
        np.multiply(g, ans, out=d)
        d -= ans * row_sums(d, ones(d.shape[-1], d.dtype))[:, None]

    in_blocks(some, as_rows(g), as_rows(ans), as_rows(dx))
    return (dx,)


softmax = primitive(_softmax, name="softmax").vjp(
    x=lambda g, ans, axis: ans * (g - np.sum(g * ans, axis=axis, keepdims=True))
)
softmax.kernel(np.ndarray, _softmax_forward, _softmax_backward)


# --- log_softmax: x - log sum exp(x) --------------------------------------------------------------------------------


@in_float32
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


def _relu_forward(x: Any) -> tuple[Any, None]:
    ans = np.empty(x.shape, x.dtype)
    zeros = _filled(BLOCK, x.dtype, 0.0)  # NumPy compares two arrays three times as fast as an array and a number
    in_blocks(lambda x, result: np.maximum(x, zeros[: len(x)], out=result), x.reshape(-1), ans.reshape(-1))
    return ans, None


def _relu_backward(g: Any, needs: Needs, ans: Any) -> tuple[Any]:
    dx = np.empty(ans.shape, ans.dtype)
    in_blocks(lambda g, ans, d: np.multiply(g, ans > 0, out=d), g.reshape(-1), ans.reshape(-1), dx.reshape(-1))
    return (dx,)


relu = primitive(_relu, name="relu").vjp(x=lambda g, ans: g * (ans > 0))
relu.kernel(np.ndarray, _relu_forward, _relu_backward)


def _sigmoid(x: Any, /) -> Any:
    """``1 / (1 + exp(-x))``, without overflow: ``exp(x) / (1 + exp(x))`` where x is negative."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1 + e)


sigmoid = primitive(_sigmoid, name="sigmoid").vjp(x=lambda g, ans: g * ans * (1 - ans))


def _silu(x: Any, /) -> Any:
    """``x * sigmoid(x)``, which others call swish. Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2."""
    return x * _sigmoid(x)


silu = primitive(_silu, name="silu").vjp(x=lambda g, x: g * sigmoid(x) * (1 + x * (1 - sigmoid(x))))

_TANH_SCALE, _TANH_CUBIC = math.sqrt(2 / math.pi), 0.044715


@in_float32
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
    if approximate not in ("none", "tanh"):
        return NotImplemented
    ans, saved = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)

    def exact(x: Any, cdf: Any, y: Any) -> None:
        np.add(erf(x * math.sqrt(0.5)), 1, out=cdf)
        cdf *= 0.5
        np.multiply(x, cdf, out=y)

    def with_tanh(x: Any, t: Any, y: Any) -> None:
        np.multiply(x, x, out=t)
        t *= _TANH_CUBIC
        t += 1
        t *= x
        t *= _TANH_SCALE
        np.tanh(t, out=t)
        np.add(t, 1, out=y)
        y *= x
        y *= 0.5

    in_blocks(exact if approximate == "none" else with_tanh, x.reshape(-1), saved.reshape(-1), ans.reshape(-1))
    return ans, saved


def _gelu_backward(g: Any, needs: Needs, x: Any, saved: Any, approximate: str) -> tuple[Any]:
    dx = np.empty(x.shape, x.dtype)

    def exact(x: Any, cdf: Any, g: Any, d: Any) -> None:
        """Phi(x) + x exp(-x^2/2) / sqrt(2 pi)"""
        np.multiply(x, x, out=d)
        d *= -0.5
        np.exp(d, out=d)
        d *= x
        d *= 1 / math.sqrt(2 * math.pi)
        d += cdf
        d *= g

    def with_tanh(x: Any, t: Any, g: Any, d: Any) -> None:
        """(1 + t)/2 + x (1 - t^2)/2 * sqrt(2/pi) (1 + 3 * 0.044715 x^2)"""
        np.multiply(x, x, out=d)
        d *= 3 * _TANH_CUBIC
        d += 1
        d *= x
        d *= 0.5 * _TANH_SCALE
        other = t * t
        np.subtract(1, other, out=other)
        d *= other
        np.multiply(t, 0.5, out=other)
        d += other
        d += 0.5
        d *= g

    flat = (array.reshape(-1) for array in (x, saved, g, dx))
    in_blocks(exact if approximate == "none" else with_tanh, *flat)
    return (dx,)


gelu = primitive(_gelu, name="gelu").reference(_gelu).kernel(np.ndarray, _gelu_forward, _gelu_backward)


# --- affine: x W + b ------------------------------------------------------------------------------------------------


def _affine(x: Any, weight: Any, bias: Any, /) -> Any:
    """``x @ weight + bias``; x: (..., in), weight: (in, out), bias: (out,). Others call it Linear or Dense."""
    return np.matmul(x, weight) + bias


# Numbers, in as well as out, from which on a product is divided among minigrad's own threads. Smaller ones are left to those
# of NumPy's library, which would be in the way of ours (_blas.py).
_LARGE_PRODUCT = 1 << 17


def part_of_rows(n: int, i: int) -> slice:
    return slice(n * i // PARTS, n * (i + 1) // PARTS)


def divides(rows: Any, columns: int) -> bool:
    """Whether ``rows @ weight``, with so many columns, is dealt out to minigrad's own threads. Only the shapes decide."""
    return min(rows.size, len(rows) * columns) >= _LARGE_PRODUCT


def _affine_forward(x: Any, weight: Any, bias: Any) -> Any:
    if x.ndim < 2 or weight.ndim != 2 or bias.ndim != 1 or x.shape[-1] != weight.shape[0]:
        return NotImplemented
    if not weight.dtype == bias.dtype == x.dtype:  # integers
        return NotImplemented
    rows, n = as_rows(x), x.size // max(x.shape[-1], 1)
    if not divides(rows, weight.shape[1]):
        ans = rows.dot(weight)  # of matrices the same as np.matmul, which takes longer to start
        ans += bias
    else:
        ans = np.empty((n, weight.shape[1]), x.dtype)

        def some(start: int, stop: int) -> None:
            for part in (part_of_rows(n, i) for i in range(start, stop)):
                np.matmul(rows[part], weight, out=ans[part])
                ans[part] += bias

        in_parts(some, PARTS, x.size * weight.shape[1])
    return ans.reshape(x.shape[:-1] + weight.shape[1:]), None


def _affine_backward(g: Any, needs: Needs, x: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    rows, g2 = as_rows(x), as_rows(g)
    sums = ones(len(g2), g.dtype)
    if not divides(rows, weight.shape[1]):
        return (
            g2.dot(weight.T).reshape(x.shape) if needs[0] else None,
            rows.T.dot(g2) if needs[1] else None,
            sums.dot(g2) if needs[2] else None,
        )
    dx, db = np.empty(rows.shape, x.dtype), np.empty((PARTS, *bias.shape), x.dtype)
    by_columns = PARTS * weight.size > rows.size  # then a sum for each part would take more memory than x
    dw = np.empty(weight.shape if by_columns else (PARTS, *weight.shape), x.dtype)

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):
            part, columns = (part_of_rows(n, i) for n in g2.shape)
            if needs[0]:
                np.matmul(g2[part], weight.T, out=dx[part])
            if needs[1] and by_columns:
                np.matmul(rows.T, g2[:, columns], out=dw[:, columns])
            elif needs[1]:
                np.matmul(rows[part].T, g2[part], out=dw[i])
            if needs[2]:
                np.matmul(sums[part], g2[part], out=db[i])

    in_parts(some, PARTS, x.size * weight.shape[1])
    if needs[1] and not by_columns:
        dw = dw.sum(axis=0)
    return dx.reshape(x.shape) if needs[0] else None, dw if needs[1] else None, db.sum(axis=0) if needs[2] else None


affine = primitive(_affine, name="affine").reference(_affine).kernel(np.ndarray, _affine_forward, _affine_backward)


# --- layer_norm: (x - mean) / sqrt(var + eps) * gamma + beta --------------------------------------------------------


@in_float32
def _layer_norm(x: Any, gamma: Any, beta: Any, /, eps: float = 1e-5) -> Any:
    """``(x - mean) / sqrt(var + eps) * gamma + beta`` over the last axis, with the biased variance.

    x: (..., d); gamma, beta: (d,). Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4.
    """
    centred = x - np.mean(x, axis=-1, keepdims=True)
    centred = centred - np.mean(centred, axis=-1, keepdims=True)  # what rounding left: all of almost equal numbers
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gamma + beta


def _layer_norm_forward(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    d = x.shape[-1]
    if not d or not gamma.shape == beta.shape == (d,):
        return NotImplemented
    ans, inverse = np.empty(x.shape, x.dtype), np.empty((x.size // d, 1), x.dtype)
    normed, share = np.empty((x.size // d, d), x.dtype), ones(d, x.dtype, 1 / d)

    def some(x: Any, y: Any, scale: Any, result: Any) -> None:
        np.subtract(x, row_sums(x, share)[:, None], out=y)
        y -= row_sums(y, share)[:, None]  # what rounding left: all that there is of a row of almost equal numbers
        row_sums(np.multiply(y, y, out=result), share, out=scale[:, 0])
        scale += eps
        np.sqrt(scale, out=scale)
        y *= np.reciprocal(scale, out=scale)
        np.multiply(y, gamma, out=result)
        result += beta

    in_blocks(some, as_rows(x), normed, inverse, as_rows(ans))
    return ans, (normed, inverse)


def _layer_norm_backward(g: Any, needs: Needs, saved: Any, x_shape: Any, gamma: Any) -> tuple[Any, ...]:
    normed, inverse = saved
    dx, shares = np.empty(normed.shape, normed.dtype), gamma * (1 / len(gamma))

    def some(y: Any, g: Any, scale: Any, result: Any) -> tuple[Any, Any]:
        """dx = (g' - mean(g') - normed * mean(g' * normed)) / std with g' = g * gamma."""
        scaled, sums = g * y, ones(len(g), g.dtype)
        d_gamma, d_beta = sums.dot(scaled), sums.dot(g)
        if needs[0]:
            along = row_sums(scaled, shares)[:, None]
            np.multiply(g, gamma, out=result)
            result -= row_sums(g, shares)[:, None]
            result -= np.multiply(y, along, out=scaled)
            result *= scale
        return d_gamma, d_beta

    sums = in_blocks(some, normed, as_rows(g), inverse, dx)
    d_gamma, d_beta = sums[0] if len(sums) == 1 else (sum(parts[1:], start=parts[0]) for parts in zip(*sums))
    return dx.reshape(x_shape) if needs[0] else None, d_gamma if needs[1] else None, d_beta if needs[2] else None


layer_norm = (
    primitive(_layer_norm, name="layer_norm")
    .reference(_layer_norm)
    .kernel(np.ndarray, _layer_norm_forward, _layer_norm_backward)
)


# --- cross_entropy: -log softmax(logits)[label] ---------------------------------------------------------------------

_REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


@in_float32
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
    check_range(
        labels,
        classes,
        lambda worst: OutOfRangeError(
            f"{function} got the label {worst}, but logits have {classes} classes: 0 to {classes - 1}"
            + (f"; nn.{function}(..., ignore_index={worst}) leaves such labels out" if worst < 0 else "")
        ),
    )


def _cross_entropy_forward(logits: Any, labels: Any, reduction: str = "mean") -> tuple[Any, Any]:
    check_labels(logits, labels, reduction)
    rows = as_rows(logits)
    n, classes = rows.shape
    probabilities = rows - _largest(rows)
    picked = probabilities[np.arange(n), labels.reshape(-1)]
    np.exp(probabilities, out=probabilities)
    total = row_sums(probabilities, ones(classes, rows.dtype))
    probabilities /= total[:, None]
    losses = np.log(total)
    losses -= picked
    if reduction == "mean" and n:
        return losses.dot(ones(n, rows.dtype, 1 / n)), probabilities
    return _REDUCTIONS[reduction](losses.reshape(labels.shape)), probabilities


def _cross_entropy_backward(g: Any, needs: Needs, saved: Any, logits_shape: Any, labels: Any, reduction: str) -> Any:
    """softmax(logits) - one_hot(label), for each row times its cotangent."""
    d = saved.copy()
    d[np.arange(len(d)), labels.reshape(-1)] -= 1
    d *= g.reshape(-1, 1) if reduction == "none" else g * (1 / len(d) if reduction == "mean" and len(d) else 1)
    return d.reshape(logits_shape), None


cross_entropy = (
    primitive(_cross_entropy, name="cross_entropy")
    .reference(_cross_entropy)
    .kernel(np.ndarray, _cross_entropy_forward, _cross_entropy_backward)
)
