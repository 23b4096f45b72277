"""Moving arrays to a device and back, ids that are checked there, and errors that say what to do."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import ArgumentError, DeviceError, MissingExtraError, OutOfRangeError, Tensor
from minigrad.device import (
    check_range,
    is_device_array,
    mixed_devices,
    out_of_memory,
    same_place,
    to_device,
    to_host,
    where_is,
)
from minigrad.errors import MixedDevicesError, OutOfMemoryError
from tests import fake_cupy, fake_device

Put = Callable[[Any], Any]
HOST = np.arange(6.0).reshape(2, 3)


def use(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(**settings))


# --- moving ---


def test_there_and_back(cuda: str) -> None:
    there = to_device(HOST, cuda)
    assert is_device_array(there) and to_device(there, cuda) is there
    back = to_device(there, "cpu")
    assert type(back) is np.ndarray and to_device(back, "cpu") is back
    np.testing.assert_array_equal(back, HOST)
    assert where_is(back) == "on the host" and where_is(there) in ("on fake:0", "on cuda:0")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", ""])
def test_devices_that_do_not_exist_by_name(device: str) -> None:
    if device != "cuda:":  # which is the first GPU
        with pytest.raises(ArgumentError, match=rf"device must be 'cpu', 'cuda' or 'cuda:N', got {device!r}"):
            to_device(HOST, device)


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"device='cuda' needs cupy: pip install \"cupy-cuda12x\[ctk\]\""):
        to_device(HOST, "cuda")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ImportError('libcudart.so.12: cannot open shared object file')", "libcudart.so.12: cannot open .*"),
        ("import no_such_dependency", "No module named 'no_such_dependency'"),
    ],
)
def test_a_cupy_that_cannot_be_imported(
    source: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cupy.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    words = rf"CuPy is installed and cannot be imported \({reason}\): reinstall it.*device='cpu'"
    with pytest.raises(DeviceError, match=words):
        to_device(HOST, "cuda")


@pytest.mark.parametrize(
    ("settings", "device", "words"),
    [
        ({"broken": fake_cupy.NO_DRIVER}, "cuda", "driver is missing or older than CuPy's CUDA: install or update it"),
        ({"broken": fake_cupy.NO_GPU}, "cuda", "the machine has no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it"),
        ({"gpus": 1}, "cuda:1", "there is one GPU, 'cuda'"),
        ({"gpus": 4}, "cuda:4", "there are 4 GPUs, 'cuda:0' to 'cuda:3'"),
        ({"broken": "cudaErrorECCUncorrectable: uncorrectable"}, "cuda", "check that nvidia-smi lists this GPU"),
    ],
)
def test_a_gpu_that_cannot_be_used(
    settings: dict[str, Any], device: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, **settings)
    with pytest.raises(DeviceError, match=rf"device='{device}' cannot be used \(cudaError.*\): .*{words}.*; or use"):
        to_device(HOST, device)


def test_a_gpu_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, memory=2000)
    kept = to_device(np.zeros(200), "cuda")
    with pytest.raises(OutOfMemoryError) as caught:
        to_device(np.zeros((10, 10)), "cuda")
    assert str(caught.value) == (
        "out of memory in moving an array to 'cuda' (shape (10, 10) float64): Out of memory allocating 800 bytes (allocated so "
        "far: 1,600 bytes). Live arrays take 1.56 KiB of the 2.56 KiB that CuPy's pool holds. Remedies: a smaller batch "
        "(nn.fit(accumulate=...) keeps the effective size), minigrad.checkpoint around layers, no_grad() where nothing is "
        "trained, or deleting tensors that are no longer needed"
    )
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value.__cause__, fake_cupy.OutOfMemoryError)
    assert is_device_array(kept)


def test_memory_of_the_host_that_runs_out_has_no_pool() -> None:
    error = out_of_memory(MemoryError("Unable to allocate 8 EiB"), "add", [HOST, 2.0])
    assert str(error).startswith("out of memory in add (shape (2, 3) float64): Unable to allocate 8 EiB. Remedies: a")


def test_the_memory_pool_is_left_alone() -> None:
    """It may be the user's own, and others may share it: nothing frees its blocks, or puts another allocator in its place."""
    root = Path(minigrad.__file__).parents[1]
    for folder in ("minigrad", "nn", "models", "examples"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            for name in ("free_all_blocks", "set_allocator", "using_allocator", "set_limit", "MemoryPool("):
                assert name not in text, (path, name)


# --- ids in a range ---


INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.dtype(">i4"), np.dtype(">u2")]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("shape", [(2, 3), (6,), (1,), ()])
@pytest.mark.parametrize("there", [True, False], ids=["device", "host"])
def test_a_range_is_checked_in_one_pass(shape: tuple[int, ...], dtype: Any, there: bool) -> None:
    def outside(values: Any) -> int | None:
        array = np.asarray(values, dtype)
        if there and not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        try:
            check_range(fake_device.asarray(array) if there else array, 5, lambda worst: OutOfRangeError(f"={worst}="))
        except OutOfRangeError as error:
            return int(str(error).split("=")[1])
        return None

    assert outside(np.full(shape, 4)) is None
    for bad in [5, 127] + ([-1, -128] if np.dtype(dtype).kind == "i" else []):
        values = np.zeros(shape, np.int64)
        values.reshape(-1)[-1:] = bad
        assert outside(values) == bad
    assert outside(np.full(shape, 4)[..., ::-1] if shape else 4) is None


def test_a_range_of_nothing_and_one_wider_than_the_dtype() -> None:
    check_range(np.zeros((0, 3), int), 0, lambda worst: OutOfRangeError("never"))
    check_range(np.array([127, 0], np.int8), 300, lambda worst: OutOfRangeError("never"))
    with pytest.raises(OutOfRangeError, match="-128"):
        check_range(np.array([127, -128], np.int8), 300, lambda worst: OutOfRangeError(str(worst)))


@pytest.mark.parametrize("label", [4, -1])
def test_a_label_that_is_no_class_raises_at_once_on_a_device_too(label: int, put: Put) -> None:
    logits, labels = Tensor(put(np.zeros((2, 4))), requires_grad=True), put(np.array([0, label]))
    words = rf"cross_entropy got the label {label}, but logits have 4 classes: 0 to 3"
    with pytest.raises(OutOfRangeError, match=words):
        minigrad.cross_entropy(logits, labels)


# --- arrays in two places ---


def test_mixed_devices_are_named(put: Put) -> None:
    there = put(HOST)
    error = mixed_devices("affine", ["x", "weight", "bias"], [HOST, there, there])
    assert isinstance(error, MixedDevicesError) and isinstance(error, DeviceError) and isinstance(error, TypeError)
    place = where_is(there)
    assert str(error) == (
        f"affine got arrays in several places (x on the host, weight {place}, bias {place}): bring them together, "
        "with model.to('cuda') for a model and minigrad.device.to_device(array, 'cuda') for an array, or use 'cpu' for both"
    )
    for alike in ([HOST, HOST], [there, there], [there, 2.0, None], [there, np.float64(2.0)], []):
        assert mixed_devices("add", ["x", "y", "z"], alike) is None


def test_same_place(put: Put) -> None:
    there = put(HOST)
    assert same_place(HOST, HOST[0]) and same_place(there, there[0]) and same_place(HOST, np.float64(2.0))
    assert not same_place(HOST, there) and not same_place(there, HOST)
    with fake_device.FakeDevice(1):
        assert not same_place(there, fake_device.asarray(HOST))


# --- operations ---


def test_an_operation_on_arrays_in_two_places(put: Put) -> None:
    here, there = Tensor(HOST, requires_grad=True), Tensor(put(HOST), requires_grad=True)
    place = where_is(there._array)
    for operate, name in ((lambda: here * there, "multiply"), (lambda: np.matmul(there, here.T), "matmul")):
        with pytest.raises(MixedDevicesError, match=rf"{name} got arrays in several places \(x on .*, y on .*\)"):
            operate()
    with pytest.raises(MixedDevicesError, match=rf"affine got .* \(x on the host, weight {place}, bias {place}\)"):
        minigrad.affine(Tensor(HOST), Tensor(put(HOST.T)), Tensor(put(HOST[:, 0])))


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a ufunc run out of the fake device's memory from now on."""
    use(monkeypatch, memory=10_000)

    def fill(name: str) -> None:
        run = fake_device._run

        def refuse(function: Any, args: Any, kwargs: Any) -> Any:
            if getattr(function, "__self__", function).__name__ == name:
                raise fake_cupy.OutOfMemoryError(48, 9_999)
            return run(function, args, kwargs)

        monkeypatch.setattr(fake_device, "_run", refuse)

    return fill


def test_the_operation_that_runs_out_of_memory_is_named(full: Any) -> None:
    x = Tensor(fake_device.asarray(HOST), requires_grad=True)
    full("tanh")
    words = r"out of memory in tanh \(shape \(2, 3\) float64\): Out of memory allocating 48 bytes.*CuPy's pool holds"
    with pytest.raises(OutOfMemoryError, match=words) as caught:
        np.tanh(x)
    assert caught.value.__cause__.__class__ is fake_cupy.OutOfMemoryError
    assert x.grad is None


def test_the_backward_that_runs_out_of_memory_is_named_and_no_gradient_has_changed(full: Any) -> None:
    x, y = (Tensor(fake_device.asarray(HOST), requires_grad=True) for _ in range(2))
    (x + y).sum().backward()
    before = [to_host(t.grad.data).copy() for t in (x, y) if t.grad is not None]
    loss = (np.tanh(x) + y).sum()
    full("multiply")
    with pytest.raises(
        OutOfMemoryError, match=r"out of memory in the backward of tanh \(shape \(2, 3\) float64, shape"
    ):
        loss.backward()
    for t, gradient in zip((x, y), before, strict=True):
        assert t.grad is not None
        np.testing.assert_array_equal(t.grad.numpy(), gradient)


def test_a_leaf_that_moved_takes_no_gradient_from_before(put: Put) -> None:
    x = Tensor(HOST, requires_grad=True)
    loss = (x * x).sum()
    x.data = put(HOST)
    with pytest.raises(
        minigrad.GraphError, match="replaced or requires_grad switched since; run the forward pass again"
    ):
        loss.backward()
    assert x.grad is None
