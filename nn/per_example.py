"""The gradient of the loss of each example of a batch, from one forward and one backward pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, UnsupportedError, autograd_grad, tree_map
from minigrad.internal import Array, array_of, leaves, node_of, wengert_list, zeros

from ._checks import beside, check_callable, check_kind, plain
from .affine import Affine
from .convolution import Conv1d, Conv2d, ConvTranspose2d
from .dropout import Dropout
from .embedding import Embedding, TiedOutput
from .example_grads import ExampleGrads
from .lora import LoRA
from .masks import positions_of
from .module import Module, Parameter
from .normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from .positional import LearnedPositions


def per_example_grads(
    model: Module, loss: Callable[[Any, Any], Tensor], batch: Any, *, check: bool = True
) -> ExampleGrads:
    """Return the gradient of each example's loss: a dict from path to array, ``(batch, *shape)``, as :class:`ExampleGrads`.

    ``loss(model, batch)`` returns one loss per example, as ``reduction="none"`` gives them, and the first axis of every array
    in ``batch`` is the examples. Row i is the gradient of ``loss(model, example i alone)[0]``. Frozen parameters are left out.

    One backward pass gives the gradient g of the output of each layer. The row of an :class:`Affine` is then
    ``x[i].T @ g[i]`` (Goodfellow 2015, arXiv:1510.01799). The layers of a model may be Affine, LoRA, Embedding, TiedOutput,
    LearnedPositions, LayerNorm, RMSNorm and all that is built from them, such as attention; for convolutions, GroupNorm and
    BatchNorm in evaluation mode the layer's own backward runs once per example. The gradients take as much memory as ``batch``
    copies of the parameters. The model is as after a call of it, and ``grad`` of its parameters does not change.

    Args:
        check: whether to run the first example alone too, and then the last; a single example runs beside a copy of itself.
            This shows a layer whose input does not have the examples as its first axis, and a loss that depends on other
            examples. While dropout is active, losses of the same example differ, so only the shapes are compared: call
            ``model.eval()`` to compare the losses. In a loop, one call with the check is enough.

    Raises:
        UnsupportedError: a BatchNorm in training mode, which mixes the examples; a parameter that another layer uses; or an
            input of a layer whose first axis is not the examples. Then differentiate one example at a time.
        ArgumentError: the arrays of ``batch`` have different lengths, or the loss of an example depends on the others.
        ShapeError: ``loss`` does not return one number per example.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.Affine(2, 1, rng=np.random.default_rng(0), dtype=np.float64)
        >>> rows = nn.per_example_grads(layer, lambda model, x: model(x)[:, 0], np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> rows["weight"][..., 0].tolist(), rows["bias"].tolist()
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0], [1.0]])
    """
    check_kind("a Module", Module, model=model)
    check_callable(loss=loss)
    check_kind("True or False", check=check)
    shapes = [np.shape(leaf) for leaf in leaves(batch)]
    if len({shape[:1] for shape in shapes} | {()}) != 2 or () in shapes:
        raise ArgumentError(f"batch must be arrays whose first axis is the examples, got the shapes {shapes}")
    modules, count = dict(model.named_modules()), shapes[0][0]
    for path, module in modules.items():
        if isinstance(module, BatchNorm) and module.training:
            raise UnsupportedError(
                f"the BatchNorm '{path}' mixes the examples in training: call model.eval(), or use nn.GroupNorm"
            )
    run = _NotedRun(model, loss, modules)
    losses, calls = run.losses(batch, count)
    run.copies.hand_back()  # what the call has assigned to the copy, such as the counts of Dropout
    if check and count == 1:  # only a second example shows which axis is that of the examples
        both, its_calls = run.losses(tree_map(lambda array: np.concatenate([plain(array, "batch")] * 2), batch), 2)
        run.check_alone("first", batch, both.numpy(), 2, its_calls)
    for which, i in (("first", 0), ("last", count - 1)) if check and count > 1 else ():
        run.check_alone(which, tree_map(lambda array, i=i: array[i : i + 1], batch), losses.numpy()[[i]], count, calls)
    for call in calls:
        run.check_axis(call, call.x.shape[:1] == (count,), count, "")
    found: dict[int, Array] = {}
    for call, g in zip(calls, autograd_grad(losses.sum(), [call.y for call in calls], allow_unused=True)):
        rows = {} if g is None or not call.parameters else _RULES[type(call.layer)](call, array_of(g))
        for path, p in call.parameters.items() if rows else ():
            found[id(p)] = found[id(p)] + rows[path] if id(p) in found else rows[path]
    return ExampleGrads(
        {
            path: found[id(p)] if id(p) in found else zeros((count, *p.shape), array_of(p))
            for path, p in run.parameters.items()
            if p.requires_grad
        }
    )


class _LayerCall(NamedTuple):
    """One call of a layer: its trainable parameters, its input and options, and its output on the tape."""

    layer: Any
    parameters: dict[str, Parameter]
    x: Array
    keywords: Mapping[str, Any]
    y: Tensor


class _Noted(Module):
    """Stands for a layer: it computes with the layer's parameters as constants, and notes each call."""

    def __init__(self, layer: Module, calls: list[_LayerCall]) -> None:
        self.layer, self.calls = layer, calls
        own = dict(layer.named_parameters())
        self.trained = {path: p for path, p in own.items() if p.requires_grad}
        self.constant = layer.replaced({path: array_of(p) for path, p in own.items()})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.layer, name)  # the parameters themselves: another use of them is found on the tape

    def forward(self, x: Any, **keywords: Any) -> Tensor:
        y: Tensor = self.constant(x, **keywords)
        y = y if node_of(y) is not None else Tensor(array_of(y), requires_grad=True, copy=False)
        array = array_of(x) if isinstance(x, Tensor) else plain(x, "x")
        self.calls.append(_LayerCall(self.layer, self.trained, array, keywords, y))
        return y


class _NotedRun:
    """A copy of the model in which the layers note their calls."""

    def __init__(self, model: Module, loss: Any, modules: dict[str, Module]) -> None:
        self.loss, self.modules, self.parameters = loss, modules, dict(model.named_parameters())
        self.calls: list[_LayerCall] = []
        noted = {path: _Noted(layer, self.calls) for path, layer in modules.items() if type(layer) in _RULES}
        self.copies = model._copies(noted)
        self.model = self.copies.of(model)

    def losses(self, batch: Any, count: int) -> tuple[Tensor, list[_LayerCall]]:
        """Return the losses and the calls of the layers; raise if a parameter was used in another way."""
        self.calls.clear()
        losses = self.loss(self.model, batch)
        if not isinstance(losses, Tensor) or losses.shape != (count,):
            got = losses.shape if isinstance(losses, Tensor) else type(losses).__name__
            raise ShapeError(
                f'loss must return one loss per example, a Tensor of shape ({count},), got {got}: pass reduction="none", and '
                "take the mean over the other axes"
            )
        used = {
            id(parent) for entry in wengert_list([node_of(losses)]) for parent in entry.parents if parent is not None
        }
        for path, parameter in self.parameters.items():
            if id(node_of(parameter)) in used:
                raise UnsupportedError(
                    f"'{path}' is used outside of the layers that per_example_grads takes, "
                    f"{', '.join(layer.__name__ for layer in _RULES)}: differentiate one example at a time"
                )
        return losses, list(self.calls)  # a copy: mg.checkpoint calls the layers again in the backward pass

    def check_alone(self, which: str, example: Any, loss: Array, count: int, calls: list[_LayerCall]) -> None:
        """Run one example alone, and raise if a layer gets another shape, or the loss is not as among all examples."""
        alone, its_calls = self.losses(example, 1)
        for call, its in zip(calls, its_calls):
            fits = its.x.shape[:1] == (1,) and call.x.shape == (count, *its.x.shape[1:])
            self.check_axis(call, fits, count, f" and {its.x.shape} for one")
        dropped = any(isinstance(m, Dropout) and m.training and m.p for m in self.modules.values())
        if len(calls) != len(its_calls) or not (dropped or np.allclose(alone.numpy(), loss, 1e-3, 1e-6)):
            raise ArgumentError(
                f"the {which} example alone has another loss than in the batch: it must not depend on others"
            )

    def check_axis(self, call: _LayerCall, fits: bool, count: int, beside_it: str) -> None:
        """Raise unless the first axis of the input of a layer is that of the ``count`` examples."""
        if not fits:
            path = next(path for path, module in self.modules.items() if module is call.layer)
            raise UnsupportedError(
                f"the input of '{path}' must have the examples as its first axis, got {call.x.shape} for {count} "
                f"example{'s' * (count != 1)}{beside_it}"
            )


def _flat(array: Array) -> Array:
    """Return (batch, rows, width): all axes between the first and the last are joined."""
    return _rows(array, 1)


def _rows(array: Array, last: int) -> Array:
    """Join all axes between the first and the ``last`` ones. A size of -1 would not do that for no example."""
    ends = array.shape[array.ndim - last :]
    return array.reshape(len(array), math.prod(array.shape[1 : array.ndim - last]), *ends)


def _product(x: Array, g: Array) -> Array:
    """Return ``x[i].T @ g[i]`` for each example: (batch, rows, m), (batch, rows, n) -> (batch, m, n)."""
    if x.shape[1] == 1:
        return np.einsum("bi,bo->bio", x[:, 0], g[:, 0])  # matmul makes a product of BLAS for each example
    product: Array = x.swapaxes(1, 2) @ g
    return product


def _affine(call: _LayerCall, g: Array) -> dict[str, Array]:
    g = _flat(g)
    bias = {"bias": g.sum(axis=1)}
    if "weight" not in call.parameters:  # frozen, and too large to compute for nothing
        return bias
    return bias | {"weight": _product(_flat(call.x).astype(g.dtype, copy=False), g)}


def _lora(call: _LayerCall, g: Array) -> dict[str, Array]:
    x, scaled = _flat(call.x).astype(g.dtype, copy=False), call.layer.scale * _flat(g)
    down, up = array_of(call.layer.down), array_of(call.layer.up)
    return _affine(call, g) | {"down": _product(x, scaled @ up.T), "up": _product(x @ down, scaled)}


def _tied_output(call: _LayerCall, g: Array) -> dict[str, Array]:
    g = _flat(g)
    return {"embedding.weight": _product(g, _flat(call.x).astype(g.dtype, copy=False)), "bias": g.sum(axis=1)}


def _embedding(call: _LayerCall, g: Array) -> dict[str, Array]:
    count, (vocabulary, width) = len(g), call.layer.weight.shape
    if call.layer.padding_idx is not None:
        g = np.where((beside(call.x, g) == call.layer.padding_idx)[..., None], 0, g)
    rows = zeros((count * vocabulary, width), g)
    tables = beside(vocabulary * np.arange(count)[:, None], g)  # where the table of each example begins
    np.add.at(rows, (_rows(beside(call.x, g), 0) + tables).reshape(-1), g.reshape(-1, width))
    return {"weight": rows.reshape(count, vocabulary, width)}


def _positions(call: _LayerCall, g: Array) -> dict[str, Array]:
    length, start, key_mask = g.shape[-2], call.keywords.get("start", 0), call.keywords.get("key_mask")
    rows = zeros((len(g), *call.layer.weight.shape), g)
    if key_mask is not None:
        np.add.at(rows, (beside(np.arange(len(g))[:, None], g), positions_of(call.y, start, key_mask)), g)
        return {"weight": rows}
    rows[:, start : start + length] = _rows(g, 2).sum(axis=1)
    return {"weight": rows}


def _norm(call: _LayerCall, g: Array) -> dict[str, Array]:
    ones = {path: np.full_like(array_of(p), path == "weight") for path, p in call.layer.named_parameters()}
    normalized = array_of(call.layer.replaced(ones)(call.x))
    return {"weight": _flat(normalized * g).sum(axis=1), "bias": _flat(g).sum(axis=1)}


def _each(call: _LayerCall, g: Array) -> dict[str, Array]:
    """Run the layer and its backward once per example."""
    own = list(call.parameters.values())
    if not len(g):
        return {path: zeros((0, *p.shape), g) for path, p in call.parameters.items()}
    masks = {name: plain(mask, name) for name, mask in call.keywords.items() if mask is not None}
    grads = []
    for i in range(len(g)):
        one = call.layer(call.x[i : i + 1], **{name: mask[i : i + 1] for name, mask in masks.items()})
        grads.append(autograd_grad(one, own, g[i : i + 1]))
    return {path: np.stack([array_of(row[k]) for row in grads]) for k, path in enumerate(call.parameters)}


_RULES: dict[type, Callable[[_LayerCall, Array], dict[str, Array]]] = {
    Affine: _affine, LoRA: _lora, TiedOutput: _tied_output, Embedding: _embedding, LearnedPositions: _positions,
    LayerNorm: _norm, RMSNorm: _norm, Conv1d: _each, Conv2d: _each, ConvTranspose2d: _each, GroupNorm: _each, BatchNorm: _each,
}  # fmt: skip
