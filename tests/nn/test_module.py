"""Modules find their parameters, name them by path, and save and load them."""

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, UnsupportedError, no_grad
from minigrad.engine.observers import active
from nn import Affine, Dropout, Embedding, Module, Parameter, Sequential, TransformerEncoderLayer
from tests.nn.layers import rng


class Net(Module):
    """Parameters in every kind of place. The order of the attributes is not the alphabet's."""

    def __init__(self, seed: int = 0):
        generator = rng(seed)
        self.scale = Parameter([2.0], dtype=np.float32)
        self.layers = [Affine(3, 3, rng=generator), Affine(3, 3, rng=generator, bias=False)]
        self.heads: dict[Any, Any] = {
            "b": Affine(3, 1, rng=generator),
            "a": (Parameter(np.ones(3)), Dropout(0.5, rng=generator)),
        }
        self.note = "no parameter"
        self.untracked = Tensor([1.0])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.heads["b"](x * self.scale)


PATHS = ["scale", "layers.0.weight", "layers.0.bias", "layers.1.weight", "heads.b.weight", "heads.b.bias", "heads.a.0"]
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def pickled(module: Module) -> Module:
    copied: Module = pickle.loads(pickle.dumps(module))
    return copied


def test_parameters_come_in_attribute_order_with_their_paths() -> None:
    net = Net()
    assert [path for path, _ in net.named_parameters()] == PATHS
    assert dict(net.named_parameters())["layers.1.weight"] is net.layers[1].weight
    assert list(map(id, net.parameters())) == [id(parameter) for _, parameter in net.named_parameters()]
    assert net.num_parameters == 1 + (9 + 3) + 9 + (3 + 1) + 3


def test_modules_come_with_their_paths() -> None:
    net = Net()
    assert [path for path, _ in net.named_modules()] == ["", "layers.0", "layers.1", "heads.b", "heads.a.1"]
    assert next(net.modules()) is net


def test_parameters_are_float32_unless_asked_and_require_a_gradient() -> None:
    assert {p.dtype for p in Affine(2, 2, rng=rng()).parameters()} == {np.dtype(np.float32)}
    assert {p.dtype for p in Affine(2, 2, rng=rng(), dtype=np.float64).parameters()} == {np.dtype(np.float64)}
    assert all(p.requires_grad and isinstance(p, Tensor) for p in Net().parameters())


def test_tied_parameters_and_shared_modules_appear_once() -> None:
    net = Net()
    net.tied = net.layers[0].weight  # type: ignore[attr-defined]
    net.again = net.layers[1]  # type: ignore[attr-defined]
    assert [path for path, _ in net.named_parameters()] == PATHS
    assert net.num_parameters == Net().num_parameters


def test_a_module_that_holds_itself_is_walked_once() -> None:
    net = Net()
    net.parts = [net]  # type: ignore[attr-defined]
    assert [path for path, _ in net.named_parameters()] == PATHS


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])
def test_a_copy_has_its_own_weights_and_keeps_ties(duplicate) -> None:
    net = Net()
    net.tied = net.layers[0].weight  # type: ignore[attr-defined]
    net.scale.requires_grad = False
    before = net(X).numpy().copy()
    clone = duplicate(net)
    assert clone.tied is clone.layers[0].weight
    assert isinstance(clone.tied, Parameter) and not clone.scale.requires_grad
    for parameter in clone.parameters():
        parameter.data += 1
    np.testing.assert_array_equal(net(X).numpy(), before)
    assert not np.array_equal(clone(X).numpy(), before)


def test_a_module_is_freed_by_reference_counting() -> None:
    gc.disable()
    try:
        net = Net()
        net(X).sum().backward()
        gone = weakref.ref(net.layers[0].weight)
        del net
        assert gone() is None
    finally:
        gc.enable()


# --- state dicts ---


def test_state_dict_copies() -> None:
    net = Net()
    state = net.state_dict()
    assert list(state) == PATHS
    assert all(type(array) is np.ndarray and array.flags.c_contiguous for array in state.values())
    state["scale"][:] = 7
    assert net.scale.tolist() == [2.0]


def test_load_state_dict_makes_two_modules_equal() -> None:
    net, other = Net(0), Net(1)
    state = other.state_dict()
    assert not np.array_equal(net(X).numpy(), other(X).numpy())
    net.load_state_dict(state)
    np.testing.assert_array_equal(net(X).numpy(), other(X).numpy())
    state["scale"][:] = 7  # the module took a copy
    assert net.scale.tolist() == [2.0]


def test_load_state_dict_takes_tensors_and_a_merged_dict() -> None:
    net = Net()
    net.load_state_dict(net.state_dict() | {"scale": Parameter([5.0], dtype=np.float32).detach()})
    assert net.scale.tolist() == [5.0]


def test_load_state_dict_refuses_a_tensor_whose_gradient_would_be_lost() -> None:
    net = Net()
    before = net.state_dict()
    new = Parameter([5.0], dtype=np.float32)
    for tracked in (new, new * 2.0):
        state = {path: array + 1 for path, array in before.items()} | {"scale": tracked}
        with pytest.raises(UnsupportedError, match=r"'scale'.*requires a gradient.*t\.detach\(\).*nn\.functional_call"):
            net.load_state_dict(state)
    for path, array in net.state_dict().items():
        np.testing.assert_array_equal(array, before[path])


def test_load_state_dict_keeps_the_parameters_and_their_gradients() -> None:
    """An optimizer, or a graph that is still to be swept, goes on with the same Parameter."""
    net = Net()
    weight, loss = net.layers[0].weight, net(X).sum()
    net.load_state_dict(Net(1).state_dict())
    loss.backward()
    assert net.layers[0].weight is weight and weight.grad is not None


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.pop("layers.0.bias"), ArgumentError, ["missing", "'layers.0.bias'", "Net"]),
        (lambda s: s.update(extra=np.ones(1)), ArgumentError, ["unexpected", "'extra'"]),
        (lambda s: s.clear(), ArgumentError, ["missing", "'scale'", "and 2 more"]),
        (lambda s: s.update({"heads.b.bias": np.ones((2, 2), "f4")}), ShapeError, ["'heads.b.bias'", "(2, 2)", "(1,)"]),
        (
            lambda s: s.update({"heads.b.bias": np.ones(1)}),
            DTypeError,
            ["'heads.b.bias'", "float64", "float32", "astype"],
        ),
    ],
    ids=["missing", "unexpected", "empty", "shape", "dtype"],
)
def test_load_state_dict_that_does_not_fit_says_so_and_changes_nothing(change, error, words) -> None:
    net = Net()
    before = net.state_dict()
    state = {name: array + 1 for name, array in before.items()}
    change(state)
    with pytest.raises(error) as caught:
        net.load_state_dict(state)
    assert all(word in str(caught.value) for word in words), caught.value
    for name, array in net.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_two_parameters_of_one_path_raise_rather_than_hide_each_other() -> None:
    net = Net()
    net.heads = {1: Parameter([1.0]), "1": Parameter([2.0])}
    with pytest.raises(ArgumentError, match=r"'heads\.1'"):
        net.state_dict()


# --- modes ---


def test_a_module_with_other_parts_is_a_copy_that_shares_the_rest() -> None:
    model: Any = Sequential(Affine(2, 2, rng=rng()), np.tanh, Affine(2, 2, rng=rng()))
    first = model.layers[0]
    vars(model)["tied"] = (first.weight, lambda x: x @ first.weight)
    before, weight = model.state_dict(), Tensor(np.eye(2) * 2, requires_grad=True)
    other: Any = model.replaced({"layers.0.weight": weight, "layers.2": np.negative})
    assert type(other) is type(model) and other.layers[0] is not first and other.layers[0].bias is first.bias
    assert other.tied[0] is other.layers[0].weight and other.layers[1:] == [np.tanh, np.negative]
    other([[1.0, 0.0]]).sum().backward()
    other.tied[1](np.ones((1, 2))).sum().backward()
    assert weight.grad is not None
    slope = -(1 - np.tanh([2.0, 0.0]) ** 2)  # of the first call; that of the second is 1 everywhere
    np.testing.assert_allclose(weight.grad.numpy(), np.stack([1 + slope, np.ones(2)]), rtol=1e-6)
    assert all((array == before[path]).all() for path, array in model.state_dict().items()) and len(before) == 4
    assert first.weight.grad is None and model.replaced({"": np.exp}) is np.exp


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"wieght": np.eye(2)}, ArgumentError, r"^Affine has no such parts: unexpected: 'wieght'$"),
        ({"weight": np.eye(3)}, ShapeError, r"^values\['weight'\] has shape \(3, 3\), and the parameter has \(2, 2\)$"),
        (
            {"weight": np.eye(2) * 1j},
            DTypeError,
            r"values\['weight'\] has dtype complex128, and the parameter has float32",
        ),
        ({"weight": [["a"]]}, DTypeError, r"^values\['weight'\]: "),
        (["weight"], ArgumentError, r"^values must be a dictionary"),
    ],
)
def test_other_parts_that_do_not_fit_are_refused(values: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Affine(2, 2, rng=rng()).replaced(values)


def test_train_and_eval_reach_every_module() -> None:
    net = Net()
    assert all(module.training for module in net.modules())
    assert net.eval() is net and not any(module.training for module in net.modules())
    assert net.train() is net and all(module.training for module in net.modules())


def test_zero_grad_forgets_every_gradient() -> None:
    net = Net()
    net(X).sum().backward()
    assert net.scale.grad is not None
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())


def test_astype_converts_and_the_module_computes_in_it() -> None:
    net = Net()
    assert net(X).dtype == np.float32
    assert net.astype(np.float64) is net
    assert net(X).dtype == np.float64


def test_a_frozen_parameter_gets_no_gradient() -> None:
    net = Net()
    net.scale.requires_grad = False
    net(X).sum().backward()
    assert net.scale.grad is None and net.layers[0].weight.grad is not None
    assert "scale" in net.state_dict()


# --- calling ---


def test_without_forward_the_call_says_what_is_missing() -> None:
    class Empty(Module):
        pass

    with pytest.raises(NotImplementedError, match="Empty defines no forward"):
        Empty()(1)


class Watcher:
    """What a trace is to the engine: it is told of each operation while it is active."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[str]]] = []

    def record(self, entry, arrays, answer, seconds) -> None:
        self.seen.append((entry.primitive.name, [name for _, name in active.scopes]))

    def __enter__(self) -> "Watcher":
        active.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        active.leave(self)


class Stack(Module):
    def __init__(self) -> None:
        self.layers = [TransformerEncoderLayer(4, 2, 8, rng=rng()) for _ in range(2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_a_trace_sees_the_path_from_the_outermost_module() -> None:
    with Watcher() as watcher:
        Stack()(np.ones((1, 3, 4), np.float32))
    in_attention = [scopes for name, scopes in watcher.seen if name == "attention"]
    assert in_attention == [["Stack", f"layers.{i}", f"layers.{i}.attention"] for i in (0, 1)]
    assert ["Stack", "layers.1", "layers.1.feed_forward", "layers.1.feed_forward.hidden"] in [
        s for _, s in watcher.seen
    ]
    assert [scopes for name, scopes in watcher.seen if name == "add"] == [
        ["Stack", f"layers.{i}"] for i in (0, 0, 1, 1)
    ]
    assert active.scopes == []


def test_a_module_outside_the_outermost_one_goes_by_its_class() -> None:
    helper = Affine(4, 4, rng=rng())

    class Borrower(Module):
        def forward(self, x):
            return helper(x)

    with Watcher() as watcher:
        Borrower()(np.ones((2, 4), np.float32))
    assert watcher.seen == [("affine", ["Borrower", "Affine"])]


def test_a_module_that_calls_itself_goes_by_its_class() -> None:
    class Halving(Module):
        def forward(self, x):
            return x if x.size == 1 else self(x[: x.size // 2] * 2.0)

    with Watcher() as watcher:
        Halving()(Parameter(np.ones(4)))
    assert [scopes for name, scopes in watcher.seen if name == "multiply"] == [["Halving"], ["Halving", "Halving"]]


def test_an_exception_in_a_trace_leaves_no_scope_behind() -> None:
    with Watcher(), pytest.raises(ShapeError):
        Stack()(np.ones((1, 3, 5), np.float32))
    assert active.scopes == []


def test_outside_of_a_trace_no_scope_is_entered() -> None:
    scopes = []

    class Probe(Module):
        def forward(self):
            scopes.extend(active.scopes)

    Probe()()
    with no_grad():
        Probe()()
    assert scopes == []


def test_repr_shows_the_tree_with_counts() -> None:
    assert repr(Net()) == (
        "Net()  29 parameters\n"
        "  layers.0: Affine(3, 3)  12 parameters\n"
        "  layers.1: Affine(3, 3, bias=False)  9 parameters\n"
        "  heads.b: Affine(3, 1)  4 parameters\n"
        "  heads.a.1: Dropout(0.5)"
    )
    nested = repr(Stack()).splitlines()
    assert nested[1].startswith("  layers.0: TransformerEncoderLayer(norm='pre')")
    assert "      query: Affine(4, 4)  20 parameters" in nested
    assert repr(Embedding(1000, 64, rng=rng())) == "Embedding(1000, 64)  64,000 parameters"
