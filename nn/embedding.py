"""A table with one vector per token id, and the output layer that computes one score per token id."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, affine, stop_gradient
from minigrad.internal import Array, TensorLike

from . import init
from ._checks import (
    as_given,
    as_ids,
    as_input,
    beside,
    check_kind,
    check_not_negative,
    check_positive,
    plain,
    with_columns,
)
from .module import DType, Module, Parameter


def embedding(ids: "TensorLike", weight: "TensorLike", *, padding_idx: int | None = None) -> Any:
    """Return ``weight[ids]``: ids (...) integers, weight (num_embeddings, d) -> (..., d); see :class:`nn.Embedding`.

    Raises:
        ArgumentError: padding_idx is not one of the ids.
        DTypeError, OutOfRangeError: ids are not integers in [0, num_embeddings).
    """
    weight = as_given(weight, "weight")
    if weight.ndim != 2:
        raise ShapeError(f"embedding needs weight of shape (num_embeddings, d), got {weight.shape}")
    rows: Array = beside(as_ids(ids, weight.shape[0], "Embedding"), plain(weight, "weight"))
    found = np.take(weight, rows, axis=0)
    if padding_idx is None:
        return found
    check_padding_idx(padding_idx, weight.shape[0])
    return np.where((plain(rows, "ids") == padding_idx)[..., None], stop_gradient(found), found)


def check_padding_idx(padding_idx: int, count: int) -> None:
    check_not_negative(padding_idx=padding_idx)
    if padding_idx >= count:
        raise ArgumentError(f"padding_idx must be one of the ids, 0 to {count - 1}, got {padding_idx}")


class Embedding(Module):
    """A lookup table, ``weight[ids]``: row i is the vector of id i.

    Args:
        num_embeddings: the number of ids, which is the size of the vocabulary.
        embedding_dim: the width of a vector.
        rng: the generator that draws the table from a normal distribution with standard deviation ``std``.
        padding_idx: the id of padding, whose row starts as zeros and gets no gradient from the lookups; None if there is none.
        dtype: the dtype of the table and of the result.

    Shapes: ids (...) integers in [0, num_embeddings) -> (..., embedding_dim).

    The gradient of a row is the sum over all positions that hold its id. :meth:`from_one_hot` takes one-hot rows, not ids.

    Raises:
        ArgumentError: a size is not a positive integer, or padding_idx is not one of the ids.
        DTypeError: ids are not integers.
        OutOfRangeError: an id is negative or not below num_embeddings.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> table = nn.Embedding(3, 4, rng=np.random.default_rng(0))
        >>> vectors = table([[0, 2], [2, 2]])
        >>> vectors.shape
        (2, 2, 4)
        >>> vectors.sum().backward()
        >>> table.weight.grad[:, 0].tolist()  # ids 0, 1 and 2 occur once, never, and three times
        [1.0, 0.0, 3.0]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        rng: np.random.Generator,
        std: float = 1.0,
        padding_idx: int | None = None,
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        if padding_idx is not None:
            check_padding_idx(padding_idx, num_embeddings)
        self.weight = Parameter(init.normal((num_embeddings, embedding_dim), std, rng=rng, dtype=dtype))
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.weight.data[padding_idx] = 0

    def forward(self, ids: "TensorLike") -> Tensor:
        found: Tensor = embedding(ids, self.weight, padding_idx=self.padding_idx)
        return found

    def from_one_hot(self, rows: "TensorLike") -> Tensor:
        """Return ``rows @ weight``: (..., num_embeddings) -> (..., embedding_dim).

        One-hot rows give the result of ``forward``, at the cost of a product with the whole table. Rows of probabilities give
        a weighted mean of the vectors. A gradient flows into the rows.

        Raises:
            ShapeError: the last axis of rows is not num_embeddings.
        """
        return with_columns(rows, self.weight, "Embedding", "one-hot rows") @ self.weight

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return "{}, {}".format(*self.weight.shape) + padding


class TiedOutput(Module):
    """The output layer ``x @ embedding.weight.T + bias``, which computes scores with the table of an :class:`Embedding`.

    Press and Wolf 2017, arXiv:1608.05859; Vaswani et al. 2017, arXiv:1706.03762, section 3.4. Both layers share one
    parameter, whose gradient is the sum of the gradients of both uses.

    Args:
        embedding: the layer whose table is shared.
        bias: whether to add a bias, which starts at zero.

    Shapes: x (..., embedding_dim) -> logits (..., num_embeddings); ``bias`` (num_embeddings,).

    Raises:
        ShapeError: the last axis of x is not embedding_dim.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> table = nn.Embedding(10, 4, rng=np.random.default_rng(0))
        >>> output = nn.TiedOutput(table)
        >>> output(table([3, 7])).shape
        (2, 10)
        >>> output.num_parameters  # the parameters of the table
        40
    """

    def __init__(self, embedding: Embedding, *, bias: bool = False) -> None:
        check_kind("an Embedding", Embedding, embedding=embedding)
        check_kind("True or False", bias=bias)
        self.embedding = embedding
        self.bias = Parameter(np.zeros(embedding.weight.shape[0], embedding.weight.dtype)) if bias else None

    def forward(self, x: "TensorLike") -> Tensor:
        weight = self.embedding.weight
        x = as_input(x, weight.dtype, "TiedOutput")
        width = weight.shape[1]
        if not x.ndim or x.shape[-1] != width:
            raise ShapeError(f"TiedOutput needs x of shape (..., {width}), got {x.shape}")
        bias = np.zeros(len(weight), weight.dtype, like=weight.data) if self.bias is None else self.bias
        return affine(x, weight.T, bias)  # affine divides a large product among threads

    def extra_repr(self) -> str:
        return "bias=True" if self.bias is not None else ""
