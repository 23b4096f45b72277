"""Layers, losses and optimizers on top of minigrad."""

from typing import TYPE_CHECKING

from . import functional, init, parallel
from .affine import Affine
from .attention import (
    AdditiveAttention,
    Attention,
    AttentionHead,
    ContextAttention,
    DotProductAttention,
    GlobalAttention,
    KeyValueAttention,
    MultiplicativeAttention,
    SelfAttention,
)
from .averaging import WeightAverage
from .cache import KeyValueCache
from .clipping import clip_grad_norm, clip_grad_value
from .convert import from_torch_state, to_torch_state
from .convolution import Conv1d, Conv2d, ConvTranspose2d
from .data import Batches
from .decoding import Hypothesis, beam_search, greedy_decode
from .distances import cosine_loss, hinge_loss, huber_loss, kl_divergence
from .dropout import Dropout
from .embedding import Embedding, TiedOutput
from .example_grads import ExampleGrads
from .feed_forward import FeedForward
from .functional_call import functional_call, loss_of
from .history import History
from .local_attention import LocalAttention, PredictiveLocalAttention
from .lora import LoRA, add_lora, merge_lora
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    mean_squared_error,
    negative_log_likelihood,
)
from .lstm import LSTM, LSTMCell
from .masks import causal_mask, padding_mask, window_mask
from .message_passing import MessagePassing, SimplifiedAttention
from .module import Buffer, Module, Parameter
from .multi_head import MultiHeadAttention, PackedMultiHeadAttention
from .normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from .optim import SGD, AdaGrad, Adam, AdamW, Lion, RMSProp
from .optimizer import Optimizer
from .per_example import per_example_grads
from .pooling import AvgPool1d, AvgPool2d, Flatten, GlobalAvgPool, MaxPool1d, MaxPool2d, pool
from .positional import LearnedPositions, PositionalEncoding, sinusoids
from .recurrent import GRU, RNN, GRUCell, RNNCell
from .residual import Residual, Sequential
from .rotary import RotaryPositions
from .sampling import apply_temperature, keep_top_k, keep_top_p, sample_tokens, token_probabilities
from .schedules import (
    PlateauSchedule,
    cosine_schedule,
    inverse_sqrt_schedule,
    linear_schedule,
    one_cycle_schedule,
    step_schedule,
)
from .scores import AdditiveScore, CosineScore, DotScore, GeneralScore
from .summary import summary
from .train import fit
from .training import Callback, TrainingError
from .transformer import TransformerDecoderLayer, TransformerEncoderLayer
from .weights_file import load_weights, save_weights

__minigrad__ = True  # minigrad.errors.check_ours looks for this name: another package `nn` does not have it

__all__ = [
    "Module", "Parameter", "Buffer", "functional", "functional_call", "loss_of", "per_example_grads", "ExampleGrads",
    "summary", "init", "parallel",
    "Affine", "LoRA", "add_lora", "merge_lora", "Dropout", "Embedding", "TiedOutput", "FeedForward", "Residual",
    "Sequential",
    "LayerNorm", "RMSNorm", "BatchNorm", "GroupNorm",
    "PositionalEncoding", "LearnedPositions", "RotaryPositions", "sinusoids",
    "Attention", "SelfAttention", "GlobalAttention", "DotProductAttention", "AdditiveAttention",
    "MultiplicativeAttention", "KeyValueAttention", "ContextAttention", "LocalAttention", "PredictiveLocalAttention",
    "MessagePassing", "SimplifiedAttention",
    "DotScore", "CosineScore", "GeneralScore", "AdditiveScore", "causal_mask", "padding_mask", "window_mask", "pool",
    "MultiHeadAttention", "AttentionHead", "PackedMultiHeadAttention", "KeyValueCache", "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "RNN", "RNNCell", "GRU", "GRUCell", "LSTM", "LSTMCell",
    "Conv1d", "Conv2d", "ConvTranspose2d", "MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "GlobalAvgPool",
    "Flatten",
    "cross_entropy", "negative_log_likelihood", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "mean_squared_error", "huber_loss", "kl_divergence", "cosine_loss", "hinge_loss",
    "Optimizer", "SGD", "Adam", "AdamW", "Lion", "AdaGrad", "RMSProp", "clip_grad_norm", "clip_grad_value",
    "WeightAverage",
    "linear_schedule", "cosine_schedule", "inverse_sqrt_schedule", "step_schedule", "one_cycle_schedule",
    "PlateauSchedule",
    "fit", "Batches", "History", "Callback", "TrainingError", "save_weights", "load_weights", "to_torch_state",
    "from_torch_state",
    "Hypothesis", "greedy_decode", "beam_search", "sample_tokens", "token_probabilities", "apply_temperature",
    "keep_top_k", "keep_top_p",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

    def __getattr__(name: str) -> object:
        from minigrad.internal import missing

        raise missing(__name__, name)
