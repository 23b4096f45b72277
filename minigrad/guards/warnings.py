"""NumPy's floating-point warnings (overflow, division by zero) point at the user's line, and name the operation.

NumPy warns about the line that calls its ufunc, which is one of ours, the same for all operations; and Python shows a warning
once for each line. So Python's list of warning filters gets one whose pattern, asked whether it matches, looks where from: a
warning that arose in an operation on Tensors is issued again for the line that asked for it, where the other filters meet it.
It costs nothing while nothing warns. A filter that is put in front later (``simplefilter("always")``) comes first: then the
warning is NumPy's own.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from types import FrameType

from ..engine.primitive import Primitive

_NUMPYS = re.compile(
    "(divide by zero|overflow|underflow|invalid value) encountered|Degrees of freedom|Mean of empty|All-NaN"
)
_HOME = os.path.dirname(os.path.dirname(__file__))
_OURS = tuple(os.path.join(os.path.dirname(_HOME), name, "") for name in (os.path.basename(_HOME), "nn", "models"))


class PointedAtTheUser:
    """In a filter's place for a pattern: ``match`` is asked with the text, from the frame that the warning is about."""

    pattern = (
        "(?!)"  # matches nothing: for those who read the filters and make them anew, as scikit-learn for its workers
    )

    def match(self, text: str) -> bool:
        frame = sys._getframe(1)
        if not _NUMPYS.match(text) or frame.f_globals is globals():
            return False
        name, user = _operation(frame)
        if not name or user is None:  # NumPy without us, or a thread of ours
            return False
        told = text if text.endswith(f" {name}") else f"{text}, in {name}"
        module = user.f_globals.get("__name__", "<unknown>")
        registry = user.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(told, RuntimeWarning, user.f_code.co_filename, user.f_lineno, module, registry)
        return True


def _operation(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """The outermost operation under way in ``frame``, and the frame that asked for it, outside of minigrad and NumPy."""
    name = ""
    while frame is not None and _is_inside(frame):
        primitive = frame.f_locals.get("primitive", frame.f_locals.get("self"))
        name = primitive.name if isinstance(primitive, Primitive) else name
        frame = frame.f_locals.get("asked_by", frame.f_back)  # of a thread of ours the one that waits for it
    return name, frame


def _is_inside(frame: FrameType) -> bool:
    module: str = frame.f_globals.get("__name__", "")
    return frame.f_code.co_filename.startswith(_OURS) or module.partition(".")[0] == "numpy"


warnings.filters.insert(0, ("ignore", PointedAtTheUser(), RuntimeWarning, None, 0))  # type: ignore[attr-defined]
