"""One step of the NumPy article in plain NumPy: its forward pass, and its gradients by hand.

`network` is the same function for the tape and for `mg.write_numpy`. `by_hand` is a straight program without minigrad. It takes
the four rules that the article has wrong as an argument, so that they can be corrected one by one. `numpy_article.py` compares
the three.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

import minigrad as mg

Array = np.ndarray[Any, Any]
PARAMETERS = ("W_1", "b_1", "W_2", "b_2")
FIRST = 2  # the place of W_1 among the arguments, after x and t


def network(x: Any, t: Any, W_1: Any, b_1: Any, W_2: Any, b_2: Any) -> Any:
    """Return the loss of the article, the sum over the batch of ``-t log(y + 1e-7)``."""
    s_1 = x @ x.mT / math.sqrt(x.shape[-1])
    A_1 = mg.softmax(s_1)
    m_1 = A_1 @ x
    a = m_1 @ W_1 + b_1
    h = mg.softmax(a)
    s_2 = h @ h.mT / math.sqrt(h.shape[-1])
    A_2 = mg.softmax(s_2)
    m_2 = A_2 @ h
    z = np.sum(m_2 @ W_2 + b_2, axis=1)
    y = mg.softmax(z)
    loss = -np.sum(t * np.log(y + 1e-7))
    return loss


@dataclass(frozen=True)
class Rule:
    """One rule of a backward pass: its formula as text, and the function."""

    text: str
    of: Callable[..., Any]


@dataclass(frozen=True)
class Rules:
    """The four rules in which the article's gradient and the exact one differ.

    Attributes:
        loss: the gradient of the summed z, from y and t.
        softmax: the gradient of the input, from the result y and its gradient g.
        messages: the gradient of h in ``A @ h``, as far as it does not go through A.
        scores: the gradient of h in ``s = h @ h.mT / sqrt(d)``, from the gradient ds of s.
    """

    loss: Rule
    softmax: Rule
    messages: Rule
    scores: Rule


def _loss(y: Array, t: Array) -> Array:
    r = t * y / (y + 1e-7)
    return np.asarray(y * r.sum(axis=-1, keepdims=True) - r)


ARTICLE = Rules(
    loss=Rule("(y - t) / batch", lambda y, t: (y - t) / len(t)),
    softmax=Rule("g y (1 - y)", lambda y, g: g * y * (1 - y)),
    messages=Rule("A g", lambda A, g: A @ g),
    scores=Rule("2 ds h / √d", lambda h, ds: 2 * ds @ h / math.sqrt(h.shape[-1])),
)
EXACT = Rules(
    loss=Rule("y sum(r) - r, with r = t y / (y + 1e-7)", _loss),
    softmax=Rule("y (g - sum(g y))", lambda y, g: y * (g - (g * y).sum(axis=-1, keepdims=True))),
    messages=Rule("Aᵀ g", lambda A, g: A.mT @ g),
    scores=Rule("(ds + dsᵀ) h / √d", lambda h, ds: (ds + ds.mT) @ h / math.sqrt(h.shape[-1])),
)


def by_hand(
    x: Array, t: Array, W_1: Array, b_1: Array, W_2: Array, b_2: Array, *, rules: Rules = ARTICLE
) -> tuple[Array, ...]:
    """Return the loss and the gradients of W_1, b_1, W_2 and b_2.

    With the rules of the article, these are the gradients of the run that the article prints, in its first step. (Later steps
    add the gradients of all steps before, and use the input of the first step.)
    """
    s_1 = x @ x.mT / math.sqrt(x.shape[-1])
    e_1 = np.exp(s_1 - s_1.max(axis=-1, keepdims=True))
    A_1 = e_1 / e_1.sum(axis=-1, keepdims=True)
    m_1 = A_1 @ x
    a = m_1 @ W_1 + b_1
    e_h = np.exp(a - a.max(axis=-1, keepdims=True))
    h = e_h / e_h.sum(axis=-1, keepdims=True)
    s_2 = h @ h.mT / math.sqrt(h.shape[-1])
    e_2 = np.exp(s_2 - s_2.max(axis=-1, keepdims=True))
    A_2 = e_2 / e_2.sum(axis=-1, keepdims=True)
    m_2 = A_2 @ h
    z = np.sum(m_2 @ W_2 + b_2, axis=1)
    e_y = np.exp(z - z.max(axis=-1, keepdims=True))
    y = e_y / e_y.sum(axis=-1, keepdims=True)
    loss = -np.sum(t * np.log(y + 1e-7))

    dz = rules.loss.of(y, t)
    dtokens = np.repeat(dz[:, None], x.shape[1], axis=1)
    dW_2 = np.tensordot(m_2, dtokens, axes=((0, 1), (0, 1)))
    db_2 = dtokens.sum(axis=(0, 1))
    dm_2 = dtokens @ W_2.T
    dA_2 = dm_2 @ h.mT
    ds_2 = rules.softmax.of(A_2, dA_2)
    dh = rules.messages.of(A_2, dm_2) + rules.scores.of(h, ds_2)
    da = rules.softmax.of(h, dh)
    dW_1 = np.tensordot(m_1, da, axes=((0, 1), (0, 1)))
    db_1 = da.sum(axis=(0, 1))
    return loss, dW_1, db_1, dW_2, db_2


def tape(*arguments: Array) -> list[Array]:
    """Return the gradients of the parameters from the tape."""
    gradients = mg.grad(network, argnum=tuple(range(FIRST, len(arguments))))(*arguments)
    return [np.asarray(gradient) for gradient in gradients]


def finite_differences(*arguments: Array, step: float = 1e-5) -> list[Array]:
    """Return the gradients of the parameters as central differences of the loss of :func:`by_hand`."""
    gradients = []
    for place in range(FIRST, len(arguments)):
        gradient = np.zeros_like(arguments[place])
        for index in np.ndindex(gradient.shape):
            losses = []
            for moved_by in (step, -step):
                moved = [array.copy() for array in arguments]
                moved[place][index] += moved_by
                losses.append(by_hand(*moved)[0])
            gradient[index] = (losses[0] - losses[1]) / (2 * step)
        gradients.append(gradient)
    return gradients


def largest_difference(ones: Any, others: Any) -> float:
    return max(float(np.abs(one - other).max()) for one, other in zip(ones, others))


def error_of_each_rule(*arguments: Array) -> dict[str, float]:
    """Return the largest error in a gradient if one rule is the article's, and the other three are exact."""
    right = tape(*arguments)
    found = {}
    for field in fields(Rules):
        rules = replace(EXACT, **{field.name: getattr(ARTICLE, field.name)})
        found[field.name] = largest_difference(by_hand(*arguments, rules=rules)[1:], right)
    return found


def statements(function: Callable[..., Any] | str) -> int:
    """Return the number of statements in a function, without its docstring."""
    source = function if isinstance(function, str) else inspect.getsource(function)
    (defined,) = ast.parse(source).body
    assert isinstance(defined, ast.FunctionDef)
    inside = sum(isinstance(node, ast.stmt) for node in ast.walk(defined)) - 1
    return inside - (ast.get_docstring(defined) is not None)
