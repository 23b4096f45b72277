"""Layers, losses and optimizers on top of minigrad."""

from . import init
from .affine import Affine
from .attention import MultiHeadAttention
from .dropout import Dropout
from .embedding import Embedding
from .feed_forward import FeedForward
from .losses import cross_entropy
from .module import Module, Parameter
from .normalization import LayerNorm
from .optim import SGD, Adam, AdamW, Optimizer, clip_grad_norm, clip_grad_value
from .positional import PositionalEncoding, sinusoids
from .transformer import TransformerEncoderLayer

__all__ = [
    "Module",
    "Parameter",
    "init",
    "Affine",
    "Dropout",
    "Embedding",
    "FeedForward",
    "LayerNorm",
    "MultiHeadAttention",
    "PositionalEncoding",
    "TransformerEncoderLayer",
    "sinusoids",
    "cross_entropy",
    "Optimizer",
    "SGD",
    "Adam",
    "AdamW",
    "clip_grad_norm",
    "clip_grad_value",
]
