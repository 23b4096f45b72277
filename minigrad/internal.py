"""The internal names of minigrad that ``nn`` and ``models`` use. They import only from here and from ``minigrad``.

Each import below is an export. These names are not public and may change with any version. Your own code should only use the
names of ``minigrad``. No file of minigrad imports this one.
"""

from importlib import import_module
from typing import Any, TypeVar

from ._source import user_place  # the instruction that the user's code is executing
from ._tree import leaves  # iterates over the leaves of nested lists, tuples and dicts
from .device import (
    check_range,  # refuses integers outside of [0, count)
    is_device_array,  # whether an array is on a device
    out_of_memory,  # makes an error with the amount of memory that was requested
    same_place,  # whether two arrays are on one device
    to_device,  # moves an array to a device
    to_host,  # moves an array to the host, as a NumPy array
    where_is,  # "on cuda:0", for messages
    zeros,  # zeros on the device of another array
)
from .engine.arrays import as_array  # converts numbers of any kind to an array, or raises an error
from .engine.hooks import hooks_of  # the functions that a sweep calls with the complete gradient of a node
from .engine.methods import untracked_array  # the array of a Tensor, or an error if a gradient would be lost
from .engine.modes import recording  # whether operations are recorded
from .engine.observers import active, recorders, scope  # the active observers, and the running module for them
from .engine.plan import Plan  # decides which values a recorded call keeps, and computes its backward
from .engine.registry import registry  # the primitive of each NumPy function
from .engine.tape import (
    Entry,  # an operation on the tape
    Leaf,  # the node of a parameter
    entry_of,  # the entry of a node
    next_sequence_number,  # the number for the next entry
    wengert_list,  # the entries that led to some nodes, in the order of execution
)
from .engine.tensor import Tensor, make_tensor  # makes a Tensor without the checks and the copy of the constructor
from .engine.types import Array, Node, TensorLike
from .errors import (
    check_ours,  # checks that `import nn` imports the package that comes with minigrad
    import_extra,  # imports an optional package, or raises an error that says what to install
)
from .rules.attention import (
    as_bias,  # checks an array that is added to scores
    as_mask,  # checks an array of booleans that masks scores
    attention_weights,  # softmax(q k^T * scale + bias)
    masked_softmax,  # the softmax over the keys that a mask allows
    split_heads,  # (..., length, heads * d) -> (..., heads, length, d)
)
from .rules.axes import at_least_float32  # float16 numbers as float32, which a count needs
from .rules.convolution import (
    Form as ConvolutionForm,  # stride, padding, dilation and groups
    convolution,  # the products of a kernel and what it meets in each step
    cropped,  # removes the padding
    spread,  # the transposed convolution
    steps_of,  # how many steps a kernel makes along each axis
)
from .rules.dropout import dropout  # dropout whose mask is a function of key and step
from .rules.einsum import explicit  # the labels of each operand of an einsum, and of the output
from .rules.indexing import scatter_add  # zeros with values added at an index
from .rules.losses import (
    REDUCTIONS,  # the mean, the sum, or each of some losses
    binary_cross_entropy as bce_of_probabilities,  # the loss without the checks of nn's function
    binary_cross_entropy_with_logits as bce_of_logits,
    minus_picked,  # -scores[label]
    squared_error,
    times,  # a product that is 0 where its first factor is 0
)
from .rules.neural import (
    LOWEST,  # the score of a masked key
    check_labels,  # checks labels and a reduction
    rms_norm as rms_norm_of,  # the RMS norm without the checks of nn's function
    rotated,  # pairs of columns, turned by angles
)
from .rules.pooling import max_pool  # the largest element of each window
from .rules.products import (
    dot_products,  # x @ y^T, which reads nothing backward where the gradient is 0
    weighted_sum,  # weights @ values, which reads nothing where the weight is 0
)
from .rules.ranges import (
    all_finite,  # whether arrays have no NaN and no infinite number
    power_of_two,  # the power of two below the largest number of each row
    squares_fit,  # whether the sums of squares of rows stay in the range of their dtype
)
from .rules.recurrent import (
    gru_states,  # the states of a GRU after each token
    gru_step,  # the next state of a GRU
    lstm_states,  # the states and cells of an LSTM after each token
    lstm_step,  # the next state and cell of an LSTM
    scan,  # the states after each token, for any step
)
from .rules.special import check_not_complex  # refuses complex numbers
from .serialize import (
    CheckpointError,  # the error for a file with unexpected content
    Maybe,  # marks a key that may be missing
    digest,  # the checksum of arrays
    load_checkpoint,
    read_arrays,
    read_json,
    read_text,
    require,  # checks the form of what a file contains
    save_checkpoint,
)
from .transforms.checkpoint import replayed  # a value that the second run of a checkpoint reuses

try:
    from .kernels.layers import (
        Division,  # which parameters an optimizer updates together
        update_in_blocks,  # runs an optimizer's update on parts of large arrays
    )
    from .kernels.switches import compiled_adam  # the step of Adam that numba compiles, if it is switched on
except ImportError as missing_package:
    if missing_package.name != "minigrad.kernels":
        raise
    from ._without_kernels import (  # type: ignore[assignment]  # the class has the methods of Division
        EachAlone as Division,
        compiled_adam,
        update_in_blocks,
    )

T = TypeVar("T", bound=Tensor)


def array_of(tensor: Tensor) -> Array:
    """Return the array of a Tensor for reading. Unlike ``tensor.data``, it does not make guards look for later writes."""
    return tensor._array


def node_of(tensor: Tensor) -> Node | None:
    """Return the node of a Tensor on the tape, or None if the Tensor requires no gradient."""
    return tensor._node


def fits(x: "TensorLike", weight: Tensor) -> bool:
    """Whether ``x`` is a Tensor with the dtype of ``weight`` and as many columns as ``weight`` has rows."""
    if not isinstance(x, Tensor):
        return False
    ours, theirs = x._array, weight._array
    return bool(ours.dtype == theirs.dtype and ours.shape[-1:] == theirs.shape[:1])


def stand_in(tensor: T, array: Array, node: Node | None) -> T:
    """Make a Tensor from an array and a node, with the class and the name of ``tensor``."""
    made = type(tensor).__new__(type(tensor))
    made._array, made._node, made._grad, made.name = array, node, None, tensor.name
    return made


def figures() -> Any:
    """Return the module that draws pictures with matplotlib into files, which is imported only when it is needed."""
    return import_module(".graph.draw.figures", __package__)


def gradient_river() -> Any:
    """Return the class GradientRiver, which notes and draws the size of gradients. It is imported only when it is needed."""
    return import_module(".debug.river", __package__).GradientRiver


def missing(module: str, name: str) -> Any:
    """Make the error for a name that a module does not have. It suggests minigrad's name for the same thing."""
    return import_module("._other_names", __package__).missing(module, name)


def missing_attribute(value: object, kind: str, name: str) -> Any:
    """Raise the error for an attribute that a "module" or an "optimizer" does not have; call it from ``__getattr__``."""
    return import_module("._other_names", __package__).of_object(value, kind, name)


def setting(name: str, known: list[str]) -> str:
    """Return our name, one of the ``known`` ones, for a setting of a model in another library, or ""."""
    ours: str = import_module("._other_names", __package__).setting(name, known)
    return ours
