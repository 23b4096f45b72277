"""BertEncoder: a Transformer encoder that loads pretrained BERT weights and computes sentence embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from minigrad.internal import CheckpointError, TensorLike, array_of, read_arrays, read_json, require
from nn._checks import (
    as_given,
    as_ids,
    beside,
    check_callable,
    check_dtype,
    check_interval,
    check_kind,
    check_positive,
    check_texts,
    given,
)
from nn.callbacks import load_tqdm
from nn.init import check_generator
from nn.masks import token_ids, token_positions
from nn.module import check_names, evaluating
from nn.transformer import attention_by_layer

from ._config import Config, check_fields, check_layers
from ._layers import stack
from ._model import Model, check_model

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BertConfig(Config):
    """The sizes of a :class:`BertEncoder`. The defaults are those of all-MiniLM-L6-v2.

    Attributes:
        vocab_size: the number of token ids, which are 0 to vocab_size - 1.
        d_model, num_heads, num_layers, hidden, dropout, activation: as in :class:`ClassifierConfig`.
        max_positions: the length of the longest sequence, in tokens.
        token_types: the number of token types; BERT has two, for the first and the second sentence of a pair.
        eps: the constant added to the variance in each LayerNorm.

    Raises:
        ArgumentError: a size is not a positive integer, num_heads does not divide d_model, or the activation is unknown.

    Example:
        >>> import models
        >>> config = models.BertConfig(num_layers=2)
        >>> config.d_model, config.num_heads, config.num_layers
        (384, 12, 2)
    """

    vocab_size: int = 30522
    d_model: int = 384
    num_heads: int = 12
    num_layers: int = 6
    hidden: int = 1536
    max_positions: int = 512
    token_types: int = 2
    activation: str = "gelu"
    eps: float = 1e-12
    dropout: float = 0.1

    def __post_init__(self) -> None:
        check_layers(self)
        check_fields(self)
        check_interval(0, np.inf, eps=self.eps)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read the ``config.json`` that comes with the weights of a BERT model.

        Raises:
            ArgumentError: the file describes another kind of network, or lacks a size.
        """
        check_kind("a path", path=path)
        values = read_json(path, dict)
        kind = values.get("model_type"), values.get("position_embedding_type", "absolute"), values.get("hidden_act")
        if kind[:2] != ("bert", "absolute") or kind[2] not in list(_ACTIVATIONS):
            raise ArgumentError(
                f"'{path}' describes (model_type, position_embedding_type, hidden_act) = {kind}; BertEncoder is 'bert' with "
                f"'absolute' positions and {' or '.join(map(repr, _ACTIVATIONS))}"
            )
        sizes = {}
        for ours, theirs in _SETTINGS.items():
            if theirs not in values:
                raise ArgumentError(f"'{path}' has no {theirs!r}: pass BertConfig(...) instead")
            require(values[theirs], int | float if ours in ("eps", "dropout") else int, f"'{path}': {theirs!r}")
            sizes[ours] = values[theirs]
        return cls(**sizes, activation=_ACTIVATIONS[kind[2]])


class BertEncoder(Model):
    """The encoder of BERT: token, position and token type embeddings, LayerNorm, then post-norm encoder layers.

    Source: Devlin et al. 2019, arXiv:1810.04805. The layers are those of Vaswani et al. 2017, arXiv:1706.03762, with GELU.
    A sentence embedding is the mean of the last layer's outputs over the tokens that are not padding, scaled to length 1
    (Reimers and Gurevych 2019, arXiv:1908.10084). The scalar product of two sentence embeddings is their cosine similarity.

    In training, dropout differs slightly from the original: it also acts inside the feed-forward part, and does not act on
    the attention weights. In evaluation the two networks are equal.

    Args:
        rng, dtype: the generator and the dtype of the initial weights (embeddings: normal, standard deviation 0.02). The
            generator also draws ``key`` of each :class:`nn.Dropout`.

    Calling it:
        ids: (batch, length) integers, for example from :class:`WordPiece`.
        key_mask: (batch, length), True for tokens and False for padding: see :class:`nn.masks.Masks`.
        token_types: (batch, length) integers; None stands for zeros.

        The call returns the output of the last layer, (batch, length, d_model).

    Raises:
        ShapeError: ids is not a matrix or is longer than max_positions, or key_mask or token_types has another shape than ids.
        OutOfRangeError: an id is outside the vocabulary, or a value of the mask is neither 0 nor 1.
        DTypeError: the ids are not integers, or the mask is neither boolean nor integer.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.BertConfig(vocab_size=10, d_model=16, num_heads=2, num_layers=1, hidden=32)
        >>> model = models.BertEncoder(config, rng=np.random.default_rng(0)).eval()
        >>> y = model.sentence_embeddings([[2, 5, 3, 0], [2, 5, 3, 8]], [[1, 1, 1, 0], [1, 1, 1, 0]])
        >>> y.shape, (y[0] @ y[1]).numpy().round(4).item()  # ids at padding positions have no effect
        ((2, 16), 1.0)
    """

    config_class = BertConfig

    def __init__(self, config: BertConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        d_model = config.d_model
        self.tokens = nn.Embedding(config.vocab_size, d_model, std=0.02, rng=rng, dtype=dtype)
        self.positions = nn.Embedding(config.max_positions, d_model, std=0.02, rng=rng, dtype=dtype)
        self.token_types = nn.Embedding(config.token_types, d_model, std=0.02, rng=rng, dtype=dtype)
        self.norm = nn.LayerNorm(d_model, eps=config.eps, dtype=dtype)
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        self.layers = stack(nn.TransformerEncoderLayer, config, norm="post", eps=config.eps, rng=rng, dtype=dtype)

    @classmethod
    def from_safetensors(
        cls,
        path: str | os.PathLike[str],
        config: BertConfig | None = None,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> Self:
        """Load a pretrained encoder and put it in evaluation mode.

        Args:
            path: a safetensors file with BERT's names, or the folder with ``model.safetensors`` and ``config.json``.
            config: the sizes of the network; needed only if there is no ``config.json`` next to the file.
            rng: draws ``key`` of each :class:`nn.Dropout`; None means a generator with seed 0. The weights come from the file.
            dtype: the dtype of the parameters; the file's arrays are converted to it.

        Raises:
            CheckpointError: the file does not exist, or its arrays do not fit this network.
            MissingExtraError: safetensors is not installed.
        """
        check_kind("a path", path=path)
        check_kind("a BertConfig", BertConfig, **given(config=config))
        if rng is not None:
            check_generator(rng)
        check_dtype(dtype)
        file = Path(path) / "model.safetensors" if Path(path).is_dir() else Path(path)
        arrays, _ = read_arrays(file, "weights")
        if config is None:
            sizes = file.with_name("config.json")
            if not sizes.is_file():
                raise CheckpointError(f"there is no config.json next to '{file}': pass config=BertConfig(...)")
            config = BertConfig.from_json(sizes)
        _check_size(file, config, arrays)
        model = cls(config, rng=np.random.default_rng(0) if rng is None else rng, dtype=dtype)
        try:
            model.load_original(arrays)
        except ArgumentError as error:
            raise CheckpointError(f"'{file}' does not hold the weights of {config}: {error}") from error
        return model.eval()

    def load_original(self, arrays: Mapping[str, Array]) -> None:
        """Copy weights that have BERT's names ("encoder.layer.0.attention.self.query.weight") into the parameters.

        Arrays that an encoder does not use (``pooler``, ``cls``, ``position_ids``) are ignored. So is the prefix "bert.".
        If an error is raised, no parameter has been changed.

        Raises:
            ArgumentError: a name is missing or unknown.
            ShapeError: an array has another shape than its parameter.
        """
        check_kind("a dictionary", arrays=arrays)
        named = {name.removeprefix("bert."): array for name, array in arrays.items()}
        paths = {_original_name(path): path for path, _ in self.named_parameters()}
        used = [name for name in named if name in paths or not name.startswith(_UNUSED)]
        check_names("the names are not those of this BertEncoder", paths, used)
        dtype = self.norm.weight.dtype
        self.load_state_dict(
            {path: _turned(path, named[name]).astype(dtype, copy=False) for name, path in paths.items()}
        )

    def original_state(self) -> dict[str, Array]:
        """Return copies of the parameters with BERT's names and shapes, the inverse of :meth:`load_original`."""
        return {
            _original_name(path): np.ascontiguousarray(_turned(path, array))
            for path, array in self.state_dict().items()
        }

    def forward(
        self, ids: TensorLike, key_mask: TensorLike | None = None, token_types: TensorLike | None = None
    ) -> Tensor:
        x, key_mask = self._embedded(ids, key_mask, token_types)
        for layer in self.layers:
            x = layer(x, key_mask=key_mask)
        return x

    def hidden_states(
        self, ids: TensorLike, key_mask: TensorLike | None = None, token_types: TensorLike | None = None
    ) -> list[Tensor]:
        """Return the input of the first layer and the output of each layer: num_layers + 1 times (batch, length, d_model)."""
        x, key_mask = self._embedded(ids, key_mask, token_types)
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1], key_mask=key_mask))
        return states

    def attention_weights(
        self, ids: TensorLike, key_mask: TensorLike | None = None, token_types: TensorLike | None = None
    ) -> list[Tensor]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection."""
        x, key_mask = self._embedded(ids, key_mask, token_types)
        return attention_by_layer(self.layers, x, key_mask=key_mask)[0]

    def sentence_embeddings(
        self, ids: TensorLike, key_mask: TensorLike | None = None, token_types: TensorLike | None = None
    ) -> Tensor:
        """Return ``mean / |mean|`` over the last layer's tokens that are not padding: (batch, length) -> (batch, d_model)."""
        mean = nn.pool(self(ids, key_mask, token_types), key_mask, how="mean")
        return mean / np.sqrt((mean * mean).sum(axis=-1, keepdims=True) + 1e-24)  # a row of padding alone stays 0

    def embed(
        self,
        texts: Sequence[str],
        tokenizer: Callable[[list[str]], Any],
        *,
        batch_size: int = 32,
        progress: bool = False,
    ) -> Array:
        """Return the sentence embeddings of any number of texts as one NumPy array, (texts, d_model).

        They are computed in evaluation mode under ``no_grad``, and each module then has its own mode again. Each batch holds
        texts of similar length, so that little of it is padding. ``progress`` shows a progress bar, if tqdm is installed.
        """
        check_texts(texts=texts)
        check_callable(tokenizer=tokenizer)
        check_positive(batch_size=batch_size)
        check_kind("True or False", progress=progress)
        result = np.zeros((len(texts), self.config.d_model), self.norm.weight.dtype)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        starts: Any = range(0, len(texts), batch_size)
        if progress and (tqdm := load_tqdm()) is not None:
            starts = tqdm(starts, desc="embedding", unit="batch")
        with evaluating(self), no_grad():
            for start in starts:
                rows = order[start : start + batch_size]
                result[rows] = self.sentence_embeddings(*tokenizer([texts[i] for i in rows])).numpy()
        return result

    def _embedded(self, ids: Any, key_mask: TensorLike | None, token_types: TensorLike | None) -> tuple[Tensor, Any]:
        """Return the input of the layers, (batch, length, d_model), and the mask as booleans."""
        weight, most = array_of(self.norm.weight), self.config.max_positions
        ids, mask = token_ids(
            ids,
            key_mask,
            weight,
            "BertEncoder",
            f"ids of shape (batch, length) with length at most max_positions={most}",
        )
        if ids.shape[1] > most:
            raise ShapeError(
                f"BertEncoder has max_positions={most} and got ids of shape {ids.shape}: give fewer tokens"
            )
        types: Any = np.zeros((1, 1), np.int64) if token_types is None else as_given(token_types, "token_types")
        if token_types is not None and types.shape != ids.shape:
            raise ShapeError(f"token_types must have the shape of ids, {ids.shape}, got {types.shape}")
        types = types if mask is None or token_types is None else np.where(mask, beside(types, weight), 0)
        positions = np.arange(ids.shape[1]) if mask is None else token_positions(mask)
        x = self.tokens(ids) + self.positions(positions)
        x = x + self.token_types(as_ids(types, self.config.token_types, "BertEncoder's token_types"))
        return self.dropout(self.norm(x)), mask


# The names used here, and the names in the BERT files of Google and of the library Transformers

_SETTINGS = {
    "vocab_size": "vocab_size",
    "d_model": "hidden_size",
    "num_heads": "num_attention_heads",
    "num_layers": "num_hidden_layers",
    "hidden": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "token_types": "type_vocab_size",
    "eps": "layer_norm_eps",
    "dropout": "hidden_dropout_prob",
}
_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "relu": "relu"}
_UNUSED = ("pooler.", "cls.", "embeddings.position_ids")
_EMBEDDINGS = {
    "tokens": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
_LAYER = {
    "attention_norm": "attention.output.LayerNorm",
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "feed_forward_norm": "output.LayerNorm",
    "feed_forward.hidden": "intermediate.dense",
    "feed_forward.output": "output.dense",
}


def _original_name(path: str) -> str:
    """Return BERT's name: "layers.0.attention.query.weight" -> "encoder.layer.0.attention.self.query.weight"."""
    module, _, kind = path.rpartition(".")
    if not module.startswith("layers."):
        return f"{_EMBEDDINGS[module]}.{kind}"
    _, number, part = module.split(".", 2)
    return f"encoder.layer.{number}.{_LAYER[part]}.{kind}"


def _turned(path: str, array: Array) -> Array:
    """Transpose the weight of an Affine, because PyTorch's Linear stores the transpose; return embeddings unchanged."""
    return array.T if path.startswith("layers.") else array


def _check_size(file: Path, config: BertConfig, arrays: Mapping[str, Array]) -> None:
    """Raise if the network of ``config`` is much larger than the file, before memory for it is allocated."""
    layer = 4 * config.d_model**2 + 2 * config.d_model * config.hidden
    embeddings = (config.vocab_size + config.max_positions + config.token_types) * config.d_model
    needed, held = embeddings + config.num_layers * layer, sum(array.size for array in arrays.values())
    if needed > 2 * held + 1_000_000:
        raise CheckpointError(
            f"'{file}' holds {held:,} elements, and {config} needs {needed:,}: pass the config that belongs to the file"
        )
