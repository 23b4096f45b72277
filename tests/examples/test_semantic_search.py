"""examples/semantic_search.py: chunks, ranks, and the command on a folder and on its own questions."""

from pathlib import Path

import numpy as np
import pytest

import semantic_search as example
from models import WordPiece
from tests.examples.processes import command
from tests.pretrained import model_folder

LETTERS = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh", "##a"])


def test_chunks_are_whole_lines_of_at_most_so_many_tokens_and_end_at_a_blank_line_if_it_is_near() -> None:
    text = "a b c\nd e\n\nf g\n===\nh a b c d e f g h\n"
    assert list(example.chunks_of(text, LETTERS, 7)) == [(1, "a b c d e"), (4, "f g"), (6, "h a b c d"), (6, "e f g h")]
    assert list(example.chunks_of(text, LETTERS, 100)) == [(1, "a b c d e f g h a b c d e f g h")]
    assert list(example.chunks_of("a b\n\nc", LETTERS, 7)) == [(1, "a b c")]  # a short paragraph stays with the next
    assert list(example.chunks_of("", LETTERS, 7)) == []


def test_a_word_that_is_longer_than_a_chunk_is_left_out() -> None:
    assert list(example.chunks_of("b aaaaaaaaaa c", LETTERS, 7)) == [(1, "b c")]


@pytest.mark.parametrize("longest", [5, 16, 128])
def test_no_chunk_of_real_text_is_too_long_and_nothing_is_lost(longest: int) -> None:
    tokenizer = WordPiece.from_folder(model_folder())
    text = (Path(example.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    chunks = list(example.chunks_of(text, tokenizer, longest))
    assert max(len(tokenizer.encode(chunk)) for _, chunk in chunks) <= longest
    lines = text.splitlines()
    assert all(chunk.split()[0] in lines[line - 1] for line, chunk in chunks)
    if longest == 128:
        kept = " ".join(line for line in lines if any(map(str.isalnum, line)))
        assert " ".join(chunk for _, chunk in chunks).split() == kept.split()


def test_only_text_files_are_read_in_folders_too(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "one.txt").write_text("a b", encoding="utf-8")
    (tmp_path / "inner" / "two.MD").write_bytes(b"c \xff d")  # not UTF-8
    (tmp_path / "three.py").write_text("e", encoding="utf-8")
    chunks = example.read_folder(tmp_path, LETTERS)
    assert {(chunk.file, chunk.line) for chunk in chunks} == {(str(Path("inner") / "two.MD"), 1), ("one.txt", 1)}


def test_the_place_of_the_right_file_where_scores_are_equal_is_the_last_of_them() -> None:
    scores = np.array([[0.5, 0.2, 0.9], [0.0, 0.0, 0.0], [0.1, 0.3, 0.3]])
    assert example.ranks(scores, np.array([0, 1, 2])).tolist() == [2, 3, 2]


def test_the_score_of_a_file_is_that_of_its_best_chunk() -> None:
    chunks = [example.Chunk(file, 1, "") for file in ("x", "y", "x")]
    assert example.by_file(np.array([[1, 2, 3], [5, 4, 0]]), chunks, ["x", "y"]).tolist() == [[3, 2], [5, 4]]


def test_tfidf_knows_words_only() -> None:
    scores = example.tfidf_scores(["green apples", "verdant fruit"], ["apples are green", "blue sea"])
    assert scores[0, 0] > 0.9
    assert (scores[1] == 0).all()


@pytest.mark.thorough
def test_the_command_on_a_folder(tmp_path: Path) -> None:
    model_folder()
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "cooking.txt").write_text("Boil the potatoes, then fry them in butter.", encoding="utf-8")
    (notes / "sky.md").write_text("# Notes\n\nThe planets go round the sun.", encoding="utf-8")
    finished = command(
        "semantic_search.py", "notes", "--query", "astronomy", "--query", "recipes", "--top", "1", cwd=tmp_path
    )
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    assert (lines[0], lines[2]) == ("astronomy", "recipes")
    assert "sky.md:1  # Notes The planets" in lines[1]
    assert "cooking.txt:1" in lines[3]
    assert "embedding: 100%" in finished.stderr  # the progress bar


@pytest.mark.thorough
def test_a_quick_run_prints_its_numbers_beside_tfidf_and_draws(tmp_path: Path) -> None:
    model_folder()
    finished = command("semantic_search.py", "--quick", "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "3 questions in other words" in finished.stdout
    assert finished.stdout.count("TF-IDF") == 4
    assert (tmp_path / "out" / "semantic_search.png").stat().st_size > 10_000


@pytest.mark.thorough
def test_the_encoder_finds_what_is_asked_in_other_words(tmp_path: Path) -> None:
    model_folder()
    finished = command("semantic_search.py", "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    other = finished.stdout.partition("in other words")[2].splitlines()
    found, tfidf = (float(line.split()[-1]) for line in other[1:3])
    assert found >= 0.9
    assert tfidf < 0.6


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--query", "x"], "error: there is no folder 'nowhere': give one with .txt, .md, .rst files"),
        (["empty", "--query", "x"], "error: 'empty' has no text in .txt, .md, .rst files (0 of them): name another"),
        (["empty"], "a folder needs a question: --query"),
        (["empty", "--query", " "], "--query is empty"),
        (["--weights", "empty"], "error: there is no vocab.txt in 'empty'"),
    ],
)
def test_bad_input_is_a_clear_error(arguments: list[str], message: str, tmp_path: Path) -> None:
    model_folder()
    (tmp_path / "empty").mkdir()
    finished = command("semantic_search.py", *arguments, cwd=tmp_path)
    assert finished.returncode in (1, 2)
    assert message in finished.stderr
    assert "Traceback" not in finished.stderr
