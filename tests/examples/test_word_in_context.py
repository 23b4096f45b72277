"""examples/word_in_context.py: the published cosines, and the command."""

from pathlib import Path

import numpy as np
import pytest

import word_in_context as example
from models import BertEncoder, WordPiece
from pretrained import load_encoder
from tests.examples.processes import command
from tests.pretrained import model_folder


@pytest.fixture(scope="module")
def loaded() -> tuple[BertEncoder, WordPiece]:
    return load_encoder(model_folder())


def test_the_cosines_of_flies(loaded: tuple[BertEncoder, WordPiece]) -> None:
    first, second = (example.read(*loaded, text, "flies") for text in example.SENTENCES)
    expected = [1, 0.98990, 0.98955, 0.98671, 0.98588, 0.98613, 0.91947]
    np.testing.assert_allclose(example.word_cosines(first, second), expected, rtol=0, atol=6e-6)
    assert [token for token, _ in example.neighbours(first, second)] == ["[CLS]", "time", "like", "[SEP]"]
    assert first.attention.shape == (6, 12, 7, 7)
    np.testing.assert_allclose(first.attention.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("word", "message"),
    [("humiliatingly", "must be one token of the vocabulary"), ("banana", "'banana' is not in 'time flies like an")],
)
def test_words_that_cannot_be_compared(loaded: tuple[BertEncoder, WordPiece], word: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        example.read(*loaded, example.SENTENCES[0], word)


@pytest.mark.thorough
@pytest.mark.usefixtures("loaded")
def test_the_command(tmp_path: Path) -> None:
    finished = command("word_in_context.py", "--quick", "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "flies             1.00000  0.98990  0.98955  0.98671  0.98588  0.98613  0.91947" in finished.stdout
    assert "flies, untrained" in finished.stdout
    assert "sentences: 100%" in finished.stderr
    assert (tmp_path / "out" / "word_in_context.png").stat().st_size > 10_000


def test_one_sentence_is_not_enough(tmp_path: Path) -> None:
    finished = command("word_in_context.py", "only one", cwd=tmp_path)
    assert finished.returncode == 2
    assert "give two sentences" in finished.stderr
