"""Read and write the checkpoint files of :func:`nn.fit`, which hold the state that a run needs to continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from minigrad import ArgumentError, DTypeError, MinigradError, Tensor
from minigrad.internal import (
    CheckpointError,
    digest,
    is_device_array,
    leaves,
    load_checkpoint,
    require,
    save_checkpoint,
    to_host,
)

from ._step_state import StepState
from .dropout import Dropout
from .module import Module
from .optimizer import Optimizer

KIND = "minigrad training state, version 2"
WEIGHTS_KIND = "minigrad weights, version 1"
WEIGHTS_FORM = {"model": str, "config": object}
FORM = {
    "model": str,
    "config": object,
    "dropout": {str: {"key": int, "step": int}},
    "generators": {str: dict},
    "numbers": {str: int | float | bool},
    "optimizer": {"name": str, "settings": {"lr": int | float}, "numbers": [{str: int}]},
    "metrics": [{str: int | float}],
    "updates": int,
    "run": dict,
}

Arrays = dict[str, np.ndarray[Any, Any]]


class TrainingError(MinigradError, RuntimeError):
    """Training stopped because the loss, a gradient or a weight is no longer finite.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> model, x = nn.Affine(1, 1, rng=np.random.default_rng(0)), np.ones((4, 1))
        >>> batches, sgd = nn.Batches([x], 2, seed=0), nn.SGD(model.parameters())
        >>> try:
        ...     nn.fit(model, batches, lambda *_: model.weight.sum() * np.inf, sgd, epochs=1, progress=False)
        ... except nn.TrainingError as error:
        ...     print(str(error).split(" (")[0])
        the loss of step 0 is inf
    """


class Files(NamedTuple):
    """The paths of the checkpoint files."""

    last: Path
    best: Path

    @classmethod
    def of(cls, checkpoint: str | Path) -> Self:
        path = Path(checkpoint)
        if path.suffix == ".safetensors":
            return cls(path, path.with_suffix(".best.safetensors"))
        return cls(path / "last.safetensors", path / "best.safetensors")


def dropouts(model: Module) -> dict[str, Dropout]:
    """Return the Dropout modules by path; their state is a key and a count of calls."""
    return {path: module for path, module in model.named_modules() if isinstance(module, Dropout)}


def weights(model: Module) -> tuple[Arrays, dict[str, Any]]:
    """Return a model's arrays, named ``model.<path>``, and the description of a file of weights."""
    arrays = {f"model.{path}": array for path, array in model.state_dict().items()}
    return arrays, {"kind": WEIGHTS_KIND, "model": type(model).__name__, "config": config_of(model)}


def collect(model: Module, optimizer: Optimizer, own: StepState) -> tuple[Arrays, dict[str, Any]]:
    """Return a run's arrays, named ``model.<path>`` and ``optimizer.<parameter index>.<name>``, and its other state."""
    state = optimizer.state_dict()
    arrays, about = weights(model)
    numbers: list[dict[str, Any]] = []
    for i, remembered in enumerate(state["parameters"]):
        memory = {name: value for name, value in remembered.items() if hasattr(value, "dtype")}
        arrays |= {f"optimizer.{i}.{name}": value for name, value in memory.items()}
        numbers.append({name: value for name, value in remembered.items() if name not in memory})
    about |= {
        "kind": KIND,
        "dropout": {path: {"key": module.key, "step": module.step} for path, module in dropouts(model).items()},
        "optimizer": {"name": state["optimizer"], "settings": state["settings"], "numbers": numbers},
    }
    return arrays, about | own.collect()


def try_to_write(files: Files, arrays: Arrays, about: dict[str, Any]) -> None:
    """Write a file beside the checkpoint files and remove it, to raise now what would be raised after an epoch."""
    trial = files.last.with_name(f".{files.last.name}.trial")
    for path in files:
        if path.is_dir():
            raise ArgumentError(f"checkpoint: '{path}' must be a file, and there is a folder: pass another path")
    try:
        save_checkpoint(trial, arrays, about)
    except OSError as error:
        raise ArgumentError(
            f"checkpoint: no file can be written in '{trial.parent}' ({error.strerror}): pass another folder"
        ) from error
    finally:
        trial.unlink(missing_ok=True)


def not_finite(arrays: Arrays) -> str | None:
    """Return the name of the first array that contains NaN or infinity, or None."""
    return next((name for name, array in arrays.items() if not np.isfinite(array).all()), None)


def read(path: Path, only_weights: bool = False) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the description in a checkpoint file that ``fit`` wrote, or raise a CheckpointError.

    With ``only_weights``, also read the file that ``save_weights`` wrote.
    """
    arrays, about = load_checkpoint(path)
    if only_weights and about.get("kind") == WEIGHTS_KIND:
        require(about, WEIGHTS_FORM, f"'{path}'")
        return arrays, about
    if about.get("kind") != KIND:
        raise CheckpointError(
            f"'{path}' is a checkpoint that fit did not write: its kind is {about.get('kind')!r}, not {KIND!r}"
        )
    require(about, FORM, f"'{path}'")
    losses = arrays.get("losses")
    if losses is None or losses.dtype != np.float64 or losses.ndim != 1:
        raise CheckpointError(f"'{path}' has no list of losses: save it again")
    return arrays, about


def restore(
    path: Path, model: Module, optimizer: Optimizer, own: StepState, arrays: Arrays, about: dict[str, Any]
) -> None:
    """Restore the weights, the optimizer's settings and state, and the Dropout modules, generators and numbers in the model.

    If the file is from another model or optimizer, raise a CheckpointError and change nothing.
    """
    saved = about["optimizer"]
    same(path, "the model", about["model"], type(model).__name__)
    same(path, "the model's config", about["config"], config_of(model))
    same(path, "the model's weights", _forms(_with_prefix("model.", arrays)), _forms(model.state_dict()))
    same(path, "the optimizer", saved["name"], type(optimizer).__name__)
    same(path, "the number of the optimizer's tensors", len(saved["numbers"]), len(optimizer.parameters))
    settings = optimizer._given()
    same(path, "the list of the optimizer's settings", sorted(saved["settings"]), sorted(settings))
    for name in settings.keys() - {"lr"}:  # lr may change during training
        same(path, f"{name} of the optimizer", saved["settings"][name], settings[name])
    same(path, "the list of Dropout layers", list(about["dropout"]), list(dropouts(model)))
    memory = [numbers | _with_prefix(f"optimizer.{i}.", arrays) for i, numbers in enumerate(saved["numbers"])]
    state = {"optimizer": saved["name"], "settings": saved["settings"], "parameters": memory}
    try:
        load_own = own.loading(about["generators"], about["numbers"])
        optimizer.load_state_dict(state)  # changes nothing on an error; the weights have been checked above
    except (ArgumentError, DTypeError) as error:
        raise CheckpointError(f"'{path}' does not fit: {error}") from error
    put_weights(path, model, arrays)
    for name, module in dropouts(model).items():
        module.key, module.step = about["dropout"][name]["key"], about["dropout"][name]["step"]
    load_own()


def put_weights(path: Path | str, model: Module, arrays: Arrays) -> None:
    """Load the weights into the parameters' own arrays; raise a CheckpointError, with nothing changed, if they do not fit.

    The arrays stay, because a product with another memory layout may differ in its last bit.
    """
    before = [(parameter, parameter.data) for parameter in model.parameters()]
    try:
        model.load_state_dict(_with_prefix("model.", arrays))
    except (ArgumentError, DTypeError) as error:
        raise CheckpointError(f"'{path}' does not fit: {error}") from error
    for parameter, array in before:
        array[...] = parameter.data
        parameter.data = array


def _forms(arrays: Arrays) -> dict[str, str]:
    return {name: f"{array.dtype} {array.shape}" for name, array in arrays.items()}


def _with_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose name begins with ``prefix``, without the prefix."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def fingerprint(batch: Any) -> str:
    """Return a digest of the arrays in a batch. For an object that is neither an array nor plain data, only its type counts."""
    arrays = {}
    for number, leaf in enumerate(leaves(batch)):
        value = leaf.data if isinstance(leaf, Tensor) else leaf
        array = np.asarray(to_host(value) if is_device_array(value) else value)
        arrays[f"{number:06}"] = np.asarray(type(leaf).__name__) if array.dtype.hasobject else array
    return digest(arrays, "")


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


def same(path: Path, what: str, saved: Any, given: Any) -> None:
    """Raise unless the checkpoint file and the run have the same value."""
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
