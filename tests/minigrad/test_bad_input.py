"""Mistakes: each is one clear error that names what it got and the way out, and leaves everything as it was."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import (
    ArgumentError,
    DTypeError,
    GraphError,
    MinigradError,
    OutOfRangeError,
    ShapeError,
    Tensor,
    UnsupportedError,
)

A = np.arange(12.0).reshape(3, 4)


def tracked(*shape: int) -> Any:
    return Tensor(np.ones(shape), requires_grad=True)


def _of_complex(name: str, x: Any) -> Any:
    return getattr(mg, name)(x * 1j, *[np.ones(4)] * 2 * (name == "layer_norm"))


LABELS = np.array([0, 1, 2])
CALLS: dict[str, tuple[Callable[[Any], Any], type[MinigradError], str]] = {
    # shapes
    "add": (lambda x: x + np.ones((4, 3)), ShapeError, r"add\(x: shape \(3, 4\) float64, y: shape \(4, 3\).*equal or 1"),
    "multiply": (lambda x: np.ones(3) * x, ShapeError, r"multiply.*\(3,\).*\(3, 4\).*(reshape|transpose|None)"),
    "matmul": (lambda x: x @ np.ones((3, 2)), ShapeError, r"matmul\(x: shape \(3, 4\).*y: shape \(3, 2\).*last axis of x"),
    "matmul 0-d": (lambda x: x @ 2.0, ShapeError, "matmul"),
    "matmul 1-d": (lambda x: np.ones(4) @ x, ShapeError, r"\(4,\).*\(3, 4\)"),
    "reshape": (lambda x: x.reshape(5, 2), ShapeError, r"reshape.*\(3, 4\).*\(5, ?2\)"),
    "transpose": (lambda x: x.transpose(0, 0), ShapeError, r"transpose.*\(3, 4\)"),
    "squeeze": (lambda x: x.squeeze(0), ShapeError, r"squeeze.*\(3, 4\)"),
    "concatenate": (lambda x: np.concatenate([x, np.ones((1, 3))]), ShapeError, r"concatenate.*\(3, 4\).*\(1, 3\)"),
    "stack": (lambda x: np.stack([x, x[0]]), ShapeError, r"stack.*\(3, 4\).*\(4,\)"),
    "split": (lambda x: np.split(x, 2), ShapeError, r"split.*\(3, 4\)"),
    "broadcast_to": (lambda x: np.broadcast_to(x, (3, 3)), ShapeError, r"broadcast_to.*\(3, 4\)"),
    "where": (lambda x: np.where(np.ones(3, bool), x, 0.0), ShapeError, r"where.*\(3,\) bool.*\(3, 4\)"),
    "axis": (lambda x: x.sum(axis=2), OutOfRangeError, r"sum\(a: shape \(3, 4\) float64\).*axis 2"),
    "axis twice": (lambda x: x.mean(axis=(0, -2)), ArgumentError, "mean.*axis"),
    "affine": (lambda x: mg.affine(x, np.ones((3, 2)), np.ones(2)), ShapeError,
               r"affine\(x: shape \(3, 4\).*weight: shape \(3, 2\)"),
    "affine bias": (lambda x: mg.affine(x, np.ones((4, 2)), np.ones(3)), ShapeError, r"affine.*bias: shape \(3,\)"),
    "layer_norm": (lambda x: mg.layer_norm(x, np.ones(3), np.ones(4)), ShapeError, r"layer_norm.*gamma: shape \(3,\)"),
    **{
        f"{name} of complex numbers": (
            partial(_of_complex, name),
            DTypeError, f"{name} takes real numbers, got complex128",
        )
        for name in ("layer_norm", "relu", "sigmoid", "silu", "softmax", "log_softmax")
    },
    "layer_norm rows": (lambda x: mg.layer_norm(x.reshape(3, 2, 2), np.ones((6, 2)), np.ones(2)), ShapeError, r"\(6, 2\)"),
    "attention": (lambda x: mg.scaled_dot_product_attention(x, np.ones((5, 3)), np.ones((5, 3))), ShapeError,
                  r"attention\(query: shape \(3, 4\).*key: shape \(5, 3\)"),
    "attention values": (lambda x: mg.scaled_dot_product_attention(x, np.ones((5, 4)), np.ones((6, 4))), ShapeError,
                         r"key: shape \(5, 4\).*value: shape \(6, 4\)"),
    "attention heads": (lambda x: mg.scaled_dot_product_attention(x, x, x, num_heads=3), ShapeError, r"\(3, 4\)"),
    "attention mask": (lambda x: mg.scaled_dot_product_attention(x, x, x, np.ones((2, 2), bool)), ShapeError,
                       r"mask must have the shape \(query, key\) = \(3, 3\), or three axes .*got \(2, 2\)"),
    "attention mask of keys": (lambda x: mg.scaled_dot_product_attention(x, x, x, np.ones(3, bool)), ShapeError,
                               r"got \(3,\): .* nn's key_mask= to say which keys are tokens"),
    "attention mask of floats": (
        lambda x: mg.scaled_dot_product_attention(x, x, x, np.where(np.tri(3, dtype=bool), 0.0, -1e9)), DTypeError,
        r"mask must be boolean, .* got dtype float64: pass mask\.astype\(bool\) .* key_mask= .* or bias= "),
    "attention mask of integers": (lambda x: mg.scaled_dot_product_attention(x, x, x, mask=np.tri(3, dtype=int)),
                                   DTypeError, "mask must be boolean, .* got dtype int64"),
    "attention mask with a gradient": (lambda x: mg.scaled_dot_product_attention(x, x, x, x @ x.T), DTypeError,
                                       "mask must be boolean, .* got dtype float64.* bias= "),
    "attention bias of booleans": (lambda x: mg.scaled_dot_product_attention(x, x, x, bias=np.tri(3, dtype=bool)),
                                   DTypeError, "bias must hold real numbers, .* got dtype bool: pass mask= for booleans"),
    "attention bias of complex numbers": (lambda x: mg.scaled_dot_product_attention(x, x, x, bias=np.ones((3, 3)) * 1j),
                                          DTypeError, "bias must hold real numbers, .* got dtype complex128$"),
    "attention bias": (lambda x: mg.scaled_dot_product_attention(x, x, x, None, np.ones((3, 4))), ShapeError,
                       r"bias must have a shape that broadcasts to .* = \(1, 3, 3\), got \(3, 4\)"),
    "attention bias that makes a batch": (lambda x: mg.scaled_dot_product_attention(x, x, x, bias=np.ones((2, 1, 3, 3))),
                                          ShapeError, r"= \(1, 3, 3\), got \(2, 1, 3, 3\)"),
    # indices and labels
    "index": (lambda x: x[3], OutOfRangeError, r"getitem\(x: shape \(3, 4\).*index 3"),
    "token ids": (lambda x: x[np.array([0, 7])], OutOfRangeError, r"index 7.*3"),
    "take": (lambda x: np.take(x, [5], axis=1), OutOfRangeError, r"take.*index 5"),
    "too many indices": (lambda x: x[0, 0, 0], OutOfRangeError, "too many indices"),
    "mask of another shape": (lambda x: x[np.ones(4, bool)], OutOfRangeError, "boolean"),
    "float index": (lambda x: x[1.0], OutOfRangeError, "getitem"),
    "label": (lambda x: mg.cross_entropy(x, np.array([0, 4, 1])), OutOfRangeError, r"label 4.*4 classes: 0 to 3"),
    "negative label": (lambda x: mg.cross_entropy(x, np.array([0, -1, 1])), OutOfRangeError, "label -1"),
    "labels of another shape": (lambda x: mg.cross_entropy(x, np.array([0, 1])), ShapeError, r"\(3, 4\).*\(2,\)"),
    "float labels": (lambda x: mg.cross_entropy(x, np.ones(3)), DTypeError, "integer labels, got float64"),
    "list of labels": (lambda x: mg.cross_entropy(x, "abc"), DTypeError, "cross_entropy, labels: .*numbers from str"),
    # values of arguments
    "reduction": (lambda x: mg.cross_entropy(x, LABELS, reduction="avg"), ArgumentError, "'mean', 'sum' or 'none', got 'avg'"),
    "approximate": (lambda x: mg.gelu(x, approximate="fast"), ArgumentError, "'none' or 'tanh', got 'fast'"),
    "unknown keyword": (lambda x: mg.softmax(x, axes=1), UnsupportedError, "axes"),
    "missing argument": (lambda x: mg.affine(x, x), UnsupportedError, "bias"),
    "too many arguments": (lambda x: mg.relu(x, x, x), UnsupportedError, "relu"),
    "text": (lambda x: x + "abc", DTypeError, "add"),
    "None": (lambda x: x * None, DTypeError, "multiply"),
    # differentiating what has no derivative
    "condition": (lambda x: np.where(x, 1.0, 2.0), UnsupportedError, r"'condition'.*t\.detach\(\)"),
    "indices": (lambda x: np.take(A, x), UnsupportedError, r"requires a gradient.*t\.numpy\(\)"),
    # backward
    "non-scalar": (lambda x: (x * 2).backward(), GraphError, r"shape \(3, 4\) needs the argument grad.*sum\(\)"),
    "grad of another shape": (lambda x: (x * 2).backward(np.ones(3)), ShapeError, r"\(3,\).*\(3, 4\)"),
    "grad that would broadcast": (lambda x: x.sum().backward(np.ones(1)), ShapeError, r"\(1,\).*\(\)"),
    "complex grad": (lambda x: x.sum().backward(np.array(1j)), DTypeError, "complex128"),
    "text as grad": (lambda x: x.sum().backward("abc"), DTypeError, "str"),
    "no gradient needed": (lambda x: x.detach().sum().backward(), GraphError, r"does not require a gradient.*no_grad"),
    "check_grads": (lambda x: mg.check_grads(np.exp, [A], order=0), ArgumentError, "order"),
}  # fmt: skip


@pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "reference"])
@pytest.mark.parametrize(("call", "kind", "message"), CALLS.values(), ids=CALLS)
def test_bad_calls(call: Callable[[Any], Any], kind: type[MinigradError], message: str, kernels: bool) -> None:
    x = tracked(3, 4)
    x.grad = A
    with pytest.raises(kind, match=f"(?s){message}") as error:
        if kernels:
            call(x)
        else:
            with mg.reference_mode():
                call(x)
    assert isinstance(error.value, MinigradError) and not mg.reference_mode.active()
    assert (x.data == 1).all() and x.requires_grad and (x.grad.data == A).all()


@pytest.mark.parametrize("data", [1, [1, 2], True, np.ones(2, np.int32), np.zeros(2, bool)])
def test_integers_have_no_gradient(data: Any) -> None:
    dtype = np.asarray(data).dtype
    with pytest.raises(DTypeError, match=rf"requires_grad=True.*{dtype}.*2\.0 rather than 2"):
        Tensor(data, requires_grad=True)
    t = Tensor(data)
    with pytest.raises(DTypeError, match=str(dtype)):
        t.requires_grad = True
    assert not t.requires_grad
    assert Tensor(data, requires_grad=True, dtype=float).requires_grad


@pytest.mark.parametrize("data", ["text", object(), [[1.0], [1.0, 2.0]], {"a": 1}, np.array(["a"]), None])
def test_what_is_no_array_of_numbers(data: Any) -> None:
    with pytest.raises(DTypeError, match=type(data).__name__):
        Tensor(data)


def test_integers_stay_out_of_the_gradient() -> None:
    """An operation on integers and a tracked tensor is differentiable; an integer result is not."""
    x = tracked(3)
    (x * np.arange(3)).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 1, 2] and x.grad.dtype == np.float64
    for cast in (lambda t: t.astype(int), lambda t: np.multiply(t, 2, dtype=int, casting="unsafe")):
        try:
            y = cast(x)
        except MinigradError:
            continue
        assert y.dtype == int and not y.requires_grad


def test_errors_are_also_the_built_in_ones() -> None:
    for kind, builtin in [
        (ShapeError, ValueError), (ArgumentError, ValueError), (DTypeError, TypeError), (UnsupportedError, TypeError),
        (GraphError, RuntimeError), (OutOfRangeError, IndexError), (mg.MissingExtraError, ImportError),
        (mg.GradientError, AssertionError),
    ]:  # fmt: skip
        assert issubclass(kind, builtin) and issubclass(kind, MinigradError)


def test_numpys_own_error_is_the_cause() -> None:
    with pytest.raises(ShapeError) as error:
        tracked(3) + np.ones(4)
    assert isinstance(error.value.__cause__, ValueError)


def test_the_same_calls_on_plain_arrays_raise_the_same() -> None:
    for call in (
        lambda: mg.cross_entropy(A, np.array([9, 0, 0])),
        lambda: mg.gelu(A, approximate="?"),
        lambda: mg.affine(A, A, A),
    ):
        with pytest.raises(MinigradError):
            call()


def test_a_warning_of_numpy_stays_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        y = np.log(Tensor([0.0, 1.0], requires_grad=True))
    y.sum().backward()  # the sweep is silent: it meets only what the forward pass has warned about
    with pytest.warns(RuntimeWarning):
        tracked(2) / np.zeros(2)
