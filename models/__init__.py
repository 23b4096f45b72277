"""Whole networks, one file each."""

from .transformer_classifier import ClassifierConfig, TransformerClassifier

__all__ = ["ClassifierConfig", "TransformerClassifier"]
