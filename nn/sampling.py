"""Sample the next token from its scores, with temperature, top-k and top-p.

The functions compute on the host and in double precision, so that the same seed draws the same tokens on every device.
"""

from typing import Any

import numpy as np

from minigrad import ArgumentError, OutOfRangeError, ShapeError, softmax
from minigrad.internal import TensorLike, to_host

from ._checks import check_positive, given, is_number, plain, plain_numbers, shown
from .init import check_generator

Array = np.ndarray[Any, Any]
_FEW = 256  # tokens sorted first to find a nucleus; most nuclei are smaller, and sorting the vocabulary is slow
_MORE = 16  # the growth factor of the number of sorted tokens while the nucleus is larger


def apply_temperature(logits: "TensorLike", temperature: float) -> Array:
    """Return ``logits / temperature``, up to a constant in each row: (..., vocabulary) -> the same shape, float64.

    A temperature below 1 makes probable tokens even more probable; one above 1 makes them less probable. Temperature 0 keeps
    only the most probable token (the first of several) and gives -inf to the others. Source: Ackley, Hinton and Sejnowski 1985,
    Cognitive Science 9. The result is an array without a gradient; to train with a temperature, divide the logits by it.

    Raises:
        ArgumentError: the temperature is negative or not finite.

    Example:
        >>> import nn
        >>> from minigrad import softmax
        >>> for temperature in (2.0, 1.0, 0.5, 0.0):
        ...     print(softmax(nn.apply_temperature([1.0, 0.0], temperature)).round(2))
        [0.62 0.38]
        [0.73 0.27]
        [0.88 0.12]
        [1. 0.]
    """
    if not is_number(temperature) or not 0 <= temperature < np.inf:
        raise ArgumentError(
            f"temperature must be a number >= 0, got {shown(temperature)}: 0 takes the most probable token"
        )
    logits = _checked(logits)
    if not temperature:
        return np.where(np.arange(logits.shape[-1]) == logits.argmax(axis=-1)[..., None], logits, -np.inf)
    # The largest logit is subtracted, which softmax ignores, so that a small temperature cannot overflow to inf.
    with np.errstate(over="ignore"):  # overflow to -inf is correct
        return (logits - logits.max(axis=-1, keepdims=True)) / temperature


def keep_top_k(logits: "TensorLike", k: int) -> Array:
    """Keep the k largest logits of each row and set the others to -inf: (..., vocabulary) -> the same shape, float64.

    Exactly k logits are kept, or all if the vocabulary is smaller. Among equal logits, the first are kept. The result is an
    array without a gradient. Source: Fan et al. 2018, arXiv:1805.04833, section 5.

    Raises:
        ArgumentError: k is not a positive integer.

    Example:
        >>> import nn
        >>> nn.keep_top_k([1.0, 3.0, 2.0], 2)
        array([-inf,   3.,   2.])
    """
    check_positive(k=k)
    logits = _checked(logits)
    return np.where(_are_largest(logits, k), logits, -np.inf)


def keep_top_p(logits: "TensorLike", p: float) -> Array:
    """Keep the logits of the nucleus and set the others to -inf: (..., vocabulary) -> the same shape, float64.

    The nucleus is the smallest set of most probable tokens whose probabilities, ``softmax(logits)``, add up to at least p. It
    takes the first of equally probable tokens. The result is an array without a gradient. Source: Holtzman et al. 2019,
    arXiv:1904.09751, eq. 2.

    Raises:
        ArgumentError: p is not in (0, 1].

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([0.5, 0.3, 0.2])
        >>> np.isfinite(nn.keep_top_p(logits, 0.7))  # 0.5 does not reach 0.7, 0.5 + 0.3 does
        array([ True,  True, False])
    """
    _check_top_p("p", p)
    logits = _checked(logits)
    if p == 1:  # rounding could drop improbable tokens
        return logits
    every, count = softmax(logits), _FEW
    while True:
        order = _most_probable_first(logits, count)
        probabilities = np.take_along_axis(every, order, axis=-1)
        before = np.cumsum(probabilities, axis=-1) - probabilities  # the sum over more probable tokens
        if count >= logits.shape[-1] or (before[..., -1] >= p).all():
            break
        count *= _MORE
    kept = np.zeros(logits.shape, bool)
    np.put_along_axis(kept, order, before < p, axis=-1)
    return np.where(kept, logits, -np.inf)


def token_probabilities(
    logits: "TensorLike", *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Array:
    """Return the probabilities that :func:`sample_tokens` draws from, (..., vocabulary) float64, without a gradient.

    They are ``softmax(keep_top_p(keep_top_k(apply_temperature(logits, temperature), top_k), top_p))``; None keeps every token.

    Raises:
        ArgumentError: a setting is out of its range.
        ShapeError: the last axis of logits is missing or empty.
        OutOfRangeError: a logit is NaN or inf, or all logits of a row are -inf.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([0.5, 0.3, 0.2])
        >>> nn.token_probabilities(logits, top_k=2).round(3)  # 0.5 and 0.3, divided by their sum
        array([0.625, 0.375, 0.   ])
    """
    check_positive(**given(top_k=top_k))
    if top_p is not None:
        _check_top_p("top_p", top_p)
    logits = apply_temperature(logits, temperature)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return softmax(logits)


def sample_tokens(
    logits: "TensorLike",
    *,
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Array:
    """Draw one token per row of logits from :func:`token_probabilities`: (..., vocabulary) -> (...) integers.

    The draw inverts the cumulative distribution at a uniform random number. Each row takes one number from ``rng``.

    Raises:
        ArgumentError, ShapeError, OutOfRangeError: as in :func:`token_probabilities`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([[0.5, 0.4, 0.1]] * 1000)
        >>> tokens = nn.sample_tokens(logits, rng=np.random.default_rng(0), top_k=2)
        >>> tokens.shape, np.unique(tokens).tolist()
        ((1000,), [0, 1])
    """
    check_generator(rng)
    if top_k is top_p is None and is_number(temperature) and not temperature:  # the choice is determined
        most_probable = _checked(logits).argmax(axis=-1)
        rng.random(most_probable.shape)
        return most_probable
    probabilities = token_probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    uniform = rng.random((*probabilities.shape[:-1], 1))
    cumulative = np.cumsum(probabilities, axis=-1)
    threshold = uniform * cumulative[..., -1:]  # the sum is 1 up to rounding
    return (cumulative <= threshold).sum(axis=-1)  # the first token that takes the sum beyond the threshold


def _check_top_p(name: str, p: float) -> None:
    if not is_number(p) or not 0 < p <= 1:
        raise ArgumentError(f"{name} must be in (0, 1], got {shown(p)}: 1 keeps every token")


def _checked(logits: "TensorLike") -> Array:
    """Return the logits on the host, in double precision, and check their shape and values."""
    array = plain_numbers(to_host(plain(logits, "logits")), "logits").astype(np.float64, copy=False)
    if not array.ndim or not array.shape[-1]:
        raise ShapeError(f"logits must have the shape (..., vocabulary), got {array.shape}")
    largest = array.max(axis=-1)
    if not np.isfinite(largest).all():
        found = np.isnan(largest).any(), (largest == np.inf).any(), True
        worst = ("nan", "inf", "-inf for every token of a row")[found.index(True)]
        raise OutOfRangeError(f"logits must be finite, or -inf for a token that is excluded, got {worst}")
    return array


def _are_largest(logits: Array, k: int) -> Array:
    """Return whether each logit is one of the k largest of its row: exactly k are, and the first among equal logits."""
    if k >= logits.shape[-1]:
        return np.ones(logits.shape, bool)
    least = np.partition(logits, -k, axis=-1)[..., -k, None]  # sorting whole rows would take several times as long
    found = logits >= least
    if found.sum() > k * least.size:
        more = logits > least
        found = more | ((logits == least) & (np.cumsum(found ^ more, axis=-1) <= k - more.sum(axis=-1, keepdims=True)))
    return found


def _most_probable_first(logits: Array, count: int) -> Array:
    """Return the indices of the ``count`` largest logits (or of all) in each row, largest first; ties keep their order."""
    if count >= logits.shape[-1]:
        return np.argsort(-logits, axis=-1, kind="stable")
    indices = np.nonzero(_are_largest(logits, count))[-1].reshape(*logits.shape[:-1], count)  # increasing in each row
    order = np.argsort(-np.take_along_axis(logits, indices, axis=-1), axis=-1, kind="stable")
    return np.take_along_axis(indices, order, axis=-1)
