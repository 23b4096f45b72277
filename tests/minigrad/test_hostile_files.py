"""Files that are damaged or hostile: each gives the one error, or what it says; no path in one is opened."""

import copy
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from minigrad.serialize import FORMAT, CheckpointError, digest, load_checkpoint, read_arrays, read_json, save_checkpoint
from tests.lazy import safetensors
from tests.nn.training import Net, X, Y, adamw, loss, weights

DEEP = 100_000


def signed(path: Path, arrays: dict[str, Any], text: str) -> None:
    """A file as somebody writes it who knows the format: its checksum is right, whatever it says."""
    metadata = {"format": FORMAT, "about": text, "checksum": digest(arrays, FORMAT + text)}
    path.write_bytes(safetensors.numpy.save(arrays, metadata))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "given.safetensors"


def test_the_line_of_the_program_is_stored_when_it_is_recorded(tmp_path: Path) -> None:
    program = tmp_path / "lesson.py"
    program.write_text("def f(x):\n    return (x * 3).sum()\n", encoding="utf-8")
    variables: dict[str, Any] = {"__name__": "lesson"}
    exec(compile(program.read_text(), str(program), "exec"), variables)
    with mg.trace():
        result = variables["f"](Tensor([1.0], requires_grad=True))
    program.write_text("secret = 1\nsecret = 2\n", encoding="utf-8")
    graph = mg.draw_dot(result)
    assert {node.source.text for node in graph.nodes if node.source} == {"return (x * 3).sum()"}


def test_sizes_and_types_that_no_honest_file_has(path: Path, tmp_path: Path) -> None:
    signed(path, {}, "[" * DEEP + "]" * DEEP)
    with pytest.raises(CheckpointError, match="does not describe its arrays"):
        load_checkpoint(path)
    signed(path, {}, '{"a": ' * 50 + "1" + "}" * 50)
    with pytest.raises(CheckpointError, match="nested more than 40 deep"):
        load_checkpoint(path)
    long = '"' + "a" * (1 << 21) + '"'
    for text, words in ((long, "a text of 2,097,152"), (r'"\ud800"', "not Unicode"), ("1" + "0" * 60, "integer")):
        signed(path, {}, f'{{"a": {text}}}')
        with pytest.raises(CheckpointError, match=words):
            load_checkpoint(path)
    header = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"ab")
    with pytest.raises(CheckpointError, match="has 'a' as F8_E4M3, which NumPy does not have"):
        read_arrays(path)
    with pytest.raises(CheckpointError, match="no file at '/dev/zero'"):
        read_json("/dev/zero", dict)
    with pytest.raises(CheckpointError, match="no checkpoint at '/dev/zero'"):
        load_checkpoint("/dev/zero")
    deep = tmp_path / "config.json"
    deep.write_text("[" * DEEP)
    with pytest.raises(CheckpointError, match="is not JSON that can be read"):
        read_json(deep, dict)


# --- every flipped byte ---


def test_no_flipped_byte_goes_unseen(path: Path) -> None:
    arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array(3)}
    save_checkpoint(path, arrays, {"config": {"d": 8}, "alphabet": "abc"})
    whole = path.read_bytes()
    for place in range(len(whole)):
        for mask in (1, 0x20, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
            try:
                read, about = load_checkpoint(path)
            except CheckpointError:
                continue
            assert about == {"config": {"d": 8}, "alphabet": "abc"}, place  # a space of the header became another
            assert all(np.array_equal(read[name], arrays[name]) for name in arrays) and read.keys() == arrays.keys()


# --- many of them ---

VALUES: list[Any] = [
    None, True, 0, 1, -1, 2, 7, 10**9, -(2**63), 2**64, 10**40, 0.5, float("nan"), float("inf"), "", "x", "w",
    "/etc/passwd", "\x1b[31m", "</script><script>alert(1)</script>", "\u202e", "\ud800", "a" * 20_000, [], {}, [[]], [0, 0],
    {"list": [1, [2]]}, {"float": "nan"},
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a document, with one of its keys."""
    for key in value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def mutated(about: Any, rng: random.Random) -> str:
    about = copy.deepcopy(about)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        container, key = rng.choice([*places(about)])
        match rng.randrange(10):
            case 0:
                del container[key]
            case 1:
                container[key] = [container[key]] * rng.choice([1, 2, 50])
            case 2:
                other, place = rng.choice([*places(about)])
                container[key] = copy.deepcopy(other[place])
            case 3:
                nested: Any = container[key]
                for _ in range(rng.choice([3, 30, 300])):
                    nested = rng.choice([[nested], {"a": nested}, {"list": [nested]}])
                container[key] = nested
            case 4 | 5:
                container[key] = copy.deepcopy(rng.choice(VALUES))
            case _:  # what passes for what was there
                value = container[key]
                alike = [other for other in VALUES if type(other) is type(value)] or [value]
                near = value + rng.choice([-1, 1, 3]) if type(value) is int else rng.choice(alike)
                container[key] = copy.deepcopy(near)
    return json.dumps(about)


def other_arrays(arrays: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    arrays = dict(arrays)
    name = rng.choice(sorted(arrays))
    match rng.randrange(4):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = arrays[name].astype(rng.choice([np.float16, np.float32, np.int8, np.bool_, np.complex64]))
        case 2:
            arrays[name] = np.ascontiguousarray(arrays[name].ravel()[: rng.randrange(4)])
        case _:
            arrays[name] = np.full(arrays[name].shape, rng.choice([0, 1, 200])).astype(arrays[name].dtype)
    return arrays


def damaged(whole: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(whole))
    match rng.randrange(4):
        case 0:
            return whole[:place]
        case 1:
            return whole[:place] + whole[place + rng.randrange(1, 9) :]
        case 2:
            return whole[:place] + rng.randbytes(rng.randrange(1, 9)) + whole[place:]
        case _:
            return whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :]


def attack(source: Path, path: Path, count: int, use: Callable[[Path], None]) -> int:
    """Bend the file ``count`` times and use it; how often it was taken. Anything else than a CheckpointError comes through."""
    whole, (arrays, about) = source.read_bytes(), load_checkpoint(source)
    taken = 0
    for number in range(count):
        rng = random.Random(number)
        if number % 4 == 0:
            path.write_bytes(damaged(whole, rng))
        else:
            signed(path, other_arrays(arrays, rng) if rng.random() < 0.2 else arrays, mutated(about, rng))
        try:
            use(path)
            taken += 1
        except CheckpointError as error:
            assert len(str(error)) < 2100
        except Exception as error:
            raise AssertionError(f"case {number}") from error
    return taken


@pytest.mark.parametrize("count", [80, pytest.param(500, marks=pytest.mark.thorough)])
def test_bent_checkpoints(count: int, path: Path, tmp_path: Path) -> None:
    m = Net()
    nn.fit(m, nn.Batches([X, Y], 4, seed=5), loss, adamw(m), epochs=1, checkpoint=tmp_path / "run", progress=False)

    def resume(path: Path) -> None:
        model = Net()
        before = weights(model)
        options: dict[str, Any] = {"epochs": 1, "checkpoint": path, "resume": True, "progress": False}
        try:
            nn.fit(model, nn.Batches([X, Y], 4, seed=5), loss, adamw(model), **options)
            nn.load_weights(model, path)
        except CheckpointError:
            assert weights(model) == before
            raise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that are not finite
        assert attack(tmp_path / "run" / "last.safetensors", path, count, resume) < count / 2
