"""The errors minigrad raises.

Each is a :class:`MinigradError` and also the built-in error that NumPy or Python would raise for the same mistake, so
that ``except ValueError`` and ``except MinigradError`` both work.
"""

import importlib
from types import ModuleType

import numpy as np


class MinigradError(Exception):
    """What every error raised by minigrad has in common."""


class ArgumentError(MinigradError, ValueError):
    """An argument has a value that the function cannot use."""


class ShapeError(ArgumentError):
    """Shapes do not fit together."""


class DTypeError(MinigradError, TypeError):
    """An array has a data type that the operation cannot use."""


class UnsupportedError(MinigradError, TypeError):
    """A function, a keyword or a conversion that has no derivative here."""


class GraphError(MinigradError, RuntimeError):
    """The tape cannot do what was asked: nothing was recorded, or it was freed already."""


class AnomalyError(MinigradError, RuntimeError):
    """An operation inside ``detect_anomaly()`` made a NaN or an infinity."""


class DeviceError(MinigradError, RuntimeError):
    """A device cannot be used: there is no GPU, or no driver for it."""


class MixedDevicesError(DeviceError, TypeError):
    """An operation got arrays of the host and arrays on a device."""


class OutOfMemoryError(MinigradError, MemoryError):
    """An array does not fit into the memory of its device."""


class OutOfRangeError(MinigradError, IndexError):
    """An index, a token id or a label is outside its range."""


class LinAlgError(MinigradError, np.linalg.LinAlgError):
    """A matrix that the algorithm cannot take: it is singular, not square, or not positive definite."""


class MissingExtraError(MinigradError, ImportError):
    """A package that is an optional extra is not installed."""


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or say in one sentence which extra brings it.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"{purpose} needs {package}: pip install 'minigrad[{extra}]'") from error
