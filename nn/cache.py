"""A cache of the keys and values of earlier tokens, for decoding one token at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad import ArgumentError, GraphError, ShapeError, Tensor
from minigrad.internal import Array, TensorLike, array_of, make_tensor

from ._checks import beside, plain


class KeyValueCache:
    """The keys and values of all tokens so far. With a cache, each call computes only the keys and values of new tokens.

    Make one cache per attention layer and per batch of sequences. Pass it to every call under ``no_grad``: first with the
    prompt, then with one token at a time, (batch, 1, d_model).

    Example:
        >>> import numpy as np
        >>> import nn
        >>> from minigrad import no_grad
        >>> attention = nn.MultiHeadAttention(8, 2, rng=np.random.default_rng(0))
        >>> x, cache = np.random.default_rng(1).normal(size=(1, 5, 8)), nn.KeyValueCache()
        >>> with no_grad():
        ...     steps = [attention(x[:, [t]], causal=True, cache=cache).numpy() for t in range(5)]
        >>> cache.length, np.allclose(np.hstack(steps), attention(x, causal=True).numpy(), atol=1e-5)
        (5, True)
    """

    def __init__(self) -> None:
        self.length = 0  # the number of tokens in the cache
        self.key_mask: Any = None  # (batch, length) booleans, noted by a model: True = a token, False = padding
        self._keys: Any = None  # (batch, capacity, width); only the first `length` tokens are valid
        self._values: Any = None

    @property
    def keys(self) -> Any:
        """The keys as an array (batch, length, width), a view; None if the cache is empty."""
        return None if self._keys is None else self._keys[:, : self.length]

    @property
    def values(self) -> Any:
        """The values as an array (batch, length, width), a view; None if the cache is empty."""
        return None if self._values is None else self._values[:, : self.length]

    def __repr__(self) -> str:
        shape = "empty" if self._keys is None else f"{self.length} tokens of {self._keys.shape[0]} sequences"
        return f"KeyValueCache({shape})"

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens, (batch, new, width), and return all: (batch, length, width).

        Raises:
            GraphError: keys or values require a gradient, which could not reach the tokens of earlier calls.
            ShapeError: batch size, width or dtype differs from that of the cache. No error changes the cache.
        """
        if keys.requires_grad or values.requires_grad:
            raise GraphError(
                "a KeyValueCache takes no part in the backward pass: call the layer inside `with no_grad():`"
            )
        k, v = self._extend(array_of(keys), array_of(values))
        return make_tensor(k, None), make_tensor(v, None)

    def joined(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return what :meth:`append` would return, without changing the cache."""
        if not self.length:
            return keys, values
        k: Any = np.concatenate([self.keys, keys], axis=1)
        v: Any = np.concatenate([self.values, values], axis=1)
        return k, v

    def _extend(self, keys: Array, values: Array) -> tuple[Any, Any]:
        """Append arrays: :meth:`append` without its check for gradients."""
        for name, held, new in (("keys", self._keys, keys), ("values", self._values, values)):
            if held is None:
                continue
            ours, theirs = (held.shape[0], held.shape[2], held.dtype), (new.shape[0], new.shape[2], new.dtype)
            if ours != theirs:
                raise ShapeError(
                    f"the cache holds {name} of {held.dtype} and shape {held[:, : self.length].shape}, and got {new.dtype} "
                    f"and {new.shape}: make a new KeyValueCache for each layer and each batch"
                )
        end = self.length + keys.shape[1]
        self._keys = self._written(self._keys, keys, end)
        self._values = self._written(self._values, values, end)
        self.length = end
        return self._keys[:, :end], self._values[:, :end]

    def select(self, rows: "TensorLike") -> None:
        """Replace the batch by the sequences with the indices ``rows``, (new batch,), as beam search does."""
        rows = plain(rows, "rows")
        if self._keys is not None:
            rows = beside(rows, self._keys)
            self._keys, self._values = self._keys[rows], self._values[rows]
            self.key_mask = None if self.key_mask is None else self.key_mask[rows]

    def _written(self, held: Any, new: Any, end: int) -> Any:
        """Write ``new`` after the tokens in ``held``, or in a buffer twice as long if ``held`` is full. Return the buffer."""
        if held is None or held.shape[1] < end:
            longer = np.empty((new.shape[0], 1 << end.bit_length(), new.shape[2]), new.dtype, like=new)
            if held is not None:
                longer[:, : self.length] = held[:, : self.length]
            held = longer
        held[:, self.length : end] = new
        return held


@contextmanager
def growing(caches: Sequence[KeyValueCache]) -> Iterator[None]:
    """Let the caches of all layers grow in the block; an error in any layer leaves every cache as it was.

    Raises:
        ArgumentError: two layers share one cache, or the caches hold different numbers of tokens.
    """
    if len({id(cache) for cache in caches}) < len(caches):
        raise ArgumentError("two layers have the same KeyValueCache: make one for each layer")
    if len(lengths := {cache.length for cache in caches}) > 1:
        raise ArgumentError(
            f"the caches of the layers hold {', '.join(map(str, sorted(lengths)))} tokens, so they are not of one sequence: "
            "make new caches for each batch"
        )
    before = [(cache, cache.length, cache._keys, cache._values) for cache in caches]
    try:
        yield
    except BaseException:
        for cache, length, keys, values in before:
            cache.length, cache._keys, cache._values = length, keys, values  # tokens beyond `length` are never read
        raise
