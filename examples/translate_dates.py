"""Translate dates from a dozen languages into ISO 8601 with an encoder-decoder Transformer.

    python examples/translate_dates.py
    python examples/translate_dates.py --translate "12 août 1999" --translate "2031年2月3日"

"Dienstag, 24. September 2024" and "24 сентября 2024 г." both become 2024-09-24. The characters are the tokens: the model
has to find out what a month is, in which order the parts come, and to write zeros that are not there. It is tested on days
that it has not seen in any language.

Written to `out/`: dates.safetensors (the whole model and its characters), dates_loss.png, dates_cross_attention.png (where the
decoder looks while it writes, for several languages) and dates_heads.png (the same for each head).
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dates
import nn
from common import argument_parser, at_least, make_folder, run, table, trained_in
from dates import END, LOCALES, PADDING, START, Characters, Dates, exact, padded
from minigrad import Tensor
from minigrad.errors import MissingExtraError
from minigrad.graph.pages.attention_maps import Map, draw_maps
from minigrad.serialize import CheckpointError
from models import Transformer, TransformerConfig, shifted_right
from pictures import draw_losses

ISO_LENGTH = 11  # ten characters and the end
DRAWN = ("en_US", "de_DE", "ru_RU", "ar_EG", "ja_JP", "ko_KR")
VISIBLE = {" ": "␣", "\u202f": "␣", "\u00a0": "␣", "\u200f": "◂"}  # the last turns the writing to the left


@dataclass
class Translator:
    """A model with the characters it knows."""

    model: Transformer
    characters: Characters

    def translate(self, sources: list[str], beam: int = 1) -> list[str]:
        """ISO dates, or what the model takes for them; greedily, or with a beam."""
        self.model.eval()
        answers = []
        for first in range(0, len(sources), 250):
            ids = padded([self.characters.encode(source) for source in sources[first : first + 250]])
            if beam == 1:
                found = self.model.greedy(ids, ids != PADDING, max_length=ISO_LENGTH)
            else:
                beams = self.model.beam(ids, ids != PADDING, max_length=ISO_LENGTH, beam=beam)
                found = [hypotheses[0] for hypotheses in beams]
            answers += [self.characters.decode(hypothesis.ids) for hypothesis in found]
        return answers

    @classmethod
    def load(cls, path: Path) -> Translator:
        """
        Raises:
            CheckpointError: the file is no checkpoint of this example.
        """
        model = Transformer.load(path)
        characters = Characters(model.config.notes.get("characters", ""))
        if len(characters) != model.config.source_vocab:
            raise CheckpointError(f"'{path}' does not have the characters of this example in its notes: train again")
        return cls(model, characters)


def loss(model: Transformer, batch: tuple[Any, Any]) -> Tensor:
    """The decoder reads the target shifted right behind the start, and should say the target."""
    source, target = batch
    return nn.cross_entropy(model(source, shifted_right(target, START), source != PADDING), target)


def train(translator: Translator, known: Dates, unseen: Dates, args: argparse.Namespace) -> nn.History:
    """Adam with the paper's betas, a warm-up and half a cosine; after each epoch the share of exact answers."""
    model, encode = translator.model, translator.characters.encode
    sources = [encode(source) for source in known.sources]
    targets = np.array([[*encode(target), END] for target in known.targets])

    def collate(indices: Any) -> tuple[Any, Any]:
        return padded([sources[i] for i in indices]), targets[indices]

    lengths = [len(source) for source in sources]
    batches = nn.Batches(len(sources), args.batch_size, seed=args.seed, lengths=lengths, collate=collate)
    steps = args.epochs * len(batches)
    return nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), betas=(0.9, 0.98)),
        epochs=args.epochs,
        schedule=nn.cosine_schedule(args.learning_rate, steps, warmup=min(400, steps // 5)),
        clip_norm=1.0,
        validate=lambda _: {"exact": exact(translator.translate(unseen.sources), unseen)},
    )


def report(translator: Translator, known: Dates, unseen: Dates, baselines: bool) -> None:
    answers = translator.translate(unseen.sources)
    rows: list[tuple[str, float | str]] = [
        ("Transformer, greedy", exact(answers, unseen)),
        ("Transformer, beam of 4", exact(translator.translate(unseen.sources, beam=4), unseen)),
    ]
    if baselines:
        rows += [
            ("most common answer", exact(dates.most_common(known, unseen), unseen)),
            ("rule: copy the digits", exact(dates.copied_digits(known, unseen), unseen)),
        ]
        try:
            neighbours = dates.nearest(known, unseen)
            share = dates.characters_right(neighbours, unseen)
            rows.append(
                ("nearest training date by n-grams", f"{exact(neighbours, unseen):.4f} ({share:.2f} of characters)")
            )
        except MissingExtraError as error:
            rows.append(("nearest training date by n-grams", f"not computed: {error}"))
        told = exact(dates.copied_digits_and_months(known, unseen), unseen)
        rows.append(("rule that is told about months", told))
    print(f"{len(unseen):,} dates on days that are in no training date")
    print(table("exact", rows))
    wrong = [i for i, answer in enumerate(answers) if answer != unseen.targets[i]]
    for i in wrong[:5]:
        print(f"  wrong: {unseen.sources[i]} ({unseen.locales[i]}) -> {answers[i]}, not {unseen.targets[i]}")


def cross_attention(translator: Translator, source: str) -> tuple[str, Any]:
    """What the model answers, and where its last layer looked for each character: (heads, answer, source)."""
    answer = translator.translate([source])[0]
    encode = translator.characters.encode
    target = shifted_right([[*encode(answer), END]], START)
    weights = translator.model.attention_weights([encode(source)], target)["cross"][-1]
    return answer, weights.numpy()[0]


def visible(text: str) -> list[str]:
    return [VISIBLE.get(character, character) for character in text]


def look(translator: Translator, unseen: Dates, out: Path) -> None:
    """Draw the cross-attention for a long date of several languages, and each head for one of them.

    Arabic, too, stands from left to right, in the order of its characters.
    """
    maps: list[Map] = []
    heads: list[Map] = []
    for locale in DRAWN:
        sources = [source for source, of in zip(unseen.sources, unseen.locales) if of == locale]
        if not sources:
            continue
        source = max(sources, key=len)
        answer, weights = cross_attention(translator, source)
        rows, columns = [*answer, "end"], visible(source)
        maps.append(Map(f"{locale}: {answer}", rows, columns, weights.mean(axis=0)))
        if not heads:
            heads = [Map(f"{locale}, head {i}", rows, columns, head) for i, head in enumerate(weights, start=1)]
    pictures = {"dates_cross_attention.png": (maps, "mean of the heads"), "dates_heads.png": (heads, "head by head")}
    for name, (shown, how) in pictures.items() if maps else ():
        pairs = [shown[i : i + 2] for i in range(0, len(shown), 2)]
        draw_maps(pairs, out / name, looks_from="writes", looks_at="looks at", caption=f"Cross-attention, {how}")


def translate(translator: Translator, sources: list[str]) -> None:
    """Print the answers of a beam of 4.

    Raises:
        ValueError: a text has no character that the model knows.
    """
    for source in sources:
        unknown = sum(character not in translator.characters.ids for character in source)
        if unknown == len(source):
            raise ValueError(
                f"--translate needs a date with at least one character that the model knows, got {source!r}"
            )
        if unknown:
            print(
                f"note: {unknown} of the {len(source)} characters of {source!r} are unknown to this model",
                file=sys.stderr,
            )
        print(f"{source} -> {translator.translate([source], beam=4)[0]}")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="2 epochs on 640 dates", baselines="the answers of simpler rules")
    parser.add_argument(
        "--translate", action="append", default=[], metavar="DATE", help="only translate, with --checkpoint"
    )
    parser.add_argument("--checkpoint", type=Path, help="for --translate (default: dates.safetensors in --out)")
    parser.add_argument("--epochs", type=at_least(1), default=5, help="passes over the training dates (default: 5)")
    parser.add_argument("--dates", type=at_least(1), default=36_000, help="to train on (default: 36000)")
    parser.add_argument("--layers", type=at_least(1), default=1, help="of encoder and decoder each (default: 1)")
    parser.add_argument("--d-model", type=int, default=64, help="width (default: 64)")
    parser.add_argument("--norm", choices=("post", "pre"), default="post", help="(default: post, as in the paper)")
    parser.add_argument("--batch-size", type=at_least(1), default=64, help="dates (default: 64)")
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="at its peak (default: 0.002)")
    args = parser.parse_args(arguments)
    if args.quick:
        args.dates, args.epochs = min(args.dates, 640), min(args.epochs, 2)
    return args


def main(arguments: list[str] | None = None) -> nn.History | None:
    args = parse_arguments(arguments)
    if args.translate:
        translate(Translator.load(args.checkpoint or args.out / "dates.safetensors"), args.translate)
        return None
    out, rng = make_folder(args.out), np.random.default_rng(args.seed)
    known, unseen = dates.split_dates(args.dates, 50 if args.quick else 1000, rng=rng)
    characters = Characters("".join(known.sources + known.targets))
    config = TransformerConfig(
        len(characters), START, END, d_model=args.d_model, num_layers=args.layers, norm=args.norm,
        notes={"characters": "".join(characters.characters)},
    )  # fmt: skip
    translator = Translator(Transformer(config, rng=rng).to(args.device), characters)
    print(
        f"{len(known):,} dates in {len(LOCALES)} locales, {len(characters) - END - 1} characters, such as "
        f"{known.sources[0]} -> {known.targets[0]}; {translator.model.num_parameters:,} parameters"
    )
    start = time.perf_counter()
    history = train(translator, known, unseen, args)
    print(trained_in(time.perf_counter() - start))
    translator.model.save(out / "dates.safetensors")
    report(translator, known, unseen, baselines=not (args.quick or args.no_baselines))
    draw_losses(history.losses, [epoch["exact"] for epoch in history.metrics], out / "dates_loss.png")
    look(translator, unseen, out)
    return history


if __name__ == "__main__":
    run(main)
