"""Arrays in a file and out again: safetensors, with what they mean as JSON beside them. Never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .device import to_host
from .errors import ArgumentError, import_extra
from .tensor import Tensor

FORMAT = "minigrad-1"


class CheckpointError(ArgumentError):
    """A file is no checkpoint, a damaged one, or one of something else."""


def save_checkpoint(path: str | os.PathLike[str], arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write named arrays (or Tensors) and a JSON-able description of them to a safetensors file.

    The file is complete or not there: it is written under a temporary name and then moved into place.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: ``about`` cannot be written as JSON.
    """
    safetensors = import_extra("safetensors.numpy", "train", "saving a checkpoint")
    try:
        metadata = {"format": FORMAT, "about": json.dumps(dict(about), ensure_ascii=False)}
    except TypeError as error:
        raise CheckpointError(
            f"about must be made of what JSON has (dict, list, str, number, bool, None): {error}"
        ) from error
    host = {name: np.asarray(to_host(a.data if isinstance(a, Tensor) else a), order="C") for name, a in arrays.items()}
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(safetensors.save(host, metadata))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the description that :func:`save_checkpoint` wrote.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: there is no such file, it is truncated, or it is not a minigrad checkpoint.
    """
    safetensors = import_extra("safetensors", "train", "loading a checkpoint")
    source = Path(path)
    if not source.is_file():
        raise CheckpointError(f"no checkpoint at '{path}': train first, or check the path")
    try:
        with safetensors.safe_open(source, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - the handle is no dict
    except (safetensors.SafetensorError, ValueError, TypeError) as error:
        raise CheckpointError(
            f"'{path}' is not a safetensors file, or is truncated ({error}): save it again"
        ) from error
    if metadata.get("format") != FORMAT:
        raise CheckpointError(
            f"'{path}' is a safetensors file, but no checkpoint of minigrad (its metadata: {metadata})"
        )
    try:
        about = json.loads(metadata.get("about", ""))
    except ValueError:
        about = None
    if not isinstance(about, dict):
        raise CheckpointError(f"'{path}' does not say what its arrays are (no JSON object 'about'): save it again")
    return arrays, about
