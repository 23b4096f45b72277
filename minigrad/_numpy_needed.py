"""Importing this looks whether NumPy is new enough, before anything uses what an older one lacks."""

import re

import numpy as np

from .errors import VersionError

NEEDED = (2, 3)  # as pyproject.toml says; pip can be told to ignore it

_found = re.match(r"(\d+)\.(\d+)", np.__version__)  # None for a version of another form, which no release has
if _found and (int(_found[1]), int(_found[2])) < NEEDED:
    raise VersionError(
        f"minigrad needs NumPy {NEEDED[0]}.{NEEDED[1]} or newer, and finds {np.__version__}: "
        f'pip install "numpy>={NEEDED[0]}.{NEEDED[1]}"',
        name="numpy",
        path=np.__file__,
    )
