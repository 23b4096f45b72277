"""Programs that call minigrad's kernels: the bits of the tape with its kernels."""

import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad.codegen import kernels
from minigrad.codegen.paper import Paper
from minigrad.codegen.recording import Recording
from minigrad.engine.registry import primitives
from tests.minigrad.cases import CASES
from tests.minigrad.codegen.apart import close, same_bits
from tests.minigrad.codegen.test_models import MODELS, loss_of as loss_of_model
from tests.minigrad.codegen.test_table import data_of, form, loss_of
from tests.minigrad.test_cases import all_primitives  # noqa: F401 - with it the table is full

RNG = np.random.default_rng(0)


def with_kernels(f: Callable[..., Any], args: Any, argnum: Any = None) -> Any:
    """Return the value and the gradients from the tape, with its kernels."""
    argnum = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f") if argnum is None else argnum
    with np.errstate(all="ignore"):
        value, gradients = mg.value_and_grad(f, argnum=argnum)(*args)
    return value, *gradients


def normals(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_bits_of_the_tape_on_other_batches(name: str) -> None:
    model, batch = MODELS[name]
    model.eval()
    random = np.random.default_rng(2)
    parameters: Any = {key: random.normal(size=p.shape) * 0.3 for key, p in model.state_dict().items()}
    loss = loss_of_model(model)
    program = mg.write_numpy(loss, parameters, *batch(random), argnum=0, kernels=True)
    assert ("kernels.affine_back(" in program.source) == (name != "skip-gram")
    for _ in range(3):
        arguments = parameters, *batch(random)
        found, expected = program(*arguments), with_kernels(loss, arguments, (0,))
        assert same_bits(found, expected)


def cases_of_kernels() -> list[Any]:
    names = {name for name, primitive in primitives.items() if np.ndarray in primitive.kernels}
    cases = [case for case in CASES if case.primitive in names]
    assert len(cases) > 100
    return cases


@pytest.mark.parametrize("chunk", [0, *(pytest.param(i, marks=pytest.mark.thorough) for i in range(1, 4))])
def test_every_case_of_a_kernel_has_the_bits_of_the_tape_on_new_data(chunk: int) -> None:
    called, same = set(), []
    for case in cases_of_kernels():
        first = case.arrays()
        if zlib.crc32(case.id.encode()) % 4 != chunk or not any(array.dtype.kind == "f" for array in first):
            continue
        f = loss_of(case.f)
        try:
            program = mg.write_numpy(f, *first, kernels=True)
        except mg.UnsupportedError:
            continue
        called |= {name for name in primitives if f"kernels.{name}(" in program.source}
        for seed in (1, 2):
            data = data_of(case, seed)
            if form(data) == form(first):
                with np.errstate(all="ignore"):
                    found, expected = program(*data), with_kernels(f, data)
                assert close(found, expected, 1e-13), case.id
                same.append(same_bits(found, expected))
    assert len(same) > 50 and all(same)
    assert len(called) >= 8


def attention(query, key, value):
    context = mg.scaled_dot_product_attention(query, key, value, num_heads=2)
    return np.sum(context**2)


def test_the_text_reads_like_a_lesson() -> None:
    program = mg.write_numpy(attention, *normals((2, 3, 4), (2, 5, 4), (2, 5, 6)), kernels=True)
    assert program.source.startswith('"""The value and the gradients of attention (test_kernels.py, line ')
    assert "It calls the kernels of minigrad, which must be installed.\n" in program.source
    assert "\nfrom minigrad.codegen import kernels\n" in program.source
    assert str(program).splitlines()[2:] == [
        "    # context = mg.scaled_dot_product_attention(query, key, value, num_heads=2)",
        "    context, saved = kernels.attention(query, key, value, num_heads=2)",
        "    loss = np.sum(context ** 2)",
        "",
        "    # backward",
        "    # back through return np.sum(context**2)",
        "    dcontext = 2 * context",
        "    # back through context = mg.scaled_dot_product_attention(query, key, value, num_heads=2)",
        "    dquery, dkey, dvalue = kernels.attention_back(dcontext, query, key, value, ans=context,",
        "        saved=saved, num_heads=2, needs=('query', 'key', 'value'))",
        "    return loss, dquery, dkey, dvalue",
    ]


def test_a_program_for_all_sizes_calls_kernels() -> None:
    def arguments(batch: int, queries: int, keys: int) -> list[Any]:
        return normals((batch, queries, 4), (batch, keys, 4), (batch, keys, 6))

    program = mg.write_numpy(attention, *arguments(2, 3, 5), sizes=[arguments(3, 7, 4)], kernels=True)
    for sizes in ((2, 3, 5), (1, 3, 5), (2, 1, 5), (2, 3, 1), (9, 8, 8)):
        data = arguments(*sizes)
        assert same_bits(program(*data), with_kernels(attention, data))


def test_what_a_kernel_declines_at_another_size_is_refused() -> None:
    def arguments(rows: int, width: int) -> list[Any]:
        return normals((rows, width), (width,), (width,))

    def f(x: Any, gamma: Any, beta: Any) -> Any:
        return np.sum(mg.layer_norm(x, gamma, beta) ** 2)

    program = mg.write_numpy(f, *arguments(4, 3), sizes=[arguments(6, 7)], kernels=True)
    with pytest.raises(ValueError, match="the kernel of layer_norm does not compute arrays like these"):
        program(*arguments(4, 0))


def test_gradients_that_meet_are_added_as_on_the_tape() -> None:
    """The gradients of a kernel are new arrays, to which the tape adds in place: none may reach the caller twice."""

    def f(x: Any, weight: Any, bias: Any) -> Any:
        layer = mg.layer_norm(x, bias, bias)
        return np.sum(mg.softmax(layer) * x + layer * mg.gelu(layer) + mg.relu(layer @ weight) + x)

    program = mg.write_numpy(f, *normals((2, 4, 3), (3, 3), (3,)), kernels=True)
    data = normals((2, 4, 3), (3, 3), (3,))
    before = [array.copy() for array in data]
    results = program(*data)
    assert same_bits(results, with_kernels(f, data))
    assert all(np.array_equal(array, old) for array, old in zip(data, before))
    arrays = [*data, *results[1:]]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_second_derivatives_use_the_plain_rules_of_what_a_kernel_computed() -> None:
    def f(x: Any, gamma: Any, beta: Any) -> Any:
        return np.sum(mg.grad(lambda x: np.sum(mg.layer_norm(x, gamma, beta) ** 3))(x) ** 2)

    program = mg.write_numpy(f, *normals((4, 3), (3,), (3,)), kernels=True)
    data = normals((4, 3), (3,), (3,))
    assert same_bits(program(*data), with_kernels(f, data))


def test_layers_in_a_loop_are_a_loop_of_kernels() -> None:
    def f(x: Any, weight: Any, gamma: Any) -> Any:
        for _ in range(6):
            x = mg.layer_norm(x @ weight, gamma, gamma)
        return np.sum(x * x)

    program = mg.write_numpy(f, *normals((2, 3, 4), (4, 4), (4,)), kernels=True)
    assert program.source.count("kernels.layer_norm(") == 1 and "for " in str(program)
    data = normals((2, 3, 4), (4, 4), (4,))
    assert same_bits(program(*data), with_kernels(f, data))


def test_large_sums_and_products_are_those_of_the_tape() -> None:
    def f(x: Any, weight: Any) -> Any:
        z = x @ weight
        return np.sum(z.sum(axis=0) ** 2) + z.max(axis=1).mean()

    data = normals((600, 400), (400, 500))
    program = mg.write_numpy(f, *data, kernels=True)
    assert all(f"kernels.{name}(" in program.source for name in ("matmul", "matmul_back", "sum", "max"))
    assert same_bits(program(*data), with_kernels(f, data))


def test_plain_rules_stay_plain() -> None:
    def f(x: Any) -> Any:
        with mg.reference_mode():
            return np.sum(mg.softmax(x) ** 2)

    (x,) = normals((3, 4))
    for program in (mg.write_numpy(f, x, kernels=True), mg.write_numpy(lambda x: np.sum(mg.softmax(x) ** 2), x)):
        assert "minigrad" not in program.source


def test_paper_calls_kernels_only_where_they_are_asked_for() -> None:
    """Paper has kernels as soon as one program was written with them. Other users of paper must not notice."""
    test_layers_in_a_loop_are_a_loop_of_kernels()
    recording = Recording(Paper)
    mg.softmax(recording.input(np.ones((2, 3)), "x"))
    assert recording.statements and not any(kernels.is_kernel(each.call) for each in recording.statements)


GRU = nn.GRU(3, 4, rng=RNG, dtype=np.float64)  # nn, and not minigrad, declares its kernel


def states(x, *parameters):
    found = nn.functional_call(GRU, dict(zip(GRU.state_dict(), parameters)), x)
    return np.sum((found[0] if isinstance(found, tuple) else found) ** 2)


@pytest.mark.parametrize(
    ("f", "shapes", "name"),
    [
        (attention, [(2, 3, 4), (2, 5, 4), (2, 5, 6)], "attention"),
        (states, [(2, 5, 3), *(array.shape for array in GRU.state_dict().values())], "gru_states"),
    ],
)
def test_a_saved_program_runs_in_another_process(f: Any, shapes: Any, name: str, tmp_path: Path) -> None:
    program = mg.write_numpy(f, *normals(*shapes), kernels=True)
    assert f"kernels.{name}_back(" in program.source
    program.save(tmp_path / "step.py")
    data = normals(*shapes)
    (tmp_path / "data.pickle").write_bytes(pickle.dumps(data))
    code = (
        "import pickle, sys; sys.path.insert(0, sys.argv[1]); from step import step\n"
        "data = pickle.load(open(sys.argv[1] + '/data.pickle', 'rb'))\n"
        "pickle.dump(step(*data), open(sys.argv[1] + '/results.pickle', 'wb'))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
    assert same_bits(pickle.loads((tmp_path / "results.pickle").read_bytes()), with_kernels(f, data))


def test_each_kernel_has_a_name_and_no_other_function_has() -> None:
    named = [name for name, primitive in primitives.items() if np.ndarray in primitive.kernels]
    assert len(named) >= 15
    for name in named:
        assert getattr(kernels, name).__name__ == name
    assert kernels.layer_norm_back.__name__ == "layer_norm_back"
    for name in ("tanh", "no_such", "tanh_back"):
        with pytest.raises(AttributeError, match=f"minigrad has no kernel {name}"):
            getattr(kernels, name)


def test_a_kernel_of_the_user_is_left_out() -> None:
    """A saved program could not find it."""
    own = mg.primitive(lambda x, /: x * x, name="own_square").vjp(x=lambda g, x: g * (2 * x))
    own.kernel(np.ndarray, lambda x: (x * x, None), lambda g, needs, x: (g * (2 * x),))
    program = mg.write_numpy(lambda x: np.sum(own(x)), *normals((3,)), kernels=True)
    assert "minigrad" not in program.source


def test_what_cannot_be_called_is_said() -> None:
    (x,) = normals((3, 4))
    with pytest.raises(mg.ArgumentError, match="kernels=1 must be True or False"):
        mg.write_numpy(lambda x: np.sum(x), x, kernels=1)  # type: ignore[arg-type]
    text = str(mg.write_numpy(lambda x, kernels: np.sum(mg.softmax(x) * kernels), x, x, kernels=True))
    assert "kernels.softmax(x)" in text and "* kernels_" in text
    with pytest.raises(mg.UnsupportedError, match="random"):
        mg.write_numpy(lambda x: np.sum(nn.Dropout(0.5, rng=RNG)(x)), x, kernels=True)


def test_compiled_kernels_must_be_off() -> None:
    def f(x: Any) -> Any:
        return np.sum(mg.softmax(x) ** 2)

    mg.compiled_kernels()
    try:
        with pytest.raises(mg.UnsupportedError, match=r"compiled_kernels\(False\)"):
            mg.write_numpy(f, *normals((3, 4)), kernels=True)
    finally:
        mg.compiled_kernels(False)


def norm(x, weight, bias):
    h = mg.layer_norm(x, weight, bias)
    return np.sum(h * h)


def test_the_docs_show_the_lines_that_are_written() -> None:
    text = str(mg.write_numpy(norm, *normals((4, 3), (3,), (3,)), kernels=True))
    docs = (Path(mg.__file__).parent.parent / "docs" / "written-out.md").read_text(encoding="utf-8")
    assert text.endswith("    return loss, dx, dweight, dbias\n")  # new arrays: a copy would do nothing
    lines = [line for line in text.splitlines() if "kernels." in line]
    assert len(lines) == 2 and all(f"\n{line}\n" in docs for line in lines)
