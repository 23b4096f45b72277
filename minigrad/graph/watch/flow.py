"""``grad_flow`` notes the norms of gradients, parameters and updates during training, for each layer."""

from __future__ import annotations

import html
import os
from pathlib import Path

from .flow_flags import Flag, find_flags
from .flow_norms import NotedSteps
from .flow_views import draw, write_table


class grad_flow(NotedSteps):
    """Watch gradients during training: call ``step()`` after each ``optimizer.step()``, before the gradients are cleared.

    A step notes three Euclidean norms for every parameter p: that of its gradient as the optimizer saw it (after clipping),
    that of p, and that of its update ``p_after - p_before``. A *layer* is a module that holds parameters directly:
    "layers.0.query" holds "layers.0.query.weight" and ".bias". Its norm is the norm of all its parameters together,
    ``sqrt(sum of squares)``. A parameter outside of modules is a layer by itself.

    One copy of the parameters is kept, and at most ``most`` noted steps. When there are more, every second one is dropped,
    and from then on half as many are noted. On a device a step makes one transfer.

    Args:
        model: an object with ``named_parameters()``, or a dict from name to Tensor. Parameters added later are ignored.
        every: 1 notes each step, 2 notes every second step, and so on. The update is always that of a single step.
        most: the largest number of noted steps to keep, at least 2.

    Attributes:
        names: the names of the parameters.
        layers: a dict from the name of a layer to the indices of its parameters in ``names``.
        steps: the numbers of the noted steps, counted from 0.

    Raises:
        ArgumentError: ``model`` has a wrong type or no parameters; ``every`` or ``most`` is too small.

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

    def flags(self) -> list[Flag]:
        """Return what is wrong with the training. ``print(*flow.flags(), sep="\\n")`` shows a sentence for each flag."""
        return find_flags(self)

    def table(self) -> str:
        """Return a text with a line for each layer: its norms at the last noted step. The flags follow."""
        return write_table(self, self.flags())

    __str__ = table

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw heat maps (layer x step) of log10 of gradients, updates, and updates / parameters: a .svg, .png or .pdf.

        Raises:
            GraphError: no step was noted.
            ArgumentError: the suffix is not one of these.
            MissingExtraError: matplotlib is not installed.
        """
        return draw(self, path)
