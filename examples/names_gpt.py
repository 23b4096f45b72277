"""Invent names with a GPT, or write in the manner of a text file of yours, character by character.

    python examples/names_gpt.py
    python examples/names_gpt.py --checkpoint out/names_gpt.safetensors --prompt ma --temperature 0.8 --top-p 0.9
    python examples/names_gpt.py --text shakespeare.txt --window 128 --layers 4 --d-model 128

The names are the first names of Faker's English locale; a tenth of them is held out, and no name is on both sides. Nats per
character are the mean of -log P over all letters of the held-out names AND the end of each name, which is a character that
has to be predicted too: a name of 6 letters counts 7. The n-gram models beside the GPT are measured on the same characters.

Written to `out/`: names_gpt.safetensors (the whole model: --resume goes on from it, --checkpoint only writes with it),
names_gpt_loss.png and names_gpt_attention.png (what each head looks at); with --text, text_gpt.* likewise.
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

import nn
from character_data import END, IGNORED, Names, Text, decode, encode, ngram_losses
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table, trained_in
from minigrad import Tensor, attention_maps, no_grad
from minigrad.graph.pages.attention_maps import draw_maps
from models import GPT, GPTConfig


def loss(model: GPT, batch: tuple[Any, Any]) -> Tensor:
    ids, labels = batch
    return nn.cross_entropy(model(ids), labels, ignore_index=IGNORED)


def held_out_loss(model: GPT, data: Names | Text, size: int = 256) -> float:
    """Nats per held-out character."""
    ids, labels = data.held_out
    total = 0.0
    with no_grad():
        for first in range(0, len(ids), size):
            logits = model(ids[first : first + size])
            total += nn.cross_entropy(
                logits, labels[first : first + size], ignore_index=IGNORED, reduction="sum"
            ).item()
    return total / int((labels != IGNORED).sum())


def train(model: GPT, data: Names | Text, args: argparse.Namespace, checkpoint: Path) -> nn.History:
    batches = data.batches(args.batch_size, args.seed)
    steps = args.epochs * len(batches)
    return nn.fit(
        model,
        batches,
        loss,
        nn.AdamW(model.parameters(), weight_decay=0.01),
        epochs=args.epochs,
        schedule=nn.cosine_schedule(args.learning_rate, steps, warmup=steps // 20),
        clip_norm=1.0,
        validate=lambda _: {"nats": held_out_loss(model, data)},
        checkpoint=checkpoint,
        resume=args.resume,
    )


def baselines(data: Names | Text) -> list[tuple[str, float | str]]:
    losses = ngram_losses(*data.contexts(), len(data.alphabet))
    names = ["characters by frequency (1-grams)", *(f"{n}-grams" for n in range(2, len(losses) + 1))]
    return [*zip(names, losses), ("any character, equally probable", float(np.log(len(data.alphabet))))]


# Writing


def prompt(config: GPTConfig, text: str) -> Any:
    """The ids that the model sees first, (length,): of a name, its letters behind the end of the name before.

    Raises:
        ValueError: no name is so long, or the model does not know a character.
    """
    if config.notes.get("of") != "names":
        return encode(text or "\n", config.characters)
    if len(text) >= config.window:
        raise ValueError(f"the longest name has {config.window - 1} letters, and --prompt {text!r} has {len(text)}")
    return np.array([END, *encode(text.lower(), config.characters)])


def write_names(model: GPT, data: Names | None, args: argparse.Namespace) -> None:
    """Print names, and where the data are there, how many of them are copies."""
    prompts = np.tile(prompt(model.config, args.prompt), (200, 1))
    letters = model.config.window - prompts.shape[1] + 1
    written = np.stack([*model.generate(prompts, letters, end=END, **sampling_settings(args))], axis=1)
    lines = (decode(row, model.config.characters) for row in np.concatenate([prompts[:, 1:], written], axis=1))
    names = [line.split("\n")[0] for line in lines]
    print("\ninvented:", ", ".join(name.capitalize() for name in names[:24]))
    if data is not None:
        known, held_out = set(data.train), set(data.test)
        print(
            f"of {len(names)}: {sum(name in known for name in names)} are names that it learned from, "
            f"{sum(name in held_out for name in names)} are held-out names that it never saw, {len(set(names))} are different"
        )


def write_text(model: GPT, args: argparse.Namespace) -> None:
    """Print characters as they come."""
    ids = prompt(model.config, args.prompt)[None]
    print(f"\n--- written ---\n{args.prompt}", end="")
    for tokens in model.generate(ids, args.length, **sampling_settings(args)):
        print(decode(tokens, model.config.characters), end="", flush=True)
    print("\n---------------")


def sampling_settings(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "rng": np.random.default_rng(args.seed),
        "temperature": args.temperature,
        "top_k": args.top_k,
        "top_p": args.top_p,
    }


def tokens_per_second(model: GPT, count: int, cache: bool) -> float:
    """Of one sequence that grows from one token to `count`, on this machine now."""
    start = time.perf_counter()
    for _ in model.generate([[0]], count, rng=np.random.default_rng(0), cache=cache):
        pass
    return count / (time.perf_counter() - start)


def speed(model: GPT, args: argparse.Namespace) -> None:
    """Print what the key-value cache is worth.

    A name is too short to tell, so it is measured on an untrained network of these sizes with a longer window.
    """
    window = max(model.config.window, 32 if args.quick else 256)
    longer = GPT(GPTConfig(**model.config.to_dict() | {"window": window}), rng=np.random.default_rng(0)).to(args.device)
    with_cache, without = (tokens_per_second(longer.eval(), window, cache) for cache in (True, False))
    print(
        f"writing {window} tokens: {with_cache:.0f} tokens per second with the key-value cache, {without:.0f} without "
        f"({with_cache / without:.1f} times)"
    )


# Drawing


def draw_loss(history: nn.History, rows: list[tuple[str, float | str]], path: Path) -> None:
    """The loss of training and of held-out characters, beside the n-grams."""
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    width = min(50, len(history.losses))
    mean = np.convolve(history.losses, np.full(width, 1 / width), mode="valid")
    ax.plot(
        np.arange(width, len(history.losses) + 1), mean, color="#9ecae1", label=f"training, mean of {width} batches"
    )
    nats = history.metric("nats")
    ends = np.linspace(0, len(history.losses), len(nats) + 1)[1:]
    ax.plot(ends, nats, "o-", color="#08519c", label=f"held out: {nats[-1]:.3f}")
    for i, (name, value) in enumerate(rows):
        ax.axhline(float(value), color="#d94801", linewidth=0.7, linestyle="--")
        place = (3 + 80 * (i % 2), 2)  # two of them may be close to each other
        ax.annotate(f"{name}: {value:.3f}", (0, float(value)), xytext=place, textcoords="offset points", fontsize=7)
    ax.set(xlabel="training step", ylabel="nats per character")
    ax.legend(loc="upper right")
    save_figure(figure, path)


def draw_attention(model: GPT, data: Names | Text, path: Path) -> None:
    """Each head of each layer on a piece of what was held out."""
    ids = data.shown()
    maps = attention_maps(model, ids[None], decode(ids, data.alphabet)).maps()
    draw_maps(maps, path, looks_from="predicts what follows", looks_at="looks at", caption="Who looks where")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="2 epochs on 600 names or 64 windows", baselines="the n-gram models")
    parser.add_argument("--text", type=Path, metavar="FILE", help="learn from this UTF-8 file instead of the names")
    parser.add_argument("--epochs", type=at_least(1), default=16, help="passes over the data (default: 16)")
    parser.add_argument(
        "--window", type=at_least(2), default=64, help="characters seen at once, of --text (default: 64)"
    )
    parser.add_argument("--d-model", type=at_least(1), default=64, help="width, a multiple of --heads (default: 64)")
    parser.add_argument("--heads", type=at_least(1), default=4, help="(default: 4)")
    parser.add_argument("--layers", type=at_least(1), default=2, help="(default: 2)")
    parser.add_argument(
        "--positions", choices=("learned", "rotary", "alibi"), default="learned", help="(default: learned)"
    )
    parser.add_argument("--dropout", type=float, default=0.1, help="(default: 0.1)")
    parser.add_argument("--batch-size", type=at_least(1), help="(default: 64 names, or 16 windows of a text)")
    parser.add_argument("--learning-rate", type=float, default=5e-3, help="at its peak (default: 0.005)")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out, if there is one")
    parser.add_argument("--checkpoint", type=Path, help="only write, with the model of this file")
    parser.add_argument("--prompt", default="", help="what is written begins like this")
    parser.add_argument("--length", type=at_least(0), default=400, help="characters to write, of --text (default: 400)")
    parser.add_argument("--temperature", type=float, default=1.0, help="below 1 the probable more often (default: 1)")
    parser.add_argument("--top-k", type=at_least(1), help="only the k most probable characters")
    parser.add_argument("--top-p", type=float, help="only the most probable characters that make up this probability")
    args = parser.parse_args(arguments)
    args.batch_size = args.batch_size or (16 if args.text else 64)
    if args.quick:
        args.epochs = min(args.epochs, 2)
    return args


def main(arguments: list[str] | None = None) -> nn.History | None:
    args = parse_arguments(arguments)
    nn.sample_tokens(np.zeros(2), **sampling_settings(args))  # wrong ones raise before the training
    if args.checkpoint:
        write(GPT.load(args.checkpoint).to(args.device), None, args)
        return None
    if args.text:
        data: Names | Text = Text(args.text, args.window, 64 * args.window if args.quick else None)
    else:
        data = Names(args.seed, 600 if args.quick else None)
    config = GPTConfig(
        vocab_size=len(data.alphabet),
        window=data.window,
        d_model=args.d_model,
        num_heads=args.heads,
        num_layers=args.layers,
        dropout=args.dropout,
        positions=args.positions,
        std=0.1,
        characters=data.alphabet,
        notes={"of": "text" if args.text else "names"},
    )
    prompt(config, args.prompt)  # a wrong one raises before the training
    model = GPT(config, rng=np.random.default_rng(args.seed)).to(args.device)
    history = learn(model, data, args)
    write(model.eval(), data, args)
    speed(model, args)
    return history


def write(model: GPT, data: Names | Text | None, args: argparse.Namespace) -> None:
    """Write in the manner that the model has learned."""
    if model.config.notes.get("of") == "names":
        write_names(model, data if isinstance(data, Names) else None, args)
    else:
        write_text(model, args)


def learn(model: GPT, data: Names | Text, args: argparse.Namespace) -> nn.History:
    """Train, report and draw."""
    name = "text_gpt" if args.text else "names_gpt"
    out = make_folder(args.out)
    print(f"{data}; {model.num_parameters:,} parameters")
    start = time.perf_counter()
    history = train(model, data, args, out / f"{name}.safetensors")
    print(trained_in(time.perf_counter() - start))
    rows = [] if args.no_baselines else baselines(data)
    print(table("nats per held-out character", [("GPT", held_out_loss(model.eval(), data)), *rows]))
    draw_loss(history, rows[:-1], out / f"{name}_loss.png")
    draw_attention(model, data, out / f"{name}_attention.png")
    return history


if __name__ == "__main__":
    run(main, interrupted="the same command with --resume goes on from the last finished epoch")
