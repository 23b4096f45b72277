"""ExampleGrads: the gradients of the examples of a batch, their norms and cosines, and a picture of both."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.internal import Array, figures, to_host

from ._checks import check_kind


class ExampleGrads(dict[str, Array]):
    """What :func:`per_example_grads` returns: a dict from the path of a parameter to an array ``(batch, *shape)``.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rows = nn.ExampleGrads(weight=np.array([[3.0, 0.0], [0.0, 1.0]]), bias=np.array([[4.0], [0.0]]))
        >>> rows.norms().tolist()
        [5.0, 1.0]
        >>> rows.cosines().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """

    def norms(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the norm of each example's gradient over all parameters, ``(batch,)``, on the host."""
        squares = [(rows**2).sum(axis=1) for rows in self._flat()]
        return np.sqrt(np.sum(squares, axis=0)) if squares else np.zeros(0)

    def cosines(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the cosine of each two examples' gradients, ``(batch, batch)``; it is 0 where a gradient is 0.

        1: both examples change the model in the same direction; -1: in opposite directions.
        """
        norms = self.norms()
        products = np.zeros((len(norms), len(norms)))
        for rows in self._flat():
            products += rows @ rows.T
        scale = np.outer(norms, norms)
        return np.divide(products, scale, out=products, where=scale > 0)

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw the norms as bars and the cosines as a map, red for the same direction and blue for the opposite one.

        ``path`` ends in .png, .svg or .pdf, and is returned.

        Raises:
            ArgumentError: there is no gradient, or the suffix of ``path`` names no format.
            MissingExtraError: matplotlib is not installed.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> import numpy as np
            >>> import nn
            >>> rows = nn.ExampleGrads(weight=np.array([[3.0, 0.0], [0.0, 1.0]]))
            >>> with TemporaryDirectory() as folder:
            ...     rows.plot(f"{folder}/rows.png").name
            'rows.png'
        """
        check_kind("a path", path=path)
        if not self:
            raise ArgumentError("there is nothing to plot: no parameter has a gradient")
        draw = figures()
        draw.check_suffix(path)
        with draw.figure(7.6, 3.2) as fig:
            bars, image = fig.subplots(1, 2)
            norms = self.norms()
            bars.bar(range(len(norms)), norms, color="#1f4e8c")
            bars.set(title="norm of the gradient", xlabel="example, from 0")
            shown = image.imshow(self.cosines(), cmap="RdBu_r", vmin=-1, vmax=1)
            image.set(title="cosine of two gradients", xlabel="example, from 0", ylabel="example, from 0")
            fig.colorbar(shown, ax=image)
            for axis in (bars.xaxis, image.xaxis, image.yaxis):
                axis.get_major_locator().set_params(integer=True)
            fig.tight_layout()
            saved: Path = draw.save(fig, path)
        return saved

    def _flat(self) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
        """Yield each parameter's gradients as rows of numbers in float64, on the host."""
        for rows in self.values():
            yield to_host(rows).reshape(len(rows), math.prod(rows.shape[1:])).astype(np.float64)
