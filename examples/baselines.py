"""What a classifier must beat: the most frequent class, and logistic regression on character 1-, 2- and 3-grams.

    python examples/baselines.py [--data FILE.tsv] [--seed N]

prints the accuracies on the validation part of the data as JSON. `train_classifier.py` calls `run_in_subprocess`, so
that scikit-learn's memory is not counted as its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from minigrad.errors import MissingExtraError, import_extra
from text_data import TextDataset, load_dataset


@dataclass(frozen=True)
class Baselines:
    """Accuracies, from 0 to 1, on the validation part of one split."""

    majority: float
    ngram: float | None  # None: not computed, and `note` says why
    ngram_seconds: float | None
    note: str = ""


def majority_accuracy(data: TextDataset) -> float:
    """Of always answering the most frequent class of the training part."""
    most_frequent = np.bincount(data.train_labels).argmax()
    return float(np.mean(data.validation_labels == most_frequent))


def ngram_accuracy(data: TextDataset) -> float:
    """Of multinomial logistic regression on the TF-IDF weights of all runs of one to three characters.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    purpose = "the n-gram baseline (scikit-learn)"
    text = import_extra("sklearn.feature_extraction.text", extra="examples", purpose=purpose)
    linear = import_extra("sklearn.linear_model", extra="examples", purpose=purpose)
    vectorizer = text.TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True, lowercase=False)
    regression = linear.LogisticRegression(C=10, max_iter=1000)
    regression.fit(vectorizer.fit_transform(data.train_texts), data.train_labels)
    return float(regression.score(vectorizer.transform(data.validation_texts), data.validation_labels))


def run(data: str | Path | None = None, seed: int = 0) -> Baselines:
    """Both baselines on the split that `load_dataset(data, seed=seed)` makes; no scikit-learn, no n-grams."""
    dataset = load_dataset(data, seed=seed)
    majority = majority_accuracy(dataset)
    start = time.perf_counter()
    try:
        ngram = ngram_accuracy(dataset)
    except MissingExtraError as error:
        return Baselines(majority, ngram=None, ngram_seconds=None, note=str(error))
    return Baselines(majority, ngram, ngram_seconds=round(time.perf_counter() - start, 1))


def run_in_subprocess(data: str | Path | None = None, seed: int = 0) -> Baselines:
    """`run` in a process of its own.

    Raises:
        RuntimeError: the process failed; the message is what it wrote to its standard error.
    """
    command = [sys.executable, str(Path(__file__).resolve()), "--seed", str(seed)]
    if data is not None:
        command += ["--data", str(data)]
    # The matrices are small and sparse: a second BLAS thread only waits, and on a busy machine costs four times the time.
    one_thread = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    finished = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=one_thread)
    if finished.returncode:
        raise RuntimeError(f"the baselines failed: {finished.stderr.strip()}")
    return Baselines(**json.loads(finished.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the accuracies of two simple classifiers as JSON.")
    parser.add_argument("--data", metavar="FILE.tsv", help="lines of text TAB label (default: the emoji names)")
    parser.add_argument("--seed", type=int, default=0, help="of the split (default: 0)")
    options = parser.parse_args()
    try:
        print(json.dumps(asdict(run(options.data, options.seed))))
    except (MissingExtraError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
