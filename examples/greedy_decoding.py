"""Greedy decoding, step by step: こたつでみかんを食べる becomes "I eat mandarin at the kotatsu", one word after the other.

    python examples/greedy_decoding.py

An encoder-decoder Transformer is trained for some seconds on this pair and some more sentences of the same making: somebody
eats, reads, drinks or buys something somewhere. Then the script prints what the decoder sees at each step (the start, and
the words that it has written itself), which next words it finds most probable, and what it takes. The word order is another
one in each language, and Japanese allows two: みかんをこたつで食べる means the same. Label smoothing is why
the most probable word has about 0.9 and not 1.

Written to `out/`: greedy_steps.png (the probabilities of the next word at every step) and greedy_attention.png (where the
decoder looks: among its own words, and in the Japanese sentence).
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nn
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table, trained_in
from minigrad import Tensor, no_grad, softmax
from minigrad.graph.pages.attention_maps import Map, draw_maps
from models import Transformer, TransformerConfig, shifted_right

Sentence = tuple[str, ...]
Pair = tuple[Sentence, Sentence]

PLACES = {
    "こたつ": "at the kotatsu",
    "庭": "in the garden",
    "駅": "at the station",
    "海": "by the sea",
    "電車": "on the train",
}
THINGS = {
    "みかん": ("mandarin", "食べる"),
    "ご飯": ("rice", "食べる"),
    "本": ("books", "読む"),
    "新聞": ("newspapers", "読む"),
    "お茶": ("tea", "飲む"),
    "水": ("water", "飲む"),
}
VERBS = {"食べる": "eat", "読む": "read", "飲む": "drink", "買う": "buy"}
SHOWN: Sentence = ("こたつ", "で", "みかん", "を", "食べる")
EXPECTED: Sentence = ("I", "eat", "mandarin", "at", "the", "kotatsu")

PADDING, START, END = "<padding>", "<start>", "<end>"
MAX_LENGTH = 8  # words, the end counted
REPEATED = 10  # there are few sentences: an epoch shows each of them this many times


def sentences() -> list[list[Pair]]:
    """Groups of pairs with one meaning: a place, a thing and a verb, in two Japanese word orders."""
    groups: list[list[Pair]] = []
    for place, where in PLACES.items():
        for thing, (what, own_verb) in THINGS.items():
            for verb in (own_verb, "買う"):
                english: Sentence = ("I", VERBS[verb], what, *where.split())
                at, of = (place, "で"), (thing, "を")
                groups.append([((*at, *of, verb), english), ((*of, *at, verb), english)])
    return groups


def split(rng: np.random.Generator, held_out: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs to learn from, the one of the title among them, and those of `held_out` other meanings."""
    groups = sentences()
    others = [group for group in groups if all(japanese != SHOWN for japanese, _ in group)]
    unseen = {int(i) for i in rng.permutation(len(others))[:held_out]}
    known = [pair for group in groups if group not in [others[i] for i in unseen] for pair in group]
    return known, [pair for i in sorted(unseen) for pair in others[i]]


class Words:
    """Words as ids, of both languages in one vocabulary; the ids of padding, start and end come first."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.words = [PADDING, START, END, *sorted({word for pair in pairs for side in pair for word in side})]
        self.ids = {word: i for i, word in enumerate(self.words)}
        self.padding, self.start, self.end = range(3)

    def encode(self, sentences: list[Sentence]) -> NDArray[np.int64]:
        """(sentences, length) ids, padded at the end."""
        ids = np.full((len(sentences), max(map(len, sentences))), self.padding, np.int64)
        for row, sentence in zip(ids, sentences):
            row[: len(sentence)] = [self.ids[word] for word in sentence]
        return ids

    def decode(self, ids: Any) -> Sentence:
        return tuple(self.words[i] for i in ids)


def train(model: Transformer, pairs: list[Pair], words: Words, args: argparse.Namespace) -> nn.History:
    """Cross-entropy with label smoothing, as in the paper; padding counts nothing."""
    source = words.encode([japanese for japanese, _ in pairs])
    target = words.encode([(*english, END) for _, english in pairs])

    def loss(model: Transformer, batch: Any) -> Tensor:
        source, target = batch
        logits = model(source, shifted_right(target, words.start), source != words.padding)
        return nn.cross_entropy(logits, target, label_smoothing=0.1, ignore_index=words.padding)

    def collate(indices: Any) -> Any:
        return source[indices % len(pairs)], target[indices % len(pairs)]

    batches = nn.Batches(REPEATED * len(pairs), 16, seed=args.seed, collate=collate)
    return nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9),
        epochs=args.epochs,
        schedule=nn.inverse_sqrt_schedule(model.config.d_model, warmup=max(1, args.epochs * len(batches) // 4)),
    )


def translate(model: Transformer, words: Words, japanese: list[Sentence]) -> list[Sentence]:
    """The greedy translations."""
    ids = words.encode(japanese)
    return [words.decode(found.ids) for found in model.eval().greedy(ids, ids != words.padding, max_length=MAX_LENGTH)]


@dataclass(frozen=True)
class Step:
    """What happens in one step of greedy decoding.

    Attributes:
        sees: the words that the decoder reads, from the start on.
        probabilities: of every word of the vocabulary to be the next.
        takes: the most probable one.
    """

    sees: Sentence
    probabilities: NDArray[np.floating[Any]]
    takes: str


def decoding_steps(model: Transformer, words: Words, japanese: Sentence) -> list[Step]:
    """Greedy decoding written out: `model.greedy` does the same, with many sentences at once and a cache."""
    model.eval()
    steps: list[Step] = []
    with no_grad():
        memory = model.encode(words.encode([japanese]))  # once: (1, source, d_model)
        sees: Sentence = (START,)
        while len(steps) < MAX_LENGTH and sees[-1] != END:
            logits = model.decode(words.encode([sees]), memory)  # (1, target, vocabulary)
            probabilities = softmax(logits[0, -1]).numpy()  # what comes after the last word
            steps.append(Step(sees, probabilities, words.words[int(probabilities.argmax())]))
            sees = (*sees, steps[-1].takes)
    return steps


def print_steps(steps: list[Step], words: Words) -> None:
    width = max(len(" ".join(step.sees)) for step in steps)
    for number, step in enumerate(steps, start=1):
        best = np.argsort(-step.probabilities)[:3]
        shown = "  ".join(f"{words.words[i]} {step.probabilities[i]:.2f}" for i in best)
        print(f"step {number}  sees  {' '.join(step.sees):{width}}  next?  {shown:42}  takes  {step.takes}")


def draw_steps(steps: list[Step], words: Words, path: Path) -> None:
    """A row for each step: what the decoder has read, and the probabilities of the words that are likely somewhere."""
    plt = pyplot()
    next_word = np.array([step.probabilities for step in steps])  # (steps, vocabulary)
    likely = np.argsort(-next_word.max(axis=0))[:14]
    columns = sorted(likely.tolist(), key=lambda i: int(next_word[:, i].argmax()))
    figure, ax = plt.subplots(figsize=(11, 0.5 * len(steps) + 2), layout="constrained")
    image = ax.imshow(next_word[:, columns], cmap="Greens", vmin=0, vmax=1, aspect="auto")
    for row, step in enumerate(steps):
        for column, i in enumerate(columns):
            if next_word[row, i] >= 0.005:
                colour = "white" if next_word[row, i] > 0.6 else "black"
                weight = "bold" if words.words[i] == step.takes else "normal"
                ax.text(column, row, f"{next_word[row, i]:.2f}", ha="center", va="center", color=colour, weight=weight)
    ax.set_xticks(range(len(columns)), [words.words[i] for i in columns], rotation=45, ha="right")
    ax.set_yticks(range(len(steps)), [" ".join(step.sees) for step in steps])
    ax.set(xlabel="the next word", ylabel="what the decoder sees", title="".join(SHOWN))
    ax.tick_params(length=0)
    figure.colorbar(image, ax=ax, label="probability")
    save_figure(figure, path)


def draw_attention(model: Transformer, words: Words, steps: list[Step], path: Path) -> None:
    """The last layer: the decoder among its own words (it never sees what comes later), and in the source."""
    sees = steps[-1].sees
    weights = model.attention_weights(words.encode([SHOWN]), words.encode([sees]))
    rows = [f"{word} → {step.takes}" for word, step in zip(sees, steps)]
    maps = [
        Map("among its own words (masked)", rows, sees, weights["decoder"][-1].numpy()[0].mean(axis=0)),
        Map("in the Japanese sentence", rows, SHOWN, weights["cross"][-1].numpy()[0].mean(axis=0)),
    ]
    draw_maps([maps], path, cell=0.55, looks_from="reads → writes", looks_at="looks at", caption="mean of the heads")


def word_by_word(known: list[Pair], japanese: list[Sentence]) -> list[Sentence]:
    """A baseline: for each Japanese word the English one that it is found with most exclusively, in the Japanese order."""
    together: Counter[tuple[str, str]] = Counter()
    alone: Counter[str] = Counter()
    for source, target in known:
        alone.update({*source} | {*target})
        together.update((a, b) for a in {*source} for b in {*target})
    best: dict[str, tuple[str, float]] = {}
    for (a, b), count in together.items():
        score = count / (alone[a] + alone[b] - count)
        if score > best.get(a, ("", 0.0))[1]:
            best[a] = (b, score)
    return [("I", *(best[word][0] for word in sentence if word in best)) for sentence in japanese]


def nearest(known: list[Pair], japanese: list[Sentence]) -> list[Sentence]:
    """A baseline: the translation of the known sentence that has most words in common."""
    return [max(known, key=lambda pair: len({*pair[0]} & {*sentence}))[1] for sentence in japanese]


def report(model: Transformer, words: Words, known: list[Pair], unseen: list[Pair], baselines: bool) -> None:
    japanese, english = [pair[0] for pair in unseen], [pair[1] for pair in unseen]

    def exact(answers: list[Sentence], expected: list[Sentence]) -> float:
        return float(np.mean([answer == target for answer, target in zip(answers, expected)]))

    learned = translate(model, words, [pair[0] for pair in known])
    print(f"exact on the {len(known)} sentences it learned from: {exact(learned, [pair[1] for pair in known]):.4f}")
    rows: list[tuple[str, float | str]] = [("Transformer, greedy", exact(translate(model, words, japanese), english))]
    if baselines:
        rows.append(("nearest known sentence", exact(nearest(known, japanese), english)))
        rows.append(("word by word", exact(word_by_word(known, japanese), english)))
    print(table(f"exact on {len(unseen)} new sentences", rows))


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="one epoch", baselines="the answers of simpler rules")
    parser.add_argument(
        "--epochs", type=at_least(1), default=8, help=f"each shows every sentence {REPEATED} times (default: 8)"
    )
    args = parser.parse_args(arguments)
    if args.quick:
        args.epochs = 1
    return args


def main(arguments: list[str] | None = None) -> list[Step]:
    args = parse_arguments(arguments)
    out, rng = make_folder(args.out), np.random.default_rng(args.seed)
    known, unseen = split(rng, held_out=10)
    words = Words(known)
    config = TransformerConfig(len(words.words), words.start, words.end, d_model=32, num_layers=2, dropout=0.1)
    model = Transformer(config, rng=rng).to(args.device)
    start = time.perf_counter()
    train(model, known, words, args)
    print(trained_in(time.perf_counter() - start))
    report(model, words, known, unseen, not args.no_baselines)
    steps = decoding_steps(model, words, SHOWN)
    print(f"\n{''.join(SHOWN)}")
    print_steps(steps, words)
    answer = tuple(step.takes for step in steps if step.takes != END)
    print(" ".join(answer) + ("" if answer == EXPECTED else f"  (should be: {' '.join(EXPECTED)})"))
    draw_steps(steps, words, out / "greedy_steps.png")
    draw_attention(model, words, steps, out / "greedy_attention.png")
    return steps


if __name__ == "__main__":
    run(main)
