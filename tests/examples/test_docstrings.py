"""examples/docstrings.py: sentences with a topic from the standard library, split by module."""

import numpy as np
import pytest

from docstrings import TOPICS, _sentences, load_docstrings


@pytest.mark.parametrize("seed", range(3))
def test_both_parts_have_every_topic_and_share_no_module(seed: int) -> None:
    data = load_docstrings(seed=seed)
    module = {sentence: name for name, rows in _sentences().items() for sentence in rows}
    train, validation = ({module[text] for text in texts} for texts in (data.train_texts, data.validation_texts))
    assert not train & validation
    assert data.classes == list(TOPICS)
    assert np.bincount(data.train_labels).min() > 20
    assert np.bincount(data.validation_labels).min() > 5
    assert len(data.train_texts) > 1.5 * len(data.validation_texts) > 600
    for text, label in zip(data.validation_texts, data.validation_labels):
        assert module[text] in TOPICS[data.classes[label]].split()


def test_the_seed_decides_alone() -> None:
    first, again, other = (load_docstrings(seed=seed) for seed in (0, 0, 1))
    assert first.train_texts == again.train_texts
    assert first.validation_texts != other.validation_texts


def test_sentences_are_single_and_of_reasonable_length() -> None:
    sentences = [sentence for rows in _sentences().values() for sentence in rows]
    assert len(sentences) == len(set(sentences))
    assert all(4 <= len(sentence.split()) <= 40 and "\n" not in sentence for sentence in sentences)
