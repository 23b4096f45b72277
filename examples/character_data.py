"""Characters to learn to write: the names of Faker's English locale, or a text file; and n-gram models that do the same.

Both kinds of data have `alphabet` (the character of each id), `window` (the most characters a model has to see),
`batches` (for `nn.fit`), `held_out` (what it is tested on: ids and labels), `contexts` (both parts as an n-gram model reads
them) and `shown` (a piece to draw).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nn
from minigrad.errors import import_extra

Ids = NDArray[np.int64]

END = 0  # of a name: a character like the others, which the model has to predict too
IGNORED = -1  # labels that do not count
LONGEST_CONTEXT = 4  # characters that an n-gram model sees before the one it predicts


class Names:
    """The first names of Faker's English locale (`en`): each once, in small letters, a tenth of them held out.

    A name is a line: id 0, the line's end, closes it and stands before its first letter.

    Raises:
        MissingExtraError: Faker is not installed.
    """

    def __init__(self, seed: int, count: int | None = None) -> None:
        provider = import_extra("faker.providers.person.en", "examples", "the list of names").Provider
        names = sorted({name.lower() for name in provider.first_names})
        chosen = [names[i] for i in np.random.default_rng(seed).permutation(len(names))[:count]]
        self.test, self.train = chosen[: len(chosen) // 10], chosen[len(chosen) // 10 :]
        self.alphabet = "\n" + "".join(sorted(set("".join(names))))
        self.window = max(map(len, names)) + 1
        self.held_out = self._framed(self.test)

    def __str__(self) -> str:
        return f"{len(self.train)} names to learn from and {len(self.test)} others, such as {', '.join(self.train[:3])}"

    def batches(self, batch_size: int, seed: int) -> nn.Batches:
        return nn.Batches(self._framed(self.train), batch_size, seed=seed)

    def contexts(self) -> tuple[Ids, Ids]:
        """What an n-gram model learns from and is tested on, (characters, LONGEST_CONTEXT + 1): the last column follows."""
        return self._contexts(self.train), self._contexts(self.test)

    def shown(self) -> Ids:
        """What to draw the attention for: a long held-out name, (length,)."""
        return np.array([END, *encode(max(self.test[:50], key=len), self.alphabet)])

    def _framed(self, names: list[str]) -> tuple[Ids, Ids]:
        """What the model sees, (names, window), and what comes next: the letters, the end, then nothing that counts."""
        ids, labels = (np.full((len(names), self.window), fill) for fill in (END, IGNORED))
        for i, name in enumerate(names):
            labels[i, : len(name) + 1] = [*encode(name, self.alphabet), END]
            ids[i, 1 : len(name) + 1] = labels[i, : len(name)]
        return ids, labels

    def _contexts(self, names: list[str]) -> Ids:
        padding = [END] * LONGEST_CONTEXT
        lines = [np.array([*padding, *encode(name, self.alphabet), END]) for name in names]
        return np.concatenate([sliding(line, LONGEST_CONTEXT + 1) for line in lines])


class Text:
    """A text file, or its first `count` characters: the last tenth of them is held out.

    Raises:
        OSError, ValueError: the file cannot be read, is not UTF-8, or is too short for the window.
    """

    def __init__(self, path: Path, window: int, count: int | None = None) -> None:
        try:
            text = path.read_text(encoding="utf-8")[:count]
        except UnicodeDecodeError as error:
            raise ValueError(f"--text '{path}' is not UTF-8 ({error.reason} at byte {error.start})") from error
        if len(text) < 20 * window:
            raise ValueError(
                f"--text '{path}' has {len(text)} characters, and a window of {window} needs at least {20 * window}: give a "
                "longer text, or a smaller --window"
            )
        self.alphabet, self.window = "".join(sorted(set(text))), window
        ids = encode(text, self.alphabet)
        self.train, self.test = ids[: -len(ids) // 10], ids[-len(ids) // 10 :]
        self.held_out = self._held_out()

    def __str__(self) -> str:
        kinds = len(self.alphabet)
        return f"{len(self.train):,} characters to learn from and the {len(self.test):,} after them, of {kinds} kinds"

    def batches(self, batch_size: int, seed: int) -> Windows:
        return Windows(self.train, self.window, batch_size, seed)

    def contexts(self) -> tuple[Ids, Ids]:
        """As of Names. The first held-out characters are seen with the end of the others before them."""
        bridge = np.concatenate([self.train[-LONGEST_CONTEXT:], self.test])
        return sliding(self.train, LONGEST_CONTEXT + 1), sliding(bridge, LONGEST_CONTEXT + 1)

    def shown(self) -> Ids:
        return self.test[: min(16, self.window)]

    def _held_out(self) -> tuple[Ids, Ids]:
        """Windows that overlap by half, of which the second half counts: so each character is predicted once, from at least
        half a window before it."""
        half = self.window // 2
        count = len(self.test) // half  # an incomplete half at the end of the text is left out
        stretch = np.concatenate([self.train[-half - 1 :], self.test])
        windows = sliding(stretch, 2 * half + 1)[::half][:count]
        labels = windows[:, 1:].copy()
        labels[:, :half] = IGNORED
        return windows[:, :-1], labels


class Windows:
    """The text cut into windows, in another order and at other places in each epoch: for `nn.fit`."""

    def __init__(self, ids: Ids, window: int, batch_size: int, seed: int) -> None:
        self.ids, self.window, self.batch_size, self.seed = ids, window, batch_size, seed
        self.count = (len(ids) - 1) // window - 1  # one less than there are: the first begins somewhere in a window

    def __len__(self) -> int:
        return -(-self.count // self.batch_size)

    def to_dict(self) -> dict[str, Any]:
        """What the windows depend on, besides the text."""
        return {
            "characters": len(self.ids),
            "window": self.window,
            "batch_size": self.batch_size,
            "seed": self.seed,
        }

    def epoch(self, n: int) -> Iterator[tuple[Ids, Ids]]:
        rng = np.random.default_rng([self.seed, n])
        starts = rng.integers(self.window) + self.window * rng.permutation(self.count)
        for first in range(0, self.count, self.batch_size):
            windows = self.ids[starts[first : first + self.batch_size, None] + np.arange(self.window + 1)]
            yield windows[:, :-1], windows[:, 1:]


def _few(characters: Sequence[str], most: int = 10) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(characters) - most} more" if len(characters) > most else ""
    return repr("".join(characters[:most])) + more


def encode(text: str, alphabet: str) -> Ids:
    """
    Raises:
        ValueError: a character is not in the alphabet.
    """
    ids = {character: i for i, character in enumerate(alphabet)}
    if unknown := sorted(set(text) - ids.keys()):
        raise ValueError(
            f"{_few(unknown)} {'is' if len(unknown) == 1 else 'are'} not among the {len(alphabet)} characters that the model "
            f"knows, {_few(sorted(alphabet, key=str.isalnum, reverse=True))}"
        )
    return np.array([ids[character] for character in text], np.int64)


def decode(ids: Any, alphabet: str) -> str:
    return "".join(alphabet[i] for i in ids)


def sliding(ids: Ids, length: int) -> Ids:
    """Every stretch of this length: (n,) -> (n - length + 1, length)"""
    return np.lib.stride_tricks.sliding_window_view(ids, length)


def ngram_losses(train: Ids, test: Ids, vocab_size: int) -> list[float]:
    """Nats per character of `test` under n-gram models of `train`, n = 1, 2, ... to the width of both.

    Smoothed after Witten and Bell 1991, in the interpolated form (Chen and Goodman 1998, section 2.4): with c how often a
    character followed a context, N all that followed it and u how many different ones,

        P(character | context) = (c + u * P(character | shorter context)) / (N + u),

    and at the end of the recursion all characters are equally probable.
    """
    losses, probability = [], np.full(len(test), 1 / vocab_size)
    for n in range(1, min(train.shape[1], int(62 / np.log2(max(vocab_size, 2)))) + 1):  # keys are 64-bit numbers
        powers = vocab_size ** np.arange(n)[::-1]
        grams, counts = np.unique(train[:, -n:] @ powers, return_counts=True)
        contexts, first, kinds = np.unique(grams // vocab_size, return_index=True, return_counts=True)
        totals = np.add.reduceat(counts, first)
        keys = test[:, -n:] @ powers
        c, u = _looked_up(keys, grams, counts), _looked_up(keys // vocab_size, contexts, kinds)
        total = _looked_up(keys // vocab_size, contexts, totals)
        probability = (c + u * probability) / np.maximum(total + u, 1) + (total == 0) * probability
        losses.append(float(-np.log(probability).mean()))
    return losses


def _looked_up(keys: Ids, known: Ids, values: Ids) -> Ids:
    """The value of each key, 0 if it is not known."""
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, values[place], 0)
