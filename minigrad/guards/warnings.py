"""NumPy's floating-point warnings (overflow, division by zero) point at the user's line and name the operation.

NumPy reports the line that calls its ufunc. That line is in minigrad and is the same for all operations, and Python shows a
warning only once per line. This module therefore adds a warning filter whose pattern inspects the stack when Python matches
it: a warning from an operation on Tensors is issued again for the user's line, and the other filters handle it there. There is
no overhead without a warning. A filter that is added in front later, such as ``simplefilter("always")``, takes precedence, and
then NumPy's own warning is shown.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from types import FrameType

from ..engine.primitive import Primitive

_NUMPYS = "(divide by zero|overflow|underflow|invalid value) encountered|Degrees of freedom|Mean of empty|All-NaN"
_HOME = os.path.dirname(os.path.dirname(__file__))
_OURS = tuple(os.path.join(os.path.dirname(_HOME), name, "") for name in (os.path.basename(_HOME), "nn", "models"))


class PointedAtTheUser:
    """The pattern of the filter. Python calls ``match`` with the text, from the frame of the warning."""

    pattern = "(?!)"  # matches nothing, for code that copies the filters, as scikit-learn does for its workers

    def match(self, text: str) -> bool:
        frame = sys._getframe(1)
        if not re.match(_NUMPYS, text) or frame.f_globals is globals():
            return False
        name, user = _operation(frame)
        if not name or user is None:  # NumPy outside of minigrad, or a thread of minigrad
            return False
        message = text if text.endswith(f" {name}") else f"{text}, in {name}"
        module = user.f_globals.get("__name__", "<unknown>")
        registry = user.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(message, RuntimeWarning, user.f_code.co_filename, user.f_lineno, module, registry)
        return True


def _operation(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """Return the outermost operation running in ``frame``, and the frame outside minigrad and NumPy that called it."""
    name = ""
    while frame is not None and _is_inside(frame):
        primitive = frame.f_locals.get("primitive", frame.f_locals.get("self"))
        name = primitive.name if isinstance(primitive, Primitive) else name
        frame = frame.f_locals.get("asked_by", frame.f_back)  # for a thread of minigrad, the frame that waits for it
    return name, frame


def _is_inside(frame: FrameType) -> bool:
    module: str = frame.f_globals.get("__name__", "")
    return frame.f_code.co_filename.startswith(_OURS) or module.partition(".")[0] == "numpy"


warnings.filters.insert(0, ("ignore", PointedAtTheUser(), RuntimeWarning, None, 0))  # type: ignore[attr-defined]
