"""Einstein summation: ``np.einsum("ij,jk->ik", a, b)`` over any number of arrays.

The derivative of a sum of products with respect to one operand is a sum of products of the others, so it is an einsum too:
the labels of the operand become the output, and the cotangent replaces the operand among the inputs.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .about import about
from .linalg import identity

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # labels, in the order of an implicit output


def _einsum_call(*operands: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Accept both forms, ``einsum("ij,jk", a, b)`` and ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    if operands and isinstance(operands[0], str):
        return operands[1:], {"subscripts": operands[0], **keywords}
    arrays, labels = operands[: len(operands) // 2 * 2 : 2], [_letters(part) for part in operands[1::2]]
    subscripts = ",".join(labels) + (f"->{_letters(operands[-1])}" if len(operands) % 2 else "")
    return arrays, {"subscripts": subscripts, **keywords}


def _letters(labels: Any) -> str:
    try:
        return "".join("..." if label is Ellipsis else LETTERS[label] for label in labels)
    except (TypeError, IndexError) as error:
        raise ArgumentError(
            f"einsum takes a string of subscripts first, or pairs of an array and a list of labels in 0 ... 51: {error}"
        ) from error


@lru_cache(maxsize=256)
def explicit(subscripts: str, ndims: tuple[int, ...]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the output; dots become letters, and an implied output becomes explicit."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        used = inputs.replace(",", "").replace(".", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(used) if used.count(c) == 1))
    fresh = [letter for letter in LETTERS if letter not in subscripts]
    counts = [ndim - len(term.replace(".", "")) if "." in term else 0 for term, ndim in zip(terms, ndims)]
    dots = "".join(fresh[: max(counts, default=0)])
    spelled = [term.replace("...", dots[len(dots) - count :]) for term, count in zip(terms, counts)]
    return spelled, output.replace("...", dots)


def contracted(*operands: Array, subscripts: str, optimize: Any = False) -> Any:
    return np.einsum(subscripts, *operands, optimize=optimize)


def _einsum_rule(g: Array, i: int, args: list[Array], subscripts: str, optimize: Any) -> Array:
    terms, output = explicit(subscripts, tuple([np.ndim(a) for a in args]))
    factors, others = [g, *args[:i], *args[i + 1 :]], [output, *terms[:i], *terms[i + 1 :]]
    return contraction(factors, others, terms[i], np.shape(args[i]), optimize)


def contraction(factors: list[Array], terms: list[str], mine: str, shape: tuple[int, ...], optimize: Any) -> Array:
    """Return the sum of products with the labels ``mine`` of an operand of this shape, which may miss or repeat some."""
    others = ",".join(terms)
    labels = "".join(dict.fromkeys(mine))
    known = "".join(label for label in labels if label in others)
    sums = einsum(*factors, subscripts=f"{others}->{known}", optimize=optimize)
    if known == mine and sums.shape == shape:
        return sums
    # A label that occurs in no other term was summed over, so the cotangent is constant along it.
    sums = np.reshape(sums, [sums.shape[known.index(c)] if c in known else 1 for c in labels])
    sums = np.broadcast_to(sums, [shape[mine.index(c)] if n == 1 else n for c, n in zip(labels, sums.shape)])
    return _on_diagonal(sums, labels, mine)


def _on_diagonal(array: Array, labels: str, repeated: str) -> Array:
    """Return zeros with ``array`` on the diagonal that a repeated label picks: the transpose of ``"ii->i"``."""
    fresh = iter([letter for letter in LETTERS if letter not in repeated])
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


einsum: Primitive = primitive(np.einsum, contracted, bind=_einsum_call).vjp_each(_einsum_rule)


def _as_einsum(i: int, args: list[Array], subscripts: str) -> str | None:
    """Return the derivative as an einsum; None if labels are missing or repeated, or an ellipsis is used."""
    if "." in subscripts:
        return None
    terms, output = explicit(subscripts, tuple(map(np.ndim, args)))
    own, others = terms[i], [*terms[:i], *terms[i + 1 :]]
    if len(set(own)) < len(own) or not set(own) <= set(output).union(*others):
        return None
    operands = [f"args[{k}]" for k in range(len(terms)) if k != i]
    return f"einsum('{','.join([output, *others])}->{own}', {', '.join(['g', *operands])})"


about(
    einsum,
    product=True,
    notation="einsum(subscripts, *args)",
    formulas={"*": "einsum(g, others), with the axes of this operand"},
    for_shapes={"*": _as_einsum},
)
