"""Every example with --device cuda: the same losses on the fake device as on the host, and one sentence without CuPy."""

import importlib
import importlib.util
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import common
from minigrad.device import to_device
from models import BertConfig, BertEncoder, WordPiece
from nn.data import EpochBatches
from nn.training import Training
from tests import fake_cupy, fake_device
from tests.examples.processes import ROOT, command

SMALL: dict[str, str] = {
    "article_cases": "",
    "attention_gallery": "",
    "digits_cnn": "--no-baselines --epochs 1",
    "digits_vit": "--no-baselines --epochs 1",
    "greedy_decoding": "",
    "names_gpt": "--no-baselines --epochs 1 --d-model 8",
    "numpy_article": "",
    "position_codes": "",
    "residual_chains": "",
    "rnn_attention": "--epochs 1 --hidden 8 --strings 128",
    "semantic_search": "",
    "sentence_classifier": "--no-baselines --fine-tune --epochs 1",
    "skip_gram": "--epochs 1 --vocab-size 50",
    "train_classifier": "--no-baselines --epochs 1 --d-model 8",
    "translate_dates": "--epochs 1 --dates 256 --d-model 16",
    "watch_training": "--epochs 1",
    "word_in_context": "",
}
LONG = {"digits_cnn", "digits_vit", "rnn_attention", "translate_dates", "watch_training"}
EXAMPLES = [pytest.param(name, marks=pytest.mark.thorough if name in LONG else ()) for name in SMALL]


class FirstFew:
    """Enough of the batches to see that all is there; after more of them rounding makes losses differ."""

    def __init__(self, batches: EpochBatches) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return min(5, len(self.batches))

    def epoch(self, n: int) -> Iterator[Any]:
        return itertools.islice(self.batches.epoch(n), 5)


def small_encoder(folder: Path | None = None, *, seed: int = 0, device: str = "cpu") -> tuple[BertEncoder, WordPiece]:
    """In place of the pretrained one: it spells."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "flies", *letters, *(f"##{letter}" for letter in letters)]
    config = BertConfig(len(words), d_model=8, num_heads=2, num_layers=1, hidden=16)
    return BertEncoder(config, rng=np.random.default_rng(seed)).eval().to(device), WordPiece(words)


def losses(name: str, device: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Of the first steps of all that `nn.fit` trains in a quick run."""
    found: list[float] = []
    train = Training.run

    def spy(run: Training) -> Any:
        run.batches, run.epochs = FirstFew(run.batches), 1
        history = train(run)
        found.extend(history.losses)
        return history

    line = [name, "--quick", "--device", device, *SMALL[name].split()]
    module: Any = importlib.import_module(name)
    with monkeypatch.context() as patch:
        patch.setattr(Training, "run", spy)
        if hasattr(module, "load_encoder"):
            patch.setattr(module, "load_encoder", small_encoder)
        patch.setattr(sys, "argv", [*line, "--out", str(out)] if has_out(name) else line)
        module.main()
    return found


def is_fake(device: str) -> bool:
    return isinstance(to_device(np.zeros(1), device), fake_device.FakeArray)


def has_out(name: str) -> bool:
    return "out=None" not in (ROOT / "examples" / f"{name}.py").read_text("utf-8")


@pytest.mark.sampled(20)
@pytest.mark.usefixtures("own_fonts_only")  # their pictures have Japanese words, too
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_device_gives_the_losses_of_the_host(
    name: str, cuda: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = losses(name, "cpu", tmp_path / "cpu", monkeypatch)
    fetched = len(fake_device.host_syncs)
    got = losses(name, cuda, tmp_path / "cuda", monkeypatch)
    if is_fake(cuda):
        assert len(fake_device.host_syncs) > fetched, "nothing was computed there"
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)
    capsys.readouterr()


def test_every_example_with_the_option_is_in_the_list() -> None:
    scripts = {path.stem: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
    with_option = {name for name, text in scripts.items() if "argument_parser(" in text and "device=False" not in text}
    assert with_option - {"common"} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_without_cupy_it_ends_with_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.chdir(tmp_path)
    module: Any = importlib.import_module(name)
    monkeypatch.setattr(sys, "argv", [name, "--device", "cuda"])
    with pytest.raises(SystemExit) as caught:
        common.run(module.main)
    assert caught.value.code == "error: device='cuda' needs cupy: pip install \"cupy-cuda12x[ctk]\""
    assert list(tmp_path.iterdir()) == []  # it was found before anything was done


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="there is a CuPy")
def test_the_exit_status_is_1(tmp_path: Path) -> None:
    done = command("position_codes.py", "--device", "cuda", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: device='cuda' needs cupy: pip install \"cupy-cuda12x[ctk]\"\n"


def test_without_a_gpu_it_ends_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(broken=fake_cupy.NO_GPU))
    parser = common.argument_parser(None, quick="nothing")
    run = SimpleNamespace(main=lambda: parser.parse_args(["--device", "cuda"]))
    with pytest.raises(SystemExit) as caught:
        common.run(run.main)
    assert "cannot be used (cudaErrorNoDevice" in str(caught.value.code)
    assert "no NVIDIA GPU" in str(caught.value.code) and "\n" not in str(caught.value.code)
