"""What is said of the names of others is run, and compared with what PyTorch computes under that name."""

import ast
import builtins
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
import models
import nn
from minigrad import Tensor, _other_names
from tests.lazy import torch

TABLES = {"mg": _other_names.MINIGRAD, "nn": _other_names.NN, "F": _other_names.FUNCTIONAL}
F = torch.nn.functional
KNOWN = {"np": np, "minigrad": minigrad, "nn": nn, "models": models}
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2, 4, 6))
FAR = np.concatenate([X.ravel(), [-800.0, -40.0, 40.0, 800.0]])  # where exp() overflows, and a gradient may become NaN
LABELS, BITS = rng.integers(0, 6, 4), rng.integers(0, 2, (4, 6)).astype(float)
P = np.exp(X) / np.exp(X).sum()
TOKENS = rng.normal(size=(2, 8, 3))  # the channels last
W, B, POSITIVE = rng.normal(size=(6, 3)), rng.normal(size=3), rng.uniform(0.1, 0.9, (4, 6))
WEIGHT = rng.normal(size=())


def first(t: Any) -> Any:
    """Channels where PyTorch has them."""
    return t.movedim(-1, 1)


# Of each hint that is a formula: PyTorch's function, what it is given by name, and what the hint says of further names.
FORMULAS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "F.elu": (lambda x: F.elu(x), {"x": FAR}, ""),
    "F.leaky_relu": (lambda x: F.leaky_relu(x), {"x": FAR}, ""),
    "F.prelu": (lambda x, weight: F.prelu(x, weight.reshape(1)), {"x": FAR, "weight": WEIGHT}, ""),
    "F.selu": (lambda x: F.selu(x), {"x": FAR}, ""),
    "F.softplus": (lambda x: F.softplus(x), {"x": FAR}, ""),
    "F.softsign": (lambda x: F.softsign(x), {"x": FAR}, ""),
    "F.logsigmoid": (lambda x: F.logsigmoid(x), {"x": FAR}, ""),
    "F.relu6": (lambda x: F.relu6(x), {"x": FAR}, ""),
    "F.hardtanh": (lambda x: F.hardtanh(x), {"x": FAR}, ""),
    "F.mish": (lambda x: F.mish(x), {"x": FAR}, ""),
    "F.glu": (lambda x: F.glu(x), {"x": X}, "a, b = np.split(x, 2, axis=-1)"),
    "F.softmin": (lambda x: F.softmin(x, dim=-1), {"x": X}, ""),
    "F.l1_loss": (lambda x, y: F.l1_loss(x, y), {"x": X, "y": Y}, ""),
    "F.adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(first(x), 1)[:, :, 0], {"x": TOKENS}, ""),
    "F.linear": (lambda x, W, b: F.linear(x, W.T, b), {"x": X, "W": W, "b": B}, ""),
    "F.pad": (lambda x: F.pad(x, (1, 2)), {"x": X}, ""),
    "F.normalize": (lambda x: F.normalize(x), {"x": X}, ""),
    "F.cosine_similarity": (lambda x, y: F.cosine_similarity(x, y), {"x": X, "y": Y}, ""),
    "F.pairwise_distance": (lambda x, y: F.pairwise_distance(x, y, eps=0.0), {"x": X, "y": Y}, ""),
    "F.standardize": (lambda x: F.layer_norm(x, (6,)), {"x": X}, "weight, bias = np.ones(6), np.zeros(6)"),
    "mg.mm": (lambda a, b: torch.mm(a, b), {"a": X, "b": W}, ""),
    "mg.index_add": (
        lambda t, v: t.index_add(0, torch.tensor([1, 1, 3]), v), {"t": X, "v": Y[:3]}, "index = np.array([1, 1, 3])"
    ),
    "nn.Identity": (lambda x: x, {"x": X}, ""),
}  # fmt: skip

# Of each hint that names a function or a loss: what it is called with.
NAMED: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "nn.ReLU": (lambda x: F.relu(x), [FAR]),
    "nn.GELU": (lambda x: F.gelu(x), [FAR]),
    "nn.SiLU": (lambda x: F.silu(x), [FAR]),
    "nn.Sigmoid": (lambda x: torch.sigmoid(x), [FAR]),
    "nn.Tanh": (lambda x: torch.tanh(x), [FAR]),
    "nn.Softmax": (lambda x: F.softmax(x, -1), [X]),
    "nn.LogSoftmax": (lambda x: F.log_softmax(x, -1), [X]),
    "nn.CrossEntropyLoss": (lambda x, y: F.cross_entropy(x, y), [X, LABELS]),
    "nn.MSELoss": (lambda x, y: F.mse_loss(x, y), [X, Y]),
    "nn.BCELoss": (lambda x, y: F.binary_cross_entropy(x, y), [POSITIVE, BITS]),
    "nn.BCEWithLogitsLoss": (lambda x, y: F.binary_cross_entropy_with_logits(x, y), [X, BITS]),
    "nn.NLLLoss": (lambda x, y: F.nll_loss(x, y), [np.log(P), LABELS]),
}
OTHERWISE = (
    "lambda",
    "nn.Batches",
    "minigrad.Tensor",
)  # have tests of their own, or none to compare with
NO_FORMULA = {"data", "array", "shape", "path", "model", "batch_size", "state", "index", "step", "t"}


def code(said: str) -> str:
    """The expression that a hint begins with, or nothing: the longest one up to a comma, a colon or the end."""
    found = ""
    for end in re.finditer(r"[,:;] |$", said):
        part = said[: end.start()]
        try:
            tree = ast.parse(part, mode="eval").body
        except SyntaxError:
            continue
        found = found if isinstance(tree, ast.Tuple) else part
    return found


def free(expression: str) -> set[str]:
    """What names it uses that stand for arrays."""
    tree = ast.parse(expression, mode="eval")
    own = {arg.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for arg in node.args.args}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used - own - set(KNOWN) - set(dir(builtins))


def said(name: str) -> str:
    package, _, rest = name.partition(".")
    return TABLES[package][rest]


def assert_as_torch(ours: Callable[..., Any], theirs: Callable[..., Any], given: list[Any]) -> None:
    """The same values, and the same gradients of every floating array."""
    tensors = [Tensor(array, requires_grad=True) if array.dtype.kind == "f" else array for array in given]
    others = [torch.tensor(array, requires_grad=array.dtype.kind == "f") for array in given]
    mine, other = ours(*tensors), theirs(*others)
    np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=1e-7, atol=1e-9)
    (mine * mine).sum().backward()
    (other * other).sum().backward()
    for tensor, one in zip(tensors, others):
        if isinstance(tensor, Tensor):
            np.testing.assert_allclose(np.asarray(tensor.grad), one.grad.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_what_pytorch_computes(name: str) -> None:
    theirs, given, where = FORMULAS[name]
    expression = code(said(name))
    assert not where or "index" in where or "ones" in where or where in said(name)

    def ours(*tensors: Any) -> Any:
        scope = KNOWN | dict(zip(given, tensors))
        exec(where, scope)
        value = eval(expression, scope)
        return value(*tensors) if callable(value) else value

    assert_as_torch(ours, theirs, list(given.values()))


@pytest.mark.parametrize("name", NAMED)
def test_a_function_is_what_pytorch_computes(name: str) -> None:
    theirs, given = NAMED[name]
    assert_as_torch(eval(code(said(name)), dict(KNOWN)), theirs, given)


def test_every_formula_of_the_tables_is_compared() -> None:
    compared = {said(name) for name in FORMULAS}
    formulas = {said for table in TABLES.values() for said in table.values() if free(code(said) or "0") - NO_FORMULA}
    assert len(compared) > 20
    assert {one for one in formulas - compared if not code(one).startswith(OTHERWISE)} == set()


def test_a_schedule_of_the_epoch_is_pytorchs() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    ours = eval(code(said("nn.ExponentialLR")), {"lr": 0.5, "gamma": 0.9})
    for i in range(8):
        assert scheduler.get_last_lr()[0] == pytest.approx(ours(i), rel=1e-12)
        optimizer.step()
        scheduler.step()


def test_functions_of_others_in_nn_functional() -> None:
    for name in _other_names.FUNCTIONAL:
        assert not hasattr(nn.functional, name)
        with pytest.raises(AttributeError, match=rf"^module 'nn.functional' has no attribute '{name}': write "):
            getattr(nn.functional, name)
    with pytest.raises(AttributeError, match=r"'einsum': write np.einsum, which works on Tensors"):
        getattr(nn.functional, "einsum")  # noqa: B009 - mypy knows that it is not there
    with pytest.raises(AttributeError, match=r"^module 'nn.functional' has no attribute 'frobnicate'$"):
        getattr(nn.functional, "frobnicate")  # noqa: B009
