"""Model.save and Model.load: one file is the whole model, in a new process too, and what does not fit is one sentence."""

import os
import subprocess
import sys
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
    with pytest.raises(ArgumentError, match=r"notes has the name \d, and a file keeps texts only: write '\d'"):
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
