"""Files of weights: safetensors files that :func:`save_weights` and :func:`nn.fit` write, and :func:`load_weights` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import ArgumentError, DTypeError
from minigrad.internal import CheckpointError, load_checkpoint, require, save_checkpoint

from ._checks import check_kind
from .module import Module

WEIGHTS_KIND = "minigrad weights, version 1"
RUN_KIND = "minigrad training state, version 3"  # what fit writes: nn/checkpoint_files.py

Arrays = dict[str, np.ndarray[Any, Any]]


def save_weights(model: Module, path: str | Path) -> None:
    """Write the parameters and buffers of a model, and its ``config`` if it has one, to a safetensors file.

    :func:`load_weights` reads it. The folder of ``path`` is made.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: an array has a dtype that safetensors does not have.
        ArgumentError: ``model.config.to_dict()`` is not JSON.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> import nn
        >>> model, other = (nn.Affine(2, 1, rng=np.random.default_rng(seed)) for seed in (0, 1))
        >>> with TemporaryDirectory() as folder:
        ...     nn.save_weights(model, f"{folder}/affine.safetensors")
        ...     nn.load_weights(other, f"{folder}/affine.safetensors")
        >>> (other.weight.numpy() == model.weight.numpy()).all().item()
        True
    """
    check_kind("a Module", Module, model=model)
    check_kind("a path", path=path)
    save_checkpoint(path, *weights(model))


def load_weights(model: Module, path: str | Path) -> None:
    """Load the weights, and nothing else, from a file that :func:`save_weights` or :func:`fit` wrote.

    The model's mode is unchanged. A new model is in training mode: call ``model.eval()`` before it predicts.

    Raises:
        CheckpointError: ``path`` is no such file, or the file's model has another class, another ``config``, or weights of
            other names, shapes or dtypes. Nothing has been changed.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> import nn
        >>> model, other = (nn.Affine(2, 1, rng=np.random.default_rng(seed)) for seed in (0, 1))
        >>> batches, sgd = nn.Batches([np.ones((4, 2))], 2, seed=0), nn.SGD(model.parameters())
        >>> def loss(model, batch):
        ...     return (model(batch[0]) ** 2).mean()
        >>> with TemporaryDirectory() as folder:
        ...     _ = nn.fit(model, batches, loss, sgd, epochs=1, checkpoint=folder, progress=False)
        ...     nn.load_weights(other, f"{folder}/last.safetensors")
        >>> (other.weight.numpy() == model.weight.numpy()).all().item()
        True
    """
    check_kind("a Module", Module, model=model)
    check_kind("a path", path=path)
    path = Path(path)
    arrays, about = read_weights(path)
    same_model(path, model, about)
    put_weights(path, model, arrays)


def weights(model: Module) -> tuple[Arrays, dict[str, Any]]:
    """Return a model's arrays, named ``model.<path>``, and the description of a file of weights."""
    arrays = {f"model.{path}": array for path, array in model.state_dict().items()}
    return arrays, {"kind": WEIGHTS_KIND, "model": type(model).__name__, "config": config_of(model)}


def read_weights(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the description in a file of weights, or raise a CheckpointError."""
    arrays, about = load_checkpoint(path)
    check_kind_of_file(path, about, RUN_KIND, WEIGHTS_KIND)
    require(about, {"model": str, "config": object}, f"'{path}'")
    return arrays, about


def check_kind_of_file(path: Path, about: dict[str, Any], *kinds: str) -> None:
    if about.get("kind") not in kinds:
        raise CheckpointError(
            f"'{path}' is a checkpoint that fit did not write: its kind is {about.get('kind')!r}, not {kinds[0]!r}"
        )


def put_weights(path: Path | str, model: Module, arrays: Arrays) -> None:
    """Load the weights into the parameters' own arrays; raise a CheckpointError, with nothing changed, if they do not fit.

    The arrays stay, because a product with another memory layout may differ in its last bit.
    """
    before = [(parameter, parameter.data) for parameter in model.parameters()]
    with named_in_errors(path):
        model.load_state_dict(part("model.", arrays))
    for parameter, array in before:
        array[...] = parameter.data
        parameter.data = array


@contextmanager
def named_in_errors(path: Path | str) -> Iterator[None]:
    """Turn an error that something does not fit into a CheckpointError that names the file."""
    try:
        yield
    except CheckpointError:
        raise
    except (ArgumentError, DTypeError) as error:
        raise CheckpointError(f"'{path}' does not fit: {error}") from error


def divided(prefix: str, state: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a state, with ``prefix`` before their names, and its other values: :func:`part` finds the former.

    A number of NumPy is one of the other values, not an array without axes.
    """
    state = {name: value.item() if isinstance(value, np.generic) else value for name, value in state.items()}
    arrays = {f"{prefix}{name}": value for name, value in state.items() if hasattr(value, "dtype")}
    return arrays, {name: value for name, value in state.items() if not hasattr(value, "dtype")}


def part(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose name begins with ``prefix``, without the prefix."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def config_of(model: Module) -> Any:
    """Return ``model.config`` as it is after a round trip through JSON, or None."""
    config: Any = getattr(model, "config", None)
    try:
        return as_json(config.to_dict()) if hasattr(config, "to_dict") else None
    except TypeError as error:
        raise ArgumentError(
            f"the model's config.to_dict() goes into the checkpoint and must be JSON: {error}"
        ) from error


def as_json(value: Any) -> Any:
    """Return a value as JSON stores it: a tuple becomes a list."""
    return json.loads(json.dumps(value))


def same_model(path: Path, model: Module, about: dict[str, Any]) -> None:
    """Raise unless the file is of a model of this class and config."""
    same(path, "the model", about["model"], type(model).__name__)
    same(path, "the model's config", about["config"], config_of(model))


def same(path: Path, what: str, saved: Any, given: Any) -> None:
    """Raise unless the file and the run have the same value."""
    given = as_json(given)
    if saved == given:
        return
    if isinstance(saved, dict) and isinstance(given, dict):
        differing = {key for key in saved | given if saved.get(key) != given.get(key)}
        saved, given = ({key: values.get(key) for key in sorted(differing)} for values in (saved, given))
    raise CheckpointError(
        f"'{path}' is from another run: {what} is {saved!r} there and {given!r} here; restore the setting, or start a new run "
        "with resume=False or another path"
    )
