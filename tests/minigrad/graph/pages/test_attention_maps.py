"""`attention_maps` on objects with `attention_weights`, its errors, and the picture. Real models: tests/models/."""

import base64
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError, Tensor, attention_maps
from minigrad.graph.draw.figures import plain_label
from minigrad.graph.pages.attention_maps import Map, draw_maps
from tests.fake_device import asarray

CAT = ["猫", "が", "寝る", "。"]


def weights(*shape: int) -> Any:
    """Rows that sum to 1."""
    logits = np.random.default_rng(shape).normal(size=shape)
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


class Model:
    """Gives what it was made with, and remembers what it was called with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def attention_weights(self, *inputs: Any) -> Any:
        self.inputs = inputs
        return self.answer


# --- what is found ---


def test_every_head_of_every_layer_of_one_example() -> None:
    layers = [weights(2, 3, 4, 4), Tensor(weights(2, 3, 4, 4)), asarray(weights(2, 3, 4, 4))]
    model = Model(layers)
    found = attention_maps(model, ("ids", "mask"), CAT, example=1)
    assert model.inputs == ("ids", "mask")
    assert repr(found) == "AttentionMaps(3 layers, 9 heads)"
    for number, (layer, given) in enumerate(zip(found.layers, layers), start=1):
        assert (layer.part, layer.number, layer.queries, layer.keys) == ("", number, CAT, CAT)
        host = given.get() if number == 3 else given.numpy() if isinstance(given, Tensor) else given
        assert np.array_equal(layer.weights, host[1])


def test_a_single_input_is_passed_as_it_is() -> None:
    model = Model([weights(1, 1, 2, 2)])
    attention_maps(model, [[1, 2]])
    assert model.inputs == ([[1, 2]],)


def test_without_tokens_the_places_have_numbers() -> None:
    (layer,) = attention_maps(Model([weights(1, 1, 2, 3)]), None).layers
    assert (layer.queries, layer.keys) == (["0", "1"], ["0", "1", "2"])


def test_one_head_without_an_axis_and_one_layer_without_a_list() -> None:
    given = weights(2, 3, 4)
    (layer,) = attention_maps(Model(given), None, "abc", key_tokens=CAT).layers
    assert np.array_equal(layer.weights, given[:1])
    assert (layer.queries, layer.keys) == (["a", "b", "c"], CAT)


def test_the_parts_of_an_encoder_decoder_have_their_own_tokens() -> None:
    answer = {"encoder": [weights(1, 2, 4, 4)], "decoder": [weights(1, 2, 3, 3)], "cross": [weights(1, 2, 3, 4)]}
    english = ["<s>", "cat", "sleeps"]
    found = attention_maps(Model(answer), None, english, key_tokens=CAT).layers
    assert [(layer.part, layer.queries, layer.keys) for layer in found] == [
        ("encoder", CAT, CAT),
        ("decoder", english, english),
        ("cross", english, CAT),
    ]
    numbered = attention_maps(Model(answer), None, english).layers
    assert [layer.keys for layer in numbered] == [list("0123"), english, list("0123")]
    assert numbered[0].queries == list("0123")


def test_the_model_is_asked_in_evaluation_mode_without_recording() -> None:
    class Part:
        training = True

    class Net(Part):
        def __init__(self) -> None:
            self.part, self.frozen = Part(), Part()
            self.frozen.training = False
            self.w = Tensor(weights(1, 1, 2, 2), requires_grad=True)

        def modules(self) -> list[Any]:
            return [self, self.part, self.frozen]

        def eval(self) -> None:
            for module in self.modules():
                module.training = False

        def attention_weights(self, x: Any) -> list[Tensor]:
            assert not any(module.training for module in self.modules())
            answer = self.w * 1.0
            assert not answer.requires_grad
            if x is None:
                raise KeyError
            return [answer]

    net = Net()
    attention_maps(net, 0)
    assert [module.training for module in net.modules()] == [True, True, False]
    with pytest.raises(KeyError):
        attention_maps(net, None)
    assert [module.training for module in net.modules()] == [True, True, False]


# --- what is refused ---


def test_a_model_without_weights_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"a method attention_weights\(\*inputs\), which dict lacks"):
        attention_maps({}, None)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "must give a list with an array for each layer, or a dict of such lists, got NoneType"),
        ([], "got list without any layer"),
        ({"encoder": 3}, "got dict"),
        ([weights(4, 4)], r"must give \(batch, heads, query, key\) for each layer, got \(4, 4\) for layer 1"),
        ({"x": [weights(1, 1, 4, 4), np.ones((1, 1, 0, 0))]}, r"got \(1, 1, 0, 0\) for layer 2 of 'x'"),
    ],
)
def test_other_answers_are_refused(answer: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        attention_maps(Model(answer), None)


@pytest.mark.parametrize("example", [-1, 2])
def test_an_example_that_is_not_in_the_batch_is_refused(example: int) -> None:
    with pytest.raises(ArgumentError, match=f"one of the batch, 0 to 1, got {example}"):
        attention_maps(Model([weights(2, 1, 2, 2)]), None, example=example)


def test_tokens_that_do_not_fit_are_refused() -> None:
    model = Model([weights(1, 1, 4, 4)])
    with pytest.raises(
        ShapeError, match="3 tokens were given for the queries of layer 1, which has 4: give one for each"
    ):
        attention_maps(model, None, CAT[:3])
    with pytest.raises(ShapeError, match="5 tokens were given for the keys of layer 1, which has 4"):
        attention_maps(model, None, CAT, key_tokens="abcde")
    cross = Model({"cross": [weights(1, 1, 3, 4)]})
    with pytest.raises(
        ShapeError, match=r"for the queries of layer 1 of 'cross', which has 3: .* tokens belong to the one"
    ):
        attention_maps(cross, None, CAT)
    with pytest.raises(ArgumentError, match="tokens must be texts, one for each position of one sequence, got list"):
        attention_maps(model, None, [CAT])  # type: ignore[list-item]


def test_a_path_is_refused_before_the_model_is_asked(tmp_path: Path) -> None:
    model = Model([weights(1, 1, 4, 4)])
    with pytest.raises(ArgumentError, match=r"maps\.txt' names no format for a picture"):
        attention_maps(model, None, path=tmp_path / "maps.txt")
    assert not hasattr(model, "inputs")
    with pytest.raises(ArgumentError, match="language='en' or 'ja', got 'de'"):
        attention_maps(model, None).to_html(tmp_path / "maps.html", language="de")
    with pytest.raises(ArgumentError, match="no map to draw"):
        draw_maps([], tmp_path / "maps.png")


# --- pictures ---


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_the_picture(suffix: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"maps{suffix}"
    attention_maps(Model([weights(1, 2, 4, 4)]), None, CAT, path)
    assert path.read_bytes().startswith(start)


def test_the_svg_has_a_panel_for_each_head_and_is_the_same_again(tmp_path: Path) -> None:
    maps = attention_maps(Model([weights(1, 3, 4, 4), weights(1, 3, 4, 4)]), None, CAT)
    first = maps.plot(tmp_path / "a.svg").read_text()
    assert first == maps.plot(tmp_path / "b.svg").read_text()
    images = list(ElementTree.fromstring(first).iter("{http://www.w3.org/2000/svg}image"))
    assert len(images) == 6 + 1  # and the scale


def test_many_heads_take_several_rows() -> None:
    rows = attention_maps(Model([weights(1, 12, 2, 2)]), None).maps()
    assert [len(row) for row in rows] == [8, 4]
    assert rows[1][0].title == "layer 1, head 9"


def test_one_scale_of_colours_for_all_panels_and_nan_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.axes import Axes

    seen: list[float] = []
    original = Axes.imshow

    def imshow(self: Axes, *arguments: Any, **keywords: Any) -> Any:
        seen.append(keywords["vmax"])
        return original(self, *arguments, **keywords)

    monkeypatch.setattr(Axes, "imshow", imshow)
    blank = np.full((2, 2), np.nan)
    maps = [Map("a", "xy", "xy", weights(2, 2)), Map("b", "xy", "xy", np.array([[0.9, 0.1], [0.5, 0.5]]))]
    draw_maps([maps, [Map("all masked", "xy", "xy", blank)]], tmp_path / "maps.png")
    assert set(seen) == {max(0.9, float(maps[0].weights.max()))}
    draw_maps([[Map("all masked", "xy", "xy", blank)]], tmp_path / "maps.png")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_odd_labels_are_drawn_without_a_warning(tmp_path: Path, suffix: str) -> None:
    odd = ["", " ", "\n", "$x$", "\U000e0041", "a very long token indeed, longer than its room", "😀", "日本語"]
    attention_maps(Model([weights(1, 1, 8, 8)]), None, odd, tmp_path / f"maps{suffix}")


def test_labels() -> None:
    assert plain_label("short") == "short"
    assert plain_label("a" * 30) == "a" * 21 + "…"  # 21 * 0.64 + 1.01 em are at most 15
    assert plain_label("i" * 30) == "i" * 30
    assert plain_label("$x$") == r"\$x\$"


# --- the page's data ---


def test_the_page_has_the_weights(tmp_path: Path) -> None:
    given = weights(1, 2, 4, 4)
    page = attention_maps(Model([given]), None, ["猫", "</script>", "", " "], tmp_path / "maps.html")
    text = (tmp_path / "maps.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 2  # of the data and of the script
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    (layer,) = json.loads(data)["layers"]
    assert layer["queries"] == ["猫", "</script>", "∅", "␣"]
    found = np.frombuffer(base64.b64decode(layer["weights"]), "<f4").reshape(given.shape[1:])
    np.testing.assert_allclose(found, given[0], rtol=1e-6)
    assert page.layers[0].queries[2] == ""
