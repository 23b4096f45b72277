"""The examples that come from the articles, run as a user runs them; their numbers are held in tests/articles/."""

import re
from pathlib import Path

import pytest

import skip_gram
from tests.examples.processes import command

PICTURES = {
    "numpy_article.py": {"article_training.png", "article_attention.png", "numpy_article_step.py"},
    "skip_gram.py": {"skip_gram.png", "skip_gram.safetensors"},
    "position_codes.py": {
        "position_curves_32.png", "position_curves_512.png", "position_inner_products.png", "position_map.png",
        "position_products.png", "position_zigzag.png",
    },
    "residual_chains.py": {"residual_gradients.png", "residual_training.png"},
    "article_cases.py": {"article_cases.png"},
}  # fmt: skip
SAID = {
    "numpy_article.py": [
        "summed loss 1.3890099701139418",
        "[[0.46977806 0.53022194]\n [0.46352429 0.53647571]]",
        " [1.19280865e-03 9.98807191e-01]]",
        "0.46988985 with",
        "0.848886  0.848920",
        "where all tokens are alike: 0.0%",
        "statements: 27 by hand, ",
    ],
    "skip_gram.py": ["frequency of the neighbour alone", "unigram ", "co-occurrence counts"],
    "position_codes.py": ["p_1 = 0.8414709848078965, 0.5403023058681398", "15.313649189905", "without position codes"],
    "residual_chains.py": ["1020100", "0.010201", "the mean of y"],
    "article_cases.py": [
        "0.37754066879814546, 0.6224593312018546",
        "-6.437751649736401",
        "(printed: 0.67, 0.33, beside the score 0.7 as -0.7)",
        "base encoder layer: 3,152,384 parameters",
        "[50, 110] [110, 250]",
    ],
}
SPENDS_TIME = {"numpy_article.py", "skip_gram.py", "residual_chains.py"}  # and so shows a progress bar


@pytest.mark.sampled(5)
@pytest.mark.parametrize("script", PICTURES)
def test_a_quick_run_prints_its_numbers_and_writes_its_pictures(script: str, tmp_path: Path) -> None:
    done = command(script, "--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in SAID[script]:
        assert words in done.stdout
    assert ("epoch 1/" in done.stderr) == (script in SPENDS_TIME)
    assert ("pictures: 100%" in done.stderr) == (script == "position_codes.py")
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == PICTURES[script]
    for path in folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("script", PICTURES)
def test_help(script: str, tmp_path: Path) -> None:
    done = command(script, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--seed", "--device", "--quick"))


@pytest.mark.thorough
def test_skip_gram_on_a_text_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("der Hund bellt und die Katze schnurrt " * 60, encoding="utf-8")
    done = command("skip_gram.py", "--text", "my.txt", "--quick", "--words", "hund", "maus", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^hund +\w+ \w+", done.stdout, re.MULTILINE)
    assert "maus                is not among the 7 most frequent words" in done.stdout
    (tmp_path / "my.txt").unlink()  # the model's file has the words
    again = command(
        "skip_gram.py", "--checkpoint", "out/skip_gram.safetensors", "--words", "hund", "maus", cwd=tmp_path
    )
    assert again.returncode == 0, again.stderr
    (line,) = re.findall(r"^hund +[\w<> ]+", done.stdout, re.MULTILINE)
    assert line.startswith(again.stdout.splitlines()[0]) and again.stdout.count("\n") == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("content", "words"),
    [(b"too short", "100 is the least"), (b"\xff\xfe" * 500, "is no UTF-8 text"), (None, "No such file")],
)
def test_skip_gram_on_a_bad_text(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / "my.txt").write_bytes(content)
    done = command("skip_gram.py", "--text", "my.txt", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
def test_learned_models_beat_the_frequency_of_words(tmp_path: Path) -> None:
    done = command("skip_gram.py", cwd=tmp_path)
    table = dict(
        re.findall(r"  (skip-gram|frequency of the neighbour alone|bigram model|unigram) +([\d.]+)$", done.stdout, re.M)
    )
    assert float(table["skip-gram"]) < float(table["frequency of the neighbour alone"])
    assert float(table["bigram model"]) < 0.75 * float(table["unigram"])


def test_encode_keeps_the_frequent_words() -> None:
    vocabulary, ids = skip_gram.encode(list("babcba"), 3)
    assert vocabulary == ["<unknown>", "b", "a"]
    assert ids.tolist() == [1, 2, 1, 0, 1, 2]
