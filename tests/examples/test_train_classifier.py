"""examples/train_classifier.py: that it learns, what it writes, that a checkpoint gives it back, and bad input."""

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import common
import nn
import text_classifier
import train_classifier as example
from baselines import Baselines
from minigrad.serialize import load_checkpoint, save_checkpoint
from models import ClassifierConfig
from text_classifier import MAX_TOKENS, Classifier, NgramEmbedding
from text_data import TextDataset, Vocabulary, load_tsv, pad

ROOT = Path(__file__).parents[2]
WRITTEN = {"classifier.safetensors", "loss.png", "attention.png", "graph.svg"}


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes told apart by one word, which stands at different places."""
    path = tmp_path_factory.mktemp("data") / "colours.tsv"
    lines = [
        f"{'big ' * (i % 3)}{word} {i}\t{label}" for i in range(60) for word, label in (("red", "x"), ("blue", "y"))
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second; the tests of the command see them."""
    for name in ("draw_losses", "look", "draw_graph"):
        monkeypatch.setattr(example, name, lambda *arguments: None)


@pytest.fixture
def train(colours: Path, tmp_path: Path, without_pictures: None) -> Callable[..., nn.History]:
    """Trains a small model on `colours`, in this process; `out` is `tmp_path/out`."""

    def run(*options: str) -> nn.History:
        fixed = ["--data", str(colours), "--out", str(tmp_path / "out"), "--d-model", "16", "--no-baselines"]
        return example.run(example.parse_arguments([*fixed, "--batch-size", "16", *options]))

    return run


@pytest.fixture(scope="module")
def classifier(colours: Path) -> Classifier:
    """Untrained."""
    data = load_tsv(colours)
    vocabulary = Vocabulary.from_texts(data.train_texts)
    config = ClassifierConfig(vocab_size=len(vocabulary), num_classes=2, d_model=8, num_heads=2)
    return Classifier.create(config, vocabulary, data.classes, np.random.default_rng(0))


def command(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """The example in a process of its own, which finds minigrad whether or not it is installed."""
    line = [sys.executable, str(ROOT / "examples" / "train_classifier.py"), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(line, capture_output=True, encoding="utf-8", cwd=cwd, env=environment)


# --- the command ---


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[tuple[Path, subprocess.CompletedProcess[str]]]":
    """What `--quick` on the default data wrote and said."""
    folder = tmp_path_factory.mktemp("quick")
    yield folder, command("--quick", "--no-baselines", cwd=folder)


def test_a_quick_run_reports_and_writes_its_files(quick: Any) -> None:
    folder, done = quick
    assert done.returncode == 0, done.stderr
    assert "640 training and 160 validation texts, 14 classes" in done.stdout
    assert re.search(r"trained in \d+ s, peak memory \d+ MB", done.stdout) or sys.platform == "win32"
    assert re.search(r"validation accuracy  Transformer +0\.\d{4}", done.stdout)
    assert re.search(r"epoch 1/1: 100%.*loss=", done.stderr)
    assert {path.name for path in folder.iterdir()} == {"out"}
    assert {path.name for path in (folder / "out").iterdir()} == WRITTEN


@pytest.mark.parametrize("name", ["loss.png", "attention.png"])
def test_the_pictures_are_png_of_a_readable_size(quick: Any, name: str) -> None:
    content = (quick[0] / "out" / name).read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert min(int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")) > 400


def test_the_graph_is_svg_with_layers_losses_and_gradients(quick: Any) -> None:
    root = ElementTree.parse(quick[0] / "out" / "graph.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    groups = [
        ["".join(text.itertext()) for text in group.iter("{http://www.w3.org/2000/svg}text")] for group in root[0]
    ]
    words = {"".join(texts).partition("(")[0] for texts in groups}
    assert {"embedding: NgramEmbedding", "layers.0: TransformerEncoderLayer", "loss cross_entropy"} <= words
    assert "grad 1" in {text for texts in groups for text in texts}  # of the loss by itself
    assert not any(text.startswith("grad -") for texts in groups for text in texts)


def test_the_checkpoint_says_what_it_holds(quick: Any) -> None:
    arrays, about = load_checkpoint(quick[0] / "out" / "classifier.safetensors")
    assert about["config"]["d_model"] == 64
    assert len(about["classes"]) == 14
    assert arrays["embedding.weight"].shape == (len(about["vocabulary"]["ngrams"]) + 2, 64)


def test_the_command_predicts_from_a_checkpoint(quick: Any) -> None:
    done = command("--predict", "grinning face", cwd=quick[0])
    assert (done.returncode, done.stderr) == (0, "")
    found = re.findall(r"^ *(\d+\.\d\d)%  ([a-z]{2})$", done.stdout, re.MULTILINE)
    percents = [float(percent) for percent, _ in found]
    assert len({label for _, label in found}) == 3
    assert percents == sorted(percents, reverse=True)
    assert percents[0] > 100 / 14
    assert sum(percents) <= 100.02


def test_an_error_is_one_line_and_a_failing_exit_status(tmp_path: Path) -> None:
    done = command("--predict", "grinning face", "--checkpoint", "none.safetensors", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: no checkpoint at 'none\.safetensors': write it first.*\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


# --- training ---


def test_it_learns_two_classes_that_are_easily_told_apart(train: Any, tmp_path: Path) -> None:
    history = train("--epochs", "12")
    assert history.metric("accuracy")[-1] == 1.0
    assert len(history.metrics) == 12
    assert len(history.losses) == 12 * math.ceil(2 * 51 / 16)
    assert history.losses[0] == pytest.approx(math.log(2), abs=0.5)
    assert np.mean(history.losses[-7:]) < 0.25 * history.losses[0]
    loaded = Classifier.load(tmp_path / "out" / "classifier.safetensors")
    assert loaded.probabilities(["a red one", "blue"]).argmax(axis=1).tolist() == [0, 1]


def test_a_device_learns_the_same(train: Any, cuda: str) -> None:
    expected = train("--epochs", "1")
    history = train("--epochs", "1", "--device", cuda)
    assert np.allclose(history.losses, expected.losses, rtol=1e-3)
    assert history.metrics == expected.metrics


def test_the_seed_decides_every_loss(train: Any, tmp_path: Path) -> None:
    first, again, other = (train("--epochs", "2", "--seed", seed) for seed in "112")
    assert first == again
    assert first.losses != other.losses
    weights = []
    for seed in "12":
        train("--epochs", "1", "--seed", seed, "--learning-rate", "0")  # leaves the initial weights
        weights.append(load_checkpoint(tmp_path / "out" / "classifier.safetensors")[0]["output.weight"])
    assert not np.array_equal(*weights)


def test_every_step_has_a_gradient_of_its_own_and_the_scheduled_rate(
    train: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    norms, rates = [], []
    clip, step = nn.clip_grad_norm, nn.AdamW.step

    def spy_on_clip(parameters: Any, max_norm: float) -> float:
        norms.append(float(clip(parameters, max_norm)))
        return norms[-1]

    def spy_on_step(self: Any) -> None:
        rates.append(self.lr)
        self.lr = 0  # so that every step sees the same weights
        step(self)

    monkeypatch.setattr(nn.training, "clip_grad_norm", spy_on_clip)
    monkeypatch.setattr(nn.AdamW, "step", spy_on_step)
    train("--epochs", "4", "--batch-size", "200", "--dropout", "0", "--learning-rate", "0.5")  # all data in each batch
    assert norms == pytest.approx([norms[0]] * 4, rel=1e-4)
    assert rates == [text_classifier.learning_rates(4, 0.5)(i) for i in range(4)]


def test_dropout_is_used_in_every_epoch_of_training_and_not_in_prediction(train: Any, tmp_path: Path) -> None:
    still = "--epochs", "4", "--batch-size", "200", "--learning-rate", "0"
    assert max(train(*still, "--dropout", "0").losses) == pytest.approx(min(train(*still, "--dropout", "0").losses))
    assert np.diff(sorted(train(*still, "--dropout", "0.5").losses)).min() > 1e-5
    loaded = Classifier.load(tmp_path / "out" / "classifier.safetensors")
    assert loaded.model.config.dropout == 0.5
    assert np.array_equal(loaded.probabilities(["red"]), loaded.probabilities(["red"]))


def test_the_accuracy_after_each_epoch_is_that_on_the_validation_texts(
    train: Any, colours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, answers = load_tsv(colours), iter((0.25, 0.75))

    def spy(classifier: Classifier, texts: list[str], labels: Any) -> float:
        assert texts == data.validation_texts
        assert np.array_equal(labels, data.validation_labels)
        return next(answers)

    monkeypatch.setattr(text_classifier, "accuracy", spy)
    assert train("--epochs", "2").metric("accuracy") == [0.25, 0.75]


def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero() -> None:
    rates = [text_classifier.learning_rates(100, peak=2.0)(step) for step in range(100)]
    assert rates[:6] == pytest.approx([0.4, 0.8, 1.2, 1.6, 2.0, 2.0])
    assert rates[5:] == sorted(rates[5:], reverse=True)
    assert rates[5 + 95 // 2] == pytest.approx(1.0, abs=0.02)  # half of it at the middle of the cosine
    assert 0 < rates[-1] < 0.002
    assert text_classifier.learning_rates(1, peak=2.0)(0) == 2.0


def test_a_token_is_the_sum_of_its_prefixes() -> None:
    vocabulary = Vocabulary(["a", "ab", "abc"])
    embedding = NgramEmbedding(vocabulary, 4, rng=np.random.default_rng(0))
    padding, unknown, a, ab, abc = embedding.weight.data
    expected = [a + ab + abc, a + ab + padding, a + 2 * padding, unknown + 2 * padding, 3 * padding]
    assert np.allclose(embedding(np.array([[4, 3, 2, 1, 0]])).numpy()[0], expected, rtol=1e-6)
    assert list(dict(embedding.named_parameters())) == ["weight"]


def test_a_quick_run_uses_a_part_of_each_side_of_the_split(colours: Path) -> None:
    data = load_tsv(colours)
    short = example.shortened(data, 20)
    assert (len(short.train_texts), len(short.validation_texts)) == (20, 5)
    full = dict(zip(data.train_texts, data.train_labels)), dict(zip(data.validation_texts, data.validation_labels))
    assert all(full[0][text] == label for text, label in zip(short.train_texts, short.train_labels))
    assert all(full[1][text] == label for text, label in zip(short.validation_texts, short.validation_labels))
    assert short.classes == data.classes


def test_the_accuracy_counts_right_answers_over_all_batches(classifier: Classifier) -> None:
    texts = [f"red {i}" for i in range(300)]
    wrong = np.arange(300) % 3 == 0
    labels = classifier.probabilities(texts).argmax(axis=1) ^ wrong
    assert text_classifier.accuracy(classifier, texts, labels) == 200 / 300


@pytest.mark.parametrize(("texts", "epochs"), [(50, 200), (64, 200), (65, 100), (1600, 8), (21_808, 8)])
def test_few_texts_are_seen_more_often(texts: int, epochs: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.default_epochs(texts, 64) == epochs
    said = capsys.readouterr().out
    assert said.startswith(f"{epochs} epochs of {-(-texts // 64)} update")
    assert ("updates only" in said) == (epochs > 8)


def test_an_epoch_of_one_step_says_so_in_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    example.default_epochs(50, 64)
    expected = "200 epochs of 1 update each, as 8 would be 8 updates only; --epochs sets another number\n"
    assert capsys.readouterr().out == expected


@pytest.mark.thorough
def test_fifty_sentences_at_the_default_settings_beat_the_most_frequent_class(tmp_path: Path) -> None:
    """With 8 updates they did not: the accuracy was that of the more frequent class."""
    good, bad = ("great film", "loved it", "a joy", "warm story"), ("dull film", "hated it", "a pain", "cold story")
    rests = ("the plot was long", "we saw it on monday", "in the city", "with my sister", "for two hours")
    rows = [f"{word}, {rest} {i}\t{label}" for label, words in (("good", good), ("bad", bad))
            for i, (word, rest) in enumerate((word, rest) for word in words for rest in rests)]  # fmt: skip
    more = [f"{rest}: {word}\t{label}" for label, words in (("good", good), ("bad", bad)) for word in words
            for rest in rests[:2]]  # fmt: skip
    (tmp_path / "few.tsv").write_text("\n".join(rows + more), encoding="utf-8")
    done = command("--data", "few.tsv", "--no-baselines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = re.search(r"Transformer +([\d.]+)", done.stdout)
    assert found and float(found[1]) > 0.8


# --- the report ---


def test_the_baselines_are_printed_beside_the_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    history = nn.History([0.1], [{"accuracy": 0.5}, {"accuracy": 0.75}])
    monkeypatch.setattr(example, "run_in_subprocess", lambda data, seed: Baselines(0.125, 0.875, 1.0))
    example.report(example.parse_arguments([]), history, 12.3)
    printed = capsys.readouterr().out
    assert "trained in 12 s" in printed
    assert re.search(r"Transformer +0\.7500\n.*1-3-grams, logistic +0\.8750\n +most frequent class +0\.1250\n", printed)

    monkeypatch.setattr(example, "run_in_subprocess", lambda data, seed: Baselines(0.125, None, None, "not there"))
    example.report(example.parse_arguments([]), history, 12.3)
    assert "not computed: not there" in capsys.readouterr().out


def test_the_models_own_accuracy_stands_there_before_the_baselines_are_computed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def look(data: Path, seed: int) -> Baselines:
        seen.append(capsys.readouterr().out)
        return Baselines(0.125, 0.875, 1.0)

    monkeypatch.setattr(example, "run_in_subprocess", look)
    example.report(example.parse_arguments([]), nn.History([0.1], [{"accuracy": 0.75}]), 1)
    assert re.search(r"^validation accuracy  Transformer +0\.7500\n$", seen[0], re.MULTILINE)
    columns = {line.rindex("0.") for line in (seen[0] + capsys.readouterr().out).splitlines() if " 0." in line}
    assert len(columns) == 1


def test_baselines_that_fail_do_not_hide_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(data: Path, seed: int) -> Baselines:
        raise RuntimeError("the baselines failed: out of memory")

    monkeypatch.setattr(example, "run_in_subprocess", fail)
    example.report(example.parse_arguments([]), nn.History([0.1], [{"accuracy": 0.75}]), 1)
    assert re.search(r"Transformer +0\.7500\n +the baselines failed: out of memory", capsys.readouterr().out)


@pytest.mark.parametrize("option", ["--quick", "--no-baselines"])
def test_the_baselines_can_be_left_out(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(example, "run_in_subprocess", lambda *arguments: calls.append(arguments))
    example.report(example.parse_arguments([option]), nn.History([0.1], [{"accuracy": 0.75}]), 1)
    assert calls == []


# --- checkpoints ---


def test_a_checkpoint_gives_the_same_probabilities(classifier: Classifier, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "classifier.safetensors"
    classifier.save(path)
    loaded = Classifier.load(path)
    texts = ["red 7", "BIG blue", "ελ", "a much longer text " * 9]
    assert np.array_equal(loaded.probabilities(texts), classifier.probabilities(texts))
    assert loaded.classes == classifier.classes
    assert loaded.model.config == classifier.model.config


def write_about(path: Path, classifier: Classifier, **changes: Any) -> None:
    """A checkpoint of `classifier` that says something else about itself; None leaves an entry out."""
    classifier.save(path)
    arrays, about = load_checkpoint(path)
    save_checkpoint(path, arrays, {name: value for name, value in (about | changes).items() if value is not None})


def damage(path: Path, classifier: Classifier, how: str) -> None:
    config = classifier.model.config.to_dict()
    match how:
        case "missing":
            pass
        case "a folder":
            path.mkdir()
        case "truncated":
            classifier.save(path)
            path.write_bytes(path.read_bytes()[:-100])
        case "empty":
            path.write_bytes(b"")
        case "a text":
            path.write_text("no checkpoint " * 100)
        case "foreign":
            from safetensors.numpy import save_file

            save_file({"weight": np.ones(3)}, path)
        case "another model":
            save_checkpoint(path, {"weight": np.ones(3)}, {"model": "Decoder"})
        case "no vocabulary":
            write_about(path, classifier, vocabulary=None)
        case "another vocabulary":
            write_about(path, classifier, vocabulary={"characters": ["a"]})
        case "another size":
            write_about(path, classifier, config=config | {"d_model": 16})
        case "an unknown setting":
            write_about(path, classifier, config=config | {"bias": False})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("missing", "no checkpoint at '{path}': write it first"),
        ("a folder", "no checkpoint at '{path}'"),
        ("truncated", "'{path}' is not a safetensors file, or is truncated"),
        ("empty", "'{path}' is not a safetensors file, or is truncated"),
        ("a text", "'{path}' is not a safetensors file, or is truncated"),
        ("foreign", "'{path}' is a safetensors file, but not a checkpoint of minigrad"),
        ("another model", "'{path}': 'model' is 'Decoder', not 'TransformerClassifier on n-grams'"),
        ("no vocabulary", "'{path}' has no 'vocabulary'"),
        ("another vocabulary", "'{path}': 'vocabulary' has no 'ngrams'"),
        ("another size", "'{path}' is damaged, or of another version"),
        ("an unknown setting", "'{path}' is damaged, or of another version"),
    ],
)
def test_what_is_no_checkpoint_of_this_example_is_a_clear_error(
    how: str, message: str, classifier: Classifier, tmp_path: Path, fails: Callable[..., str]
) -> None:
    path = tmp_path / "given.safetensors"
    damage(path, classifier, how)
    assert message.format(path=path) in fails("--predict", "red", "--checkpoint", str(path))


# --- bad input ---


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Runs main() in `tmp_path` and gives the one line it exits with."""

    def run(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["train_classifier.py", *arguments])
        with pytest.raises(SystemExit) as caught:
            common.run(example.main)
        message = caught.value.code
        assert isinstance(message, str)  # so Python prints it and exits with status 1
        assert message.startswith("error: ")
        assert "\n" not in message
        return message

    return run


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "data.tsv is empty: each line must be a text, one TAB and a label"),
        ("red\nblue\n", "data.tsv has no labels, as no line (of 2) has a TAB"),
        ("red\tx\nblue\tx\n", "all 2 texts have the label 'x'; add texts of a second class"),
        (None, "cannot read data.tsv: No such file"),
    ],
)
def test_bad_data_is_a_clear_error_and_nothing_is_written(
    content: str | None, message: str, tmp_path: Path, fails: Callable[..., str]
) -> None:
    if content is not None:
        (tmp_path / "data.tsv").write_text(content)
    assert message in fails("--data", "data.tsv")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--d-model", "6"], "num_heads=4 does not divide d_model=6"),
        (["--d-model", "0"], "must be a positive integer, got 0"),
        (["--dropout", "1.5"], "must be in [0, 1), got 1.5"),
        (["--learning-rate", "-1"], "lr must be a number >= 0, got -1.0"),
    ],
)
def test_a_setting_out_of_range_is_a_clear_error(
    options: list[str], message: str, colours: Path, fails: Callable[..., str]
) -> None:
    assert message in fails("--data", str(colours), *options)


@pytest.mark.parametrize("option", ["--epochs 0", "--batch-size 0", "--seed -1"])
def test_a_count_out_of_range_is_refused_with_the_usage(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        example.parse_arguments(option.split())
    assert caught.value.code == 2
    name, value = option.split()
    assert re.search(rf"error: argument {name}: must be at least [01], got {value}", capsys.readouterr().err)


def test_a_package_that_is_not_installed_is_named(fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "emoji", None)
    assert "the default data set needs emoji: pip install emoji" in fails()


def test_a_folder_that_cannot_be_made_is_found_before_training(
    colours: Path, tmp_path: Path, fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "train", None)
    (tmp_path / "taken").write_text("")
    assert "--out 'taken' cannot be made (File exists): name another folder" in fails(
        "--data", str(colours), "--out", "taken"
    )


# --- prediction ---


@pytest.fixture
def saved(classifier: Classifier, tmp_path: Path) -> Path:
    path = tmp_path / "classifier.safetensors"
    classifier.save(path)
    return path


@pytest.mark.parametrize("text", ["", " \n"])
def test_there_must_be_a_text_to_predict(text: str, saved: Path, fails: Callable[..., str]) -> None:
    assert "--predict needs a text of at least one character" in fails("--predict", text, "--checkpoint", str(saved))


def test_unknown_characters_are_counted(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example.predict(saved, "red ☃犬")
    printed = capsys.readouterr()
    assert printed.err == "note: 2 of 6 characters are unknown to this model\n"
    assert len(printed.out.splitlines()) == 2  # as many as there are classes


def test_a_long_text_counts_as_its_beginning(
    saved: Path, classifier: Classifier, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "big red " * 20
    example.predict(saved, text)
    assert capsys.readouterr().err == f"note: only the first {MAX_TOKENS - 1} of 159 characters count\n"
    # One at a time: of two rows of one batch a product may round the last bit differently.
    probabilities = [classifier.probabilities([given])[0] for given in (text, text + "blue" * 50)]
    assert np.array_equal(probabilities[0], probabilities[1])


@pytest.mark.usefixtures("without_pictures")
def test_texts_that_are_cut_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longest = MAX_TOKENS - 1
    lines = [f"{letter * length}{i}\t{letter}" for letter in "ab" for i, length in enumerate((3, longest - 1, longest))]
    path = tmp_path / "data.tsv"
    path.write_text("\n".join(lines))
    example.run(example.parse_arguments(["--data", str(path), "--out", str(tmp_path), "--quick", "--d-model", "8"]))
    assert f"note: longer than {longest} characters, and cut there: 2\n" in capsys.readouterr().out


def test_other_texts_of_the_batch_change_nothing(classifier: Classifier) -> None:
    texts = ["red", "a rather long text about blue", "b"]
    together = classifier.probabilities(texts)
    assert together.shape == (3, 2)
    assert np.allclose(together.sum(axis=1), 1)
    for text, row in zip(texts, together):
        assert np.allclose(classifier.probabilities([text])[0], row, atol=1e-6)


# --- pictures ---


def test_the_attention_picture_shows_the_characters_of_a_text_of_each_class(
    classifier: Classifier, colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(
        example, "draw_maps", lambda rows, path, captions, **labels: drawn.extend(zip(captions, rows, strict=True))
    )
    data = load_tsv(colours)
    example.look(classifier, data, tmp_path / "attention.png")
    assert len(drawn) == 2
    label = dict(zip(data.validation_texts, data.validation_labels))
    for caption, heads in drawn:
        assert len(heads) == 2
        for head in heads:
            text = "".join(head.queries).strip()
            assert caption.startswith(f"“{text}”: class {data.classes[label[text]]}, predicted ")
            assert head.keys == head.queries
            assert head.weights.shape == (len(head.queries), len(head.keys))
            assert np.allclose(head.weights.sum(axis=-1), 1, atol=1e-6)
    assert {caption[-1] for caption, _ in drawn} <= {"x", "y"}


@pytest.mark.usefixtures("own_fonts_only")
def test_an_attention_picture_of_texts_that_no_font_can_draw(
    classifier: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = np.array([0, 1])
    data = TextDataset(["赤", "青い"], labels, ["赤", "青い"], labels, ["x", "y"])
    example.look(classifier, data, tmp_path / "attention.png")
    assert (tmp_path / "attention.png").exists()
    assert "no installed font has 赤" in capsys.readouterr().err


def test_an_empty_text_has_one_token_so_that_it_can_be_averaged(classifier: Classifier) -> None:
    ids, mask = pad(classifier.encode([""]))
    assert ids.shape == (1, 1)
    assert mask.all()
