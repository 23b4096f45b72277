"""What the site has beyond the Markdown pages of this folder: its parts, the reference, and what comments hold.

Plain functions that know nothing of Sphinx, so that tests can ask them without it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import minigrad
import models
import nn
from minigrad import _other_names

HERE = Path(__file__).parent
PACKAGES: dict[str, ModuleType] = {"minigrad": minigrad, "nn": nn, "models": models}

# The parts of the site in the order of reading. A page of docs/ that no part names is a How-to.
PARTS: dict[str, list[str]] = {
    "Start": ["start", "playground", "tutorial", "install"],
    "Course": ["course", "teaching", "teaching-lessons", "live", "glossary"],
    "How-to": [
        "how-to",
        "training",
        "own-text",
        "scale",
        "layers-and-models",
        "views",
        "stepper",
        "drawings",
        "measure",
        "debugging",
        "written-out",
        "in-place",
        "from-pytorch",
        "libraries",
        "types",
        "gpu",
        "examples",
    ],
    "Explanation": [
        "why",
        "read-the-source",
        "design",
        "design/written-out",
        "design/in-place",
        "derivatives",
        "speed",
        "articles",
        "comparison",
    ],
    "Reference": ["reference/index", "functions", "conventions"],
}
# The parts of the Japanese pages, which have their own contents (docs/site_language.py).
JAPANESE: dict[str, list[str]] = {
    "はじめに": ["ja/start", "ja/playground"],
    "コース": ["ja/course", "ja/teaching", "ja/teaching-lessons"],
}
LAST = ["contribute"]  # of the How-to pages, behind those that no part names

# For each page of the reference: its title, its package, and its names in the order of reading.
GROUPS: dict[str, tuple[str, str, str]] = {
    "tensor": ("Tensor and tape", "minigrad", "Tensor tape Entry no_grad enable_grad"),
    "derivatives": (
        "Derivatives of functions",
        "minigrad",
        "grad value_and_grad elementwise_grad vjp jvp jacobian hessian hvp autograd_grad checkpoint tree_map stop_gradient",
    ),
    "written-out": ("The gradient as a program", "minigrad", "write_numpy"),
    "operations": ("Operations of your own", "minigrad", "primitive Primitive Function"),
    "functions-of-networks": (
        "Functions for networks",
        "minigrad",
        "affine relu gelu sigmoid silu softmax log_softmax logsumexp cross_entropy layer_norm "
        "scaled_dot_product_attention erf",
    ),
    "looking": (
        "Look at a computation",
        "minigrad",
        "trace explain draw_dot make_dot attention_maps grad_flow profile",
    ),
    "checking": ("Is it right?", "minigrad", "check_grads check_edges wrong_edges find_nan detect_anomaly debugging"),
    "kernels": (
        "Speed",
        "minigrad",
        "compiled_kernels reference_mode num_threads set_num_threads",
    ),
    "errors": (
        "Errors",
        "minigrad",
        "MinigradError ArgumentError ShapeError DTypeError OutOfRangeError UnsupportedError GraphError LinAlgError "
        "GradientError AnomalyError DeviceError MixedDevicesError OutOfMemoryError MissingExtraError ShadowedError "
        "VersionError",
    ),
    "modules": (
        "Modules",
        "nn",
        "Module Parameter Buffer Sequential Residual functional_call loss_of per_example_grads ExampleGrads summary init"
        " functional",
    ),
    "layers": (
        "Layers",
        "nn",
        "Affine LoRA add_lora merge_lora FeedForward Dropout Embedding TiedOutput LayerNorm RMSNorm RNN RNNCell GRU GRUCell "
        "LSTM LSTMCell "
        "TransformerEncoderLayer TransformerDecoderLayer pool",
    ),
    "images": (
        "Images and signals",
        "nn",
        "Conv1d Conv2d ConvTranspose2d MaxPool1d MaxPool2d AvgPool1d AvgPool2d GlobalAvgPool Flatten "
        "BatchNorm GroupNorm",
    ),
    "positions": ("Positions", "nn", "PositionalEncoding LearnedPositions RotaryPositions sinusoids"),
    "attention": (
        "Attention",
        "nn",
        "MultiHeadAttention AttentionHead PackedMultiHeadAttention KeyValueCache Attention SelfAttention "
        "GlobalAttention DotProductAttention AdditiveAttention MultiplicativeAttention KeyValueAttention "
        "ContextAttention LocalAttention PredictiveLocalAttention MessagePassing SimplifiedAttention "
        "DotScore CosineScore GeneralScore AdditiveScore causal_mask padding_mask window_mask",
    ),
    "losses": (
        "Losses",
        "nn",
        "cross_entropy binary_cross_entropy binary_cross_entropy_with_logits mean_squared_error negative_log_likelihood "
        "huber_loss kl_divergence cosine_loss hinge_loss",
    ),
    "training": (
        "Training",
        "nn",
        "fit History TrainingError Callback Batches load_weights save_weights Optimizer SGD Adam AdamW Lion AdaGrad RMSProp "
        "clip_grad_norm clip_grad_value cosine_schedule linear_schedule inverse_sqrt_schedule "
        "one_cycle_schedule step_schedule PlateauSchedule WeightAverage parallel",
    ),
    "decoding": (
        "Decoding and sampling",
        "nn",
        "greedy_decode beam_search Hypothesis sample_tokens token_probabilities apply_temperature keep_top_k keep_top_p",
    ),
    "conversion": ("From and to PyTorch", "nn", "from_torch_state to_torch_state"),
    "transformers": (
        "Transformers",
        "models",
        "GPT GPTConfig Transformer TransformerConfig shifted_right TransformerClassifier ClassifierConfig "
        "BertEncoder BertConfig WordPiece VisionTransformer VisionTransformerConfig image_patches",
    ),
    "other-networks": (
        "Other networks",
        "models",
        "Model Config TwoLayerTransformer TwoLayerConfig RNNEncoderDecoder RNNEncoderDecoderConfig SkipGram Bigram "
        "SkipGramConfig",
    ),
}
WHAT = {
    "minigrad": "the engine: arrays that can be differentiated, their derivatives, and views of how they came about",
    "nn": "layers, losses, optimizers and training",
    "models": "whole networks, one file each",
}


def write(folder: Path) -> None:
    """The pages of the reference as files; those that are the same stay untouched, so that a second build is short."""
    pages = {f"{name}.rst": text for name, text in reference().items()}
    store(folder, pages)


def store(folder: Path, pages: dict[str, str]) -> None:
    """Make ``folder`` hold these pages and no other."""
    folder.mkdir(exist_ok=True)
    for old in set(folder.glob("*.*")) - {folder / name for name in pages}:
        if old.suffix in (".rst", ".md"):
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def reference() -> dict[str, str]:
    """By name of the page its reStructuredText: every public name on one of them."""
    pages = {page: _group(*group) for page, group in GROUPS.items()}
    pages["index"] = "\n".join(_contents())
    return pages


def _group(title: str, package: str, names: str) -> str:
    lines = [*_heading(title), f"Names of ``{package}``.", ""]
    for name in names.split():
        lines += [*_heading(name, "-"), *_directive(package, name), ""]
    return "\n".join(lines)


def _heading(title: str, line: str = "=") -> list[str]:
    return [title, line * len(title), ""]


def _directive(package: str, name: str) -> list[str]:
    """What documents one name, by what kind of thing it is."""
    value = getattr(PACKAGES[package], name)
    if inspect.ismodule(value):
        return _module(package, value)
    if not isinstance(value, type):
        return [f".. autofunction:: {package}.{name}"]
    if issubclass(value, BaseException):
        return [f".. autoexception:: {package}.{name}", "   :show-inheritance:"]
    lines = [f".. autoclass:: {package}.{name}", "   :members:"]
    if value is minigrad.Tensor:
        return [*lines, "   :inherited-members: object", "", *_as_numpy(value)]
    if issubclass(value, nn.Module) and value is not nn.Module:
        lines += ["   :show-inheritance:", "   :exclude-members: extra_repr"]
    return lines


def _module(package: str, module: ModuleType) -> list[str]:
    """A module with the functions of its own, and where those are that it has from elsewhere."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")
    ]
    inside = f"{module.__name__}."
    own = [name for name in names if f"{getattr(getattr(module, name), '__module__', '')}.".startswith(inside)]
    lines = [f".. automodule:: {module.__name__}", f"   :members: {', '.join(own)}"]
    places = public()
    both = [(f"{package}.{name}", f"minigrad.{name}") for name in names if name not in own]
    links = ", ".join(f":py:obj:`{first if first in places else second}`" for first, second in both)
    return [*lines, "", f"Here as well: {links}."] if links else lines


def _as_numpy(value: type) -> list[str]:
    """A sentence for the attributes that mean what NumPy's do, and have no docstring of their own."""
    names = [
        name for name in dir(np.ndarray) if not name.startswith("_") and not (getattr(value, name, 0) or 0).__doc__
    ]
    found = ", ".join(f"``{name}``" for name in names if hasattr(value, name))
    return [f"As NumPy's arrays have them: {found}. What is differentiated: :doc:`../functions`."]


def _contents() -> Iterator[str]:
    yield from _heading("Reference")
    yield "Every public name, from its own docstring. Signatures and sources are those of this version."
    yield ""
    for package, what in WHAT.items():
        pages = {page: group for page, group in GROUPS.items() if group[1] == package}
        yield from _heading(f"``{package}``", "-")
        yield f"{what[0].upper()}{what[1:]}."
        yield ""
        yield from (".. toctree::", "   :hidden:", "")
        yield from (f"   {page}" for page in pages)
        yield ""
        for page, (title, _, names) in pages.items():
            yield f":doc:`{title} <{page}>`"
            yield "   " + ", ".join(f":py:obj:`{name} <{package}.{name}>`" for name in names.split())
            yield ""


def opened(name: str, text: str) -> str:
    """A page as the site reads it: what its `<!-- site ... -->` comments hold stands in the open.

    What a `<!-- site instead ... -->` holds takes the place of the picture before it.
    """
    if name == "index":
        text += toctrees()
    if name == "from-pytorch":
        text += other_names()
    text = re.sub(r"\(\.\./CONTRIBUTING\.md(#[\w-]*)?\)", r"(contribute.md\1)", text)
    if name != "course":
        text = text.replace("(../examples/lessons/README.md)", "(course.md)")
    if "/" not in name:
        text = re.sub(r"\]\((\.\./[^)]*\.md)", r"](path:\1", text)  # a page of the repository, not of the site
    text = re.sub(r"<img [^>]*>\n\n<!-- site instead\n(.*?)\n-->", r"\1", text, flags=re.DOTALL)
    return re.sub(r"<!-- site\n(.*?)\n-->", r"\1", text, flags=re.DOTALL)


def parts(here: Path = HERE) -> dict[str, list[str]]:
    """The pages of each part, those that exist; every other page of docs/ is a How-to."""
    pages = {path.stem for path in here.glob("*.md")} - {"index"}
    named = {page for names in PARTS.values() for page in names} | set(LAST)
    found = {part: [page for page in names if "/" in page or page in pages] for part, names in PARTS.items()}
    found["How-to"] += [*sorted(pages - named), *[page for page in LAST if page in pages]]
    return found | JAPANESE


def toctrees() -> str:
    """The parts as the site's table of contents."""
    text = ""
    for part, pages in parts().items():
        lines = ["```{toctree}", ":hidden:", f":caption: {part}", "", *pages, "```"]
        text += "\n" + "\n".join(lines) + "\n"
    return text


def other_names() -> str:
    """What is said of the names that others use, as a table: those that mean the same in one row."""
    lines = ["", "| there is no | write |", "|---|---|"]
    tables = {
        "mg": _other_names.MINIGRAD,
        "nn": _other_names.NN,
        "F": _other_names.FUNCTIONAL,
        "models": _other_names.MODELS,
    }
    for package, table in tables.items():
        rows: dict[str, list[str]] = {}
        for name, instead in table.items():
            rows.setdefault(instead.replace("{name}", name), []).append(f"`{package}.{name}`")
        lines += [f"| {', '.join(names)} | {instead} |" for instead, names in rows.items()]
    return "\n".join(lines) + "\n"


def public() -> dict[str, Any]:
    """Every public name with what it is."""
    return {
        f"{package}.{name}": getattr(module, name) for package, module in PACKAGES.items() for name in module.__all__
    }
