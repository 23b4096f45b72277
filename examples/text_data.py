"""Labelled short texts for `train_classifier.py`: load and split them, make tokens of them, and batches.

Two sources, one result, a `TextDataset`: the names of the emoji in 14 languages, where the task is to tell the language
(`load_emoji_names`), or anybody's own file of `text TAB label` lines (`load_tsv`). Both depend on nothing but their
arguments: the same seed gives the same split.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

import nn
from minigrad.errors import import_extra

Batch = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]  # ids, mask, labels

PADDING, UNKNOWN = 0, 1  # the ids that stand for no n-gram
LONGEST_NGRAM = 3  # characters

SKIN_TONES = set("🏻🏼🏽🏾🏿")
# Emoji that differ only in gender, hair or direction have names that differ in one word ("woman running", "man running
# facing right"), and keycaps in one digit. Replacing or deleting these characters gives such variants one name.
_VARIANTS = str.maketrans(
    dict.fromkeys("👨👩", "🧑")
    | dict.fromkeys("👦👧", "🧒")
    | dict.fromkeys("👴👵", "🧓")
    | dict.fromkeys("🤴👸", "🫅")
    | dict.fromkeys("🤰🫃", "🫄")
    | dict.fromkeys("👫👬👭", "🧑🤝")
    | {"👪": "🧑🧒", "💑": "🧑❤", "💏": "🧑❤💋", "💃": "🕺", "🤶": "🎅"}
    | dict.fromkeys("♀♂➡🦰🦱🦲🦳0123456789#*\u200d\ufe0f", "")  # the last two: joiner and variation selector
)
# The family pictures (mother, father, son ...) alone are 400 names, a tenth of a validation set: families as large as
# that always train.
_LARGEST_VALIDATION_FAMILY = 100

_TSV_FORMAT = "each line must be a text, one TAB and a label"


@dataclass(frozen=True)
class TextDataset:
    """Texts with their labels in two parts, none of whose texts is in both. A label is an index into `classes`."""

    train_texts: list[str]
    train_labels: NDArray[np.int64]  # (train,)
    validation_texts: list[str]
    validation_labels: NDArray[np.int64]  # (validation,)
    classes: list[str]


class _Row(NamedTuple):
    text: str
    label: str
    group: str  # rows of one group stay on the same side of the split


def load_dataset(path: str | Path | None = None, *, validation_fraction: float = 0.15, seed: int = 0) -> TextDataset:
    """The file at `path`, or the emoji names if there is none."""
    if path is None:
        return load_emoji_names(validation_fraction=validation_fraction, seed=seed)
    return load_tsv(path, validation_fraction=validation_fraction, seed=seed)


def load_emoji_names(*, validation_fraction: float = 0.15, seed: int = 0) -> TextDataset:
    """Names of emoji, labelled with the language they are in (`ar`, `de`, `en`, ...).

    All names of an emoji, and of its variants (`emoji_family`), are on the same side of the split. Nothing is
    downloaded: the names come with the package `emoji`, which has them from Unicode's Common Locale Data Repository.

    Raises:
        MissingExtraError: the package `emoji` is not installed.
        ValueError: `validation_fraction` is not between 0 and 1.
    """
    _check_fraction(validation_fraction)
    rows = _emoji_rows()
    sizes = Counter(row.group for row in rows)
    families = sorted(family for family, size in sizes.items() if size <= _LARGEST_VALIDATION_FAMILY)
    validation: set[str] = set()
    missing = validation_fraction * len(rows)
    for i in np.random.default_rng(seed).permutation(len(families)):
        if missing <= 0:
            break
        validation.add(families[i])
        missing -= sizes[families[i]]
    return _dataset(rows, validation)


def emoji_family(symbol: str) -> str:
    """What an emoji has in common with its variants of another gender, hair or direction (a key, not a picture).

    Woman running, man running and woman running facing right all give 🏃.
    """
    plain = symbol.translate(_VARIANTS)
    return "".join(dict.fromkeys(plain)) or symbol  # each character once: a family may have one, two or more children


def _emoji_rows() -> list[_Row]:
    emoji = import_extra("emoji", extra="examples", purpose="the default data set")
    emoji.config.load_language()  # all of them
    rows = [
        _Row(_emoji_name(entry[language]), language, emoji_family(symbol))
        for symbol, entry in sorted(emoji.EMOJI_DATA.items())
        # Other statuses repeat an emoji, and its names, in a shorter spelling; skin tones repeat it five times.
        if entry["status"] == emoji.STATUS["fully_qualified"] and not SKIN_TONES & set(symbol)
        for language in emoji.LANGUAGES
        if language in entry
    ]
    # "banana" is English, Italian and Portuguese: there is no right answer to learn or to be tested on.
    times = Counter(row.text for row in rows)
    return [row for row in rows if times[row.text] == 1]


def _emoji_name(name: str) -> str:
    """`:A_button_(blood_type):` -> `a button (blood type)`.

    The package lower-cases the names of eleven languages and leaves capitals in English, Russian and Chinese ones, so a
    capital letter would give the language away, and only in this data.
    """
    return normalize_text(name.strip(":").replace("_", " ").lower())


def normalize_text(text: str) -> str:
    """Without surrounding space, and with an accented letter as one code point (NFC) however it was typed."""
    return unicodedata.normalize("NFC", text).strip()


def load_tsv(path: str | Path, *, validation_fraction: float = 0.15, seed: int = 0) -> TextDataset:
    """A file of `text TAB label` lines in UTF-8, without a header; blank lines are skipped.

    Every class gives the same share of its different texts to the validation part. Copies of a text (but for capitals
    and spaces) stay together, and a text that has two labels, so no right answer to be tested on, trains.

    Raises:
        ValueError: the file cannot be read or is not such a file (the message says where and what to do), or
            `validation_fraction` is not between 0 and 1.
    """
    _check_fraction(validation_fraction)
    rows = _read_tsv(Path(path))
    labels = defaultdict(set)
    for row in rows:
        labels[row.group].add(row.label)
    groups: dict[str, list[str]] = {label: [] for label in sorted({row.label for row in rows})}
    if len(groups) == 1:
        raise ValueError(f"{path}: all {len(rows)} texts have the label {rows[0].label!r}; add texts of a second class")
    for group, found in labels.items():
        if len(found) == 1:
            for label in found:
                groups[label].append(group)
    rng = np.random.default_rng(seed)
    validation: set[str] = set()
    for label, texts in groups.items():
        if len(texts) < 2:
            raise ValueError(
                f"{path}: the label {label!r} needs at least two different texts of its own, one to train and one to "
                f"test on, and has {len(texts)}; add some or remove it (a header line is not expected)"
            )
        count = min(max(1, round(validation_fraction * len(texts))), len(texts) - 1)
        validation.update(texts[i] for i in rng.permutation(len(texts))[:count])
    return _dataset(rows, validation)


def _read_tsv(path: Path) -> list[_Row]:
    rows = []
    # Not str.splitlines(), which would also cut at characters that may stand inside a text (U+0085, U+2028).
    lines = _read_utf8(path).replace("\r\n", "\n").split("\n")
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not filled:
        raise ValueError(f"{path} is empty: {_TSV_FORMAT}")
    if not any("\t" in line for _, line in filled):
        raise ValueError(f"{path} has no labels, as no line (of {len(filled)}) has a TAB: {_TSV_FORMAT}")
    for number, line in filled:
        columns = [normalize_text(column) for column in line.split("\t")]
        if len(columns) != 2:
            raise ValueError(f"{path}:{number} has {len(columns) - 1} TABs instead of one: {_TSV_FORMAT}")
        text, label = columns
        if not text or not label:
            raise ValueError(f"{path}:{number} has no {'label' if text else 'text'}: {_TSV_FORMAT}")
        rows.append(_Row(text, label, group=" ".join(text.casefold().split())))
    return rows


def _read_utf8(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}; give the path of a UTF-8 text file") from error
    try:
        return content.decode("utf-8-sig")  # -sig: without the byte order mark that some Windows programs put first
    except UnicodeDecodeError as error:
        number = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}:{number} is not UTF-8 ({error.reason}); save the file as UTF-8") from error


def _check_fraction(validation_fraction: float) -> None:
    if not 0 < validation_fraction < 1:
        raise ValueError(f"validation_fraction must lie between 0 and 1, got {validation_fraction}")


def _dataset(rows: list[_Row], validation: set[str]) -> TextDataset:
    """`validation` holds the groups that do not train."""
    classes = sorted({row.label for row in rows})
    index = {label: i for i, label in enumerate(classes)}
    train = [row for row in rows if row.group not in validation]
    held_out = [row for row in rows if row.group in validation]
    return TextDataset(
        train_texts=[row.text for row in train],
        train_labels=np.array([index[row.label] for row in train], dtype=np.int64),
        validation_texts=[row.text for row in held_out],
        validation_labels=np.array([index[row.label] for row in held_out], dtype=np.int64),
        classes=classes,
    )


class Vocabulary:
    """The runs of one to three characters (n-grams) that a model knows, numbered from 2; id 0 is padding.

    A text becomes one token for each of its characters and one for the space before it: the longest known n-gram that
    starts there. Tokens overlap, and the spaces show where a word begins and ends: "a cat" is " a ", "a c", " ca",
    "cat", "at ", "t ". Where not even the character is known the token is id 1.

    Attributes:
        ngrams: that of id 2, of id 3 and so on.
        prefixes: (number of ids, 3), what each n-gram begins with: for "cat" the ids of "c", "ca" and "cat", and for
            "c" its own, padding and padding.

    Raises:
        ValueError: an element of `ngrams` is not one to three characters, appears twice, or begins with something that is
            not an element.
    """

    def __init__(self, ngrams: Iterable[str]) -> None:
        self.ngrams = list(ngrams)
        for ngram in self.ngrams:
            if not isinstance(ngram, str) or not 1 <= len(ngram) <= LONGEST_NGRAM:
                raise ValueError(f"n-grams must be strings of 1 to {LONGEST_NGRAM} characters, got {ngram!r}")
        self._ids = {ngram: i for i, ngram in enumerate(self.ngrams, start=UNKNOWN + 1)}
        if len(self._ids) != len(self.ngrams):
            twice, _ = Counter(self.ngrams).most_common(1)[0]
            raise ValueError(f"n-grams must differ, got {twice!r} twice")
        self.prefixes = np.full((len(self), LONGEST_NGRAM), PADDING)
        self.prefixes[UNKNOWN, 0] = UNKNOWN
        for ngram, i in self._ids.items():
            for n in range(1, len(ngram) + 1):
                if ngram[:n] not in self._ids:
                    raise ValueError(
                        f"n-grams must come with what they begin with, got {ngram!r} without {ngram[:n]!r}"
                    )
                self.prefixes[i, n - 1] = self._ids[ngram[:n]]

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, min_count: int = 3) -> Self:
        """The n-grams that appear at least `min_count` times in `texts`: the training texts, and no others.

        With `min_count=1` no training text would hold an unknown character, and its embedding would stay untrained.
        """
        counts = Counter(
            padded[start : start + n]
            for padded in map(_between_spaces, texts)
            for n in range(1, LONGEST_NGRAM + 1)
            for start in range(len(padded) - n + 1)
        )
        return cls(sorted(ngram for ngram, count in counts.items() if count >= min_count))

    def __len__(self) -> int:
        """The number of ids, padding and unknown included."""
        return len(self.ngrams) + UNKNOWN + 1

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids `(1 + length of the text,)`. A capital letter that is not known counts as its small one."""
        known = (character if character in self._ids else character.lower() for character in normalize_text(text))
        padded = _between_spaces("".join(known))
        return np.array([self._longest(padded[i : i + LONGEST_NGRAM]) for i in range(len(padded) - 1)], dtype=np.int64)

    def _longest(self, text: str) -> int:
        """The id of the longest n-gram that `text` begins with."""
        known = (self._ids[text[:n]] for n in range(len(text), 0, -1) if text[:n] in self._ids)
        return next(known, UNKNOWN)

    def characters(self, ids: Iterable[int]) -> list[str]:
        """The character at which each token starts: nothing for padding, U+FFFD (\N{REPLACEMENT CHARACTER}) for unknown.

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        alphabet = ["", "\N{REPLACEMENT CHARACTER}", *(ngram[0] for ngram in self.ngrams)]
        ids = list(ids)
        for i in ids:
            if not 0 <= i < len(alphabet):
                raise ValueError(f"ids must be from 0 to {len(alphabet) - 1}, got {i}")
        return [alphabet[i] for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """The text whose tokens `ids` are: their `characters` together, without the space that `encode` put first."""
        return "".join(self.characters(ids)).strip()

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` makes an equal vocabulary of; it can be written as JSON."""
        return {"ngrams": self.ngrams}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """
        Raises:
            ValueError: `state` is not what `to_dict` gives.
        """
        if not isinstance(state, dict) or not isinstance(state.get("ngrams"), list):
            raise ValueError(f"not a saved vocabulary, which is {{'ngrams': [...]}}: got {state!r:.80}")
        return cls(state["ngrams"])


def _between_spaces(text: str) -> str:
    return f" {text} "


def pad(sequences: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Ids and mask, both `(batch, longest)`; the mask is True on tokens and False on padding."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    longest = max(1, int(lengths.max(initial=0)))  # a sequence without tokens is a row of padding, not of length 0
    mask = np.arange(longest) < lengths[:, None]
    ids = np.full(mask.shape, PADDING, dtype=np.int64)
    if lengths.any():
        ids[mask] = np.concatenate(sequences)
    return ids, mask


def batches(
    sequences: Sequence[NDArray[np.int64]], labels: NDArray[np.int64], batch_size: int, *, seed: int | None
) -> nn.Batches:
    """Ids `(batch, longest)`, mask `(batch, longest)` (True = attend) and labels `(batch,)`, every sequence once.

    Sequences of about one length go together, so that little time is spent on padding. `seed` is of the order; with None the
    short ones come first.

    Raises:
        ValueError: there are not as many labels as sequences, or `batch_size` is below 1.
    """
    if len(sequences) != len(labels):
        raise ValueError(f"labels must be as many as sequences: got {len(labels)} for {len(sequences)} sequences")

    def collate(indices: NDArray[np.int64]) -> Batch:
        ids, mask = pad([sequences[i] for i in indices])
        return ids, mask, labels[indices]

    return nn.Batches(
        len(sequences),
        batch_size,
        seed=seed or 0,
        shuffle=seed is not None,
        lengths=[len(sequence) for sequence in sequences],
        collate=collate,
    )
