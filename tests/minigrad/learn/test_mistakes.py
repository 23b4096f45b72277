"""Planted mistakes are noticed, each with the right words; right answers in other styles are not refused."""

from pathlib import Path

import pytest

from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, tasks

SEEDS = (0, 1, 2026)
RUNS = {"7.1", "7.2", "7.3"}  # their stubs are mistakes


# --- planted mistakes: the solution, with one place of it changed ---

MISTAKES = [
    # the arithmetic
    ("1.1", "(2 * h)", "2 * h", "scalar"),
    ("1.1", "f(x - h)) / (2 * h)", "f(x)) / h", "scalar"),
    ("1.1", "(f(x + h) - f(x - h)) / (2 * h)", "(f(x + 1e-5) - f(x - 1e-5)) / 2e-5", "scalar"),
    ("1.3", "2 * (a - y)", "(a - y)", "scalar"),
    ("1.3", "da * (1 - a**2)", "da", "scalar"),
    ("1.3", "dz * x, dz", "dz, dz * x", "scalar"),
    ("2.1", "b * 2 * x", "2 * x", "scalar"),
    ("2.1", "a * np.cos(x)", "b * np.cos(x)", "scalar"),
    ("3.2", "(1.0, -1.0)", "(1.0, 1.0)", "scalar"),
    ("3.2", "-self.data / other.data**2", "-self.data / other.data", "scalar"),
    ("3.2", "1 - t**2", "1 - t", "scalar"),
    ("4.1", "(1 - y**2) * ", "", "scalar|nowhere"),
    ("4.2", "gz = g * (1 - y**2)", "gz = g", "nowhere|places"),
    ("6.2", "(g * p).sum(axis=-1, keepdims=True)", "g", "nowhere"),
    ("6.4", "s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)",
     "s = np.sqrt(x.var(axis=-1, keepdims=True)) + eps", "nowhere|places"),
    ("6.4", " - n * (gn * n).mean(axis=-1, keepdims=True)", "", "nowhere"),
    ("8.1", "abs(bend(x))", "bend(x)", "places"),
    ("8.2", "(e * (W @ v))", "(W @ v)", "scalar|nowhere"),
    ("9.1", "w = w - rate * v", "w = w - rate * g", "nowhere"),
    ("9.1", "beta * v + g", "beta * v + (1 - beta) * g", "nowhere"),
    ("9.2", "(1 - beta1**t)", "1", "nowhere"),
    ("9.2", "(np.sqrt(v / (1 - beta2**t)) + eps)", "np.sqrt(v / (1 - beta2**t) + eps)", "nowhere|places"),
    ("9.3", " if norm > limit else 1.0", "", "nowhere|places"),
    ("10.1", "scores = q @ k.T / np.sqrt(d)", "scores = q @ k.T", "nowhere|places|scalar"),
    ("10.2", "weights * (g_weights - (g_weights * weights).sum(axis=-1, keepdims=True))",
     "weights * g_weights", "nowhere|scalar"),
    ("10.4", "2 * (column // 2) / d", "column / d", "places|nowhere"),
    ("11.1", "gx = gh + ", "gx = ", "nowhere"),
    ("11.1", "gh = g_out + gz @ W1.T", "gh = gz @ W1.T", "nowhere"),
    ("11.1", " * (z > 0)", "", "nowhere|places"),
    ("13.1", " * (1 - h**2)", "", "nowhere|places"),
    ("13.2", "step - best >= patience", "step - best > patience", "scalar"),
    ("7.3", "np.sqrt(np.where(squares > 0, squares, 1.0))", "np.where(squares > 0, np.sqrt(squares), 0.0)", "nan"),
    ("14.1", "np.sqrt(len(first))", "np.sqrt(len(first) * keeps)", "nowhere"),
    ("14.2", "(step - warmup) / (steps - warmup)", "step / steps", "scalar"),
    ("14.3", "direction(g) + decay * w", "direction(g + decay * w)", "nowhere"),
    # sums and means, = and +=, one value used twice
    ("2.2", "if name not in found:", "if True:", "judged"),
    ("3.3", "parent.grad += ", "parent.grad = ", "scalar"),
    ("3.4", "self.grad += 1.0", "self.grad = 0.0", "scalar"),
    ("3.4", "            if value.parents:\n                value.grad = 0.0", "            pass", "scalar"),
    ("3.4", "w.grad = b.grad = 0.0", "pass", "scalar"),
    ("5.2", "(g * x).sum(axis=0)", "(g * x).mean(axis=0)", "nowhere"),
    ("5.2", "g.sum(axis=0)", "g", "shape"),
    ("5.2", "(g * x).sum(axis=0)", "(g * x).sum(axis=1)", "nowhere|shape"),
    ("6.1", "gW.sum(axis=tuple(range(gW.ndim - 2)))", "gW", "shape"),
    ("6.3", "gradient / len(labels)", "gradient", "nowhere|places"),
    ("6.3", ".mean(), gradient", ".sum(), gradient", "scalar"),
    ("9.3", "np.sqrt(sum((g**2).sum() for g in gradients))", "max(np.sqrt((g**2).sum()) for g in gradients)", "scalar"),
    # transposes and shapes
    ("4.2", "np.outer(gz, x)", "np.outer(x, gz)", "shape"),
    ("6.1", "g @ W.T", "g @ W", "raised_at"),
    ("6.1", "np.swapaxes(x, -1, -2)", "x.T", "raised_at|shape"),
    ("10.2", "g_scores.T @ q", "g_scores @ q", "nowhere"),
    ("10.3", "x.reshape(batch, n, heads, d // heads).swapaxes(1, 2)", "x.reshape(batch, heads, n, d // heads)", "places"),
    ("5.1", ", keepdims=True", "", "shape"),
    # masks and caches
    ("10.1", "np.tri(n) == 1", "np.tri(n).T == 1", "places|nowhere"),
    ("10.1", "weights = softmax(scores)",
     "weights = softmax(scores)\n    if causal:\n        weights = weights * np.tri(n)", ""),
    ("10.1", "if causal:\n        scores = np.where(np.tri(n) == 1, scores, -np.inf)\n    weights = softmax(scores)",
     "weights = softmax(scores)\n    if causal:\n        weights = weights * np.tri(n)", "places|nowhere"),
    ("12.1", "[keys, (x @ Wk)[None]]", "[(x @ Wk)[None], keys]", "places|nowhere|scalar"),
    ("12.2", "searchsorted(sums, u", "searchsorted(sums, 1 - u", "places|nowhere"),
    ("12.2", "logits / temperature", "logits * temperature", "nowhere|places"),
    # large numbers and dtypes
    ("6.2", "x - x.max(axis=-1, keepdims=True)", "x", "nan"),
    ("6.3", "logits - logits.max(axis=-1, keepdims=True)", "logits * 1.0", "scalar|nan|nan_scalar"),
    ("12.2", "np.exp(x - x.max())", "np.exp(x)", "nan"),
    ("5.1", "return g.sum", "return 1.0 * g.astype(float).sum", "dtype"),
    # work that is not needed, long programs, arguments changed in place
    ("1.2", "right, left = x.copy(), x.copy()", "f(x)\n        right, left = x.copy(), x.copy()", "many"),
    ("1.2", "right, left = x.copy(), x.copy()", "right, left = x, x.copy()", "changed|nowhere|places"),
    ("4.1", "(1 - y**2) * (W @ v)", "(np.diag(1 - y**2) @ W) @ v", "many"),
    ("4.2", "W.T @ gz", "W.T @ np.diag(1 - y**2) @ g", "many"),
    ("8.2", "W.T @ (e * (W @ v))", "(W.T * e) @ W @ v", "many"),
    ("9.1", "w = w - rate * v", "w -= rate * v", "changed"),
    ("14.3", "direction(g)", "(direction(g) + direction(g)) / 2", "many"),
    ("12.1", "scores = keys @ (x @ Wq)", "_ = keys @ Wk\n    scores = keys @ (x @ Wq)", "many"),
    # what is returned
    ("1.1", "return", "pass;", "none"),
    ("1.3", "(a - y) ** 2, dz * x, dz", "dz * x, dz", "count"),
    ("3.2", "(1 - t**2,)", "(1 - t**2)", "comma"),
    ("3.1", "(self, other), (other.data, self.data)", "(other, self), (other.data, self.data)", "other"),
    ("2.2", "visit(end)", "[visit(name) for name in parents]", "judged"),
    ("6.2", "def softmax_backward", "def softmax_back", "missing"),
    ("12.2", "return int(np.argmax(logits))", "return str(np.argmax(logits))", "type"),
]  # fmt: skip


def test_each_task_has_a_planted_mistake_but_those_that_are_one() -> None:
    assert {label for label, *_ in MISTAKES} >= {task.label for task in tasks()} - RUNS


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    folder = tmp_path_factory.mktemp("mistakes")
    jobs = []
    for i, (label, old, new, _) in enumerate(MISTAKES):
        source = find(label).solution.read_text(encoding="utf-8")
        assert old in source, (label, old)
        path = folder / f"{i}.py"
        path.write_text(source.replace(old, new), encoding="utf-8")
        jobs.append(Job(find(label), path, 11))
    return check(jobs)


@pytest.mark.parametrize("i", range(len(MISTAKES)), ids=[f"{label}-{new[:20]}" for label, _, new, _ in MISTAKES])
def test_a_mistake_is_noticed(i: int, mistaken: list[Verdict]) -> None:
    finding, kinds = mistaken[i].finding, MISTAKES[i][3]
    if not kinds:  # masked before the softmax and after it once more: no mistake, and none may be found
        assert finding is None
        return
    assert finding is not None
    assert finding.kind in kinds.split("|"), report(mistaken[i], "en")
    for language in LANGUAGES:
        assert report(mistaken[i], language)


# --- right answers of other people: a check that refuses one is worse than one that lets a slip through ---

OTHERS = {
    "1.2": """
def gradient(f, x, h=1e-5):
    x, found = x.copy(), []
    for i in range(x.size):
        old = x.flat[i]
        x.flat[i] = old + h
        right = f(x)
        x.flat[i] = old - h
        found.append((right - f(x)) / (2 * h))
        x.flat[i] = old
    return np.array(found).reshape(x.shape)
""",
    "2.2": """
def order(parents, end):
    wanted = {end}
    while True:
        more = wanted | {p for name in wanted for p in parents[name]}
        if more == wanted:
            break
        wanted = more
    done = []
    while len(done) < len(wanted):
        done += sorted(n for n in wanted if n not in done and all(p in done for p in parents[n]))
    return done
""",
    "4.1": """
def jvp(W, x, v):
    y = np.tanh((W * x).sum(axis=1))
    return y, (1 - y * y) * np.einsum("ij,j->i", W, v)
""",
    "4.2": """
def vjp(W, x, g):
    y = np.tanh(np.dot(W, x))
    gz = g - g * y * y
    return y, gz[:, None] * x[None, :], (W * gz[:, None]).sum(axis=0)
""",
    "5.1": """
def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = np.sum(g, axis=0)
    for i in range(len(shape)):
        if shape[i] == 1:
            g = np.sum(g, axis=i, keepdims=True)
    return g
""",
    "6.1": """
def matmul_backward(x, W, g):
    return np.einsum("...nm,km->...nk", g, W), x.reshape(-1, W.shape[0]).T @ g.reshape(-1, W.shape[1])
""",
    "6.3": """
def cross_entropy(logits, labels):
    e = np.exp(logits - np.max(logits, axis=1)[:, None])
    p = e / np.sum(e, axis=1)[:, None]
    m = np.max(logits, axis=1)
    losses = [np.log(np.sum(e[i])) + m[i] - logits[i][labels[i]] for i in range(len(labels))]
    return float(np.mean(losses)), (p - np.eye(logits.shape[1])[labels]) / logits.shape[0]
""",
    "7.3": """
import minigrad as mg

def gradient(words, W):
    def loss_of(W):
        far = np.maximum(np.sum((words @ W) ** 2, axis=-1), 1.0)
        return np.sum(np.sqrt(far) - 1)
    loss, slope = mg.value_and_grad(loss_of)(W)
    return float(loss), slope

def loss_of(words, W):
    pass
""",
    "8.1": """
def newton(slope, bend, x, steps):
    return np.array([x] + (newton(slope, bend, x - slope(x) / np.abs(bend(x)), steps - 1).tolist() if steps else []))
""",
    "8.2": """
def hvp(W, x, v):
    e = np.exp(np.sum(W * x, axis=1))
    return np.sum(W * e[:, None], axis=0), np.sum(W * (e * np.sum(W * v, axis=1))[:, None], axis=0)
""",
    "9.3": """
def clip(gradients, limit):
    norm = float(np.linalg.norm(np.concatenate([g.ravel() for g in gradients])))
    return norm, tuple(g / max(1.0, norm / limit) for g in gradients)
""",
    "10.4": """
import math

def positions(n, d, base=10_000):
    rows = []
    for t in range(n):
        hands = [t * base ** (-c / d) for c in range(0, d, 2)]
        rows.append([f(a) for a in hands for f in (math.sin, math.cos)][:d])
    return np.array(rows)
""",
    "10.1": """
def attention(q, k, v, causal=False):
    scores = np.einsum("id,jd->ij", q, k) / q.shape[1] ** 0.5
    if causal:
        scores[np.triu_indices(len(q), 1)] = -1e9
    weights = np.exp(scores) / np.exp(scores).sum(axis=1)[:, None]
    return np.dot(weights, v), weights
""",
    "12.1": """
def step(x, Wq, Wk, Wv, keys, values):
    keys, values = np.vstack((keys, x @ Wk)), np.vstack((values, Wv.T @ x))
    weights = np.exp(np.sum(keys * (x @ Wq), axis=1) / np.sqrt(x.shape[0]))
    return (weights[:, None] * values).sum(axis=0) / weights.sum(), keys, values
""",
    "12.2": """
def probabilities(logits, temperature):
    e = np.exp((logits - logits.max()) / temperature)
    return e / e.sum()

def sample(logits, temperature, u):
    if not temperature:
        return list(logits).index(max(logits))
    total = 0.0
    for i, p in enumerate(probabilities(logits, temperature)):
        total += p
        if u < total:
            return i
    return i
""",
    "14.1": """
def start(normals, keeps):
    found = [z * len(z) ** -0.5 for z in normals]
    for i in range(1, len(found)):
        found[i] *= (1 / keeps) ** 0.5
    return tuple(found)
""",
    "14.2": """
def rate(step, peak, warmup, steps):
    if step >= steps:
        return 0
    if warmup and step <= warmup - 1:
        return peak / warmup * (step + 1)
    return peak * np.cos(np.pi / 2 * (step - warmup) / (steps - warmup)) ** 2
""",
    "14.3": """
def adamw(w, gradients, direction, rates, decay):
    w = w.copy()
    for i in range(len(gradients)):
        w *= 1 - rates[i] * decay
        w -= rates[i] * direction(gradients[i])
    return w
""",
}


def test_right_answers_in_another_style_pass(tmp_path: Path) -> None:
    jobs = []
    for label, source in OTHERS.items():
        path = tmp_path / f"{label}.py"
        path.write_text(f"import numpy as np\n{source}", encoding="utf-8")
        jobs += [Job(find(label), path, seed) for seed in (*SEEDS, 17)]
    refused = [report(verdict, "en") for verdict in check(jobs) if not verdict.passed]
    assert refused == []


def test_find_nan_in_the_file_of_7_3_says_the_step_below_the_message(tmp_path: Path) -> None:
    """The task sends a learner there. The check's message names the row of zeros, and not what to write."""
    path = tmp_path / "7_3_find_the_nan.py"
    stub = find("7.3").stub.read_text(encoding="utf-8")
    printing = stub.replace("loss.backward()\n", "loss.backward()\n    print(mg.find_nan(loss))\n")
    path.write_text(printing, encoding="utf-8")
    (verdict,) = check([Job(find("7.3"), path, 3)])
    told, _, printed = report(verdict, "en").partition("Your program printed:\n")
    assert verdict.right == 1 and "gradient of W: right at 0 of 6 places; at [0, 0] it is NaN" in told
    assert "a row of words is all zeros" in told and "squares > 0" not in told
    first, second, *_ = printed.splitlines()  # of the first question, which has no row of zeros, and of the second
    assert first == "None" and second.startswith("in the backward pass, the derivative of 'length' (sqrt)")
    assert "length = np.sqrt(squares)" in printed and "0 * inf is nan" in printed
