"""A vector for each token id, and back: a score for each token id."""

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor, affine
from minigrad.internal import array_of

from . import init
from ._checks import as_ids, as_input, beside, check_positive, with_columns
from .module import Module, Parameter


class Embedding(Module):
    """``weight[ids]``: row i of the table is the vector of id i.

    Args:
        num_embeddings: how many ids there are (the size of the vocabulary).
        embedding_dim: the width of a vector.
        rng: draws the table, normal with standard deviation ``std``.
        dtype: of the table and so of the result.

    Shapes: ids (...) integers in [0, num_embeddings) -> (..., embedding_dim).

    A row of zeros with a one at place i, times the table, is the same vector; :meth:`from_one_hot` computes it so.

    Raises:
        ArgumentError: a size is no positive integer.
        DTypeError: ids are no integers.
        OutOfRangeError: an id is negative or not below num_embeddings.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> table = nn.Embedding(3, 4, rng=np.random.default_rng(0))
        >>> vectors = table([[0, 2], [2, 2]])
        >>> vectors.shape
        (2, 2, 4)
        >>> vectors.sum().backward()
        >>> table.weight.grad[:, 0].tolist()  # a row gets a gradient from each place where its id stands
        [1.0, 0.0, 3.0]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        rng: np.random.Generator,
        std: float = 1.0,
        dtype: Any = np.float32,
    ) -> None:
        check_positive(num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.weight = Parameter(init.normal((num_embeddings, embedding_dim), std, rng=rng, dtype=dtype))

    def forward(self, ids: Any) -> Tensor:
        ids = as_ids(ids, self.weight.shape[0], "Embedding")
        return np.take(self.weight, beside(ids, array_of(self.weight)), axis=0)

    def from_one_hot(self, rows: Any) -> Tensor:
        """``rows @ weight``: (..., num_embeddings) -> (..., embedding_dim).

        Of one-hot rows the numbers of ``forward``, at the cost of a product with the whole table. Other rows, such as
        probabilities of tokens, give the mean of the vectors, and rows get a gradient.

        Raises:
            ShapeError: the last axis of rows is not num_embeddings.
        """
        return with_columns(rows, self.weight, "Embedding", "one-hot rows") @ self.weight

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape)


class TiedOutput(Module):
    """``x @ embedding.weight.T + bias``: a score for each token, by the table that the tokens were embedded with.

    Press and Wolf 2017, arXiv:1608.05859; Vaswani et al. 2017, arXiv:1706.03762, section 3.4. The table is one parameter,
    whose gradient is the sum of what comes from both of its uses.

    Args:
        embedding: whose table it is.
        bias: whether to add one, which starts at zero.

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
        >>> output.num_parameters  # those of the table
        40
    """

    def __init__(self, embedding: Embedding, *, bias: bool = False) -> None:
        self.embedding = embedding
        self.bias = Parameter(np.zeros(embedding.weight.shape[0], embedding.weight.dtype)) if bias else None

    def forward(self, x: Any) -> Tensor:
        weight = self.embedding.weight
        x = as_input(x, weight.dtype, "TiedOutput")
        width = weight.shape[1]
        if not x.ndim or x.shape[-1] != width:
            raise ShapeError(f"TiedOutput needs x of shape (..., {width}), got {x.shape}")
        bias = np.zeros(len(weight), weight.dtype, like=weight.data) if self.bias is None else self.bias
        return affine(x, weight.T, bias)  # a large product is divided as those of the layers around it are

    def extra_repr(self) -> str:
        return "bias=True" if self.bias is not None else ""
