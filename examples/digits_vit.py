"""Read handwritten digits with a Vision Transformer, and draw where it looks.

    python examples/digits_vit.py
    python examples/digits_vit.py --predict seven.png       # a grey picture of 8 x 8 pixels, light on dark

The data are scikit-learn's digits: 1,797 grey images of 8 x 8 pixels. A fifth, with as many of each digit, is the test; the
split depends on --seed alone. An image is a sequence of 16 patches of 2 x 2 pixels and a class token. In training each image
is moved by a random part of a pixel, in each epoch by another: 1,437 images are few for a network that knows nothing of
neighbourhood.

Written to `out/`: digits_vit.safetensors (the whole model, which --predict needs), digits_vit_loss.png and
digits_vit_attention.png (what the class token looks at, over the image).
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nn
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table, trained_in
from minigrad import Tensor, no_grad
from minigrad.errors import import_extra
from models import VisionTransformer, VisionTransformerConfig
from pictures import draw_losses

Images = NDArray[np.float32]


@dataclass(frozen=True)
class Digits:
    """Images (n, 8, 8), with mean 0 and deviation 1 over the training part, and labels (n,).

    `scale` has the mean and the deviation of the pixels, 0 to 16, which a model needs beside its weights.
    """

    train: Images
    train_labels: NDArray[np.int64]
    test: Images
    test_labels: NDArray[np.int64]
    scale: dict[str, float]

    @classmethod
    def load(cls, seed: int, count: int | None = None) -> Digits:
        """The split of this seed; with `count`, only so many training images.

        Raises:
            MissingExtraError: scikit-learn is not installed.
        """
        datasets = import_extra("sklearn.datasets", "examples", "the data set of digits")
        selection = import_extra("sklearn.model_selection", "examples", "the split")
        images, labels = datasets.load_digits(return_X_y=True)
        train, test, train_labels, test_labels = selection.train_test_split(
            images.reshape(-1, 8, 8), labels, test_size=0.2, stratify=labels, random_state=seed
        )
        scale = {"mean": float(train.mean()), "deviation": float(train.std())}
        train, test = (scaled(part, **scale) for part in (train, test))
        return cls(train[:count], train_labels[:count], test, test_labels, scale)


def scaled(pixels: Any, mean: float, deviation: float) -> Images:
    images: Images = ((pixels - mean) / deviation).astype(np.float32)
    return images


class MovedBatches:
    """Batches whose images are moved a little, in each epoch by other distances: for `nn.fit`."""

    def __init__(self, batches: nn.Batches, reach: float) -> None:
        self.batches, self.reach = batches, reach

    def __len__(self) -> int:
        return len(self.batches)

    def epoch(self, n: int) -> Iterator[tuple[Images, NDArray[np.int64]]]:
        rng = np.random.default_rng([self.batches.seed, n, 1])  # a stream apart from that of the order
        for images, labels in self.batches.epoch(n):
            yield moved(images, rng.uniform(-self.reach, self.reach, (len(images), 2))), labels


def moved(images: Images, distances: Any) -> Images:
    """Images moved down and to the right by a part of a pixel, from -1 to 1: (n, h, w), (n, 2) -> (n, h, w).

    A pixel becomes a mixture of itself and its neighbour; beyond the edge the edge goes on.
    """
    for axis in (1, 2):
        d = distances[:, axis - 1, None, None].astype(images.dtype)
        before = np.concatenate([images.take([0], axis), images.take(range(images.shape[axis] - 1), axis)], axis)
        after = np.concatenate([images.take(range(1, images.shape[axis]), axis), images.take([-1], axis)], axis)
        images = (1 - np.abs(d)) * images + np.maximum(d, 0) * before + np.maximum(-d, 0) * after
    return images


def loss(model: VisionTransformer, batch: tuple[Any, Any]) -> Tensor:
    images, labels = batch
    return nn.cross_entropy(model(beside(model, images)), labels, label_smoothing=0.1)


def train(model: VisionTransformer, data: Digits, args: argparse.Namespace, checkpoint: Path) -> nn.History:
    batches = MovedBatches(nn.Batches([data.train, data.train_labels], args.batch_size, seed=args.seed), args.move)
    steps = args.epochs * len(batches)
    return nn.fit(
        model,
        batches,
        loss,
        nn.AdamW(model.parameters(), weight_decay=0.05),
        epochs=args.epochs,
        schedule=nn.cosine_schedule(args.learning_rate, steps, warmup=steps // 20),
        clip_norm=1.0,
        validate=lambda _: {"accuracy": accuracy(predictions(model, data.test), data.test_labels)},
        checkpoint=checkpoint,
    )


def beside(model: VisionTransformer, images: Images) -> Any:
    """The images as an array where the model is."""
    return np.asarray(images, like=model.output.weight.data)


def predictions(model: VisionTransformer, images: Images) -> NDArray[np.int64]:
    """(n,)"""
    with no_grad():
        answers: NDArray[np.int64] = model(beside(model, images)).numpy().argmax(axis=-1)
    return answers


def picture(path: Path, scale: dict[str, float]) -> Images:
    """A picture file as an image of the data: (1, 8, 8).

    Raises:
        ValueError: it is no picture of 8 x 8 pixels.
    """
    try:
        pixels = pyplot().imread(path)
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"--predict '{path}' is no picture that can be read: {error}") from error
    pixels = pixels if pixels.ndim == 2 else pixels[:, :, :3].mean(axis=-1)
    if pixels.shape != (8, 8):
        raise ValueError(
            f"--predict needs a picture of 8 x 8 pixels, and '{path}' has {pixels.shape[1]} x {len(pixels)}"
        )
    return scaled(16.0 * pixels[None] / (255 if pixels.dtype.kind == "u" else 1), **scale)


def accuracy(answers: Any, labels: Any) -> float:
    return float(np.mean(answers == labels))


def baselines(data: Digits) -> list[tuple[str, float]]:
    """What simpler methods make of the same images."""
    purpose = "the comparison with simpler methods"
    svm, neighbors, linear = (
        import_extra(f"sklearn.{name}", "examples", purpose) for name in ("svm", "neighbors", "linear_model")
    )
    methods = [
        ("support vectors, Gaussian kernel", svm.SVC()),
        ("nearest training image", neighbors.KNeighborsClassifier(1)),
        ("logistic regression on the pixels", linear.LogisticRegression(max_iter=2000)),
    ]
    train, test = (images.reshape(len(images), -1) for images in (data.train, data.test))
    rows = [(name, method.fit(train, data.train_labels).score(test, data.test_labels)) for name, method in methods]
    most_frequent = np.bincount(data.train_labels).argmax()
    return [*rows, ("most frequent digit", accuracy(most_frequent, data.test_labels))]


# Drawing


def look(model: VisionTransformer, data: Digits, path: Path) -> None:
    """Where the class token looks in the last layer, over one test image of each digit; and up to 4 wrong answers.

    It is the mean over the heads: the bluer the image, the less is looked there.
    """
    answers = predictions(model, data.test)
    right = [np.flatnonzero((data.test_labels == digit) & (answers == digit)) for digit in range(10)]
    chosen = [places[0] for places in right if len(places)] + list(np.flatnonzero(answers != data.test_labels)[:4])
    maps = class_attention(model, data.test[chosen])
    plt = pyplot()
    figure, axes = plt.subplots(2, len(chosen), figsize=(1.1 * len(chosen), 2.9), squeeze=False, layout="constrained")
    for ax in axes.flat:
        ax.axis("off")
    shown = None
    for column, i in enumerate(chosen):
        wrong = answers[i] != data.test_labels[i]
        above, below = axes[:, column]
        above.imshow(data.test[i], cmap="gray")
        above.set_title(
            f"{data.test_labels[i]} as {answers[i]}" if wrong else str(answers[i]),
            color="red" if wrong else "black",
            fontsize=9,
        )
        below.imshow(data.test[i], cmap="gray")
        shown = below.imshow(
            maps[column], cmap="viridis", alpha=0.65, extent=(-0.5, 7.5, 7.5, -0.5), vmin=0, vmax=maps.max()
        )
    figure.colorbar(shown, ax=axes, label="attention of the class token")
    save_figure(figure, path)


def class_attention(model: VisionTransformer, images: Images) -> NDArray[np.float32]:
    """What the class token gives each patch in the last layer, mean of the heads: (n, rows, columns)."""
    with no_grad():
        weights = model.attention_weights(beside(model, images))[-1].numpy()  # (n, heads, 1 + patches, 1 + patches)
    side = model.config.image_size // model.config.patch_size
    return weights[:, :, 0, 1:].mean(axis=1).reshape(-1, side, side)


def predicting(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("--predict", type=Path, metavar="PICTURE", help="only read this picture, with --checkpoint")
    parser.add_argument("--checkpoint", type=Path, help=f"for --predict (default: {name}.safetensors in --out)")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="2 epochs on 320 images", baselines="the simpler methods")
    predicting(parser, "digits_vit")
    parser.add_argument("--epochs", type=at_least(1), default=60, help="passes over the images (default: 60)")
    parser.add_argument("--patch", type=int, choices=(1, 2, 4), default=2, help="its height and width (default: 2)")
    parser.add_argument("--d-model", type=at_least(1), default=48, help="width, a multiple of --heads (default: 48)")
    parser.add_argument("--heads", type=at_least(1), default=4, help="(default: 4)")
    parser.add_argument("--layers", type=at_least(1), default=2, help="(default: 2)")
    parser.add_argument("--dropout", type=float, default=0.1, help="(default: 0.1)")
    parser.add_argument("--move", type=float, default=0.5, help="by at most this part of a pixel (default: 0.5)")
    parser.add_argument("--batch-size", type=at_least(1), default=64, help="images (default: 64)")
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="at its peak (default: 0.002)")
    args = parser.parse_args(arguments)
    if not 0 <= args.move <= 1:
        parser.error(f"--move must be from 0 to 1, got {args.move}")
    if args.quick:
        args.epochs = min(args.epochs, 2)
    return args


def main(arguments: list[str] | None = None) -> nn.History | None:
    args = parse_arguments(arguments)
    if args.predict:
        model = VisionTransformer.load(args.checkpoint or args.out / "digits_vit.safetensors")
        print(predictions(model, picture(args.predict, model.config.notes)).item())
        return None
    out = make_folder(args.out)
    data = Digits.load(args.seed, 320 if args.quick else None)
    config = VisionTransformerConfig(
        image_size=8,
        patch_size=args.patch,
        num_classes=10,
        d_model=args.d_model,
        num_heads=args.heads,
        num_layers=args.layers,
        dropout=args.dropout,
        notes=data.scale,
    )
    model = VisionTransformer(config, rng=np.random.default_rng(args.seed)).to(args.device)
    print(f"{len(data.train):,} training and {len(data.test)} test images; {model.num_parameters:,} parameters")
    start = time.perf_counter()
    history = train(model, data, args, out / "digits_vit.safetensors")
    print(trained_in(time.perf_counter() - start))
    rows = [] if args.no_baselines else baselines(data)
    answers = predictions(model.eval(), data.test)
    print(table("test accuracy", [("Vision Transformer", accuracy(answers, data.test_labels)), *rows]))
    draw_losses(history.losses, history.metric("accuracy"), out / "digits_vit_loss.png")
    look(model, data, out / "digits_vit_attention.png")
    return history


if __name__ == "__main__":
    run(main)
