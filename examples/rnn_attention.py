"""Why attention was invented: a recurrent network writes strings of digits backwards, with attention and without.

    python examples/rnn_attention.py
    python examples/rnn_attention.py --reverse 31415926     # with the file of an earlier run

Both networks read a string with one GRU from the left and one from the right, and write its reversal digit by digit. One
attends to all the states of the reader at each step (Bahdanau et al. 2014); the other is the same network except that it gets
the reader's last two states at every step, into which the whole string must fit. Both learn from the same batches, and are
then asked for strings that they have not seen, some of them longer than any they have.

The program writes to `out/`: rnn_attention.safetensors, the whole network with attention; rnn_accuracy.png, the accuracy by
the length of the string; and rnn_alignment.png, which shows where the writer looks. It finds by itself that it must look from
the end to the beginning.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nn
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table, trained_in
from minigrad import Tensor, attention_maps
from minigrad.graph.pages.attention_maps import Map, draw_maps
from models import RNNEncoderDecoder, RNNEncoderDecoderConfig, shifted_right

Ids = NDArray[np.int64]
Digits = tuple[int, ...]

PADDING, START, END = 10, 11, 12  # the digits are their own ids
SHORTEST, LONGEST, LONGER = 3, 14, 20  # LONGEST is the longest to learn from, LONGER the longest to be asked for
LEARNING_RATE = 0.005


def random_strings(count: int, shortest: int, longest: int, rng: np.random.Generator) -> list[Digits]:
    """Strings of digits, each length as likely as any other."""
    lengths = rng.integers(shortest, longest, size=count, endpoint=True)
    return [tuple(rng.integers(10, size=length).tolist()) for length in lengths]


def padded(strings: list[Digits]) -> Ids:
    """(strings, length) ids, with PADDING at the end of the shorter ones."""
    ids = np.full((len(strings), max(map(len, strings))), PADDING, np.int64)
    for row, string in zip(ids, strings):
        row[: len(string)] = string
    return ids


def reversed_with_end(string: Digits) -> Digits:
    """What is to be written."""
    return (*string[::-1], END)


def loss(model: RNNEncoderDecoder, batch: Any) -> Tensor:
    """Cross-entropy of the next digit, given the right ones before it; padding counts nothing."""
    source, target = batch
    logits = model(source, shifted_right(target, START), source != PADDING)
    return nn.cross_entropy(logits, target, ignore_index=PADDING)


def train(attention: bool, strings: list[Digits], args: argparse.Namespace) -> RNNEncoderDecoder:
    """A network of its kind, the seed and the batches being the same for both."""
    config = RNNEncoderDecoderConfig(PADDING + 1, END + 1, START, END, hidden=args.hidden, attention=attention)
    model = RNNEncoderDecoder(config, rng=np.random.default_rng(args.seed)).to(args.device)
    data = [padded(strings), padded([reversed_with_end(string) for string in strings])]
    batches = nn.Batches(data, 64, seed=args.seed)
    started = time.perf_counter()
    nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), lr=LEARNING_RATE),
        epochs=args.epochs,
        schedule=nn.linear_schedule(LEARNING_RATE, args.epochs * len(batches)),
        clip_norm=1.0,
    )
    name = "attention" if attention else "last states only"
    print(f"{name}: {model.num_parameters:,} parameters, {trained_in(time.perf_counter() - started)}")
    return model


def answers(model: RNNEncoderDecoder, strings: list[Digits]) -> list[Digits]:
    """What it writes by itself, greedily."""
    ids = padded(strings)
    return [found.ids for found in model.eval().greedy(ids, ids != PADDING, max_length=ids.shape[1] + 1)]


def is_exact(model: RNNEncoderDecoder, strings: list[Digits]) -> NDArray[np.bool_]:
    """Which strings it writes backwards without a mistake: (strings,)."""
    return np.array([answer == string[::-1] for answer, string in zip(answers(model, strings), strings)])


def by_length(correct: NDArray[np.bool_], strings: list[Digits]) -> list[tuple[int, float]]:
    """The share of exact answers for each length."""
    lengths = np.array([len(string) for string in strings])
    return [(length, float(correct[lengths == length].mean())) for length in np.unique(lengths).tolist()]


def draw_accuracy(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, curve), colour in zip(curves.items(), ("#2171b5", "#d94801")):
        ax.plot(*zip(*curve), "o-", label=name, color=colour)
    ax.axvspan(LONGEST + 0.5, LONGER + 0.5, color="0.92", zorder=0)
    ax.text(LONGER + 0.3, 0.6, "longer than in training", color="0.4", ha="right")
    ax.set(
        xlabel="digits in the string",
        ylabel="exactly reversed",
        ylim=(-0.03, 1.05),
        xlim=(SHORTEST - 0.5, LONGER + 0.5),
    )
    ax.legend()
    save_figure(figure, path)


def draw_alignment(model: RNNEncoderDecoder, strings: list[Digits], path: Path) -> None:
    """For some strings, one row of weights for each digit that is written."""
    maps = []
    for string in strings:
        answer = (*answers(model, [string])[0], END)
        written = ["end" if i == END else str(i) for i in answer]
        read = "".join(map(str, string))
        inputs = ([string], shifted_right([answer], START))
        (layer,) = attention_maps(model, inputs, written, key_tokens=read).layers
        maps.append(Map(read, layer.queries, layer.keys, layer.weights[0]))
    draw_maps([maps], path, looks_from="writes", looks_at="looks at")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(
        __doc__, quick="one epoch on 320 strings, small networks", baselines="the network without attention"
    )
    parser.add_argument("--epochs", type=at_least(1), default=4, help="over the strings to learn from (default: 4)")
    parser.add_argument("--hidden", type=at_least(1), default=64, help="width of the states (default: 64)")
    parser.add_argument("--strings", type=at_least(1), default=6400, help="to learn from (default: 6400)")
    parser.add_argument("--reverse", metavar="DIGITS", help="only write these digits backwards, with --checkpoint")
    parser.add_argument("--checkpoint", type=Path, help="for --reverse (default: rnn_attention.safetensors in --out)")
    args = parser.parse_args(arguments)
    if args.quick:
        args.epochs, args.hidden, args.strings = 1, 16, 320
    return args


def main(arguments: list[str] | None = None) -> dict[str, float]:
    args = parse_arguments(arguments)
    if args.reverse is not None:
        if not (args.reverse.isascii() and args.reverse.isdigit()):
            raise ValueError(f"--reverse needs digits, got {args.reverse!r}")
        model = RNNEncoderDecoder.load(args.checkpoint or args.out / "rnn_attention.safetensors")
        print("".join(map(str, answers(model, [tuple(map(int, args.reverse))])[0])))
        return {}
    out, rng = make_folder(args.out), np.random.default_rng(args.seed)
    known = random_strings(args.strings, SHORTEST, LONGEST, rng)
    asked = 100 if args.quick else 1000
    seen = set(known)
    held_out = [string for string in random_strings(2 * asked, SHORTEST, LONGEST, rng) if string not in seen][:asked]
    longer = random_strings(asked // 2, LONGEST + 1, LONGER, rng)
    models = {"attention": train(True, known, args)}
    if not args.no_baselines:
        models["last states only"] = train(False, known, args)
    rows: list[tuple[str, float | str]] = []
    longer_rows: list[tuple[str, float | str]] = []
    curves = {}
    for name, model in models.items():
        exact, exact_longer = is_exact(model, held_out), is_exact(model, longer)
        rows.append((name, float(exact.mean())))
        longer_rows.append((name, float(exact_longer.mean())))
        curves[name] = by_length(exact, held_out) + by_length(exact_longer, longer)
    print(table(f"exact on {len(held_out)} new strings of {SHORTEST} to {LONGEST} digits", rows))
    print(table(f"exact on {len(longer)} longer ones, {LONGEST + 1} to {LONGER} digits", longer_rows))
    models["attention"].save(out / "rnn_attention.safetensors")
    draw_accuracy(curves, out / "rnn_accuracy.png")
    draw_alignment(models["attention"], [held_out[0], max(held_out, key=len)], out / "rnn_alignment.png")
    print(f"pictures: {out / 'rnn_accuracy.png'}, {out / 'rnn_alignment.png'}")
    return {name: float(value) for name, value in rows}


if __name__ == "__main__":
    run(main)
