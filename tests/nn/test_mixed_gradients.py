"""Gradients of MixedPrecision: divided by the scale wherever they arrive, whatever the loss was computed from."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import GraphError, Tensor
from tests.nn.mixed import Net, Weights, gradients, mixed
from tests.nn.training import X, Y, loss as net_loss


@pytest.mark.parametrize("scale", [1.0, 2.0**10, 2.0**16])
def test_gradients_are_those_of_float32(scale: float) -> None:
    """Whatever the scale: divided by it, in float32, to the rounding of float16."""
    model, reference = Net(), Net()
    _, precision = mixed(model, scale=scale)
    with precision:
        value = net_loss(model, (X, Y))
    precision.backward(value)
    expected = net_loss(reference, (X, Y))
    expected.backward()
    assert value.dtype == np.float32 and abs(value.item() - expected.item()) < 2e-3
    for path, g in gradients(model).items():
        assert g.dtype == np.float32
        want = gradients(reference)[path]
        np.testing.assert_allclose(g, want, rtol=0, atol=4e-3 * np.abs(want).max(), err_msg=path)


def test_gradients_of_several_losses_add_up() -> None:
    model, twice = Net(), Net()
    _, precision = mixed(model)
    _, other = mixed(twice)
    with precision:
        first, second = net_loss(model, (X[:20], Y[:20])), net_loss(model, (X[20:], Y[20:]))
    precision.backward(first)
    precision.backward(second)
    for part in (slice(20), slice(20, None)):
        with other:
            value = net_loss(twice, (X[part], Y[part]))
        other.backward(value)
    for path, g in gradients(model).items():
        np.testing.assert_array_equal(g, gradients(twice)[path])


def test_losses_of_several_blocks_add_up() -> None:
    """As those of one block; a checkpoint() in the first runs again after the second was entered."""
    model, one = Net(), Net()
    _, precision = mixed(model)
    _, other = mixed(one)
    with precision:
        losses = [nn.cross_entropy(mg.checkpoint(model, X), Y), net_loss(model, (X, 1 - Y))]
    with precision:
        losses.append(net_loss(model, (X[:9], Y[:9])))
    with other:
        values = [net_loss(one, batch) for batch in ((X, Y), (X, 1 - Y), (X[:9], Y[:9]))]
    for i in (2, 0, 1):
        precision.backward(losses[i])
        other.backward(values[i])
    for path, g in gradients(model).items():
        np.testing.assert_array_equal(g, gradients(one)[path])
    assert precision.step()


def test_a_loss_computed_outside_of_the_block() -> None:
    model, reference = Net(), Net()
    _, precision = mixed(model)
    precision.backward(net_loss(model, (X, Y)))
    net_loss(reference, (X, Y)).backward()
    for path, g in gradients(model).items():
        np.testing.assert_allclose(g, gradients(reference)[path], rtol=1e-5, atol=1e-9, err_msg=path)
    assert precision.step()
    weight = Weights([3.0])
    _, precision = mixed(weight)
    precision.backward(weight.w)  # a parameter itself
    assert gradients(weight)["w"].tolist() == [1.0]


def test_a_penalty_added_after_the_block() -> None:
    model, reference = Net(), Net()
    _, precision = mixed(model)
    with precision:
        value = net_loss(model, (X, Y))
    precision.backward(value + 0.01 * (model.hidden.weight * model.hidden.weight).sum())
    with mixed(reference)[1] as other:
        value = net_loss(reference, (X, Y))
    other.backward(value)
    want = gradients(reference)["hidden.weight"] + 0.02 * reference.hidden.weight.numpy()
    np.testing.assert_allclose(gradients(model)["hidden.weight"], want, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_of_an_input_are_divided_too(dtype: Any) -> None:
    model, reference = Net(), Net()
    _, precision = mixed(model)
    x, plain = Tensor(X.astype(dtype), requires_grad=True), Tensor(X, requires_grad=True)
    with precision:
        value = net_loss(model, (x, Y))
    precision.backward(value)
    net_loss(reference, (plain, Y)).backward()
    assert x.grad is not None and plain.grad is not None and x.grad.dtype == dtype
    np.testing.assert_allclose(x.grad.numpy(), plain.grad.numpy(), atol=1e-2 * np.abs(plain.grad.numpy()).max())


def test_hooks_of_a_parameter_see_its_gradient_and_stay() -> None:
    model = Weights([1.0, 2.0])
    _, precision = mixed(model)
    seen: list[Any] = []

    def hook(g: Any) -> Any:
        seen.append(g.tolist())
        return 10 * g

    handle = model.w.register_hook(hook)
    for _ in range(2):  # and gradients add up
        with precision:
            value = model().astype(np.float32).sum() * 0.5
        precision.backward(value)
    value = (model() * 3.0).sum()
    value.backward(retain_graph=True)
    assert seen == [[0.5, 0.5], [0.5, 0.5], [3.0, 3.0]] and gradients(model)["w"].tolist() == [40.0, 40.0]
    handle.remove()
    value.backward()
    assert len(seen) == 3 and gradients(model)["w"].tolist() == [43.0, 43.0]
    assert model.w._node is not None and model.w._node.hooks is not None
    precision.backward(model().sum())
    assert model.w._node.hooks is None


def test_an_error_in_the_sweep_leaves_the_gradients() -> None:
    model = Net()
    _, precision = mixed(model)
    with precision:
        value = net_loss(model, (X, Y))
    precision.backward(value)
    before = {path: g.copy() for path, g in gradients(model).items()}
    with pytest.raises(GraphError, match="a second time"):
        precision.backward(value)
    with precision:
        value = net_loss(model, (X, Y))

    def fail(g: Any) -> None:
        raise ZeroDivisionError

    handle = model.output.weight.register_hook(fail)
    with pytest.raises(ZeroDivisionError):
        precision.backward(value)
    handle.remove()
    for path, g in gradients(model).items():
        np.testing.assert_array_equal(g, before[path])
    model.zero_grad()
    plain = net_loss(model, (X, Y))
    plain.backward()
    assert np.abs(gradients(model)["output.weight"]).max() > 1e-3  # nothing is divided any more


def test_small_gradients_need_the_scale() -> None:
    """1e-8 is 0 in float16. Without precision.backward() nothing is scaled, and nothing divided."""
    model = Weights([1.0, 2.0])
    _, precision = mixed(model)

    def compute() -> Tensor:
        with precision:
            return mg.rules.neural.relu(model()).astype(np.float32).mean() * 2e-8

    compute().backward()
    assert gradients(model)["w"].tolist() == [0.0, 0.0]
    model.zero_grad()
    precision.backward(compute())
    np.testing.assert_allclose(gradients(model)["w"], 1e-8, rtol=1e-3)


def test_retain_graph() -> None:
    model = Weights([1.0, 2.0])
    _, precision = mixed(model, scale=2.0**10)
    with precision:
        value = (model() * model()).sum()
    precision.backward(value, retain_graph=True)
    precision.backward(value)
    assert gradients(model)["w"].tolist() == [4.0, 8.0]


def test_a_checkpointed_layer_runs_again_in_float16() -> None:
    model, plain = Net(), Net()
    results = []
    for net, call in ((model, lambda x: mg.checkpoint(model, x)), (plain, plain)):
        _, precision = mixed(net)
        with precision:
            value = nn.cross_entropy(call(X), Y)
        precision.backward(value)
        results.append(gradients(net))
        assert {p.dtype for p in net.parameters()} == {np.dtype(np.float32)}
    for path, g in results[0].items():
        np.testing.assert_array_equal(g, results[1][path])
