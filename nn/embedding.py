"""A vector for each token id."""

from typing import Any

import numpy as np

from minigrad import DTypeError, OutOfRangeError, Tensor

from . import init
from ._checks import beside, check_positive
from .module import Module, Parameter


class Embedding(Module):
    """``weight[ids]``: row i of the table is the vector of id i.

    Args:
        num_embeddings: how many ids there are (the size of the vocabulary).
        embedding_dim: the width of a vector.
        rng: draws the table, normal with standard deviation ``std``.
        dtype: of the table and so of the result.

    Shapes: ids (...) integers in [0, num_embeddings) -> (..., embedding_dim).

    Raises:
        DTypeError: ids are no integers.
        OutOfRangeError: an id is negative or not below num_embeddings.
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
        ids = ids if hasattr(ids, "dtype") else np.asarray(ids)
        if ids.dtype.kind not in "iu":
            raise DTypeError(f"Embedding takes integer ids, got dtype {ids.dtype}")
        count = self.weight.shape[0]
        # Before the ids reach a device, where an index out of range would wrap round silently.
        if ids.size and (int(ids.min()) < 0 or int(ids.max()) >= count):
            worst = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
            raise OutOfRangeError(f"Embedding got the id {worst}, but its vocabulary has {count} ids: 0 to {count - 1}")
        return np.take(self.weight, beside(ids, self.weight.data), axis=0)

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape)
