"""Dividing one operation among threads: every part once, errors, contexts, forks, and the same numbers for any count."""

import contextlib
import contextvars
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError
from minigrad.kernels import threads as _threads
from minigrad.kernels.blas import blas
from minigrad.kernels.layers import optimizers
from minigrad.kernels.numpy import activations, products
from minigrad.kernels.threads import in_blocks, in_parts, num_threads, set_num_threads
from minigrad.rules.neural import rms_norm

PROGRAMS = tomllib.loads((Path(__file__).parent / "processes.toml").read_text(encoding="utf-8"))
MUCH = 1 << 40  # work enough for all threads


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    before = num_threads()
    set_num_threads(3)
    yield
    set_num_threads(before)


def parts_of(count: int, work: int = MUCH) -> list[tuple[int, int, int]]:
    """Each part, and the thread it ran in."""
    calls: list[tuple[int, int, int]] = []
    in_parts(lambda start, stop: calls.append((start, stop, threading.get_ident())), count, work)
    return sorted(calls)


# --- what is called ---


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 1001])
def test_every_number_is_in_one_part(count: int, threads: int) -> None:
    set_num_threads(threads)
    calls = parts_of(count)
    assert [i for start, stop, _ in calls for i in range(start, stop)] == list(range(count))
    assert len(calls) == max(1, min(threads, count))


def test_little_work_and_one_thread_stay_in_the_callers_thread() -> None:
    here = threading.get_ident()
    assert parts_of(10, work=1000) == [(0, 10, here)]
    set_num_threads(1)
    assert parts_of(10) == [(0, 10, here)]


def test_the_caller_does_a_part_itself() -> None:
    calls = parts_of(9)
    assert calls[0] == (0, 3, threading.get_ident())
    assert [call[:2] for call in calls] == [(0, 3), (3, 6), (6, 9)]


def test_all_parts_are_done_when_it_returns() -> None:
    done = np.zeros(30, bool)

    def slow(start: int, stop: int) -> None:
        time.sleep(0.02 * start / 10)
        done[start:stop] = True

    in_parts(slow, 30, MUCH)
    assert done.all()


def test_a_part_may_divide_its_own_work() -> None:
    """A worker's is not divided again; the caller's may be, and nobody waits for anybody who waits."""
    counts = np.zeros((3, 50), int)

    def inner(i: int) -> Any:
        def count(start: int, stop: int) -> None:
            counts[i, start:stop] += 1

        return count

    def outer(start: int, stop: int) -> None:
        for i in range(start, stop):
            in_parts(inner(i), 50, MUCH)

    for _ in range(20):
        in_parts(outer, 3, MUCH)
    assert (counts == 20).all()
    workers: list[int] = []

    def in_a_worker(start: int, stop: int) -> None:
        if start:
            in_parts(lambda a, b: workers.append(b - a), 50, MUCH)

    in_parts(in_a_worker, 3, MUCH)
    assert workers == [50, 50]


def test_several_threads_of_the_program_at_once() -> None:
    def work(seed: int) -> bool:
        x, y = np.random.default_rng(seed).standard_normal((2, 300))
        for _ in range(50):
            out = np.full(300, np.nan)

            def multiply(start: int, stop: int, out: Any = out) -> None:
                np.multiply(x[start:stop], y[start:stop], out=out[start:stop])

            in_parts(multiply, 300, MUCH)
            if not np.array_equal(out, x * y):
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


# --- errors ---


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_reaches_the_caller_when_the_others_are_done(failing: int, error: type[BaseException]) -> None:
    done = [False] * 3

    def part(start: int, stop: int) -> None:
        if start == failing:
            raise error("in part", start)
        time.sleep(0.03)
        done[start] = True

    for _ in range(2):  # the workers go on
        done[:] = [False] * 3
        with pytest.raises(error) as raised:
            in_parts(part, 3, MUCH)
        assert raised.value.args == ("in part", failing)
        assert done == [i != failing for i in range(3)]
    assert len(parts_of(3)) == 3


def test_of_several_errors_the_callers_own_comes_first() -> None:
    failing = [0, 1, 2]

    def fail(start: int, stop: int) -> None:
        if start in failing:
            raise ValueError(start)

    with pytest.raises(ValueError, match="0"):
        in_parts(fail, 3, MUCH)
    failing.remove(0)
    with pytest.raises(ValueError, match=r"[12]"):
        in_parts(fail, 3, MUCH)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_held_afterwards(fails: bool, request: pytest.FixtureRequest) -> None:
    array = np.zeros(30)

    def part(start: int, stop: int, array: Any = array) -> None:
        array[start:stop] = 1
        if fails:
            raise ValueError

    held = weakref.ref(array), weakref.ref(part)
    gc.collect()
    gc.disable()  # reference counts are to be enough
    request.addfinalizer(gc.enable)
    with contextlib.suppress(ValueError):
        in_parts(part, 3, MUCH)
    del array, part
    for _ in range(100):  # a worker may be about to let go
        if all(reference() is None for reference in held):
            return
        time.sleep(0.01)
    pytest.fail("the arrays of a call outlive it")


@pytest.mark.parametrize("count", [0, -1, 2.0, "2", None, True, [1]])
def test_a_number_of_threads_that_is_none(count: Any) -> None:
    with pytest.raises(ArgumentError, match="set_num_threads takes a positive integer, got"):
        set_num_threads(count)
    assert num_threads() == 3


def test_the_number_of_threads_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = _threads._cores()
    assert cores >= 1
    for value, expected in (("1", 1), ("0", 1), ("100000", cores), ("", cores), ("2,1", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert _threads._cores() == expected


# --- contexts ---


def test_errstate_of_the_caller_holds_in_every_part() -> None:
    zeros, out = np.zeros(3), np.empty(3)

    def divide(start: int, stop: int) -> None:
        if start:  # in a worker
            np.divide(1.0, zeros[start:stop], out=out[start:stop])

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        in_parts(divide, 3, MUCH)
    with np.errstate(divide="ignore"):
        in_parts(divide, 3, MUCH)
    with pytest.raises(RuntimeWarning, match="divide by zero"):  # the default, and warnings are errors here
        in_parts(divide, 3, MUCH)
    seen: list[str] = []
    with np.errstate(divide="ignore"):
        in_parts(lambda start, stop: seen.append(np.geterr()["divide"]), 3, MUCH)
    in_parts(lambda start, stop: seen.append(np.geterr()["divide"]), 3, MUCH)
    assert seen == ["ignore"] * 3 + ["warn"] * 3


def test_context_variables_are_seen_and_changes_stay_with_the_part() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    seen = []

    def part(start: int, stop: int) -> None:
        seen.append(variable.get())
        if start:
            variable.set(start)

    in_parts(part, 3, MUCH)
    assert seen == [7, 7, 7] and variable.get() == 7


@pytest.mark.parametrize("fails", [False, True])
def test_the_threads_of_the_matrix_product_come_back(fails: bool) -> None:
    in_parts(lambda start, stop: None, 3, MUCH)
    if blas._functions is None:
        pytest.skip("NumPy's matrix products are not OpenBLAS'")
    get, set_ = blas._functions
    before, seen = get(), []
    try:
        set_(2)

        def part(start: int, stop: int) -> None:
            seen.append(get())
            if fails:
                raise ValueError

        for work in (1, MUCH):
            try:
                in_parts(part, 3, work)
            except ValueError:
                assert fails
            assert get() == 2
        assert set(seen) == {1}
    finally:
        set_(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_both_go_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS["fork"]], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("both\n", "")


# --- the same numbers ---


@pytest.fixture
def fine_grained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a test's size are divided, into many blocks."""
    monkeypatch.setattr(_threads, "_LARGE", 1)
    monkeypatch.setattr(_threads, "BLOCK", 64)
    for module in (activations, products, optimizers):
        for name, value in (("BLOCK", 64), ("_SMALL", 64), ("LARGE_PRODUCT", 1)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


def bits_for_each_count(compute: Any) -> set[bytes]:
    found = []
    for threads in (1, 2, 3, 5):
        set_num_threads(threads)
        found.append(b"".join(np.asarray(a).tobytes() for a in compute()))
    return set(found)


@pytest.mark.usefixtures("fine_grained")
def test_blocks_do_not_depend_on_the_number_of_threads() -> None:
    large, numbers = np.zeros((50, 100)), np.arange(50)  # rows of 100 where a block is 64

    def parts() -> Any:
        return in_blocks(lambda rows, part: part, large, numbers)

    assert len(bits_for_each_count(parts)) == 1
    assert len(parts()) == 50
    np.testing.assert_array_equal(np.concatenate(parts()), numbers)
    assert all(rows.shape == (1, 100) and rows.base is large for rows in in_blocks(lambda rows: rows, large))
    assert in_blocks(lambda *arrays: len(arrays), large[:, :1], numbers, numbers) == [3]


@pytest.mark.parametrize(
    ("size", "passes", "count"),
    [
        (1, 8, 1),
        (1 << 17, 8, 1),
        (1 << 17, 32, 2),
        (1 << 18, 16, 4),
        ((1 << 18) + 1, 1, 2),
        (1 << 20, 8, 4),
        (1 << 21, 8, 8),
    ],
)
def test_blocks_fit_in_a_cache_and_are_long_enough_for_threads(size: int, passes: float, count: int) -> None:
    lengths = in_blocks(len, np.zeros(size, np.float16), passes=passes)
    assert (len(lengths), sum(lengths)) == (count, size)
    assert max(lengths) <= 1 << 18
    assert count == 1 or min(lengths) >= 1 << 16


def draw(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


KERNELS: dict[str, Any] = {
    "softmax": (mg.softmax, [(40, 30)]),
    "log_softmax": (mg.log_softmax, [(40, 30)]),
    "gelu": (mg.gelu, [(40, 30)]),
    "gelu tanh": (lambda x: mg.gelu(x, approximate="tanh"), [(40, 30)]),
    "layer_norm": (mg.layer_norm, [(5, 8, 30), (30,), (30,)]),
    "rms_norm": (rms_norm, [(5, 8, 30), (30,)]),
    "affine": (mg.affine, [(5, 8, 30), (30, 20), (20,)]),
    "affine of many rows": (mg.affine, [(403, 20), (20, 7), (7,)]),
    "affine of three rows": (mg.affine, [(3, 200), (200, 5), (5,)]),
    "affine of odd sizes": (mg.affine, [(203, 130), (130, 66), (66,)]),
    "matmul": (np.matmul, [(5, 8, 30), (30, 20)]),
    "matmul of two matrices": (np.matmul, [(403, 20), (20, 7)]),
    "matmul of stacks": (np.matmul, [(6, 2, 8, 30), (6, 2, 30, 20)]),
    "matmul of turned stacks": (lambda q, k: q @ k.transpose(0, 2, 1), [(6, 8, 30), (6, 20, 30)]),
    "attention": (
        lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, np.tri(7, dtype=bool), num_heads=2),
        [(6, 7, 8)] * 3,
    ),
    "attention of one sequence": (
        lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, draw(4, 7, 9) > 0, num_heads=4),
        [(7, 8), (9, 8), (9, 8)],
    ),
    "attention with a bias for all": (
        lambda q, k, v, b: mg.scaled_dot_product_attention(q, k, v, np.tri(7, dtype=bool), b, num_heads=2),
        [(6, 7, 8)] * 3 + [(2, 1, 7)],
    ),
    "attention with a bias for each": (
        lambda q, k, v, b: mg.scaled_dot_product_attention(q, k, v, None, b, num_heads=2),
        [(6, 7, 8)] * 3 + [(6, 1, 7, 7)],
    ),
    "attention of one sequence with a bias": (
        lambda q, k, v, b: mg.scaled_dot_product_attention(q, k, v, draw(4, 7, 9) > 0, b, num_heads=4),
        [(7, 8), (9, 8), (9, 8), (4, 7, 9)],
    ),
    "cross_entropy": (lambda x: mg.cross_entropy(x, np.arange(40) % 30), [(40, 30)]),
    "take": (lambda w: np.take(w, np.arange(400) % 7, axis=0), [(10, 30)]),
    "sum": (lambda x: (x * x).sum(axis=0), [(40, 30)]),
}


@pytest.mark.usefixtures("fine_grained")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_give_the_same_bits_for_any_number_of_threads(name: str, dtype: Any) -> None:
    function, shapes = KERNELS[name]

    def compute() -> Any:
        inputs = [mg.Tensor(draw(*shape, dtype=dtype), requires_grad=True) for shape in shapes]
        result = function(*inputs)
        result.backward(draw(*result.shape, dtype=dtype) if result.shape else None)
        return [result.data, *[t.grad.data for t in inputs if t.grad is not None]]

    assert len(bits_for_each_count(compute)) == 1


@pytest.mark.usefixtures("fine_grained")
@pytest.mark.parametrize("name", KERNELS)
def test_divided_kernels_give_what_the_plain_rules_give(name: str) -> None:
    check_against_the_plain_rules(*KERNELS[name])


@pytest.mark.parametrize("size", [0, 1 << 30])
def test_small_and_large_products_give_what_the_plain_rules_give(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(products, "_CLEARED", size)
    check_against_the_plain_rules(*KERNELS["affine of odd sizes"])


def check_against_the_plain_rules(function: Any, shapes: Any) -> None:
    inputs = [mg.Tensor(draw(*shape, dtype=float), requires_grad=True) for shape in shapes]
    found = []
    for mode in (mg.enable_grad(), mg.reference_mode()):
        with mode:
            answer = function(*inputs)
            found.append([answer.numpy(), *mg.autograd_grad((answer * answer).sum(), inputs)])
    for got, expected in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.usefixtures("fine_grained")
@pytest.mark.parametrize("heads", [2, 8])
def test_a_mask_of_other_heads_is_none_for_divided_ones_either(heads: int) -> None:
    with pytest.raises(mg.ShapeError):
        mg.scaled_dot_product_attention(*draw(3, 7, 8), np.ones((heads, 7, 7), bool), num_heads=4)


@pytest.mark.usefixtures("fine_grained")
@pytest.mark.parametrize("make", [nn.SGD, nn.AdaGrad, nn.RMSProp, nn.Adam, nn.AdamW])
def test_training_gives_the_same_bits_for_any_number_of_threads(make: Any) -> None:
    ids = np.random.default_rng(0).integers(0, 20, (6, 9))

    def compute() -> Any:
        rng = np.random.default_rng(1)
        embedding, layer = nn.Embedding(20, 16, rng=rng), nn.TransformerEncoderLayer(16, 2, 32, rng=rng)
        output = nn.Affine(16, 20, rng=rng)
        parameters = list(itertools.chain(*(m.parameters() for m in (embedding, layer, output))))
        optimizer = make(parameters)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.cross_entropy(output(layer(embedding(ids[:, :-1]), causal=True)), ids[:, 1:])
            loss.backward()
            optimizer.step()
            losses.append(loss.data)
        return losses + [p.data for p in parameters]

    assert len(bits_for_each_count(compute)) == 1


def test_a_thread_that_cannot_be_started_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_threads, "_started", 0)
    monkeypatch.setattr(_threads, "_tasks", SimpleQueue())
    done: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        in_parts(lambda start, stop: done.append((start, stop)), 10, 1 << 30)
    assert done == [(0, 10)]
    in_parts(lambda start, stop: done.append((start, stop)), 10, 1 << 30)  # and does not wait for it for ever
    assert len(done) > 2


def test_an_interrupt_waits_for_the_other_parts() -> None:
    """Or they would go on writing into the arrays of whoever catches it."""
    ended = threading.Event()

    def work(start: int, stop: int) -> None:
        if start == 0:
            raise KeyboardInterrupt
        time.sleep(0.2)
        ended.set()

    set_num_threads(2)
    with pytest.raises(KeyboardInterrupt):
        in_parts(work, 2, 1 << 30)
    assert ended.is_set()


def test_ctrl_c_while_waiting_waits_on() -> None:
    ended = threading.Event()

    def work(start: int, stop: int) -> None:
        if start:
            time.sleep(0.3)
            ended.set()
        else:
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    set_num_threads(2)
    with pytest.raises(KeyboardInterrupt):
        in_parts(work, 2, 1 << 30)
    assert ended.is_set()
