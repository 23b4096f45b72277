"""Each mistake is found with its kind and its line, and nothing is said about the program without it."""

from pathlib import Path

import numpy as np
import pytest

from minigrad.debug.finding import CHECKS, ORDER, sentences
from tests.minigrad.debug.programs import ALIKE, HEALTHY, MISTAKES, PROGRAMS, TABLE, watched
from tests.minigrad.debug.renaming import renamed, wrapped


@pytest.fixture(autouse=True)
def failing_rules_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIGRAD_DEBUG_RAISE", "1")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "text", "before", "after", "line"), MISTAKES, ids=lambda v: str(v)[:24])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mistake_is_found_at_its_line(
    tmp_path: Path, kind: str, text: str, before: str, after: str, line: str
) -> None:
    assert text.count(before) == 1
    found = watched(tmp_path, text.replace(before, after)).findings
    first = [finding for finding in found[:2] if finding.kind == kind]
    assert first, [str(finding) for finding in found]
    assert any(line in there for there in first[0].texts), str(first[0])
    assert any(character.isdigit() for character in first[0].what)  # no finding without its number


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_said_about_a_healthy_program(tmp_path: Path, name: str) -> None:
    found = watched(tmp_path, PROGRAMS[name], causal=name == "ATTENTION")
    assert found.findings == []
    assert found.text().startswith("Nothing found.\nBackward passes 0 to ")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "before", "after"), ALIKE, ids=lambda v: str(v)[:24])
def test_nothing_is_said_about_what_looks_like_a_mistake(tmp_path: Path, text: str, before: str, after: str) -> None:
    assert text.count(before) == 1
    assert [str(found) for found in watched(tmp_path, text.replace(before, after)).findings] == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "text", "before", "after", "line"), MISTAKES, ids=lambda v: str(v)[:24])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_finding_depends_on_a_name_or_on_a_main_function(
    tmp_path: Path, kind: str, text: str, before: str, after: str, line: str
) -> None:
    text = text.replace(before, after).strip("\n") + "\n"
    found = [(f.kind, f.lines[0]) for f in watched(tmp_path, text).findings if f.kind == kind]
    (tmp_path / "other").mkdir()
    again = watched(tmp_path / "other", wrapped(renamed(text)))
    other = [(f.kind, f.lines[0] - 1) for f in again.findings if f.kind == kind]
    assert found[:1] == other[:1] != []


def test_each_kind_has_two_mistakes_two_healthy_programs_that_look_alike_and_its_sentences() -> None:
    assert {kind for kind in ORDER if [mistake[0] for mistake in MISTAKES].count(kind) < 2} == set()
    like = [each["like"] for each in TABLE["alike"]] + [kind for kind, names in TABLE["looks"].items() for _ in names]
    assert {kind for kind in ORDER if like.count(kind) < 2} == set()
    assert set(like) <= set(ORDER) and {name for names in TABLE["looks"].values() for name in names} <= set(HEALTHY)
    assert {check.kind for check in CHECKS} <= set(ORDER)
    english, japanese = (sentences(language) for language in ("en", "ja"))
    assert english["findings"].keys() == japanese["findings"].keys()
    assert {key.partition(".")[0] for key in english["findings"]} == set(ORDER)


def test_a_gradient_that_a_layer_leaves_out_is_no_cut_of_the_program(tmp_path: Path) -> None:
    """Embedding stops the gradient of its padding, in each call; here one line calls it in each turn of a loop."""
    text = """
import numpy as np
import nn

rng = np.random.default_rng(0)
table, out = nn.Embedding(9, 4, rng=rng, padding_idx=0), nn.Affine(4, 2, rng=rng)
optimizer = nn.Adam([*table.parameters(), *out.parameters()], lr=0.05)
ids = rng.integers(0, 9, (40, 6))
labels = (ids == 3).any(axis=1).astype(np.int64)
for step in range(60):
    optimizer.zero_grad()
    loss = nn.cross_entropy(out(nn.pool(table(ids), ids > 0)), labels)
    loss.backward()
    optimizer.step()
"""
    assert [str(found) for found in watched(tmp_path, text).findings] == []


def test_a_mask_in_batches_is_followed_to_its_table(tmp_path: Path) -> None:
    """The rows of each batch are new arrays: only the table from which they come has a line."""
    text = """
import numpy as np
import nn

rng = np.random.default_rng(0)
length = rng.integers(1, 5, 120)
ids = np.where(np.arange(4) < length[:, None], rng.integers(1, 9, (120, 4)), 0)
mask = nn.padding_mask(length - 1, 4)

class Model(nn.Module):
    def __init__(self):
        self.table, self.mix = nn.Embedding(9, 8, rng=rng), nn.MultiHeadAttention(8, 2, rng=rng)
        self.head = nn.Affine(8, 2, rng=rng)

    def forward(self, ids, mask):
        h = self.table(ids)
        return self.head(self.mix(h, key_mask=mask)[:, 0])

def loss(model, batch):
    ids, mask, labels = batch
    return nn.cross_entropy(model(ids, mask), labels)

model = Model()
batches = nn.Batches([ids[:100], mask[:100], ids[:100, 0] % 2], 20, seed=0)
nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=4, progress=False)
"""
    assert watched(tmp_path, text).findings[0].texts[0] == "mask = nn.padding_mask(length - 1, 4)"
    assert watched(tmp_path, text.replace("length - 1", "length")).findings == []


def test_a_gradient_that_cancels_because_parts_are_equal_is_told_as_equal_weights(tmp_path: Path) -> None:
    text = """
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(1)
t = rng.normal(size=(80, 1))
centre, share = mg.Tensor(np.full(3, 0.5), requires_grad=True), mg.Tensor(np.zeros(3), requires_grad=True)
optimizer = nn.Adam([centre, share], lr=0.01)
for step in range(40):
    loss = -mg.logsumexp(-0.5 * (t - centre) ** 2 + mg.log_softmax(share), axis=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert [(found.kind, found.facts["name"]) for found in watched(tmp_path, text).findings] == [
        ("equal weights", "centre")
    ]
    assert watched(tmp_path, text.replace("np.full(3, 0.5)", "rng.normal(size=3)")).findings == []


def test_attention_to_the_future_is_a_finding_only_for_causal_data(tmp_path: Path) -> None:
    text = PROGRAMS["ATTENTION"].replace("np.tril(", "np.triu(")
    assert watched(tmp_path, text).findings == []
    (finding,) = watched(tmp_path, text, causal=True).findings
    assert (finding.kind, finding.grade) == ("future", "shown")
    assert finding.texts[0].startswith("past = np.triu")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_added_mask_that_hides_a_whole_row_explains_its_nan(tmp_path: Path) -> None:
    scores = "(x @ Q) @ (x @ K).swapaxes(1, 2) / np.sqrt(D)"
    text = PROGRAMS["ATTENTION"].replace(f"np.where(past, {scores}, -1e9)", f"{scores} + np.where(past, 0.0, -np.inf)")
    assert "-np.inf" in text
    assert watched(tmp_path, text).findings == []
    found = watched(tmp_path, text.replace("dtype=bool))", "dtype=bool), -1)")).findings
    assert (found[0].kind, found[0].grade) == ("mask", "shown")
    assert [(finding.symptom, finding.grade) for finding in found if finding.kind == "nonfinite"] == [(True, "likely")]


@pytest.mark.parametrize("step", [23, 24])
def test_the_first_nan_of_a_step_without_a_full_look_is_explained(tmp_path: Path, step: int) -> None:
    text = PROGRAMS["NET"].replace("** 2).mean()", f"** 2).mean() + np.sqrt(W2 * 0 + (step != {step})).sum()")
    found = watched(tmp_path, text)
    assert found.steps in (step + 1, step + 2)  # it stops when the bad numbers have been used
    assert found.findings[0].step == step
    assert "sqrt" in found.findings[0].what and "where its result is 0.0." in found.findings[0].what


def test_a_cut_names_the_line_that_reads_the_array(tmp_path: Path) -> None:
    text = PROGRAMS["NET"].replace("    loss = ((h @", "    plain = h.data\n    loss = ((plain @")
    (finding,) = watched(tmp_path, text).findings
    assert [text.split(" =")[0] for text in finding.texts] == ["plain", "loss"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mask_names_the_booleans_behind_it(tmp_path: Path) -> None:
    scores = "(x @ Q) @ (x @ K).swapaxes(1, 2) / np.sqrt(D)"
    text = PROGRAMS["ATTENTION"].replace(f"np.where(past, {scores}, -1e9)", f"{scores} + hide")
    text = text.replace("dtype=bool))\n", "dtype=bool), -1)\nhide = np.where(past, 0.0, -np.inf)\n")
    found = watched(tmp_path, text).findings
    assert [line.split(" =")[0] for line in found[0].texts] == ["hide", "past"]


def test_a_rate_of_its_own_is_no_parameter_that_is_held_twice(tmp_path: Path) -> None:
    """After the loop, ``p`` is a second name of W2."""
    text = PROGRAMS["NET"].replace("p.data -= 0.1 *", "p.data -= 0.1 * (0.1 if p is W1 else 1.0) *")
    assert watched(tmp_path, text).findings == []


def test_an_array_that_is_only_looked_at_is_no_cut(tmp_path: Path) -> None:
    text = PROGRAMS["NET"].replace("    loss = ((h @", "    spread = h.data.std()\n    loss = ((h.data @")
    (finding,) = watched(tmp_path, text).findings
    assert finding.texts[0].startswith("loss = ")


def test_features_that_the_optimizer_does_not_hold_are_frozen_on_purpose(tmp_path: Path) -> None:
    text = PROGRAMS["TWO"].replace(
        'one = np.tanh(x @ p["W1"] + p["b1"])', 'one = np.tanh(x @ p["W1"] + p["b1"]).detach()'
    )
    text = text.replace("nn.Adam(p.values()", 'nn.Adam([p["W2"], p["b2"], p["W3"]]')
    assert watched(tmp_path, text).findings == []
    assert [f.kind for f in watched(tmp_path, text.replace('[p["W2"]', '[p["W1"], p["W2"]')).findings] == ["cut"]


def test_dropout_in_an_evaluation_without_a_tape(tmp_path: Path) -> None:
    evaluation = "    right = (model(x).numpy()"
    text = PROGRAMS["DROPOUT"].replace("    model.eval()\n", "").replace("    model.train()\n", "")
    text = "import minigrad as mg\n" + text.replace(evaluation, f"    with mg.no_grad():\n    {evaluation}")
    (finding,) = watched(tmp_path, text).findings
    assert finding.kind == "dropout" and "6 times" in finding.what
    assert finding.texts[0] == "with mg.no_grad():"  # before it, eval() is missing


def test_dropout_of_the_inputs_is_part_of_the_training(tmp_path: Path) -> None:
    """Its result needs no gradient, so it is not on the tape."""
    text = PROGRAMS["DROPOUT"].split("    model.eval()")[0].replace("    model.train()\n", "")
    text = text.replace("Sequential(", "Sequential(nn.Dropout(0.1, rng=rng), ")
    assert watched(tmp_path, text).findings == []


def test_a_decay_that_stops_is_no_rate_of_zero_where_every_gradient_is_zero(tmp_path: Path) -> None:
    text = """
import numpy as np
from minigrad import Tensor

X = np.random.default_rng(0).normal(size=(8, 3))
w = Tensor(np.ones(3), requires_grad=True)
for step in range(40):
    w.grad = None
    loss = ((X @ (w * np.zeros(3))) ** 2).sum() + 1
    loss.backward()
    decay = 1e-2 if step < 3 else 0.0
    w.data = w.data * (1 - decay) - 0.1 * w.grad.data
"""
    assert "rate zero" not in {finding.kind for finding in watched(tmp_path, text).findings}


def test_gradients_that_add_up_on_purpose_are_no_finding(tmp_path: Path) -> None:
    text = PROGRAMS["NET"].replace("    for p in", "    if step % 4 < 3:\n        continue\n    for p in")
    assert watched(tmp_path, text).findings == []


def test_a_loss_scaler_that_throws_bad_gradients_away_is_no_finding(tmp_path: Path) -> None:
    text = PROGRAMS["NET"].replace("    loss.backward()\n", "    (loss * (np.inf if step == 7 else 1.0)).backward()\n")
    text = text.replace("if p.grad is not None:", "if np.isfinite(p.grad.numpy()).all():")
    found = watched(tmp_path, text)
    assert found.steps == 40
    assert [f for f in found.findings if f.kind == "nonfinite" and f.grade == "shown" and "sqrt" in f.what] == []


def test_a_copy_that_the_program_keeps_up_to_date_needs_no_gradient(tmp_path: Path) -> None:
    text = PROGRAMS["NET"].replace("for step", "slow = Tensor(W1.numpy().copy(), requires_grad=True)\nfor step")
    text = text.replace(
        "    loss.backward()", "    slow.data[:] = 0.9 * slow.data + 0.1 * W1.data\n    loss.backward()"
    )
    assert watched(tmp_path, text).findings == []


def test_a_straight_through_derivative_is_no_finding(tmp_path: Path) -> None:
    text = (
        PROGRAMS["OWN"]
        .replace("lambda x: np.exp(-x * x)", "lambda x: np.sign(x)")
        .replace("g * -2 * x * ans", "g + 0 * ans")
    )
    assert [f.kind for f in watched(tmp_path, text).findings if f.grade == "shown"] == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_growth_says_is_the_growth(tmp_path: Path) -> None:
    """The gradient of h_t = 8 Wh h_(t-1), with Wh = 0.25 I, doubles in each iteration."""
    text = PROGRAMS["RNN"].replace("rng.normal(0, 0.25, (H, H))", "0.25 * np.eye(H)")
    text = text.replace("np.tanh(x[:, t : t + 1] @ Wx + h @ Wh)", "x[:, t : t + 1] @ Wx + h @ (8 * Wh)")
    (finding,) = [f for f in watched(tmp_path, text).findings if f.kind == "exploding"]
    assert "by the factor 2 per iteration" in finding.what
    assert np.log2(1e4) < 15


def test_a_function_called_with_a_keyword_is_compared_only_if_the_trace_holds_all_of_its_call(tmp_path: Path) -> None:
    """The trace has no keywords. Without the keyword, ``apply`` computes another function, with another derivative."""
    rule = 'bell = mg.primitive(lambda x: np.exp(-x * x), name="bell").vjp(x=lambda g, ans, x: g * -2 * x * ans)'
    own = """
class Power(mg.Function):
    @staticmethod
    def forward(ctx, x, n=1):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ROW

"""
    text = PROGRAMS["OWN"].replace(rule, own).replace("bell(x - c)", "Power.apply(x - c, n=2)").replace("0.02", "0.001")
    right = text.replace("ROW", "g * ctx.n * x ** (ctx.n - 1)")
    assert watched(tmp_path, right).findings == []
    positional = text.replace("n=2)", "2)")
    assert watched(tmp_path, positional.replace("ROW", "g * ctx.n * x ** (ctx.n - 1), None")).findings == []
    found = watched(tmp_path, positional.replace("ROW", "g * 3 * ctx.n * x ** (ctx.n - 1), None")).findings
    assert [finding.kind for finding in found[:1]] == ["own rule"]
