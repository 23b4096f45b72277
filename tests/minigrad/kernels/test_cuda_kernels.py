"""The CUDA kernels give what the plain rules give: run on a CPU from their own source, and on a GPU where there is one."""

import ctypes
import functools
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import OutOfRangeError, ShapeError, Tensor
from minigrad.kernels.cuda import launch, source
from minigrad.rules import indexing
from nn.dropout import Dropout
from tests import cuda_emulator, fake_device
from tests.minigrad import oracle

DTYPES = {"float32": 2e-5, "float64": 1e-11, "float16": 4e-3}  # and how far off a result may be
COLUMNS = [1, 33, 513, 1025]  # one warp and a whole block a row, with and without a rest
ROOT = Path(__file__).parents[3]
NAN, INF = float("nan"), float("inf")


class Device:
    """Where the kernels run: `put` moves an array there, `launches` lists the kernels that ran (None if nobody knows)."""

    def __init__(self, put: Callable[[Any], Any], launches: list[str] | None = None) -> None:
        self.put = put
        self.launches = launches

    def ran(self, *names: str, waits: int = 0) -> None:
        """These kernels were launched since last asked, and the host waited so often."""
        if self.launches is not None:
            assert self.launches == list(names)
            assert fake_device.host_syncs == ["get"] * waits
            self.launches.clear()


@pytest.fixture(params=["emulated", pytest.param("cupy", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    if request.param == "cupy":
        import cupy

        mg.cuda_kernels()
        yield Device(cupy.asarray)
        mg.cuda_kernels(False)
        return
    emulator = request.getfixturevalue("emulator").installed(monkeypatch)
    fake_device.host_syncs.clear()
    yield Device(fake_device.asarray, emulator.launches)
    emulator.removed()


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def derivatives(f: Callable[..., Any], arrays: list[Any], g: Any, put: Callable[[Any], Any]) -> list[Any]:
    """The value of `f` and the gradients of its floating arguments from the cotangent `g`; Tensors, not yet fetched."""
    leaves = [Tensor(put(a), requires_grad=True) if a.dtype.kind == "f" else put(a) for a in arrays]
    y = f(*leaves)
    y.backward(put(g))
    return [y, *[t.grad for t in leaves if isinstance(t, Tensor)]]


def agrees(
    device: Device, dtype: str, f: Callable[..., Any], *arrays: np.ndarray, kernels: list[str], waits: int = 0
) -> None:
    """`f` on the device launches these kernels, waits so often, and gives the plain rules' results in float64."""
    fake_device.host_syncs.clear()
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    wide = [a.astype(float) if a.dtype.kind == "f" else a for a in arrays]
    with mg.reference_mode():
        g = normal(*f(*wide).shape, seed=9).astype(dtype)
        want = derivatives(f, wide, g.astype(float), lambda a: a)
    got = derivatives(f, list(arrays), g, device.put)
    device.ran(*kernels, waits=waits)
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape) == (np.dtype(dtype), b.shape)
        scale = max(1.0, float(np.nanmax(np.abs(b.numpy()), initial=0.0)))
        np.testing.assert_allclose(oracle.home(a), b.numpy(), rtol=DTYPES[dtype], atol=DTYPES[dtype] * scale)


both = pytest.mark.parametrize("dtype", DTYPES)
widths = pytest.mark.parametrize("columns", COLUMNS)


@both
@widths
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(device: Device, name: str, columns: int, dtype: str) -> None:
    kernels = [f"{name}_forward", f"{name}_backward"]
    agrees(device, dtype, getattr(mg, name), 5 * normal(2, 3, columns), kernels=kernels)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "relu": mg.relu,
    "sigmoid": mg.sigmoid,
    "silu": mg.silu,
    "gelu": mg.gelu,
    "gelu_tanh": lambda x: mg.gelu(x, approximate="tanh"),
}


@both
@pytest.mark.parametrize("shape", [(1,), (7, 3), (300, 5)])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(device: Device, name: str, shape: tuple[int, ...], dtype: str) -> None:
    kernels = [f"{name}_forward", f"{name}_backward"]  # of relu, CuPy's own maximum is the forward
    agrees(device, dtype, ELEMENTWISE[name], 3 * normal(*shape), kernels=kernels[name == "relu" :])


@both
@widths
@pytest.mark.parametrize("mean", [0.5, 1e4])
def test_layer_norm(device: Device, mean: float, columns: int, dtype: str) -> None:
    kernels = ["layer_norm_forward", "layer_norm_backward", "sums_of_columns", "sums_of_stretches"]
    arrays = normal(70 if columns < 100 else 2, 2, columns) + mean, normal(columns, seed=1), normal(columns, seed=2)
    agrees(device, dtype, lambda x, g, b: mg.layer_norm(x, g, b, eps=0.1), *arrays, kernels=kernels)


@both
@pytest.mark.parametrize("rows", [1, 65, 300])
def test_affine(device: Device, rows: int, dtype: str) -> None:
    arrays = normal(rows, 2, 5), normal(5, 33, seed=1), normal(33, seed=2)
    agrees(device, dtype, mg.affine, *arrays, kernels=["sums_of_columns", "sums_of_stretches"])


@both
@widths
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(device: Device, reduction: str, columns: int, dtype: str) -> None:
    kernels = ["cross_entropy_forward", *["total"] * (reduction != "none"), "cross_entropy_backward"]
    labels = np.random.default_rng(1).integers(0, columns, (2, 3))
    for integers in (labels, labels.astype(np.int32)[::-1]):
        f = lambda x, y: mg.cross_entropy(x, y, reduction=reduction)
        agrees(
            device, dtype, f, 4 * normal(2, 3, columns), integers, kernels=kernels, waits=1
        )  # for the check of labels


ATTENTION = ["attention_forward", "attention_backward"]
LENGTH = 6
MASKS: dict[str, Any] = {
    "none": None,
    "padding": np.arange(LENGTH) < np.array([6, 2]).reshape(2, 1, 1, 1, 1),  # (batch, 1, 1, 1, key)
    "causal": np.tril(np.ones((LENGTH, LENGTH), bool)),
    "of a head": np.random.default_rng(0).random((1, 1, 3, 1, LENGTH)) < 0.5,
    "of all": np.random.default_rng(1).random((2, 1, 3, LENGTH, LENGTH)) < 0.5,
    "rows without a key": np.tril(np.ones((LENGTH, LENGTH), bool), -2),
    "nothing": np.zeros((1, 1), bool),
}


@both
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_attention(device: Device, mask: np.ndarray | None, dtype: str) -> None:
    arrays = [normal(2, 4, LENGTH, 3 * width, seed=width) for width in (2, 2, 5)]
    arrays[1] += 0.5
    more = [] if mask is None else [mask]
    agrees(device, dtype, lambda q, k, v, *m: mg.scaled_dot_product_attention(q, k, v, *m, num_heads=3), *arrays, *more,
           kernels=ATTENTION)  # fmt: skip


@both
def test_a_bias_is_left_to_the_plain_rule(device: Device, dtype: str) -> None:
    """Which computes the weights a second time for the backward pass, by the kernel of softmax."""
    arrays = (
        normal(2, LENGTH, 6),
        normal(2, LENGTH, 6, seed=1),
        normal(2, LENGTH, 3, seed=2),
        np.tri(LENGTH, dtype=bool),
    )
    f = lambda q, k, v, m, b: mg.scaled_dot_product_attention(q, k, v, m, b, num_heads=3)
    for bias in (normal(3, 1, LENGTH), np.where(np.eye(LENGTH) > 0, -INF, normal(LENGTH, LENGTH))):
        agrees(device, dtype, f, *arrays, bias, kernels=["softmax_forward", "softmax_forward", "softmax_backward"])


@both
@pytest.mark.parametrize("keys", [1, 33, 600])
def test_attention_over_long_rows(device: Device, keys: int, dtype: str) -> None:
    arrays = normal(5, 4), normal(keys, 4, seed=1), normal(keys, 2, seed=2)
    mask = np.arange(keys)[None] % 3 != 1
    f = lambda q, k, v, m: mg.scaled_dot_product_attention(q, k, v, m, scale=0.7)
    agrees(device, dtype, f, *arrays, mask, kernels=ATTENTION)


def test_masked_rows_are_zeros(device: Device) -> None:
    q = device.put(normal(4, 3))
    got = mg.scaled_dot_product_attention(Tensor(q), Tensor(q), Tensor(q), device.put(np.zeros((4, 4), bool)))
    np.testing.assert_array_equal(oracle.home(got), np.zeros((4, 3)))


@both
@pytest.mark.parametrize(
    "index", [[[3, 0, 3], [-1, 3, 0]], [2], np.arange(4).repeat(9)], ids=["twice", "one", "sorted"]
)
def test_scatter_add(device: Device, index: Any, dtype: str) -> None:
    index = np.asarray(index)
    f = lambda u, i: indexing.scatter_add(u, index=(i,), shape=(4, 7))
    agrees(device, dtype, f, normal(*index.shape, 7), index, kernels=["scatter_rows"])


def test_an_embedding_uses_it(device: Device) -> None:
    f = lambda table, ids: np.take(table, ids, axis=0)
    agrees(device, "float32", f, normal(5, 3), np.array([[4, 4], [0, 4]]), kernels=["scatter_rows"])


@both
@pytest.mark.parametrize("size", [1, 15, 16, 17, 5000])
def test_dropout_has_the_hosts_mask(device: Device, size: int, dtype: str) -> None:
    x, g = normal(size).astype(dtype), normal(size, seed=1).astype(dtype)
    layers = [Dropout(0.3, rng=np.random.default_rng(7)) for _ in range(2)]
    for _ in range(2):  # another step, another mask
        want = derivatives(layers[0], [x], g, lambda a: a)
        got = derivatives(layers[1], [x], g, device.put)
        device.ran("dropout", "dropout")
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(oracle.home(a), b.numpy())
        fake_device.host_syncs.clear()


# --- what is not an ordinary number, and what the kernels leave to the plain rules ---

SPECIAL = np.array([[NAN, 1, 2], [INF, 1, 2], [-INF, 1, 2], [-INF, -INF, -INF], [1e30, -1e30, 0], [INF, -INF, 0]])


ONES = np.ones(3)
OF_SPECIAL: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "softmax": lambda x, put: mg.softmax(x),
    "log_softmax": lambda x, put: mg.log_softmax(x),
    **{name: functools.partial(lambda f, x, put: f(x), f) for name, f in ELEMENTWISE.items()},
    "layer_norm": lambda x, put: mg.layer_norm(x, put(ONES), put(ONES)),
    "cross_entropy": lambda x, put: mg.cross_entropy(x, put(np.array([1, 2, 1, 0, 2, 2])), reduction="none"),
    "attention": lambda x, put: mg.scaled_dot_product_attention(x, x, x, put(np.tri(6, dtype=bool))),
}


@pytest.mark.parametrize("name", OF_SPECIAL)
def test_nan_and_inf(device: Device, name: str) -> None:
    with np.errstate(all="ignore"), mg.reference_mode():
        want = OF_SPECIAL[name](Tensor(SPECIAL), lambda a: a).numpy()
    got = OF_SPECIAL[name](Tensor(device.put(SPECIAL)), device.put)
    np.testing.assert_allclose(oracle.home(got), want, rtol=1e-12)


def test_masked_nan_does_not_spread(device: Device) -> None:
    """Only through the products with zeros, as in the plain form."""
    q, k, v = normal(2, 3), np.where([[1], [0], [1]], normal(3, 3), NAN), normal(3, 2)
    got = mg.scaled_dot_product_attention(
        *(Tensor(device.put(a)) for a in (q, k, v)), device.put(np.array([[True, False, True]]))
    )
    want = mg.scaled_dot_product_attention(Tensor(q), Tensor(k[::2]), Tensor(v[::2]))
    np.testing.assert_allclose(oracle.home(got), want.numpy(), rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)])
def test_nothing_at_all(device: Device, shape: tuple[int, ...]) -> None:
    x = Tensor(device.put(np.zeros(shape)), requires_grad=True)
    ys = [mg.softmax(x), mg.log_softmax(x), mg.gelu(x)]
    if shape[-1]:
        ones = Tensor(device.put(np.ones(shape[-1])), requires_grad=True)
        ys += [mg.layer_norm(x, ones, ones), mg.scaled_dot_product_attention(x, x, x)]
    for y in ys:
        y.sum().backward()
        assert y.shape == shape and x.grad is not None and x.grad.shape == shape
    device.ran()


def test_inputs_that_are_not_contiguous(device: Device) -> None:
    x, weight = normal(6, 4, 10)[::2, :, ::-2], normal(3, 5).T
    flip = lambda a: device.put(np.ascontiguousarray(a[::-1]))[::-1]
    backwards = Device(flip, device.launches)
    agrees(backwards, "float64", mg.softmax, x, kernels=["softmax_forward", "softmax_backward"])
    agrees(backwards, "float64", mg.gelu, x, kernels=["gelu_forward", "gelu_backward"])
    agrees(backwards, "float64", mg.affine, x, weight, normal(3), kernels=["sums_of_columns", "sums_of_stretches"])
    agrees(backwards, "float64", mg.layer_norm, x, normal(5), normal(5, seed=1),
           kernels=["layer_norm_forward", "layer_norm_backward", "sums_of_columns", "sums_of_stretches"])  # fmt: skip
    agrees(
        backwards,
        "float64",
        mg.scaled_dot_product_attention,
        x,
        x + 1,
        x - 1,
        np.tri(4, dtype=bool),
        kernels=ATTENTION,
    )


def test_other_axes_and_dtypes_are_left_to_the_plain_rules(device: Device) -> None:
    agrees(device, "float64", lambda x: mg.softmax(x, axis=0), normal(3, 4), kernels=[])
    agrees(device, "float64", mg.affine, normal(5, 3), normal(3, 2), normal(1), kernels=[])
    agrees(device, "float64", mg.layer_norm, normal(5, 3), normal(3), normal(1), kernels=[])


def test_arrays_on_another_device_are_left_to_cupy(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    if device.launches is None:
        pytest.skip("needs the emulator: most machines have one GPU")
    monkeypatch.setattr(cuda_emulator._RUNTIME, "getDevice", lambda: 1)
    agrees(device, "float64", mg.softmax, normal(3, 4), kernels=[])


def test_only_what_is_needed_is_computed(device: Device) -> None:
    x, gamma, beta = (device.put(a) for a in (normal(4, 3), normal(3), normal(3)))
    mg.layer_norm(x, gamma, Tensor(beta, requires_grad=True)).sum().backward()
    device.ran("layer_norm_forward", "sums_of_columns", "sums_of_stretches")
    q = Tensor(device.put(normal(4, 3)), requires_grad=True)
    mg.scaled_dot_product_attention(x, x, q).sum().backward()
    device.ran("attention_forward")


def test_a_label_out_of_range_is_found_before_a_kernel_runs(device: Device) -> None:
    x = Tensor(device.put(normal(3, 4)), requires_grad=True)
    with pytest.raises(OutOfRangeError, match="label -1"):
        mg.cross_entropy(x, device.put(np.array([0, 4, -1])), reduction="none")
    device.ran(waits=1)


def test_labels_of_another_shape_are_refused(device: Device) -> None:
    with pytest.raises(ShapeError, match="labels of shape"):
        mg.cross_entropy(Tensor(device.put(normal(3, 4))), device.put(np.array([0, 1])))


def test_reference_mode_launches_nothing(device: Device) -> None:
    with mg.reference_mode():
        mg.softmax(Tensor(device.put(normal(3, 4)), requires_grad=True)).sum().backward()
    device.ran()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", *ELEMENTWISE, "attention"])
def test_second_order(device: Device, name: str) -> None:
    """Kernels are not differentiated: the plain rules give the derivatives of derivatives, from what a kernel computed."""
    x, f = normal(6, 3), OF_SPECIAL[name]
    want = oracle.by_create_graph(lambda x: f(x, lambda a: a), [x])
    oracle.assert_agrees(oracle.by_create_graph(lambda x: f(x, device.put), [x], device.put), want)


# --- the sources compile for GPUs ---


def _nvrtc() -> ctypes.CDLL:
    """NVIDIA's runtime compiler, which needs no GPU."""
    found = importlib.util.find_spec("nvidia")
    folders = [Path(place) / "cuda_nvrtc" / "lib" for place in found.submodule_search_locations or []] if found else []
    files = [str(file) for folder in folders for file in sorted(folder.glob("libnvrtc.so*"))]
    for name in [*files, "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("needs NVRTC: pip install nvidia-cuda-nvrtc-cu12")


def _headers() -> list[str]:
    found = importlib.util.find_spec("nvidia")
    folders = (
        [Path(place) / "cuda_runtime" / "include" for place in found.submodule_search_locations or []] if found else []
    )
    return [
        f"-I{folder}" for folder in [*folders, Path("/usr/local/cuda/include")] if (folder / "cuda_fp16.h").exists()
    ][:1]


@both
@pytest.mark.parametrize("architecture", [70, 80, 90])
def test_the_source_compiles(dtype: str, architecture: int) -> None:
    nvrtc, headers = _nvrtc(), _headers()
    if dtype == "float16" and not headers:
        pytest.skip("needs CUDA's headers: pip install nvidia-cuda-runtime-cu12")
    code = source.PRELUDES[dtype] + source.SOURCE
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernels.cu", 0, None, None) == 0
    options = [f"--gpu-architecture=sm_{architecture}", "--std=c++17", *headers]
    failed = nvrtc.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    )
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    text = log.value.decode()
    if failed and "invalid value for --gpu-architecture" in text:
        pytest.skip(f"this NVRTC no longer knows sm_{architecture}")
    assert not failed, text
    assert "kernels.cu" not in text, text  # a warning about it


def test_kernels_are_compiled_once(device: Device) -> None:
    first = launch.function("softmax_forward", "float32")
    assert launch.function("softmax_forward", "float32") is first


def test_they_are_off_until_asked_for() -> None:
    program = (
        "import numpy as np; import minigrad as mg; from minigrad.kernels.cuda import neural; from tests import fake_device; "
        "fake_device.FakeArray.__module__ = 'cupy'; mg.softmax(fake_device.asarray(np.ones((2, 3)))); "
        "print(fake_device.FakeArray in mg.softmax.kernels, list(mg.softmax.kernels))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False [<class 'numpy.ndarray'>, 'cuda']\n"


def test_they_run_only_when_asked_for(device: Device) -> None:
    x = Tensor(device.put(normal(3, 4)), requires_grad=True)
    for on in (False, True, False):
        mg.cuda_kernels(on)
        mg.softmax(x)
        device.ran(*["softmax_forward"] * on)


def test_without_cupy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(mg.MissingExtraError, match=r"cuda_kernels\(\) needs cupy: pip install \"cupy-cuda12x\[ctk\]\""):
        mg.cuda_kernels()
    mg.cuda_kernels(False)  # there is nothing to switch off
