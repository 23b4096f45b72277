"""examples/names_gpt.py: the data and its split, the n-grams, what is written, resuming, and bad input."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import names_gpt as example
import nn
from character_data import END, IGNORED, LONGEST_CONTEXT, Names, Text, Windows, decode, encode, ngram_losses
from minigrad.serialize import CheckpointError
from models import GPT, GPTConfig
from tests.examples.processes import command

PROSE = "The quick brown fox jumps over the lazy dog.\n" * 60


@pytest.fixture(scope="module")
def names() -> Names:
    return Names(0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prose.txt"
    path.write_text(PROSE, encoding="utf-8")
    return path


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second; the tests of the command see them."""
    for name in ("draw_loss", "draw_attention", "speed"):
        monkeypatch.setattr(example, name, lambda *arguments: None)


def small(vocab_size: int, window: int) -> GPT:
    config = GPTConfig(vocab_size, window, d_model=8, num_heads=2, num_layers=1)
    return GPT(config, rng=np.random.default_rng(0), dtype=np.float64).eval()


# --- the names ---


def test_the_names_are_fakers_english_ones_each_once_and_on_one_side_only(names: Names) -> None:
    from faker.providers.person.en import Provider

    assert sorted(names.train + names.test) == sorted({name.lower() for name in Provider.first_names})
    assert not set(names.train) & set(names.test)
    assert len(names.test) == (len(names.train) + len(names.test)) // 10 == 682
    assert names.alphabet[END] == "\n" and len(names.alphabet) == 27
    assert Names(1).test != names.test and Names(0).test == names.test
    assert len(Names(0, 50).train) == 45


def test_what_follows_each_letter_is_a_label_and_the_end_is_one_too(names: Names) -> None:
    ids, labels = names.held_out
    for row, following, name in zip(ids, labels, names.test, strict=True):
        assert decode(following[following != IGNORED], names.alphabet) == name + "\n"
        np.testing.assert_array_equal(row[1 : len(name) + 1], following[: len(name)])
        assert row[0] == END and (following[len(name) + 1 :] == IGNORED).all()
    assert (labels != IGNORED).sum() == sum(len(name) + 1 for name in names.test)
    assert ids.shape[1] == names.window == max(map(len, names.train + names.test)) + 1


def test_the_ngrams_are_tested_on_the_same_characters(names: Names) -> None:
    train, test = names.contexts()
    labels = names.held_out[1]
    np.testing.assert_array_equal(test[:, -1], labels[labels != IGNORED])
    assert len(train) == sum(len(name) + 1 for name in names.train)
    first = test[: len(names.test[0]) + 1]
    assert (first[0, :-1] == END).all()
    assert decode(first[-1], names.alphabet) == ("\n" * LONGEST_CONTEXT + names.test[0] + "\n")[-LONGEST_CONTEXT - 1 :]


def test_the_loss_of_the_model_is_the_mean_over_letters_and_ends(names: Names) -> None:
    model = small(27, names.window)
    short = Names(0, 300)
    total = count = 0.0
    for name in short.test:
        ids = np.array([END, *encode(name, short.alphabet)])
        logits = model(ids[None]).numpy()[0]
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        total -= log_p[np.arange(len(ids)), [*ids[1:], END]].sum()
        count += len(ids)
    assert example.held_out_loss(model, short, size=7) == pytest.approx(total / count, rel=1e-12)


# --- the text ---


def test_a_text_is_learned_from_at_its_beginning_and_tested_at_its_end(file: Path) -> None:
    text = Text(file, 16)
    assert decode([*text.train, *text.test], text.alphabet) == PROSE
    assert len(text.test) == len(PROSE) // 10
    assert len(Text(file, 16, 400).train) == 360


def test_each_held_out_character_counts_once_and_is_seen_with_half_a_window_before_it(file: Path) -> None:
    text = Text(file, 16)
    ids, labels = text.held_out
    counted = labels != IGNORED
    np.testing.assert_array_equal(labels[counted], text.test[: counted.sum()])
    assert len(text.test) - counted.sum() < 8
    assert (counted == (np.arange(16) >= 8)).all()
    np.testing.assert_array_equal(ids[:, 1:][counted[:, :-1]], labels[:, :-1][counted[:, :-1]])
    before = np.concatenate([text.train, text.test])
    np.testing.assert_array_equal(ids[0], before[len(text.train) - 9 : len(text.train) + 7])


def test_the_ngrams_see_the_text_through(file: Path) -> None:
    train, test = Text(file, 16).contexts()
    whole = encode(PROSE, "".join(sorted(set(PROSE))))
    np.testing.assert_array_equal(test[:, -1], whole[-len(PROSE) // 10 :][-len(test) :])
    np.testing.assert_array_equal(test[0], whole[len(whole) - len(test) - LONGEST_CONTEXT :][: LONGEST_CONTEXT + 1])
    assert len(train) == len(whole) - len(test) - LONGEST_CONTEXT


def test_windows_are_stretches_of_the_text_and_depend_on_seed_and_epoch_alone() -> None:
    ids = np.arange(1003)
    windows = Windows(ids, 10, 8, seed=3)
    epoch = list(windows.epoch(0))
    assert len(epoch) == len(windows) == 13
    inputs, labels = (np.concatenate(part) for part in zip(*epoch))
    np.testing.assert_array_equal(labels, inputs + 1)
    np.testing.assert_array_equal(inputs, inputs[:, :1] + np.arange(10))
    assert len(np.unique(inputs)) == inputs.size == 990  # nothing twice, and nearly everything
    again, other = (np.concatenate([x for x, _ in Windows(ids, 10, 8, seed=3).epoch(n)]) for n in (0, 1))
    np.testing.assert_array_equal(again, inputs)
    assert (other[:, 0] % 10 != inputs[:, 0] % 10).all()  # cut at other places
    assert max(labels.max() for n in range(30) for _, labels in windows.epoch(n)) <= 1002


# --- n-grams ---


def witten_bell(train: Any, context: tuple[int, ...], vocab_size: int) -> np.ndarray:
    """The distribution after a context, from the definition."""
    lower = witten_bell(train, context[1:], vocab_size) if context else np.full(vocab_size, 1 / vocab_size)
    n = len(context)
    followed = Counter(row[-1] for row in train.tolist() if tuple(row[-n - 1 : -1]) == context)
    if not followed:
        return lower
    counts = np.array([followed[i] for i in range(vocab_size)])
    return (counts + len(followed) * lower) / (counts.sum() + len(followed))


def test_ngram_losses_follow_the_definition_and_are_distributions() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.integers(0, 4, (40, 4)), rng.integers(0, 5, (25, 4))  # id 4 is never seen in training
    losses = ngram_losses(train, test, 5)
    assert len(losses) == 4
    for n, loss in enumerate(losses):
        tables = [witten_bell(train, tuple(row[-n - 1 : -1]), 5) for row in test.tolist()]
        assert all(table.sum() == pytest.approx(1) for table in tables)
        assert loss == pytest.approx(-np.mean([np.log(table[row[-1]]) for table, row in zip(tables, test)]))


def test_ngrams_of_many_characters_keep_to_what_64_bits_can_count() -> None:
    rows = np.random.default_rng(0).integers(0, 100_000, (50, 5))
    assert len(ngram_losses(rows, rows, 100_000)) == 3


def test_the_ngrams_of_the_names_are_strong_ones(names: Names) -> None:
    """So that what the GPT is compared with is no straw man: on this split 2.838, 2.417, 2.189, 2.055, 2.080."""
    losses = ngram_losses(*names.contexts(), 27)
    np.testing.assert_allclose(losses, [2.8380, 2.4171, 2.1893, 2.0549, 2.0802], atol=1e-4)


# --- the command ---


@pytest.mark.thorough
def test_quick_writes_names_a_checkpoint_and_pictures(tmp_path: Path) -> None:
    done = command("names_gpt.py", "--quick", "--layers", "1", "--out", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        "names_gpt.safetensors",
        "names_gpt_loss.png",
        "names_gpt_attention.png",
    }
    assert "540 names to learn from and 60 others" in done.stdout
    assert "epoch 2/2" in done.stderr
    numbers = dict(re.findall(r"(GPT|2-grams|3-grams|1-grams\)) +(\d\.\d{4})", done.stdout))
    assert numbers.keys() == {"GPT", "1-grams)", "2-grams", "3-grams"}
    assert float(numbers["GPT"]) < float(np.log(27))
    assert re.search(r"invented: [A-Z][a-z]*, ", done.stdout)
    assert re.search(r"writing 32 tokens: \d+ tokens per second with the key-value cache, \d+ without", done.stdout)


@pytest.mark.thorough
def test_a_text_is_learned_and_written(
    file: Path, tmp_path: Path, without_pictures: None, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--text", str(file), "--window", "16", "--d-model", "32", "--layers", "1", "--batch-size", "16"]
    fixed = [*options, "--out", str(tmp_path), "--prompt", "The quick", "--length", "30"]
    history = example.main([*fixed, "--epochs", "20", "--learning-rate", "0.02"])
    assert history is not None and history.metric("nats")[-1] < 0.3
    first = capsys.readouterr().out
    assert "--- written ---\nThe quick brown fox" in first
    file.unlink()  # the checkpoint is enough
    options = ["--checkpoint", "text_gpt.safetensors", "--prompt", "The quick", "--length", "30"]
    done = command("names_gpt.py", *options, cwd=tmp_path)
    assert done.stdout.split("---")[2] == first.split("---")[2], done.stderr


def test_names_are_written_from_the_checkpoint_alone(
    tmp_path: Path, without_pictures: None, capsys: pytest.CaptureFixture[str]
) -> None:
    example.main(["--quick", "--layers", "1", "--d-model", "16", "--no-baselines", "--out", str(tmp_path)])
    (invented,) = re.findall("invented:.*", capsys.readouterr().out)
    done = command("names_gpt.py", "--checkpoint", "names_gpt.safetensors", cwd=tmp_path)
    assert done.stdout == f"\n{invented}\n", done.stderr
    with pytest.raises(ValueError, match="the longest name has 12 letters"):
        example.main(["--checkpoint", str(tmp_path / "names_gpt.safetensors"), "--prompt", "a" * 13])


def test_resumed_training_gives_the_losses_of_training_in_one_go(tmp_path: Path, without_pictures: None) -> None:
    fixed = ["--quick", "--layers", "1", "--d-model", "16", "--no-baselines"]
    whole = example.main([*fixed, "--out", str(tmp_path / "a")])
    checkpoint = tmp_path / "b"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(example, "held_out_loss", interrupted)
        with pytest.raises(KeyboardInterrupt):
            example.main([*fixed, "--out", str(checkpoint)])
    resumed = example.main([*fixed, "--out", str(checkpoint), "--resume"])
    assert whole is not None and resumed is not None and resumed.losses == whole.losses


def test_a_text_gpt_goes_on_with_its_own_text_alphabet_and_seed_only(tmp_path: Path, without_pictures: None) -> None:
    def train(text: str, *options: str, seed: int = 0) -> None:
        path = tmp_path / "prose.txt"
        path.write_text(text, encoding="utf-8")
        example.main([
            "--text", str(path), "--window", "16", "--d-model", "16", "--layers", "1", "--no-baselines", "--epochs", "1",
            "--quick", "--length", "5", "--out", str(tmp_path), "--seed", str(seed), *options,
        ])  # fmt: skip

    train(PROSE)
    train(PROSE, "--resume")
    with pytest.raises(CheckpointError, match=r"'seed': 0\} there and \{'seed': 7\} here"):
        train(PROSE, "--resume", seed=7)
    with pytest.raises(CheckpointError, match="the content of the first batch"):
        train(PROSE.replace("quick brown fox", "brown quick fox"), "--resume")
    with pytest.raises(CheckpointError, match=r"the model's config is .*characters|the content of the first batch"):
        train(PROSE.replace("z", "é"), "--resume")  # as many characters, and another alphabet


def interrupted(*arguments: Any) -> float:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", "missing.txt"], "missing.txt"),
        (
            ["--prompt", "X Æ A-12"],
            r"' -12æ' are not among the 27 characters that the model knows, 'abcdefghij' and 17 more$",
        ),
        (["--prompt", "a" * 13], "the longest name has 12 letters, and --prompt 'aaaaaaaaaaaaa' has 13"),
        (["--top-p", "2"], r"top_p must be in \(0, 1\], got 2.0"),
        (["--temperature", "-1"], "temperature must be a number >= 0"),
        (["--heads", "5"], "num_heads=5"),
    ],
)
def test_what_a_user_can_mend_is_said_before_the_training(options: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, OSError), match=words):
        example.main([*options, "--out", str(tmp_path)])


def test_texts_that_cannot_be_learned_are_named(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("too short", encoding="utf-8")
    with pytest.raises(ValueError, match="has 9 characters, and a window of 16 needs at least 320"):
        Text(path, 16)
    path.write_bytes(b"caf\xe9" * 400)
    with pytest.raises(ValueError, match="is not UTF-8"):
        Text(path, 16)


def test_a_checkpoint_of_another_model_is_named(tmp_path: Path) -> None:
    nn.save_weights(nn.Affine(2, 2, rng=np.random.default_rng(0)), tmp_path / "affine.safetensors")
    done = command("names_gpt.py", "--checkpoint", "affine.safetensors", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: 'affine.safetensors' holds the model Affine, not GPT: load it with its own class\n"


@pytest.mark.thorough
def test_the_names_are_learned_below_2_15_nats_per_character(tmp_path: Path, without_pictures: None) -> None:
    history = example.main(["--epochs", "6", "--out", str(tmp_path)])
    assert history is not None and history.metric("nats")[-1] < 2.15
