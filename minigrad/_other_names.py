"""What others call what we call otherwise: an attribute that is not there says what to write instead.

The names are PyTorch's first of all, then those of Keras, Flax, JAX, autograd and micrograd. What is said instead is code, or,
where there is nothing of the kind, what to do without it. Tests see that every name in it exists, and run the code beside what
PyTorch computes under the name.
"""

from __future__ import annotations

import sys

import numpy as np

_TENSOR = "minigrad.Tensor(data, requires_grad=True)"
_ARRAY = "minigrad.Tensor(array), with copy=False to share its memory"
_RNG = "rng=np.random.default_rng(0), which each layer takes"
_NO_LSTM = "nn.GRU, and nn.GRUCell for one step; there is no LSTM"
_OTHER_NORM = "nn.LayerNorm or nn.RMSNorm; there is no normalization over a batch"
_TRANSPOSED = (
    "minigrad.vjp(convolution, y), whose second part gives the gradient of y; Conv2d says how to write a convolution"
)
_GRADIENTS = "t.backward() and t.grad, or minigrad.grad(f)"
_FUNCTION = "a function: nn.Sequential takes functions too"
_SCHEDULE = "a function of the step, as schedule of nn.fit"
_RANDOM = "minigrad.Tensor(rng.{}(size=shape)), NumPy's generators"

# A convolution of any size by slices and products: shifted by i and j, the whole input meets one matrix of the kernel.
_CONV1D = (
    "sum(x[:, i : i + n] @ w[i] for i in range(len(w))), where n = x.shape[1] - len(w) + 1, "
    "x is (batch, length, channels) and w is (size, in, out)"
)
_CONV2D = (
    "sum(x[:, i : i + n, j : j + m] @ w[i, j] for i, j in np.ndindex(w.shape[:2])), where n and m are the height and the width "
    "of the answer, x is (batch, height, width, channels) and w is (height, width, in, out)"
)
_POOL1D = "x.reshape(len(x), -1, 2, x.shape[2]).{}(axis=2), for windows of 2 and x (batch, length, channels)"
_POOL2D = (
    "x.reshape(len(x), x.shape[1] // 2, 2, x.shape[2] // 2, 2, -1).{}(axis=(2, 4)), for windows of 2 x 2 and "
    "x (batch, height, width, channels)"
)
_HUBER = "np.where(np.abs(d) < 1, d * d / 2, np.abs(d) - 0.5).mean(), where d = x - y"

# What is elementwise, or along the last axis: the same for a layer of `nn` and for a function of `nn.functional`.
_ACTIVATIONS = {
    **dict.fromkeys(("ELU", "elu"), f"np.where(x > 0, x, np.expm1(np.minimum(x, 0))), {_FUNCTION}"),
    **dict.fromkeys(("LeakyReLU", "leaky_relu"), f"np.where(x > 0, x, 0.01 * x), {_FUNCTION}"),
    **dict.fromkeys(("PReLU", "prelu"), "np.where(x > 0, x, weight * x), with an nn.Parameter as the weight"),
    **dict.fromkeys(
        ("SELU", "selu"),
        f"1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))), {_FUNCTION}",
    ),
    **dict.fromkeys(("Softplus", "softplus"), f"np.logaddexp(x, 0), {_FUNCTION}"),
    **dict.fromkeys(("Softsign", "softsign", "soft_sign"), f"x / (1 + np.abs(x)), {_FUNCTION}"),
    **dict.fromkeys(("LogSigmoid", "logsigmoid", "log_sigmoid"), f"-np.logaddexp(0, -x), {_FUNCTION}"),
    **dict.fromkeys(("ReLU6", "relu6"), f"np.clip(x, 0, 6), {_FUNCTION}"),
    **dict.fromkeys(("Hardtanh", "hardtanh", "hard_tanh"), f"np.clip(x, -1, 1), {_FUNCTION}"),
    **dict.fromkeys(("Mish", "mish"), f"x * np.tanh(np.logaddexp(x, 0)), {_FUNCTION}"),
    **dict.fromkeys(("GLU", "glu"), "a * minigrad.sigmoid(b), where a, b = np.split(x, 2, axis=-1)"),
    **dict.fromkeys(("Softmin", "softmin"), "minigrad.softmax(-x), a function"),
    **dict.fromkeys(("Tanh", "tanh"), "np.tanh, a function"),
}

MINIGRAD = {
    **dict.fromkeys(("tensor", "Variable", "variable", "Value", "Array"), _TENSOR),
    **dict.fromkeys(("as_tensor", "from_numpy", "asarray", "array", "from_dlpack"), _ARRAY),
    **dict.fromkeys(("manual_seed", "random", "set_seed", "seed", "PRNGKey"), _RNG),
    **dict.fromkeys(("randn", "normal"), _RANDOM.format("normal")),
    **dict.fromkeys(("rand", "uniform"), _RANDOM.format("uniform")),
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
    "linear": "minigrad.affine(x, W, b), where W is (in, out): PyTorch's weight is W.T",
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
    **_ACTIVATIONS,
    **dict.fromkeys(("GELU", "gelu"), "minigrad.gelu, a function"),
    **dict.fromkeys(("SiLU", "Swish", "silu", "swish"), "minigrad.silu, a function"),
    **dict.fromkeys(("Sigmoid", "sigmoid"), "minigrad.sigmoid, a function"),
    **dict.fromkeys(("Softmax", "softmax"), "minigrad.softmax, a function"),
    **dict.fromkeys(("LogSoftmax", "log_softmax"), "minigrad.log_softmax, a function"),
    **dict.fromkeys(("LSTM", "LSTMCell", "OptimizedLSTMCell"), _NO_LSTM),
    **dict.fromkeys(("RNN", "RNNCell", "SimpleRNN", "SimpleCell"), "nn.GRU and nn.GRUCell; there is no simpler one"),
    **dict.fromkeys(("ModuleList", "ParameterList"), "a list in an attribute: its modules and parameters are found"),
    **dict.fromkeys(("ModuleDict", "ParameterDict"), "a dict in an attribute: its modules and parameters are found"),
    "CrossEntropyLoss": "nn.cross_entropy",
    **dict.fromkeys(
        ("SparseCategoricalCrossentropy", "CategoricalCrossentropy"),
        "nn.cross_entropy, which takes logits, no probabilities",
    ),
    **dict.fromkeys(("MSELoss", "MeanSquaredError", "mse_loss"), "nn.mean_squared_error"),
    **dict.fromkeys(("BCELoss", "BinaryCrossentropy"), "nn.binary_cross_entropy"),
    **dict.fromkeys(("L1Loss", "MeanAbsoluteError"), "np.abs(x - y).mean()"),
    **dict.fromkeys(("HuberLoss", "SmoothL1Loss", "Huber"), _HUBER),
    **dict.fromkeys(("KLDivLoss", "KLDivergence"), "np.mean(p * (np.log(p) - log_q))"),
    **dict.fromkeys(("NLLLoss", "nll_loss"), "nn.negative_log_likelihood"),
    **dict.fromkeys(("MultiheadAttention", "MultiHeadDotProductAttention"), "nn.MultiHeadAttention"),
    "TransformerEncoder": "nn.TransformerEncoderLayer, as many as it has layers, in a list",
    "TransformerDecoder": "nn.TransformerDecoderLayer, as many as it has layers, in a list",
    "Transformer": "models.Transformer: import models",
    **dict.fromkeys(("BatchNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "BatchNormalization"), _OTHER_NORM),
    **dict.fromkeys(("LayerNormalization",), "nn.LayerNorm"),
    **dict.fromkeys(("Conv1d", "Conv1D"), _CONV1D),
    **dict.fromkeys(("Conv", "Conv2d", "Conv2D"), _CONV2D),
    **dict.fromkeys(("ConvTranspose", "ConvTranspose2d", "Conv2DTranspose"), _TRANSPOSED),
    **dict.fromkeys(("MaxPool1d", "MaxPooling1D"), _POOL1D.format("max")),
    **dict.fromkeys(("AvgPool1d", "AveragePooling1D"), _POOL1D.format("mean")),
    **dict.fromkeys(("MaxPool2d", "MaxPooling2D", "max_pool"), _POOL2D.format("max")),
    **dict.fromkeys(("AvgPool2d", "AveragePooling2D", "avg_pool"), _POOL2D.format("mean")),
    **dict.fromkeys(("GlobalAveragePooling1D", "AdaptiveAvgPool1d"), "nn.pool(x), of x (batch, length, channels)"),
    "Embed": "nn.Embedding",
    "EmbeddingBag": "nn.Embedding, and the mean of what it gives along axis 1",
    **dict.fromkeys(("DataLoader", "TensorDataset", "Dataset"), "nn.Batches([x, y], batch_size, seed=0)"),
    **dict.fromkeys(("Layer", "Model"), "nn.Module"),
    "Identity": f"lambda x: x, {_FUNCTION}",
    "Flatten": f"lambda x: x.reshape(len(x), -1), {_FUNCTION}",
    "Lambda": "the function itself: nn.Sequential takes functions too",
    **dict.fromkeys(("CosineAnnealingLR", "cosine_decay_schedule"), "nn.cosine_schedule"),
    "LinearLR": "nn.linear_schedule, or a function of the step",
    "StepLR": f"lambda step: lr * 0.1 ** (step // size), {_SCHEDULE}",
    "ExponentialLR": f"lambda step: lr * gamma ** step, {_SCHEDULE}",
    "lr_scheduler": "nn.cosine_schedule, or a function of the step",
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

FUNCTIONAL = {
    **{name: said for name, said in _ACTIVATIONS.items() if name.islower()},
    **dict.fromkeys(("swish",), "minigrad.silu"),
    **dict.fromkeys(("mse_loss",), "nn.mean_squared_error"),
    **dict.fromkeys(("l1_loss",), "np.abs(x - y).mean()"),
    **dict.fromkeys(("huber_loss", "smooth_l1_loss"), _HUBER),
    **dict.fromkeys(("kl_div",), "np.mean(p * (np.log(p) - log_q))"),
    **dict.fromkeys(("batch_norm", "group_norm", "instance_norm"), _OTHER_NORM),
    **dict.fromkeys(("conv1d",), _CONV1D),
    **dict.fromkeys(("conv2d",), _CONV2D),
    **dict.fromkeys(("conv_transpose2d",), _TRANSPOSED),
    **dict.fromkeys(("max_pool1d",), _POOL1D.format("max")),
    **dict.fromkeys(("avg_pool1d",), _POOL1D.format("mean")),
    **dict.fromkeys(("max_pool2d", "max_pool"), _POOL2D.format("max")),
    **dict.fromkeys(("avg_pool2d", "avg_pool"), _POOL2D.format("mean")),
    **dict.fromkeys(("adaptive_avg_pool1d",), "nn.pool(x), of x (batch, length, channels)"),
    "linear": "minigrad.affine(x, W, b), where W is (in, out): PyTorch's weight is W.T",
    "nll_loss": "nn.negative_log_likelihood",
    "binary_cross_entropy": "nn.binary_cross_entropy",
    "binary_cross_entropy_with_logits": "nn.binary_cross_entropy_with_logits",
    "pad": "np.pad(x, [(0, 0), (1, 2)]), with a pair for each axis, the first axis first",
    "embedding": "weight[ids], or nn.Embedding, which checks the ids",
    "dropout": "nn.Dropout, a layer, as it has a mode and its own randomness",
    "normalize": "x / np.linalg.norm(x, axis=-1, keepdims=True)",
    "cosine_similarity": "np.sum(x * y, axis=-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1))",
    "pairwise_distance": "np.linalg.norm(x - y, axis=-1)",
    "multi_head_attention_forward": "nn.MultiHeadAttention",
    "dot_product_attention": "nn.functional.scaled_dot_product_attention",
    "standardize": "minigrad.layer_norm(x, weight, bias), where weight and bias are ones and zeros",
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

_TABLES = {"minigrad": MINIGRAD, "nn": NN, "nn.functional": FUNCTIONAL, "models": MODELS}


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
