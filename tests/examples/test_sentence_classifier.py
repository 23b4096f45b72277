"""examples/sentence_classifier.py: the head, the curve over fewer labels, and the command, frozen and fine-tuned."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import sentence_classifier as example
from minigrad.serialize import CheckpointError, save_checkpoint
from models import BertConfig, BertEncoder, WordPiece
from tests.examples.processes import command
from tests.pretrained import model_folder
from text_data import TextDataset

WORDS = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "sea", "fire"], max_length=16)
TEXTS = ["red fire", "fire", "red", "blue sea", "sea", "blue"]
LABELS = np.array([0, 0, 0, 1, 1, 1])
DATA = TextDataset(TEXTS, LABELS, ["fire red red", "sea sea"], np.array([0, 1]), ["warm", "cold"])


def small_encoder() -> BertEncoder:
    config = BertConfig(vocab_size=8, d_model=16, num_heads=2, num_layers=1, hidden=32, max_positions=16)
    return BertEncoder(config, rng=np.random.default_rng(0)).eval()


def test_a_head_separates_what_can_be_separated_and_leaves_the_embeddings_alone() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    embeddings = rng.standard_normal((60, 32)).astype(np.float32) * 0.05
    embeddings[np.arange(60), labels] += 1
    before = embeddings.copy()
    head = example.train_head(embeddings, labels, 3, seed=0)
    assert (head(embeddings).numpy().argmax(-1) == labels).all()
    np.testing.assert_array_equal(embeddings, before)
    assert not head.training


def test_fine_tuning_trains_the_encoder_too_and_learns() -> None:
    encoder = small_encoder()
    classifier = example.SentenceClassifier(encoder, example.Head(16, 2, rng=np.random.default_rng(0)))
    before = encoder.state_dict()
    args = example.parse_arguments(["--epochs", "30", "--batch-size", "3", "--learning-rate", "0.01"])
    history = example.fine_tune(classifier, WORDS, DATA, args)
    assert len(history.losses) == 60
    assert history.metrics[-1]["accuracy"] == 1
    assert history.losses[-1] < 0.2 < history.losses[0]
    changed = {name for name, array in encoder.state_dict().items() if (array != before[name]).any()}
    assert changed == set(before)


def test_the_curve_begins_with_two_texts_a_class_and_ends_with_all() -> None:
    encoder = small_encoder()
    train, validation = (encoder.embed(texts, WORDS) for texts in (DATA.train_texts, DATA.validation_texts))
    curves = example.learning_curve(DATA, train, validation, example.parse_arguments([]))
    for points in curves.values():
        assert [count for count, _ in points] == [4, 6]
        assert all(0 <= accuracy <= 1 for _, accuracy in points)


def test_a_shortened_data_set_keeps_every_class() -> None:
    short = example.shortened(DATA, 1)
    assert short.train_texts == ["red fire", "blue sea"]
    assert short.validation_labels.tolist() == [0, 1]


@pytest.mark.thorough
def test_a_quick_run_prints_its_numbers_beside_the_baselines_and_draws(tmp_path: Path) -> None:
    model_folder()
    finished = command("sentence_classifier.py", "--quick", "--out", "out", "--text", "send an e-mail", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "32 training and 32 validation texts, 8 classes" in finished.stdout
    for name in ("frozen encoder, softmax classifier", "character 1-3-grams", "most frequent class       "):
        assert name in finished.stdout
    assert "'send an e-mail': internet" in finished.stdout
    assert "embedding: 100%" in finished.stderr
    assert (tmp_path / "out" / "sentence_classifier.png").stat().st_size > 10_000
    saved = tmp_path / "out" / "sentence_classifier.safetensors"
    assert saved.stat().st_size < 100_000  # the head alone
    loaded = command("sentence_classifier.py", "--load", str(saved), "--text", "send an e-mail", cwd=tmp_path)
    assert loaded.stdout == "'send an e-mail': internet\n"


@pytest.mark.thorough
def test_fine_tuning_the_real_encoder_on_a_users_own_texts(tmp_path: Path) -> None:
    model_folder()
    rows = [f"I {word} this film\t{label}" for label, words in (
        ("good", "love like adore enjoyed praise recommend admire cherish"),
        ("bad", "hate dislike detest loathe despise regret resent abhor"),
    ) for word in words.split()]  # fmt: skip
    (tmp_path / "my.tsv").write_text("\n".join(rows), encoding="utf-8")
    finished = command(
        "sentence_classifier.py", "--data", "my.tsv", "--fine-tune", "--epochs", "2", "--no-baselines",
        "--text", "what a wonderful story", "--text", "terrible, boring and far too long", cwd=tmp_path,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert "encoder fine-tuned end to end" in finished.stdout
    assert "'what a wonderful story': good" in finished.stdout
    assert "'terrible, boring and far too long': bad" in finished.stdout
    assert "epoch 2/2" in finished.stderr


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_saved_is_loaded(whole: bool, tmp_path: Path) -> None:
    head = example.train_head(small_encoder().embed(TEXTS, WORDS), LABELS, 2, seed=0)
    classifier = example.SentenceClassifier(small_encoder(), head)
    if whole:
        classifier.encoder.norm.bias.data = classifier.encoder.norm.bias.data + np.arange(16, dtype=np.float32)
    example.save(classifier, DATA.classes, tmp_path / "saved.safetensors", whole=whole)
    loaded, classes = example.load(tmp_path / "saved.safetensors", small_encoder())
    assert classes == ["warm", "cold"]
    expected = example.scores(classifier, WORDS, TEXTS)
    np.testing.assert_array_equal(example.scores(loaded, WORDS, TEXTS), expected)


@pytest.mark.parametrize("whole", [False, True])
def test_what_was_made_on_another_encoder_is_refused(whole: bool, tmp_path: Path) -> None:
    """Other weights of the same shapes, or another number of heads, give answers too, and wrong ones."""
    path, classifier = tmp_path / "saved.safetensors", example.SentenceClassifier(small_encoder(), head())
    example.save(classifier, ["a", "b"], path, whole=whole)
    other = small_encoder()
    other.norm.bias.data = other.norm.bias.data + np.float32(1)
    if whole:  # the weights come from the file
        assert example.load(path, other)[0].encoder.norm.bias.data[0] == classifier.encoder.norm.bias.data[0]
        other.config = dataclasses.replace(other.config, num_heads=1)
    with pytest.raises(CheckpointError, match=r"made on another encoder .*: give its --weights too"):
        example.load(path, other)


def head() -> example.Head:
    return example.Head(16, 2, rng=np.random.default_rng(0))


def test_what_is_no_checkpoint_of_this_example(tmp_path: Path) -> None:
    path = tmp_path / "saved.safetensors"
    save_checkpoint(path, {"x": np.ones(2)}, {"model": "Other"})
    with pytest.raises(CheckpointError, match="'model' is 'Other', not 'SentenceClassifier'"):
        example.load(path, small_encoder())
    other = example.SentenceClassifier(small_encoder(), example.Head(8, 2, rng=np.random.default_rng(0)))
    example.save(other, ["a", "b"], path, whole=False)
    with pytest.raises(CheckpointError, match=r"made on another encoder .*: give its --weights too"):
        example.load(path, small_encoder())


def test_loading_needs_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        example.parse_arguments(["--load", "x"])
    assert "--load needs a text to classify" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    model_folder()  # the example looks for the encoder's weights first
    finished = command("sentence_classifier.py", "--data", "my.tsv", cwd=tmp_path)
    assert finished.returncode == 1
    assert finished.stderr.startswith("error: cannot read my.tsv: No such file")
    assert len(finished.stderr.splitlines()) == 1
