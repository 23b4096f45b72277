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
from minigrad.engine.observers import scope
from minigrad.engine.registry import primitives
from minigrad.graph.pages import explain as explain_module
from minigrad.graph.pages.explain import page_data
from minigrad.graph.record.storage import Replay, load_trace, save_trace
from minigrad.rules.about import known
from minigrad.serialize import FORMAT, CheckpointError, digest, load_checkpoint, read_arrays, read_json, save_checkpoint
from tests.lazy import safetensors
from tests.nn.training import Net, X, Y, adamw, loss, weights

DEEP = 100_000


def signed(path: Path, arrays: dict[str, Any], text: str) -> None:
    """A file as somebody writes it who knows the format: its checksum is right, whatever it says."""
    metadata = {"format": FORMAT, "about": text, "checksum": digest(arrays, FORMAT + text)}
    path.write_bytes(safetensors.numpy.save(arrays, metadata))


def computation() -> Tensor:
    """Modules, several outputs, complex numbers, keywords of all kinds, an operand that was changed in place, a kept tensor."""
    x = Tensor(np.arange(6.0).reshape(2, 3) + 1, requires_grad=True, name="x")
    w = Tensor(np.ones((3, 4), np.float32), requires_grad=True, name="w")
    data = np.array([3.0, 4.0, 5.0, 6.0])
    with mg.trace():
        with scope(object(), "model"), scope(object(), "layer"):
            h = np.tanh(x @ w) + data
        data *= 2
        first, second = np.split(h * data, 2, axis=1)
        rows = np.concatenate([first, second[::-1], np.pad(first, ((0, 1), (0, 0)))])
        waves = np.fft.fft(rows[:, [0, 1]], n=4, axis=0)
        return (waves * np.conj(waves)).real.sum() + np.broadcast_to(h.mean(axis=0), (5, 4)).sum() + (h**2.0).max()


@pytest.fixture(scope="module")
def trace_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "run.safetensors"
    save_trace(computation(), path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "given.safetensors"


# --- never a path ---


def naming(trace_file: Path, path: Path, file: str, text: str) -> Replay:
    arrays, about = load_checkpoint(trace_file)
    about["programs"] = {}
    for node in about["nodes"]:
        if node.get("source"):
            node["source"] = [file, 1, "f", text, None, None, None]
    signed(path, arrays, json.dumps(about))
    return load_trace(path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ["", "kept_line()"])
@pytest.mark.parametrize("file", ["/etc/passwd", "/dev/zero", __file__])
def test_a_path_that_a_file_names_is_never_opened(
    file: str, text: str, trace_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import linecache

    def checked(read: Callable[..., Any]) -> Callable[..., Any]:
        def opened(name: str, *arguments: Any) -> Any:
            assert name != file
            return read(name, *arguments)

        return opened

    replay = naming(trace_file, path, file, text)
    for name in ("getlines", "updatecache"):
        monkeypatch.setattr(linecache, name, checked(getattr(linecache, name)))
    page = mg.explain(replay.loss, path.with_suffix(".html")).read_text()
    drawing = mg.draw_dot(replay.loss).to_html(path.with_suffix(".html")).read_text()
    assert "root:" not in page + drawing and "A path that" not in page
    assert ("kept_line()" in page) == ("kept_line()" in drawing) == bool(text)


def test_the_line_of_the_program_is_stored_when_it_is_recorded(path: Path, tmp_path: Path) -> None:
    program = tmp_path / "lesson.py"
    program.write_text("def f(x):\n    return (x * 3).sum()\n", encoding="utf-8")
    variables: dict[str, Any] = {"__name__": "lesson"}
    exec(compile(program.read_text(), str(program), "exec"), variables)
    with mg.trace():
        result = variables["f"](Tensor([1.0], requires_grad=True))
    save_trace(result, path)
    program.write_text("secret = 1\nsecret = 2\n", encoding="utf-8")
    graph = mg.draw_dot(load_trace(path).loss)
    assert {node.source.text for node in graph.nodes if node.source} == {"return (x * 3).sum()"}


# --- what is malformed ---


def test_places_that_no_program_has_give_no_names(trace_file: Path, path: Path) -> None:
    """Neither a name nor an error: whatever lines and columns a file tells."""
    arrays, about = load_checkpoint(trace_file)
    huge = 1 << 100
    for place in (
        [0, 0, 0, 0],
        [1, 0, 1, 0],
        [1, -5, 1, 99],
        [huge, 0, huge, huge],
        [-1, 0, -1, 5],
        [1, None, None, 3],
    ):
        for node in about["nodes"]:
            if node.get("source"):
                line, *rest = place
                node["source"] = ["a.py", line, "f", "x = y * 2", *rest]
                node["call"], node["depth"] = -huge, huge
        about["programs"] = {"a.py": ["x = y * 2"]}
        signed(path, arrays, json.dumps(about))
        graph = mg.draw_dot(load_trace(path).loss)
        assert all(node.label for node in graph.nodes) and not any(node.label == "x" for node in graph.operations())


def replaced(about: Any, keys: list[Any], value: Any) -> Any:
    about = copy.deepcopy(about)
    place = about
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return about


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (["modules", 0, 2], 1, "module around module 0 has the number 1"),
        (["modules", 1, 2], 1, "module around module 1 has the number 1"),
        (["programs"], [], "the trace: 'programs' must be dict"),
        (["programs"], {"a.py": [1]}, "must be str, got 1"),
        (["programs"], {"a.py": ["\x1b[31m"]}, "is not printable or too long"),
        (["programs"], {"a\n.py": []}, "is not printable or too long"),
        (["programs"], {"a.py": ["#" * 5000]}, "is not printable or too long"),
        (["programs"], {"a.py": ["#" * 4000] * 1100}, "more than 4,194,304 characters"),
        (["tensors"], [], "ends in no operation"),
        (["tensors", 0], [9999, 0], "a saved tensor has the number 9999"),
        (["tensors", 0], [-1, 0], "a saved tensor has the number -1"),
        (["tensors", 0], [True, 0], "must be int, got True"),
        (["nodes"], [], "a saved tensor has the number"),
        (["nodes", 0], {}, "has no 'kind'"),
        (["nodes", 0, "module"], 77, "the module of node 0 has the number 77"),
        (["nodes", 0, "module"], 1.5, "must be int, got 1.5"),
        (["nodes", 0, "kind"], "magic", "must be one of parameter, input, constant"),
        (["nodes", 0, "name"], "\x1b[2J", "is not printable or too long"),
        (["nodes", 0, "name"], "a" * 20_000, "is not printable or too long"),
        (["nodes", -1, "operands"], {}, "cannot run again|takes"),
        (["nodes", -1, "operands", "x", "node"], 9999, "the operand 'x' of node .* has the number 9999"),
        (["nodes", -1, "operands", "nonsense"], {"node": 0, "output": None}, "has the operands .*nonsense"),
        (["nodes", -1, "operation"], "eval", "a primitive 'eval' that is not declared here"),
        (["nodes", -1, "keywords"], {"x": {"array": "none"}}, "an invalid array: 'none'"),
        (["nodes", -1, "keywords"], {"x": {"float": "1.5.2"}}, "an invalid float"),
        (["nodes", -1, "keywords"], {"x": {"dtype": "O"}}, "a dtype 'O', which is not a dtype of numbers"),
        (["nodes", -1, "keywords"], {"x": {"pickle": "x"}}, "of the unknown kind 'pickle'"),
        (["nodes", -1, "keywords"], {"x": 1}, "cannot run again"),
        (["nodes", -1, "source"], ["/etc/passwd"], "must be a list of 7"),
        (["nodes", -1, "source"], ["a.py", 1, "f"], "must be a list of 7"),
        (["nodes", -1, "source"], ["a.py", 1, "f", "x = y * 2"], "must be a list of 7"),
        (["nodes", -1, "source"], ["a.py", 1, "f", "x", None, 1, "2"], "item 6 must be int, got '2'"),
        (["nodes", -1, "call"], None, "node .* 'call' must be int, got None"),
        (["nodes", -1, "depth"], "1", "node .* 'depth' must be int, got '1'"),
    ],
)
def test_what_is_malformed_is_said_in_one_error(
    keys: list[Any], value: Any, words: str, trace_file: Path, path: Path
) -> None:
    arrays, about = load_checkpoint(trace_file)
    signed(path, arrays, json.dumps(replaced(about, keys, value)))
    with pytest.raises(CheckpointError, match=words):
        load_trace(path)


@pytest.mark.parametrize(
    "keys",
    [
        *(("kind",), ("nodes",), ("modules",), ("tensors",), ("programs",)),
        *(("nodes", -1, name) for name in ("operation", "operands", "keywords", "source", "call", "depth", "module")),
    ],
)
def test_a_trace_that_lacks_what_is_written_is_refused(keys: tuple[Any, ...], trace_file: Path, path: Path) -> None:
    arrays, about = load_checkpoint(trace_file)
    place = about
    for key in keys[:-1]:
        place = place[key]
    del place[keys[-1]]
    signed(path, arrays, json.dumps(about))
    with pytest.raises(CheckpointError, match=f"has no '{keys[-1]}'$|holds no trace|must be one of parameter, input"):
        load_trace(path)


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
    with pytest.raises(CheckpointError, match="no trace at '/dev/zero'"):
        load_trace("/dev/zero")
    deep = tmp_path / "config.json"
    deep.write_text("[" * DEEP)
    with pytest.raises(CheckpointError, match="is not JSON that can be read"):
        read_json(deep, dict)


def test_the_keywords_that_say_how_large_a_result_is_are_those_of_primitives() -> None:
    sizes = {name: known(primitive).sizes.keys() for name, primitive in primitives.items()}
    assert {"repeat", "tile", "broadcast_to", "pad", "scatter_add", "fft"} <= {name for name in sizes if sizes[name]}
    assert all(sizes[name] <= set(primitives[name].parameters) for name in sizes if sizes[name])


@pytest.mark.parametrize(
    ("compute", "keyword", "value"),
    [
        (lambda x: np.repeat(x, 3), "repeats", 1 << 40),
        (lambda x: np.tile(x, 3), "reps", {"tuple": [1 << 20, 1 << 20]}),
        (lambda x: np.broadcast_to(x, (3,)), "shape", {"tuple": [1 << 20, 1 << 20]}),
        (lambda x: np.pad(x, 2), "width", {"tuple": [{"tuple": [1 << 40, 0]}]}),
        (lambda x: np.fft.fft(x, n=4), "n", 1 << 40),
    ],
)
def test_an_operation_may_not_ask_for_more_than_a_replay_has(
    compute: Callable[[Any], Any], keyword: str, value: Any, path: Path
) -> None:
    with mg.trace():
        y = compute(Tensor([1.0], requires_grad=True))
    save_trace(y, path)
    arrays, about = load_checkpoint(path)
    about["nodes"][1]["keywords"][keyword] = value
    signed(path, arrays, json.dumps(about))
    with pytest.raises(CheckpointError, match=f"a keyword {keyword} that makes more than"):
        load_trace(path)


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


# --- two thousand of them ---

VALUES: list[Any] = [
    None, True, 0, 1, -1, 2, 7, 10**9, -(2**63), 2**64, 10**40, 0.5, float("nan"), float("inf"), "", "x", "exp", "array0",
    "/etc/passwd", "\x1b[31m", "</script><script>alert(1)</script>", "\u202e", "\ud800", "a" * 20_000, [], {}, [[]], [0, 0],
    {"array": "array0"}, {"array": "array1", "complex": True}, {"scalar": {"array": "array0"}}, {"dtype": "<f8"},
    {"dtype": "O"}, {"dtype": "<f16"}, {"float": "0x1p99999"}, {"float": "nan"}, {"parts": ["inf", "nan"]}, {"tuple": []},
    {"list": [1, [2]]}, {"tuple": [{"slice": [None, None, -1]}]}, {"slice": [0, "a", None]}, {"ellipsis": 1},
    {"ellipsis": True}, {"dict": [[{"list": []}, 1]]}, {"node": 0, "output": None},
    {"node": 1, "output": 5, "value": {"array": "array0"}}, ["f", 1, "g"], ["f", 1, "g", "\x00", 1, 2, 3],
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


def view(path: Path) -> None:
    """Load the trace and look at it in every way."""
    replay = load_trace(path)
    graph = mg.draw_dot(replay.tensors, replay.parameters | replay.named)
    graph.to_text()
    graph.to_dot()
    if replay.loss.size == 1 and replay.loss.dtype.kind == "f":
        replay.gradients()
        page_data(explain_module._swept(replay.loss, replay.parameters))


@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.thorough)])
def test_bent_traces_and_checkpoints(count: int, trace_file: Path, path: Path, tmp_path: Path) -> None:
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
        traces = count * 3 // 4
        assert traces / 30 < attack(trace_file, path, traces, view) < traces * 2 / 3
        attack(tmp_path / "run" / "last.safetensors", path, count - traces, resume)
