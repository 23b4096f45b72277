"""Einstein summation: ``np.einsum("ij,jk->ik", a, b)`` over any number of arrays.

The derivative of a sum of products with respect to one factor is a sum of the other products, so it is an einsum too:
the operand's labels become the output, and the cotangent takes its place among the inputs.
"""

from typing import Any

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .linalg import identity

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order in which implicit output sorts them


def _einsum_call(*operands: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """``einsum("ij,jk", a, b)`` or ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    if operands and isinstance(operands[0], str):
        return operands[1:], {"subscripts": operands[0], **keywords}
    arrays, labels = operands[: len(operands) // 2 * 2 : 2], [_letters(part) for part in operands[1::2]]
    subscripts = ",".join(labels) + (f"->{_letters(operands[-1])}" if len(operands) % 2 else "")
    return arrays, {"subscripts": subscripts, **keywords}


def _letters(labels: Any) -> str:
    try:
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)
    except (TypeError, IndexError) as error:
        raise ArgumentError(
            f"einsum takes a string of subscripts first, or pairs of an array and a list of labels in 0 ... 51: {error}"
        ) from error


def _explicit(subscripts: str, ndims: list[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the output, with the dots spelled out and an implied output written down."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        used = inputs.replace(",", "").replace(".", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(used) if used.count(c) == 1))
    fresh = [letter for letter in _LETTERS if letter not in subscripts]
    counts = [ndim - len(term.replace(".", "")) if "." in term else 0 for term, ndim in zip(terms, ndims)]
    dots = "".join(fresh[: max(counts, default=0)])
    spelled = [term.replace("...", dots[len(dots) - count :]) for term, count in zip(terms, counts)]
    return spelled, output.replace("...", dots)


def _einsum_rule(g: Array, i: int, args: list[Array], subscripts: str, optimize: Any) -> Array:
    terms, output = _explicit(subscripts, [np.ndim(a) for a in args])
    mine, shape = terms[i], np.shape(args[i])
    factors, others = [g, *args[:i], *args[i + 1 :]], [output, *terms[:i], *terms[i + 1 :]]
    labels = "".join(dict.fromkeys(mine))
    known = "".join(label for label in labels if any(label in other for other in others))
    sums = np.einsum(f"{','.join(others)}->{known}", *factors, optimize=optimize)
    # A label that stands in no other term was summed over: there the cotangent is the same all along.
    sums = np.reshape(sums, [sums.shape[known.index(c)] if c in known else 1 for c in labels])
    sums = np.broadcast_to(sums, [max(n, shape[mine.index(c)]) for c, n in zip(labels, sums.shape)])
    return _on_diagonal(sums, labels, mine)


def _on_diagonal(array: Array, labels: str, repeated: str) -> Array:
    """Zeros with ``array`` on the diagonal that a repeated label picks: the transpose of ``"ii->i"``."""
    fresh = iter([letter for letter in _LETTERS if letter not in repeated])
    seen, target, terms, factors = "", "", [labels], [array]
    for label in repeated:
        if label in seen:
            copy = next(fresh)
            terms.append(label + copy)
            factors.append(identity(array.shape[labels.index(label)], array))
            target += copy
        else:
            target += label
        seen += label
    return np.einsum(f"{','.join(terms)}->{target}", *factors) if len(terms) > 1 else array


einsum = primitive(
    np.einsum,
    lambda *operands, subscripts, optimize=False: np.einsum(subscripts, *operands, optimize=optimize),
    bind=_einsum_call,
).vjp_each(_einsum_rule)
