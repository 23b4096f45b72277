"""Raise on import if NumPy is too old, before other modules use functions that it lacks."""

import numpy as np

from .errors import VersionError

NEEDED = (2, 3)  # the version in pyproject.toml, which an option of pip can override

_found = np.__version__.split(".")[:2]
if (
    all(part.isdecimal() for part in _found) and tuple(map(int, _found)) < NEEDED
):  # every release begins with two numbers
    raise VersionError(
        f"minigrad needs NumPy {NEEDED[0]}.{NEEDED[1]} or newer, and finds {np.__version__}: "
        f'pip install "numpy>={NEEDED[0]}.{NEEDED[1]}"',
        name="numpy",
        path=np.__file__,
    )
