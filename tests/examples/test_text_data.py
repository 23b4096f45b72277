"""The data of examples/train_classifier.py: what trains, what is held out, and that nothing is on both sides."""

import json
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from dataclasses import fields
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baselines
import text_data
from minigrad.errors import MissingExtraError
from tests.lazy import emoji
from text_data import PADDING, UNKNOWN, Vocabulary, batches, emoji_family, load_emoji_names, load_tsv, pad

ROOT = Path(__file__).parents[2]
LANGUAGES = {"ar", "de", "en", "es", "fa", "fr", "id", "it", "ja", "ko", "pt", "ru", "tr", "zh"}


def same(a: text_data.TextDataset, b: text_data.TextDataset) -> bool:
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))


def pairs(data: text_data.TextDataset) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(text, label), training and validation."""
    train = [(text, data.classes[i]) for text, i in zip(data.train_texts, data.train_labels, strict=True)]
    held_out = [(text, data.classes[i]) for text, i in zip(data.validation_texts, data.validation_labels, strict=True)]
    return train, held_out


# --- the emoji names ---


@pytest.fixture(scope="module")
def names() -> text_data.TextDataset:
    return load_emoji_names()


def test_emoji_names_are_split_85_to_15_over_14_languages(names: text_data.TextDataset) -> None:
    assert set(names.classes) == LANGUAGES
    train, held_out = len(names.train_texts), len(names.validation_texts)
    assert 24_000 < train + held_out < 28_000  # 25,462 in emoji 2.16; a new Unicode version adds some
    assert 0.15 <= held_out / (train + held_out) < 0.155
    for labels in (names.train_labels, names.validation_labels):
        counts = np.bincount(labels, minlength=14)
        assert labels.dtype == np.int64
        assert counts.min() > 0.05 * labels.size  # about 7 % each


def test_the_seed_alone_decides_the_split(names: text_data.TextDataset) -> None:
    assert same(names, load_emoji_names(seed=0))
    other = load_emoji_names(seed=1)
    assert set(other.validation_texts) != set(names.validation_texts)
    assert sorted(chain(*pairs(other))) == sorted(chain(*pairs(names)))


def test_names_are_clean_and_tell_the_language_by_their_words_alone(names: text_data.TextDataset) -> None:
    for text in names.train_texts + names.validation_texts:
        assert text == text.strip() != ""
        assert "_" not in text
        assert ":" not in text
        assert text == text.lower()  # only English, Russian and Chinese names come with capitals
        assert text == unicodedata.normalize("NFC", text)
        assert "skin tone" not in text


def test_known_names_in_their_own_scripts(names: text_data.TextDataset) -> None:
    found = set(chain(*pairs(names)))
    assert {("a button (blood type)", "en"), ("かき氷", "ja"), ("kar yağmadan kardan adam", "tr")} <= found


def test_a_name_appears_once_and_in_one_language(names: text_data.TextDataset) -> None:
    assert max(Counter(names.train_texts + names.validation_texts).values()) == 1
    assert "banana" not in names.train_texts + names.validation_texts  # English, Italian and Portuguese


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_emoji_and_no_variant_of_one_is_on_both_sides(seed: int) -> None:
    data = load_emoji_names(seed=seed)
    side = dict.fromkeys(data.train_texts, "train") | dict.fromkeys(data.validation_texts, "validation")
    sides = defaultdict(set)
    by_english_name = {"man": "person", "woman": "person", "men": "people", "women": "people"}
    for entry in emoji.EMOJI_DATA.values():
        english = entry["en"].strip(":").lower().removesuffix("_facing_right")
        words = tuple(by_english_name.get(word, word) for word in english.split("_"))
        for language in LANGUAGES:
            text = entry.get(language, "").strip(":").replace("_", " ").strip().lower()
            if text in side:
                sides[words].add(side[text])
    assert len(sides) > 1000
    assert [words for words, found in sides.items() if len(found) > 1] == []
    assert {side for found in sides.values() for side in found} == {"train", "validation"}


@pytest.mark.parametrize(
    "variants",
    [
        "🏃 🏃‍♀️ 🏃‍♂️ 🏃‍➡️ 🏃‍♀️‍➡️",
        "🧑‍🎨 👩‍🎨 👨‍🎨",
        "👨‍🦰 👩‍🦱 🧑‍🦲 👩",
        "👪 👨‍👩‍👧 👩‍👩‍👦‍👦 🧑‍🧒",
        "💏 👩‍❤️‍💋‍👨 👨‍❤️‍💋‍👨",
        "👭 👫 🧑‍🤝‍🧑",
        "1️⃣ 2️⃣ #️⃣",
    ],
)
def test_variants_are_one_family(variants: str) -> None:
    assert len({emoji_family(symbol) for symbol in variants.split()}) == 1


def test_different_emoji_are_different_families() -> None:
    # Flags are pairs of letters: American Samoa and Saudi Arabia have the same two. The last three are variant signs only.
    groups = "🇦🇸 🇸🇦", "🏃 🚶 🧑 🧒", "👩\u200d🎨 👩\u200d🚀", "💏 💑 ❤️ 🤝", "♀️ ♂️ ➡️"
    symbols = " ".join(groups).split()
    assert len({emoji_family(symbol) for symbol in symbols}) == len(symbols)


def test_families_too_large_for_a_fair_validation_set_train() -> None:
    data = load_emoji_names(validation_fraction=0.9)
    assert {"family man boy", "woman red hair", "taste 7"} <= set(data.train_texts)


def test_the_validation_fraction_counts_names() -> None:
    data = load_emoji_names(validation_fraction=0.5)
    held_out = len(data.validation_texts)
    assert 0.5 <= held_out / (len(data.train_texts) + held_out) < 0.505


def test_without_the_emoji_package_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "emoji", None)
    with pytest.raises(MissingExtraError, match=r"pip install emoji$"):
        load_emoji_names()


# --- a user's own file ---


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "data.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_tsv_lines_become_texts_and_labels(tmp_path: Path) -> None:
    lines = "\ufeffGroße Katze\tde\r\n\r\n  \t \r\nbig cat\ten\r\nein\u2028Hund\tde\r\na\x85dog\ten"
    data = load_tsv(write(tmp_path, lines))
    assert data.classes == ["de", "en"]
    train, held_out = pairs(data)
    assert sorted(train + held_out) == [
        ("Große Katze", "de"),
        ("a\x85dog", "en"),
        ("big cat", "en"),
        ("ein\u2028Hund", "de"),
    ]
    assert {label for _, label in train} == {label for _, label in held_out} == {"de", "en"}


def test_tsv_text_is_nfc_but_keeps_its_capitals(tmp_path: Path) -> None:
    data = load_tsv(write(tmp_path, "Cafe\u0301\ta\nx\ta\ny\tb\nz\tb\n"))
    assert "Café" in data.train_texts + data.validation_texts


def test_every_class_gives_its_share(tmp_path: Path) -> None:
    sizes = {"common": 400, "middle": 40, "rare": 2}
    lines = [f"{label} {i}\t{label}" for label, size in sizes.items() for i in range(size)]
    data = load_tsv(write(tmp_path, "\n".join(lines)), validation_fraction=0.25)
    train, held_out = pairs(data)
    assert Counter(label for _, label in held_out) == {"common": 100, "middle": 10, "rare": 1}
    assert sorted(train + held_out) == sorted(tuple(line.split("\t")) for line in lines)


def test_every_class_trains_whatever_the_fraction(tmp_path: Path) -> None:
    data = load_tsv(write(tmp_path, "a\tx\nb\tx\nc\ty\nd\ty\n"), validation_fraction=0.99)
    assert np.bincount(data.train_labels).tolist() == np.bincount(data.validation_labels).tolist() == [1, 1]


def test_tsv_split_depends_on_the_seed_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f"text {i}\t{i % 3}\n" for i in range(300)))
    assert same(load_tsv(path), load_tsv(path, seed=0))
    assert not same(load_tsv(path), load_tsv(path, seed=1))


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_a_text_stay_on_one_side(tmp_path: Path, seed: int) -> None:
    lines = [f"{text} {i}\t{i % 2}" for i in range(60) for text in ("good day", "Good  Day", "GOOD DAY")]
    data = load_tsv(write(tmp_path, "\n".join(lines)), seed=seed, validation_fraction=0.5)
    number = [{text.split()[-1] for text in texts} for texts in (data.train_texts, data.validation_texts)]
    assert len(number[0]) == len(number[1]) == 30
    assert not number[0] & number[1]
    assert len(data.train_texts) + len(data.validation_texts) == len(lines)


def test_a_text_with_two_labels_trains(tmp_path: Path) -> None:
    lines = "".join(f"both {i}\ta\nboth {i}\tb\n" for i in range(50)) + "x\ta\ny\ta\nz\tb\nw\tb\n"
    data = load_tsv(write(tmp_path, lines), validation_fraction=0.5)
    assert len(data.validation_texts) == 2
    assert not any(text.startswith("both") for text in data.validation_texts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"data\.tsv is empty: each line must be a text, one TAB and a label"),
        ("\n \r\n\t\n", r"data\.tsv is empty"),
        ("one\ntwo\n", r"data\.tsv has no labels, as no line \(of 2\) has a TAB: each line must be"),
        ("a\tx\n\nb\n", r"data\.tsv:3 has 0 TABs instead of one: each line must be"),
        ("a\tx\nb\ty\t1\n", r"data\.tsv:2 has 2 TABs instead of one"),
        ("a\tx\nb\t \n", r"data\.tsv:2 has no label: each line must be"),
        ("a\tx\n\ty\n", r"data\.tsv:2 has no text"),
        ("a\tx\nb\tx\n", r"all 2 texts have the label 'x'; add texts of a second class"),
        (
            "text\tlabel\na\tx\nb\tx\nc\ty\nd\ty\n",
            r"the label 'label' needs at least two different texts .* has 1; .*header",
        ),
        ("a\tx\nA \tx\nb\ty\nc\ty\n", r"the label 'x' needs at least two different texts"),
        ("a\tx\nb\tx\na\ty\nb\ty\n", r"the label 'x' needs at least two different texts of its own.* has 0"),
        (b"a\tx\nb\xe9\ty\n", r"data\.tsv:2 is not UTF-8 .*; save the file as UTF-8"),
        ("a\tx\nb\ty\n".encode("utf-16"), r"data\.tsv:1 is not UTF-8"),
    ],
)
def test_a_bad_file_is_a_clear_error(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_tsv(write(tmp_path, content))


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot read .*missing\.tsv: No such file.*; give the path"):
        load_tsv(tmp_path / "missing.tsv")
    with pytest.raises(ValueError, match="cannot read"):
        load_tsv(tmp_path)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan")])
def test_the_validation_fraction_lies_between_0_and_1(tmp_path: Path, fraction: float) -> None:
    path = write(tmp_path, "a\tx\nb\tx\nc\ty\nd\ty\n")
    for load in (
        lambda: load_tsv(path, validation_fraction=fraction),
        lambda: load_emoji_names(validation_fraction=fraction),
    ):
        with pytest.raises(ValueError, match="validation_fraction must lie between 0 and 1"):
            load()


# --- the vocabulary ---


def tokens(vocabulary: Vocabulary, text: str) -> list[str]:
    return [["padding", "unknown", *vocabulary.ngrams][i] for i in vocabulary.encode(text)]


def test_a_token_is_the_longest_known_ngram_at_each_character() -> None:
    vocabulary = Vocabulary([" ", "a", "b", "c", " c", "ca", "ab", "cab", "b "])
    assert len(vocabulary) == 11  # padding and unknown besides
    assert tokens(vocabulary, "cab") == [" c", "cab", "ab", "b "]
    assert tokens(vocabulary, "a cabca") == [" ", "a", " c", "cab", "ab", "b", "ca", "a"]
    assert vocabulary.encode("cab").tolist() == [6, 9, 8, 10]
    assert vocabulary.encode("cab").dtype == np.int64
    assert tokens(vocabulary, "az!") == [" ", "a", "unknown", "unknown"]
    assert tokens(vocabulary, "") == [" "]


def test_decode_gives_the_first_character_of_each_token() -> None:
    vocabulary = Vocabulary([" ", "a", "b", " a", "ab"])
    assert vocabulary.characters([5, 6, 4, UNKNOWN, PADDING]) == [" ", "a", "b", "\ufffd", ""]
    assert vocabulary.decode([5, 6, 4, PADDING, PADDING]) == "ab"
    assert vocabulary.decode(vocabulary.encode("az b")) == "a\ufffd b"


def test_prefixes_are_what_an_ngram_begins_with() -> None:
    vocabulary = Vocabulary(["c", "ca", "cat", "a"])
    assert vocabulary.prefixes.dtype == np.int64
    assert vocabulary.prefixes.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 3, 0], [2, 3, 4], [5, 0, 0]]


def test_the_ngrams_are_those_of_the_texts_between_spaces_that_are_not_rare() -> None:
    assert Vocabulary.from_texts(["ab", "ab", "ab", "b", "xy", "xy"]).ngrams == [
        *(" ", " a", " ab", "a", "ab", "ab ", "b", "b "),
    ]
    assert Vocabulary.from_texts(["ab"], min_count=1).ngrams == [" ", " a", " ab", "a", "ab", "ab ", "b", "b "]
    assert Vocabulary.from_texts(["ab"], min_count=2).ngrams == [" "]


def test_rare_characters_are_unknown_so_that_unknown_is_trained() -> None:
    texts = ["aa", "ba", "b"]
    assert tokens(Vocabulary.from_texts(texts), "ab") == [" ", "a", "unknown"]


def test_the_order_of_the_texts_does_not_change_the_ids() -> None:
    assert Vocabulary.from_texts(["ab", "ba"] * 3).ngrams == Vocabulary.from_texts(["ba", "ab"] * 3).ngrams


def test_encode_accepts_other_spellings_of_a_known_character() -> None:
    vocabulary = Vocabulary(["a", "é", "B", "b", "i", "\u0307", "ba"])
    assert tokens(vocabulary, "Aa")[1:] == ["a", "a"]
    assert tokens(vocabulary, "Bb")[1:] == ["B", "b"]  # a known capital is itself
    assert tokens(vocabulary, "bA")[1:] == ["ba", "a"]
    assert tokens(vocabulary, " e\u0301\n")[1:] == ["é"]
    assert tokens(vocabulary, "İ")[1:] == ["i", "\u0307"]  # as str.lower() has it, which made the training texts


@pytest.mark.thorough
@given(st.lists(st.text(min_size=1), min_size=1))
def test_known_texts_survive_encode_and_decode(texts: list[str]) -> None:
    vocabulary = Vocabulary.from_texts([text_data.normalize_text(text) for text in texts], min_count=1)
    for text in texts:
        assert vocabulary.decode(vocabulary.encode(text)) == text_data.normalize_text(text)


@given(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=1), st.integers(1, 4))
def test_every_prefix_of_a_known_ngram_is_known(texts: list[str], min_count: int) -> None:
    vocabulary = Vocabulary.from_texts(texts, min_count=min_count)
    assert Vocabulary(vocabulary.ngrams).ngrams == vocabulary.ngrams  # refuses one without its prefixes
    names = ["", "", *vocabulary.ngrams]
    for row, ngram in zip(vocabulary.prefixes[2:], vocabulary.ngrams):
        assert [names[i] for i in row] == [ngram[:n] if n <= len(ngram) else "" for n in (1, 2, 3)]


def test_a_vocabulary_survives_json() -> None:
    vocabulary = Vocabulary.from_texts(["Großer 犬犬犬", "Großer", "Großer"])
    again = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again.ngrams == vocabulary.ngrams
    assert again.encode("犬 groß").tolist() == vocabulary.encode("犬 groß").tolist()
    assert np.array_equal(again.prefixes, vocabulary.prefixes)


@pytest.mark.parametrize("state", [{}, {"ngrams": "abc"}, {"ngrams": None}, {"characters": ["a"]}, [], None])
def test_what_is_no_saved_vocabulary_is_refused(state: object) -> None:
    with pytest.raises(ValueError, match="not a saved vocabulary"):
        Vocabulary.from_dict(state)  # type: ignore[arg-type]


@pytest.mark.parametrize("ngrams", [["abcd"], [""], [3], [None], [["a"]]])
def test_an_ngram_is_one_to_three_characters(ngrams: list[str]) -> None:
    with pytest.raises(ValueError, match="strings of 1 to 3 characters"):
        Vocabulary(ngrams)


def test_an_ngram_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'b' twice"):
        Vocabulary(["a", "b", "b"])


@pytest.mark.parametrize(("ngrams", "missing"), [(["ab"], "a"), (["a", "abc"], "ab"), (["b", "ab"], "a")])
def test_an_ngram_without_its_beginning_is_refused(ngrams: list[str], missing: str) -> None:
    with pytest.raises(ValueError, match=f"got '{ngrams[-1]}' without '{missing}'"):
        Vocabulary(ngrams)


@pytest.mark.parametrize("i", [-1, 4])
def test_decode_refuses_ids_out_of_range(i: int) -> None:
    with pytest.raises(ValueError, match=f"from 0 to 3, got {i}"):
        Vocabulary(["a", "b"]).decode([2, i])


# --- batches ---

sequence_lists = st.lists(st.lists(st.integers(1, 9), max_size=12), min_size=1, max_size=40)


@given(sequence_lists, st.integers(1, 9), st.none() | st.integers(0, 3))
def test_batches_hold_every_sequence_once_padded_to_the_longest(
    lists: list[list[int]], size: int, seed: int | None
) -> None:
    sequences = [np.array(ids, dtype=np.int64) for ids in lists]
    labels = np.arange(len(sequences))
    found = {}
    sizes = []
    for ids, mask, chosen in batches(sequences, labels, size, seed=seed).epoch(0):
        assert [array.dtype.name for array in (ids, mask, chosen)] == ["int64", "bool", "int64"]
        assert ids.shape == mask.shape == (len(chosen), max(1, max(len(sequences[i]) for i in chosen)))
        assert (ids[~mask] == PADDING).all()
        assert (np.diff(mask.astype(int), axis=1) <= 0).all()  # tokens first, padding last
        found.update({int(i): row[keep].tolist() for i, row, keep in zip(chosen, ids, mask, strict=True)})
        sizes.append(len(chosen))
    assert found == dict(enumerate(lists))
    assert sum(sizes) == len(lists)
    assert all(n == size for n in sorted(sizes)[1:])  # one batch may be smaller


def test_batches_are_shuffled_by_the_seed_and_ordered_without_one() -> None:
    sequences = [np.ones(n % 5 + 1, dtype=np.int64) for n in range(100)]
    labels = np.arange(100)

    def order(seed: int | None, epoch: int = 0) -> list[list[int]]:
        return [chosen.tolist() for _, _, chosen in batches(sequences, labels, 10, seed=seed).epoch(epoch)]

    assert order(0) == order(0)
    assert order(0) != order(1)
    assert {frozenset(chosen) for chosen in order(0)} != {frozenset(chosen) for chosen in order(0, 1)}  # other company
    widths = [ids.shape[1] for ids, _, _ in batches(sequences, labels, 10, seed=0).epoch(0)]
    assert widths != sorted(widths)
    assert list(chain(*order(None))) == sorted(range(100), key=lambda n: n % 5)


def test_batches_waste_little_on_padding(names: text_data.TextDataset) -> None:
    vocabulary = Vocabulary.from_texts(names.train_texts)
    sequences = [vocabulary.encode(text) for text in names.train_texts]
    masks = [mask for _, mask, _ in batches(sequences, names.train_labels, 64, seed=0).epoch(0)]
    assert sum(mask.sum() for mask in masks) > 0.98 * sum(mask.size for mask in masks)


def test_batches_refuse_bad_arguments() -> None:
    sequences = [np.ones(2, dtype=np.int64)] * 3
    with pytest.raises(ValueError, match="labels must be as many as sequences: got 2 for 3"):
        batches(sequences, np.zeros(2, dtype=np.int64), 2, seed=0)
    with pytest.raises(ValueError, match="batch_size must be a positive integer, got 0"):
        batches(sequences, np.zeros(3, dtype=np.int64), 0, seed=0)


def test_pad_of_a_sequence_without_tokens_is_all_padding() -> None:
    ids, mask = pad([np.array([], dtype=np.int64)])
    assert ids.tolist() == [[PADDING]]
    assert mask.tolist() == [[False]]


# --- the baselines ---


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    """Three classes told apart by their first word; 60 % are cats."""
    counts = {"cat": 120, "dog": 60, "owl": 20}
    return write(tmp_path, "\n".join(f"{word} number {i}\t{word}" for word, n in counts.items() for i in range(n)))


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process finds minigrad, installed or not."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.thorough
@pytest.mark.usefixtures("importable")
def test_baselines_run_in_a_process_of_their_own(animals: Path) -> None:
    before = set(sys.modules)
    found = baselines.run_in_subprocess(animals, seed=3)
    assert found.majority == 0.6
    assert found.ngram == 1.0
    assert found.note == ""
    assert not any(name.startswith("sklearn") for name in set(sys.modules) - before)


@pytest.mark.thorough
@pytest.mark.usefixtures("importable")
def test_baselines_use_the_split_of_the_seed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = write(tmp_path, "\n".join(f"{rng.integers(10**9)}\t{'xy'[i % 3 == 0]}" for i in range(200)))
    data = load_tsv(path, seed=5)
    found = baselines.run_in_subprocess(path, seed=5)
    assert found.majority == baselines.majority_accuracy(data)
    expected = [baselines.run_in_subprocess(path, seed=seed).ngram for seed in (5, 6)]
    assert found.ngram == expected[0] != expected[1]


def test_the_majority_class_is_that_of_the_training_part() -> None:
    labels = {"train_labels": np.array([0, 1, 1]), "validation_labels": np.array([0, 0, 0, 1])}
    data = text_data.TextDataset(train_texts=["a"] * 3, validation_texts=["b"] * 4, classes=["x", "y"], **labels)
    assert baselines.majority_accuracy(data) == 0.25


def test_without_scikit_learn_the_majority_remains_and_the_package_is_named(
    animals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sklearn", "sklearn.feature_extraction.text", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    found = baselines.run(animals)
    assert found.majority == 0.6
    assert found.ngram is None
    assert "pip install scikit-learn" in found.note


@pytest.mark.usefixtures("importable")
def test_a_failing_baseline_process_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"the baselines failed: error: .*data\.tsv is empty"):
        baselines.run_in_subprocess(write(tmp_path, ""))


@pytest.mark.usefixtures("importable")
def test_the_command_prints_json_and_nothing_else(animals: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "baselines.py"), "--data", str(animals)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=animals.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)) == {"majority", "ngram", "ngram_seconds", "note"}


@pytest.mark.thorough
@pytest.mark.usefixtures("importable")
def test_ngrams_tell_the_language_of_nine_names_in_ten() -> None:
    found = baselines.run_in_subprocess()
    assert found.ngram is not None
    assert 0.88 < found.ngram < 0.94
    assert found.majority < 0.09
