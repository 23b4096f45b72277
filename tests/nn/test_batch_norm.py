"""BatchNorm and GroupNorm beside PyTorch's: values, gradients of both orders, and the running averages, a buffer each."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, ShapeError, Tensor
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_equals_pytorch, check_module, randomized, rng, to_torch, torch_state

F64: Any = {"dtype": np.float64}
DATA = {"rows": (5, 4), "sequences": (3, 4, 6), "images": (3, 4, 2, 5)}


def batch_norms(name: str, **options: Any) -> tuple[Any, Any]:
    ours = randomized(nn.BatchNorm(4, **options, **F64))
    kind = "BatchNorm2d" if name == "images" else "BatchNorm1d"
    theirs = getattr(torch.nn, kind)(4, **options).double()
    theirs.load_state_dict({key: to_torch(array) for key, array in nn.to_torch_state(ours).items()})
    return ours, theirs


def arrays(name: str, seed: int = 2) -> np.ndarray:
    return 3 + 2 * rng(seed).standard_normal(DATA[name])


@pytest.mark.parametrize("options", [{}, {"momentum": 0.3, "eps": 1e-2}, {"momentum": 0.0}])
@pytest.mark.parametrize("name", DATA)
def test_three_batches_and_an_evaluation_are_pytorchs(name: str, options: dict[str, Any]) -> None:
    ours, theirs = batch_norms(name, **options)
    for seed in (2, 3, 4, 5):
        if seed == 5:
            ours.eval(), theirs.eval()
        ours.zero_grad(), theirs.zero_grad()
        array = arrays(name, seed)
        assert_equals_pytorch(ours, theirs, array)
        assert_close(ours.running_mean.numpy(), theirs.running_mean.numpy())
        assert_close(ours.running_var.numpy(), theirs.running_var.numpy())


def second_order(ours: Any, theirs: Any, array: np.ndarray) -> None:
    x, torch_x = Tensor(array, requires_grad=True), to_torch(array, requires_grad=True)
    inputs, torch_inputs = [x, ours.weight, ours.bias], [torch_x, theirs.weight, theirs.bias]
    first = mg.autograd_grad(np.tanh(ours(x)).sum(), inputs, create_graph=True)
    torch_first = torch.autograd.grad(torch.tanh(theirs(torch_x)).sum(), torch_inputs, create_graph=True)
    second = mg.autograd_grad(sum((g * g).sum() for g in first), inputs)
    torch_second = torch.autograd.grad(sum((g * g).sum() for g in torch_first), torch_inputs)
    for got, want in zip([*first, *second], [*torch_first, *torch_second], strict=True):
        assert_close(got.numpy(), want.detach().numpy())


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", DATA)
def test_second_derivatives_are_pytorchs(name: str, training: bool) -> None:
    ours, theirs = batch_norms(name)
    second_order(ours.train(training), theirs.train(training), arrays(name))


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("name", DATA)
def test_groups_are_pytorchs(name: str, groups: int) -> None:
    ours = randomized(nn.GroupNorm(groups, 4, eps=1e-3, **F64))
    theirs = torch.nn.GroupNorm(groups, 4, eps=1e-3).double()
    theirs.load_state_dict({key: to_torch(array) for key, array in torch_state(ours).items()})
    array = arrays(name)
    assert_equals_pytorch(ours, theirs, array)
    second_order(ours, theirs, array)


def test_finite_differences() -> None:
    check_module(randomized(nn.BatchNorm(4, **F64)), arrays("images"))
    check_module(randomized(nn.BatchNorm(4, **F64)).eval(), arrays("rows"))
    check_module(randomized(nn.GroupNorm(2, 4, **F64)), arrays("sequences"))


def test_bad_input() -> None:
    with pytest.raises(
        ShapeError, match=r"BatchNorm\(4, eps=1e-05, momentum=0.1\) needs x .* \(batch, 4, ...\), got \(5, 3\)"
    ):
        nn.BatchNorm(4)(np.ones((5, 3)))
    with pytest.raises(
        ShapeError, match=r"more than one value for each channel in training, got x of shape \(1, 4\): use a"
    ):
        nn.BatchNorm(4)(np.ones((1, 4)))
    assert nn.BatchNorm(4).eval()(np.ones((1, 4))).shape == (1, 4)
    with pytest.raises(
        ShapeError, match=r"GroupNorm\(2, 4, eps=1e-05\) needs x of shape \(batch, 4, ...\), got \(4,\)"
    ):
        nn.GroupNorm(2, 4)(np.ones(4))
    with pytest.raises(ArgumentError, match=r"num_groups=3 must divide num_channels=4"):
        nn.GroupNorm(3, 4)
    with pytest.raises(ArgumentError, match=r"momentum must be in \[0, 1\], got 2"):
        nn.BatchNorm(4, momentum=2)


# --- buffers ---


class Net(nn.Module):
    def __init__(self, seed: int = 0, dtype: Any = np.float64) -> None:
        self.layer = nn.Affine(3, 4, rng=rng(seed), dtype=dtype)
        self.norm = nn.BatchNorm(4, dtype=dtype)
        self.count = nn.Buffer(0)

    def forward(self, x: Any) -> Tensor:
        self.count.data = self.count.data + 1
        return self.norm(self.layer(x))


X = rng(3).standard_normal((8, 3))


def test_buffers_are_state_and_no_parameters() -> None:
    net = Net()
    net(X)
    assert [path for path, _ in net.named_parameters()] == ["layer.weight", "layer.bias", "norm.weight", "norm.bias"]
    assert [path for path, _ in net.named_buffers()] == ["norm.running_mean", "norm.running_var", "count"]
    assert len(list(net.buffers())) == 3 and not any(buffer.requires_grad for buffer in net.buffers())
    state = net.state_dict()
    assert state["count"] == 1 and state["norm.running_mean"].any()
    other = Net(1)
    other.load_state_dict(state)
    net.eval(), other.eval()
    assert_close(net(X).numpy(), other(X).numpy())
    with pytest.raises(ArgumentError, match=r"missing: 'count'"):
        other.load_state_dict({path: array for path, array in state.items() if path != "count"})
    with pytest.raises(ShapeError, match=r"'norm.running_mean'"):
        other.load_state_dict(state | {"norm.running_mean": np.zeros(3)})


def test_copies_and_pickles_have_buffers_of_their_own() -> None:
    net = Net()
    net(X)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        before = net.state_dict()
        twin(X + 1)
        assert isinstance(twin.norm.running_mean, nn.Buffer) and twin.count.data == 2
        np.testing.assert_array_equal(net.state_dict()["norm.running_mean"], before["norm.running_mean"])


def test_dtype_and_device(cuda: str) -> None:
    net = Net(dtype=np.float32).astype(np.float64)
    assert net.norm.running_var.dtype == np.float64 and net.count.dtype.kind == "i"
    on_host = copy.deepcopy(net)
    net.to(cuda)
    net(mg.device.to_device(X, cuda)), on_host(X)
    assert {mg.device.is_device_array(buffer.data) for buffer in net.buffers()} == {True}
    for path, array in net.to("cpu").state_dict().items():
        assert_close(array, on_host.state_dict()[path])


def loss(model: Any, batch: Any) -> Any:
    return (model(batch[0]) ** 2).mean() + model(batch[0])[:, 0].mean()


def test_a_checkpoint_resumes_with_the_averages(tmp_path: Path) -> None:
    def fitted(net: Net, epochs: int, folder: Path) -> Net:
        batches = nn.Batches([X], 4, seed=0)
        nn.fit(
            net,
            batches,
            loss,
            nn.SGD(net.parameters(), 0.1),
            epochs=epochs,
            checkpoint=folder,
            resume=True,
            progress=False,
        )
        return net

    whole = fitted(Net(), 4, tmp_path / "whole")
    fitted(Net(), 2, tmp_path / "parts")
    resumed = fitted(Net(1), 4, tmp_path / "parts")
    loaded = Net(2)
    nn.load_weights(loaded, tmp_path / "parts" / "last.safetensors")
    for path, array in whole.state_dict().items():
        np.testing.assert_array_equal(resumed.state_dict()[path], array)
        np.testing.assert_array_equal(loaded.state_dict()[path], array)


def test_functional_call_with_and_without_buffers() -> None:
    net = Net()
    parameters = {path: p.data for path, p in net.named_parameters()}
    gradient = mg.grad(lambda p: (nn.functional_call(net, p, X) ** 3).sum())(parameters)
    assert list(gradient) == list(parameters) and not net.norm.running_mean.data.any() and net.count.data == 0
    net(X)
    before, given = net.state_dict(), net.state_dict() | {"norm.running_mean": np.ones(4)}
    nn.functional_call(net, given, X)
    np.testing.assert_array_equal(given["norm.running_mean"], np.ones(4))
    np.testing.assert_array_equal(net.norm.running_mean.data, before["norm.running_mean"])
    net.eval()
    moved = nn.functional_call(net, given | {"norm.running_mean": before["norm.running_mean"] + 1}, X)
    scale = net.norm.weight.data / np.sqrt(before["norm.running_var"] + 1e-5)
    assert_close(moved.numpy(), net(X).numpy() - scale)


def test_recomputing_a_checkpointed_part_does_not_average_twice() -> None:
    plain, checkpointed = Net(), Net()
    x = Tensor(X, requires_grad=True)
    plain(x).sum().backward()
    mg.checkpoint(checkpointed.norm, checkpointed.layer(x)).sum().backward()
    assert_close(checkpointed.norm.running_var.numpy(), plain.norm.running_var.numpy())


@pytest.mark.parametrize("training", [True, False])
def test_a_written_program_leaves_the_averages_alone(training: bool) -> None:
    norm = randomized(nn.BatchNorm(4, **F64)).train(training)
    before = norm.state_dict()
    parameters = {path: p.data for path, p in norm.named_parameters()}

    def f(parameters: Any, x: Any) -> Any:
        return np.sum(np.tanh(nn.functional_call(norm, parameters, x)))

    program = mg.write_numpy(f, parameters, arrays("rows"), argnum=0)
    assert type(norm.running_mean.data) is np.ndarray
    np.testing.assert_array_equal(norm.running_mean.data, before["running_mean"])
    value, gradient = program(parameters, arrays("rows"))
    want, expected = mg.value_and_grad(f)(parameters, arrays("rows"))
    assert_close(value, want)
    for path, array in gradient.items():
        assert_close(array, expected[path])


def test_a_layer_that_a_function_closes_over_keeps_arrays() -> None:
    norm = randomized(nn.BatchNorm(4, **F64))
    mg.write_numpy(lambda x: np.sum(np.tanh(norm(x))), arrays("rows"))
    assert {type(buffer.data) for buffer in norm.buffers()} == {np.ndarray}


def test_derivatives_by_the_averages() -> None:
    """In training the result does not depend on them, and in evaluation it does."""
    norm = randomized(nn.BatchNorm(4, **F64))
    state, x = norm.state_dict() | {"running_var": np.array([0.5, 1.0, 2.0, 3.0])}, arrays("images")

    def f(state: Any) -> Any:
        return (nn.functional_call(norm, state, x) ** 2).sum()

    found = mg.grad(f)(state)
    assert not found["running_mean"].any() and not found["running_var"].any() and found["weight"].any()
    assert not norm.running_mean.data.any()
    norm.eval()
    mg.check_grads(
        lambda mean, var: f(state | {"running_mean": mean, "running_var": var}), [np.ones(4), state["running_var"]]
    )


def test_weights_go_to_pytorch_and_back() -> None:
    """A network of all layers with channels: PyTorch's state dict has a counter more, which is left out."""

    def layers(package: Any, **options: Any) -> list[Any]:
        norm = getattr(package, "BatchNorm", None) or package.BatchNorm2d
        return [
            package.Conv2d(2, 4, 3, padding=1, **options), norm(4), package.MaxPool2d(2), package.GroupNorm(2, 4),
            package.ConvTranspose2d(4, 2, 2, stride=2, **options), package.AvgPool2d(3, stride=1), package.Flatten(),
        ]  # fmt: skip

    ours = nn.Sequential(*layers(nn, rng=rng())).astype(np.float64)
    theirs = torch.nn.Sequential(*layers(torch.nn)).double()
    images = rng(5).standard_normal((3, 2, 6, 6))
    theirs(to_torch(images))  # moves the averages
    nn.from_torch_state(ours, theirs.state_dict())
    ours.eval(), theirs.eval()
    assert_close(ours(images).numpy(), theirs(to_torch(images)).detach().numpy())
    assert nn.to_torch_state(ours).keys() == {name for name in theirs.state_dict() if "num_batches" not in name}
    theirs.load_state_dict({name: to_torch(array) for name, array in nn.to_torch_state(randomized(ours)).items()})
    assert_close(ours(images).numpy(), theirs(to_torch(images)).detach().numpy())
