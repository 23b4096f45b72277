"""Every parameter of every public callable of nn and models gets wrong kinds and NaN: a sentence, and nothing has changed."""

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from tests.nn.public_calls import PACKAGES, parameters, public_callables
from tests.nn.valid_calls import LINES, net

CALLABLES = public_callables()
NAN, INF = float("nan"), float("inf")


class _Nothing:
    """An object that is none of the kinds."""


VALUES: dict[str, Callable[[], Any]] = {
    "text": lambda: "text",
    "None": lambda: None,
    "list": lambda: [1.5],
    "nested": lambda: [[1.0], [2.0, 3.0]],
    "texts": lambda: ["a"],
    "tuple": lambda: (1, 2, 3),
    "pair": lambda: (0.5, NAN),
    "nan": lambda: NAN,
    "inf": lambda: INF,
    "negative": lambda: -1,
    "zero": lambda: 0,
    "true": lambda: True,
    "fraction": lambda: 2.5,
    "complex": lambda: 1j,
    "object": _Nothing,
    "class": lambda: _Nothing,
    "function": lambda: len,
    "dict": lambda: {"a": 1},
    "module": net,
    "optimizer": lambda: nn.SGD([nn.Parameter([1.0])]),
    "tensor": lambda: mg.Tensor([1.5], requires_grad=True),
    "array": lambda: np.array([NAN, 1.0]),
    "NumPy's nan": lambda: np.float64(NAN),
}
NUMBERS = ("nan", "inf", "NumPy's nan")  # never fit, whatever the annotation says, unless ACCEPTED says why


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_dtype(value: Any) -> bool:
    return value is not None and isinstance(value, (type, str, np.dtype)) and value in (float, "float64")


def _is_array(value: Any) -> bool:
    return isinstance(value, (int, float, complex, bool, np.ndarray, mg.Tensor, list, tuple, np.generic))


KINDS: list[tuple[str, Callable[[Any], bool]]] = [  # the first whose pattern is found in a part of an annotation
    (r"^None$", lambda value: value is None),
    (r"Any$|^object$", lambda value: True),
    (r"^(collections\.abc\.)?Callable|^R$|Schedule|Score", callable),
    (r"Generator", lambda value: isinstance(value, np.random.Generator)),
    (r"DType", _is_dtype),
    (r"TensorLike|Tensor$|ndarray|^Array$", _is_array),
    (
        r"Iterable|Sequence|^list|^tuple|State|Best|Size",
        lambda value: isinstance(value, (list, tuple, str, np.ndarray)),
    ),
    (r"Mapping|^dict", lambda value: isinstance(value, Mapping)),
    (r"Module", lambda value: isinstance(value, nn.Module)),
    (r"^int$", lambda value: isinstance(value, (int, np.integer)) and not isinstance(value, bool)),
    (r"^float$", _is_number),
    (r"^bool$", lambda value: isinstance(value, bool)),
    (r"^str$|Path", lambda value: isinstance(value, str)),
    (r"Optimizer", lambda value: isinstance(value, nn.Optimizer)),
    (r"", lambda value: False),  # a config, an Embedding and the like, of which VALUES has none
]


def _fits(value: Any, annotation: str) -> bool:
    """Return whether a value is of the kind that the annotation names."""
    text = re.sub(r"ForwardRef\('(.*?)'.*\)", r"\1", annotation)
    parts = re.split(r" \| (?![^\[]*\])", text) + ["int"] * ("Size" in text)
    return any(next(fits for pattern, fits in KINDS if re.search(pattern, part))(value) for part in parts)


ACCEPTED = {  # a callable ("" for all), its parameter and a value that it takes: why this is right
    ("", "scale", "negative"): "a factor may have a sign",
    ("", "parameters", "tensor"): "one tensor stands for a list of one",
    ("", "log_probability", "negative"): "a logarithm of a probability is",
    ("", "low", "negative"): "a bound of an interval may be",
    ("nn.clip_grad_norm", "max_norm", "inf"): "it only measures the norm",
    ("nn.clip_grad_value", "max_value", "inf"): "no limit",
    ("nn.fit", "clip_norm", "inf"): "no limit",
    ("nn.fit", "clip_value", "inf"): "no limit",
}


def _made(name: str, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Return the callable, bound to a fresh object if it is a method, and the arguments of a valid call."""
    owner, _, method = name.replace("models.Model.", "models.Bigram.").rpartition(".")
    thing = CALLABLES[name]
    if owner == "nn.ExampleGrads":
        thing = getattr(nn.per_example_grads(**LINES["nn.per_example_grads"](folder)), method)
    elif owner not in PACKAGES:
        made = eval(owner, dict(PACKAGES))
        arguments = LINES[owner](folder) if owner in LINES and not inspect.ismethod(thing) else {}
        thing = getattr(made if inspect.ismethod(thing) else _call(made, arguments), method)
    return thing, LINES[name](folder)


def _call(thing: Any, arguments: dict[str, Any]) -> Any:
    """Call a thing, and run what it returns if that only begins when it is read."""
    order = [*inspect.signature(thing).parameters.values()]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    last = max((i for i, p in enumerate(order) if p.kind in kinds and p.name in arguments), default=-1)
    first = [p.name for p in order[: last + 1]]
    given = dict(arguments)
    with np.errstate(all="ignore"):  # NaN and infinity may give NaN: that is no error
        found = thing(*[given.pop(name) for name in first if name in given], **given)
        return list(itertools.islice(found, 3)) if isinstance(found, Iterator) else found


def _state(value: Any) -> Any:
    """Return what an error must leave as it was: weights, buffers, modes, the state of optimizers, files, contents."""
    if isinstance(value, nn.Module):
        arrays = {name: array.tobytes() for name, array in value.state_dict().items()}
        marks = [(path, module.training, sorted(vars(module))) for path, module in value.named_modules()]
        return arrays, marks, [(p.requires_grad, _state(p.grad)) for p in value.parameters()]
    if isinstance(value, nn.Optimizer):
        return repr(value), _state(value.state), [(_state(p), _state(p.grad)) for p in value.parameters]
    if isinstance(value, (mg.Tensor, np.ndarray)):
        return np.asarray(value.data).tobytes(), value.dtype
    if isinstance(value, Mapping):
        return {name: _state(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_state(each) for each in value]
    return repr(value)


def _shown(message: str, parameter: str, value: Any, thing: Any) -> str | None:
    """Return what a message lacks, or None: the parameter's name, or for an array its function's; and what was given."""
    owner = type(getattr(thing, "__self__", None)).__name__
    names = [parameter, getattr(thing, "__name__", ""), owner]
    if not any(re.search(rf"\b{re.escape(name)}\b", message) for name in names if name):
        return f"names neither {' nor '.join(names)}"
    shape = [str(value.shape)] if hasattr(value, "shape") else []
    parts = (
        [part for item in value for part in (repr(item), type(item).__name__)]
        if isinstance(value, (list, tuple))
        else []
    )
    got = [*shape, *parts, repr(value)[:40], str(value)[:40], type(value).__name__, "shape", "dtype", "got ("]
    return None if any(each in message for each in got) else "does not show what it got"


def _try(name: str, parameter: str, annotation: str, kind: str, folder: Path) -> str | None:
    """Return what is wrong with the answer to one bad argument, or None."""
    thing, arguments = _made(name, folder)
    value = VALUES[kind]()
    arguments[parameter] = value
    watched = [getattr(thing, "__self__", None), {each: a for each, a in arguments.items() if each != parameter}]
    before = _state(watched), sorted(folder.rglob("*"))
    try:
        _call(thing, arguments)
    except mg.MinigradError as error:
        if callable(value) and _fits(value, annotation):  # the error of a call in the midst of the work
            return None
        lacks = None if _fits(value, annotation) else _shown(str(error), parameter, value, thing)
        if lacks:
            return f"{lacks}: {error}"
        return None if before == (_state(watched), sorted(folder.rglob("*"))) else f"changed its state: {error}"
    except Exception as error:
        if callable(value) and _fits(value, annotation):  # the error of a function that the user wrote
            return None
        return f"{type(error).__name__}: {error}"
    fits = _fits(value, annotation) and (kind not in NUMBERS or "Tensor" in annotation or "Any" in annotation)
    below = kind == "negative" and re.search(r"\bfloat\b", annotation)  # most real settings are not negative
    return (
        None
        if {(name, parameter, kind), ("", parameter, kind)} & ACCEPTED.keys() or (fits and not below)
        else "accepted"
    )


def test_every_public_callable_has_a_line_with_a_valid_call() -> None:
    assert {*CALLABLES} == {*LINES} | INSIDE, "give each a line in tests/nn/valid_calls.py"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is a valid path: what is written there is not written into the repository."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("name", LINES)
def test_the_valid_call_works(name: str, tmp_path: Path) -> None:
    thing, arguments = _made(name, tmp_path)
    _call(thing, arguments)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", LINES)
def test_a_bad_argument_gets_a_sentence_and_changes_nothing(name: str, tmp_path: Path) -> None:
    wrong = {}
    for (parameter, annotation), kind in itertools.product(parameters(CALLABLES[name]), VALUES):
        folder = tmp_path / f"{parameter}-{kind}"
        folder.mkdir()
        if said := _try(name, parameter, annotation, kind, folder):
            wrong[f"{parameter}={kind} ({annotation})"] = said
    assert not wrong, "\n".join(f"{case}: {said}" for case, said in wrong.items())


INSIDE = {  # called by a layer with what it has checked, or by the user with what the first function of a chain reads
    "nn.Sequential.forward",
    *(
        "nn.KeyValueCache.append",
        "nn.KeyValueCache.joined",
        "nn.PositionalEncoding.codes",
        "nn.PositionalEncoding.codes_of",
    ),
    *(f"nn.{score}Score.forward" for score in ("Dot", "Cosine", "General", "Additive")),
    *("nn.RNNCell.step", "nn.GRUCell.step"),
    *("models.RNNEncoderDecoder.initial_state", "models.RNNEncoderDecoder.step"),
}
