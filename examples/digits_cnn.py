"""Read handwritten digits with a convolutional network, and count which digits it takes for which.

    python examples/digits_cnn.py
    python examples/digits_cnn.py --predict seven.png

The data, their split and the random moves of the images are those of digits_vit.py. Two convolutions look at neighbourhoods of
3 x 3 pixels, and each pooling halves the image.

Written to `out/`: digits_cnn.safetensors (the whole model, which --predict needs) and digits_cnn_loss.png.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as mg
import nn
from common import argument_parser, at_least, make_folder, run, table, trained_in
from digits_vit import Digits, MovedBatches, accuracy, baselines, picture, predicting
from models import Config, Model
from pictures import draw_losses


@dataclass(frozen=True)
class NetworkConfig(Config):
    channels: int = 32  # of the first convolution


class Network(Model):
    config_class = NetworkConfig

    def __init__(self, config: NetworkConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config, n = config, config.channels
        new: Any = {"rng": rng, "dtype": dtype}
        self.layers = nn.Sequential(
            nn.Conv2d(1, n, 3, padding="same", **new), nn.BatchNorm(n, dtype=dtype), mg.relu, nn.MaxPool2d(2),
            nn.Conv2d(n, 2 * n, 3, padding="same", **new), nn.BatchNorm(2 * n, dtype=dtype), mg.relu, nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.3, rng=rng), nn.Affine(8 * n, 10, **new),  # 2 x 2 pixels are left
        )  # fmt: skip

    def forward(self, images: Any) -> Any:
        """Return the scores of the digits: (batch, 8, 8) -> (batch, 10)."""
        return self.layers(images[:, None])  # one channel


def predictions(model: Network, images: Any) -> Any:
    """Return the digit of each image: (n, 8, 8) -> (n,)."""
    with mg.no_grad():
        return model(np.asarray(images, like=next(model.parameters()).data)).numpy().argmax(axis=-1)


def train(model: Network, data: Digits, args: argparse.Namespace) -> nn.History:
    batches = MovedBatches(nn.Batches([data.train, data.train_labels], 64, seed=args.seed), args.move)
    steps = args.epochs * len(batches)

    def loss(model: Network, batch: tuple[Any, Any]) -> mg.Tensor:
        images = np.asarray(batch[0], like=next(model.parameters()).data)
        return nn.cross_entropy(model(images), batch[1], label_smoothing=0.1)

    return nn.fit(
        model,
        batches,
        loss,
        nn.AdamW(model.parameters(), weight_decay=0.05),
        epochs=args.epochs,
        schedule=nn.cosine_schedule(args.learning_rate, steps, warmup=steps // 20),
        validate=lambda _: {"accuracy": accuracy(predictions(model, data.test), data.test_labels)},
        checkpoint=args.out / "digits_cnn.safetensors",
    )


def confusion(answers: Any, labels: Any) -> str:
    """Return how often each digit (a row) was read as each digit (a column)."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, answers), 1)
    lines = [f"{digit:>5} {''.join(f'{n or chr(183):>4}' for n in row)}" for digit, row in enumerate(counts)]
    return "\n".join(["read as " + "".join(f"{digit:>4}" for digit in range(10))[2:], *lines])


def main(arguments: list[str] | None = None) -> nn.History | None:
    parser = argument_parser(__doc__, quick="2 epochs on 320 images", baselines="the simpler methods")
    predicting(parser, "digits_cnn")
    parser.add_argument("--epochs", type=at_least(1), default=30, help="passes over the images (default: 30)")
    parser.add_argument("--move", type=float, default=0.5, help="by at most this part of a pixel (default: 0.5)")
    parser.add_argument("--learning-rate", type=float, default=3e-3, help="at its peak (default: 0.003)")
    args = parser.parse_args(arguments)
    if args.predict:
        known = Network.load(args.checkpoint or args.out / "digits_cnn.safetensors")
        print(predictions(known, picture(args.predict, known.config.notes)).item())
        return None
    args.epochs = min(args.epochs, 2) if args.quick else args.epochs
    out = make_folder(args.out)
    data = Digits.load(args.seed, 320 if args.quick else None)
    model = Network(NetworkConfig(notes=data.scale), rng=np.random.default_rng(args.seed)).to(args.device)
    print(f"{len(data.train):,} training and {len(data.test)} test images; {model.num_parameters:,} parameters")
    start = time.perf_counter()
    history = train(model, data, args)
    print(trained_in(time.perf_counter() - start))
    answers = predictions(model, data.test)
    rows = [] if args.no_baselines else baselines(data)
    print(table("test accuracy", [("convolutional network", accuracy(answers, data.test_labels)), *rows]))
    print(confusion(answers, data.test_labels))
    draw_losses(history.losses, history.metric("accuracy"), out / "digits_cnn_loss.png")
    return history


if __name__ == "__main__":
    run(main)
