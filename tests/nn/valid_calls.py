"""One valid call of every public callable of nn and models: the keyword arguments, made anew each time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
import models
import nn

Line = Callable[[Path], dict[str, Any]]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def x(*shape: int) -> Any:
    return rng().random(shape, np.float32)


def net() -> nn.Sequential:
    return nn.Sequential(nn.Affine(3, 4, rng=rng()), nn.Dropout(0.5, rng=rng()), nn.Affine(4, 2, rng=rng()))


def trained() -> Any:
    """A parameter with a gradient."""
    parameter = nn.Parameter(np.ones(3, np.float32))
    (parameter * parameter).sum().backward()
    return parameter


def loss(model: Any, batch: Any) -> mg.Tensor:
    return nn.cross_entropy(model(batch[0]), batch[1])


def losses(model: Any, batch: Any) -> mg.Tensor:
    return nn.cross_entropy(model(batch[0]), batch[1], reduction="none")


def batches() -> nn.Batches:
    return nn.Batches([x(4, 3), np.array([0, 1, 0, 1])], 2, seed=0)


def step(prefixes: Any, parents: Any) -> Any:
    return np.zeros((len(prefixes), 3))


def fit(folder: Path) -> dict[str, Any]:
    model = net()
    return {
        "model": model, "batches": batches(), "loss": loss, "optimizer": nn.Adam(model.parameters()), "epochs": 1,
        "validate": lambda model: {"accuracy": 0.5}, "checkpoint": folder, "best": ("max", "accuracy"), "progress": False,
    }  # fmt: skip


def saved(folder: Path) -> dict[str, Any]:
    nn.save_weights(net(), folder / "net.safetensors")
    return {"model": net(), "path": folder / "net.safetensors"}


def saved_model(folder: Path) -> dict[str, Any]:
    models.Bigram(**LINES["models.Bigram"](folder)).save(folder / "pairs.safetensors")
    return {"path": folder / "pairs.safetensors"}


def bert_file(folder: Path) -> dict[str, Any]:
    from safetensors.numpy import save_file

    save_file(models.BertEncoder(BERT_CONFIG, rng=rng()).original_state(), folder / "bert.safetensors")
    return {"path": folder / "bert.safetensors", "config": BERT_CONFIG}


def bert_json(folder: Path) -> dict[str, Any]:
    names = {
        "vocab_size": 6, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8,
        "max_position_embeddings": 6, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.1, "model_type": "bert",
    }  # fmt: skip
    folder.joinpath("config.json").write_text(json.dumps(names))
    return {"path": folder / "config.json"}


def text_file(folder: Path) -> Path:
    folder.joinpath("vocab.txt").write_text("\n".join(WORDS))
    return folder


def sizes(**sizes: Any) -> Line:
    return lambda folder: dict(sizes, rng=rng())


def arrays(**shapes: Any) -> Line:
    """Arrays of these shapes; any other value stands for itself."""
    return lambda folder: {name: x(*s) if type(s) is tuple else s for name, s in shapes.items()}


def of(config: Any) -> Line:
    return lambda folder: {"config": config, "rng": rng()}


IDS, MASK = [[0, 1, 2], [2, 1, 0]], [[True, True, False], [True, True, True]]
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b")
GPT_SIZES = {"vocab_size": 5, "window": 6, "d_model": 8, "num_heads": 2, "num_layers": 1}
GPT_CONFIG = models.GPTConfig(**GPT_SIZES)  # type: ignore[arg-type]
BERT_SIZES = {"vocab_size": 6, "d_model": 8, "num_heads": 2, "num_layers": 1, "hidden": 8, "max_positions": 6}
BERT_CONFIG = models.BertConfig(**BERT_SIZES)  # type: ignore[arg-type]
TO_CLASSES = {"vocab_size": 5, "num_classes": 2, "d_model": 8, "num_heads": 2, "num_layers": 1}
SEQUENCES = {"source_vocab": 5, "start": 0, "end": 1, "d_model": 8, "num_heads": 2, "num_layers": 1}
PAIRS = {"vocab_size": 5, "d_model": 4}
IMAGES = {"image_size": 4, "patch_size": 2, "num_classes": 2, "d_model": 8, "num_heads": 2, "num_layers": 1}
RECURRENT = {"source_vocab": 5, "target_vocab": 5, "start": 0, "end": 1, "embedding": 4, "hidden": 4}
QKV = arrays(query=(2, 3, 4), key=(2, 3, 4), value=(2, 3, 4))
TOKENS, BERT_IDS = arrays(x=(2, 3, 4)), arrays(ids=IDS, key_mask=MASK)
SCORES = arrays(logits=(2, 3), labels=[0, 1])
IMAGE, SEQUENCE = arrays(x=(1, 2, 4, 4)), arrays(x=(1, 2, 4))
SOURCE = arrays(source=IDS, target=IDS)


def parameters(**settings: Any) -> Line:
    return lambda folder: dict(settings, parameters=[trained()])


def recurrent(**more: Any) -> Line:
    return sizes(input_dim=3, hidden_dim=4, **more)


def _affine(folder: Path) -> nn.Affine:
    return nn.Affine(4, 4, rng=rng())


LINES: dict[str, Line] = {
    "nn.Module.astype": lambda _: {"dtype": np.float64},
    "nn.Module.load_state_dict": lambda _: {"state": {}},
    "nn.Module.replaced": lambda _: {"values": {}},
    "nn.Module.to": lambda _: {"device": "cpu"},
    "nn.Module.train": lambda _: {"mode": False},
    "nn.Parameter": lambda _: {"data": [1.0]},
    "nn.Buffer": lambda _: {"data": [1.0]},
    "nn.functional_call": lambda _: {
        "model": nn.Affine(2, 1, rng=rng()),
        "parameters": {"weight": x(2, 1), "bias": x(1)},
        "args": x(1, 2),
    },
    "nn.loss_of": lambda _: {"model": net(), "loss": nn.cross_entropy},
    "nn.per_example_grads": lambda _: {"model": net().eval(), "loss": losses, "batch": (x(2, 3), np.array([0, 1]))},
    "nn.ExampleGrads.plot": lambda folder: {"path": folder / "plot.svg"},
    "nn.summary": lambda _: {"model": net(), "inputs": x(1, 3)},
    "nn.Affine": sizes(in_features=4, out_features=4),
    "nn.Affine.forward": TOKENS,
    "nn.LoRA": lambda folder: {"affine": _affine(folder), "rank": 2, "rng": rng()},
    "nn.LoRA.forward": TOKENS,
    "nn.add_lora": lambda _: {"model": net(), "rank": 2, "rng": rng()},
    "nn.merge_lora": lambda _: {"model": _with_lora()},
    "nn.Dropout": lambda _: {"p": 0.5, "rng": rng()},
    "nn.Dropout.forward": TOKENS,
    "nn.Embedding": sizes(num_embeddings=5, embedding_dim=4),
    "nn.Embedding.forward": arrays(ids=IDS),
    "nn.Embedding.from_one_hot": arrays(rows=(2, 5)),
    "nn.FeedForward": sizes(d_model=4, hidden=6),
    "nn.FeedForward.forward": TOKENS,
    "nn.LayerNorm": arrays(d_model=4),
    "nn.LayerNorm.forward": TOKENS,
    "nn.BatchNorm": arrays(num_features=2),
    "nn.BatchNorm.forward": IMAGE,
    "nn.GroupNorm": arrays(num_groups=2, num_channels=2),
    "nn.GroupNorm.forward": IMAGE,
    "nn.LearnedPositions": sizes(max_length=6, d_model=4),
    "nn.LearnedPositions.forward": TOKENS,
    "nn.AttentionHead": sizes(d_model=4, key_dim=2),
    "nn.Attention.attention_weights": QKV,
    "nn.Attention.forward": QKV,
    "nn.Attention.with_weights": QKV,
    "nn.KeyValueCache.select": arrays(rows=[0]),
    "nn.MultiHeadAttention": sizes(d_model=4, num_heads=2),
    "nn.PackedMultiHeadAttention": sizes(d_model=4, num_heads=2),
    "nn.RotaryPositions": arrays(head_dim=4),
    "nn.RotaryPositions.forward": TOKENS,
    "nn.PositionalEncoding": arrays(d_model=4),
    "nn.PositionalEncoding.forward": TOKENS,
    "nn.RMSNorm": arrays(d_model=4),
    "nn.RMSNorm.forward": TOKENS,
    "nn.Residual": lambda _: {"module": np.tanh},
    "nn.Residual.forward": TOKENS,
    "nn.Sequential": lambda _: {"functions": np.tanh},
    "nn.TiedOutput": lambda _: {"embedding": nn.Embedding(5, 4, rng=rng())},
    "nn.TiedOutput.forward": TOKENS,
    "nn.Hypothesis": arrays(),
    "nn.Hypothesis.score": arrays(alpha=0.5),
    "nn.beam_search": arrays(step=step, batch=2, start=0, end=1, max_length=3),
    "nn.greedy_decode": arrays(step=step, batch=2, start=0, end=1, max_length=3),
    "nn.TransformerDecoderLayer": sizes(d_model=4, num_heads=2, hidden=6),
    "nn.TransformerDecoderLayer.attention_weights": TOKENS,
    "nn.TransformerDecoderLayer.cross_attention_weights": arrays(x=(2, 3, 4), memory=(2, 3, 4)),
    "nn.TransformerDecoderLayer.forward": arrays(x=(2, 3, 4), memory=(2, 3, 4)),
    "nn.TransformerEncoderLayer": sizes(d_model=4, num_heads=2, hidden=6),
    "nn.TransformerEncoderLayer.attention_weights": TOKENS,
    "nn.TransformerEncoderLayer.forward": TOKENS,
    "nn.sinusoids": arrays(length=3, d_model=4),
    "nn.causal_mask": arrays(query=3),
    "nn.padding_mask": arrays(lengths=[1, 3]),
    "nn.window_mask": arrays(length=3, radius=1),
    "nn.pool": lambda _: {"x": x(2, 3, 4), "key_mask": MASK},
    "nn.Conv1d": sizes(in_channels=2, out_channels=3, kernel_size=2),
    "nn.Conv1d.forward": SEQUENCE,
    "nn.Conv2d": sizes(in_channels=2, out_channels=3, kernel_size=2),
    "nn.Conv2d.forward": IMAGE,
    "nn.ConvTranspose2d": sizes(in_channels=2, out_channels=3, kernel_size=2),
    "nn.ConvTranspose2d.forward": IMAGE,
    "nn.MaxPool1d": arrays(kernel_size=2),
    "nn.MaxPool1d.forward": SEQUENCE,
    "nn.MaxPool2d": arrays(kernel_size=2),
    "nn.AvgPool1d": arrays(kernel_size=2),
    "nn.AvgPool2d": arrays(kernel_size=2),
    "nn.GlobalAvgPool.forward": IMAGE,
    "nn.Flatten.forward": IMAGE,
    "nn.binary_cross_entropy": arrays(probabilities=[0.5], targets=[1.0]),
    "nn.binary_cross_entropy_with_logits": arrays(logits=[0.5], targets=[1.0]),
    "nn.cross_entropy": SCORES,
    "nn.mean_squared_error": arrays(predictions=[0.5], targets=[1.0]),
    "nn.negative_log_likelihood": arrays(log_probabilities=(2, 3), labels=[0, 1]),
    "nn.huber_loss": arrays(predictions=[0.5], targets=[1.0]),
    "nn.kl_divergence": arrays(log_probabilities=[[-1.0, -0.5]], targets=[[0.5, 0.5]]),
    "nn.cosine_loss": arrays(x=(2, 3), y=(2, 3)),
    "nn.hinge_loss": arrays(scores=(2, 3), labels=[0, 1]),
    "nn.Optimizer": parameters(lr=0.1),
    "nn.Optimizer.load_state_dict": lambda _: {"saved": nn.Optimizer([trained()], 0.1).state_dict()},
    "nn.AdaGrad": parameters(),
    "nn.RMSProp": parameters(),
    "nn.SGD": parameters(momentum=0.5),
    "nn.Adam": parameters(),
    "nn.AdamW": parameters(),
    "nn.Lion": parameters(),
    "nn.clip_grad_norm": parameters(max_norm=1.0),
    "nn.clip_grad_value": parameters(max_value=1.0),
    "nn.from_torch_state": lambda folder: {"module": _affine(folder), "state": nn.to_torch_state(_affine(folder))},
    "nn.to_torch_state": lambda folder: {"module": _affine(folder)},
    "nn.cosine_schedule": arrays(peak=0.1, steps=5),
    "nn.inverse_sqrt_schedule": arrays(d_model=4, warmup=2),
    "nn.linear_schedule": arrays(peak=0.1, steps=5),
    "nn.WeightAverage": lambda _: {"model": net()},
    "nn.one_cycle_schedule": arrays(peak=0.1, steps=5),
    "nn.step_schedule": arrays(lr=0.1, every=2),
    "nn.PlateauSchedule": arrays(lr=0.1),
    "nn.PlateauSchedule.__call__": arrays(values=[0.5, 0.4]),
    "nn.Batches": lambda _: {"arrays": [x(4, 3)], "batch_size": 2, "seed": 0},
    "nn.Batches.batch": lambda _: {"indices": np.array([0, 1])},
    "nn.Batches.epoch": arrays(n=0),
    "nn.Batches.indices": arrays(n=0),
    "nn.fit": fit,
    "nn.load_weights": saved,
    "nn.save_weights": lambda folder: {"model": net(), "path": folder / "new.safetensors"},
    "nn.History": arrays(losses=[0.5], metrics=[{"accuracy": 0.5}]),
    "nn.History.best_epoch": lambda _: {"best": ("max", "accuracy")},
    "nn.History.from_dict": lambda _: {"values": {"losses": [0.5], "metrics": []}},
    "nn.History.metric": arrays(name="accuracy"),
    "nn.History.plot": lambda folder: {"path": folder / "plot.svg"},
    "nn.MessagePassing": arrays(),
    "nn.MessagePassing.attention_weights": arrays(h=(2, 3, 4)),
    "nn.MessagePassing.forward": arrays(h=(2, 3, 4)),
    "nn.MessagePassing.with_weights": arrays(h=(2, 3, 4)),
    "nn.SimplifiedAttention.forward": arrays(h=(2, 3, 4)),
    "nn.DotScore": arrays(),
    "nn.GeneralScore": sizes(query_dim=4, key_dim=4),
    "nn.AdditiveScore": sizes(query_dim=4, key_dim=4),
    "nn.LocalAttention": arrays(radius=1),
    "nn.PredictiveLocalAttention": sizes(query_dim=4, radius=1),
    "nn.apply_temperature": lambda _: {"logits": x(2, 3), "temperature": 0.5},
    "nn.keep_top_k": lambda _: {"logits": x(2, 3), "k": 2},
    "nn.keep_top_p": lambda _: {"logits": x(2, 3), "p": 0.5},
    "nn.sample_tokens": lambda _: {"logits": x(2, 3), "rng": rng()},
    "nn.token_probabilities": arrays(logits=(2, 3)),
    "nn.Attention": sizes(query_dim=4, key_dim=4, value_dim=4),
    "nn.SelfAttention": sizes(d_model=4),
    "nn.SelfAttention.forward": TOKENS,
    "nn.GlobalAttention": arrays(),
    "nn.DotProductAttention": arrays(),
    "nn.AdditiveAttention": sizes(query_dim=4, key_dim=4),
    "nn.MultiplicativeAttention": sizes(query_dim=4, key_dim=4),
    "nn.KeyValueAttention": sizes(key_dim=2, value_dim=2),
    "nn.ContextAttention": sizes(input_dim=4),
    "nn.ContextAttention.attention_weights": TOKENS,
    "nn.ContextAttention.forward": TOKENS,
    "nn.ContextAttention.with_weights": TOKENS,
    "nn.RNN": recurrent(num_layers=2),
    "nn.RNN.forward": arrays(x=(2, 5, 3)),
    "nn.RNNCell": recurrent(),
    "nn.RNNCell.forward": arrays(x=(2, 3), h=(2, 4)),
    "nn.GRU": recurrent(num_layers=2),
    "nn.GRUCell": recurrent(),
    "nn.LSTM": recurrent(num_layers=2),
    "nn.LSTM.forward": arrays(x=(2, 5, 3)),
    "nn.LSTMCell": recurrent(),
    "nn.LSTMCell.forward": lambda _: {"x": x(2, 3), "state": (x(2, 4), x(2, 4))},
    "nn.functional.attention_weights": arrays(q=(2, 3, 4), k=(2, 3, 4)),
    "nn.functional.avg_pool1d": arrays(x=(1, 2, 4), kernel_size=2),
    "nn.functional.avg_pool2d": arrays(x=(1, 2, 4, 4), kernel_size=2),
    "nn.functional.batch_norm": arrays(x=(3, 2), weight=(2,), bias=(2,)),
    "nn.functional.conv1d": arrays(x=(1, 2, 4), weight=(3, 2, 2)),
    "nn.functional.conv2d": arrays(x=(1, 2, 4, 4), weight=(3, 2, 2, 2)),
    "nn.functional.conv_transpose2d": arrays(x=(1, 2, 4, 4), weight=(2, 3, 2, 2)),
    "nn.functional.dropout": lambda _: {"x": x(2, 3), "p": 0.5, "rng": rng()},
    "nn.functional.embedding": arrays(ids=IDS, weight=(5, 4)),
    "nn.functional.group_norm": arrays(x=(1, 2, 4), num_groups=2, weight=(2,), bias=(2,)),
    "nn.functional.max_pool1d": arrays(x=(1, 2, 4), kernel_size=2),
    "nn.functional.max_pool2d": arrays(x=(1, 2, 4, 4), kernel_size=2),
    "nn.functional.one_hot": arrays(ids=IDS, num_classes=3),
    "nn.functional.rms_norm": arrays(x=(2, 4), weight=(4,)),
    "nn.functional.scaled_dot_product_attention": arrays(q=(2, 3, 4), k=(2, 3, 4), v=(2, 3, 4)),
    "nn.functional.segment_sum": arrays(values=(3, 2), segments=[0, 1, 0], num_segments=2),
    "nn.init.uniform": lambda _: {"shape": (2, 3), "low": 0.0, "high": 1.0, "rng": rng()},
    "nn.init.normal": lambda _: {"shape": (2, 3), "rng": rng()},
    "nn.init.xavier_uniform": lambda _: {"shape": (2, 3), "rng": rng()},
    "nn.init.xavier_normal": lambda _: {"shape": (2, 3), "rng": rng()},
    "nn.init.he_normal": lambda _: {"shape": (2, 3), "rng": rng()},
    "nn.init.check_generator": lambda _: {"rng": rng()},
    "models.Model.load": saved_model,
    "models.Model.save": lambda folder: {"path": folder / "new.safetensors"},
    "models.Config": arrays(),
    "models.Config.from_dict": arrays(values={}),
    "models.GPT": of(GPT_CONFIG),
    "models.GPT.attention_weights": arrays(ids=IDS),
    "models.GPT.forward": arrays(ids=IDS),
    "models.GPT.generate": lambda _: {"ids": IDS, "count": 2, "rng": rng()},
    "models.GPTConfig": lambda _: dict(GPT_SIZES),
    "models.BertConfig": lambda _: dict(BERT_SIZES),
    "models.BertConfig.from_json": bert_json,
    "models.BertEncoder": of(BERT_CONFIG),
    "models.BertEncoder.attention_weights": BERT_IDS,
    "models.BertEncoder.embed": lambda _: {"texts": ["a b"], "tokenizer": models.WordPiece(WORDS)},
    "models.BertEncoder.forward": BERT_IDS,
    "models.BertEncoder.from_safetensors": bert_file,
    "models.BertEncoder.hidden_states": BERT_IDS,
    "models.BertEncoder.load_original": lambda _: {
        "arrays": models.BertEncoder(BERT_CONFIG, rng=rng()).original_state()
    },
    "models.BertEncoder.sentence_embeddings": BERT_IDS,
    "models.WordPiece": arrays(vocabulary=[*WORDS]),
    "models.WordPiece.__call__": arrays(texts=["a b"]),
    "models.WordPiece.decode": arrays(ids=[4, 5]),
    "models.WordPiece.encode": arrays(text="a b"),
    "models.WordPiece.from_folder": lambda folder: {"folder": text_file(folder)},
    "models.WordPiece.tokenize": arrays(text="a b"),
    "models.Bigram": of(models.SkipGramConfig(5, 4)),
    "models.SkipGram.forward": arrays(ids=[0, 1]),
    "models.Bigram.log_probability": arrays(ids=[0, 1]),
    "models.Bigram.loss": arrays(ids=[0, 1]),
    "models.SkipGram.pair_loss": arrays(given=[0, 1], predicted=[1, 0]),
    "models.SkipGram": of(models.SkipGramConfig(5, 4)),
    "models.SkipGram.loss": arrays(ids=[0, 1]),
    "models.SkipGramConfig": lambda _: dict(PAIRS),
    "models.TwoLayerConfig": arrays(input_size=3, hidden_size=4, output_size=2),
    "models.TwoLayerTransformer": of(models.TwoLayerConfig(input_size=3, hidden_size=4, output_size=2)),
    "models.TwoLayerTransformer.attention_weights": arrays(x=(2, 3, 3)),
    "models.TwoLayerTransformer.forward": arrays(x=(2, 3, 3)),
    "models.TwoLayerTransformer.loss": lambda _: {"x": x(2, 3, 3), "targets": np.eye(2)},
    "models.TwoLayerTransformer.probabilities": arrays(x=(2, 3, 3)),
    "models.ClassifierConfig": lambda _: dict(TO_CLASSES),
    "models.Transformer": of(models.TransformerConfig(**SEQUENCES)),  # type: ignore[arg-type]
    "models.Transformer.attention_weights": SOURCE,
    "models.Transformer.beam": arrays(source=IDS, max_length=3),
    "models.Transformer.decode": arrays(target=IDS, memory=(2, 3, 8)),
    "models.Transformer.encode": arrays(source=IDS),
    "models.Transformer.forward": SOURCE,
    "models.Transformer.greedy": arrays(source=IDS, max_length=3),
    "models.Transformer.step": arrays(source=IDS),
    "models.TransformerConfig": lambda _: dict(SEQUENCES),
    "models.TransformerClassifier": of(models.ClassifierConfig(**TO_CLASSES)),  # type: ignore[arg-type]
    "models.TransformerClassifier.attention_weights": BERT_IDS,
    "models.TransformerClassifier.forward": BERT_IDS,
    "models.shifted_right": arrays(target=IDS, start=0),
    "models.RNNEncoderDecoder": of(models.RNNEncoderDecoderConfig(**RECURRENT)),  # type: ignore[arg-type]
    "models.RNNEncoderDecoder.attention_weights": SOURCE,
    "models.RNNEncoderDecoder.decoding_step": arrays(source=IDS),
    "models.RNNEncoderDecoder.encode": arrays(source=IDS),
    "models.RNNEncoderDecoder.forward": SOURCE,
    "models.RNNEncoderDecoder.greedy": arrays(source=IDS, max_length=3),
    "models.RNNEncoderDecoderConfig": lambda _: dict(RECURRENT),
    "models.VisionTransformer": of(models.VisionTransformerConfig(**IMAGES)),  # type: ignore[arg-type]
    "models.VisionTransformer.attention_weights": arrays(images=(2, 4, 4)),
    "models.VisionTransformer.forward": arrays(images=(2, 4, 4)),
    "models.VisionTransformerConfig": lambda _: dict(IMAGES),
    "models.image_patches": arrays(images=(2, 4, 4, 1), patch_size=2),
}


def _with_lora() -> nn.Module:
    model = net()
    nn.add_lora(model, 2, rng=rng())
    return model
