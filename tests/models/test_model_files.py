"""Model.save and Model.load: one file is the whole model, in a new process too, and what does not fit is one sentence."""

import dataclasses
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
import nn
from minigrad import ArgumentError
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from tests.models.test_config import CONFIGS

IDS = np.array([[1, 2, 0, 4], [3, 3, 1, 2]])
INPUTS: dict[str, tuple[Any, ...]] = {
    "BertEncoder": (IDS, IDS > 0),
    "TransformerClassifier": (IDS, IDS > 0),
    "GPT": (IDS,),
    "Transformer": (IDS, IDS[:, :3]),
    "VisionTransformer": (np.linspace(-1, 1, 32).reshape(2, 4, 4),),
    "RNNEncoderDecoder": (IDS, IDS[:, :3]),
    "SkipGram": (IDS,),
    "Bigram": (IDS,),
    "TwoLayerTransformer": (np.linspace(-1, 1, 12).reshape(2, 3, 2),),
}
SMALL = {"vocab_size": 5, "d_model": 8, "num_heads": 2, "num_layers": 1, "hidden": 8, "max_positions": 4}
NOTES = {"words": ["I", "食べる"], "mean": 0.1, "nested": {"a": [1, None]}}
WRONG: list[Any] = ["x", None, -1, 0, 1.5, [], {}, 10**20]
CHILD = """
import sys
import numpy as np
import models
from tests.models.test_model_files import INPUTS
logits = {}
for name, inputs in INPUTS.items():
    model = getattr(models, name).load(f"{sys.argv[1]}/{name}.safetensors")
    assert not model.training and model.config.notes["words"][1] == "食べる", name
    logits[name] = model(*inputs).numpy()
np.savez(f"{sys.argv[1]}/logits.npz", **logits)
"""


def made(name: str, seed: int = 3, dtype: Any = np.float32, **changes: Any) -> Any:
    cls = getattr(models, name)
    sizes = CONFIGS[cls.config_class] or SMALL  # the defaults of BertConfig are those of a large network
    config = cls.config_class(**sizes | {"notes": NOTES} | changes)
    return cls(config, rng=np.random.default_rng(seed), dtype=dtype)


def test_every_model_is_in_the_table() -> None:
    classes = [value for value in vars(models).values() if isinstance(value, type) and issubclass(value, models.Model)]
    assert {cls.__name__ for cls in classes} == {"Model", *INPUTS}


def test_a_new_process_computes_the_same_logits_to_the_bit(tmp_path: Path) -> None:
    expected = {}
    for i, name in enumerate(INPUTS):
        model = made(name, dtype=(np.float32, np.float64)[i % 2])
        model.save(tmp_path / f"{name}.safetensors")
        expected[name] = model.eval()(*INPUTS[name]).numpy()
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    subprocess.run([sys.executable, "-X", "utf8", "-c", CHILD, str(tmp_path)], check=True, cwd=root, env=environment)
    with np.load(tmp_path / "logits.npz") as logits:
        for name, array in expected.items():
            np.testing.assert_array_equal(logits[name], array, strict=True)


def test_it_reads_the_checkpoint_files_of_fit(tmp_path: Path) -> None:
    model = made("SkipGram")
    batches = nn.Batches([IDS.ravel(), IDS.ravel()[::-1].copy()], 4, seed=0)
    nn.fit(
        model, batches, lambda m, batch: m.pair_loss(*batch), nn.Adam(model.parameters(), 0.1),
        epochs=2, checkpoint=tmp_path, progress=False,
    )  # fmt: skip
    loaded = models.SkipGram.load(str(tmp_path / "last.safetensors"))
    np.testing.assert_array_equal(loaded(IDS).numpy(), model(IDS).numpy())
    assert loaded.config == model.config


def test_notes_are_optional_and_not_in_the_way() -> None:
    config = made("GPT").config
    assert config.from_dict(config.to_dict()) == config and config.to_dict()["notes"] == NOTES
    assert "notes" not in models.SkipGramConfig(5).to_dict() and "notes" not in repr(config)
    assert hash(config) == hash(made("GPT", notes={}).config) and config != made("GPT", notes={}).config


def test_a_file_of_another_class_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    made("GPT").save(path)
    with pytest.raises(
        CheckpointError, match=r"m.safetensors' holds the model GPT, not SkipGram: load it with its own class$"
    ):
        models.SkipGram.load(path)
    nn.save_weights(nn.Affine(2, 2, rng=np.random.default_rng(0)), path)
    with pytest.raises(CheckpointError, match="holds the model Affine, not GPT"):
        models.GPT.load(path)
    with pytest.raises(CheckpointError, match=r"no checkpoint at '.*none'"):
        models.GPT.load(tmp_path / "none")


@pytest.mark.parametrize("part", [0, 7, 60, 1000, -1])
def test_a_truncated_file_is_refused(part: int, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    made("GPT").save(path)
    path.write_bytes(path.read_bytes()[:part])
    with pytest.raises(CheckpointError, match="is not a safetensors file, or is truncated"):
        models.GPT.load(path)


def changed(path: Path, arrays: Any = (), **config: Any) -> None:
    """Save a GPT, then write its file again with other arrays (None: without it) and other entries in its config."""
    made("GPT").save(path)
    old, about = load_checkpoint(path)
    kept = {name: array for name, array in (old | dict(arrays)).items() if array is not None}
    save_checkpoint(path, kept, about | {"config": about["config"] | config if None not in config.values() else None})


@pytest.mark.parametrize(
    ("arrays", "config", "words"),
    [
        ({"model.positions.weight": None}, {}, "does not fit: .*missing: 'positions.weight'$"),
        ({"model.extra": np.ones(2, np.float32)}, {}, "does not fit: .*unexpected: 'extra'$"),
        ({"model.positions.weight": np.ones((3, 64), np.float32)}, {}, r"shape \(3, 64\) for 'positions.weight'"),
        ({"model.positions.weight": np.ones((4, 64))}, {}, "dtype float64 for 'positions.weight'"),
        ({}, {"heads": 2}, "does not make a GPT: GPTConfig has no 'heads'; it has "),
        ({}, {"positions": "none"}, "does not make a GPT: positions must be 'learned', 'rotary' or 'alibi'"),
        ({}, {"d_model": "wide"}, "does not make a GPT: "),
        ({}, {"d_model": 2**60}, "does not make a GPT: "),
        ({}, {"window": None}, "'config' must be dict, got None"),
    ],
)  # fmt: skip
def test_weights_or_a_config_that_do_not_fit_are_named(arrays: Any, config: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    changed(path, arrays, **config)
    with pytest.raises(CheckpointError, match=words) as raised:
        models.GPT.load(path)
    assert "\n" not in str(raised.value) and str(path) in str(raised.value)


@pytest.mark.parametrize("name", INPUTS)
def test_a_config_that_lacks_a_setting_is_a_checkpoint_error(name: str, tmp_path: Path) -> None:
    model, path = made(name), tmp_path / "m.safetensors"
    model.save(path)
    arrays, about = load_checkpoint(path)
    for field in about["config"].keys() - {"notes"}:
        left = {key: value for key, value in about["config"].items() if key != field}
        save_checkpoint(path, arrays, about | {"config": left})
        with pytest.raises(CheckpointError, match=f"does not make a {name}: .*{field}"):
            type(model).load(path)
    save_checkpoint(path, arrays, about | {"config": about["config"] | {"notes": {}}})
    assert not type(model).load(path).config.notes


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", INPUTS)
def test_any_wrong_value_in_a_config_is_a_checkpoint_error(name: str, tmp_path: Path) -> None:
    model, path = made(name), tmp_path / "m.safetensors"
    model.save(path)
    arrays, about = load_checkpoint(path)
    refused = 0
    for field in about["config"].keys() - {"notes"}:
        for value in WRONG:
            save_checkpoint(path, arrays, about | {"config": about["config"] | {field: value}})
            try:
                type(model).load(path)
            except CheckpointError as error:
                assert str(path) in str(error)
                refused += 1
    assert refused > 4


@pytest.mark.parametrize("notes", [{1: "a"}, {"words": [{"a": 1}, {2: "b"}]}])
def test_names_that_a_file_would_change_are_refused(notes: Any, tmp_path: Path) -> None:
    config = models.SkipGramConfig(vocab_size=3, d_model=4, notes=notes)
    with pytest.raises(ArgumentError, match=r"notes\S*\.\d is '\w', and missing in a file: JSON has lists, and texts"):
        models.SkipGram(config, rng=np.random.default_rng(0)).save(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_model_with_lora_is_merged_before_it_is_saved(tmp_path: Path) -> None:
    config = models.GPTConfig(vocab_size=5, window=4, d_model=8, num_heads=2)
    model = models.GPT(config, rng=np.random.default_rng(0))
    nn.add_lora(model, 1, rng=np.random.default_rng(1))
    with pytest.raises(ArgumentError, match=r"after nn\.merge_lora\(model\), or its weights with nn\.save_weights"):
        model.save(tmp_path / "model.safetensors")
    nn.merge_lora(model)
    model.save(tmp_path / "model.safetensors")
    assert (models.GPT.load(tmp_path / "model.safetensors")([[1, 2]]).numpy() == model.eval()([[1, 2]]).numpy()).all()


# --- what save accepts, load gives back equal ---


@dataclass(frozen=True)
class InnerConfig(models.Config):
    width: int = 4
    steps: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class OwnConfig(models.Config):
    inner: InnerConfig = InnerConfig()
    sizes: tuple[int, ...] = (4, 3)
    pairs: tuple[tuple[str, float], ...] = (("a", 0.5),)
    parts: list[InnerConfig] = dataclasses.field(default_factory=lambda: [InnerConfig(2), InnerConfig(3)])
    named: dict[str, InnerConfig] = dataclasses.field(default_factory=lambda: {"x": InnerConfig(5)})
    other: InnerConfig | None = None
    range: tuple[float, float] | None = (0.0, 1.0)
    rate: float = float("nan")


class Own(models.Model):
    """Its attributes sort before its weights, and not all have the dtype of the weights."""

    config_class = OwnConfig

    def __init__(self, config: Any, *, rng: np.random.Generator, dtype: Any = np.float32, **changes: Any) -> None:
        self.config = config
        self.a_count, self.a_mean = nn.Buffer(np.arange(3)), nn.Buffer(np.zeros(2, np.float64))
        self.a_flags = nn.Buffer(np.array([True, False]))
        self.weight = nn.Parameter(rng.normal(size=(4, 3)), dtype=dtype)
        self.parts: Any = {"norms": [nn.LayerNorm(3, dtype=dtype)], "rest": (nn.Dropout(0.1, rng=rng), np.tanh)}
        self.scale, self.mask, self.table = 0.5, None, np.ones(3)
        self.activation = lambda x: x * config.sizes[0]
        self.positions = nn.PositionalEncoding(3)

    def forward(self, x: Any) -> Any:
        dropout, activation = self.parts["rest"]
        x = self.parts["norms"][0](self.positions(x @ self.weight))
        return self.activation(activation(dropout(x))) * self.scale * self.table.astype(np.float32)


def own(**changes: Any) -> Any:
    return Own(OwnConfig(**changes), rng=np.random.default_rng(3))


Y = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_model_of_ones_own_comes_back_equal(dtype: Any, tmp_path: Path) -> None:
    """With nested configs, tuples and NaN, and buffers of other dtypes that a file lists first."""
    model = Own(OwnConfig(notes={"words": ["a"]}), rng=np.random.default_rng(3), dtype=dtype)
    model(Y.astype(dtype))  # the table of positions grows
    model.a_mean.data += 1.5
    vars(model)["late"] = np.ones(3)  # a new model has no such attribute: it was noted on the way
    model.save(tmp_path / "own.safetensors")
    loaded = Own.load(tmp_path / "own.safetensors")
    assert repr(loaded.config) == repr(model.config) and loaded.config.notes == model.config.notes
    assert type(loaded.config.inner) is InnerConfig and type(loaded.config.parts[1].steps) is tuple
    state, expected = loaded.state_dict(), model.state_dict()
    assert {name: array.dtype for name, array in state.items()} == {
        name: array.dtype for name, array in expected.items()
    }
    assert all(np.array_equal(state[name], expected[name]) for name in expected)
    np.testing.assert_array_equal(loaded(Y.astype(dtype)).numpy(), model.eval()(Y.astype(dtype)).numpy(), strict=True)


CHANGES: dict[str, tuple[Any, str]] = {
    "number": (lambda m: setattr(m, "scale", 0.25), "scale is 0.25, and 0.5 in a Own that load makes from the config"),
    "number for none": (lambda m: setattr(m, "mask", 3), "mask is 3, and None"),
    "array": (lambda m: setattr(m, "table", np.full(3, 2.0)), "table is a ndarray, and a ndarray"),
    "function": (lambda m: setattr(m, "activation", np.tanh), "activation is tanh, and <lambda>"),
    "code": (lambda m: setattr(m, "activation", lambda x: x), "activation is <lambda>, and <lambda>"),
    "closure": (lambda m: setattr(m, "activation", own(sizes=(7, 3)).activation), r"activation\S* is 7, and 4"),
    "forward": (lambda m: setattr(m, "forward", lambda x: x), "forward is <lambda>, and forward"),
    "in a tuple": (
        lambda m: m.parts.update(rest=(m.parts["rest"][0], np.sin)),
        r"parts.rest.1\S* is '?sin'?, and '?tanh'? in",
    ),
    "settings of a part": (lambda m: setattr(m.parts["norms"][0], "eps", 0.1), "parts.norms.0.eps is 0.1, and "),
    "a part": (lambda m: m.parts.update(norms=[nn.RMSNorm(3)]), "names|missing: 'parts.norms.0.bias'|unexpected"),
    "no part": (lambda m: m.parts["norms"].append(np.tanh), "parts.norms.1 is tanh, and missing"),
    "deleted": (lambda m: delattr(m, "mask"), "mask is missing, and None"),
    "a weight": (lambda m: setattr(m, "weight", nn.Parameter(np.ones((4, 2), np.float32))), r"shape \(4, 2\)"),
    "a dtype": (lambda m: setattr(m, "a_mean", nn.Buffer(np.ones(2, np.float32))), "float32 for 'a_mean'"),
    "tied": (lambda m: setattr(m, "tied", nn.Parameter(np.ones(2, np.float32))), "unexpected: 'tied'"),
    "config": (lambda m: setattr(m, "config", OwnConfig(sizes=(7, 3))), r"activation\S* is 4, and 7"),
    "no config": (
        lambda m: delattr(m, "config"),
        "Own.load makes the model from its config, and there is not a OwnConfig",
    ),
    "config of another": (lambda m: setattr(m, "config", InnerConfig()), "not a OwnConfig in self.config"),
    "no class": (lambda m: setattr(m, "config_class", None), "not a class of configs in config_class"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_its_config_does_not_make_is_refused(change: str, tmp_path: Path) -> None:
    model = own()
    do, words = CHANGES[change]
    do(model)
    with pytest.raises(ArgumentError, match=words):
        model.save(tmp_path / "own.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"notes": {"a": (1, 2)}}, r"notes.a is \(1, 2\), and \[1, 2\] in a file"),
        ({"sizes": [4, 3]}, r"sizes is \[4, 3\], and \(4, 3\) in a file"),
        ({"other": {"width": 4}}, "other is .*, and InnerConfig"),
        ({"notes": {"a": {1}}}, "must be JSON"),
        ({"rate": np.ones(2)}, "must be JSON"),
    ],
)
def test_a_config_that_a_file_would_change_is_refused(changes: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=words):
        own(**changes).save(tmp_path / "own.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", INPUTS)
def test_every_model_is_accepted_after_use_and_refused_after_a_change(name: str, tmp_path: Path) -> None:
    """Converted, trained and called; then with one setting of one part changed, whichever."""
    model, path = made(name).astype(np.float64), tmp_path / "m.safetensors"
    np.sum(model(*INPUTS[name])).backward()
    nn.SGD(model.parameters(), 0.1).step()
    model.save(path)
    loaded = type(model).load(path)
    np.testing.assert_array_equal(loaded(*INPUTS[name]).numpy(), model.eval()(*INPUTS[name]).numpy())
    for part in model.modules():
        for attribute, value in list(vars(part).items()):
            counter = isinstance(part, nn.Dropout) and attribute in ("key", "step")
            if isinstance(value, (int, float, str)) and attribute != "training" and not counter:
                setattr(part, attribute, other(value))
                with pytest.raises(ArgumentError, match=rf"{attribute} is .*that load makes from the config"):
                    model.save(path)
                setattr(part, attribute, value)
    model.save(path)


def other(value: Any) -> Any:
    return not value if isinstance(value, bool) else value * 2 + type(value)(1)


def test_another_activation_than_the_configs_is_refused(tmp_path: Path) -> None:
    model = made("GPT")
    model.layers[0].feed_forward.activation = "relu"
    with pytest.raises(
        ArgumentError, match=r"layers.0.feed_forward.activation is 'relu', and 'gelu' in a GPT that load"
    ):
        model.save(tmp_path / "m.safetensors")
