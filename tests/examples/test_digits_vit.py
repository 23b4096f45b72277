"""examples/digits_vit.py: the split, the moved images, what is written, and that it learns."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import digits_vit as example
from digits_vit import Digits, MovedBatches, moved
from models import VisionTransformer, VisionTransformerConfig
from nn import Batches
from tests.examples.processes import command
from tests.lazy import Lazy

Image: Any = Lazy("PIL.Image")
WRITTEN = {"digits_vit.safetensors", "digits_vit_loss.png", "digits_vit_attention.png"}


@pytest.fixture(scope="module")
def digits() -> Digits:
    return Digits.load(0)


def test_the_split_is_stratified_fixed_by_its_seed_and_shares_no_image(digits: Digits) -> None:
    assert digits.train.shape == (1437, 8, 8) and digits.test.shape == (360, 8, 8)
    assert digits.train.dtype == digits.test.dtype == np.float32
    known, held_out = (np.bincount(labels) / len(labels) for labels in (digits.train_labels, digits.test_labels))
    np.testing.assert_allclose(known, held_out, atol=0.002)
    again, other = Digits.load(0), Digits.load(1)
    np.testing.assert_array_equal(again.test, digits.test)
    assert (other.test_labels != digits.test_labels).any()
    seen = {image.tobytes() for image in digits.train}
    assert not any(image.tobytes() in seen for image in digits.test)
    assert abs(digits.train.mean()) < 1e-5 and abs(digits.train.std() - 1) < 1e-5  # of the training part alone


def test_an_image_moves_down_and_to_the_right_by_parts_of_a_pixel() -> None:
    images = np.zeros((4, 3, 3), np.float32)
    images[:, 1, 1] = 1
    got = moved(images, np.array([[0, 0], [1, 0], [0, -0.25], [0.5, 0.5]]))
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got[0], images[0])
    np.testing.assert_array_equal(got[1], [[0, 0, 0], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(got[2], [[0, 0, 0], [0.25, 0.75, 0], [0, 0, 0]])
    np.testing.assert_array_equal(got[3], [[0, 0, 0], [0, 0.25, 0.25], [0, 0.25, 0.25]])
    np.testing.assert_array_equal(moved(np.ones((1, 4, 5), np.float32), np.array([[0.3, -0.9]])), np.ones((1, 4, 5)))


def test_moved_batches_are_those_batches_moved_and_depend_on_the_epoch_alone(digits: Digits) -> None:
    batches = Batches([digits.train[:100], digits.train_labels[:100]], 32, seed=4)
    still = MovedBatches(batches, 0.0)
    assert len(still) == 4
    for (images, labels), (plain, plain_labels) in zip(still.epoch(2), batches.epoch(2), strict=True):
        np.testing.assert_array_equal(images, plain)
        np.testing.assert_array_equal(labels, plain_labels)
    same = MovedBatches(Batches([np.tile(digits.train[:1], (64, 1, 1)), np.zeros(64, int)], 64, seed=4), 0.5)
    first, again, next_epoch = (next(iter(same.epoch(n)))[0] for n in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != next_epoch).any() and len(np.unique(first, axis=0)) == 64


def test_the_baselines_beat_guessing(digits: Digits) -> None:
    rows = dict(example.baselines(digits))
    assert rows["most frequent digit"] == pytest.approx(0.1, abs=0.01)
    assert all(0.94 < rows[name] < 1 for name in rows if name != "most frequent digit")
    assert len(rows) == 4


def test_class_attention_lies_over_the_patches(digits: Digits) -> None:
    config = VisionTransformerConfig(8, 2, 10, d_model=8, num_heads=2, num_layers=2)
    model = VisionTransformer(config, rng=np.random.default_rng(0)).eval()
    maps = example.class_attention(model, digits.test[:3])
    assert maps.shape == (3, 4, 4)
    weights = model.attention_weights(digits.test[:3])[1].numpy()
    np.testing.assert_allclose(maps[2, 1, 3], weights[2, :, 0, 1 + 1 * 4 + 3].mean(), rtol=1e-6)


@pytest.mark.thorough
def test_quick_writes_the_pictures_and_compares(tmp_path: Path) -> None:
    done = command("digits_vit.py", "--quick", "--out", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "made").iterdir()} == WRITTEN
    assert "320 training and 360 test images" in done.stdout and "epoch 2/2" in done.stderr
    asked = command("digits_vit.py", "--predict", written(tmp_path), "--out", "made", cwd=tmp_path)
    model = VisionTransformer.load(tmp_path / "made" / "digits_vit.safetensors")
    data = Digits.load(0)
    assert asked.stdout == f"{example.predictions(model, data.test[7:8]).item()}\n", asked.stderr
    numbers = re.findall(r"(Vision Transformer|support|nearest|logistic|frequent).* (\d\.\d{4})", done.stdout)
    assert [name for name, _ in numbers] == ["Vision Transformer", "support", "nearest", "logistic", "frequent"]


def written(folder: Path) -> str:
    """A test image as a PNG, in the grey levels of the data."""
    data = Digits.load(0)
    pixels = data.test[7] * data.scale["deviation"] + data.scale["mean"]
    Image.fromarray((pixels * 255 / 16).round().astype(np.uint8)).save(folder / "digit.png")
    return "digit.png"


def test_a_picture_is_scaled_like_the_data(digits: Digits, tmp_path: Path) -> None:
    got = example.picture(tmp_path / written(tmp_path), digits.scale)
    np.testing.assert_allclose(got[0], digits.test[7], atol=16 / 255 / digits.scale["deviation"])


@pytest.mark.parametrize(
    ("size", "words"), [((9, 8), "needs a picture of 8 x 8 pixels, and '.*' has 9 x 8"), (None, "is no picture that")]
)
def test_a_wrong_picture_is_named(size: Any, words: str, digits: Digits, tmp_path: Path) -> None:
    (path := tmp_path / "digit.png").write_text("no picture")
    if size is not None:
        Image.new("RGB", size).save(path)
    with pytest.raises(ValueError, match=words):
        example.picture(path, digits.scale)


def test_a_distance_beyond_a_pixel_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        example.parse_arguments(["--move", "1.5"])
    assert "--move must be from 0 to 1, got 1.5" in capsys.readouterr().err


@pytest.mark.thorough
def test_it_reads_97_of_100_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("draw_losses", "look"):
        monkeypatch.setattr(example, name, lambda *arguments: None)
    history = example.main(["--no-baselines", "--epochs", "30", "--out", str(tmp_path)])
    assert history is not None and history.metric("accuracy")[-1] >= 0.97
