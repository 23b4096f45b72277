"""The base class of the models, which one file can hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

import nn
from minigrad import ArgumentError
from minigrad.internal import CheckpointError, require
from nn._training_state import put_weights, read

from ._config import Config


class Model(nn.Module):
    """A network that is made from a config, so that one file holds all of it.

    A subclass names the class of its config in ``config_class`` and is made by ``(config, *, rng, dtype)``.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> import models
        >>> config = models.SkipGramConfig(vocab_size=3, d_model=4, notes={"words": ["I", "eat", "mandarins"]})
        >>> model = models.SkipGram(config, rng=np.random.default_rng(0))
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/words.safetensors")
        ...     loaded = models.SkipGram.load(f"{folder}/words.safetensors")
        >>> (loaded([1]).numpy() == model([1]).numpy()).all().item(), loaded.config.notes["words"][1]
        (True, 'eat')
    """

    config_class: ClassVar[type[Config]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the config, with its ``notes``, and the weights to a safetensors file: see :func:`nn.save_weights`.

        Raises:
            ArgumentError: a dict in ``notes`` has names that are no texts, which JSON does not keep, or there is a LoRA inside,
                which :meth:`load` does not make.
        """
        if any(isinstance(part, nn.LoRA) for part in self.modules()):
            raise ArgumentError("save a model after nn.merge_lora(model), or its weights with nn.save_weights")
        _check_names(getattr(getattr(self, "config", None), "notes", None))
        nn.save_weights(self, Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Make the model from a file that :meth:`save` or :func:`nn.fit` wrote, in the file's dtype and in evaluation mode.

        Raises:
            CheckpointError: there is no such file; it is truncated or damaged; it holds a model of another class, or a config
                or weights that do not fit this class.
            MissingExtraError: safetensors is not installed.
        """
        file = Path(path)
        arrays, about = read(file, only_weights=True)
        if about["model"] != cls.__name__:
            raise CheckpointError(
                f"'{file}' holds the model {about['model']}, not {cls.__name__}: load it with its own class"
            )
        require(about["config"], dict, f"'{file}': 'config'")
        dtype = next((array.dtype for name, array in arrays.items() if name.startswith("model.")), np.float32)
        try:
            config = cls.config_class.from_dict(about["config"])
            if max(getattr(config, name, 0) for name in ("num_layers", "decoder_layers")) > len(arrays):
                raise ArgumentError("it has more layers than the file has arrays")  # before they fill the memory
            model = cls(config, rng=np.random.default_rng(0), dtype=dtype)  # type: ignore[call-arg]
        except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
            raise CheckpointError(f"the config in '{file}' does not make a {cls.__name__}: {error}") from error
        put_weights(file, model, arrays)
        return model.eval()


def _check_names(notes: Any) -> None:
    for name in notes if isinstance(notes, dict) else ():
        if not isinstance(name, str):
            raise ArgumentError(f"notes has the name {name!r}, and a file keeps texts only: write {str(name)!r}")
    for value in notes.values() if isinstance(notes, dict) else notes if isinstance(notes, (list, tuple)) else ():
        _check_names(value)
