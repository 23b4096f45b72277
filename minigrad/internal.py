"""The inside of minigrad that ``nn`` and ``models`` build on, by one door: they import from here and from ``minigrad`` alone.

Where these names come from may change with any version; that they are here stays the business of this file. Nothing in
minigrad imports it. Code of your own needs none of it: the public names are those of ``minigrad``.
"""

from importlib import import_module
from typing import Any, TypeVar

from ._tree import leaves  # what is in lists, tuples and dicts, one after the other
from .device import (
    check_range,  # refuses integers outside of [0, count)
    is_device_array,  # whether an array lies off the host
    out_of_memory,  # the error that says how much was asked for
    same_place,  # whether two arrays lie on one device
    to_device,  # an array, moved
    to_host,  # an array as NumPy's
    where_is,  # "on cuda:0", for messages
)
from .engine.arrays import as_array  # numbers of any kind as an array, or an error that says why not
from .engine.hooks import hooks_of  # what is called with a node's gradient when it is complete
from .engine.methods import plain_array  # the array of a Tensor, refused where a gradient would be lost
from .engine.modes import recording  # whether operations go onto the tape
from .engine.observers import active, recorders, scope  # who watches, and the module they see running
from .engine.plan import Plan  # what a primitive keeps of a call, and its backward
from .engine.registry import registry  # the primitive of each NumPy function
from .engine.tape import (
    Entry,  # an operation on the tape
    Leaf,  # where a tape begins: the place of a parameter
    entry_of,  # the entry that a node belongs to
    new_entry,  # an operation put onto the tape by hand
    next_sequence_number,  # of the entry to be recorded next
    wengert_list,  # the entries that lead to some nodes, in their order
)
from .engine.tensor import Tensor, make_tensor  # a Tensor around an array, without checks and copy
from .engine.types import Array, Node
from .errors import (
    check_ours,  # that `import nn` finds the package that comes with minigrad
    import_extra,  # an optional package, or an error that says what to install
)
from .rules.attention import (
    as_bias,  # what may be added to scores, checked
    as_mask,  # booleans that may stand before scores, checked
    attention_weights,  # softmax(q k^T * scale + bias)
    masked_softmax,  # over the keys that a mask allows
    split_heads,  # (..., length, heads * d) -> (..., heads, length, d)
)
from .rules.dropout import dropout  # with a mask that is a function of key and step
from .rules.neural import REDUCTIONS, check_labels, largest  # of losses: their reductions, labels, stable maximum
from .serialize import (
    CheckpointError,  # a file is not what it should be
    Maybe,  # a key that may be missing
    digest,  # the checksum of arrays
    load_checkpoint,
    read_arrays,
    read_json,
    read_text,
    require,  # the form of what a file says
    save_checkpoint,
)
from .transforms.checkpoint import replayed  # a value that a checkpoint's second run finds again, not anew

try:
    from .kernels.switches import compiled_adam  # the step of Adam that numba compiles, if that is on
    from .kernels.threads import BLOCK, in_parts  # elements that share a cache; work in parts, a thread each
except ImportError as missing_room:
    if missing_room.name != "minigrad.kernels":
        raise
    from ._without_kernels import BLOCK, compiled_adam, in_parts

T = TypeVar("T", bound=Tensor)

__all__ = [
    "BLOCK",
    "REDUCTIONS",
    "Array",
    "CheckpointError",
    "Entry",
    "Leaf",
    "Maybe",
    "Plan",
    "active",
    "array_of",
    "as_array",
    "as_bias",
    "as_mask",
    "attention_weights",
    "check_labels",
    "check_ours",
    "check_range",
    "compiled_adam",
    "digest",
    "dropout",
    "entry_of",
    "fits",
    "hooks_of",
    "import_extra",
    "in_parts",
    "is_device_array",
    "largest",
    "leaves",
    "load_checkpoint",
    "make_tensor",
    "masked_softmax",
    "missing",
    "new_entry",
    "next_sequence_number",
    "node_of",
    "out_of_memory",
    "plain_array",
    "read_arrays",
    "read_json",
    "read_text",
    "recorders",
    "recording",
    "registry",
    "replayed",
    "require",
    "same_place",
    "save_checkpoint",
    "scope",
    "split_heads",
    "stand_in",
    "to_device",
    "to_host",
    "wengert_list",
    "where_is",
]


def array_of(tensor: Tensor) -> Array:
    """Give a Tensor's array to read: unlike ``tensor.data``, which tells those who look for writes that it was handed out."""
    return tensor._array


def node_of(tensor: Tensor) -> Node | None:
    """Give a Tensor's place on the tape, None if no gradient flows into it."""
    return tensor._node


def fits(x: Any, weight: Tensor) -> bool:
    """Say whether ``x`` is a Tensor of the weight's dtype with a column for each of the weight's rows."""
    if not isinstance(x, Tensor):
        return False
    ours, theirs = x._array, weight._array
    return bool(ours.dtype == theirs.dtype and ours.shape[-1:] == theirs.shape[:1])


def stand_in(tensor: T, array: Array, node: Node | None) -> T:
    """Make a Tensor of the class and the name of another, around an array, at a place on the tape."""
    made = type(tensor).__new__(type(tensor))
    made._array, made._node, made._grad, made.name = array, node, None, tensor.name
    return made


def missing(module: str, name: str) -> Any:
    """Make the error for a name that a module does not have, which says what ours is called."""
    return import_module("._other_names", __package__).missing(module, name)
