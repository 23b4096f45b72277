"""From the scores of the next token to a token: temperature, top-k and top-p, all of them functions of the scores alone.

They compute on the host and in double precision, so that the same seed draws the same tokens on every device.
"""

from numbers import Real
from typing import Any

import numpy as np

from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor, softmax
from minigrad.internal import to_host

from ._checks import check_positive
from .init import check_generator

Array = np.ndarray[Any, Any]
_FEW, _MORE = 256, 16  # so many tokens are sorted in search of a nucleus, and so many times more if it is larger


def apply_temperature(logits: Any, temperature: float) -> Array:
    """``logits / temperature``, (..., vocabulary): below 1 the probable tokens get more probable still, above 1 less.

    At temperature 0 only the most probable token is left (of equal ones the first), and the others get -inf. Ackley, Hinton and
    Sejnowski 1985, Cognitive Science 9. The result is an array, without a gradient: to train with a temperature, divide.

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
    if not isinstance(temperature, Real) or not 0 <= temperature < np.inf:
        raise ArgumentError(f"temperature must be a number >= 0, got {temperature!r}: 0 takes the most probable token")
    logits = _checked(logits)
    if not temperature:
        return np.where(np.arange(logits.shape[-1]) == logits.argmax(axis=-1)[..., None], logits, -np.inf)
    # Relative to the largest, so that a small temperature cannot overflow; softmax does not see the difference.
    with np.errstate(over="ignore"):  # -inf is right
        return (logits - logits.max(axis=-1, keepdims=True)) / temperature


def keep_top_k(logits: Any, k: int) -> Array:
    """The k largest logits of each row, and -inf for the others: (..., vocabulary) -> the same, without a gradient.

    Of equal logits the first are kept, so there are exactly k (all of them where the vocabulary is smaller). Fan et al. 2018,
    arXiv:1805.04833, section 5.

    Raises:
        ArgumentError: k is not a positive integer.

    Example:
        >>> import nn
        >>> nn.keep_top_k([1.0, 3.0, 2.0], 2)
        array([-inf,   3.,   2.])
    """
    check_positive(top_k=k)
    logits = _checked(logits)
    return np.where(_are_largest(logits, k), logits, -np.inf)


def keep_top_p(logits: Any, p: float) -> Array:
    """The logits of the nucleus, and -inf for the others: (..., vocabulary) -> the same, without a gradient.

    The nucleus is the smallest set of most probable tokens whose probabilities, ``softmax(logits)``, add up to at least p;
    of equally probable tokens the first. Holtzman et al. 2019, arXiv:1904.09751, eq. 2.

    Raises:
        ArgumentError: p is not in (0, 1].

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([0.5, 0.3, 0.2])
        >>> np.isfinite(nn.keep_top_p(logits, 0.7))  # 0.5 does not reach 0.7, 0.5 + 0.3 does
        array([ True,  True, False])
    """
    if not 0 < p <= 1:
        raise ArgumentError(f"top_p must be in (0, 1], got {p!r}: 1 keeps every token")
    logits = _checked(logits)
    if p == 1:  # rounding could lose the improbable ones
        return logits
    every, count = softmax(logits), _FEW
    while True:
        order = _most_probable_first(logits, count)
        probabilities = np.take_along_axis(every, order, axis=-1)
        before = np.cumsum(probabilities, axis=-1) - probabilities  # of the tokens that are more probable
        if count >= logits.shape[-1] or (before[..., -1] >= p).all():
            break
        count *= _MORE
    kept = np.zeros(logits.shape, bool)
    np.put_along_axis(kept, order, before < p, axis=-1)
    return np.where(kept, logits, -np.inf)


def token_probabilities(
    logits: Any, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Array:
    """The probabilities that :func:`sample_tokens` draws from, (..., vocabulary) float64, without a gradient.

    ``softmax(keep_top_p(keep_top_k(apply_temperature(logits, temperature), top_k), top_p))``; None keeps every token.

    Raises:
        ArgumentError: a setting is out of its range.
        ShapeError: there are no logits.
        OutOfRangeError: a logit is NaN or inf, or all logits of a row are -inf.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([0.5, 0.3, 0.2])
        >>> nn.token_probabilities(logits, top_k=2).round(3)  # 0.5 and 0.3, made to sum to 1
        array([0.625, 0.375, 0.   ])
    """
    logits = apply_temperature(logits, temperature)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return softmax(logits)


def sample_tokens(
    logits: Any,
    *,
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Array:
    """One token for each row of logits, drawn from :func:`token_probabilities`: (..., vocabulary) -> (...) integers.

    The draw inverts the cumulative distribution at one uniform number a row, whatever the settings are.

    Raises: as :func:`token_probabilities`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> logits = np.log([[0.5, 0.4, 0.1]] * 1000)
        >>> tokens = nn.sample_tokens(logits, rng=np.random.default_rng(0), top_k=2)
        >>> tokens.shape, np.unique(tokens).tolist()
        ((1000,), [0, 1])
    """
    check_generator(rng)
    if top_k is top_p is None and isinstance(temperature, Real) and not temperature:  # there is nothing to choose from
        most_probable = _checked(logits).argmax(axis=-1)
        rng.random(most_probable.shape)
        return most_probable
    probabilities = token_probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    uniform = rng.random((*probabilities.shape[:-1], 1))
    cumulative = np.cumsum(probabilities, axis=-1)
    threshold = uniform * cumulative[..., -1:]  # the sum is 1 up to rounding
    return (cumulative <= threshold).sum(axis=-1)  # the first token that takes the sum beyond the threshold


def _checked(logits: Any) -> Array:
    """The logits on the host, in double precision."""
    array = np.asarray(to_host(logits.data if isinstance(logits, Tensor) else logits), np.float64)
    if not array.ndim or not array.shape[-1]:
        raise ShapeError(f"logits must have the shape (..., vocabulary), got {array.shape}")
    largest = array.max(axis=-1)
    if not np.isfinite(largest).all():
        found = np.isnan(largest).any(), (largest == np.inf).any(), True
        worst = ("nan", "inf", "-inf for every token of a row")[found.index(True)]
        raise OutOfRangeError(f"logits must be finite, or -inf for a token that cannot be, got {worst}")
    return array


def _are_largest(logits: Array, k: int) -> Array:
    """Whether each is one of the k largest of its row, of which there are no more: of equal ones the first."""
    if k >= logits.shape[-1]:
        return np.ones(logits.shape, bool)
    least = np.partition(logits, -k, axis=-1)[..., -k, None]  # a sort of all of them would take several times as long
    found = logits >= least
    if found.sum() > k * least.size:
        more = logits > least
        found = more | ((logits == least) & (np.cumsum(found ^ more, axis=-1) <= k - more.sum(axis=-1, keepdims=True)))
    return found


def _most_probable_first(logits: Array, count: int) -> Array:
    """The places of the ``count`` largest of each row, or of all, the largest first; of equal ones the first."""
    if count >= logits.shape[-1]:
        return np.argsort(-logits, axis=-1, kind="stable")
    places = np.nonzero(_are_largest(logits, count))[-1].reshape(*logits.shape[:-1], count)  # rising in each row
    order = np.argsort(-np.take_along_axis(logits, places, axis=-1), axis=-1, kind="stable")
    return np.take_along_axis(places, order, axis=-1)
