"""The base class of the models, which one file can hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

import nn
from minigrad import ArgumentError
from minigrad.internal import CheckpointError, require
from nn._checks import check_dtype, check_kind
from nn.init import check_generator
from nn.weights_file import as_json, config_of, part, put_weights, read_weights, weights

from ._config import Config
from ._difference import difference


class Model(nn.Module):
    """A network that is made from a config, so that one file holds all of it.

    A subclass names the class of its config in ``config_class`` and is made by ``(config, *, rng, dtype)``: ``rng`` draws the
    initial weights, whose dtype is ``dtype``, so the same state of the generator gives the same model.

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

        A file holds the config, the weights and the buffers, and :meth:`load` makes the rest from the config. So ``save`` first
        makes a model from the config, and compares every part and setting with it.

        Raises:
            ArgumentError: :meth:`load` would not give back an equal model: a part or a setting was changed after the model was
                made, the config has a value that JSON does not keep, there is no config, or there is a LoRA inside. Nothing is
                written.
        """
        check_kind("a path", path=path)
        if any(isinstance(part, nn.LoRA) for part in self.modules()):
            raise ArgumentError("save a model after nn.merge_lora(model), or its weights with nn.save_weights")
        self._check_loadable()
        nn.save_weights(self, Path(path))

    def _check_loadable(self) -> None:
        """Raise an ArgumentError unless a file of this model would load as an equal model."""
        name = type(self).__name__
        config: Any = getattr(self, "config", None)
        kind: Any = getattr(self, "config_class", None)
        if kind is None or type(config) is not kind:
            needed = "a class of configs in config_class" if kind is None else f"a {kind.__name__} in self.config"
            raise ArgumentError(f"{name}.load makes the model from its config, and there is not {needed}: add it")
        written = config_of(self)
        try:
            again = kind.from_dict(written)
            if found := difference(vars(config), vars(again)):
                path, own, other = found
                raise ArgumentError(f"{path} is {own}, and {other} in a file: JSON has lists, and texts as names")
            loaded = self._made(again, self.state_dict())
            put_weights("the new model", loaded, weights(self)[0])
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ArgumentError(f"{name}.load could not make this model from its config: {error}") from error
        if found := difference(self, loaded):
            path, own, other = found
            raise ArgumentError(
                f"{path or name} is {own}, and {other} in a {name} that load makes from the config: set it by the config, or "
                "keep the weights with nn.save_weights"
            )

    @classmethod
    def _made(cls, config: Config, arrays: dict[str, np.ndarray[Any, Any]]) -> Self:
        """Make a model from a config, in the dtype in which its arrays have the dtypes of ``arrays``, by path."""
        sizes: dict[Any, int] = {}
        for array in arrays.values():
            if array.dtype.kind in "fc":
                sizes[array.dtype] = sizes.get(array.dtype, 0) + array.size
        made = []
        for dtype in sorted(sizes, key=lambda dtype: -sizes[dtype]) or [np.dtype(np.float32)]:
            model = cls(config, rng=np.random.default_rng(0), dtype=dtype)  # type: ignore[call-arg]
            if all(arrays[path].dtype == p.dtype for path, p in model._state_by_path().items() if path in arrays):
                return model
            made.append(model)
        return made[0]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Make the model from a file that :meth:`save` or :func:`nn.fit` wrote, in the file's dtype and in evaluation mode.

        Raises:
            CheckpointError: there is no such file; it is truncated or damaged; it holds a model of another class, or a config
                or weights that do not fit this class.
            MissingExtraError: safetensors is not installed.
        """
        check_kind("a path", path=path)
        file = Path(path)
        arrays, about = read_weights(file)
        if about["model"] != cls.__name__:
            raise CheckpointError(
                f"'{file}' holds the model {about['model']}, not {cls.__name__}: load it with its own class"
            )
        require(about["config"], dict, f"'{file}': 'config'")
        try:
            config = cls.config_class.from_dict(about["config"])
            given, whole = ({"notes": {}} | each for each in (about["config"], as_json(config.to_dict())))
            if found := difference(given, whole):  # no setting is guessed; only empty notes may be left out
                setting, here, there = found
                raise ArgumentError(f"{setting} is {here}, and {there} in the file that save writes")
            if max(getattr(config, name, 0) for name in ("num_layers", "decoder_layers")) > len(arrays):
                raise ArgumentError("it has more layers than the file has arrays")  # before they fill the memory
            model = cls._made(config, part("model.", arrays))
        except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
            raise CheckpointError(f"the config in '{file}' does not make a {cls.__name__}: {error}") from error
        put_weights(file, model, arrays)
        return model.eval()


def check_model(model: Model, config: Any, rng: Any, dtype: Any) -> None:
    """Raise unless these are the arguments of a model: a config of its class, a generator and a floating dtype."""
    check_kind(f"a {model.config_class.__name__}", model.config_class, config=config)
    check_generator(rng)
    check_dtype(dtype)
