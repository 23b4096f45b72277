"""grad, value_and_grad and vjp: functions of functions, nested and over containers."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, grad, value_and_grad, vjp

Pair = namedtuple("Pair", "a b")
ROW = np.array([1.0, 2.0, 3.0])


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
    "integers": (lambda x: x * 1.0, (3,), TypeError, r"3 of dtype int64.*3\.0 rather than 3"),
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
