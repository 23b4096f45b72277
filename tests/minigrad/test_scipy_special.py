"""SciPy's special functions on Tensors: SciPy stays optional, and what happens far out and at the edges."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp  # type: ignore[import-untyped]

import minigrad as mg
from minigrad import Tensor
from minigrad.errors import UnsupportedError
from tests.lazy import scipy, scipy_special as special


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout


def test_minigrad_does_not_import_scipy() -> None:
    assert run("import sys, minigrad; print('scipy' in sys.modules)").strip() == "False"


def test_without_scipy_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["scipy"] = None
import minigrad
try:
    import minigrad.scipy_special
except minigrad.MissingExtraError as error:
    print(error)
"""
    assert "minigrad.scipy_special needs scipy: pip install scipy" in run(code)


def test_plain_arrays_give_what_scipy_gives() -> None:
    x = np.array([0.2, 0.7])
    for name in ("erf", "gammaln", "logit", "softmax", "log_softmax", "logsumexp", "zeta"):
        args = (2.0, x) if name == "zeta" else (x,)
        np.testing.assert_allclose(getattr(special, name)(*args), getattr(scipy.special, name)(*args), rtol=1e-14)
    np.testing.assert_array_equal(special.polygamma(2, x), scipy.special.polygamma(2, x))


EDGES: list[tuple[str, Callable[..., Any], list[float], list[float]]] = [
    ("0 log 0", special.xlogy, [0.0, 0.0], [0.0, 0.0]),
    ("0 log 2", special.xlogy, [0.0, 2.0], [np.log(2.0), 0.0]),
    ("0 log(1 - 1)", special.xlog1py, [0.0, -1.0], [0.0, 0.0]),
    ("log_ndtr far left", special.log_ndtr, [-1e4], [1e4 + 1e-4]),
    ("log_ndtr far right", special.log_ndtr, [50.0], [0.0]),
    ("expit far left keeps its digits", special.expit, [-700.0], [np.exp(-700.0)]),
    ("expit far right keeps its digits", special.expit, [700.0], [np.exp(-700.0)]),
    ("log_expit far left", special.log_expit, [-1e4], [1.0]),
    ("j1 at 0", special.j1, [0.0], [0.5]),
    ("i1 at 0", special.i1, [0.0], [0.5]),
    ("entr at 0", special.entr, [0.0], [np.inf]),
]


@pytest.mark.parametrize(("f", "inputs", "want"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES])
def test_edges(f: Callable[..., Any], inputs: list[float], want: list[float]) -> None:
    tensors = [Tensor(x, requires_grad=True) for x in inputs]
    f(*tensors).backward()
    for t, expected in zip(tensors, want, strict=True):
        assert t.grad is not None
        np.testing.assert_allclose(t.grad.data, expected, rtol=1e-12)


def test_the_mixed_derivative_of_xlogy_at_0() -> None:
    """d/dx d/dy x log(y) = 1 / y, also where x is 0."""
    assert mg.grad(lambda x: mg.grad(lambda y: special.xlogy(x, y))(Tensor(4.0)))(0.0) == 0.25


@pytest.mark.parametrize(
    "f", [lambda t: special.gammainc(t, 2.0), lambda t: special.jv(t, 2.0), lambda t: special.betainc(t, 1.0, 0.5)]
)
def test_an_argument_without_a_rule_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="no derivative"):
        f(Tensor(1.5, requires_grad=True))


def test_other_ufuncs_of_scipy_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="spence"):
        scipy.special.spence(Tensor(1.5, requires_grad=True))


def test_complex_arguments() -> None:
    z = np.array([0.6 + 0.3j, 1.2 - 0.4j])
    mg.check_grads(special.erf, [z])
    mg.check_grads(special.erfcx, [z])
    mg.check_grads(special.log_ndtr, [z])
    mg.check_grads(special.xlogy, [z, z + 0.5])
    mg.check_grads(special.loggamma, [z], order=1)
    mg.check_grads(special.gamma, [z], order=1)


def test_the_derivative_of_a_complex_digamma_is_refused() -> None:
    """SciPy has no polygamma of complex numbers."""
    with pytest.raises(mg.DTypeError, match="polygamma"):
        mg.grad(lambda z: np.real(special.psi(z)))(0.6 + 0.3j)


def test_before_it_is_imported_the_error_names_this_module() -> None:
    program = (
        "import scipy.special, minigrad as mg\n"
        "t = mg.Tensor([0.5], requires_grad=True)\n"
        "for f in (scipy.special.erf, scipy.special.expit, scipy.special.exp1):\n"
        "    try: print(f(t))\n"
        "    except TypeError as error: print(error)\n"
        "import minigrad.scipy_special\n"
        "print(scipy.special.erf(t))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    erf, expit, exp1, after = done.stdout.splitlines()
    for name, said in (("erf", erf), ("expit", expit), ("exp1", exp1)):
        assert said.startswith(f"scipy.special.{name} has no derivative rule yet: import minigrad.scipy_special")
    assert after == "Tensor([0.52049988], op=special.erf)"


# --- orders one to three against mpmath, over the whole domain, at its ends and where series join ---


def _normal(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


NEAR_0 = [0.0, 1e-300, 1e-200, 1e-10, -1e-5, 0.1, 0.999, 1.001, -3.0, 7.9, 8.1, 30.0]
FAR = [1e-10, 0.3, 0.999, 1.001, -2.5, 7.9, 8.1, 25.0, 60.0, 713.0, 1e4, 1e8]
LOGISTIC = [0.0, 1.0, -30.0, 100.0, -700.0]
POSITIVE = [1e-10, 0.3, 1.0, 2.0, 9.9, 30.0, 1e3]
SHARE = [1e-10, 0.2, 0.5, 0.9, 1 - 1e-10]
EXACT: dict[str, tuple[Callable[..., Any], list[float]]] = {
    "erf": (mp.erf, [0.0, 1e-8, 1.0, -3.0, 6.1, 20.0]), "erfc": (mp.erfc, [1e-8, 1.0, -3.0, 5.9, 20.0, 26.0]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [0.0, -20.0, -1.0, 0.5, 0.999, 1.001, 2.0, 3.0, 8.0, 30.0, 49.0, 51.0,
        1e3, 1e7, 1e8]),
    "erfinv": (mp.erfinv, [0.0, 1e-8, -0.5, 0.9, 0.999]), "erfcinv": (lambda y: mp.erfinv(1 - y), [1e-10, 0.3, 1.5, 1.999]),
    "ndtr": (_normal, [0.5, -5.0, 30.0, -37.0]), "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), [1e-10, 0.3, 0.9]),
    "log_ndtr": (lambda x: mp.log(_normal(x)), [0.0, 1.0, -1.0, -1.41, -1.42, -5.0, -20.0, -37.0, -70.0, -1e3, -1e5, -1e8,
        5.0, 30.0]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), LOGISTIC[1:]), "log_expit": (lambda x: -mp.log(1 + mp.exp(-x)), LOGISTIC[1:]),
    "logit": (lambda x: mp.log(x / (1 - x)), [1e-150, 1e-10, 0.3, 0.9, 1 - 1e-10]),
    "entr": (lambda x: -x * mp.log(x), [1e-10, 0.5, 10.0]),
    "psi": (mp.digamma, [*POSITIVE, -0.5]), "gamma": (mp.gamma, [*POSITIVE[:-1], -0.5, 160.0]),
    "gammaln": (mp.loggamma, POSITIVE), "loggamma": (mp.loggamma, POSITIVE),
    "rgamma": (mp.rgamma, [0.0, -1.0, -2.0, -5.0, -50.0, 1e-10, -1e-10, -1 + 1e-10, 0.499, 0.501, -3.7, 2.0, 30.0]),
    "j0": (mp.j0, [0.0, *NEAR_0[3:]]), "j1": (mp.j1, [0.0, *NEAR_0[3:]]),
    "y0": (lambda x: mp.bessely(0, x), [0.3, 4.99, 5.01]),
    "y1": (lambda x: mp.bessely(1, x), [0.3, 4.99, 5.01]),
    "i0": (lambda x: mp.besseli(0, x), [*NEAR_0, 700.0]), "i1": (lambda x: mp.besseli(1, x), [*NEAR_0, 700.0]),
    "i0e": (lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), FAR), "i1e": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), FAR),
    "jv 2.5": (lambda x: mp.besselj(2.5, x), [1e-3, 1.0, 20.0]),
    "iv 1.5": (lambda x: mp.besseli(1.5, x), [1e-3, 1.0, 20.0, 600.0]),
    "jv 3": (lambda x: mp.besselj(3, x), [0.0, 1.0, 20.0]), "iv 2": (lambda x: mp.besseli(2, x), [0.0, 1.0, 20.0]),
    "polygamma 0": (mp.digamma, POSITIVE), "polygamma 2": (lambda x: mp.polygamma(2, x), POSITIVE),
    "zeta 2.5": (lambda q: mp.zeta(2.5, q), POSITIVE[1:]),
    "beta 2.5": (lambda b: mp.beta(2.5, b), POSITIVE[1:5]), "betaln 2.5": (lambda b: mp.log(mp.beta(2.5, b)), POSITIVE[1:5]),
    "xlogy 2.5": (lambda y: 2.5 * mp.log(y), POSITIVE), "xlog1py 2.5": (lambda y: 2.5 * mp.log1p(y), POSITIVE),
    "rel_entr 2.5": (lambda y: 2.5 * mp.log(2.5 / y), POSITIVE),
    "kl_div 2.5": (lambda y: 2.5 * mp.log(2.5 / y) + y, POSITIVE[:2]),
    **{f"gammainc {a}": (lambda x, a=a: mp.gammainc(a, 0, x) / mp.gamma(a), [1e-10, 9e-4, 1.1e-3, 1.0, 60.0])
       for a in (0.5, 1.0, 3.0, 40.0)},
    "gammaincc 2.5": (lambda x: mp.gammainc(2.5, x) / mp.gamma(2.5), [1e-10, 9e-4, 1.1e-3, 1.0, 60.0]),
    **{f"betainc {a} {b}": (lambda x, a=a, b=b: mp.betainc(a, b, 0, x) / mp.beta(a, b), SHARE)
       for a, b in ((0.5, 0.5), (2.0, 2.0), (3.0, 1.0), (1.5, 30.0))},
}  # fmt: skip


def named(name: str) -> Callable[[Any], Any]:
    function, *numbers = name.split()
    constants = [int(n) if function == "polygamma" else float(n) for n in numbers]
    return lambda x: getattr(special, function)(*constants, x)


def differences(f: Callable[[Any], Any], x: float) -> list[float]:
    """Return the first three derivatives from central differences, whose steps are 1e-25 of the distance to 0 and 1."""
    with mp.workdps(1200 if 0 < abs(x) < 1e-100 else 500 if abs(x) > 15 else 150):
        at = mp.mpf(x)
        h = mp.mpf(10) ** -25 * min(abs(at) or 1, abs(1 - at) or 1)
        values = {k: f(at + k * h) for k in (-2, -1, 0, 1, 2)}
        first, second = (values[1] - values[-1]) / (2 * h), (values[1] - 2 * values[0] + values[-1]) / h**2
        third = (values[2] - 2 * values[1] + 2 * values[-1] - values[-2]) / (2 * h**3)
        return [float(first), float(second), float(third)]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", EXACT)
def test_three_orders_to_twelve_digits(name: str) -> None:
    exact, points = EXACT[name]
    f = named(name)
    orders = [mg.grad(f), mg.grad(mg.grad(f)), mg.grad(mg.grad(mg.grad(f)))]
    for x in points:
        for order, (derivative, want) in enumerate(zip(orders, differences(exact, x), strict=True), 1):
            found = float(derivative(x))
            assert found == want or abs(found - want) <= 1e-12 * abs(want) + 1e-24, (x, order, found, want)


# What the derivatives at an end of the domain are: 0, 1 or infinite.
ENDS: list[tuple[str, float, list[float]]] = [
    ("gammainc 0.5", 0.0, [np.inf, -np.inf, np.inf]), ("gammainc 1", 0.0, [1.0, -1.0, 1.0]),
    ("gammainc 1.5", 0.0, [0.0, np.inf, -np.inf]), ("gammainc 2", 0.0, [0.0, 1.0, -2.0]), ("gammainc 3", 0.0, [0.0, 0.0, 1.0]),
    ("gammaincc 2", 0.0, [0.0, -1.0, 2.0]), ("gammainc 2", np.inf, [0.0, 0.0, 0.0]),
    ("betainc 1 1", 0.0, [1.0, 0.0, 0.0]), ("betainc 1 1", 1.0, [1.0, 0.0, 0.0]), ("betainc 2 2", 0.0, [0.0, 6.0, -12.0]),
    ("betainc 2 2", 1.0, [0.0, -6.0, -12.0]), ("betainc 0.5 0.5", 0.0, [np.inf, -np.inf, np.inf]),
    ("betainc 0.5 0.5", 1.0, [np.inf, np.inf, np.inf]), ("betainc 3 1", 1.0, [3.0, 6.0, 6.0]),
    ("i1", np.inf, [np.inf] * 3), ("erfcx", np.inf, [0.0, 0.0, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "want"), ENDS, ids=[f"{name} at {x}" for name, x, _ in ENDS])
def test_three_orders_at_the_ends(name: str, x: float, want: list[float]) -> None:
    f = named(name)
    np.testing.assert_allclose(
        [mg.grad(f)(x), mg.grad(mg.grad(f))(x), mg.grad(mg.grad(mg.grad(f)))(x)], want, rtol=1e-13
    )


@pytest.mark.parametrize(
    ("name", "x"), [("erfcx", 1e3), ("log_ndtr", -1e3), ("i1", 1e-6), ("i1e", 29.0), ("i1e", 500.0), ("rgamma", 0.0)]
)
def test_three_orders_of_float32(name: str, x: float) -> None:
    f = named(name)
    for derivative in (mg.grad(f), mg.grad(mg.grad(f)), mg.grad(mg.grad(mg.grad(f)))):
        found, want = derivative(np.float32(x)), derivative(float(np.float32(x)))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, want, rtol=3e-6)
