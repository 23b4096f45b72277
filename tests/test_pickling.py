"""Public functions pickle by reference, as Python's own do, and so models that hold them pickle, copy and dump."""

import copy
import inspect
import io
import pickle
import types
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad.numpy as mnp
import models
import nn
import nn.functional
from tests.lazy import resolve

MODULES = [mg, nn, models, nn.functional, mnp, mnp.linalg, mnp.fft]
PUBLIC = [(module.__name__, name) for module in MODULES for name in dir(module) if not name.startswith("__")]

halved = mg.primitive(lambda x, /: x / 2, name="half").vjp(x=lambda g: g / 2)  # found by its place, not by its name


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[".".join(pair) for pair in PUBLIC])
def test_every_public_name_pickles(module: str, name: str) -> None:
    value = getattr(next(m for m in MODULES if m.__name__ == module), name)
    if isinstance(value, types.ModuleType):
        return
    back = pickle.loads(pickle.dumps(value))
    if callable(value):
        assert back is value and copy.deepcopy(value) is value and copy.copy(value) is value


def test_every_function_of_scipys_pickles() -> None:
    pytest.importorskip("scipy", reason="needs SciPy: pip install scipy")
    special = resolve("minigrad.scipy_special")
    values = {name: value for name, value in vars(special).items() if isinstance(value, mg.Primitive)}
    assert len(values) > 35
    for name, value in values.items():
        assert pickle.loads(pickle.dumps(value)) is value, name


def built(kind: Any) -> Any:
    """A small module of a class, by what its arguments are called."""
    sizes = {
        "num_heads": 2, "p": 0.5, "head_dim": 4, "radius": 2, "module": mg.relu, "d_model": 8, "score": "additive",
        "activation": "gelu", "affine": nn.Affine(3, 4, rng=np.random.default_rng(0)),
    }  # fmt: skip
    given: dict[str, Any] = {"rng": np.random.default_rng(0)}
    for name, parameter in inspect.signature(kind).parameters.items():
        if name == "embedding":
            given[name] = nn.Embedding(5, 8, rng=np.random.default_rng(0))
        elif name == "affine":
            given[name] = nn.Affine(8, 8, rng=np.random.default_rng(0))
        elif (
            name not in given
            and parameter.kind is not parameter.VAR_POSITIONAL
            and parameter.default is parameter.empty
        ):
            given[name] = sizes.get(name, 8)
    names = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in given.items() if name in names})


LAYERS = [name for name in dir(nn) if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)]


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_pickles_with_its_state(name: str) -> None:
    layer = built(getattr(nn, name))
    for back in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        assert type(back) is type(layer)
        state, came = layer.state_dict(), back.state_dict()
        assert list(came) == list(state)
        for key in state:
            np.testing.assert_array_equal(came[key], state[key])


ACTIVATIONS = ["relu", "gelu", "silu", "sigmoid", "softmax", "log_softmax"]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_model_that_holds_a_function_computes_the_same(name: str) -> None:
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Affine(3, 4, rng=rng), getattr(mg, name), nn.Residual(getattr(mg, name)), np.tanh)
    x = rng.normal(size=(2, 3)).astype(np.float32)
    want = model(x).numpy()
    for back in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(back(x).numpy(), want)
        back(x).sum().backward()
        assert back.state_dict().keys() == model.state_dict().keys()


def test_a_model_pickles() -> None:
    config = models.ClassifierConfig(20, 2, d_model=16, num_layers=1, num_heads=2, activation="gelu", dropout=0.1)
    model = models.TransformerClassifier(config, rng=np.random.default_rng(0))
    ids = np.array([[1, 2, 3]])
    model.eval()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model))(ids).numpy(), model(ids).numpy())


def test_joblib_dumps_a_model() -> None:
    joblib = pytest.importorskip("joblib", reason="needs joblib: pip install joblib")
    model = nn.Sequential(nn.Affine(3, 4, rng=np.random.default_rng(0)), mg.gelu)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    back = joblib.load(file)
    np.testing.assert_array_equal(back(np.ones((1, 3))).numpy(), model(np.ones((1, 3))).numpy())


def test_a_users_primitive_pickles_by_reference() -> None:
    assert pickle.loads(pickle.dumps(halved)) is halved
    assert copy.deepcopy({"f": halved})["f"] is halved


def test_a_primitive_that_no_module_holds_says_so() -> None:
    own = mg.primitive(lambda x, /: x * 2, name="own").vjp(x=lambda g: g * 2)
    assert copy.deepcopy([own])[0] is own
    with pytest.raises(
        mg.UnsupportedError, match=r"<primitive own> cannot be pickled.*Assign it at the top of a module"
    ):
        pickle.dumps(own)
