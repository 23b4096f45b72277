"""What rules call the arguments: a name is a name, in whatever order it is written."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, primitive
from minigrad.engine.primitive import Primitive
from minigrad.engine.registry import operators

Rules = dict[str, Any]


def mixed(a: Any, b: Any, c: Any = 1.0, scale: float = 1.0) -> Any:
    return (a - 2 * b + a * c) * scale


RULES: Rules = {
    "a": lambda g, c, scale: g * (1 + c) * scale,
    "b": lambda g, scale: -2 * g * scale,
    "c": lambda g, a, scale: g * a * scale,
}


@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
def test_rules_are_found_by_name_in_every_order(order: tuple[str, ...]) -> None:
    f = primitive(mixed).vjp(**{name: RULES[name] for name in order})
    assert mg.grad(f, (0, 1, 2))(2.0, 5.0, 7.0) == (8.0, -2.0, 2.0)
    calls: list[Callable[..., Any]] = [
        lambda a, b, c: f(a, b, c, 3.0),
        lambda a, b, c: f(a, b, c=c, scale=3.0),
        lambda a, b, c: f(c=c, scale=3.0, b=b, a=a),
    ]
    for call in calls:
        assert call(*mg.Tensor([2.0, 5.0, 7.0])).item() == mixed(2.0, 5.0, 7.0, 3.0)
        assert mg.grad(call, (0, 1, 2))(2.0, 5.0, 7.0) == (24.0, -6.0, 6.0)
        assert mg.jvp(call, [2.0, 5.0, 7.0], [1.0, 1.0, 1.0])[1] == 24.0


def test_the_rest_are_no_arrays() -> None:
    """Those that are named come first, in the function's order; with a ``/`` all before it do, named or not."""
    f = primitive(mixed).vjp(b=RULES["b"], a=lambda g, c, scale: g * (1 + c) * scale)
    assert f.arguments == ("a", "b")
    assert mg.grad(lambda a, b: f(b=b, a=a, c=4.0), (0, 1))(2.0, 5.0) == (5.0, -2.0)
    assert mg.grad(lambda a, b: f(a, b, 4.0), (0, 1))(2.0, 5.0) == (5.0, -2.0)
    g = primitive(lambda a, b, /: a - 2 * b, name="g").vjp(b=lambda g: -2 * g)
    assert g.arguments == ("a", "b") and mg.grad(g, 1)(2.0, 5.0) == -2.0


def by_keyword(x: Any, *, scale: float = 1.0) -> Any:
    return x * scale


@pytest.mark.parametrize(
    "function, rules, message",
    [
        (
            mixed,
            {"a": None, "c": None},
            r"array arguments come first, but there is no rule for b before c: pass b=None",
        ),
        (mixed, {"c": None}, r"no rule for a, b before c: pass a=None"),
        (mixed, {"a": None, "z": None}, r"mixed has no array argument z; it has a, b, c, scale"),
        (by_keyword, {"x": None, "scale": None}, r"by_keyword has no array argument scale; it has x"),
        (lambda *arrays: arrays[0], {"arrays": None}, r"has no array argument arrays; it has none"),
        (lambda x, **more: x, {"more": None}, r"has no array argument more; it has x"),
        (lambda x, **more: x, {"x": lambda g, more: g}, r"\['g', 'more'\].*among \['ans', 'x', 'x_shape'\]"),
        (lambda a, b, /: a, {"c": None}, r"has no array argument"),
    ],
)
def test_other_names_are_refused_and_nothing_is_declared(function: Any, rules: Rules, message: str) -> None:
    f = primitive(function, name=getattr(function, "__name__", "f"))
    before = f.arguments, f.arity
    with pytest.raises(ArgumentError, match=message):
        f.vjp(**rules)
    assert (f.arguments, f.arity, f.rules) == (*before, {})


def test_a_refused_declaration_leaves_the_one_before() -> None:
    f = primitive(mixed).vjp(**RULES)
    with pytest.raises(ArgumentError):
        f.vjp(a=lambda g: g, z=lambda g: g)
    with pytest.raises(ArgumentError):
        f.vjp(a=lambda g, z: g)
    assert mg.grad(f, (0, 1, 2))(2.0, 5.0, 7.0) == (8.0, -2.0, 2.0)


def test_a_later_declaration_takes_the_place_of_the_whole() -> None:
    f = primitive(lambda a, b: a - 2 * b, name="f").vjp(a=lambda g: g)
    assert f.vjp(b=lambda g: -2 * g, a=lambda g: g).arguments == ("a", "b")
    each = primitive(lambda a, b, /: a - 2 * b, name="each").vjp_each(lambda g, i: g * [1, -2][i])
    assert mg.grad(each, (0, 1))(2.0, 5.0) == (1.0, -2.0)
    each.vjp(a=lambda g: 3 * g, b=None)
    assert mg.grad(each)(2.0, 5.0) == 3.0
    with pytest.raises(mg.UnsupportedError, match="each has no derivative with respect to 'b'"):
        mg.grad(each, 1)(2.0, 5.0)
    each.vjp_each(lambda g, i: g * [1, -2][i])
    assert mg.grad(each, (0, 1))(2.0, 5.0) == (1.0, -2.0)


@pytest.fixture
def ufuncs_stay() -> Iterator[None]:
    """What is declared meanwhile takes the place of no operator."""
    before: dict[Any, Any] = dict(operators)
    yield
    operators.update(before)


def of_ufunc(ufunc: np.ufunc) -> Primitive:
    return Primitive(ufunc, ufunc.__name__, [], None)


@pytest.mark.usefixtures("ufuncs_stay")
@pytest.mark.parametrize(
    "ufunc, names",
    [
        (np.subtract, ("x", "y")), (np.subtract, ("x1", "x2")), (np.arctan2, ("y", "x")), (np.arctan2, ("x1", "x2")),
        (np.power, ("x", "y")), (np.ldexp, ("x", "exponent")),
    ],
)  # fmt: skip
def test_a_ufunc_has_the_names_x_and_y_or_numpys(ufunc: Any, names: tuple[str, ...]) -> None:
    for order in (names, names[::-1]):
        f = of_ufunc(ufunc).vjp(**dict.fromkeys(order))
        assert f.arguments == names
    with pytest.raises(
        ArgumentError, match=rf"{ufunc.__name__} has 2 array argument\(s\): rules must name them x1 and x2, or"
    ):
        of_ufunc(ufunc).vjp(b=None, a=None)


@pytest.mark.usefixtures("ufuncs_stay")
def test_the_rules_of_a_ufunc_go_by_name() -> None:
    f = of_ufunc(np.subtract).vjp(y=lambda g: -g, x=lambda g: g)
    assert mg.grad(f, (0, 1))(2.0, 5.0) == (1.0, -1.0)
    angle = of_ufunc(np.arctan2).vjp(
        x=lambda g, x, y: -g * y / (x * x + y * y), y=lambda g, x, y: g * x / (x * x + y * y)
    )
    mg.check_grads(angle, [np.array([1.0, 2.0]), np.array([3.0, 0.5])])
    only = of_ufunc(np.subtract).vjp(y=lambda g: -g)
    assert mg.grad(only, 1)(2.0, 5.0) == -1.0
    with pytest.raises(mg.UnsupportedError, match="no derivative with respect to 'x'"):
        mg.grad(only)(2.0, 5.0)
    with pytest.raises(ArgumentError, match="tanh has 1 array argument"):
        of_ufunc(np.tanh).vjp(x=None, y=None)


def test_a_rule_for_each_argument_gets_them_in_args() -> None:
    with pytest.raises(ArgumentError, match=r"\['g', 'i', 'b'\].*among \['ans', 'args', 'i'\]"):
        primitive(lambda a, b=2.0: a * b, name="f").vjp_each(lambda g, i, b: g * b)
    with pytest.raises(ArgumentError, match=r"\['g', 'arrays'\]"):
        primitive(lambda *arrays: sum(arrays), name="f").vjp_each(lambda g, arrays: g)
    f = primitive(lambda *arrays, scale=1.0: sum(arrays) * scale, name="f").vjp_each(lambda g, scale: g * scale)
    assert mg.grad(lambda a, b: f(a, b, scale=3.0), (0, 1))(1.0, 2.0) == (3.0, 3.0)


def test_what_gets_arrays_by_place_has_them_in_the_same_order() -> None:
    def swapped(b: Any, a: Any) -> Any:
        return a - 2 * b

    for function in (lambda a, b, /: a - 2 * b, lambda a, b: a - 2 * b):
        f = primitive(function, name="f")
        with pytest.raises(ArgumentError, match="the composition of f takes b, a, but gets a, b in this order"):
            f.reference(swapped)
        with pytest.raises(ArgumentError, match="the kernel's forward of f takes b, a, but gets a, b in this order"):
            f.kernel(np.ndarray, lambda b, a: (swapped(b, a), None))
        assert f.composition is None and not f.kernels
        assert mg.grad(f.reference(lambda u, v: u - 2 * v), (0, 1))(2.0, 5.0) == (1.0, -2.0)  # other names go by place
