"""Detect the library of an array, and do the few things that NumPy's protocols cannot do for other libraries.

Arithmetic needs no code here: NumPy passes every ufunc and array function to the library of the array (NEP 13, NEP 18).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import (
    ArgumentError,
    DeviceError,
    MinigradError,
    MissingExtraError,
    MixedDevicesError,
    OutOfMemoryError,
    import_extra,
)


def is_device_array(value: object) -> bool:
    """Return whether ``value`` is an array of another library that follows NumPy's protocols, such as ``cupy.ndarray``."""
    kind = type(value)
    return (
        not issubclass(kind, (np.ndarray, np.generic))
        and hasattr(kind, "__array_function__")
        and hasattr(kind, "__array_ufunc__")
        and hasattr(kind, "get")  # copies to the host; sparse, lazy and labelled arrays have the protocols without get
    )


def zeros(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Return zeros on the device of ``like``, and of its dtype unless another is given.

    CuPy's ``zeros_like(x, shape=())`` has the shape of ``x``, and NumPy's takes twice as long as ``zeros``.
    """
    return np.zeros(shape, dtype or like.dtype, like=like if is_device_array(like) else None)


def is_cupy(kind: type) -> bool:
    """Return whether this array type is CuPy's."""
    return kind.__module__.partition(".")[0] == "cupy"


# --- Moving ---


def to_host(array: Any) -> Any:
    """Return ``array`` as a NumPy array, the same object if it is one already; this waits for a device."""
    return array.get() if is_device_array(array) else array


def to_device(array: Any, device: str) -> Any:
    """Return ``array`` on "cpu" or "cuda" ("cuda:1" is the second GPU), the same object if it is there already.

    Raises:
        ArgumentError: ``device`` is not "cpu", "cuda" or "cuda:N".
        MissingExtraError: CuPy is not installed.
        DeviceError: CuPy cannot be imported, there is no driver, or no such GPU.
        OutOfMemoryError: the free memory of the device is too small.
    """
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return to_host(array)
    if kind != "cuda" or (number and not number.isdecimal()):
        raise ArgumentError(f"device must be 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    cupy = _import_cupy(device)
    try:
        with cupy.cuda.Device(int(number or 0)):
            return cupy.asarray(array)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(_unusable(cupy, device, error)) from error
    except MemoryError as error:
        raise out_of_memory(error, f"moving an array to {device!r}", [array]) from error


def where_is(array: Any) -> str:
    """Return "on the host" or, for example, "on cuda:0"."""
    if not is_device_array(array):
        return "on the host"
    device: Any = getattr(array, "device", "another device")
    return f"on cuda:{device.id}" if is_cupy(type(array)) else f"on {device}"


def same_place(a: Any, b: Any) -> bool:
    """Return whether two arrays are both on the host, or both on one device."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return True
    return where_is(a) == where_is(b)


def _import_cupy(device: str) -> Any:
    try:
        return import_extra("cupy", "gpu", f"device='{device}'")
    except MissingExtraError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and cause.name in ("cupy", None):
            raise
        raise DeviceError(
            f"device='{device}': CuPy is installed and cannot be imported ({cause}): reinstall it, "
            'pip install --force-reinstall "cupy-cuda12x[ctk]", and keep one build of it only (pip list | grep cupy), or use '
            "device='cpu'"
        ) from cause


def _unusable(cupy: Any, device: str, error: Exception) -> str:
    """Explain a CUDA error for the requested ``device``."""
    text = str(error)
    if "InsufficientDriver" in text or "SystemDriverMismatch" in text:
        advice = "the NVIDIA driver is missing or older than CuPy's CUDA: install or update it (nvidia-smi shows it)"
    elif "NoDevice" in text:
        advice = "the machine has no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it (nvidia-smi lists them)"
    elif "InvalidDevice" in text:
        count = cupy.cuda.runtime.getDeviceCount()
        advice = "there is one GPU, 'cuda'" if count == 1 else f"there are {count} GPUs, 'cuda:0' to 'cuda:{count - 1}'"
    else:
        advice = "check that nvidia-smi lists this GPU"
    return f"device='{device}' cannot be used ({text}): {advice}; or use device='cpu'"


def check_range(integers: Any, count: int, error: Callable[[int], MinigradError]) -> None:
    """Raise ``error(worst)`` unless all integers are in [0, count).

    Without this check a device would wrap such an index silently. The check waits for the device: it asks one question.
    """
    half, signed = 1 << (8 * integers.dtype.itemsize - 1), integers.dtype.kind == "i"
    if not integers.size or (count >= 2 * half and not signed):  # no unsigned integer is too large
        return
    unsigned = integers.dtype.str.replace("i", "u")  # negative integers become the largest: one maximum finds both
    largest = integers.view(unsigned).max()
    if largest >= (min(count, half) if signed else count):
        worst = int(to_host(largest))
        raise error(worst - 2 * half if signed and worst >= half else worst)


# --- Errors in words ---


def mixed_devices(operation: str, names: Sequence[str], arrays: Sequence[Any]) -> MixedDevicesError | None:
    """Return the error for arguments on different devices; None if all are on the host or on one device."""
    places = [where_is(a) if isinstance(a, np.ndarray) or is_device_array(a) else None for a in arrays]
    if len({place for place in places if place is not None}) < 2:
        return None
    listed = ", ".join(f"{name} {place}" for name, place in zip(names, places) if place is not None)
    return MixedDevicesError(
        f"{operation} got arrays in several places ({listed}): bring them together, with model.to('cuda') for a model and "
        "minigrad.device.to_device(array, 'cuda') for an array, or use 'cpu' for both"
    )


def out_of_memory(error: MemoryError, doing: str, arrays: Sequence[Any] = ()) -> OutOfMemoryError:
    """Return the error with the operation, the arrays, and how full the memory of the device is."""
    described = ", ".join(f"shape {a.shape} {a.dtype}" for a in arrays if hasattr(a, "shape") and hasattr(a, "dtype"))
    message = f"out of memory in {doing}" + (f" ({described})" if described else "") + f": {str(error).rstrip('. ')}"
    if is_cupy(type(error)):
        pool = import_extra("cupy", "gpu", "a GPU").get_default_memory_pool()
        message += (
            f". Live arrays take {_size(pool.used_bytes())} of the {_size(pool.total_bytes())} that CuPy's pool holds"
        )
    return OutOfMemoryError(
        message
        + ". Remedies: a smaller batch (nn.fit(accumulate=...) keeps the effective size), minigrad.checkpoint around layers, "
        "no_grad() where nothing is trained, or deleting tensors that are no longer needed"
    )


def _size(count: int) -> str:
    """Format a number of bytes, such as "1.50 GiB"."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
