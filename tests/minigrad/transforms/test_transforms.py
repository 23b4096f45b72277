"""grad and its kin: functions of functions, nested and over containers; autograd_grad, which is grad on the tape."""

from collections import namedtuple
from typing import Any, cast

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import (
    ArgumentError,
    Tensor,
    UnsupportedError,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from minigrad._tree import leaves, map_leaves
from tests import fake_device
from tests.lazy import torch

Pair = namedtuple("Pair", "a b")
ROW: Any = np.array([1.0, 2.0, 3.0])

# what torch.func's forward mode says when it is first used
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def test_grad_of_grad_of() -> None:
    f: Any = np.sin
    for want in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        f = grad(f)
        assert f(0.7) == pytest.approx(want(0.7))


def test_perturbations_are_not_confused() -> None:
    """Siskind and Pearlmutter 2005: the inner derivative is 1, so the outer function is x."""
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(3.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(2.0))(3.0) == 6.0
    assert grad(lambda x: grad(lambda y: y * grad(lambda z: x * y * z)(y))(x))(3.0) == pytest.approx(12.0)  # of 2 x^2


def test_closures_over_tracked_values() -> None:
    w = Tensor(ROW, requires_grad=True)
    gradient = grad(lambda x: np.sum(w * w * x))(ROW)
    assert isinstance(gradient, Tensor) and gradient.requires_grad
    gradient.sum().backward()
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.data, 2 * ROW)
    with mg.no_grad():
        plain = grad(lambda x: np.sum(w * w * x))(ROW)
    assert type(plain) is np.ndarray and w.grad is not None


def test_grad_of_a_tracked_input_stays_connected() -> None:
    x = Tensor(ROW, requires_grad=True)
    gradient = grad(lambda y: (y**3).sum())(x * 2)
    assert x.grad is None
    gradient.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.data, 12 * 2 * ROW)


def test_a_tracked_value_outlives_its_leaf() -> None:
    """An inner transform must see the outer one's input also where nobody holds the tensor that it came from."""
    x = Tensor(1.5, requires_grad=True) * 2.0
    assert grad(lambda y: grad(lambda z: y * y * z)(1.0))(x).item() == 6.0


def test_no_transform_touches_grad() -> None:
    x, w = Tensor(ROW, requires_grad=True), Tensor(ROW, requires_grad=True)
    value_and_grad(lambda a: (a * w).sum())(x)
    vjp(lambda a: a * w, x)[1](np.ones(3))
    assert x.grad is None and w.grad is None


def test_what_goes_in_comes_out() -> None:
    f = lambda x: (x * x).sum()
    assert type(grad(f)(ROW)) is np.ndarray
    assert type(grad(f)(Tensor(ROW))) is Tensor and not grad(f)(Tensor(ROW)).requires_grad
    assert isinstance(grad(f)(2.0), float) and grad(f)(2.0) == 4.0
    value, gradient = value_and_grad(f)(ROW)
    assert type(value) is np.float64 and value == 14.0
    np.testing.assert_array_equal(gradient, 2 * ROW)
    assert grad(f)(ROW.astype(np.float32)).dtype == np.float32
    assert isinstance(grad(lambda x: x * grad(lambda y: x * y * y)(2.0))(3.0), float)  # the 2.0 is no tracked closure


def test_argnum() -> None:
    f = lambda x, y, scale=1.0: np.sum(x * x * y) * scale
    x, y = ROW, ROW + 1
    np.testing.assert_array_equal(grad(f, 1)(x, y), x * x)
    np.testing.assert_array_equal(grad(f, -1)(x, y, scale=3.0), 3 * x * x)
    value, (gx, gy) = value_and_grad(f, (0, 1))(x, y)
    assert value == np.sum(x * x * y)
    np.testing.assert_array_equal(gx, 2 * x * y)
    np.testing.assert_array_equal(gy, x * x)
    (only,) = grad(f, (1,))(x, y)
    np.testing.assert_array_equal(only, x * x)
    gy, gx = grad(f, (1, 0))(x, y)
    np.testing.assert_array_equal(gx, 2 * x * y)


def test_containers() -> None:
    def loss(p: Any, x: Any) -> Any:
        return np.sum(np.tanh(x @ p["layers"][0].a + p["layers"][0].b) * p["out"][0])

    p = {"layers": [Pair(np.ones((3, 2)), np.zeros(2))], "out": (np.array(2.0), None)}
    gradient = grad(loss)(p, ROW)
    assert list(gradient) == ["layers", "out"] and type(gradient["layers"][0]) is Pair
    assert gradient["out"][1] is None and gradient["layers"][0].a.shape == (3, 2)
    mg.check_grads(loss, [p, ROW])
    assert p["out"][0] == 2.0 and type(p["out"][0]) is np.ndarray


def test_independent_inputs_get_zeros() -> None:
    g = grad(lambda p: p["used"].sum())({"used": ROW, "unused": np.ones((2, 2))})
    np.testing.assert_array_equal(g["unused"], np.zeros((2, 2)))
    assert grad(lambda x: 3.0)(2.0) == 0
    np.testing.assert_array_equal(grad(lambda x: np.float64(1.0))(ROW), np.zeros(3))
    assert grad(grad(lambda x: 3.0 * x))(2.0) == 0


def test_the_same_array_twice_is_two_inputs() -> None:
    gx, gy = grad(lambda x, y: np.sum(x * x * y), (0, 1))(ROW, ROW)
    np.testing.assert_array_equal(gx, 2 * ROW * ROW)
    np.testing.assert_array_equal(gy, ROW * ROW)
    x = Tensor(ROW, requires_grad=True)
    gx, gy = grad(lambda a, b: (a * a * b).sum(), (0, 1))(x, x)
    np.testing.assert_array_equal(gx.data, 2 * ROW * ROW)
    np.testing.assert_array_equal(gy.data, ROW * ROW)


def test_vjp() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    out, pullback = vjp(lambda a, x: {"y": a @ x, "x": [x]}, matrix, ROW)
    assert type(out["y"]) is np.ndarray
    np.testing.assert_array_equal(out["y"], matrix @ ROW)
    for scale in (1.0, 2.0):  # the pullback can be called again
        u = scale * np.array([1.0, -1.0])
        ga, gx = pullback({"y": u, "x": [10 * ROW]})
        np.testing.assert_array_equal(ga, np.outer(u, ROW))
        np.testing.assert_array_equal(gx, u @ matrix + 10 * ROW)


def test_vjp_of_identity_and_of_an_output_given_twice() -> None:
    out, pullback = vjp(lambda x: (x, x, x * 2), ROW)
    (g,) = pullback((ROW, ROW, ROW))
    np.testing.assert_array_equal(g, 4 * ROW)
    np.testing.assert_array_equal(out[0], ROW)
    assert g is not ROW and not np.shares_memory(g, ROW)


def test_results_are_not_views_of_the_cotangent() -> None:
    u = np.ones(3)
    _, pullback = vjp(lambda x, y: x + y, ROW, ROW)
    gx, gy = pullback(u)
    gx[0] = 77
    assert u[0] == 1 and gy[0] == 1
    g = grad(np.sum)(ROW)
    g[0] = 5  # the rule of `sum` hands out a read-only view
    assert g.tolist() == [5, 1, 1]


def test_vjp_twice() -> None:
    """The pullback can be differentiated, also with respect to the cotangent, in which it is linear."""
    f = lambda x: np.sin(x) * x
    np.testing.assert_allclose(
        grad(lambda x: np.sum(vjp(f, x)[1](ROW)[0]))(ROW), ROW * (2 * np.cos(ROW) - ROW * np.sin(ROW))
    )
    linear = grad(lambda u: np.sum(vjp(f, ROW)[1](u)[0]))(ROW)
    np.testing.assert_allclose(linear, np.cos(ROW) * ROW + np.sin(ROW))


def test_no_grad_outside_does_not_switch_a_transform_off() -> None:
    with mg.no_grad():
        assert grad(lambda x: x**3)(2.0) == 12.0
        assert grad(grad(lambda x: x**3))(2.0) == 12.0


def test_no_grad_inside_is_a_constant() -> None:
    def f(x: Any) -> Any:
        with mg.no_grad():
            frozen = x * 1.0
        return frozen * x

    assert grad(f)(3.0) == 3.0


REFUSED: dict[str, tuple[Any, tuple[Any, ...], type[Exception], str]] = {
    "not a scalar": (lambda x: x * 2, (ROW,), TypeError, r"one real number.*shape \(3,\)"),
    "a list": (lambda x: [x.sum()], (ROW,), TypeError, "one real number, got list"),
    "complex output": (lambda x: x.sum(), (ROW + 1j,), TypeError, "one real number.*complex128"),
    "integers": (lambda x: x * 1.0, (3,), TypeError, rf"3 of dtype {np.dtype(int)}.*3\.0 rather than 3"),
    "booleans": (lambda x: x * 1.0, (np.array(True),), TypeError, "bool"),
    "text": (lambda x: x, ("abc",), TypeError, "str"),
    "no argument": (lambda: 1.0, (), ValueError, r"argnum=0.*0 positional"),
}


@pytest.mark.parametrize(("f", "args", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_calls(f: Any, args: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    for transform in (grad, value_and_grad):
        with pytest.raises(kind, match=message) as error:
            transform(f)(*args)
        assert isinstance(error.value, mg.MinigradError)


def test_bad_cotangents() -> None:
    _, pullback = vjp(lambda x: x * 2, ROW)
    with pytest.raises(mg.ShapeError, match=r"shape \(2,\).*\(3,\)"):
        pullback(np.ones(2))
    with pytest.raises(mg.DTypeError, match="complex128"):
        pullback(ROW + 1j)
    np.testing.assert_array_equal(pullback(ROW)[0], 2 * ROW)


def test_names_are_kept() -> None:
    def energy(x: Any) -> Any:
        """The energy."""
        return (x * x).sum()

    assert (grad(energy).__name__, value_and_grad(energy).__doc__) == ("energy", "The energy.")


def test_complex_gradients_follow_jax() -> None:
    """grad f = df/dx - i df/dy, the conjugate of PyTorch's: 2x + 2iy for Re(z**2) = x**2 - y**2, 2x - 2iy for |z|**2."""
    z = np.array(1.0 + 2.0j)
    np.testing.assert_allclose(grad(lambda z: np.abs(z) ** 2)(z), 2 * np.conj(z))
    _, pullback = vjp(lambda z: z * z, z)
    np.testing.assert_allclose(pullback(np.array(1.0 + 0j))[0], 2 * z)


# --- elementwise_grad ---


def test_elementwise_grad() -> None:
    x = np.linspace(-2, 2, 12).reshape(3, 4)
    for order, want in enumerate([np.tanh(x), 1 - np.tanh(x) ** 2, -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)]):
        f: Any = np.tanh
        for _ in range(order):
            f = elementwise_grad(f)
        np.testing.assert_allclose(f(x), want, atol=1e-14)
    gx, gy = elementwise_grad(lambda x, y: x * y * y, (0, 1))(x, x + 1)
    np.testing.assert_allclose(gx, (x + 1) ** 2)
    np.testing.assert_allclose(gy, 2 * x * (x + 1))
    assert elementwise_grad(np.sin)(0.0) == 1.0
    assert type(elementwise_grad(np.sin)(Tensor(x))) is Tensor
    assert elementwise_grad(np.sin)(x.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(elementwise_grad(lambda x: np.ones_like(ROW))(ROW), np.zeros(3))


@pytest.mark.parametrize(
    ("f", "x", "kind", "message"),
    [
        (np.sum, ROW, mg.ShapeError, r"argument, \(3,\), got \(\).*jacobian"),
        (lambda x: x * np.ones((2, 3)), ROW, mg.ShapeError, r"\(3,\), got \(2, 3\)"),
        (lambda x: x[0], [ROW], mg.ShapeError, r"None, got \(3,\)"),
        (lambda x: [x], ROW, TypeError, "got list"),
        (lambda x: x, ROW + 1j, TypeError, "complex128"),
    ],
)
def test_what_is_not_elementwise_is_refused(f: Any, x: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        elementwise_grad(f)(x)


# --- jvp, jacobian, hessian, hvp beside PyTorch. `m` is numpy or torch. ---


def of_parts(m: Any, p: Any) -> Any:
    return {"a": m.sin(p["u"]) * p["v"][0], "b": [p["v"][1] * p["u"].sum(), (p["v"][0] ** 2).sum()]}


FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "vector to vector": (lambda m, x: m.tanh(x[:2] * x[1:] * x.sum()), (ROW,)),
    "vector to matrix": (lambda m, x: m.exp(x)[:, None] * m.sin(x * x), (ROW,)),
    "matrix to scalar": (lambda m, a: (m.exp(a) @ a.T).sum() * a[0, 0], (ROW.reshape(1, 3) * [[0.3], [-0.2]],)),
    "scalar to vector": (lambda m, x: m.stack([x, x * m.sin(x), m.exp(x)]), (np.array(0.7),)),
    "two arguments": (lambda m, x, y: m.cos(x) @ y * x[:2].sum(), (ROW, ROW[:, None] * [0.1, 0.2])),
    "containers": (of_parts, ({"u": ROW, "v": [np.array(0.3), ROW[:2]]},)),
    "linear": (lambda m, x: 2 * x + x[::1], (ROW,)),
    "the input itself": (lambda m, x: x, (ROW,)),
    "constant in one": (lambda m, x, y: x * 3, (ROW, ROW + 1)),
}
IN_PAIRS = pytest.mark.parametrize(("f", "args"), FUNCTIONS.values(), ids=FUNCTIONS)


def to_torch(tree: Any) -> Any:
    return map_leaves(lambda a: torch.from_numpy(np.asarray(a)), tree)


def agree(got: Any, want: Any) -> None:
    """The same containers, shapes and values; `want` is PyTorch's."""
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (list, tuple)):
        assert isinstance(got, (list, tuple)) and len(got) == len(want)
        for part, wanted in zip(got, want):
            agree(part, wanted)
        return
    assert isinstance(got, (np.ndarray, np.generic)) and got.shape == tuple(want.shape)
    np.testing.assert_allclose(np.asarray(got), want.detach().numpy(), rtol=1e-10, atol=1e-12)


def direction(tree: Any) -> Any:
    rng = np.random.default_rng(3)
    return map_leaves(lambda a: np.asarray(rng.standard_normal(a.shape)), tree)


@IN_PAIRS
def test_jvp(f: Any, args: Any) -> None:
    out, tangent = jvp(lambda *a: f(np, *a), args, direction(args))
    want_out, want = torch.func.jvp(lambda *a: f(torch, *a), to_torch(args), to_torch(direction(args)))
    agree(out, want_out)
    agree(tangent, want)


@IN_PAIRS
def test_jacobian(f: Any, args: Any) -> None:
    agree(jacobian(lambda *a: f(np, *a))(*args), torch.func.jacrev(lambda *a: f(torch, *a))(*to_torch(args)))
    everything = tuple(range(len(args)))
    want = torch.func.jacrev(lambda *a: f(torch, *a), everything)(*to_torch(args))
    agree(jacobian(lambda *a: f(np, *a), everything)(*args), want)


@IN_PAIRS
def test_hessian(f: Any, args: Any) -> None:
    everything = tuple(range(len(args)))
    want = torch.func.hessian(lambda *a: f(torch, *a), everything)(*to_torch(args))
    agree(hessian(lambda *a: f(np, *a), everything)(*args), want)


@IN_PAIRS
def test_hvp(f: Any, args: Any) -> None:
    def energy(m: Any, *a: Any) -> Any:
        return sum(part.sum() ** 2 * part.sum() for part in leaves(f(m, *a)))

    got = hvp(lambda *a: energy(np, *a), args, direction(args))
    gradient = torch.func.grad(lambda *a: energy(torch, *a), tuple(range(len(args))))
    agree(got, torch.func.jvp(gradient, to_torch(args), to_torch(direction(args)))[1])
    agree(jvp(grad(lambda *a: energy(np, *a), tuple(range(len(args)))), args, direction(args))[1], to_torch(got))


def test_has_aux_returns_the_rest_beside_the_gradient() -> None:
    """The gradient is that of the loss alone, at first and second order; aux may hold integers, strings and None."""

    def f(x: Any) -> Any:
        return np.sum(x**3), {"scores": 100 * x, "count": x.shape[0], "name": "cubes", "none": None}

    x = np.array([1.0, 2.0])
    (value, aux), gradient = mg.value_and_grad(f, has_aux=True)(x)
    assert value == 9 and gradient.tolist() == [3, 12]
    assert type(aux["scores"]) is np.ndarray and aux["scores"].tolist() == [100, 200]
    assert (aux["count"], aux["name"], aux["none"]) == (2, "cubes", None)
    gradient, again = mg.grad(f, has_aux=True)(x)
    assert gradient.tolist() == [3, 12] and again["scores"].tolist() == [100, 200]
    gradient, scores = mg.grad(
        lambda x: (np.sum(mg.grad(f, has_aux=True)(x)[0]), mg.grad(f, has_aux=True)(x)[1]), has_aux=True
    )(x)
    assert gradient.tolist() == [6, 12] and scores["scores"].tolist() == [100, 200]
    through_aux = mg.grad(lambda x: np.sum(mg.grad(f, has_aux=True)(x)[1]["scores"]))(x)  # aux stays on the outer tape
    assert through_aux.tolist() == [100, 100]
    tensor = mg.value_and_grad(f, has_aux=True)(Tensor(x))[0][1]["scores"]
    assert isinstance(tensor, Tensor) and not tensor.requires_grad
    (_, seen), both = mg.value_and_grad(lambda a, b: (a * b, a), (0, 1), has_aux=True)(2.0, 3.0)
    assert (float(seen), [float(g) for g in both]) == (2, [3, 2])


@pytest.mark.parametrize("returned", [lambda x: x, lambda x: (x,), lambda x: [x, x], lambda x: (x, x, x)])
def test_has_aux_needs_a_pair(returned: Any) -> None:
    for transform in (mg.grad, mg.value_and_grad):
        with pytest.raises(
            UnsupportedError, match=r"has_aux=True needs a function that returns a tuple \(loss, aux\), got"
        ):
            transform(returned, has_aux=True)(1.0)
    with pytest.raises(UnsupportedError, match="grad needs a function that returns one real number"):
        mg.grad(lambda x: (x, 1), has_aux=True)(np.ones(2))


def test_argnum_of_jacobian_and_hessian() -> None:
    f = lambda x, y, power=1: (x * y.sum()) ** power
    np.testing.assert_allclose(jacobian(f, 1)(ROW, ROW), ROW[:, None] * np.ones(3))
    np.testing.assert_allclose(jacobian(f, -2)(ROW, ROW, power=2), np.diag(2 * ROW * 36))
    (only,) = jacobian(f, (1,))(ROW, ROW)
    np.testing.assert_allclose(only, ROW[:, None] * np.ones(3))
    (hxx, hxy), (hyx, hyy) = hessian(lambda x, y: (x * x * y).sum(), (0, 1))(ROW, 2 * ROW)
    for got, want in ((hxx, 4 * ROW), (hxy, 2 * ROW), (hyx, 2 * ROW), (hyy, 0 * ROW)):
        np.testing.assert_allclose(got, np.diag(want))


def test_tensors_beside_arrays() -> None:
    """A Tensor in, a Tensor out, array by array; the tangent is one if it was given as one."""
    f = lambda x, y: {"z": x * y, "constant": np.ones(2)}
    jac = jacobian(f, (0, 1))(ROW, Tensor(ROW))
    for name in ("z", "constant"):
        assert [type(part) for part in jac[name]] == [np.ndarray, Tensor]
    tangent = jvp(lambda x: x * x, (ROW,), (Tensor(ROW),))[1]
    assert type(tangent) is Tensor and not tangent.requires_grad


def test_named_containers_and_none() -> None:
    jac = jacobian(lambda p: Pair(p.a * p.b[0], None))(Pair(ROW, [np.array(2.0), None]))
    assert type(jac) is Pair and jac.b is None and type(jac.a) is Pair and jac.a.b[1] is None
    np.testing.assert_array_equal(jac.a.a, 2 * np.eye(3))
    np.testing.assert_array_equal(jac.a.b[0], ROW)


def test_outputs_that_do_not_depend_on_the_input() -> None:
    f = lambda x: {"plain": 3.0, "array": np.ones(2), "tensor": Tensor([1.0, 2.0]), "integer": np.argmax(x), "x": x}
    jac = jacobian(lambda x: {key: value for key, value in f(x).items() if key != "integer"})(ROW)
    assert {key: value.shape for key, value in jac.items()} == {
        "plain": (3,), "array": (2, 3), "tensor": (2, 3), "x": (3, 3)
    }  # fmt: skip
    assert all(not value.any() for key, value in jac.items() if key != "x")
    tangent = jvp(f, (ROW,), (np.ones(3),))[1]
    assert {key: np.shape(value) for key, value in tangent.items()} == {
        "plain": (), "array": (2,), "tensor": (2,), "integer": (), "x": (3,)
    }  # fmt: skip
    assert not any(np.any(np.asarray(value)) for key, value in tangent.items() if key != "x")
    assert not hessian(lambda x: x.sum())(ROW).any() and not hessian(lambda x: 1.0)(ROW).any()
    (product,) = hvp(lambda x: 1.0 * x.sum(), (ROW,), (ROW,))
    np.testing.assert_array_equal(product, np.zeros(3))


STEPS: dict[str, Any] = {
    "an index": lambda x: np.argmax(x),
    "a boolean": lambda x: bool(x[0] > 0),
    "a count": lambda x: np.count_nonzero(x),
    "a Tensor of integers": lambda x: Tensor(3),
    "a number of Python's": lambda x: 3,
}
DERIVATIVES: dict[str, Any] = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "elementwise_grad": elementwise_grad,
    "jacobian": jacobian,
    "hessian": hessian,
    "hvp": lambda f: lambda x: hvp(f, (x,), (x,)),
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0),
    "check_grads": lambda f: lambda x: mg.check_grads(f, [x]),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_a_step_has_no_derivative(derivative: Any, step: Any) -> None:
    """Zeros would be right almost everywhere, and hide that somebody returned an index for a loss."""
    with pytest.raises(
        (UnsupportedError, ArgumentError), match=r"have no derivative \(if the .* constant, write 0\.0 rather than 0\)"
    ):
        derivative(step)(ROW)


def test_beside_what_has_a_derivative_a_step_is_left_out() -> None:
    value, pullback = vjp(lambda x: (np.argmax(x), (x * x).sum()), ROW)
    assert value == (2, 14.0)
    np.testing.assert_array_equal(pullback((None, 1.0))[0], 2 * ROW)
    with pytest.raises(ArgumentError, match="nested like None, got int; pass None as the cotangent of an integer"):
        pullback((0, 1.0))
    assert grad(lambda x: 3.0)(1.0) == 0.0
    mg.check_grads(lambda x: 3.0, [ROW])


def test_check_grads_calls_the_function_as_grad_does() -> None:
    mg.check_grads(lambda x: x.tanh().sum(), [ROW])
    mg.check_grads(lambda pair: {"a": pair[0].tanh() @ pair[1].T}, [(np.ones((2, 3)), 0.1 * np.ones((4, 3)))])


def test_empty_arrays() -> None:
    assert jacobian(lambda x: x * 2)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert jacobian(lambda x: x.sum())(np.zeros((0, 2))).shape == (0, 2)
    assert jacobian(lambda x: x[:0])(ROW).shape == (0, 3)
    assert hessian(lambda x: x.sum())(np.zeros(0)).shape == (0, 0)


TRANSFORMS: dict[str, Any] = {
    "elementwise_grad": elementwise_grad(lambda x: x**3),
    "jacobian": jacobian(lambda x: x**3),
    "hessian": hessian(lambda x: (x**3).sum()),
    "jvp, value": lambda x: jvp(lambda x: x**3, (x,), (x,))[0],
    "jvp, tangent": lambda x: jvp(lambda x: x**3, (x,), (x,))[1],
    "hvp": lambda x: hvp(lambda x: (x**3).sum(), (x,), (x,))[0],
}
ALL_TRANSFORMS = pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)


@ALL_TRANSFORMS
def test_the_kind_of_array_is_kept(transform: Any) -> None:
    assert type(transform(ROW)) is np.ndarray
    assert isinstance(transform(2.0), float)
    given = Tensor(ROW)
    result = transform(given)
    assert type(result) is Tensor and not result.requires_grad and given.grad is None
    np.testing.assert_allclose(result.data, transform(ROW))
    assert transform(ROW.astype(np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match=f"3 of dtype {np.dtype(int)}"):
        transform(3)


@ALL_TRANSFORMS
def test_transforms_of_tracked_inputs_stay_on_the_tape(transform: Any) -> None:
    x = Tensor(ROW, requires_grad=True)
    result = transform(x * 1.0)
    assert type(result) is Tensor and result.requires_grad and x.grad is None
    result.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.data, jacobian(transform)(ROW).reshape(-1, 3).sum(axis=0))
    with mg.no_grad():
        assert not transform(x).requires_grad


@ALL_TRANSFORMS
def test_transforms_nest(transform: Any) -> None:
    """The derivative of each transform, beside finite differences and the other way to compute it."""
    mg.check_grads(transform, [ROW], order=2)
    full = jacobian(transform)(ROW)
    _, along = jvp(transform, (ROW,), (ROW[::-1],))
    np.testing.assert_allclose(along, full @ ROW[::-1])


@ALL_TRANSFORMS
def test_transforms_under_no_grad(transform: Any) -> None:
    with mg.no_grad():
        np.testing.assert_array_equal(transform(ROW), transform(ROW))
        assert type(transform(ROW)) is np.ndarray and np.any(transform(ROW))


@ALL_TRANSFORMS
@pytest.mark.parametrize("put", [fake_device.asarray])
def test_transforms_on_a_device(transform: Any, put: Any) -> None:
    result = transform(put(ROW))
    assert type(result) is type(put(ROW))
    np.testing.assert_allclose(result.get(), transform(ROW))


def test_jacobian_of_hvp_is_the_third_derivative() -> None:
    f = lambda x: (x[0] * x[1] * x[2]) ** 2 + x[0] ** 3 * x[1]
    got = jacobian(lambda x: hvp(f, (x,), (ROW,))[0])(ROW)
    want = torch.func.hessian(torch.func.grad(f))(torch.from_numpy(ROW)).numpy() @ ROW
    np.testing.assert_allclose(got, want)
    np.testing.assert_allclose(jacobian(hessian(f))(ROW) @ ROW, want)
    np.testing.assert_allclose(hessian(grad(f))(ROW) @ ROW, want)


def test_jvp_of_jvp_of_jvp() -> None:
    f: Any = np.sin
    for want in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)):
        f = lambda x, f=f: jvp(f, (x,), (1.0,))[1]
        assert f(0.7) == pytest.approx(want(0.7))


CONFUSING: dict[str, Any] = {
    "jvp in grad": lambda x: grad(lambda x: x * jvp(lambda y: x + y, (x,), (1.0,))[1])(x),
    "jvp in jvp": lambda x: jvp(lambda x: x * jvp(lambda y: x + y, (1.0,), (1.0,))[1], (x,), (1.0,))[1],
    "grad in jvp": lambda x: jvp(lambda x: x * grad(lambda y: x + y)(x), (x,), (1.0,))[1],
    "jacobian in jacobian": lambda x: jacobian(lambda x: x * jacobian(lambda y: x + y)(x))(x),
    "hvp in grad": lambda x: grad(lambda x: x * hvp(lambda y: 0.5 * (x + y) ** 2, (x,), (1.0,))[0])(x),
    "elementwise_grad in itself": lambda x: elementwise_grad(lambda x: x * elementwise_grad(lambda y: x + y)(x))(x),
}


@pytest.mark.parametrize("f", CONFUSING.values(), ids=CONFUSING)
def test_no_transform_confuses_perturbations(f: Any) -> None:
    result = f(3.0)
    assert isinstance(result, float) and result == 1.0


def test_the_tangent_of_a_tangent_is_not_that_of_the_input() -> None:
    """d/dx of (d/dt f(x + t v) along v = x): both places where x stands count."""
    got = grad(lambda x: np.sum(jvp(lambda y: y**3, (x,), (x * x,))[1]))(ROW)
    np.testing.assert_allclose(got, 12 * ROW**3)
    only = grad(lambda v: np.sum(jvp(lambda y: y**3, (ROW,), (v,))[1]))(ROW)
    np.testing.assert_allclose(only, 3 * ROW**2)
    assert type(only) is np.ndarray


def test_closures_of_every_transform() -> None:
    w = Tensor(ROW, requires_grad=True)
    f = lambda x: np.sum(w * x**3)
    results = (
        jacobian(f)(ROW),
        hessian(f)(ROW),
        hvp(f, (ROW,), (np.ones(3),))[0],
        jvp(f, (ROW,), (np.ones(3),))[1],
        elementwise_grad(lambda x: w * x**3)(ROW),
    )
    for result, want in zip(results, (3 * ROW**2, 6 * ROW, 6 * ROW, 3 * ROW**2, 3 * ROW**2)):
        assert isinstance(result, Tensor) and result.requires_grad and w.grad is None
        result.sum().backward()
        assert w.grad is not None
        np.testing.assert_allclose(w.grad.data, want)
        w.zero_grad()
    with mg.no_grad():
        assert type(hessian(f)(ROW)) is np.ndarray


def test_transforms_of_layers() -> None:
    """Parameters are closed over: results stay connected to them, and nobody's grad is touched on the way."""
    rng = np.random.default_rng(0)
    layer = nn.Affine(3, 2, rng=rng)
    layer.astype(np.float64)
    x = rng.standard_normal(3)
    f = lambda x: np.tanh(layer(x))
    jac = jacobian(f)(x)
    assert all(p.grad is None for p in layer.parameters())
    weight, bias = (torch.tensor(p.numpy(), requires_grad=True) for p in layer.parameters())
    want = torch.autograd.functional.jacobian(
        lambda x: torch.tanh(x @ weight + bias), torch.from_numpy(x), create_graph=True
    )
    np.testing.assert_allclose(jac.data, want.detach().numpy())
    (jac**2).sum().backward()
    (want**2).sum().backward()
    for p, other in zip(layer.parameters(), (weight, bias)):
        assert p.grad is not None and other.grad is not None
        np.testing.assert_allclose(p.grad.data, other.grad.numpy())


def test_complex_functions() -> None:
    z = np.array([1.0 + 2.0j, -0.5j])
    np.testing.assert_allclose(jacobian(lambda z: z * z * z, holomorphic=True)(z), np.diag(3 * z * z))
    second = jacobian(jacobian(lambda z: z**3, holomorphic=True), holomorphic=True)(z)
    np.testing.assert_allclose(second[0, 0, 0], 6 * z[0])
    v = np.array([1.0 - 1.0j, 2.0 + 0.5j])
    np.testing.assert_allclose(jvp(lambda z: z * z, (z,), (v,))[1], 2 * z * v)
    np.testing.assert_allclose(jvp(lambda z: np.abs(z) ** 2, (z,), (v,))[1], 2 * (z.conj() * v).real)
    np.testing.assert_allclose(jvp(lambda x: x * (2 + 1j), (ROW,), (ROW,))[1], ROW * (2 + 1j))
    (product,) = hvp(lambda z: np.sum(np.abs(z) ** 2), (z,), (v,))
    np.testing.assert_allclose(product, 2 * v.conj())  # the gradient is 2 conj(z)


BAD_JACOBIANS: dict[str, Any] = {
    "complex input": (lambda: jacobian(np.abs)(ROW + 1j), TypeError, "input has dtype complex128.*holomorphic=True"),
    "complex output": (lambda: jacobian(lambda x: x * 1j)(ROW), TypeError, "output has dtype complex128"),
    "real input": (lambda: jacobian(np.exp, holomorphic=True)(ROW), TypeError, "input has dtype float64"),
    "real output": (lambda: jacobian(np.abs, holomorphic=True)(ROW + 1j), TypeError, "output has dtype float64"),
    "no argument": (lambda: jacobian(np.exp, 1)(ROW), ValueError, "argnum=1.*1 positional"),
    "one twice": (lambda: grad(lambda x, y: x * y, (1, -1))(1.0, 2.0), ValueError, r"argnum=\(1, -1\).*twice"),
    "hessian": (lambda: hessian(lambda x: x.sum())(ROW + 1j), TypeError, "complex128"),
    "hvp of a vector": (lambda: hvp(np.exp, (ROW,), (ROW,)), TypeError, "one real number"),
    "hvp, no tuple": (lambda: hvp(np.sum, ROW, ROW), ValueError, "primals must be a tuple.*got ndarray"),
    "hvp, structure": (lambda: hvp(np.sum, (ROW,), (ROW, ROW)), ValueError, "vectors must be nested like"),
    "hvp, shape": (lambda: hvp(np.sum, (ROW,), (np.ones(2),)), mg.ShapeError, r"shape \(2,\).*\(3,\)"),
    "jvp, no tuple": (lambda: jvp(np.sum, (ROW,), ROW), ValueError, "tangents must be a tuple.*got ndarray"),
    "jvp, structure": (lambda: jvp(np.sum, ([ROW],), (ROW,)), ValueError, r"tangents must be .*\['ndarray'\], got ndarray"),
    "jvp, key": (lambda: jvp(lambda p: p["a"], ({"a": ROW},), ({"b": ROW},)), ValueError, "nested like"),
    "jvp, None": (lambda: jvp(np.exp, (2.0,), (None,)), ValueError, r"tangents must be.*got None"),
    "jvp, shape": (lambda: jvp(lambda x: 1.0, (ROW,), (np.ones(2),)), mg.ShapeError, r"a tangent has shape \(2,\)"),
    "jvp, complex": (lambda: jvp(np.sum, (ROW,), (ROW + 1j,)), mg.DTypeError, "a tangent has dtype complex128"),
    "pullback, key": (lambda: vjp(lambda x: {"a": x}, ROW)[1]({"b": ROW}), ValueError, "a cotangent must be nested like"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), BAD_JACOBIANS.values(), ids=BAD_JACOBIANS)
def test_bad_calls_of_the_others(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        call()
    assert isinstance(error.value, mg.MinigradError)


def test_the_pullback_records_only_while_recording() -> None:
    w = Tensor(2.0, requires_grad=True)
    _, pullback = vjp(lambda x: w * x * x, 3.0)
    assert pullback(1.0)[0].requires_grad
    with mg.no_grad():
        assert pullback(1.0)[0] == 12.0 and not isinstance(pullback(1.0)[0], Tensor)


# --- autograd_grad ---


def test_autograd_grad_beside_pytorch() -> None:
    """Of leaves, computed tensors, parts of a split and an output itself; several outputs add up."""

    def run(tensor: Any, split: Any, grad_function: Any, ones: Any) -> list[Any]:
        x, w = tensor([0.5, 1.5, 2.5, 3.5]), tensor([1.0, 2.0, 3.0, 4.0])
        h = x * w
        first, second = split(h, 2)
        y, z = (first * first * second).sum(), h * h * h
        return list(grad_function((y, z), (x, w, h, second, y, z), (None, ones), retain_graph=True))

    got = run(lambda a: Tensor(a, requires_grad=True), lambda h, n: np.split(h, n), mg.autograd_grad, np.ones(4))
    double = torch.float64
    want = run(
        lambda a: torch.tensor(a, requires_grad=True, dtype=double),
        lambda h, n: torch.split(h, len(h) // n),
        torch.autograd.grad,
        torch.ones(4, dtype=double),
    )
    for a, b in zip(got, want, strict=True):
        assert type(a) is Tensor and not a.requires_grad
        np.testing.assert_allclose(a.data, b.numpy())


def test_autograd_grad_touches_no_grad_and_frees_the_graph_in_between() -> None:
    x = Tensor(ROW, requires_grad=True)
    h: Any = np.exp(x)
    y = (h * h).sum()
    (gh,) = mg.autograd_grad(y, h)
    np.testing.assert_allclose(gh.data, 2 * np.exp(ROW))
    assert x.grad is None and h.grad is None
    with pytest.raises(mg.GraphError, match="second time through 'multiply'"):
        mg.autograd_grad(y, x)
    h.sum().backward()  # what led to h has not been swept
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.data, np.exp(ROW))


def test_autograd_grad_with_create_graph() -> None:
    x = Tensor(ROW, requires_grad=True)
    y = (x**3).sum()
    for want in (3 * ROW**2, 6 * ROW, 0 * ROW + 6):
        (g,) = mg.autograd_grad(y, x, create_graph=True)
        assert g.requires_grad
        np.testing.assert_allclose(g.data, want)
        y = g.sum()
    v = Tensor(ROW, requires_grad=True)
    (g,) = mg.autograd_grad(x * x, [x], [v], create_graph=True)
    np.testing.assert_allclose(mg.autograd_grad(g.sum(), v)[0].data, 2 * ROW)


def test_results_of_autograd_grad_are_nobody_elses() -> None:
    a, b, g = Tensor(ROW, requires_grad=True), Tensor(ROW, requires_grad=True), np.ones(3)
    for create_graph in (False, True):
        ga, gb = mg.autograd_grad(a + b, (a, b), g, create_graph=create_graph)
        ga.data[0] = 77
        assert gb.data[0] == 1 and g[0] == 1


def test_unused_inputs() -> None:
    x, w = Tensor(ROW, requires_grad=True), Tensor(ROW, requires_grad=True, name="w")
    y = (x * x).sum()
    with pytest.raises(
        mg.GraphError, match=r"inputs\[1\], the tensor 'w' of shape \(3,\).*not used.*allow_unused=True"
    ):
        mg.autograd_grad(y, (x, w))
    gx, gw = mg.autograd_grad(y, (x, w), allow_unused=True)  # the refused call has freed nothing
    assert gw is None and gx is not None
    np.testing.assert_allclose(gx.data, 2 * ROW)
    parts: Any = np.split(cast(Any, x * 1.0), [1])
    first = (parts[0] * x).sum()
    for _ in range(2):
        with pytest.raises(mg.GraphError, match=r"inputs\[0\].*not used"):
            mg.autograd_grad(first, parts[1])


BAD_AUTOGRAD: dict[str, Any] = {
    "an untracked output": (lambda x: mg.autograd_grad(Tensor(1.0), x), RuntimeError, "outputs, the tensor of shape"),
    "an untracked input": (
        lambda x: mg.autograd_grad(x.sum(), [x, x.detach()]),
        RuntimeError,
        r"inputs\[1\], the tensor",
    ),
    "an array": (lambda x: mg.autograd_grad(x.sum(), ROW), ValueError, "inputs, got ndarray"),
    "no cotangent": (lambda x: mg.autograd_grad(x * 2, x), RuntimeError, r"shape \(3,\) needs the argument grad"),
    "too few": (lambda x: mg.autograd_grad([x * 2, x], x, ROW), ValueError, r"1 item\(s\) for 2 output"),
    "shape": (lambda x: mg.autograd_grad(x * 2, x, [np.ones(2)]), ValueError, r"grad_outputs has shape \(2,\)"),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD_AUTOGRAD.values(), ids=BAD_AUTOGRAD)
def test_bad_calls_of_autograd_grad(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        call(Tensor(ROW, requires_grad=True))
    assert isinstance(error.value, mg.MinigradError)


# --- Modules: what is closed over, and what is an argument ---


def critic() -> nn.Affine:
    return nn.Affine(3, 1, rng=np.random.default_rng(0), dtype=np.float64)


@pytest.mark.parametrize("transform", [grad, jacobian, hessian, lambda f: lambda x: hvp(f, [x], [x])[0]])
def test_a_result_that_depends_on_closed_over_parameters_is_a_tensor_on_their_tape(transform: Any) -> None:
    """An array would cut a gradient penalty off from the weights without a word."""
    model = critic()
    parameters = model.state_dict()
    got = transform(lambda x: np.sum(np.tanh(model(x))))(ROW)
    assert isinstance(got, Tensor) and got.requires_grad
    alone = transform(lambda x: np.sum(np.tanh(nn.functional_call(model, parameters, x))))(ROW)
    with mg.no_grad():
        plain = transform(lambda x: np.sum(np.tanh(model(x))))(ROW)
    assert type(alone) is type(plain) is np.ndarray
    np.testing.assert_allclose(got.numpy(), plain, rtol=1e-13)
    np.testing.assert_allclose(alone, plain, rtol=1e-13)


def test_a_gradient_penalty_reaches_the_weights() -> None:
    """Gulrajani et al. 2017. The gradient of w x + b by x is w: the penalty is (|w| - 1)^2, its slope 2 (|w| - 1) w / |w|."""
    model = critic()
    penalty: Any = (np.linalg.norm(grad(lambda x: model(x).sum())(ROW)) - 1) ** 2
    penalty.backward()
    w = model.weight.data
    norm = np.linalg.norm(w)
    assert model.weight.grad is not None
    np.testing.assert_allclose(model.weight.grad.data, 2 * (norm - 1) * w / norm, rtol=1e-12)


def test_an_object_that_is_no_array_is_no_argument_and_the_way_is_named() -> None:
    model = critic()
    calls: list[Any] = [
        lambda m: grad(lambda m: m(ROW).sum())(m),
        lambda m: value_and_grad(lambda p: p["net"](ROW).sum())({"net": m}),
        lambda m: vjp(lambda m: m(ROW), m),
        lambda m: jvp(lambda m: m(ROW), [m], [m]),
        lambda m: jacobian(lambda m: m(ROW))(m),
        lambda m: hvp(lambda m: m(ROW).sum(), [m], [m]),
    ]
    for call in calls:
        with pytest.raises(
            mg.DTypeError, match=r"of class Affine: .*nn\.functional_call\(.*\)\(module\.state_dict\(\)\)"
        ):
            call(model)
        with pytest.raises(mg.DTypeError, match=r"cannot differentiate with respect to an argument: .*object"):
            call(object())


def test_a_function_may_change_the_containers_that_it_gets_and_returns() -> None:
    w, kept = np.array([1.0, 2.0]), []

    def assigns(p: Any) -> Any:
        p["w"] = p["w"] * 3
        return (p["w"] ** 2).sum()

    def swaps(p: Any) -> Any:
        p[0], p[1] = p[1], p[0]
        return (p[0] * 2 + p[1] * 5).sum()

    def keeps(x: Any) -> Any:
        kept.append(x * 2)
        return kept

    example = {"w": w}
    np.testing.assert_array_equal(mg.grad(assigns)(example)["w"], 18 * w)
    assert example["w"] is w
    swapped = mg.grad(swaps)([w, w])
    np.testing.assert_array_equal((swapped[0][0], swapped[1][0]), (5.0, 2.0))
    np.testing.assert_array_equal(mg.grad(lambda p: (p.pop("w") ** 2).sum())({"w": w})["w"], 2 * w)
    assert mg.jvp(assigns, ({"w": w},), ({"w": np.ones(2)},))[1] == 54.0
    second: Any = mg.hvp(assigns, ({"w": w},), ({"w": np.ones(2)},))
    np.testing.assert_array_equal(second[0]["w"], [18.0, 18.0])
    np.testing.assert_array_equal(mg.jacobian(lambda p: p.pop("w") * 2)({"w": w})["w"], 2 * np.eye(2))
    _, pullback = mg.vjp(keeps, w)
    kept.append(w)
    np.testing.assert_array_equal(pullback([np.ones(2)])[0], [2.0, 2.0])
