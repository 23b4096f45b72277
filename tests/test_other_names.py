"""What is said of the names of others is run, and compared with what PyTorch computes under that name."""

import ast
import builtins
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
import models
import nn
from minigrad import ArgumentError, Tensor, _other_names
from tests.lazy import torch

TABLES = {"mg": _other_names.MINIGRAD, "nn": _other_names.NN, "F": _other_names.FUNCTIONAL, "t": _other_names.TENSOR}
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
    "t.view": (lambda t: t.view(3, 8), {"t": X}, "shape = (3, 8)"),
    "t.masked_fill": (lambda t, mask: t.masked_fill(mask, 2.5), {"t": X, "mask": X > 0}, "value = 2.5"),
    "t.masked_select": (lambda t, mask: t.masked_select(mask), {"t": X, "mask": X > 0}, ""),
    "t.permute": (lambda t: t.permute(2, 0, 1), {"t": TOKENS}, "axes = (2, 0, 1)"),
    "t.movedim": (lambda t: t.movedim(0, 2), {"t": TOKENS}, "source, destination = 0, 2"),
    "t.swapdims": (lambda t: t.swapdims(0, 2), {"t": TOKENS}, "first, second = 0, 2"),
    "t.t": (lambda t: t.t(), {"t": X}, ""),
    "t.unsqueeze": (lambda t: t.unsqueeze(1), {"t": X}, "axis = 1"),
    "t.expand": (lambda t: t.expand(2, 4, 6), {"t": X}, "shape = (2, 4, 6)"),
    "t.repeat_interleave": (lambda t: t.repeat_interleave(3, 1), {"t": X}, "count, axis = 3, 1"),
    "t.narrow": (lambda t: t.narrow(1, 2, 3), {"t": X}, "start, stop = 2, 5"),
    "t.index_select": (
        lambda t: t.index_select(1, torch.tensor([4, 0, 4])), {"t": X}, "index, axis = np.array([4, 0, 4]), 1"
    ),
    "t.gather": (
        lambda t: t.gather(1, torch.tensor([[1], [0], [5], [1]])), {"t": X},
        "index, axis = np.array([[1], [0], [5], [1]]), 1",
    ),
    "t.index_copy": (
        lambda t, v: t.index_copy(0, torch.tensor([3, 1]), v), {"t": X, "v": Y[:2]}, "index = np.array([3, 1])"
    ),
    "t.index_add": (
        lambda t, v: t.index_add(0, torch.tensor([1, 1, 3]), v), {"t": X, "v": Y[:3]}, "index = np.array([1, 1, 3])"
    ),
    "t.clamp": (lambda t: t.clamp(-0.5, 0.5), {"t": X}, "low, high = -0.5, 0.5"),
    "t.mm": (lambda t, u: t.mm(u), {"t": X, "u": W}, ""),
    "t.mul": (lambda t, u: t.mul(u), {"t": X, "u": Y}, ""),
    "t.div": (lambda t, u: t.div(u), {"t": X, "u": Y}, ""),
    "t.sub": (lambda t, u: t.sub(u), {"t": X, "u": Y}, ""),
    "t.neg": (lambda t: t.neg(), {"t": X}, ""),
    "t.rsqrt": (lambda t: t.rsqrt(), {"t": POSITIVE}, ""),
    "t.norm": (lambda t: t.norm(), {"t": X}, ""),
    "t.relu": (lambda t: t.relu(), {"t": X}, ""),
    "t.sigmoid": (lambda t: t.sigmoid(), {"t": FAR}, ""),
    "t.softmax": (lambda t: t.softmax(0), {"t": X}, "axis = 0"),
    "t.log_softmax": (lambda t: t.log_softmax(0), {"t": X}, "axis = 0"),
    "t.chunk": (lambda t: torch.cat([p * i for i, p in enumerate(t.chunk(2, 1))]), {"t": X}, "count, axis = 2, 1"),
    "t.unbind": (lambda t: torch.cat([p * i for i, p in enumerate(t.unbind())]), {"t": X}, ""),
    "t.clone": (lambda t: t.clone(), {"t": X}, ""),
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
NO_FORMULA = {"data", "array", "shape", "path", "model", "batch_size", "state", "index", "step", "t", "dtype"}


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
    assert name.startswith("t.") or not where or "index" in where or "ones" in where or where in said(name)

    def ours(*tensors: Any) -> Any:
        scope = KNOWN | dict(zip(given, tensors))
        exec(where, scope)
        value = eval(expression, scope)
        if isinstance(value, (list, tuple)):  # several results
            value = np.concatenate([part * i for i, part in enumerate(value)])
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


def test_methods_of_others() -> None:
    """Every name is missing, and is answered; NumPy's functions too; a name of nobody's and a private one stay plain."""
    t = Tensor(X)
    for name in _other_names.TENSOR:
        with pytest.raises(AttributeError, match=rf"^'Tensor' object has no attribute '{name}': write ") as raised:
            getattr(t, name)
        assert (raised.value.name, raised.value.obj is t) == (name, True)
    with pytest.raises(AttributeError, match=r"'tril': write np.tril, which works on Tensors$"):
        _ = t.tril  # type: ignore[attr-defined]
    for name in ("frobnicate", "_view", "__view__"):
        with pytest.raises(AttributeError, match=rf"^'Tensor' object has no attribute '{name}'$"):
            getattr(t, name)
        assert not hasattr(t, name)


def test_attributes_of_other_modules_and_optimizers() -> None:
    """Every name is missing, and is answered; a name of nobody's stays plain, and so does a private one."""
    layer = nn.Affine(2, 1, rng=rng)
    for value, table in ((layer, _other_names.MODULE), (nn.SGD(layer.parameters(), 0.1), _other_names.OPTIMIZER)):
        said = f"'{type(value).__name__}' object has no attribute"
        for name in table:
            with pytest.raises(AttributeError, match=rf"^{said} '{name}': write ") as raised:
                getattr(value, name)
            assert (raised.value.name, raised.value.obj is value) == (name, True)
        for name in ("frobnicate", "_params", "__array__"):
            with pytest.raises(AttributeError, match=rf"^{said} '{name}'$"):
                getattr(value, name)
    with pytest.raises(AttributeError, match=r"'cuda': write module.to\('cuda'\)$"):
        layer.cuda()  # type: ignore[attr-defined]


def test_an_error_in_a_property_of_a_module_is_its_own() -> None:
    class Own(nn.Module):
        @property
        def children(self) -> Any:
            return self.nothing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match=r"'Own' object has no attribute 'nothing'$"):
        _ = Own().children


def test_an_error_in_a_property_of_a_subclass_is_its_own() -> None:
    class Own(Tensor):
        @property
        def view(self) -> Any:
            return self.nothing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match=r"'Own' object has no attribute 'nothing'$"):
        _ = Own(X).view


def test_settings_of_others() -> None:
    configs = [each for each in vars(models).values() if isinstance(each, type) and issubclass(each, models.Config)]
    known = {field.name for config in configs for field in dataclasses.fields(config)}
    for ours in _other_names.SETTINGS.values():
        assert set(ours.split()) <= known
    makers: list[Any] = [models.GPTConfig, lambda **values: models.GPTConfig.from_dict(values)]
    for make in makers:
        with pytest.raises(
            ArgumentError, match=r"^GPTConfig has no 'block_size'; write window in place of block_size; it has"
        ):
            make(vocab_size=5, block_size=8)
        with pytest.raises(
            ArgumentError, match=r"^GPTConfig has no 'heads', 'num_labels'; it has notes, vocab_size, window"
        ):
            make(vocab_size=5, window=8, heads=2, num_labels=2)
