"""The PyTorch class that takes the weights of each class of nn and models, for docs/from-pytorch.md and its test."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A class of ours and PyTorch's, as they are written; ``inputs`` names the arrays of the test, for each of the two."""

    ours: str
    theirs: str
    inputs: str
    their_inputs: str = ""
    settings: str = ""


# With norm="post" a Transformer layer is PyTorch's without norm_first=True; activation="gelu" is the same in both.
PAIRS = (
    Pair("nn.Affine(4, 6, rng=rng)", "torch.nn.Linear(4, 6)", "tokens"),
    Pair("nn.Embedding(8, 4, rng=rng)", "torch.nn.Embedding(8, 4)", "ids"),
    Pair("nn.LayerNorm(4)", "torch.nn.LayerNorm(4)", "tokens"),
    Pair("nn.RMSNorm(4)", "torch.nn.RMSNorm(4, eps=1e-6)", "tokens"),
    Pair("nn.BatchNorm(4)", "torch.nn.BatchNorm2d(4)", "images"),
    Pair("nn.GroupNorm(2, 4)", "torch.nn.GroupNorm(2, 4)", "images"),
    Pair("nn.Conv1d(4, 6, 3, rng=rng)", "torch.nn.Conv1d(4, 6, 3)", "signals"),
    Pair("nn.Conv2d(4, 6, 3, rng=rng, padding=1)", "torch.nn.Conv2d(4, 6, 3, padding=1)", "images"),
    Pair("nn.ConvTranspose2d(4, 6, 2, rng=rng, stride=2)", "torch.nn.ConvTranspose2d(4, 6, 2, stride=2)", "images"),
    Pair("nn.MaxPool1d(2)", "torch.nn.MaxPool1d(2)", "signals"),
    Pair("nn.MaxPool2d(3, stride=2)", "torch.nn.MaxPool2d(3, stride=2)", "images"),
    Pair("nn.AvgPool1d(2)", "torch.nn.AvgPool1d(2)", "signals"),
    Pair("nn.AvgPool2d(2)", "torch.nn.AvgPool2d(2)", "images"),
    Pair("nn.GlobalAvgPool()", "torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())", "images"),
    Pair("nn.Flatten()", "torch.nn.Flatten()", "images"),
    Pair("nn.Dropout(0.1, rng=rng)", "torch.nn.Dropout(0.1)", "tokens"),
    Pair("nn.RNN(4, 6, rng=rng)", "torch.nn.RNN(4, 6, batch_first=True)", "tokens"),
    Pair("nn.RNNCell(4, 6, rng=rng)", "torch.nn.RNNCell(4, 6)", "row, state"),
    Pair("nn.GRU(4, 6, rng=rng)", "torch.nn.GRU(4, 6, batch_first=True)", "tokens"),
    Pair("nn.GRUCell(4, 6, rng=rng)", "torch.nn.GRUCell(4, 6)", "row, state"),
    Pair(
        "nn.GRU(4, 6, rng=rng, num_layers=2, bidirectional=True)",
        "torch.nn.GRU(4, 6, num_layers=2, batch_first=True, bidirectional=True)",
        "tokens",
    ),
    Pair("nn.LSTM(4, 6, rng=rng)", "torch.nn.LSTM(4, 6, batch_first=True)", "tokens"),
    Pair("nn.LSTMCell(4, 6, rng=rng)", "torch.nn.LSTMCell(4, 6)", "row, (state, state)"),
    Pair(
        "nn.MultiHeadAttention(4, 2, rng=rng)",
        "torch.nn.MultiheadAttention(4, 2, batch_first=True)",
        "tokens",
        "tokens, tokens, tokens",
    ),
    Pair(
        "nn.PackedMultiHeadAttention(4, 2, rng=rng)",
        "torch.nn.MultiheadAttention(4, 2, batch_first=True)",
        "tokens",
        "tokens, tokens, tokens",
    ),
    Pair(
        'nn.TransformerEncoderLayer(4, 2, 8, rng=rng, activation="gelu")',
        'torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0, "gelu", batch_first=True, norm_first=True)',
        "tokens",
    ),
    Pair(
        'nn.TransformerEncoderLayer(4, 2, 8, rng=rng, norm="post")',
        "torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)",
        "tokens",
    ),
    Pair(
        "nn.TransformerDecoderLayer(4, 2, 8, rng=rng)",
        "torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True, norm_first=True)",
        "tokens, memory",
        settings="causal=False",
    ),
    Pair(
        "nn.Sequential(nn.Affine(4, 6, rng=rng), minigrad.relu)",
        "torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU())",
        "tokens",
    ),
)

# Classes whose weights no single class of PyTorch takes, and what does.
OTHERWISE = {
    "a `Linear` for each map, under the name of the attribute": "nn.FeedForward nn.AttentionHead nn.Attention nn.SelfAttention "
    "nn.AdditiveAttention nn.MultiplicativeAttention nn.KeyValueAttention nn.ContextAttention nn.GeneralScore "
    "nn.AdditiveScore nn.PredictiveLocalAttention",
    "a `Linear`, with the weights of `layer.merged()`": "nn.LoRA",
    "an `Embedding` of the positions": "nn.LearnedPositions",
    "a `Linear` whose weight is that of an `Embedding`": "nn.TiedOutput",
    "nothing: they have no weights": "nn.RotaryPositions nn.PositionalEncoding nn.MessagePassing nn.SimplifiedAttention "
    "nn.DotScore nn.CosineScore nn.LocalAttention nn.GlobalAttention nn.DotProductAttention",
    "a module of your own with the same attributes": "nn.Module nn.Residual models.Model models.GPT models.Bigram "
    "models.SkipGram models.TwoLayerTransformer models.Transformer models.TransformerClassifier models.RNNEncoderDecoder "
    "models.VisionTransformer models.BertEncoder",
}
HEADING = "## Classes and their weights\n"


def name_of(expression: str) -> str:
    """Return "nn.Affine" of "nn.Affine(4, 6, rng=rng)"."""
    return expression.partition("(")[0]


def section() -> str:
    """Return the section of the page that says which class takes which weights."""
    lines = [
        HEADING,
        "`nn.to_torch_state(ours)` is a state dict of NumPy arrays for the class beside it:",
        "`theirs.load_state_dict({name: torch.from_numpy(a) for name, a in nn.to_torch_state(ours).items()})`.",
        "`nn.from_torch_state(ours, theirs.state_dict())` goes back: it copies into `ours`. A test builds both classes",
        "of each row of this table, and compares their results, a training step and its loss.",
        "",
        "| here | PyTorch |",
        "|---|---|",
        *(
            f"| `{pair.ours}` | `{pair.theirs}`{f', ours called with `{pair.settings}`' if pair.settings else ''} |"
            for pair in PAIRS
        ),
        "",
        "The classes below have no counterpart in PyTorch, but most of their parts do:",
        "",
        "| class | what takes its weights in PyTorch |",
        "|---|---|",
        *(f"| {', '.join(f'`{name}`' for name in names.split())} | {what} |" for what, names in OTHERWISE.items()),
        "",
    ]
    return "\n".join(lines)
