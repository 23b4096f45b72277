"""``grad_flow``: the norms of gradients, parameters and updates through training, layer by layer."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from ...engine.tensor import Tensor
from .flow_flags import Flag, Thresholds, find_flags
from .flow_norms import NotedSteps
from .flow_views import draw, write_page, write_table


class grad_flow(NotedSteps):
    """Watch how the gradient flows: call ``step()`` after each ``optimizer.step()``, while the gradients are still there.

    A step notes, for every parameter p, the Euclidean norms of its gradient as the optimizer saw it (after clipping), of p
    itself, and of its update ``p_after - p_before``. A *layer* is the module that holds parameters directly: "layers.0.query"
    has "layers.0.query.weight" and ".bias"; its norm is that of its parameters together, ``sqrt(sum of squares)``. A parameter
    that lies in no module is a layer by itself.

    One copy of the parameters is kept, and at most ``most`` noted steps: when there are more, every second is dropped and
    from then on half as many are noted. On a device a step makes one transfer.

    Args:
        model: anything with ``named_parameters()``, or a dict from name to Tensor. Parameters added later are not seen.
        every: note each step (1), or every second ... The update is always that of one step.
        most: noted steps to keep, at least 2.

    Attributes:
        names: of the parameters.
        layers: from the name of a layer to the places of its parameters in ``names``.
        steps: the numbers, counted from 0, of the noted steps.

    Raises:
        ArgumentError: ``model`` is something else or has no parameters; ``every`` or ``most`` is too small.

    Example:
        >>> import minigrad as mg
        >>> import nn
        >>> w = mg.Tensor([3.0, 4.0], requires_grad=True)
        >>> optimizer, flow = nn.SGD([w], lr=0.1), mg.grad_flow({"w": w})
        >>> for _ in range(2):  # or nn.fit(..., on_step=flow.step)
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        ...     flow.step()
        >>> print(flow.table())  # flow.plot("flow.png") draws all steps
        step 1, and the gradient's range over 2 noted steps
        layer  |gradient|     least      most  |parameter|  |update|  update/parameter
        w        8.00e+00  8.00e+00  1.00e+01     3.20e+00  8.00e-01          2.50e-01
    """

    def __repr__(self) -> str:
        return f"grad_flow({len(self.names)} parameters in {len(self.layers)} layers, {len(self.steps)} steps noted)"

    def _repr_html_(self) -> str | None:
        return f"<pre>{html.escape(self.table())}</pre>" if self.steps else None

    def flags(self, **thresholds: Any) -> list[Flag]:
        """What is wrong, each with a sentence: ``print(*flow.flags(), sep="\\n")``.

        Args:
            thresholds: those of :class:`Thresholds`, by name: ``flow.flags(patience=50, ratio=(1e-6, 1e-2))``.
        """
        return find_flags(self, Thresholds(**thresholds))

    def table(self) -> str:
        """The last noted step, and how the gradient went, as text: a line for each layer; then the flags."""
        return write_table(self, self.flags())

    __str__ = table

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw heat maps, layer x step, of log10 of the norms of gradient, parameter and update: .svg, .png or .pdf.

        Raises:
            GraphError: no step was noted.
            ArgumentError: another suffix.
            MissingExtraError: matplotlib is not installed.
        """
        return draw(self, path)

    def to_html(self, path: str | os.PathLike[str], tensor: Tensor | None = None, *, language: str = "en") -> Path:
        """Write a page in which a slider goes through training: heat map, numbers, flags, and the model's graph recoloured.

        Args:
            tensor: a loss of the model, computed inside ``with minigrad.trace():``, whose graph is drawn; without one the page
                has no graph.
            language: of the page as it is first shown, "en" or "ja"; the reader can switch.

        Raises:
            GraphError: no step was noted, or ``tensor`` was not recorded.
            ArgumentError: ``language`` or ``tensor`` is something else.
            MissingExtraError: no layout program is installed.
        """
        return write_page(self, self.flags(), path, tensor, language)
