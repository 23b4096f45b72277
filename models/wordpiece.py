"""WordPiece: a tokenizer that converts text to the ids of BERT's vocabulary and back."""

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
from nn._checks import check_integer, check_kind, check_texts, shown

Ids = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

PADDING, UNKNOWN, START, END = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
SPECIAL = (PADDING, UNKNOWN, START, END, "[MASK]")
LONGEST_WORD = 100  # characters; a longer word is unknown

_SPECIAL_IN_TEXT = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")
# The Unicode blocks of ideographs. Chinese and Japanese put no spaces between words, so each ideograph counts as a word.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip
# decode() joins what basic_words() took apart: it replaces the first string of each pair with the second, in this order.
_REJOINED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"))


class WordPiece:
    """A tokenizer that cuts words into the longest pieces of its vocabulary: "didnt" -> "didn" "##t".

    It cuts a text into words (:func:`basic_words`). From each word it repeatedly cuts the longest beginning that is in the
    vocabulary. Every piece except the first of a word is written with ``##`` in front. A word becomes ``[UNK]`` if it cannot be
    cut completely into such pieces, or if it has more than 100 characters. The special tokens ``[CLS]``, ``[SEP]``, ``[MASK]``,
    ``[PAD]`` and ``[UNK]`` are recognised in a text. Sources: Schuster and Nakajima 2012 (ICASSP); Devlin et al. 2019,
    arXiv:1810.04805, section 3.

    Args:
        vocabulary: the pieces; the id of a piece is its index.
        max_length: the greatest number of tokens that the model accepts, including ``[CLS]`` and ``[SEP]``.
        lowercase: whether letters are converted to lowercase and lose their accents ("uncased" models).

    Raises:
        ArgumentError: the vocabulary lacks ``[PAD]``, ``[UNK]``, ``[CLS]`` or ``[SEP]``, or max_length is below 2.

    Example:
        >>> import models
        >>> pieces = models.WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "did", "didn", "##t"])
        >>> pieces.tokenize("I didnt"), pieces.tokenize("why")
        (['i', 'didn', '##t'], ['[UNK]'])
        >>> ids, mask = pieces(["i", "i did"])
        >>> ids
        array([[2, 4, 3, 0],
               [2, 4, 5, 3]])
        >>> mask.astype(int)
        array([[1, 1, 1, 0],
               [1, 1, 1, 1]])
    """

    def __init__(self, vocabulary: Sequence[str], *, max_length: int = 512, lowercase: bool = True) -> None:
        check_texts(vocabulary=vocabulary)
        check_kind("True or False", lowercase=lowercase)
        self.pieces = list(vocabulary)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        if missing := [piece for piece in (PADDING, UNKNOWN, START, END) if piece not in self.ids]:
            raise ArgumentError(f"the vocabulary has no {', '.join(missing)}: pass the vocab.txt of a BERT model")
        self.max_length = _check_length(max_length, "max_length")
        self.lowercase = lowercase

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str]) -> Self:
        """Load the tokenizer from a model folder that the library Transformers or Sentence Transformers saved.

        ``vocab.txt`` has one piece per line. ``max_length`` is read from ``sentence_bert_config.json`` or
        ``tokenizer_config.json``, and ``lowercase`` from ``tokenizer_config.json``, if these files exist.

        Raises:
            ArgumentError: there is no vocab.txt, or it lacks a special token.
        """
        check_kind("a path", folder=folder)
        path = Path(folder) / "vocab.txt"
        if not path.is_file():
            raise ArgumentError(f"there is no vocab.txt in '{folder}': pass the folder of a BERT model")
        pieces = read_text(path).removesuffix("\n").split("\n")
        forms = {"model_max_length": int | float, "do_lower_case": bool}  # some files have 1e30 for "no limit"
        settings = _settings(path.with_name("tokenizer_config.json"), forms)
        sentence = _settings(path.with_name("sentence_bert_config.json"), {"max_seq_length": Maybe(int)})
        max_length = sentence.get("max_seq_length") or min(settings.get("model_max_length", 512), 512)
        return cls(pieces, max_length=max_length, lowercase=settings.get("do_lower_case", True))

    def __len__(self) -> int:
        return len(self.pieces)

    def tokenize(self, text: str) -> list[str]:
        """Return the pieces of a text: ``"i didnt"`` -> ``["i", "didn", "##t"]``."""
        check_kind("a text", text=text)
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
        """Return the ids of ``[CLS]``, of all pieces of a text and of ``[SEP]``; nothing is truncated."""
        return [self.ids[piece] for piece in (START, *self.tokenize(text), END)]

    def __call__(self, texts: Sequence[str], *, length: int | None = None) -> tuple[Ids, Mask]:
        """Return the ids and the mask of a batch of texts, each (batch, length).

        Padding has the id of ``[PAD]`` and False in the mask. A text with more than ``length`` or ``max_length`` tokens is
        truncated, with a warning; its last token is still ``[SEP]``.

        Args:
            length: the length of the rows, in tokens; by default that of the longest text.

        Raises:
            ArgumentError: ``texts`` is a single string or is empty, or length is below 2 or above ``max_length``.
        """
        if not isinstance(texts, str):
            check_texts(texts=texts)
        if isinstance(texts, str) or not len(texts):
            raise ArgumentError(f"texts must be a list of one or more texts, got {shown(texts)}")
        limit = self.max_length if length is None else _check_length(length, "length")
        if limit > self.max_length:
            raise ArgumentError(f"length must be at most the model's max_length={self.max_length}, got {length}")
        rows = [self.encode(text) for text in texts]
        if cut := sum(len(row) > limit for row in rows):
            warnings.warn(
                f"{cut} of {len(rows)} texts have more than {limit} tokens and are truncated: split them",
                stacklevel=2,
            )
            rows = [row if len(row) <= limit else [*row[: limit - 1], row[-1]] for row in rows]
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(max(lengths) if length is None else length) < lengths[:, None]
        ids = np.full(mask.shape, self.ids[PADDING])
        ids[mask] = np.concatenate(rows)
        return ids, mask

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        """Return the text of ids, with one space between words and none before ``.,!?``; original spaces and case are lost.

        Args:
            special: whether to keep special tokens such as ``[CLS]`` and ``[PAD]``.

        Raises:
            OutOfRangeError: an id is not in the vocabulary.
        """
        check_kind("True or False", special=special)
        text = ""
        check_kind("a list of ids", Iterable, ids=ids)
        found = list(ids)
        if not all(isinstance(i, (int, np.integer)) for i in found):
            raise ArgumentError(f"ids must be a list of integers, got {shown(ids)}")
        for i in found:
            if not 0 <= i < len(self.pieces):
                raise OutOfRangeError(f"the vocabulary has the ids 0 to {len(self.pieces) - 1}, got {i}")
            piece = self.pieces[i]
            if special or piece not in SPECIAL:
                text += piece[2:] if piece.startswith("##") and text else f" {piece}"
        for apart, together in _REJOINED:
            text = text.replace(apart, together)
        return text.strip()


def basic_words(text: str, *, lowercase: bool = True) -> list[str]:
    """Return the words and punctuation marks of a text, as BERT defines them before it cuts words into pieces.

    Control characters are removed, and all white space separates words. Each ideograph and each punctuation mark is a word.
    With ``lowercase`` letters become lowercase and lose their accents: ``"Café, 東京!"`` -> ``["cafe", ",", "東", "京", "!"]``.
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
    if category in ("Cc", "Cf", "Co", "Cs") or c == "\ufffd":  # control, format, private, surrogate; replacement
        return ""
    return f" {c} " if any(first <= ord(c) <= last for first, last in _IDEOGRAPHS) else c


@functools.lru_cache(maxsize=4096)
def _punctuation_apart(c: str) -> str:
    # Every ASCII character except letters, digits and spaces counts, also "$" and "+".
    mark = unicodedata.category(c).startswith("P") or (c.isascii() and c.isprintable() and not c.isalnum())
    return f" {c} " if mark else c


def _check_length(length: int, name: str) -> int:
    check_integer(**{name: length})
    if length < 2:
        raise ArgumentError(f"{name} must be at least 2, for [CLS] and [SEP], got {length}")
    return length


def _settings(path: Path, forms: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in the JSON file at ``path``, or none without a file; each setting in ``forms`` may be missing."""
    values: dict[str, Any] = read_json(path, dict) if path.is_file() else {}
    require(values, {name: form for name, form in forms.items() if name in values}, f"'{path}'")
    return values
