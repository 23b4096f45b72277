"""The errors minigrad raises.

Each is a :class:`MinigradError` and also the built-in error that NumPy or Python would raise for the same mistake, so
that ``except ValueError`` and ``except MinigradError`` both work.
"""

import dis
import importlib.util
import sys
from types import ModuleType
from typing import Any

import numpy as np

MARK = "__minigrad__"  # a name that the packages nn and models define, so that they can be recognized


class MinigradError(Exception):
    """The base class of every error that minigrad raises.

    Example:
        >>> import minigrad as mg
        >>> try:
        ...     mg.Tensor([1, 2], requires_grad=True)
        ... except mg.MinigradError as error:  # or the built-in one: except TypeError
        ...     print(type(error).__name__, isinstance(error, TypeError))
        DTypeError True
    """

    names_operation = False  # True if the message names the derivative rule that failed, so that the sweep need not


class ArgumentError(MinigradError, ValueError):
    """An argument has a value that the function cannot use.

    Example:
        >>> import minigrad as mg
        >>> mg.gelu(mg.Tensor([1.0]), approximate="erf")
        Traceback (most recent call last):
            ...
        minigrad.errors.ArgumentError: gelu takes approximate='none' or 'tanh', got 'erf'
    """


class ShapeError(ArgumentError):
    """The shapes of arrays do not fit together.

    Example:
        >>> import minigrad as mg
        >>> mg.Tensor([1.0, 2.0, 3.0]) + mg.Tensor([1.0, 2.0])
        Traceback (most recent call last):
            ...
        minigrad.errors.ShapeError: add(x: shape (3,) float64, y: shape (2,) float64): operands could not be broadcast...
    """


class DTypeError(MinigradError, TypeError):
    """An array has a data type that the operation cannot use.

    Example:
        >>> import minigrad as mg
        >>> mg.Tensor([1, 2], requires_grad=True)  # write 1.0 and 2.0: integers have no derivative
        Traceback (most recent call last):
            ...
        minigrad.errors.DTypeError: requires_grad=True needs a floating or complex dtype, got int...
    """


class UnsupportedError(MinigradError, TypeError):
    """A function, a keyword or a conversion has no derivative in minigrad.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> float(x)  # x.item() makes clear that the derivative ends here
        Traceback (most recent call last):
            ...
        minigrad.errors.UnsupportedError: write t.item() for the number: float(t) would cut the tensor...
    """


class GraphError(MinigradError, RuntimeError):
    """The tape cannot be used: nothing was recorded, it was already freed, or a kept array was changed.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> y = x * x
        >>> y.backward()
        >>> y.backward()
        Traceback (most recent call last):
            ...
        minigrad.errors.GraphError: backward() was called a second time through 'multiply', whose kept values were freed...
    """


class AnomalyError(MinigradError, RuntimeError):
    """An operation inside ``detect_anomaly()`` made a NaN or an infinity.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(0.0, requires_grad=True)
        >>> with mg.detect_anomaly():
        ...     np.sqrt(x).backward()
        Traceback (most recent call last):
            ...
        minigrad.errors.AnomalyError: in the backward pass, the derivative of 'sqrt' with respect to x made the first inf: ...
    """


class DeviceError(MinigradError, RuntimeError):
    """A device cannot be used, for example because there is no GPU or no driver for it.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.device.to_device(np.ones(3), "cuda")  # on a machine with CuPy but without a GPU
        Traceback (most recent call last):
            ...
        minigrad.errors.DeviceError: device='cuda' cannot be used (cudaErrorNoDevice: no CUDA-capable device is detected)...
    """


class MixedDevicesError(DeviceError, TypeError):
    """An operation got arrays on the host and arrays on a device.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(mg.device.to_device(np.ones(3), "cuda"))
        >>> x + np.ones(3)
        Traceback (most recent call last):
            ...
        minigrad.errors.MixedDevicesError: add got arrays in several places (x on ..., y on the host): bring them together...
    """


class OutOfMemoryError(MinigradError, MemoryError):
    """An array does not fit into the memory of its device.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> ones = np.broadcast_to(mg.Tensor(1.0), (10**9, 10**9))  # a view of one element
        >>> ones * 2
        Traceback (most recent call last):
            ...
        minigrad.errors.OutOfMemoryError: out of memory in multiply (shape (1000000000, 1000000000) float64)...
    """


class OutOfRangeError(MinigradError, IndexError):
    """An index, a token id or a label is outside its range.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.cross_entropy(mg.Tensor([[0.0, 1.0]]), np.array([2]))
        Traceback (most recent call last):
            ...
        minigrad.errors.OutOfRangeError: cross_entropy got the label 2, but logits have 2 classes: 0 to 1
    """


class LinAlgError(MinigradError, np.linalg.LinAlgError):
    """A matrix does not suit the algorithm, because it is singular, not square, or not positive definite.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> np.linalg.inv(mg.Tensor([[1.0, 2.0], [2.0, 4.0]]))  # the second row is twice the first
        Traceback (most recent call last):
            ...
        minigrad.errors.LinAlgError: inv(a: shape (2, 2) float64): Singular matrix
    """


class MissingExtraError(MinigradError, ImportError):
    """A package that is an optional extra is not installed.

    Example:
        >>> import minigrad as mg
        >>> mg.compiled_kernels()  # numba is not installed
        Traceback (most recent call last):
            ...
        minigrad.errors.MissingExtraError: compiled_kernels() needs numba: pip install numba
    """


class VersionError(MinigradError, ImportError):
    """The installed NumPy is older than minigrad needs.

    Example:
        >>> import subprocess, sys
        >>> program = "import numpy; numpy.__version__ = '1.26.4'; import minigrad"
        >>> done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        >>> print(done.stderr.splitlines()[-1])
        minigrad.errors.VersionError: minigrad needs NumPy 2.3 or newer, and finds 1.26.4: pip install "numpy>=2.3"
    """


class ShadowedError(MinigradError, ImportError):
    """Python finds another module ``nn`` or ``models`` before the one that comes with minigrad.

    Example:
        >>> import pathlib, subprocess, sys, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = pathlib.Path(folder, "nn.py").write_text("# a file of yours")
        ...     command = [sys.executable, "-c", "from models import GPT"]
        ...     done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        >>> print(done.stderr.splitlines()[-1])
        minigrad.errors.ShadowedError: 'nn' is '...nn.py', not the package that comes with minigrad: rename...
    """


def said_by_minigrad(error: BaseException) -> MinigradError | None:
    """Return ``error``, or the nearest of its causes, if minigrad raised it; None if there is no such error.

    For example, ``out[i] = t`` on a NumPy array with a tracked ``t`` makes minigrad raise, and NumPy a ValueError from that.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MinigradError):
        cause = cause.__cause__
    return cause


def covered(error: BaseException) -> MinigradError | None:
    """Return minigrad's error that NumPy, or other C code, has replaced by its own; None if a ``raise`` made ``error``.

    ``out[i] = t`` ends in NumPy's "setting an array element with a sequence", which hides the remedy.
    """
    said, trace = said_by_minigrad(error), error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if said is None or said is error or trace is None:
        return None
    instruction = dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]]
    return None if instruction.startswith(("RAISE", "RERAISE")) else said


def in_the_way(name: str) -> str | None:
    """Return a message if the ``nn`` or ``models`` that Python would import is not minigrad's package, else None."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.has_location:  # nothing, or a folder without __init__.py, which hides no package
        return None
    loader: Any = spec.loader
    source = loader.get_source(name)
    if source is None or MARK in source:  # a program packed without sources cannot be checked
        return None
    return (
        f"'{name}' is '{spec.origin}', not the package that comes with minigrad: rename that file or folder, "
        "or run from a folder where Python does not find it first"
    )


def check_ours(*names: str) -> None:
    """Check that an import of these names finds the packages that come with minigrad.

    Raises:
        ShadowedError: Python would find another module first.
    """
    for name in names:
        if said := in_the_way(name):
            raise ShadowedError(said, name=name)


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error that says what to install.

    The error names the packages, not minigrad's ``extra``. Such a command works in every installation, under any name of the
    distribution, and in every shell.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if sys.platform == "emscripten":
            said = "which is not there in Pyodide, the Python of a web page: run it on a computer's own Python"
            raise MissingExtraError(f"{purpose} needs {package}, {said}") from error
        wanted = _TOGETHER.get(extra) or _DISTRIBUTED_AS.get(package, package)
        raise MissingExtraError(f"{purpose} needs {package}: pip install {wanted}") from error


_TOGETHER = {
    "graph": "pygraphviz",
    "gpu": '"cupy-cuda12x[ctk]"',
    "mpi": "mpi4py impi-rt" if sys.platform == "win32" else "mpi4py mpich",
}  # packages that are only useful together, by the extra
_DISTRIBUTED_AS = {"PIL": "pillow", "sklearn": "scikit-learn"}  # packages whose import name differs
