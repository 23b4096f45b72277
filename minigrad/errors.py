"""The errors minigrad raises.

Each is a :class:`MinigradError` and also the built-in error that NumPy or Python would raise for the same mistake, so
that ``except ValueError`` and ``except MinigradError`` both work.
"""

import importlib.util
from types import ModuleType
from typing import Any

import numpy as np

MARK = "__minigrad__"  # what the packages beside minigrad define


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


class ShadowedError(MinigradError, ImportError):
    """A module of the user's is called ``nn`` or ``models``, and Python finds it before the one that comes with minigrad."""


def in_the_way(name: str) -> str | None:
    """What to say if what Python finds as ``nn`` or ``models``, without importing it, is not minigrad's package."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.has_location:  # nothing, or a folder without __init__.py, which stands in nobody's way
        return None
    loader: Any = spec.loader
    source = loader.get_source(name)
    if source is None or MARK in source:  # a program that was packed without its sources cannot be asked
        return None
    return (
        f"'{name}' is '{spec.origin}', not the package that comes with minigrad: rename that file or folder, "
        "or run from a folder where Python does not find it first"
    )


def check_ours(*names: str) -> None:
    """See that packages which come with minigrad are what an import of these names finds.

    Raises:
        ShadowedError: something else stands in the way.
    """
    for name in names:
        if said := in_the_way(name):
            raise ShadowedError(said, name=name)


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or say in one sentence what to install.

    The sentence names the packages, not minigrad's ``extra`` that holds them: that works in any installation, whatever name
    minigrad is distributed by, and on any command line.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        wanted = _TOGETHER.get(extra) or _DISTRIBUTED_AS.get(package, package)
        raise MissingExtraError(f"{purpose} needs {package}: pip install {wanted}") from error


_TOGETHER = {
    "graph": "graphviz pygraphviz",
    "gpu": '"cupy-cuda12x[ctk]"',
}  # what is of use only as a whole, by its extra
_DISTRIBUTED_AS = {"PIL": "pillow", "sklearn": "scikit-learn"}  # where the name to import is another
