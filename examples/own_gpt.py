"""A GPT of your own: your answers to the exercises, put together. It learns names in a few seconds, and writes new ones.

    python examples/own_gpt.py
    python examples/own_gpt.py --answers my_course
    python examples/own_gpt.py --answers my_course --names rivers.txt --temperature 0.7

`my_course` is the folder that `minigrad learn init` made. Six answers are the parts: the attention of 10.1 with the backward
pass of 10.2, the heads of 10.3, the positions of 10.4, the cache of 12.1 and the dice of 12.2. If one is missing or not right
yet, the course's solution stands in for it, and the program says so. Two blocks as in lesson 11 and the training are here, in
plain NumPy; minigrad differentiates all but the attention, whose derivative is yours.

The names fit on a page, so the network soon knows them by heart: watch the held-out loss rise when you take more --epochs.

Written to `out/`: own_gpt.html, the backward pass of one name in the stepper, with your rule; own_gpt_attention.png, what each
of your heads looks at.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import argparse
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
import nn
from common import argument_parser, at_least, make_folder, run
from minigrad.graph.pages.attention_maps import Map, draw_maps
from minigrad.learn.checker import right_answer
from minigrad.learn.tasks import find

Array = NDArray[np.float64]
PARTS = ("10.1", "10.2", "10.3", "10.4", "12.1", "12.2")
WIDTH, HEADS, LAYERS = 32, 2, 2
NAMES = """anna lena maria sara nina clara julia laura emma ella mia lia lara elena irene marta rosa lisa luisa paula
tina vera nora dora flora viola olivia amelia emilia cecilia victoria veronica monica angelica helena selena serena marina
karina sabrina martina cristina valentina carolina angelina evelina melina regina dalia talia natalia rosalia celia delia
leon noah liam adam aron simon martin robin colin edwin alvin calvin melvin kevin devin gavin marvin dustin austin justin
quentin benjamin jonathan nathan ethan stefan roman norman herman adrian damian julian fabian sebastian florian marian
oliver peter walter victor hector anton milton carlton clinton preston weston winston nelson jason mason edison harrison
daniel samuel manuel michael gabriel rafael emanuel nathaniel joel abel axel marcel lionel"""


def parts(folder: Path | None) -> dict[str, Any]:
    """Return the functions of the tasks: the learner's where the check passes, else the solution's, and say which."""
    found: dict[str, Any] = {}
    for label in PARTS:
        task = find(label)
        file = task.solution if folder is None else right_answer(task, folder)
        whose = "the course's solution" if file == task.solution else "yours"
        print(f"{label:5} {task.words('en')['title']}: {whose}")
        names = runpy.run_path(str(file))
        found |= {name: names[name] for name in task.needs() if name != "softmax"}
    return found


class OwnGPT:
    """A decoder of two blocks, with the learner's attention, heads, positions, cache and dice.

    Args:
        own: the functions of the tasks, by name.
        alphabet: the characters; the first one ends a name.
    """

    def __init__(self, own: dict[str, Any], alphabet: str, window: int, rng: np.random.Generator) -> None:
        self.own, self.alphabet, self.window = own, alphabet, window
        self.places = own["positions"](window, WIDTH)
        self.seen: list[Array] = []  # the attention weights of the last call: (heads of a layer, n, n) for each layer
        self.attention = self._with_own_rule()

        def weights(*shape: int) -> nn.Parameter:
            return nn.Parameter(rng.normal(0, shape[0] ** -0.5, shape))

        self.table = nn.Parameter(rng.normal(0, 0.3, (len(alphabet), WIDTH)))
        # A head is as wide as the whole, because task 12.1 has square matrices.
        heads, back = (WIDTH, HEADS * WIDTH), (HEADS * WIDTH, WIDTH)
        shapes = {"q": heads, "k": heads, "v": heads, "out": back, "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
        self.blocks = [{name: weights(*shape) for name, shape in shapes.items()} for _ in range(LAYERS)]
        self.last = weights(WIDTH, len(alphabet))

    def parameters(self) -> list[nn.Parameter]:
        return [self.table, *(w for block in self.blocks for w in block.values()), self.last]

    def _with_own_rule(self) -> Any:
        """Return causal attention of (batch, heads, n, d) whose derivative is the learner's.

        The rule of 10.2 knows no mask. A row sees itself and the rows before it, so it is asked for each row by itself.
        """
        attention, backward = self.own["attention"], self.own["attention_backward"]
        last: list[Any] = [None, None]  # the gradient that was asked for last, and the answers: one for q, k and v

        def forward(q: Array, k: Array, v: Array) -> Array:
            heads = [attention(*one, causal=True) for one in zip(*(x.reshape(-1, *x.shape[2:]) for x in (q, k, v)))]
            self.seen.append(np.stack([weights for _, weights in heads]))
            return np.stack([rows for rows, _ in heads]).reshape(v.shape)

        def answers(g: Array, q: Array, k: Array, v: Array) -> list[Array]:
            if last[0] is not g:
                found = [np.zeros(x.shape) for x in (q, k, v)]
                for place in np.ndindex(q.shape[:3]):
                    one, i = place[:2], place[2]
                    gq, gk, gv = backward(q[one][i : i + 1], k[one][: i + 1], v[one][: i + 1], g[one][i : i + 1])
                    found[0][place] = gq[0]
                    found[1][one][: i + 1] += gk
                    found[2][one][: i + 1] += gv
                last[:] = g, found
            return list(last[1])

        return mg.primitive(forward, name="own_attention").vjp(
            q=lambda g, q, k, v: answers(g, q, k, v)[0],
            k=lambda g, q, k, v: answers(g, q, k, v)[1],
            v=lambda g, q, k, v: answers(g, q, k, v)[2],
        )

    def __call__(self, ids: Any) -> Any:
        """Return the logits (batch, n, characters) of the character after each of ``ids`` (batch, n)."""
        split, merge = self.own["split_heads"], self.own["merge_heads"]
        self.seen.clear()
        x = self.table[ids] + self.places[: ids.shape[1]]
        for block in self.blocks:
            h = normed(x)
            q, k, v = (split(h @ block[name], HEADS) for name in "qkv")
            x = x + merge(self.attention(q, k, v)) @ block["out"]
            x = x + np.maximum(normed(x) @ block["up"], 0) @ block["down"]
        return normed(x) @ self.last

    def loss(self, ids: Any, labels: Any) -> mg.Tensor:
        return nn.cross_entropy(self(ids), labels, ignore_index=-1)

    def write(self, rng: np.random.Generator, temperature: float) -> str:
        """Return a new name. Each character is computed by itself, with the keys and values of those before in the cache."""
        ids, cache = [0], empty_cache()
        for place in range(self.window):
            token = self.own["sample"](self.next_logits(ids[-1], place, cache), temperature, rng.random())
            ids.append(token)
            if token == 0:
                break
        return "".join(self.alphabet[token] for token in ids[1:]).strip()

    def next_logits(self, token: int, place: int, cache: list[tuple[Array, Array]]) -> Array:
        """Return the logits after one more character, and put its keys and values into the cache, head by head."""
        x = self.table.data[token] + self.places[place]
        for layer, block in enumerate(self.blocks):
            h, heads = normed(x), []
            for head in range(HEADS):
                some = np.s_[:, head * WIDTH : (head + 1) * WIDTH]
                weights = [block[name].data[some] for name in "qkv"]
                mixed, *kept = self.own["step"](h, *weights, *cache[layer * HEADS + head])
                cache[layer * HEADS + head] = kept[0], kept[1]
                heads.append(mixed)
            x = x + np.concatenate(heads) @ block["out"].data
            x = x + np.maximum(normed(x) @ block["up"].data, 0) @ block["down"].data
        logits: Array = normed(x) @ self.last.data
        return logits


def empty_cache() -> list[tuple[Array, Array]]:
    """Return the keys and values of each head of each layer, before the first character."""
    return [(np.zeros((0, WIDTH)), np.zeros((0, WIDTH))) for _ in range(LAYERS * HEADS)]


def normed(x: Any) -> Any:
    """Return each row with mean 0 and deviation 1 (6.4, without scale and shift)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


def framed(names: Sequence[str], alphabet: str, window: int) -> tuple[Any, Any]:
    """Return what the model sees, the end and then the letters, and what comes next; -1 does not count."""
    ids, labels = np.zeros((len(names), window), int), np.full((len(names), window), -1)
    for i, name in enumerate(names):
        letters = [alphabet.index(character) for character in name]
        ids[i, 1 : len(name) + 1] = letters
        labels[i, : len(name) + 1] = [*letters, 0]
    return ids, labels


def train(model: OwnGPT, names: Sequence[str], held_out: Sequence[str], epochs: int) -> None:
    ids, labels = framed(names, model.alphabet, model.window)
    batches = nn.Batches([ids, labels], 16, seed=0)
    optimizer = nn.Adam(model.parameters(), lr=0.003)
    steps = epochs * len(batches)
    schedule = nn.cosine_schedule(0.003, steps=steps, warmup=steps // 10)
    for epoch in range(epochs):
        losses = []
        for i, (seen, wanted) in enumerate(batches.epoch(epoch)):
            optimizer.lr = schedule(epoch * len(batches) + i)
            optimizer.zero_grad()
            loss = model.loss(seen, wanted)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % max(1, epochs // 10) == 0 or epoch == epochs - 1:
            with mg.no_grad():
                unseen = model.loss(*framed(held_out, model.alphabet, model.window)).item()
            print(f"epoch {epoch + 1:3}: {np.mean(losses):.3f} nats per character, held out {unseen:.3f}", flush=True)


def draw(model: OwnGPT, name: str, out: Path) -> None:
    """Write the stepper's page of one name, and the maps of its attention."""
    ids, labels = framed([name], model.alphabet, len(name) + 1)
    with mg.trace():
        loss = model.loss(ids, labels)
    weights_of_layers = list(model.seen)  # explain runs the attention again, to compare your rule with differences
    loss.backward()
    mg.explain(loss, out / "own_gpt.html", {"table": model.table, "last": model.last})
    tokens = ["·", *name]
    rows = [
        [Map(f"layer {layer + 1}, head {head + 1}", tokens, tokens, weights) for head, weights in enumerate(heads)]
        for layer, heads in enumerate(weights_of_layers)
    ]
    draw_maps(rows, out / "own_gpt_attention.png", looks_from="predicts what follows", looks_at="looks at")


def main(arguments: list[str] | None = None) -> OwnGPT:
    parser = argument_parser(__doc__, quick="2 epochs of 48 names", device=False)
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="your answers (default: the solutions alone)")
    parser.add_argument(
        "--names", type=Path, metavar="FILE", help=f"a name on each line (default: {len(NAMES.split())} first names)"
    )
    parser.add_argument("--epochs", type=at_least(1), default=20, help="passes over the names (default: 20)")
    parser.add_argument("--temperature", type=float, default=0.8, help="0: always the most probable (default: 0.8)")
    args: argparse.Namespace = parser.parse_args(arguments)
    if args.answers is not None and not args.answers.is_dir():
        raise ValueError(f"--answers: there is no folder '{args.answers}': minigrad learn init {args.answers}")
    names = (args.names.read_text(encoding="utf-8").lower() if args.names else NAMES).split()
    if len(names) < 20:
        raise ValueError(f"--names: '{args.names}' has {len(names)} names, and it needs at least 20")
    rng = np.random.default_rng(args.seed)
    names = [names[i] for i in rng.permutation(len(names))][: 48 if args.quick else None]
    held_out, learned = names[: len(names) // 10], names[len(names) // 10 :]
    alphabet = "\n" + "".join(sorted(set("".join(names))))
    model = OwnGPT(parts(args.answers), alphabet, max(map(len, names)) + 1, rng)
    train(model, learned, held_out, 2 if args.quick else args.epochs)
    written = [model.write(rng, args.temperature) for _ in range(12)]
    print("It writes:", ", ".join(f"{name}{'' if name in names else ' (new)'}" for name in written))
    draw(model, held_out[0], make_folder(args.out))
    print(
        f"{args.out / 'own_gpt.html'} steps through '{held_out[0]}', and {args.out / 'own_gpt_attention.png'} shows its heads"
    )
    return model


if __name__ == "__main__":
    run(main)
