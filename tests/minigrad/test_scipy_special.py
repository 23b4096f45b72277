"""SciPy's special functions on Tensors: SciPy stays optional, and what happens far out and at the edges."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
