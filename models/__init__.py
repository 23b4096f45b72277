"""Complete networks, built from the layers of ``nn``; each network has its own file."""

from typing import TYPE_CHECKING

from . import _neighbours  # noqa: F401 - imported first: it raises if `nn` is not minigrad's
from ._config import Config
from ._model import Model
from .bert import BertConfig, BertEncoder
from .gpt import GPT, GPTConfig
from .rnn_encoder_decoder import RNNEncoderDecoder, RNNEncoderDecoderConfig
from .skip_gram import Bigram, SkipGram, SkipGramConfig
from .transformer import Transformer, TransformerConfig, shifted_right
from .transformer_classifier import ClassifierConfig, TransformerClassifier
from .two_layer_transformer import TwoLayerConfig, TwoLayerTransformer
from .vision_transformer import VisionTransformer, VisionTransformerConfig, image_patches
from .wordpiece import WordPiece

__minigrad__ = True  # distinguishes this package from a user's own `models`: minigrad.errors.check_ours

__all__ = [
    "Model", "Config",
    "GPT", "GPTConfig", "BertEncoder", "BertConfig", "WordPiece", "TransformerClassifier", "ClassifierConfig",
    "Transformer", "TransformerConfig", "shifted_right", "RNNEncoderDecoder", "RNNEncoderDecoderConfig",
    "VisionTransformer", "VisionTransformerConfig", "image_patches",
    "SkipGram", "SkipGramConfig", "Bigram", "TwoLayerTransformer", "TwoLayerConfig",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

    def __getattr__(name: str) -> object:
        from minigrad.internal import missing

        raise missing(__name__, name)
