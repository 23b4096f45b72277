"""WordPiece: held to what the package `tokenizers` 0.23.3 made of the same model's tokenizer.json, and to its own rules."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from minigrad import ArgumentError, OutOfRangeError
from models import WordPiece
from models.wordpiece import basic_words
from tests.pretrained import model_folder

START, END = 101, 102
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##aff",
    "##able",
    "aff",
    "able",
    "a",
    "##a",
    *",!'",
    "don",
    "t",
    "é",
    "E",
]


@pytest.fixture(scope="module")
def real() -> WordPiece:
    return WordPiece.from_folder(model_folder())


def small(**settings) -> WordPiece:
    return WordPiece(PIECES, **settings)


# The ids between [CLS] and [SEP], as `tokenizers` 0.23.3 read them with tokenizer.json. In the same comparison every other
# character of Unicode and 216,000 longer strings were equal, but for 503 characters that its older tables of Unicode class
# otherwise (newer accents and punctuation marks), and U+2B820 to U+2B91F, which it forgets among the ideographs.
CASES = [
    ("i didnt feel humiliated", [1045, 2134, 2102, 2514, 26608]),
    ("Hello, World!", [7592, 1010, 2088, 999]),
    ("  many\t\twhite \n\xa0\u3000 spaces ", [2116, 2317, 7258]),
    ("", []),
    ("Café Ünïcödé naïve Ångström", [7668, 27260, 15743, 17076, 15687]),
    ("İstanbul ΣΊΣΥΦΟΣ", [9960, 1173, 18199, 29733, 29735, 29736, 29730, 29733]),
    ("東京は日本の首都。", [1879, 1755, 1672, 1864, 1876, 1671, 100, 1961, 1636]),
    ("한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
    ("don't can't y'all's", [2123, 1005, 1056, 2064, 1005, 1056, 1061, 1005, 2035, 1005, 1055]),
    ("$5.00 + 10% = a^b_c~d", [1002, 1019, 1012, 4002, 1009, 2184, 1003, 1027, 1037, 1034, 1038, 1035, 1039, 1066, 1040]),
    ("zero\u200bwidth\xadhyphen\ufeff\x00\x07nul", [5717, 9148, 11927, 23644, 22571, 10222, 11231, 2140]),
    ("\ufffd", []),
    ("👍🏽 ok 👩\u200d💻", [100, 7929, 100]),
    ("[CLS] not [MASK] real [SEP]", [101, 2025, 103, 2613, 102]),
    ("[mask] [ MASK ]", [1031, 7308, 1033, 1031, 7308, 1033]),
    (
        "unaffable antidisestablishmentarianism",
        [14477, 20961, 3468, 3424, 10521, 4355, 7875, 13602, 3672, 12199, 2964],
    ),
    ("a" * 100, [13360, *[11057] * 48, 2050]),
    ("a" * 101, [100]),
    ("q\u0301\u0302q", [1053, 4160]),
    ("ﬁne ①½ Ⅷ", [1984, 2638, 100, 100]),
    ("\u037e\u1fef", [1025, 1036]),  # a Greek question mark and an accent, which NFD makes ; and `
    ("https://example.org/?b=1", [16770, 1024, 1013, 1013, 2742, 1012, 8917, 1013, 1029, 1038, 1027, 1015]),
    ("e=mc²", [1041, 1027, 11338, 10701]),
    ("हिन्दी", [1339, 29877, 29863, 29861, 29878]),
    ("一二abc三", [1740, 1752, 5925, 1741]),
    ("a\u2028b\u2029c\x85d\x1ce", [1037, 1038, 3729, 2063]),
    ("ß ẞ ŉ ǆ", [1096, 1096, 100, 100]),
    ("##ing ##", [1001, 1001, 13749, 1001, 1001]),
    ("…—“quotes”", [1529, 1517, 1523, 16614, 1524]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ids"), CASES)
def test_the_ids_of_the_package_tokenizers(real: WordPiece, text: str, ids: list[int]) -> None:
    assert real.encode(text) == [START, *ids, END]


def test_the_articles_sentence_padded_with_zeros_and_its_mask(real: WordPiece) -> None:
    ids, mask = real(["i didnt feel humiliated"], length=10)
    assert ids.tolist() == [[101, 1045, 2134, 2102, 2514, 26608, 102, 0, 0, 0]]
    assert mask.tolist() == [[True] * 7 + [False] * 3]
    assert ids.dtype == np.int64
    assert real.tokenize("i didnt feel humiliated") == ["i", "didn", "##t", "feel", "humiliated"]


def test_the_real_vocabulary_and_its_longest_text(real: WordPiece) -> None:
    assert len(real) == 30522
    assert real.max_length == 256  # what the sentence encoder was trained for; its positions end at 512
    with pytest.warns(UserWarning, match="1 of 2 texts have more than 256 tokens"):
        ids, mask = real(["word " * 300, "word"])
    assert ids.shape == (2, 256)
    assert ids[0, -1] == END
    assert mask.sum(1).tolist() == [256, 3]


def test_the_longest_piece_first_and_a_word_with_an_uncovered_part_is_unknown() -> None:
    assert small().tokenize("unaffable") == ["un", "##aff", "##able"]
    assert small().tokenize("aff able unx xun aaa") == ["aff", "able", "[UNK]", "[UNK]", "a", "##a", "##a"]
    assert small().tokenize("a" * 100 + " " + "a" * 101) == ["a", *["##a"] * 99, "[UNK]"]


def test_a_special_token_that_the_vocabulary_lacks_is_unknown() -> None:
    assert small().tokenize("[MASK]a[SEP]") == ["[UNK]", "a", "[SEP]"]


def test_basic_words() -> None:
    assert basic_words("Café, 東京!") == ["cafe", ",", "東", "京", "!"]
    assert basic_words("Café, 東京!", lowercase=False) == ["Café", ",", "東", "京", "!"]
    assert basic_words("a\r\nb\x0bc\u3000d\ue000") == ["a", "bc", "d"]
    assert basic_words("\ud800x") == ["x"]  # half of a surrogate pair, as broken input has it


def test_case_and_accents_stay_on_request() -> None:
    assert small(lowercase=False).tokenize("E é") == ["E", "é"]
    assert small().tokenize("E é") == ["[UNK]", "[UNK]"]


def test_a_batch_is_padded_to_its_longest_text_or_to_a_length() -> None:
    ids, mask = small()(["a", "unaffable !"])
    assert ids.tolist() == [[2, 9, 3, 0, 0, 0], [2, 4, 5, 6, 12, 3]]
    np.testing.assert_array_equal(mask, ids != 0)
    assert small()(["a"], length=5)[0].tolist() == [[2, 9, 3, 0, 0]]
    assert small()([""])[0].tolist() == [[2, 3]]


def test_a_text_that_is_too_long_is_cut_with_a_word_about_it() -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts have more than 4 tokens and are truncated: split"):
        ids, mask = small(max_length=4)(["a a a", "a"])
    assert ids.tolist() == [[2, 9, 9, 3], [2, 9, 3, 0]]
    assert mask.sum() == 7
    with pytest.warns(UserWarning, match="more than 3 tokens"):
        assert small()(["a a"], length=3)[0].tolist() == [[2, 9, 3]]
    assert len(small(max_length=4).encode("a a a")) == 5  # encode() keeps everything


def test_decode() -> None:
    tokenizer = small()
    ids = tokenizer.encode("unaffable, don't!")
    assert tokenizer.decode(ids) == "unaffable, don't!"
    assert tokenizer.decode(np.array(ids), special=True) == "[CLS] unaffable, don't! [SEP]"
    assert tokenizer.decode([]) == tokenizer.decode([0, 2, 3]) == ""
    assert tokenizer.decode([5]) == "##aff"  # nothing to glue it to
    with pytest.raises(OutOfRangeError, match="ids 0 to 17, got 18"):
        tokenizer.decode([18])
    with pytest.raises(OutOfRangeError, match="got -1"):
        tokenizer.decode([-1])


@given(st.text())
def test_any_text_gives_ids_between_start_and_end(real: WordPiece, text: str) -> None:
    ids = real.encode(text)
    assert (ids[0], ids[-1]) == (START, END)
    assert all(0 <= i < len(real) for i in ids)
    assert real.encode(f" \t{text}\n") == ids
    assert isinstance(real.decode(ids), str)


@given(st.lists(st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=12)))
def test_words_of_small_letters_come_back(real: WordPiece, words: list[str]) -> None:
    text = " ".join(words)
    assert real.decode(real.encode(text)) == text


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_a_row_of_a_batch_is_the_text_alone(real: WordPiece, texts: list[str]) -> None:
    ids, mask = real(texts)
    for row, allowed, text in zip(ids, mask, texts):
        assert row[allowed].tolist() == real.encode(text)
        assert not row[~allowed].any()


# --- what is no vocabulary ---


def test_what_a_tokenizer_cannot_be_made_of() -> None:
    with pytest.raises(ArgumentError, match=r"the vocabulary has no \[PAD\], \[SEP\]: pass the vocab.txt"):
        WordPiece(["[UNK]", "[CLS]"])
    with pytest.raises(ArgumentError, match=r"max_length must be at least 2, for .* got 1"):
        small(max_length=1)


@pytest.mark.parametrize("texts", ["one text", []])
def test_a_batch_is_a_list_of_texts(texts) -> None:
    with pytest.raises(ArgumentError, match="texts must be a list of one or more texts, got "):
        small()(texts)


@pytest.mark.parametrize(("length", "message"), [(1, "length must be at least 2"), (600, "max_length=512, got 600")])
def test_lengths_that_are_impossible(length: int, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        small()(["a"], length=length)


def test_a_folder_with_and_without_settings(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"there is no vocab\.txt in"):
        WordPiece.from_folder(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    tokenizer = WordPiece.from_folder(tmp_path)
    assert (len(tokenizer), tokenizer.max_length, tokenizer.lowercase) == (len(PIECES), 512, True)
    settings = {"do_lower_case": False, "model_max_length": 128}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    tokenizer = WordPiece.from_folder(tmp_path)
    assert (tokenizer.max_length, tokenizer.lowercase) == (128, False)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 64}', encoding="utf-8")
    assert WordPiece.from_folder(tmp_path).max_length == 64
