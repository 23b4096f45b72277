"""Dates as a dozen languages write them, and the same dates in ISO 8601: the data of `translate_dates.py`."""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from minigrad.errors import import_extra

LOCALES = ("en_US", "de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "ru_RU", "el_GR", "tr_TR", "ar_EG", "ja_JP", "ko_KR")
STYLES = ("medium", "long", "full")
FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)

PADDING, START, END = range(3)  # the ids below the characters


@dataclass(frozen=True)
class Dates:
    """Dates as they were written, in which locale and style, and in ISO 8601."""

    sources: list[str]
    targets: list[str]
    locales: list[str]
    styles: list[str]

    def __len__(self) -> int:
        return len(self.sources)


def written_dates(days: Sequence[datetime.date], rng: np.random.Generator) -> Dates:
    """Each day in a locale and a style drawn at random.

    Raises:
        MissingExtraError: Babel is not installed.
    """
    format_date = import_extra("babel.dates", "examples", "writing dates in many languages").format_date
    locales = [LOCALES[i] for i in rng.integers(len(LOCALES), size=len(days))]
    styles = [STYLES[i] for i in rng.integers(len(STYLES), size=len(days))]
    sources = [format_date(day, style, locale=locale) for day, style, locale in zip(days, styles, locales)]
    return Dates(sources, [day.isoformat() for day in days], locales, styles)


def split_dates(train: int, held_out: int, *, rng: np.random.Generator) -> tuple[Dates, Dates]:
    """`train` dates and `held_out` others: no calendar day is in both, whatever the language.

    The training days repeat, each time in a new locale and style, when there are more dates than days.
    """
    count = (LAST - FIRST).days + 1
    days = [FIRST + datetime.timedelta(days=int(i)) for i in rng.permutation(count)]
    known = days[held_out:]
    return written_dates([known[i % len(known)] for i in range(train)], rng), written_dates(days[:held_out], rng)


class Characters:
    """Characters as token ids: 0 is padding, 1 the start, 2 the end; one vocabulary for both sides."""

    def __init__(self, characters: Sequence[str]) -> None:
        self.characters = sorted(set(characters))
        self.ids = {character: i for i, character in enumerate(self.characters, start=END + 1)}

    def __len__(self) -> int:
        return END + 1 + len(self.characters)

    def encode(self, text: str) -> list[int]:
        """The ids of the characters that are known."""
        return [self.ids[character] for character in text if character in self.ids]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.characters[i - END - 1] for i in ids if i > END)


def padded(sequences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(batch, length) ids, with PADDING at the end of the shorter ones."""
    ids = np.full((len(sequences), max(map(len, sequences))), PADDING, np.int64)
    for row, sequence in zip(ids, sequences):
        row[: len(sequence)] = sequence
    return ids


# What a model must beat, and what knows more than it does


def most_common(train: Dates, test: Dates) -> list[str]:
    """For every question the ISO date that is the most frequent in training."""
    return [Counter(train.targets).most_common(1)[0][0]] * len(test)


def copied_digits(train: Dates, test: Dates) -> list[str]:
    """A rule that cannot read: the number of four digits is the year, the others are the day and perhaps the month.

    Year first or day first shows in which order they come. A month that is a word becomes the most frequent one, 01 as a rule.
    """
    month = Counter(target[5:7] for target in train.targets).most_common(1)[0][0]
    return [_by_rule(source, month) for source in test.sources]


def copied_digits_and_months(train: Dates, test: Dates) -> list[str]:
    """The same rule with a dictionary: a word of the training dates stands for the month that it comes with most reliably.

    It is told what the model has to find out: that there is a year, a month and a day, and that months may be words.
    """
    months: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for source, target in zip(train.sources, train.targets):
        for word in set(re.findall(WORD, source)):
            months[word][target[5:7]] += 1

    def month(source: str) -> str:
        votes = [months[word].most_common(1)[0] + (word,) for word in re.findall(WORD, source) if word in months]
        return max(votes, key=lambda vote: vote[1] / months[vote[2]].total(), default=("01",))[0]

    return [_by_rule(source, month(source)) for source in test.sources]


WORD = r"[^\W\d]+"


def _by_rule(source: str, month: str) -> str:
    numbers = re.findall(r"\d+", source)
    year = next((number for number in numbers if len(number) == 4), "2000")
    rest = [number.zfill(2) for number in numbers if len(number) != 4]
    if len(rest) == 1:
        return f"{year}-{month}-{rest[0]}"
    first, second = rest[0], rest[-1]
    return f"{year}-{first}-{second}" if numbers[0] == year else f"{year}-{second}-{first}"


def nearest(train: Dates, test: Dates) -> list[str]:
    """The answer of the training date that has most runs of one to three characters in common (TF-IDF, cosine).

    Never right, strictly: no day of the test is in training. It shows how far looking up comes.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    text = import_extra("sklearn.feature_extraction.text", "examples", "the nearest-neighbour baseline (scikit-learn)")
    vectorizer = text.TfidfVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False, dtype=np.float32)
    known = vectorizer.fit_transform(train.sources).T.tocsr()
    asked = vectorizer.transform(test.sources)
    rows = [asked[i : i + 100] @ known for i in range(0, len(test), 100)]  # some at a time: it is a large matrix
    return [train.targets[int(i)] for row in rows for i in np.asarray(row.argmax(axis=1)).ravel()]


def exact(answers: Sequence[str], dates: Dates) -> float:
    """The share of answers that are right to the last character."""
    return float(np.mean([answer == target for answer, target in zip(answers, dates.targets)]))


def characters_right(answers: Sequence[str], dates: Dates) -> float:
    """The share of the ten places of ISO dates with the right character."""
    right = [[a == b for a, b in zip(answer, target)] for answer, target in zip(answers, dates.targets)]
    return sum(map(sum, right)) / (10 * len(dates))
