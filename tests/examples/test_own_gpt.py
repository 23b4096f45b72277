"""The GPT from the answers of the course: it is right if they are, it asks them, and it writes."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import own_gpt
from minigrad.learn.tasks import find
from own_gpt import HEADS, WIDTH, OwnGPT, empty_cache, framed, main, normed, parts


@pytest.fixture(scope="module")
def model() -> OwnGPT:
    return OwnGPT(parts(None), "\nabcde", 7, np.random.default_rng(0))


IDS, LABELS = framed(["bead", "cab", "deeded"], "\nabcde", 7)


def by_minigrad(model: OwnGPT, ids: Any) -> Any:
    """The same network with minigrad's attention, whose derivative is not the learner's."""
    x: Any = model.table[ids] + model.places[: ids.shape[1]]
    for block in model.blocks:
        q, k, v = ((normed(x) @ block[name]).reshape(*ids.shape, HEADS, WIDTH).swapaxes(1, 2) for name in "qkv")
        mixed = mg.scaled_dot_product_attention(q, k, v, mask=np.tri(ids.shape[1], dtype=bool))
        x = x + mixed.swapaxes(1, 2).reshape(*ids.shape, HEADS * WIDTH) @ block["out"]
        x = x + np.maximum(normed(x) @ block["up"], 0) @ block["down"]
    return normed(x) @ model.last


def test_its_logits_and_gradients_are_those_of_minigrads_attention(model: OwnGPT) -> None:
    weights = np.random.default_rng(1).normal(size=(3, 7, 6))
    found = []
    for network in (model, lambda ids: by_minigrad(model, ids)):
        for parameter in model.parameters():
            parameter.zero_grad()
        logits = network(IDS)
        (logits * weights).sum().backward()
        found.append([logits.numpy(), *(p.grad.numpy().copy() for p in model.parameters() if p.grad is not None)])
    assert len(found[0]) == 1 + len(model.parameters())
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_one_character_after_the_other_gives_the_same_logits(model: OwnGPT) -> None:
    cache = empty_cache()
    one_by_one = [model.next_logits(token, place, cache) for place, token in enumerate(IDS[0])]
    np.testing.assert_allclose(one_by_one, model(IDS[:1]).numpy()[0], rtol=1e-9)


def test_the_most_probable_name_is_the_argmax_of_each_step(model: OwnGPT) -> None:
    name, ids = model.write(np.random.default_rng(0), 0.0), [0]
    for _ in range(7):
        ids.append(int(model(np.array([ids])).numpy()[0, -1].argmax()))
        if ids[-1] == 0:
            break
    assert name == "".join(model.alphabet[i] for i in ids[1:]).strip()


@pytest.mark.thorough
def test_a_right_answer_is_used_and_a_wrong_or_missing_one_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for label in ("10.2", "12.2"):
        shutil.copy(find(label).solution, tmp_path / find(label).file)
    (tmp_path / find("10.3").file).write_text(
        "def split_heads(x, heads):\n    return x\n\n\nmerge_heads = split_heads\n"
    )
    right = tmp_path / find("12.2").file
    right.write_text(right.read_text(encoding="utf-8") + "\n\nsample.mine = True\n", encoding="utf-8")
    found = parts(tmp_path)
    assert found["sample"].mine and not hasattr(found["split_heads"], "mine")
    assert found["split_heads"](np.zeros((2, 3, 4)), 2).shape == (2, 2, 3, 2)
    said = [line.rsplit(": ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    other = "the course's solution"
    assert said == [other, "yours", other, other, other, "yours"]


def test_it_learns_and_writes_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--out", str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    first, last = (float(line.split()[2]) for line in (lines[0], lines[-1]))
    assert last < first < 1.3 * np.log(28)  # of 28 characters, all equally probable
    assert {path.name for path in tmp_path.iterdir()} == {"own_gpt.html", "own_gpt_attention.png"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--answers", "nowhere"], "there is no folder 'nowhere': minigrad learn init nowhere"),
        (["--names", "short.txt"], "'short.txt' has 3 names, and it needs at least 20"),
    ],
)
def test_what_it_cannot_use_gets_a_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("ann\nbob\neve\n", encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        main(arguments)


def test_the_list_has_each_name_once() -> None:
    names = own_gpt.NAMES.split()
    assert len(names) == len(set(names)) >= 100
