"""Low-rank adaptation: a trained network whose maps learn a small correction, while their weights stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minigrad import ArgumentError, Tensor, no_grad
from minigrad.internal import TensorLike

from ._checks import check_callable, check_interval, check_kind, check_positive, with_columns
from .affine import Affine
from .init import check_generator
from .module import Module, Parameter, own_parameters


class LoRA(Affine):
    """An affine map with a correction of low rank, ``x @ weight + bias + scale * (x @ down) @ up``.

    Hu et al. 2021, arXiv:2106.09685, eq. 3. ``weight`` and ``bias`` are those of ``affine``, and are frozen. ``down`` is
    drawn from a normal distribution, and ``up`` is zero, so at first the results are those of ``affine``.

    Args:
        affine: the trained map.
        rank: the width between ``down`` (in_features, rank) and ``up`` (rank, out_features).
        rng: the generator that draws ``down``.
        scale: the factor of the correction; alpha / rank in the paper.

    Raises:
        ArgumentError: ``affine`` is no :class:`Affine`, or ``rank`` is not a positive integer.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rng = np.random.default_rng(0)
        >>> layer = nn.LoRA(nn.Affine(8, 8, rng=rng), 2, rng=rng)
        >>> [path for path, p in layer.named_parameters() if p.requires_grad]
        ['down', 'up']
    """

    def __init__(self, affine: Affine, rank: int, *, rng: np.random.Generator, scale: float = 1.0) -> None:
        if not isinstance(affine, Affine):
            raise ArgumentError(f"LoRA adapts an nn.Affine, got {type(affine).__name__}: use nn.add_lora for a network")
        check_positive(rank=rank)
        check_interval(-np.inf, np.inf, scale=scale)
        check_generator(rng)
        self.weight, self.bias, self.scale = affine.weight, affine.bias, float(scale)
        (in_features, out_features), dtype = self.weight.shape, self.weight.dtype
        self.down = Parameter(rng.normal(0, in_features**-0.5, (in_features, rank)).astype(dtype))
        self.up = Parameter(np.zeros((rank, out_features), dtype))
        learn = [name for name, parameter in own_parameters(affine) if parameter.requires_grad]
        self._learned = [*vars(affine).get("_learned", ()), *learn]  # the names of what learns again in merged()
        for parameter in affine.parameters():
            parameter.requires_grad = False

    @property
    def matrix(self) -> Tensor:
        found: Tensor = self.weight + self.down @ (self.up * self.scale)
        return found

    def forward(self, x: TensorLike) -> Tensor:
        x = with_columns(x, self.weight, "LoRA")
        return super().forward(x) + (x @ self.down) @ (self.up * self.scale)

    def merged(self) -> Affine:
        """Return the plain map with the weight ``weight + scale * down @ up``, which gives the same results up to rounding.

        Its weight and its bias learn if those of the map learned before it was adapted.
        """
        plain: Affine = object.__new__(Affine)
        with no_grad():
            plain.weight = Parameter(self.matrix.data)
        plain.bias = None if self.bias is None else Parameter(self.bias.data)
        for name, parameter in own_parameters(plain):
            parameter.requires_grad = name in self._learned
        return plain

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, rank={self.down.shape[1]}"


def add_lora(
    model: Module,
    rank: int,
    *,
    rng: np.random.Generator,
    scale: float = 1.0,
    where: Callable[[str], bool] = lambda path: True,
) -> None:
    """Replace each :class:`Affine` inside a model by a :class:`LoRA`, and freeze all other parameters.

    Then only the corrections learn, those of earlier calls, too: create the optimizer afterwards. :func:`merge_lora` makes
    plain maps of them again.

    Args:
        rank, rng, scale: the arguments of each :class:`LoRA`.
        where: which maps to replace, by their path. In the paper these are the queries and the values.

    Raises:
        ArgumentError: no map has a path that ``where`` accepts, or ``rank`` is not a positive integer. The model is unchanged.

    Example:
        >>> import numpy as np
        >>> import models, nn
        >>> model = models.GPT(models.GPTConfig(vocab_size=10, window=8), rng=np.random.default_rng(0))
        >>> before = model([[1, 2, 3]]).numpy()
        >>> nn.add_lora(model, 4, rng=np.random.default_rng(1), where=lambda path: path.endswith((".query", ".value")))
        >>> sum(p.size for p in model.parameters() if p.requires_grad), model.num_parameters
        (2048, 103296)
        >>> np.array_equal(model([[1, 2, 3]]).numpy(), before)  # at first it changes nothing
        True
        >>> nn.merge_lora(model)
    """
    check_kind("a Module", Module, model=model)
    check_positive(rank=rank)
    check_generator(rng)
    check_interval(-np.inf, np.inf, scale=scale)
    check_callable(where=where)
    found = {path: part for path, part in model.named_modules() if path and type(part) is Affine and where(path)}
    if not found:
        raise ArgumentError(f"add_lora found no nn.Affine in {type(model).__name__} that where= accepts")
    corrections = {id(p) for part in model.modules() if isinstance(part, LoRA) for p in (part.down, part.up)}
    learned = {id(p): p for p in model.parameters() if p.requires_grad and id(p) not in corrections}
    try:
        new = {path: LoRA(layer, rank, rng=rng, scale=scale) for path, layer in found.items()}
    except BaseException:
        for parameter in learned.values():
            parameter.requires_grad = True
        raise
    for part in model.modules():  # each notes what learned in it, so that it can be merged alone
        if names := [name for name, parameter in own_parameters(part) if id(parameter) in learned]:
            vars(part)["_learned"] = [*vars(part).get("_learned", ()), *names]
    for path, layer in found.items():
        new[path]._learned = vars(layer).get("_learned", [])
    for parameter in learned.values():
        parameter.requires_grad = False
    model._put(new)


def merge_lora(model: Module) -> None:
    """Replace each :class:`LoRA` inside a model by its :meth:`LoRA.merged`. The parameters learn that did before add_lora.

    Raises:
        ArgumentError: there is no :class:`LoRA` inside the model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rng = np.random.default_rng(0)
        >>> model = nn.Sequential(nn.Affine(2, 4, rng=rng), np.tanh, nn.Affine(4, 1, rng=rng))
        >>> nn.add_lora(model, 1, rng=rng)
        >>> nn.merge_lora(model)
        >>> list(model.state_dict())
        ['layers.0.weight', 'layers.0.bias', 'layers.2.weight', 'layers.2.bias']
    """
    check_kind("a Module", Module, model=model)
    plain = {path: layer.merged() for path, layer in model.named_modules() if path and isinstance(layer, LoRA)}
    if not plain:
        raise ArgumentError(f"merge_lora found no LoRA inside {type(model).__name__}: a single LoRA has merged()")
    model._put(plain)
    for part in model.modules():
        learned = vars(part).pop("_learned", ())
        for name, parameter in own_parameters(part):
            parameter.requires_grad |= name in learned
