"""register_hook and retain_grad, beside PyTorch."""

import functools
import gc
import operator
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from tests.lazy import torch
from tests.leaves import grad_of

X = np.array([1.0, 2.0, 3.0])


def leaf() -> Any:
    return Tensor(X, requires_grad=True)


def split(t: Any) -> Any:
    return np.split(t, 3)


def program(x: Any, split: Any, log: list[Any]) -> Any:
    """Hooks on a leaf, a computed tensor that is used twice, a part of a split, and the result; some replace."""

    def note(name: str) -> Any:
        def hook(g: Any) -> None:
            if g is not None:  # PyTorch calls the hooks of unused parts of a split with None; here they are not called
                log.append((name, g.detach().tolist()))

        return hook

    def replace(name: str, factor: float) -> Any:
        def hook(g: Any) -> Any:
            log.append((name, g.detach().tolist()))
            return g * factor

        return hook

    x.register_hook(note("leaf"))
    x.register_hook(replace("leaf, times 10", 10.0))
    h = x * x
    h.retain_grad()
    h.register_hook(replace("computed, times 2", 2.0))
    h.register_hook(note("computed, afterwards"))
    parts = split(h)
    parts[0].register_hook(replace("part 0", 3.0))
    parts[1].register_hook(note("part 1"))
    parts[2].register_hook(note("part 2"))
    parts[0].retain_grad()
    y = (parts[0] * parts[1]).sum() + h.sum()
    y.register_hook(replace("result", 0.5))
    y.retain_grad()
    return h, parts[0], y


@pytest.mark.parametrize("create_graph", [False, True])
def test_like_pytorch(create_graph: bool) -> None:
    log: list[Any] = []
    want_log: list[Any] = []
    x, other = leaf(), torch.tensor(X, requires_grad=True)
    h, part, y = program(x, split, log)
    want_h, want_part, want_y = program(other, lambda t: torch.split(t, 1), want_log)
    y.backward(create_graph=create_graph)
    torch.autograd.backward(want_y, retain_graph=True)
    assert sorted(log) == sorted(want_log)
    assert [name for name, _ in log if "part" not in name] == [name for name, _ in want_log if "part" not in name]
    for got, want in ((x, other), (h, want_h), (part, want_part), (y, want_y)):
        np.testing.assert_allclose(grad_of(got), want.grad.numpy())


def test_called_once_with_the_sum_of_all_contributions() -> None:
    x, seen = leaf(), []
    h = np.exp(x)
    h.register_hook(lambda g: seen.append(g.data.tolist()))
    x.register_hook(lambda g: seen.append(g.data.tolist()))
    (h * 2 + h * 3 + h).sum().backward()
    np.testing.assert_allclose(seen, [[6, 6, 6], 6 * np.exp(X)])


def test_not_called_where_no_gradient_passes() -> None:
    x, w, seen = leaf(), leaf(), []
    h = x * w
    for t in (x, w, h):
        t.register_hook(lambda g: seen.append(g))
    (x * 2).sum().backward()
    assert len(seen) == 1
    mg.autograd_grad(h.sum(), h)
    assert len(seen) == 2
    mg.autograd_grad((h * 2).sum(), x, retain_graph=True)
    assert len(seen) == 4
    mg.grad(lambda y: (y * w).sum())(X)
    mg.autograd_grad(((x * 2).sum(), w, h), leaf() * 1.0, (None, X, X), allow_unused=True)
    assert len(seen) == 4


def test_what_autograd_grad_gives_has_been_through_the_hooks() -> None:
    """Always: PyTorch does so for each of these inputs alone, but not for h when x is asked for too."""

    def run(x: Any, grad_function: Any, *which: int) -> Any:
        h = x * 2
        h.register_hook(lambda g: g * 10)
        x.register_hook(lambda g: g + 1)
        return grad_function((h * h).sum(), [(x, h)[i] for i in which])

    for which in (0, 1):
        (got,) = run(leaf(), mg.autograd_grad, which)
        (want,) = run(torch.tensor(X, requires_grad=True), torch.autograd.grad, which)
        np.testing.assert_allclose(got.data, want.numpy())
    gx, gh = run(leaf(), mg.autograd_grad, 0, 1)
    np.testing.assert_allclose(gh.data, 40 * X)
    np.testing.assert_allclose(gx.data, 80 * X + 1)


def test_transforms_call_hooks_of_their_inputs_and_inside() -> None:
    """Forward mode has no cotangent that a hook could see; where jacobian could use it, hooks make it sweep."""

    def elementwise(x: Any) -> Any:
        x.register_hook(lambda g: g * 2)
        h = x * x
        h.register_hook(lambda g: g * 5)
        return h

    def f(x: Any) -> Any:
        return elementwise(x).sum()

    np.testing.assert_allclose(mg.grad(f)(X), 2 * 5 * 2 * X)
    np.testing.assert_allclose(mg.jvp(f, (X,), (X,))[1], 2 * np.sum(X * X))
    np.testing.assert_allclose(mg.jacobian(f)(X), 2 * 5 * 2 * X)
    np.testing.assert_allclose(mg.jacobian(elementwise)(X).sum(axis=tuple(range(X.ndim))), 2 * 5 * 2 * X)


def test_handles() -> None:
    x, seen = leaf(), []
    first = x.register_hook(lambda g: seen.append("first"))

    def once(g: Any) -> None:
        seen.append("second")
        second.remove()

    second = x.register_hook(once)
    x.register_hook(lambda g: seen.append("third"))
    x.sum().backward()
    x.sum().backward()
    first.remove()
    first.remove()
    x.sum().backward()
    assert seen == ["first", "second", "third", "first", "third", "third"]
    h = x * 1
    handle = h.register_hook(lambda g: g * 100)
    handle.remove()
    x.zero_grad()
    h.sum().backward()
    assert grad_of(x).tolist() == [1, 1, 1]
    del h
    handle.remove()


def test_what_a_hook_gets() -> None:
    seen: list[Any] = []
    x = leaf()
    h = x * x
    h.register_hook(lambda g: seen.append((g, (g * x).requires_grad)))
    (h * h).sum().backward(retain_graph=True)
    (h * h).sum().backward(create_graph=True)
    (plain, plain_recorded), (tracked, recorded) = seen
    assert type(plain) is Tensor and not plain.requires_grad and not plain_recorded
    assert tracked.requires_grad and recorded
    with pytest.raises(ValueError, match="read-only"):
        plain.data[0] = 1


def test_a_hook_that_writes_to_its_gradient_is_refused() -> None:
    a, b, g = leaf(), leaf(), np.ones(3)
    a.register_hook(lambda g: g.__setitem__(0, 7.0))
    with pytest.raises(ValueError, match="read-only"):
        (a + b).backward(g)
    assert g.tolist() == [1, 1, 1] and a.grad is None and b.grad is None


def test_replacements_under_create_graph_are_differentiated() -> None:
    x, other = leaf(), torch.tensor(X, requires_grad=True)
    for t, grad_function in ((x, mg.autograd_grad), (other, torch.autograd.grad)):
        h = t * t
        h.register_hook(functools.partial(operator.mul, t))
        (g,) = grad_function((h * h).sum(), t, create_graph=True)
        g.sum().backward()
    np.testing.assert_allclose(grad_of(x), grad_of(other).numpy())


def give(returned: Any, g: Any) -> Any:
    return returned


def test_replacements_of_another_kind() -> None:
    for returned in (np.array([1.0, 2.0, 3.0]), [1, 2, 3], Tensor([1.0, 2.0, 3.0], requires_grad=True)):
        for create_graph in (False, True):
            x = Tensor(X, requires_grad=True, dtype=np.float32)
            x.register_hook(functools.partial(give, returned))
            x.sum().backward(create_graph=create_graph)
            assert grad_of(x).tolist() == [1, 2, 3] and grad_of(x).dtype == np.float32


@pytest.mark.parametrize(
    ("returned", "kind", "message"),
    [
        (np.ones(2), mg.ShapeError, r"a hook's result has shape \(2,\) for a tensor of shape \(3,\)"),
        (1.0, mg.ShapeError, r"shape \(\)"),
        (X * 1j, mg.DTypeError, "a hook's result has dtype complex128"),
        ("x", mg.DTypeError, "str"),
    ],
)
def test_bad_replacements(returned: Any, kind: type[Exception], message: str) -> None:
    x = leaf()
    x.register_hook(lambda g: returned)
    with pytest.raises(kind, match=message):
        x.sum().backward()
    assert x.grad is None


def test_an_error_in_a_hook_changes_no_gradient() -> None:
    x, w = leaf(), leaf()
    w.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * w).sum().backward()
    assert x.grad is None and w.grad is None


def test_tensors_that_need_no_gradient() -> None:
    t = Tensor(X, name="c")
    with pytest.raises(mg.GraphError, match=r"register_hook.*'c'.*does not require a gradient"):
        t.register_hook(print)
    with pytest.raises(mg.GraphError, match=r"retain_grad.*'c'.*does not require a gradient"):
        t.retain_grad()


def test_retain_grad() -> None:
    x = leaf()
    x.retain_grad()
    h, unused = x * x, x * 3
    for _ in range(2):
        h.retain_grad()
    unused.retain_grad()
    y = (h * h).sum()
    y.backward(retain_graph=True)
    np.testing.assert_allclose(grad_of(h), 2 * X**2)
    assert unused.grad is None
    y.backward()  # gradients accumulate here too
    np.testing.assert_allclose(grad_of(h), 4 * X**2)
    np.testing.assert_allclose(grad_of(x), 8 * X**3)
    grad_of(h)[0] = 77
    assert x.grad is not None and x.grad.data[0] == 8


def test_retained_gradients_of_parts_and_of_create_graph() -> None:
    x = leaf()
    first, second, third = split(x * 1.0)
    first.retain_grad()
    second.retain_grad()
    (first * 2 + third).sum().backward(create_graph=True)
    assert grad_of(first).tolist() == [2] and second.grad is None
    h = x * x
    h.retain_grad()
    (h * h).sum().backward(create_graph=True)
    assert h.grad is not None and h.grad.requires_grad
    (again,) = mg.autograd_grad(h.grad.sum(), x)
    np.testing.assert_allclose(again.data, 4 * X)


def test_only_backward_fills_in_a_retained_gradient() -> None:
    x = leaf()
    h = x * x
    h.retain_grad()
    mg.autograd_grad((h * h).sum(), x, retain_graph=True)
    assert h.grad is None and x.grad is None


def test_hooks_follow_a_leaf_whose_data_is_replaced() -> None:
    x = leaf()
    x.register_hook(lambda g: g * 2)
    x.data = np.ones((2, 2), np.float32)
    x.sum().backward()
    assert grad_of(x).tolist() == [[2, 2], [2, 2]]
    x.data = np.zeros((2, 2), np.float32)
    x.zero_grad()
    x.sum().backward()
    assert grad_of(x).tolist() == [[2, 2], [2, 2]]


@pytest.mark.usefixtures("no_gc")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_make_no_cycles(create_graph: bool) -> None:
    x = leaf()
    h = x * x
    h.retain_grad()
    h.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g * 2)
    refs = [weakref.ref(o) for o in (x, h, x.data, h.data)]
    (h * h).sum().backward(create_graph=create_graph)
    del x, h
    assert [ref() for ref in refs] == [None] * 4
    assert not any(type(o) is mg.Entry for o in gc.get_objects(generation=0))


def test_a_trace_sees_the_gradient_that_goes_on() -> None:
    x = leaf()
    with mg.trace():
        h = x * x
    h.register_hook(lambda g: g * 10)
    h.sum().backward()
    assert "17.3" in mg.draw_dot(h).to_dot()  # |10 (1, 1, 1)|
