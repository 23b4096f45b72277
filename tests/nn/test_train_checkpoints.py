"""fit and load_weights with the checkpoint of something else, or with none: said in words, and nothing is changed."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, MissingExtraError, Tensor
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from models import GPT, GPTConfig
from nn import Affine, Batches, Dropout, Module, fit, load_weights
from tests.nn.training import Net, X, Y, adamw, fail, loss, run, stopping, weights


class Wide(Net):
    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.output = Affine(8, 3, rng=np.random.default_rng(0))


Wide.__name__ = "Net"


class Config:
    def __init__(self, width: int) -> None:
        self.width = width

    def to_dict(self) -> dict[str, Any]:
        return {"width": self.width, "sizes": (1, 2)}


def configured(width: int) -> Module:
    model: Any = Net()
    model.config = Config(width)
    return model


def dropless() -> Module:
    model = Net()
    model.dropouts.pop()
    return model


class Silent:
    """Batches that do not tell what they depend on."""

    def __init__(self, seed: int) -> None:
        self.batches = Batches([X, Y], 4, seed=seed)

    def __len__(self) -> int:
        return len(self.batches)

    def epoch(self, n: int) -> Any:
        return self.batches.epoch(n)


def made(kind: Any, **settings: Any) -> dict[str, Any]:
    return {"make": lambda model: kind(model.parameters(), **settings)}


CASES: list[tuple[str, Any, str]] = [
    (
        "another model",
        {"model": lambda: Affine(4, 2, rng=np.random.default_rng(0))},
        "the model is 'Net' there and 'Affine'",
    ),
    ("another shape", {"model": Wide}, r"weights is .*'output.weight': 'float32 \(8, 2\)'.* there and .*\(8, 3\)"),
    ("another dtype", {"model": lambda: Net().astype(np.float64)}, "weights is .*float32 .* there and .*float64"),
    ("another config", {"model": lambda: configured(3)}, r"config is \{'width': 2\} there and \{'width': 3\} here"),
    (
        "other dropouts",
        {"model": dropless},
        r"it has the numbers \['dropouts.1.key', 'dropouts.1.step'\], and the model",
    ),
    ("another optimizer", made(nn.SGD, lr=0.05), "the optimizer is 'AdamW' there and 'SGD' here"),
    (
        "another setting",
        made(nn.AdamW, lr=0.05, betas=(0.9, 0.99)),
        r"betas of the optimizer is \[0.9, 0.999\] there and \[0.9, 0.99\] here",
    ),
    (
        "fewer parameters",
        {"make": lambda model: nn.AdamW(model.output.parameters(), lr=0.05)},
        "number of the optimizer's tensors is 5",
    ),
    ("another batch size", {"batches": Batches([X, Y], 8, seed=5)}, r"batches is .*'batch_size': 4.* there and"),
    ("another seed", {"batches": Batches([X, Y], 4, seed=6)}, r"batches is \{'seed': 5\} there and \{'seed': 6\} here"),
    ("other accumulation", {"accumulate": 1}, "accumulate is 2 there and 1 here; .* resume=False"),
    ("other clipping", {"clip_norm": 2.0}, "clip_norm is None there and 2.0 here"),
    ("other data", {"batches": Batches([X + 1, Y], 4, seed=5)}, "content of the first batch, by its SHA-256 is"),
    ("batches that say nothing", {"batches": Silent(6)}, "content of the first batch, by its SHA-256 is|batches is"),
    ("another learning rate", made(nn.AdamW, lr=0.1), "the learning rate is 0.05 there and 0.1 here"),
]


def state_of(model: Module, optimizer: nn.Optimizer) -> Any:
    dropouts = [module.step for module in model.modules() if isinstance(module, Dropout)]
    return weights(model), repr(optimizer.state_dict()), dropouts


@pytest.mark.parametrize(("name", "changes", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_checkpoint_of_another_run_raises_and_changes_nothing(
    name: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    def train(model: Any, make: Any = adamw, **options: Any) -> None:
        data = options.pop("batches", Batches([X, Y], 4, seed=5))
        settings: dict[str, Any] = {"epochs": 2, "accumulate": 2, "checkpoint": tmp_path, "progress": False} | options
        optimizer = make(model)
        before = state_of(model, optimizer)
        try:
            fit(model, data, loss, optimizer, **settings)
        except CheckpointError:
            assert state_of(model, optimizer) == before
            raise

    train(configured(2) if name == "another config" else Net())
    file = (tmp_path / "last.safetensors").read_bytes()
    model = changes.pop("model", Net)()
    with pytest.raises(CheckpointError, match=words) as raised:
        train(model, resume=True, **changes)
    assert str(raised.value).count("last.safetensors'") == 1
    assert (tmp_path / "last.safetensors").read_bytes() == file


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a safetensors file, or is truncated"),
        (b"no checkpoint" * 100, "is not a safetensors file, or is truncated"),
        (None, "is a checkpoint that fit did not write: its kind is None"),
    ],
)
def test_a_file_that_is_no_checkpoint_of_fit_raises(content: bytes | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "last.safetensors"
    if content is None:
        save_checkpoint(path, Net().state_dict(), {"model": "Net"})
    else:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        run(tmp_path)
    with pytest.raises(CheckpointError, match=words):
        load_weights(Net(), path)


def test_a_truncated_checkpoint_raises(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    path = tmp_path / "last.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="is truncated"):
        run(tmp_path)


def test_weights_of_another_model_raise(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    model = Wide()
    before = weights(model)
    with pytest.raises(CheckpointError, match=r"last.safetensors' does not fit: .*output.weight"):
        load_weights(model, tmp_path / "last.safetensors")
    assert weights(model) == before
    with pytest.raises(CheckpointError, match=r"no checkpoint at .*none.safetensors"):
        load_weights(model, tmp_path / "none.safetensors")


def test_batches_that_say_nothing_are_told_apart_by_what_they_give(tmp_path: Path) -> None:
    def train(seed: int) -> None:
        model = Net()
        fit(model, Silent(seed), loss, adamw(model), epochs=1, checkpoint=tmp_path, resume=True, progress=False)

    train(5)
    train(5)
    with pytest.raises(
        CheckpointError, match=r"the content of the first batch, by its SHA-256 is '[0-9a-f]{64}' there"
    ):
        train(6)


def test_another_schedule_is_allowed_and_said(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    with pytest.warns(
        UserWarning, match="step 4 had the learning rate 0.01, and the new schedule gives 0.02"
    ) as caught:
        run(tmp_path, epochs=2, schedule=lambda step: 0.02)
    assert Path(caught[0].filename).name == "training.py"  # the line that called fit


def test_weights_of_another_config_raise(tmp_path: Path) -> None:
    """Four heads and two have weights of the same shapes, and not the same answers."""

    def gpt(heads: int = 4, characters: str = "abc") -> GPT:
        config = GPTConfig(3, 4, d_model=8, num_heads=heads, num_layers=1, characters=characters)
        return GPT(config, rng=np.random.default_rng(heads))

    def train(model: GPT, **options: Any) -> None:
        def loss(model: GPT, batch: Any) -> Tensor:
            return nn.cross_entropy(model(batch[0]), batch[0])

        batches = Batches([np.arange(12).reshape(3, 4) % 3], 2, seed=0)
        fit(model, batches, loss, adamw(model), epochs=1, checkpoint=tmp_path, progress=False, **options)

    model = gpt()
    train(model)
    path = tmp_path / "last.safetensors"
    for other, words in (
        (gpt(2), r"\{'num_heads': 4\} there and \{'num_heads': 2\} here"),
        (gpt(4, "abd"), "'abc'.*'abd'"),
    ):
        before = weights(other)
        with pytest.raises(CheckpointError, match=words):
            load_weights(other, path)
        with pytest.raises(CheckpointError, match=words):
            train(other, resume=True)
        assert weights(other) == before
    same = gpt()
    load_weights(same, path)
    assert weights(same) == weights(model)


def test_a_training_state_of_another_format_is_refused_by_its_name(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    path = tmp_path / "last.safetensors"
    arrays, about = load_checkpoint(path)
    save_checkpoint(path, arrays, about | {"kind": "minigrad training state, version 2"})
    model = Net(1)
    before = weights(model)
    for use in (lambda: load_weights(model, path), lambda: run(tmp_path)):
        with pytest.raises(CheckpointError, match=r"its kind is 'minigrad .* version 2', not 'minigrad .* version 3'"):
            use()
    assert weights(model) == before


def test_a_run_that_lacks_a_setting_or_has_another_is_refused(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    path = tmp_path / "last.safetensors"
    arrays, about = load_checkpoint(path)
    for name in about["run"]:  # clip_value is None there, as if it were missing
        left = {key: value for key, value in about["run"].items() if key != name}
        save_checkpoint(path, arrays, about | {"run": left})
        with pytest.raises(CheckpointError, match="another run: the list of the run's settings is"):
            run(tmp_path)
    save_checkpoint(path, arrays, about | {"run": about["run"] | {"precision": "float16"}})
    with pytest.raises(CheckpointError, match=r"the list of the run's settings is .*'precision'.* there and"):
        run(tmp_path)


def test_a_config_that_lacks_a_setting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gpt.safetensors"
    model = GPT(GPTConfig(3, 4, d_model=8, num_layers=1), rng=np.random.default_rng(0))
    nn.save_weights(model, path)
    arrays, about = load_checkpoint(path)
    save_checkpoint(path, arrays, about | {"config": {k: v for k, v in about["config"].items() if k != "characters"}})
    with pytest.raises(
        CheckpointError, match=r"the model's config is \{'characters': None\} there and \{'characters': ''"
    ):
        load_weights(model, path)


def test_a_folder_that_cannot_be_made_is_found_before_training(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ArgumentError, match=r"checkpoint: '.*taken' must be a folder, and there is a file"):
        run(tmp_path / "taken", loss=stopping(loss, 0, fail))


def test_what_a_checkpoint_would_lack_is_found_before_training(tmp_path: Path) -> None:
    model, other = Net(), Affine(2, 2, rng=np.random.default_rng(0))
    optimizer = nn.SGD([*model.parameters(), *other.parameters()])
    data = Batches([X, Y], 4, seed=5)
    with pytest.raises(ArgumentError, match="the optimizer changes 2 tensors that are not the model's"):
        fit(model, data, loss, optimizer, epochs=1, checkpoint=tmp_path, progress=False)
    fit(model, data, loss, optimizer, epochs=1, progress=False)
    typed = configured(np.float32)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"config.to_dict\(\) goes into the checkpoint and must be JSON"):
        fit(typed, data, loss, adamw(typed), epochs=1, checkpoint=tmp_path, progress=False)


def test_checkpoints_need_safetensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(MissingExtraError, match=r"needs safetensors: pip install safetensors$"):
        run(tmp_path, loss=stopping(loss, 0, fail))
