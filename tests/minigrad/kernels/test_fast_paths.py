"""The fast paths against the plain reference: the same training, and nothing that was in memory before comes into it."""

import ctypes
import itertools
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ShapeError, Tensor, reference_mode
from minigrad.kernels.numpy.rows import row_sums
from tests.minigrad.kernels.fast_paths import (
    classifier_loss,
    decoder_loss,
    forget_plans,
    gpt_loss,
    numpy_kernels,
    training_losses,
)

PROGRAMS = tomllib.loads((Path(__file__).parent / "processes.toml").read_text(encoding="utf-8"))


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-4)], ids=["float64", "float32"])
@pytest.mark.parametrize(
    ("make", "norm", "activation"),
    [
        *[(classifier_loss, *setting) for setting in itertools.product(("pre", "post"), ("relu", "gelu"))],
        (gpt_loss, "pre", "gelu"),
        *[(decoder_loss, *setting) for setting in (("pre", "relu"), ("post", "gelu"))],
    ],
)
def test_training_without_the_kernels_gives_the_same_losses(
    make: Any, norm: str, activation: str, dtype: Any, tolerance: float
) -> None:
    settings = norm, activation, dtype
    fast = training_losses(make, *settings)
    with reference_mode():
        plain = training_losses(make, *settings)
    np.testing.assert_allclose(fast, plain, rtol=tolerance)
    assert fast[-1] < 0.97 * fast[0]


def test_the_kernels_are_used_and_reference_mode_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above compares is not twice the same."""
    used: set[str] = set()
    for name, kernel in numpy_kernels():
        monkeypatch.setattr(kernel, "backward", spying(kernel.backward, partial(used.add, name)))
    forget_plans()
    with reference_mode():
        for make in (classifier_loss, gpt_loss):
            training_losses(make, "pre", "gelu", np.float32, steps=1)
    assert not used
    for make in (classifier_loss, gpt_loss):
        training_losses(make, "pre", "gelu", np.float32, steps=1)
    forget_plans()
    assert used >= {"affine", "layer_norm", "gelu", "attention", "cross_entropy"}


def spying(function: Callable[..., Any], spy: Callable[[], object]) -> Callable[..., Any]:
    def spied(*args: Any, **keywords: Any) -> Any:
        spy()
        return function(*args, **keywords)

    return spied


# --- memory that the C library overwrites ---


def run_steps(fill: int) -> tuple[str, int]:
    """What the steps print where malloc and free fill memory, and how many of 100,000 new bytes are ``~fill``.

    glibc's malloc(3) writes the complement of the byte into what it hands out, and the byte into what is freed.
    """
    filled = {
        "MALLOC_PERTURB_": str(fill),
        "GLIBC_TUNABLES": f"glibc.malloc.perturb={fill}:glibc.malloc.tcache_count=0",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS["steps"], str(~fill & 255)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | (filled if fill else {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, int(done.stderr)


@pytest.mark.thorough
def test_nothing_depends_on_what_was_in_memory_before() -> None:
    """Neither in arrays that are made without contents (np.empty) nor in those that were freed."""
    plain, _ = run_steps(0)
    found = [run_steps(fill) for fill in (0x5A, 0x81)]  # as floats: 2e16 and -5e-38; their complements -1e-16, 4e38
    if not all(count > 90_000 for _, count in found):
        pytest.skip("the C library does not fill memory: not glibc, or not as this test asks for")
    assert len(plain.split()) == 10
    assert [text for text, _ in found] == [plain, plain]


# --- odd inputs, for which a kernel must give what the plain form gives ---


@pytest.mark.parametrize("number", [1.0, 100.1, 1000.0, 1e5])
def test_layer_norm_of_equal_numbers_is_nothing_but_the_bias(number: float) -> None:
    x = np.full((4, 768), number, np.float32)
    got = mg.layer_norm(x, np.ones(768, np.float32), np.full(768, 0.5, np.float32))
    np.testing.assert_allclose(got, 0.5, atol=1e-3)


def test_a_row_of_nan_sees_no_more_than_it_may() -> None:
    q, k, v = (Tensor(np.ones((1, 3, 2)), requires_grad=True) for _ in range(3))
    q.data[0, 0] = np.nan
    mg.scaled_dot_product_attention(q, k, v, np.tri(3, dtype=bool)).sum().backward()
    assert v.grad is not None and np.isnan(v.grad.numpy()[0, 0]).all() and np.isfinite(v.grad.numpy()[0, 1:]).all()


@pytest.mark.parametrize("rows", [2, 600_000])
def test_affine_of_integers_gives_what_numpy_gives(rows: int) -> None:
    x, w, b = np.ones((rows, 8), np.float32), np.ones((8, 8), int), np.ones(8, int)
    assert mg.affine(x, w, b).dtype == np.float64


@pytest.mark.parametrize("batch", [(), (1,), (1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
@pytest.mark.parametrize("of_mask", [(), (2,), (1, 2), (2, 1), (2, 2), (1, 1), (1, 1, 2)])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_a_mask_has_the_axes_of_the_scores(batch: tuple[int, ...], of_mask: tuple[int, ...], heads: int) -> None:
    """And leaves them as many as they are; by kernels and by the plain rule. There are two heads."""
    random = np.random.default_rng(0)
    q, k, v = (Tensor(random.standard_normal((*batch, 4, 6)), requires_grad=True) for _ in range(3))
    mask = random.random((*of_mask, heads, 4, 4)) < 0.6
    results: list[Any] = []
    for mode in (mg.enable_grad(), mg.reference_mode()):
        with mode:
            try:
                answer = mg.scaled_dot_product_attention(q, k, v, mask, num_heads=2)
            except ShapeError:
                results.append(None)
                continue
            results.append([answer.numpy(), *mg.autograd_grad((answer * answer).sum(), [q, k, v])])
    fits = len(of_mask) == len(batch) and all(n in (1, m) for n, m in zip((*of_mask, heads), (*batch, 2)))
    assert [result is not None for result in results] == [fits, fits]
    for got, expected in zip(*(result or [] for result in results), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_a_scale_of_numpys_leaves_float32_what_it_is() -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 4)).astype(np.float32)
    t = Tensor(k, requires_grad=True)
    for mode in (mg.enable_grad(), mg.reference_mode()):
        with mode:
            answers = [mg.scaled_dot_product_attention(q, t, v, scale=scale) for scale in (0.3, np.float64(0.3))]
            assert answers[1].dtype == np.float32
            np.testing.assert_array_equal(answers[0].numpy(), answers[1].numpy())
            gradients = [mg.autograd_grad(answer.sum(), t)[0].numpy() for answer in answers]
            np.testing.assert_array_equal(*gradients)


@pytest.mark.parametrize(
    "gradient",
    [
        lambda g: np.broadcast_to(g[:1], g.shape),
        lambda g: np.frombuffer(bytearray(g.tobytes()), g.dtype).reshape(g.shape),
        lambda g: np.asfortranarray(g),
        lambda g: np.stack([g] * 4)[0],
    ],
)
def test_a_gradient_is_handed_over_only_where_it_can_be_added_into(gradient: Any) -> None:
    def double(x: Any, /) -> Any:
        return x * 2

    operation = mg.primitive(double, name="double").reference(double)
    operation.kernel(np.ndarray, lambda x: (x * 2, None), lambda g, needs: (gradient(2 * g),))
    x = Tensor(np.ones((2, 3)), requires_grad=True)
    for times in (1, 2, 3):
        operation(x).sum().backward()
        assert x.grad is not None
        np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 3), 2.0 * times))
        assert x.grad.data.flags.writeable and getattr(x.grad.data.base, "size", 6) == 6


def test_rows_of_five_are_summed_without_a_warning(tmp_path: Path) -> None:
    """OpenBLAS 0.3.31 reads a number that nobody wrote, where the stack holds what an earlier function left there."""
    compiler = next((found for name in ("c++", "g++", "clang++") if (found := shutil.which(name))), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler: c++, g++ or clang++")
    source, library = tmp_path / "dirty.cpp", tmp_path / "dirty.so"
    source.write_text(
        'extern "C" void dirty(unsigned bits) { volatile unsigned a[20000]; for (int i = 0; i < 20000; i++) a[i] = bits; }'
    )
    subprocess.run([compiler, "-O0", "-shared", "-fPIC", "-o", library, source], check=True)
    dirty, signalling_nan = ctypes.CDLL(str(library)).dirty, 0x7FA00001
    for length, rows in itertools.product(range(1, 34), range(1, 9)):
        x, ones = np.full((rows, length), 1.5, np.float32), np.ones(length, np.float32)
        with np.errstate(all="raise"):
            dirty(signalling_nan)  # nothing may come between, not even np.ones
            sums = row_sums(x, ones)
        np.testing.assert_allclose(sums, 1.5 * length, rtol=1e-6)
