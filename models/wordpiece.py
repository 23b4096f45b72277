"""WordPiece: text as the ids that BERT was trained on, and back."""

from __future__ import annotations

import functools
import os
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from minigrad import ArgumentError, OutOfRangeError
from minigrad.internal import Maybe, read_json, read_text, require

Ids = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

PADDING, UNKNOWN, START, END = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
SPECIAL = (PADDING, UNKNOWN, START, END, "[MASK]")
LONGEST_WORD = 100  # characters; a longer word is unknown

_SPECIAL_IN_TEXT = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")
# The blocks of ideographs. Chinese and Japanese put no spaces between words, so each of these counts as a word.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip
# In the order in which decode() tries them: what basic_words() took apart, as it is usually written.
_REJOINED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"))


class WordPiece:
    """Words cut into the longest pieces that a vocabulary has: "humiliated" -> "humiliated", "didnt" -> "didn" "##t".

    A text is cut into words (:func:`basic_words`); each word, from its start, into the longest piece that is in the
    vocabulary, where a piece inside a word is written with ``##`` before it. A word with a part that no piece covers is
    ``[UNK]``, and so is one of more than 100 characters. ``[CLS]``, ``[SEP]``, ``[MASK]``, ``[PAD]`` and ``[UNK]``, written
    so in a text, are themselves. Schuster and Nakajima 2012 (ICASSP); Devlin et al. 2019, arXiv:1810.04805, section 3.

    Args:
        vocabulary: the pieces; the id of a piece is its place.
        max_length: the most tokens that the model takes, ``[CLS]`` and ``[SEP]`` included.
        lowercase: whether letters are made small and lose their accents ("uncased" models).

    Raises:
        ArgumentError: the vocabulary lacks ``[PAD]``, ``[UNK]``, ``[CLS]`` or ``[SEP]``, or max_length is below 2.

    Example:
        >>> import models
        >>> pieces = models.WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "did", "##n", "##t"])
        >>> pieces.tokenize("I didnt"), pieces.tokenize("why")
        (['i', 'did', '##n', '##t'], ['[UNK]'])
        >>> ids, mask = pieces(["i", "i did"])
        >>> ids
        array([[2, 4, 3, 0],
               [2, 4, 5, 3]])
        >>> mask.astype(int)
        array([[1, 1, 1, 0],
               [1, 1, 1, 1]])
    """

    def __init__(self, vocabulary: Sequence[str], *, max_length: int = 512, lowercase: bool = True) -> None:
        self.pieces = list(vocabulary)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        if missing := [piece for piece in (PADDING, UNKNOWN, START, END) if piece not in self.ids]:
            raise ArgumentError(f"the vocabulary has no {', '.join(missing)}: is it the vocab.txt of a BERT model?")
        self.max_length = _check_length(max_length, "max_length")
        self.lowercase = lowercase

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str]) -> Self:
        """The tokenizer of a model in the layout of the libraries Transformers and Sentence Transformers.

        ``vocab.txt`` has a piece a line. Where the files are there, the longest text comes from
        ``sentence_bert_config.json`` or ``tokenizer_config.json``, and whether letters become small from the latter.

        Raises:
            ArgumentError: there is no vocab.txt, or it is no vocabulary.
        """
        path = Path(folder) / "vocab.txt"
        if not path.is_file():
            raise ArgumentError(f"there is no vocab.txt in '{folder}': give the folder of a BERT model")
        pieces = read_text(path).removesuffix("\n").split("\n")
        forms = {"model_max_length": int | float, "do_lower_case": bool}  # some write 1e30 for any length
        settings = _settings(path.with_name("tokenizer_config.json"), forms)
        sentence = _settings(path.with_name("sentence_bert_config.json"), {"max_seq_length": Maybe(int)})
        max_length = sentence.get("max_seq_length") or min(settings.get("model_max_length", 512), 512)
        return cls(pieces, max_length=max_length, lowercase=settings.get("do_lower_case", True))

    def __len__(self) -> int:
        return len(self.pieces)

    def tokenize(self, text: str) -> list[str]:
        """The pieces of a text: ``"i didnt"`` -> ``["i", "didn", "##t"]``."""
        pieces: list[str] = []
        for part in _SPECIAL_IN_TEXT.split(text):
            if part in SPECIAL:
                pieces.append(part if part in self.ids else UNKNOWN)
            else:
                for word in basic_words(part, lowercase=self.lowercase):
                    pieces += self._word(word)
        return pieces

    def _word(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            return [UNKNOWN]
        pieces, start = [], 0
        while start < len(word):
            inside = "##" if start else ""
            candidates = (end for end in range(len(word), start, -1) if inside + word[start:end] in self.ids)
            end = next(candidates, None)
            if end is None:
                return [UNKNOWN]
            pieces.append(inside + word[start:end])
            start = end
        return pieces

    def encode(self, text: str) -> list[int]:
        """The ids of a text between those of ``[CLS]`` and ``[SEP]``, however long it is."""
        return [self.ids[piece] for piece in (START, *self.tokenize(text), END)]

    def __call__(self, texts: Sequence[str], *, length: int | None = None) -> tuple[Ids, Mask]:
        """Ids and mask of a batch of texts, each (batch, length): padding has the id of ``[PAD]`` and the mask False.

        Args:
            length: of the rows; by default that of the longest text.

        A text that is longer than ``length``, or than ``max_length``, loses its end, with a warning; its last token is still
        ``[SEP]``.

        Raises:
            ArgumentError: ``texts`` is one text, or empty; length is below 2 or above ``max_length``.
        """
        if isinstance(texts, str) or not len(texts):
            raise ArgumentError(f"texts must be a list of one or more texts, got {texts!r}")
        limit = self.max_length if length is None else _check_length(length, "length")
        if limit > self.max_length:
            raise ArgumentError(f"length must be at most the model's max_length={self.max_length}, got {length}")
        rows = [self.encode(text) for text in texts]
        if cut := sum(len(row) > limit for row in rows):
            warnings.warn(
                f"{cut} of {len(rows)} texts have more than {limit} tokens, and count as their beginnings: split them",
                stacklevel=2,
            )
            rows = [row if len(row) <= limit else [*row[: limit - 1], row[-1]] for row in rows]
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(max(lengths) if length is None else length) < lengths[:, None]
        ids = np.full(mask.shape, self.ids[PADDING])
        ids[mask] = np.concatenate(rows)
        return ids, mask

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        """The text of ids, as far as they tell: small letters, one space between words, and none before ``.,!?``.

        Args:
            special: whether to keep ``[CLS]``, ``[PAD]`` and so on.

        Raises:
            OutOfRangeError: an id is not in the vocabulary.
        """
        text = ""
        for i in map(int, ids):
            if not 0 <= i < len(self.pieces):
                raise OutOfRangeError(f"the vocabulary has the ids 0 to {len(self.pieces) - 1}, got {i}")
            piece = self.pieces[i]
            if special or piece not in SPECIAL:
                text += piece[2:] if piece.startswith("##") and text else f" {piece}"
        for apart, together in _REJOINED:
            text = text.replace(apart, together)
        return text.strip()


def basic_words(text: str, *, lowercase: bool = True) -> list[str]:
    """The words and punctuation marks of a text, as BERT sees them before it cuts words into pieces.

    Control characters go, every white space is a space, ideographs and punctuation marks are words of their own; with
    ``lowercase`` letters are made small and lose their accents: ``"Café, 東京!"`` -> ``["cafe", ",", "東", "京", "!"]``.
    """
    text = "".join(map(_cleaned, text))
    if lowercase:
        apart = unicodedata.normalize("NFD", text)  # é -> e and an accent
        text = "".join(c.lower() for c in apart if unicodedata.category(c) != "Mn")
    return "".join(map(_punctuation_apart, text)).split()


@functools.lru_cache(maxsize=4096)
def _cleaned(c: str) -> str:
    category = unicodedata.category(c)
    if c.isspace() and (category != "Cc" or c in "\t\n\r"):
        return " "
    if category in ("Cc", "Cf", "Co", "Cs") or c == "\ufffd":  # control, format, private, half of a pair; "unreadable"
        return ""
    return f" {c} " if any(first <= ord(c) <= last for first, last in _IDEOGRAPHS) else c


@functools.lru_cache(maxsize=4096)
def _punctuation_apart(c: str) -> str:
    # All of ASCII that is neither letter, digit nor space counts, "$" and "+" too.
    mark = unicodedata.category(c).startswith("P") or (c.isascii() and c.isprintable() and not c.isalnum())
    return f" {c} " if mark else c


def _check_length(length: int, name: str) -> int:
    if length < 2:
        raise ArgumentError(f"{name} must be at least 2, for [CLS] and [SEP], got {length}")
    return length


def _settings(path: Path, forms: dict[str, Any]) -> dict[str, Any]:
    """What a file beside the vocabulary says, where there is one: each of the settings in ``forms`` may be missing."""
    values: dict[str, Any] = read_json(path, dict) if path.is_file() else {}
    require(values, {name: form for name, form in forms.items() if name in values}, f"'{path}'")
    return values
