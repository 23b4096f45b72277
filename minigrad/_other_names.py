"""Names from other libraries: the error for a missing attribute says what to write in minigrad.

Most names are PyTorch's; the others are from Keras, Flax, JAX, autograd and micrograd. A hint is code, or it describes a
substitute if minigrad has no equivalent. Tests check that every name in the hints exists, and compare the results of the code
with PyTorch's.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_FUNCTION = "a function: nn.Sequential takes functions too"


def _read(table: str) -> dict[str, str]:
    """Read lines of the form ``names: hint`` into a dict from name to hint."""
    rows = [line.partition(": ") for line in table.strip().splitlines()]
    return {name: instead for names, _, instead in rows for name in names.split()}


# Hints for layers of `nn` and for functions of `nn.functional`, which have lower-case names.
_BOTH = _read(f"""
ELU elu: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), {_FUNCTION}
LeakyReLU leaky_relu: np.where(x > 0, x, 0.01 * x), {_FUNCTION}
PReLU prelu: np.where(x > 0, x, weight * x), with an nn.Parameter as the weight
SELU selu: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))), {_FUNCTION}
Softplus softplus: np.logaddexp(x, 0), {_FUNCTION}
Softsign softsign soft_sign: x / (1 + np.abs(x)), {_FUNCTION}
LogSigmoid logsigmoid log_sigmoid: -np.logaddexp(0, -x), {_FUNCTION}
ReLU6 relu6: np.clip(x, 0, 6), {_FUNCTION}
Hardtanh hardtanh hard_tanh: np.clip(x, -1, 1), {_FUNCTION}
Mish mish: x * np.tanh(np.logaddexp(x, 0)), {_FUNCTION}
GLU glu: a * minigrad.sigmoid(b), where a, b = np.split(x, 2, axis=-1)
Softmin softmin: minigrad.softmax(-x), a function
Tanh tanh: np.tanh, a function
MSELoss MeanSquaredError mse_loss: nn.mean_squared_error
L1Loss MeanAbsoluteError l1_loss: np.abs(x - y).mean()
HuberLoss SmoothL1Loss Huber smooth_l1_loss: nn.huber_loss
KLDivLoss KLDivergence kl_div: nn.kl_divergence, which is reduction="batchmean" of PyTorch's
CosineEmbeddingLoss CosineSimilarity cosine_embedding_loss: nn.cosine_loss
MultiMarginLoss HingeLoss multi_margin_loss: nn.hinge_loss
NLLLoss nll_loss: nn.negative_log_likelihood
MultiheadAttention MultiHeadDotProductAttention multi_head_attention_forward: nn.MultiHeadAttention
BatchNorm1d BatchNorm2d BatchNormalization batch_norm: nn.BatchNorm, for any number of axes
group_norm GroupNormalization: nn.GroupNorm
InstanceNorm1d InstanceNorm2d instance_norm: nn.GroupNorm with as many groups as channels
Conv Conv2D conv2d: nn.Conv2d, for x (batch, channels, height, width)
Conv1D conv1d: nn.Conv1d, for x (batch, channels, length)
ConvTranspose Conv2DTranspose conv_transpose2d: nn.ConvTranspose2d
MaxPooling1D max_pool1d: nn.MaxPool1d
AveragePooling1D avg_pool1d: nn.AvgPool1d
MaxPooling2D max_pool max_pool2d: nn.MaxPool2d
AveragePooling2D avg_pool avg_pool2d: nn.AvgPool2d
AdaptiveAvgPool2d GlobalAveragePooling2D adaptive_avg_pool2d: nn.GlobalAvgPool
GlobalAveragePooling1D AdaptiveAvgPool1d adaptive_avg_pool1d: nn.pool(x), for x (batch, length, channels)
""")

MINIGRAD = _read("""
tensor Variable variable Value Array: minigrad.Tensor(data, requires_grad=True)
as_tensor from_numpy asarray array from_dlpack: minigrad.Tensor(array), with copy=False to share its memory
manual_seed random set_seed seed PRNGKey: rng=np.random.default_rng(0), which each layer takes
randn normal: minigrad.Tensor(rng.normal(size=shape)), NumPy's generators
rand uniform: minigrad.Tensor(rng.uniform(size=shape)), NumPy's generators
GradientTape backward autograd: t.backward() and t.grad, or minigrad.grad(f)
inference_mode stop_recording: minigrad.no_grad
jacfwd jacrev jacobian_of value_and_jacobian: minigrad.jacobian
gradcheck gradgradcheck check_grad test_grads: minigrad.check_grads
detach: t.detach(), and minigrad.stop_gradient for arrays too
tree_multimap: minigrad.tree_map
optim optimizers: nn.SGD, nn.Adam, nn.AdamW: import nn
Module Parameter Sequential: nn.{name}: import nn
functional F: nn.functional: import nn
save load: nn.save_weights(model, path) and nn.load_weights(model, path)
swish: minigrad.silu
cuda to: model.to('cuda'), and minigrad.device.to_device(array, 'cuda')
jit compile: the function itself; minigrad.compiled_kernels has faster parts
vmap pmap: an extra first axis: NumPy broadcasts
nn: import nn, a separate package
models: import models, a separate package
set_grad_enabled: minigrad.no_grad and minigrad.enable_grad
grad_and_value: minigrad.value_and_grad
cat: np.concatenate
mm: a @ b
linear: minigrad.affine(x, W, b), where W is (in, out): PyTorch's weight is W.T
dropout: nn.Dropout
scatter_add index_add: t.at[index].add(v), or nn.functional.segment_sum(v, index, n), whose sums begin at zero
segment_sum: nn.functional.segment_sum
linalg: np.linalg, whose functions work on Tensors
fft: np.fft, whose functions work on Tensors
""")

NN = _BOTH | _read(f"""
Linear Dense LazyLinear: nn.Affine
ReLU relu: minigrad.relu, {_FUNCTION}
GELU gelu: minigrad.gelu, a function
SiLU Swish silu swish: minigrad.silu, a function
Sigmoid sigmoid: minigrad.sigmoid, a function
Softmax softmax: minigrad.softmax, a function
LogSoftmax log_softmax: minigrad.log_softmax, a function
OptimizedLSTMCell: nn.LSTMCell
SimpleRNN: nn.RNN
SimpleCell: nn.RNNCell
ModuleList ParameterList: a list in an attribute: its modules and parameters are found
ModuleDict ParameterDict: a dict in an attribute: its modules and parameters are found
CrossEntropyLoss: nn.cross_entropy
SparseCategoricalCrossentropy CategoricalCrossentropy: nn.cross_entropy, which takes logits, not probabilities
BCELoss BinaryCrossentropy: nn.binary_cross_entropy
TransformerEncoder: a list of nn.TransformerEncoderLayer, one per layer
TransformerDecoder: a list of nn.TransformerDecoderLayer, one per layer
Transformer: models.Transformer: import models
LayerNormalization: nn.LayerNorm
Embed: nn.Embedding
EmbeddingBag: nn.Embedding, and the mean of its result along axis 1
DataLoader TensorDataset Dataset: nn.Batches([x, y], batch_size, seed=0)
Layer Model: nn.Module
Identity: lambda x: x, {_FUNCTION}
Lambda: the function itself: nn.Sequential takes functions too
CosineAnnealingLR cosine_decay_schedule: nn.cosine_schedule
LinearLR: nn.linear_schedule, or a function of the step
StepLR: nn.step_schedule
AveragedModel ExponentialMovingAverage EMA get_ema_multi_avg_fn: nn.WeightAverage
ReduceLROnPlateau: nn.PlateauSchedule
OneCycleLR cosine_onecycle_schedule: nn.one_cycle_schedule
ExponentialLR: lambda step: lr * gamma ** step, a function of the step, as schedule of nn.fit
lr_scheduler: nn.cosine_schedule, or a function of the step
optimizers: nn.SGD, nn.Adam, nn.AdamW, in this package
Tensor tensor: minigrad.Tensor(data, requires_grad=True)
utils clip_grad_norm_ clip_by_global_norm: nn.clip_grad_norm
save load: nn.save_weights(model, path) and nn.load_weights(model, path)
BCEWithLogitsLoss: nn.binary_cross_entropy_with_logits
F: nn.functional
Adagrad: nn.AdaGrad
RMSprop: nn.RMSProp
clip_grad_value_: nn.clip_grad_value
SinusoidalPositionalEncoding: nn.PositionalEncoding
one_hot: nn.functional.one_hot
initializers: nn.init
load_state_dict: model.load_state_dict(state)
state_dict: model.state_dict()
trainer Trainer: nn.fit
no_grad: minigrad.no_grad
""")

_TWINS = {  # nn.functional has these
    *("batch_norm", "group_norm", "conv1d", "conv2d", "conv_transpose2d"),
    *("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"),
}
FUNCTIONAL = {name: instead for name, instead in _BOTH.items() if name.islower() and name not in _TWINS} | _read("""
swish: minigrad.silu
linear: minigrad.affine(x, W, b), where W is (in, out): PyTorch's weight is W.T
pad: np.pad(x, [(0, 0), (1, 2)]), with one pair per axis, starting with the first axis
normalize: x / np.linalg.norm(x, axis=-1, keepdims=True)
cosine_similarity: np.sum(x * y, axis=-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1))
pairwise_distance: np.linalg.norm(x - y, axis=-1)
dot_product_attention: nn.functional.scaled_dot_product_attention
standardize: minigrad.layer_norm(x, weight, bias), where weight and bias are ones and zeros
""")

MODELS = _read("""
Bert BERT BertModel: models.BertEncoder
GPT2 GPT2Model GPT2LMHeadModel NanoGPT: models.GPT
ViT ViTModel: models.VisionTransformer
Word2Vec word2vec: models.SkipGram
Seq2Seq seq2seq: models.RNNEncoderDecoder
Tokenizer BertTokenizer AutoTokenizer: models.WordPiece
BigramLanguageModel: models.Bigram
""")

# Hints for methods of a Tensor.
TENSOR = _read("""
view view_as reshape_as: t.reshape(shape)
masked_fill: np.where(mask, value, t)
masked_select: t[mask]
permute: t.transpose(axes)
movedim: np.moveaxis(t, source, destination)
swapdims: np.swapaxes(t, first, second)
t adjoint: t.T
unsqueeze: np.expand_dims(t, axis)
expand expand_as: np.broadcast_to(t, shape)
repeat_interleave: np.repeat(t, count, axis)
chunk: np.array_split(t, count, axis)
unbind: tuple(t), along the first axis
narrow select: t[:, start:stop], a slice
index_select: np.take(t, index, axis)
gather take_along_dim: np.take_along_axis(t, index, axis)
scatter index_put index_copy index_fill masked_scatter: t.at[index].set(v)
scatter_add index_add scatter_reduce: t.at[index].add(v)
clamp clamp_min clamp_max: np.clip(t, low, high)
mm bmm mv: t @ u
mul: t * u
div: t / u
sub: t - u
neg: -t
rsqrt: t ** -0.5
norm: np.linalg.norm(t)
relu: minigrad.relu(t)
sigmoid: minigrad.sigmoid(t)
softmax: minigrad.softmax(t, axis=axis)
log_softmax: minigrad.log_softmax(t, axis=axis)
float double half bfloat16 long int type type_as: t.astype(dtype)
cuda cpu to: minigrad.device.to_device(array, 'cuda'), and model.to('cuda')
numel nelement: t.size
dim ndimension: t.ndim
clone: np.copy(t)
contiguous: t, whose memory may have any layout
requires_grad_: t.requires_grad = True
""")

# Hints for methods of a module.
MODULE = _read("""
register_forward_hook register_forward_pre_hook: t.register_hook(f) for a tensor in forward; minigrad.trace() records all values
register_backward_hook register_full_backward_hook register_full_backward_pre_hook: t.register_hook(f) for a tensor in forward
register_buffer: self.name = nn.Buffer(array)
register_parameter: self.name = nn.Parameter(array)
register_module add_module: self.name = module
get_parameter get_buffer: dict(module.named_parameters())[path], and the same with named_buffers
get_submodule: dict(module.named_modules())[path]
children named_children: module.named_modules(), which lists the modules inside of modules too
apply: a loop over module.modules()
cuda cpu: module.to('{name}')
float double half bfloat16 type: module.astype(dtype)
requires_grad_: a loop over module.parameters(): p.requires_grad = False
save: nn.save_weights(module, path)
load: nn.load_weights(module, path)
compile: module(x), which NumPy runs directly
fit: nn.fit(module, batches, loss, optimizer, epochs=10)
predict: module(x) under minigrad.no_grad(), after module.eval()
summary: nn.summary(module, x)
""")

# Hints for methods and attributes of an optimizer.
OPTIMIZER = _read("""
param_groups: optimizer.lr, which is one for all; a group is given to the constructor and may have an "lr_scale"
add_param_group: all groups in the constructor
minimize apply_gradients: loss.backward(), then optimizer.step()
""")

# Names of other libraries for the settings of the models' configs, and ours.
SETTINGS = _read("""
block_size n_ctx n_positions context_length max_seq_len: window
max_position_embeddings: window max_positions
n_embd n_embed hidden_size embed_dim embed_size embedding_dim emb_dim dim: d_model
n_layer n_layers num_hidden_layers depth: num_layers
n_head n_heads nhead num_attention_heads: num_heads
num_key_value_heads n_kv_heads: num_kv_heads
intermediate_size dim_feedforward n_inner d_ff mlp_dim: hidden
hidden_act activation_function hidden_activation: activation
hidden_dropout_prob resid_pdrop embd_pdrop dropout_rate: dropout
attn_pdrop attention_probs_dropout_prob: attention_dropout
rope_theta: rotary_base
tie_word_embeddings: tied
initializer_range: std
layer_norm_eps layer_norm_epsilon: eps
type_vocab_size: token_types
num_labels n_classes: num_classes
n_vocab vocabulary_size: vocab_size
""")

_TABLES = {"minigrad": MINIGRAD, "nn": NN, "nn.functional": FUNCTIONAL, "models": MODELS}
_OBJECTS = {"module": MODULE, "optimizer": OPTIMIZER}


def missing(package: str, name: str) -> AttributeError:
    """Return the error for an attribute that a package of minigrad does not have."""
    instead = _TABLES[package].get(name, "").replace("{name}", name)
    if not instead and package != "models" and not name.startswith("_"):
        instead = _numpys(name)
    said = f"module '{package}' has no attribute '{name}'"
    return AttributeError(f"{said}: write {instead}" if instead else said, name=name, obj=sys.modules[package])


def of_tensor(name: str) -> str:
    """Return what to write in place of a method that a Tensor does not have, or ""."""
    return TENSOR.get(name) or ("" if name.startswith("_") else _numpys(name))


def of_object(value: object, kind: str, name: str) -> Any:
    """Raise the error for an attribute that a "module" or an "optimizer" does not have; call it from ``__getattr__``."""
    if name.startswith("_") or hasattr(type(value), name):  # a property whose own error is an AttributeError
        return object.__getattribute__(value, name)
    instead = _OBJECTS[kind].get(name, "").replace("{name}", name)
    said = f"'{type(value).__name__}' object has no attribute '{name}'"
    raise AttributeError(f"{said}: write {instead}" if instead else said, name=name, obj=value)


def setting(name: str, known: list[str]) -> str:
    """Return the setting of a config, which has the ``known`` ones, for a name of another library, or ""."""
    return next((ours for ours in SETTINGS.get(name, "").split() if ours in known), "")


def _numpys(name: str) -> str:
    """Return the hint for a name of NumPy's; its functions work on Tensors, and its new arrays become Tensors."""
    if isinstance(getattr(np, name, None), type) or not callable(getattr(np, name, None)):
        return ""
    creates = name in ("arange", "empty", "eye", "full", "identity", "ones", "zeros", "load")
    return f"minigrad.Tensor(np.{name}(...))" if creates else f"np.{name}, which works on Tensors"
