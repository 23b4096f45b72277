"""Losses as primitives. ``nn`` checks the arguments of its losses and calls these.

``reduction`` is "mean", "sum" or "none". It is a part of the primitive, so that the derivative is one array of the shape of the
input, without an array of ones for the sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import zeros
from ..engine.primitive import Primitive, primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from .about import about
from .axes import at_least_float32
from .neural import sigmoid
from .reductions import mean, sum

# The primitives and not NumPy's functions: they choose a kernel for plain arrays, too.
REDUCTIONS: dict[str, Any] = {"mean": mean, "sum": sum, "none": lambda losses: losses}


def of_each(g: Array, size: int, reduction: str) -> Array:
    """Return the cotangent of each loss, given that of their mean or sum."""
    return at_least_float32(g) / size if reduction == "mean" else g


def _times(t: Array, y: Array, /) -> Any:
    """Return ``t * y``, and 0 where t is 0, though y may be infinite or NaN: a share or a factor of 0 reads nothing."""
    return t * np.where(t == 0, 0, y)


times: Primitive = primitive(_times, name="times").vjp(t=lambda g, y: times(g, y), y=lambda g, t: times(t, g))


# --- the negative log-likelihood of labels --------------------------------------------------------------------------


def _at(labels: Array) -> tuple[Array, ...]:
    """Return the index of one element for each label: (..., classes) -> (...)."""
    ndim, shape = labels.ndim, labels.shape
    return (*[np.arange(n, like=labels).reshape((-1,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(shape)], labels)


def _minus_picked(scores: Array, labels: Array, /, reduction: str = "none") -> Any:
    """Return ``-scores[label]``, or the mean or sum of all: (..., classes), (...) -> (...)."""
    return REDUCTIONS[reduction](-scores[_at(labels)])


def _minus_placed(values: Array, labels: Array, /, classes: int) -> Any:
    """Return zeros (..., classes) with ``-value`` at the label. Each row has one label, so nothing has to be added."""
    placed = zeros((*labels.shape, classes), values)
    placed[_at(labels)] = -values
    return placed


minus_picked: Primitive = primitive(_minus_picked, name="minus_picked").vjp(
    scores=new_array(
        lambda g, labels, scores_shape, reduction: minus_placed(
            of_each(g, labels.size, reduction), labels, classes=scores_shape[-1]
        )
    )
)
minus_placed: Primitive = primitive(_minus_placed, name="minus_placed").vjp(
    values=lambda g, labels: minus_picked(g, labels)
)

# --- the squared error ----------------------------------------------------------------------------------------------

squared_error = primitive(
    lambda x, y, /, reduction="none": REDUCTIONS[reduction](np.square(x - y)), name="squared_error"
).vjp(
    x=lambda g, x, y, reduction: 2 * of_each(g, x.size, reduction) * (x - y),
    y=lambda g, x, y, reduction: 2 * of_each(g, x.size, reduction) * (y - x),
)

# --- the binary cross-entropy of logits -----------------------------------------------------------------------------

# Primitives with their own rules: |z| has a kink at 0, the loss has none, and sigmoid(z) - t loses small digits.
# (z >= 0) - t is 1 - t or -t.
binary_cross_entropy_slope = primitive(
    lambda z, t, /: ((z >= 0) - t) - np.copysign(sigmoid(-np.abs(z)), z + 0.0), name="binary_cross_entropy_slope"
).vjp(z=lambda g, z: g * sigmoid(z) * sigmoid(-z), t=lambda g: -g)
binary_cross_entropy_with_logits = primitive(
    lambda z, t, /, reduction="none": REDUCTIONS[reduction](
        times(np.abs((z >= 0) - t), magnitude := np.abs(z)) + np.log1p(np.exp(-magnitude))
    ),
    name="binary_cross_entropy_with_logits",
).vjp(
    z=lambda g, z, t, reduction: of_each(g, z.size, reduction) * binary_cross_entropy_slope(z, t),
    t=lambda g, z, reduction: -times(of_each(g, z.size, reduction), z),
)

# --- the binary cross-entropy of probabilities ----------------------------------------------------------------------


def _logs(p: Array) -> tuple[Any, Any]:
    """Return ``log(p)`` and ``log(1 - p)``, each at least -100, and precise for small p."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(p), -100), np.maximum(np.log1p(-p), -100)


def _binary_cross_entropy(p: Array, t: Array, /, reduction: str = "none") -> Any:
    log, log_of_rest = _logs(p)
    return REDUCTIONS[reduction](-(t * log + (1 - t) * log_of_rest))


def _by_targets(g: Array, p: Array, reduction: str) -> Any:
    log, log_of_rest = _logs(p)
    return of_each(g, p.size, reduction) * (log_of_rest - log)


# A primitive with its own rule: a composition would give NaN if p is 0 or 1, from 0 * log(0) and its derivative 0 / 0.
binary_cross_entropy = primitive(_binary_cross_entropy, name="binary_cross_entropy").vjp(
    p=lambda g, p, t, reduction: of_each(g, p.size, reduction) * (p - t) / np.maximum(p * (1 - p), 1e-12),
    t=_by_targets,
)
about(
    binary_cross_entropy,
    formulas={"t": "g * (log(1 - p) - log(p)), divided by the number of elements for the mean"},
)
