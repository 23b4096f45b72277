"""What others call what we call otherwise: an attribute that is not there says what to write instead.

The names are PyTorch's first of all, then those of Keras, Flax, JAX, autograd and micrograd. What is said instead is code, or,
where there is nothing of the kind, what to do without it; a test sees that every name in it exists.
"""

from __future__ import annotations

import sys

import numpy as np

_TENSOR = "minigrad.Tensor(data, requires_grad=True)"
_ARRAY = "minigrad.Tensor(array), with copy=False to share its memory"
_RNG = "rng=np.random.default_rng(0), which each layer takes"
_NO_LSTM = "nn.GRU, and nn.GRUCell for one step; there is no LSTM"
_OTHER_NORM = "nn.LayerNorm or nn.RMSNorm; there is no normalization over a batch"
_NO_CONVOLUTION = "np.lib.stride_tricks.sliding_window_view(x, ...) and np.einsum, or np.convolve in one dimension"
_NO_MAXIMA = "np.max(x.reshape(...), axis=...)"
_GRADIENTS = "t.backward() and t.grad, or minigrad.grad(f)"
_RELU_LIKE = "np.where(x > 0, x, ...), a function: nn.Sequential takes functions too"

MINIGRAD = {
    **dict.fromkeys(("tensor", "Variable", "variable", "Value", "Array"), _TENSOR),
    **dict.fromkeys(("as_tensor", "from_numpy", "asarray", "array", "from_dlpack"), _ARRAY),
    **dict.fromkeys(("manual_seed", "random", "set_seed", "seed", "PRNGKey"), _RNG),
    **dict.fromkeys(
        ("rand", "randn", "uniform", "normal"), "minigrad.Tensor(rng.normal(size=shape)), NumPy's generators"
    ),
    **dict.fromkeys(("GradientTape", "backward", "autograd"), _GRADIENTS),
    **dict.fromkeys(("inference_mode", "stop_recording"), "minigrad.no_grad"),
    **dict.fromkeys(("jacfwd", "jacrev", "jacobian_of"), "minigrad.jacobian"),
    **dict.fromkeys(("gradcheck", "gradgradcheck", "check_grad", "test_grads"), "minigrad.check_grads"),
    **dict.fromkeys(("stop_gradient", "detach"), "t.detach()"),
    **dict.fromkeys(("optim", "optimizers"), "nn.SGD, nn.Adam, nn.AdamW: import nn"),
    **dict.fromkeys(("Module", "Parameter", "Sequential"), "nn.{name}: import nn"),
    **dict.fromkeys(("functional", "F"), "nn.functional: import nn"),
    **dict.fromkeys(("save", "load"), "nn.fit(..., checkpoint=path) and nn.load_weights(model, path)"),
    **dict.fromkeys(("swish",), "minigrad.silu"),
    **dict.fromkeys(("cuda", "to"), "model.to('cuda'), and minigrad.device.to_device(array, 'cuda')"),
    **dict.fromkeys(("jit", "compile"), "the function itself; minigrad.compiled_kernels has faster parts"),
    **dict.fromkeys(("vmap", "pmap"), "an axis in front: NumPy broadcasts"),
    "nn": "import nn, a package of its own",
    "models": "import models, a package of its own",
    "set_grad_enabled": "minigrad.no_grad and minigrad.enable_grad",
    "value_and_jacobian": "minigrad.jacobian",
    "grad_and_value": "minigrad.value_and_grad",
    "cat": "np.concatenate",
    "mm": "a @ b",
    "linear": "minigrad.affine",
    "dropout": "nn.Dropout",
    "scatter_add": "t.at[index].add(v)",
    "index_add": "t.at[index].add(v)",
    "segment_sum": "t.at[index].add(v)",
    "linalg": "np.linalg, whose functions work on Tensors",
    "fft": "np.fft, whose functions work on Tensors",
}

NN = {
    **dict.fromkeys(("Linear", "Dense", "LazyLinear"), "nn.Affine"),
    **dict.fromkeys(("ReLU", "relu"), "minigrad.relu, a function: nn.Sequential takes functions too"),
    **dict.fromkeys(("LeakyReLU", "ELU", "PReLU", "SELU", "Softplus", "leaky_relu", "elu"), _RELU_LIKE),
    **dict.fromkeys(("GELU", "gelu"), "minigrad.gelu, a function"),
    **dict.fromkeys(("SiLU", "Swish", "silu", "swish"), "minigrad.silu, a function"),
    **dict.fromkeys(("Sigmoid", "sigmoid"), "minigrad.sigmoid, a function"),
    **dict.fromkeys(("Tanh", "tanh"), "np.tanh, a function"),
    **dict.fromkeys(("Softmax", "softmax"), "minigrad.softmax, a function"),
    **dict.fromkeys(("LogSoftmax", "log_softmax"), "minigrad.log_softmax, a function"),
    **dict.fromkeys(("LSTM", "LSTMCell", "OptimizedLSTMCell"), _NO_LSTM),
    **dict.fromkeys(("RNN", "RNNCell", "SimpleRNN", "SimpleCell"), "nn.GRU and nn.GRUCell; there is no simpler one"),
    **dict.fromkeys(("ModuleList", "ParameterList"), "a list in an attribute: its modules and parameters are found"),
    **dict.fromkeys(("ModuleDict", "ParameterDict"), "a dict in an attribute: its modules and parameters are found"),
    **dict.fromkeys(
        ("CrossEntropyLoss", "SparseCategoricalCrossentropy", "CategoricalCrossentropy"), "nn.cross_entropy"
    ),
    **dict.fromkeys(("MSELoss", "MeanSquaredError", "mse_loss"), "nn.mean_squared_error"),
    **dict.fromkeys(("BCELoss", "BinaryCrossentropy"), "nn.binary_cross_entropy"),
    **dict.fromkeys(("L1Loss", "SmoothL1Loss", "HuberLoss"), "np.abs(x - y).mean(), written out"),
    **dict.fromkeys(("NLLLoss", "nll_loss"), "nn.negative_log_likelihood"),
    **dict.fromkeys(("MultiheadAttention", "MultiHeadDotProductAttention"), "nn.MultiHeadAttention"),
    **dict.fromkeys(("TransformerEncoder", "TransformerDecoder", "Transformer"), "models.Transformer: import models"),
    **dict.fromkeys(("BatchNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "BatchNormalization"), _OTHER_NORM),
    **dict.fromkeys(("LayerNormalization",), "nn.LayerNorm"),
    **dict.fromkeys(("Conv", "Conv1d", "Conv2d", "Conv1D", "Conv2D", "ConvTranspose"), _NO_CONVOLUTION),
    **dict.fromkeys(("MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "MaxPooling2D", "max_pool"), _NO_MAXIMA),
    **dict.fromkeys(("GlobalAveragePooling1D", "AdaptiveAvgPool1d"), "nn.pool"),
    **dict.fromkeys(("Embed", "EmbeddingBag"), "nn.Embedding"),
    **dict.fromkeys(("DataLoader", "TensorDataset", "Dataset"), "nn.Batches([x, y], batch_size, seed=0)"),
    **dict.fromkeys(("Layer", "Model"), "nn.Module"),
    **dict.fromkeys(("Identity", "Flatten", "Lambda"), "a function: lambda x: x.reshape(len(x), -1)"),
    **dict.fromkeys(("CosineAnnealingLR", "cosine_decay_schedule"), "nn.cosine_schedule"),
    **dict.fromkeys(
        ("LinearLR", "StepLR", "ExponentialLR", "lr_scheduler"), "nn.linear_schedule, or a function of the step"
    ),
    "optimizers": "nn.SGD, nn.Adam, nn.AdamW, right here",
    **dict.fromkeys(("Tensor", "tensor"), _TENSOR),
    **dict.fromkeys(("utils", "clip_grad_norm_", "clip_by_global_norm"), "nn.clip_grad_norm"),
    **dict.fromkeys(("save", "load"), "nn.fit(..., checkpoint=path) and nn.load_weights(model, path)"),
    "BCEWithLogitsLoss": "nn.binary_cross_entropy_with_logits",
    "F": "nn.functional",
    "Adagrad": "nn.AdaGrad",
    "RMSprop": "nn.RMSProp",
    "clip_grad_value_": "nn.clip_grad_value",
    "SinusoidalPositionalEncoding": "nn.PositionalEncoding",
    "one_hot": "nn.functional.one_hot",
    "initializers": "nn.init",
    "load_state_dict": "model.load_state_dict(state)",
    "state_dict": "model.state_dict()",
    "trainer": "nn.fit",
    "Trainer": "nn.fit",
    "no_grad": "minigrad.no_grad",
}

MODELS = {
    **dict.fromkeys(("Bert", "BERT", "BertModel"), "models.BertEncoder"),
    **dict.fromkeys(("GPT2", "GPT2Model", "GPT2LMHeadModel", "NanoGPT"), "models.GPT"),
    **dict.fromkeys(("ViT", "ViTModel"), "models.VisionTransformer"),
    **dict.fromkeys(("Word2Vec", "word2vec"), "models.SkipGram"),
    **dict.fromkeys(("Seq2Seq", "seq2seq"), "models.RNNEncoderDecoder"),
    **dict.fromkeys(("Tokenizer", "BertTokenizer", "AutoTokenizer"), "models.WordPiece"),
    "BigramLanguageModel": "models.Bigram",
}

_TABLES = {"minigrad": MINIGRAD, "nn": NN, "models": MODELS}


def missing(package: str, name: str) -> AttributeError:
    """The error for an attribute that a package of ours does not have."""
    instead = _TABLES[package].get(name, "").replace("{name}", name)
    if not instead and package != "models" and not name.startswith("_"):
        instead = _numpys(name)
    said = f"module '{package}' has no attribute '{name}'"
    return AttributeError(f"{said}: write {instead}" if instead else said, name=name, obj=sys.modules[package])


def _numpys(name: str) -> str:
    """NumPy's own functions work on Tensors, and what NumPy creates becomes one."""
    if isinstance(getattr(np, name, None), type) or not callable(getattr(np, name, None)):
        return ""
    creates = name in ("arange", "empty", "eye", "full", "identity", "ones", "zeros", "load")
    return f"minigrad.Tensor(np.{name}(...))" if creates else f"np.{name}, which works on Tensors"
