"""A written program: its text, and the function that the text defines."""

from __future__ import annotations

import html
import io
import keyword
import os
import tokenize
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from .arguments import Arguments

# Styles that can be read on white and on black.
_STYLES = {"keyword": "font-weight: bold", "string": "color: #2f8f5b", "comment": "font-style: italic; opacity: 0.7"}


class WrittenProgram:
    """A NumPy program that computes the value of a function and its gradients. Call it with arrays.

    Attributes:
        source: the text of the whole file. It imports NumPy only, and SciPy if the function calls it.
        checks: the conditions on the values under which it holds, one sentence each.
        constants: the arrays that it reads and that are no arguments, by name.
    """

    def __init__(
        self, step: str, head: str, checks: Sequence[str], constants: dict[str, Any], arguments: Arguments
    ) -> None:
        self.checks, self.constants = list(checks), constants
        self.source = head + step
        self._text, self._arguments = step, arguments
        namespace: dict[str, Any] = {}
        exec(compile(self.source, "<written program>", "exec"), namespace)
        self._check, self._step = namespace["check_arguments"], namespace["step"]
        namespace["check_arguments"] = lambda *_: None  # __call__ checks them

    def __call__(self, *args: Any) -> Any:
        """Compute the value and the gradients: ``(value, gradient, ...)``, one gradient per differentiated argument.

        Raises:
            ShapeError, DTypeError: an array has another shape or dtype than in the example.
            ArgumentError: the arguments are nested differently, or one that is no array is another than in the example.
            ValueError: one of :attr:`checks` does not hold.
        """
        return self._step(*self._arguments.plain(args, self._check))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :attr:`source` to a file, whose function ``step`` does not need minigrad."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """Return the text for a notebook, with keywords, strings and comments set off."""
        offsets = [0, *accumulate(map(len, io.StringIO(self._text)))]
        parts, end = [], 0
        for token in tokenize.generate_tokens(io.StringIO(self._text).readline):
            kind = "keyword" if keyword.iskeyword(token.string) else tokenize.tok_name[token.type].lower()
            if kind in _STYLES:
                start, last = (offsets[row - 1] + column for row, column in (token.start, token.end))
                shown = f'<span style="{_STYLES[kind]}">{html.escape(self._text[start:last])}</span>'
                parts.append(html.escape(self._text[end:start]) + shown)
                end = last
        return f"<pre>{''.join(parts)}{html.escape(self._text[end:])}</pre>"
