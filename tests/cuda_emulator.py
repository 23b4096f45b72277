"""CUDA kernels on a CPU: their own C source, compiled by the machine's C++ compiler, behind a `cupy` that is not there.

`Emulator(folder).installed(monkeypatch)` makes the fake device's arrays pass for CuPy's and puts a `cupy` module in place
whose `RawModule` compiles for the host. The threads of a block are fibers that take turns at `__syncthreads` and at
shuffles. Warps run as far as they get without the others, in an order that changes, so that a missing barrier shows as
wrong numbers. It is stricter than a GPU:

* arguments must have the types that the kernel declares,
* `cupy.empty` is filled with NaN (or -1), and a write just outside of what it gave raises,
* threads that wait for others which are gone or wait elsewhere raise.
"""

import ctypes
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine.registry import primitives, types_met
from minigrad.kernels.cuda import launch
from minigrad.kernels.switches import _cuda
from tests.fake_device import FakeArray, asarray

COMPILER = next((found for name in ("c++", "g++", "clang++") if (found := shutil.which(name))), None)
_GUARD = 64  # elements around each array of `empty`
_C_TYPES: dict[str, Any] = {"long long": ctypes.c_longlong, "double": ctypes.c_double}
_RUNTIME = SimpleNamespace(getDevice=lambda: 0, CUDARuntimeError=RuntimeError)

_SHIM = r"""
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>
using namespace std;
struct Index { unsigned x, y, z; };
static Index threadIdx, blockIdx, blockDim, gridDim;
#define __global__
#define __device__ static
#define __shared__ static

enum State { READY, AT_BLOCK, AT_WARP, DONE };
struct Fiber { ucontext_t context; State state; void* stack; double slot; };
static vector<Fiber> fibers;
static ucontext_t scheduler;
static const function<void()>* body;
static unsigned current;

static void wait(State at) {
    fibers[current].state = at;
    swapcontext(&fibers[current].context, &scheduler);
}
static void enter() {
    (*body)();
    fibers[current].state = DONE;
}
static void __syncthreads() { wait(AT_BLOCK); }
template <typename V> static V __shfl_xor_sync(unsigned, V value, int lane) {
    fibers[current].slot = value;
    wait(AT_WARP);
    V other = V(fibers[current ^ lane].slot);
    wait(AT_WARP);  // until the others have read
    return other;
}
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
template <typename V> static void atomicAdd(V* place, V value) { *place += value; }

static bool all(unsigned start, unsigned stop, State state) {
    for (unsigned i = start; i < stop; i++) if (fibers[i].state != state) return false;
    return true;
}
static bool release(unsigned start, unsigned stop, State state) {
    if (!all(start, stop, state)) return false;
    for (unsigned i = start; i < stop; i++) fibers[i].state = READY;
    return true;
}
static bool run_block(unsigned count) {
    static unsigned order = 12345;
    for (unsigned i = 0; i < count; i++) {
        Fiber& fiber = fibers[i];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack;
        fiber.context.uc_stack.ss_size = 65536;
        fiber.context.uc_link = &scheduler;
        fiber.state = READY;
        makecontext(&fiber.context, enter, 0);
    }
    while (!all(0, count, DONE)) {
        order = order * 1664525u + 1013904223u;
        bool moved = false;
        for (unsigned w = 0, warps = (count + 31) / 32; w < warps; w++) {  // each as far as it gets without the others
            unsigned start = ((order >> 8 & 0xffff) + w) % warps * 32, size = start + 32 < count ? 32 : count - start;
            bool again = true;
            while (again) {
                again = false;
                for (unsigned j = 0; j < size; j++) {
                    current = start + (order >> 30 & 1 ? size - 1 - j : j);
                    if (fibers[current].state != READY) continue;
                    threadIdx = {current % blockDim.x, current / blockDim.x % blockDim.y, 0};
                    swapcontext(&scheduler, &fibers[current].context);
                    again = moved = true;
                }
                if (release(start, start + size, AT_WARP)) again = moved = true;
            }
        }
        if (release(0, count, AT_BLOCK)) moved = true;
        if (!moved) return false;
    }
    return true;
}
static int launch(const unsigned* grid, const unsigned* block, const function<void()>& kernel) {
    gridDim = {grid[0], grid[1], grid[2]}, blockDim = {block[0], block[1], block[2]};
    unsigned count = block[0] * block[1] * block[2];
    while (fibers.size() < count) fibers.push_back(Fiber{{}, DONE, malloc(65536), 0});
    body = &kernel;
    for (unsigned y = 0; y < grid[1]; y++)
        for (unsigned x = 0; x < grid[0]; x++) {
            blockIdx = {x, y, 0};
            if (!run_block(count)) return 1;
        }
    return 0;
}
"""


class Emulator:
    """Compiles into `folder`; `launches` lists the names of the kernels that ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launches: list[str] = []
        self._libraries: dict[str, ctypes.CDLL] = {}
        self.guarded: dict[int, Any] = {}

    def installed(self, monkeypatch: pytest.MonkeyPatch) -> "Emulator":
        """Until the end of the test the fake device is CuPy's."""
        monkeypatch.setattr(FakeArray, "__module__", "cupy")
        data = property(lambda array: SimpleNamespace(ptr=array._array.ctypes.data, device_id=0))
        monkeypatch.setattr(FakeArray, "data", data, raising=False)
        monkeypatch.setitem(sys.modules, "cupy", self._cupy())
        self._forget()
        minigrad.cuda_kernels()
        self.launches.clear()
        self.guarded.clear()
        return self

    def removed(self) -> None:
        """Switch the kernels off, and forget what caches have remembered of the fake CuPy."""
        minigrad.cuda_kernels(False)
        assert not any(FakeArray in each.kernels for each in primitives.values())
        self._forget()

    def _forget(self) -> None:
        types_met.discard(FakeArray)
        _cuda.kinds.clear()
        for cached in (launch.function, launch._module):
            cached.cache_clear()

    def _cupy(self) -> ModuleType:
        cupy = ModuleType("cupy")
        vars(cupy).update(ndarray=FakeArray, asarray=asarray, empty=self.empty, RawModule=self.module)
        vars(cupy).update(ascontiguousarray=_ascontiguousarray)
        vars(cupy).update(cuda=SimpleNamespace(Device=nullcontext, runtime=_RUNTIME))
        return cupy

    def empty(self, shape: Any, dtype: Any = float) -> FakeArray:
        dtype = np.dtype(dtype)
        size = int(np.prod(shape))
        around = np.full(size + 2 * _GUARD, np.nan if dtype.kind == "f" else -1, dtype)
        array = around[_GUARD : _GUARD + size].reshape(shape)
        self.guarded[array.ctypes.data] = around
        return FakeArray(array)

    def module(self, *, code: str, options: tuple[str, ...] = ()) -> SimpleNamespace:
        """What `cupy.RawModule` makes."""
        if code not in self._libraries:
            self._libraries[code] = self._compile(code, len(self._libraries))
        kernels = _kernels(code)
        itemsizes = _itemsizes(code)

        def get_function(name: str) -> Any:
            return lambda grid, block, args: self._launch(
                self._libraries[code], name, kernels[name], itemsizes, grid, block, args
            )

        return SimpleNamespace(get_function=get_function)

    def _compile(self, code: str, number: int) -> ctypes.CDLL:
        entries = "\n".join(
            f'extern "C" int run_{name}(const unsigned* grid, const unsigned* block, '
            f"{', '.join(f'{kind} {parameter}' for kind, parameter in parameters)}) "
            f"{{ return launch(grid, block, [&] {{ {name}({', '.join(p for _, p in parameters)}); }}); }}"
            for name, parameters in _kernels(code).items()
        )
        source, library = self.folder / f"kernels{number}.cpp", self.folder / f"kernels{number}.so"
        host = code.replace("#include <cuda_fp16.h>", "typedef _Float16 __half;")
        source.write_text(_SHIM + host + entries)
        assert COMPILER
        command = [COMPILER, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        if done.returncode and "_Float16" in done.stderr:
            pytest.skip(f"{COMPILER} has no _Float16")
        assert not done.returncode, done.stderr
        return ctypes.CDLL(str(library))

    def _launch(
        self, library: ctypes.CDLL, name: str, parameters: list[tuple[str, str]], itemsizes: dict[str, int],
        grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...],
    ) -> None:  # fmt: skip
        grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        assert np.prod(block) <= 1024 and max(grid[1:]) <= 65535 and min(*grid, *block) > 0, (name, grid, block)
        assert len(args) == len(parameters), f"{name} takes {len(parameters)} arguments, got {len(args)}"
        values = [_argument(name, *parameter, arg, itemsizes) for parameter, arg in zip(parameters, args)]
        self.launches.append(name)
        diverged = getattr(library, f"run_{name}")((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), *values)
        assert not diverged, f"{name}: some threads wait for others that are gone or wait elsewhere"
        for around in [self.guarded[value.value] for value in values if value.value in self.guarded]:
            guards = np.concatenate([around[:_GUARD], around[-_GUARD:]])
            assert (np.isnan(guards) if guards.dtype.kind == "f" else guards == -1).all(), f"{name} wrote outside"


def _kernels(code: str) -> dict[str, list[tuple[str, str]]]:
    """Each kernel's parameters, (type, name); those made by the macros FORWARD and BACKWARD too."""
    elementwise = {
        "FORWARD": "const T* xs, T* ans, long long n",
        "BACKWARD": "const T* gs, const T* kept, T* d, long long n",
    }
    found = re.findall(r'extern "C" __global__ void (\w+)\(([^)]*)\)', code)
    found += [(name, elementwise[macro]) for macro, name in re.findall(r"^(FORWARD|BACKWARD)\((\w+),", code, re.M)]
    return {
        name: [tuple(" ".join(p.split()).rsplit(" ", 1)) for p in parameters.split(",")]  # type: ignore[misc]
        for name, parameters in found
        if name != "name"
    }


def _itemsizes(code: str) -> dict[str, int]:
    sizes = {"__half": 2, "float": 4, "double": 8}
    return {name: sizes[kind] for kind, name in re.findall(r"typedef (\w+) ([TA]);", code)} | {
        "bool": 1,
        "long long": 8,
    }


def _argument(kernel: str, kind: str, name: str, arg: Any, itemsizes: dict[str, int]) -> Any:
    where = f"{kernel}({name})"
    if not kind.endswith("*"):
        wanted = int if kind == "long long" else float
        assert type(arg) is wanted, f"{where} is declared {kind} and got {type(arg)}"
        return _C_TYPES[kind](arg)
    assert type(arg) is FakeArray, f"{where} is declared {kind} and got {type(arg)}"
    host = arg._array
    if where not in ("sums_of_columns(kept)", "attention_forward(mask)"):  # another array may stand in, or it has steps
        expected = itemsizes[kind.removeprefix("const ").removesuffix("*")]
        assert host.dtype.itemsize == expected, f"{where} is declared {kind} and got {host.dtype}"
        assert host.flags.c_contiguous, f"{where} is not contiguous"
    return ctypes.c_void_p(host.ctypes.data)


def _ascontiguousarray(array: Any, dtype: Any = None) -> FakeArray:
    wanted = np.dtype(dtype or array.dtype)
    if array._array.flags.c_contiguous and array.dtype == wanted:
        return array
    return FakeArray(np.ascontiguousarray(array._array, wanted).reshape(array.shape))
