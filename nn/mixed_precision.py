"""Training in float16 with float32 master weights and loss scaling."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, Self

import numpy as np

from minigrad import ArgumentError, DTypeError, GraphError, Tensor, UnsupportedError, primitive
from minigrad.device import to_host
from minigrad.engine.hooks import Hooks, hooks_of
from minigrad.engine.tape import Entry, Leaf, wengert_list

from ._checks import check_not_negative, check_positive
from ._precision import Precision
from ._training_state import TrainingError
from .module import Module
from .optimizer import Optimizer

_SMALLEST_SCALE = 2.0**-14  # where half of it would not help: the NaN comes from elsewhere


_FIRST = -1  # the number of a hook that goes before those of the user, which count from 0

_cast = primitive(lambda x, /, dtype: x.astype(dtype), name="cast").vjp(x=lambda g: g)  # the sweep casts it back


class MixedPrecision(Precision):
    """Compute in float16; keep weights, gradients and all that the optimizer remembers in float32.

    Micikevicius et al. 2018, arXiv:1710.03740::

        precision = nn.MixedPrecision(model, optimizer)
        for x, y in ...:
            optimizer.zero_grad()
            with precision:
                loss = nn.cross_entropy(model(x), y)
            precision.backward(loss)
            precision.step()

    Inside the block each parameter of the model is a float16 copy, so that its layers compute in float16. Outside it is the
    float32 *master weight*, to which small updates can be added that float16 would round away: ``model.state_dict()``
    there, clipping, ``grad_flow`` and the optimizer know nothing of float16. ``optimizer.step()`` inside the
    block raises, as it would change the copies, which are thrown away. (PyTorch's ``autocast`` chooses by operation;
    here every layer gets float16, and what the conventions name, such as softmax and the losses, computes in float32 inside.)

    Gradients below 6e-8 would be 0 in float16. So :meth:`backward` starts from ``scale`` instead of 1 (*loss scaling*), and
    gradients are divided by it where they arrive, in float32: ``p.grad`` is the gradient itself. Where one
    is infinite or NaN, the scale was too large: :meth:`step` changes nothing then and halves it. After
    ``growth_interval`` good steps it is doubled. (PyTorch's ``GradScaler`` does the same.)

    On a device ``step`` waits for one boolean: whether to make it.

    Args:
        model: in float32, for which the optimizer was made; it may be on a device.
        optimizer: of parameters of the model, any of them.
        dtype: "float16".
        scale: what the loss is multiplied by at first. Powers of 2 lose no digits.
        growth_interval: after how many steps without an overflow the scale is doubled.

    Attributes:
        scale: what the loss is multiplied by now.
        good_steps: how many steps were made since the scale changed.
        skipped: how many were not made, in all.

    Raises:
        DTypeError: a parameter is not float32: the model was converted already.
        ArgumentError: the optimizer changes tensors that are not the model's; a setting is out of its range.
        UnsupportedError: dtype is bfloat16.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> model = nn.Affine(2, 1, rng=np.random.default_rng(0))
        >>> precision = nn.MixedPrecision(model, nn.SGD(model.parameters(), lr=0.1), scale=1024.0)
        >>> with precision:
        ...     y = model(np.ones((4, 2)))
        ...     loss = nn.mean_squared_error(y, np.zeros((4, 1)))
        >>> precision.backward(loss)
        >>> precision.step()
        True
        >>> y.dtype, model.weight.dtype, model.weight.grad.dtype, precision.good_steps
        (dtype('float16'), dtype('float32'), dtype('float32'), 1)
    """

    def __init__(
        self,
        model: Module,
        optimizer: Optimizer,
        dtype: Any = "float16",
        *,
        scale: float = 2.0**16,
        growth_interval: int = 2000,
    ) -> None:
        super().__init__(optimizer)
        self.dtype = _float16(dtype)
        self.name = str(self.dtype)
        check_positive(growth_interval=growth_interval)
        self.scale = _positive_scale(scale)
        self.growth_interval = growth_interval
        self.good_steps = self.skipped = 0
        self._parameters = list(model.parameters())
        _check_model(model, optimizer)
        self._factor = 1.0  # 1 / scale in a scaled sweep
        self._masters: list[tuple[Any, Any]] | None = None  # arrays and nodes of the parameters, inside the block
        self._copies: list[Any] = []  # arrays of the latest block; until step() those of any block have the same values
        self._finite: Any = None  # whether the gradients are, perhaps still on the device; None before backward()

    # The block

    def __enter__(self) -> Self:
        if self._masters is not None:
            raise GraphError("this `with precision:` block has been entered already: its parameters are copies now")
        copies = [_cast(p, dtype=self.dtype) for p in self._parameters]
        self._masters = [(p._array, p._node) for p in self._parameters]
        try:
            for p, copy in zip(self._parameters, copies):
                p._array, p._node = copy._array, copy._node  # so that whoever holds the parameter finds the copy
        except BaseException:  # Ctrl-C
            self.restore_masters()
            raise
        self._copies = [copy._array for copy in copies]
        return self

    def restore_masters(self) -> None:
        """What leaving the block does. Again does no harm, so it may be called where Ctrl-C may have been in the way."""
        for p, (array, node) in zip(self._parameters, self._masters or ()):
            p._array, p._node = array, node
        self._masters = None

    # A step

    def backward(self, loss: Tensor, *, retain_graph: bool = False) -> None:
        """``loss.backward()`` from ``scale`` instead of 1, and all that arrives in a ``grad`` divided by it in float32.

        May be called for several losses before one step: the gradients add up, as they do without scaling. A loss need not
        have been computed in the block, or not all of it: ``loss + 0.01 * (w * w).sum()`` after the block adds a penalty in
        float32. (On the way gradients are multiplied: hooks and ``retain_grad`` of computed tensors see them so.)

        Raises:
            ArgumentError: the loss is no Tensor of one number.
            GraphError: the block has not been left; or as ``loss.backward()``, also for a ``checkpoint()`` outside of the
                block, as it is run again with the copies. On any of these no gradient has been changed.
        """
        if not isinstance(loss, Tensor) or loss.size != 1:
            got = f"a Tensor of shape {loss.shape}" if isinstance(loss, Tensor) else type(loss).__name__
            raise ArgumentError(f"precision.backward(loss) needs a Tensor of one number, got {got}: take a mean")
        if self._masters is not None:
            raise GraphError("precision.backward(loss) inside the `with precision:` block: leave it first")
        with np.errstate(over="ignore"):  # a loss in float16 overflows here already, and the step will be skipped
            cotangent = np.full_like(loss.data, self.scale)
        self._masters = [(p._array, p._node) for p in self._parameters]
        try:
            for p, copy in zip(self._parameters, self._copies):
                p._array = copy  # for a checkpoint(), which runs its function again now
            with self._dividing(wengert_list([loss._node]), loss._node):
                loss.backward(cotangent, retain_graph=retain_graph)
        finally:
            self.restore_masters()
        gradients = [p.grad.data for p in self._optimizer.parameters if p.grad is not None]
        self._finite = np.stack([np.isfinite(g).all() for g in gradients]).all() if gradients else True

    @contextmanager
    def _dividing(self, entries: list[Entry], last: Any) -> Iterator[None]:
        """Divide what arrives at the leaves: before their hooks, which see the gradient itself, and ``grad`` adds it up."""
        leaves = {node for entry in entries for node in entry.parents if type(node) is Leaf}
        if type(last) is Leaf:
            leaves.add(last)
        try:
            self._factor = 1 / self.scale
            for leaf in leaves:
                hooks = hooks_of(leaf)
                hooks.functions = {_FIRST: (0, self._divide)} | hooks.functions
            yield
        finally:
            self._factor = 1.0  # first: Ctrl-C may leave a hook behind, and it does nothing now
            for leaf in leaves:
                left = leaf.hooks or Hooks()
                left.functions.pop(_FIRST, None)
                leaf.hooks = left if left.functions else None
            for entry in entries:
                if entry.primitive is _cast:
                    entry.kept = ()  # it keeps nothing, and another loss of its block may lead to it

    def _divide(self, g: Any) -> Any:
        wide = np.promote_types(g.dtype, np.float32)
        return np.multiply(g, self._factor, dtype=wide).astype(g.dtype, copy=False)

    @property
    def overflowed(self) -> bool:
        """Whether a gradient is infinite or NaN, so that ``step()`` will be skipped: then there is nothing to clip either.

        The first look waits for the device; ``step()`` need not wait again.
        """
        if self._finite is None:
            return False
        self._finite = bool(to_host(self._finite))
        return not self._finite

    def step(self) -> bool:
        """The optimizer's step, unless a gradient is infinite or NaN; and the scale for the next one.

        Returns:
            Whether the step was made.

        Raises:
            GraphError: there was no ``precision.backward(loss)`` since the last step, or the block has not been left.
            TrainingError: gradients are not finite, however small the scale: something else than the scale is wrong.
        """
        if self._finite is None:
            raise GraphError("precision.step() needs precision.backward(loss) before it, instead of loss.backward()")
        if self._masters is not None:
            raise GraphError("precision.step() inside the `with precision:` block: leave it first")
        overflowed = self.overflowed
        if overflowed and self.scale / 2 < _SMALLEST_SCALE:
            raise TrainingError(
                f"gradients are not finite, even with a loss scale of {self.scale:g}: the forward pass may have left the "
                "range of float16 (65504). Inside `with minigrad.detect_anomaly():` the operation is named"
            )
        if overflowed:
            self.scale, self.good_steps, self.skipped = self.scale / 2, 0, self.skipped + 1
        else:
            self._optimizer.step()
            self.good_steps += 1
            if self.good_steps >= self.growth_interval:  # it may have been lowered
                self.scale, self.good_steps = 2 * self.scale, 0
        self._finite, self._copies = None, []
        return not overflowed

    # State

    def state_dict(self) -> dict[str, Any]:
        """The scale and its counters. The master weights are in ``model.state_dict()``, outside of the block."""
        names = ("scale", "growth_interval", "good_steps", "skipped")
        return {"dtype": str(self.dtype)} | {name: getattr(self, name) for name in names}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Go on from what ``state_dict`` gave, after the model and the optimizer have loaded theirs.

        Raises:
            ArgumentError: it is no such state, or one for another dtype, or a field of it is out of its range. Nothing has
                been changed.
        """
        now = self.state_dict()
        if not isinstance(saved, Mapping) or saved.keys() != now.keys() or saved["dtype"] != now["dtype"]:
            raise ArgumentError(f"this is no state of a MixedPrecision({self.dtype}): {saved!r}")
        scale = _positive_scale(saved["scale"])
        check_positive(growth_interval=saved["growth_interval"])
        check_not_negative(good_steps=saved["good_steps"], skipped=saved["skipped"])
        vars(self).update({name: value for name, value in saved.items() if name != "dtype"} | {"scale": scale})

    def __repr__(self) -> str:
        return f"MixedPrecision({self.dtype}, scale={self.scale:g}; {self.skipped} steps skipped)"


def _float16(dtype: Any) -> np.dtype[Any]:
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    if name == "bfloat16":
        raise UnsupportedError(
            "bfloat16 is no dtype of NumPy, and that of ml_dtypes does not behave as one: its arrays become float32 in x * 2.0 "
            "and x @ w, einsum refuses them, and 4096 ones add up to 256. Use 'float16', whose range loss scaling makes up for"
        )
    if name not in ("float16", "half"):
        raise ArgumentError(f"dtype must be 'float16', got {dtype!r}")
    return np.dtype(np.float16)


def _positive_scale(scale: float) -> float:
    if not isinstance(scale, Real) or not 0 < scale <= sys.float_info.max:
        raise ArgumentError(f"scale must be a positive number, got {scale!r}")
    return float(scale)


def _check_model(model: Module, optimizer: Optimizer) -> None:
    for path, p in model.named_parameters():
        if p.dtype != np.float32:
            raise DTypeError(
                f"MixedPrecision keeps the weights in float32 and makes the copies itself, and '{path}' is {p.dtype}: call "
                "model.astype(np.float32) before making the optimizer"
            )
    own = {id(p) for p in model.parameters()}
    if strangers := sum(id(p) not in own for p in optimizer.parameters):
        raise ArgumentError(
            f"the optimizer changes {strangers} tensors that are not the model's: make it of model.parameters(), and let the "
            "model hold all that is trained"
        )
