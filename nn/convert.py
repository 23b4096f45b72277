"""Convert the weights of a module to the names and shapes of PyTorch's counterpart, and back.

    state = to_torch_state(layer)                                       # NumPy arrays
    theirs.load_state_dict({name: torch.from_numpy(a) for name, a in state.items()})
    from_torch_state(layer, theirs.state_dict())

PyTorch itself is not imported. Its Linear stores the transpose of an Affine's weight, and its MultiheadAttention stores the
weights of queries, keys and values in one array. The parts of its Transformer layers have other names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import as_array, to_host, untracked_array

from ._checks import check_kind
from .affine import Affine
from .embedding import TiedOutput
from .lora import LoRA
from .module import DETACH, Buffer, Module, Parameter, check_names, children
from .multi_head import MultiHeadAttention, PackedMultiHeadAttention
from .normalization import LayerNorm
from .recurrent import OverTokens, RecurrentCell
from .residual import Sequential
from .transformer import TransformerDecoderLayer, TransformerEncoderLayer

Array = np.ndarray[Any, Any]
COUNTER = "num_batches_tracked"  # PyTorch's BatchNorm counts its batches, and uses the count only for momentum=None


def to_torch_state(module: Module, *, gradients: bool = False) -> dict[str, Array]:
    """Return copies of the parameters under PyTorch's names.

    Affine corresponds to Linear, MultiHeadAttention to MultiheadAttention, and TiedOutput to a Linear that shares the
    embedding's weight. RNN, GRU and LSTM with ``reverse=True`` are the second direction of a bidirectional one. Without it,
    they have the same name in PyTorch, and so have their cells, TransformerEncoderLayer, TransformerDecoderLayer, LayerNorm,
    RMSNorm, Embedding, convolutions and GroupNorm; BatchNorm corresponds to BatchNorm1d and
    BatchNorm2d. Any other module is converted part by part, and its attributes keep their names.

    Args:
        gradients: whether to return the gradients, to compare them with PyTorch's; a missing gradient is returned as zeros.

    Raises:
        ArgumentError: PyTorch has no counterpart, because an attention layer has rotary positions, a scale of its own, or
            heads or outputs whose total width is not d_model, because a LayerNorm has ``eps_outside=True``, or because there
            is a LoRA. A module of your own in PyTorch can have such an attention: convert its maps one by one.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> state = nn.to_torch_state(nn.Affine(3, 2, rng=np.random.default_rng(0)))
        >>> {name: array.shape for name, array in state.items()}  # Linear has the transpose
        {'weight': (2, 3), 'bias': (2,)}
    """
    check_kind("a Module", Module, module=module)
    check_kind("True or False", gradients=gradients)
    entries = [entry for entry in _all_entries(module) if not (gradients and isinstance(entry.stacked[0], Buffer))]
    return {entry.name: _stacked([_array(p, entry, gradients) for p in entry.stacked]) for entry in entries}


def from_torch_state(module: Module, state: Mapping[str, Any]) -> None:
    """Copy the arrays (or CPU tensors) of a PyTorch ``state_dict()`` into the parameters of ``module``.

    Raises:
        ArgumentError: names are missing or unexpected, or a parameter with two names has two values. One of the names suffices.
        ShapeError, DTypeError: an array has another shape or dtype than its parameter.
        UnsupportedError: a Tensor in ``state`` requires a gradient, which would be lost.
            After any of these errors no parameter has been changed.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.Affine(3, 2, rng=np.random.default_rng(0), dtype=np.float64)
        >>> nn.from_torch_state(layer, {"weight": np.ones((2, 3)), "bias": np.zeros(2)})
        >>> layer.weight.shape, layer([1.0, 2.0, 3.0]).tolist()
        ((3, 2), [6.0, 6.0])
    """
    check_kind("a Module", Module, module=module)
    check_kind("a dictionary", state=state)
    entries = {entry.name: entry for entry in _all_entries(module)}
    state = {name: value for name, value in state.items() if name in entries or name.rpartition(".")[2] != COUNTER}
    given = {id(p) for name, entry in entries.items() if name in state for p in entry.stacked}
    entries = {  # without other names of tied weights: a file of safetensors holds one name of each
        name: entry
        for name, entry in entries.items()
        if name in state or not all(id(p) in given for p in entry.stacked)
    }
    check_names(f"PyTorch's state dict does not fit {type(module).__name__}", entries, state)
    paths = {id(tensor): path for path, tensor in module._state_by_path().items()}
    ours: dict[str, Array] = {}
    for name, entry in entries.items():
        value = state[name]
        if isinstance(value, Tensor):
            value = untracked_array(value, f"from_torch_state of '{name}',", DETACH)
        for parameter, array in zip(entry.stacked, _unstacked(_on_host(name, value), entry)):
            path = paths[id(parameter)]
            if not np.array_equal(ours.setdefault(path, array), array, equal_nan=True):
                raise ArgumentError(
                    f"'{name}' is tied to '{path}', and PyTorch's state dict has different values for it"
                )
    module.load_state_dict(ours)


def _on_host(name: str, value: Any) -> Array:
    try:
        return np.asarray(as_array(to_host(value)))
    except DTypeError as error:  # bfloat16, for example
        kind = getattr(value, "dtype", type(value).__name__)
        raise DTypeError(
            f"PyTorch's '{name}' has dtype {kind}, of which NumPy makes no array of numbers: convert the state dict first, "
            "{name: tensor.float() for name, tensor in state.items()}"
        ) from error


class _StateEntry(NamedTuple):
    """One of PyTorch's arrays: its name, and the parameters that are concatenated in it along the first axis."""

    name: str
    stacked: Sequence[Parameter | Buffer]
    transposed: bool


def _array(parameter: Parameter | Buffer, entry: _StateEntry, gradients: bool) -> Array:
    array = parameter.data
    if gradients:
        array = np.zeros_like(array) if parameter.grad is None else parameter.grad.data
    array = to_host(array)
    return array.T if entry.transposed else array


def _stacked(arrays: list[Array]) -> Array:
    return np.array(arrays[0] if len(arrays) == 1 else np.concatenate(arrays), order="C")


def _unstacked(array: Array, entry: _StateEntry) -> list[Array]:
    """Split PyTorch's array into those of our parameters."""
    shapes = [p.shape[::-1] if entry.transposed else p.shape for p in entry.stacked]
    needed = shapes[0] if len(shapes) == 1 else (sum(shape[0] for shape in shapes), *shapes[0][1:])
    if array.shape != needed:
        raise ShapeError(f"PyTorch's '{entry.name}' has shape {array.shape}, and the parameters here need {needed}")
    parts = [array] if len(shapes) == 1 else np.split(array, np.cumsum([shape[0] for shape in shapes])[:-1])
    return [np.array(part.T if entry.transposed else part, order="C") for part in parts]


def _all_entries(module: Module) -> Iterator[_StateEntry]:
    if any(isinstance(part, LoRA) for part in module.modules()):
        raise ArgumentError("PyTorch has no LoRA: nn.merge_lora(model) makes plain maps first")
    yield from _entries(module)


def _entries(value: Any, path: str = "") -> Iterator[_StateEntry]:
    """Yield PyTorch's arrays for ``value``, a module, a parameter or another attribute of a module."""
    if isinstance(value, (Parameter, Buffer)):
        yield _StateEntry(path, [value], transposed=False)
    elif isinstance(value, Affine):
        yield _StateEntry(_joined(path, "weight"), [value.weight], transposed=True)
        yield from _entries(value.bias, _joined(path, "bias"))
    elif isinstance(value, MultiHeadAttention):
        yield from _attention_entries(value, path)
    elif isinstance(value, OverTokens):
        for cell, layer, reverse in value.cells():
            yield from _cell_entries(cell, path, f"_l{layer}" + "_reverse" * reverse)
    elif isinstance(value, RecurrentCell):
        yield from _cell_entries(value, path)
    elif isinstance(value, LayerNorm) and value.eps_outside:
        raise ArgumentError("PyTorch's LayerNorm has eps inside the root, unlike LayerNorm(eps_outside=True)")
    else:
        for name, child in _children(value):
            yield from _entries(child, _joined(path, name))


def _cell_entries(cell: RecurrentCell, path: str, suffix: str = "") -> Iterator[_StateEntry]:
    for name, part in (("ih", cell.input), ("hh", cell.state)):
        yield _StateEntry(_joined(path, f"weight_{name}{suffix}"), [part.weight], transposed=True)
        yield from _entries(part.bias, _joined(path, f"bias_{name}{suffix}"))


def _attention_entries(attention: MultiHeadAttention, path: str) -> Iterator[_StateEntry]:
    if packed := isinstance(attention, PackedMultiHeadAttention):
        maps = [attention.input]
    else:
        maps = [attention.query, attention.key, attention.value]
    weights, biases = [part.weight for part in maps], [part.bias for part in maps if part.bias is not None]
    d_model = attention.d_model
    columns = [weight.shape[1] for weight in weights], attention.output.weight.shape
    if (
        columns != ([3 * d_model] if packed else 3 * [d_model], (d_model, d_model))
        or attention.rotary
        or attention.scale
    ):
        raise ArgumentError(
            "PyTorch's MultiheadAttention has queries, keys and values of total width d_model, no rotary positions and the "
            f"scale 1 / sqrt(key_dim), unlike {type(attention).__name__}({attention.extra_repr()}): the weights "
            "fit a module of your own with a Linear for each map, which nn.to_torch_state converts (docs/from-pytorch.md)"
        )
    if packed or attention.context_dim == d_model:
        yield _StateEntry(_joined(path, "in_proj_weight"), weights, transposed=True)
    else:
        for letter, weight in zip("qkv", weights):
            yield _StateEntry(_joined(path, f"{letter}_proj_weight"), [weight], transposed=True)
    if biases:
        yield _StateEntry(_joined(path, "in_proj_bias"), biases, transposed=False)
    yield from _entries(attention.output, _joined(path, "out_proj"))


def _layer_parts(layer: TransformerEncoderLayer | TransformerDecoderLayer) -> Iterator[tuple[str, Module | None]]:
    yield "self_attn", layer.attention
    norms = [layer.attention_norm, layer.feed_forward_norm]
    if isinstance(layer, TransformerDecoderLayer):
        yield "multihead_attn", layer.cross_attention
        norms.insert(1, layer.cross_attention_norm)
    yield "linear1", layer.feed_forward.hidden
    yield "linear2", layer.feed_forward.output
    yield "gate", layer.feed_forward.gate  # only SwiGLU has a gate; PyTorch's layers have none
    for i, norm in enumerate(norms, 1):
        yield f"norm{i}", norm


def _children(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the parts of a module under PyTorch's names."""
    if isinstance(value, TransformerEncoderLayer | TransformerDecoderLayer):
        return _layer_parts(value)
    if isinstance(value, TiedOutput):
        return [("weight", value.embedding.weight), ("bias", value.bias)]
    if isinstance(value, Sequential):
        return enumerate(value.layers)
    return children(value)


def _joined(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)
