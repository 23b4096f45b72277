"""Read and write files: arrays as safetensors, with a description in JSON. Pickle is never used.

All other modules read files through this one. It checks a file before any use: its size, the dtypes of its arrays, the nesting
of its JSON, the form of the data in it, and a checksum. Every defect of a file raises :class:`CheckpointError`. A path that
occurs in a file is never opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .device import to_host
from .engine.tensor import Tensor
from .errors import ArgumentError, import_extra

FORMAT = "minigrad-2"

DTYPES = {"BOOL": "bool", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64"} | {
    f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
}
LONGEST_TEXT = 1 << 26  # characters of JSON, or bytes of a text file
LONGEST_STRING = 1 << 20
DEEPEST = 40  # nesting levels of lists and objects
LARGEST_INTEGER = 1 << 128  # large, because some programs write 10**30 for "unlimited"


class CheckpointError(ArgumentError):
    """A file is missing, is damaged, or has other contents. The message has at most about 2,000 characters."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= 2000 else f"{message[:1000]} ... {message[-1000:]}")


# Writing and reading


def save_checkpoint(path: str | os.PathLike[str], arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write named arrays or Tensors, and a description for JSON, to a safetensors file with a checksum over both.

    The file is written under a temporary name and then renamed, so an incomplete file never has the name ``path``.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: ``about`` cannot be written as JSON that :func:`load_checkpoint` reads, or safetensors does not have
            the dtype of an array, or ``path`` is a folder or lies in a file. Then nothing is written.
    """
    target = Path(path)
    if file := next((parent for parent in target.parents if parent.is_file()), None):
        raise CheckpointError(f"'{file}' is a file, so nothing can be saved in it as in a folder: got path '{target}'")
    if target.is_dir():
        raise CheckpointError(f"'{target}' is a folder: name a file in it, such as '{target / 'model.safetensors'}'")
    safetensors = import_extra("safetensors.numpy", "train", "saving a checkpoint")
    try:
        text = json.dumps(dict(about), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"about must consist of JSON values (dict, list, str, number, bool, None): {error}"
        ) from error
    _parsed(text, "about")
    host = {name: _little_endian(name, value) for name, value in arrays.items()}
    metadata = {"format": FORMAT, "about": text, "checksum": digest(host, FORMAT + text)}
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(safetensors.save(host, metadata))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: str | os.PathLike[str], form: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the description that :func:`save_checkpoint` wrote.

    Args:
        form: the required form of the description, as for :func:`require`.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: the file is missing, truncated or changed, is not a minigrad checkpoint file, or does not have this
            ``form``.
    """
    arrays, metadata = read_arrays(path, "checkpoint")
    written = metadata.get("format")
    if written != FORMAT:
        raise CheckpointError(
            f"'{path}' is a safetensors file, but not a checkpoint of minigrad that this version reads (its format is "
            f"{short(written)}, not {FORMAT!r})"
        )
    text = metadata.get("about", "")
    if metadata.get("checksum") != digest(arrays, FORMAT + text):
        raise CheckpointError(f"'{path}' was damaged or changed after it was written: its checksum does not match")
    try:
        about = _parsed(text, "about")
        require(about, dict, "about")
    except CheckpointError as error:
        raise CheckpointError(f"'{path}' does not describe its arrays (no JSON object 'about'): {error}") from error
    if form is not None:
        require(about, form, f"'{path}'")
    return arrays, about


def read_arrays(
    path: str | os.PathLike[str], what: str = "file"
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """Return the arrays and the text metadata of a safetensors file from any program.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: the file is missing, is not a complete safetensors file, or has an array with a dtype NumPy lacks.
    """
    safetensors = import_extra("safetensors", "train", "reading a safetensors file")
    source = _file(path, what)
    arrays = {}
    try:
        with safetensors.safe_open(source, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - the handle is not a dict
                part = file.get_slice(name)
                if part.get_dtype() not in DTYPES:
                    raise CheckpointError(
                        f"'{path}' has {short(name)} as {part.get_dtype()}, which NumPy does not have: it must be one of "
                        f"{', '.join(DTYPES)}"
                    )
                arrays[name] = file.get_tensor(name).reshape(part.get_shape())  # old safetensors return (1,) for ()
            return arrays, file.metadata() or {}
    except (safetensors.SafetensorError, ValueError, TypeError, OSError, MemoryError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"'{path}' is not a safetensors file, or is truncated ({error}): save it again"
        ) from error


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file; raise CheckpointError if it is missing, larger than 64 MiB, or not UTF-8."""
    source = _file(path, "file")
    if (size := source.stat().st_size) > LONGEST_TEXT:
        raise CheckpointError(f"'{path}' has {size:,} bytes; the limit for a text is {LONGEST_TEXT:,}")
    try:
        return source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"'{path}' is not UTF-8 ({error.reason} at byte {error.start})") from error


def read_json(path: str | os.PathLike[str], form: Any) -> Any:
    """Return the value in a JSON file after a check of its ``form`` with :func:`require`.

    Raises:
        CheckpointError: the file is missing, is not JSON, or does not have this form.
    """
    value = _parsed(read_text(path), f"'{path}'")
    require(value, form, f"'{path}'")
    return value


def digest(arrays: Mapping[str, Any], text: str) -> str:
    """Return the SHA-256 of a text and of host arrays with their names, dtypes and shapes, as 64 hexadecimal digits."""
    total = hashlib.sha256(f"{len(text)}\n{text}".encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        total.update(f"{len(name)}\n{name}\n{array.dtype.str}\n{array.shape}\n".encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


# The form of a description


@dataclass(frozen=True)
class Maybe:
    """A form that also allows None."""

    form: Any


def require(value: Any, form: Any, what: str) -> None:
    """Raise unless a value from a file has the given form.

    A form is a type or a union of types, such as ``int | None`` (a bool is not an int); a string, which must match exactly;
    ``[form]`` for a list of any length; a tuple of forms for a list of this length; ``{"name": form}`` for an object with at
    least these names; ``{str: form}`` for an object with any names; or ``Maybe(form)``. JSON has lists, but no tuples.

    Raises:
        CheckpointError: the value has another form; the message begins with ``what``.
    """
    if isinstance(form, Maybe):
        if value is not None:
            require(value, form.form, what)
    elif isinstance(form, dict):
        _one_of(value, dict, what)
        inner = dict.fromkeys(value, form[str]) if form.keys() == {str} else form
        for name in inner:
            if name not in value:
                raise CheckpointError(f"{what} has no {name!r}")
            require(value[name], inner[name], f"{what}: {short(name)}")
    elif isinstance(form, (list, tuple)):
        _one_of(value, list, what)
        if isinstance(form, tuple) and len(value) != len(form):
            raise CheckpointError(f"{what} must be a list of {len(form)}, got {short(value)}")
        for i, item in enumerate(value):
            require(item, form[i if isinstance(form, tuple) else 0], f"{what}: item {i}")
    elif isinstance(form, str):
        if value != form:
            raise CheckpointError(f"{what} is {short(value)}, not {form!r}: pass the right file")
    else:
        _one_of(value, form, what)


def _one_of(value: Any, form: Any, what: str) -> None:
    kinds = getattr(form, "__args__", (form,))  # of a union
    if type(value) not in kinds and object not in kinds:  # not isinstance, because a bool is an int there
        name = form if isinstance(form, types.UnionType) else form.__name__
        raise CheckpointError(f"{what} must be {name}, got {short(value)}")


def _parsed(text: str, what: str) -> Any:
    """Return the value of a JSON text; raise CheckpointError if it is not JSON or exceeds a limit of this module."""
    if len(text) > LONGEST_TEXT:
        raise CheckpointError(f"{what} has {len(text):,} characters; the limit is {LONGEST_TEXT:,}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{what} is not JSON that can be read: {error}") from error
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            raise CheckpointError(f"{what} is nested more than {DEEPEST} deep")
        for item in level:
            _check_size(item, what)
        objects = [item for item in level if isinstance(item, dict)]
        level = [x for item in level if isinstance(item, list) for x in item]
        level += [x for item in objects for pair in item.items() for x in pair]
        depth += 1
    return value


def _check_size(value: Any, what: str) -> None:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise CheckpointError(f"{what} has a text that is not Unicode: {error.reason}") from error
    if isinstance(value, str) and len(value) > LONGEST_STRING:
        raise CheckpointError(f"{what} has a text of {len(value):,} characters; the limit is {LONGEST_STRING:,}")
    if isinstance(value, int) and abs(value) >= LARGEST_INTEGER:
        raise CheckpointError(f"{what} has an integer of more than 128 bits")


def _little_endian(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return a value as a little-endian, contiguous array, as in the file."""
    array = np.asarray(to_host(value.data if isinstance(value, Tensor) else value), order="C")
    if array.dtype.name not in DTYPES.values():
        raise CheckpointError(
            f"the array {name!r} is {array.dtype}, which a checkpoint file cannot hold: convert it first"
        )
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _file(path: str | os.PathLike[str], what: str) -> Path:
    if not Path(path).is_file():  # false for a device such as /dev/zero
        raise CheckpointError(f"no {what} at '{path}': write it first, or check the path")
    return Path(path)


def short(value: object) -> str:
    """Return a short form of a value from a file, for a message."""
    text = repr(value) if value is None or isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
