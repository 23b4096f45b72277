"""Train the NumPy article's two-layer Transformer with its own derivatives, see where they are off, and do it right.

    python examples/numpy_article.py

1. The article's run, digit for digit, beside the same run with exact derivatives.
2. What `check_grads` says of each derivative that the article works out by hand, and by how much it is off.
3. The same network on sentences whose tokens differ: only there has attention anything to learn.
4. The gradient three times: as the article derives it by hand, as `mg.write_numpy` writes it, and from the tape.

Written to `out/`: article_training.png, article_attention.png, numpy_article_step.py.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import numpy as np

import article_by_hand as hand
import article_rules as article
import minigrad as mg
import nn
from common import argument_parser, make_folder, pyplot, run, save_figure, table
from minigrad.device import to_device
from models import TwoLayerConfig, TwoLayerTransformer

Array = np.ndarray[Any, Any]
STEPS = 50


# 1. The article's run


def exact_network(device: str = "cpu") -> TwoLayerTransformer:
    """The article's network and weights, with minigrad's derivatives."""
    network = TwoLayerTransformer(TwoLayerConfig(2, 2, 2), rng=np.random.default_rng(0), dtype=np.float64)
    article.set_article_weights(network)
    return network.to(device)


def show_article_run(device: str) -> dict[str, list[tuple[Array, float]]]:
    """Print the article's table; return the courses of the three runs."""
    courses = {
        "the article's rules": article.train_as_the_article(
            article.ArticleTransformer().to(device), STEPS, reset=False
        ),
        "its listing as published": article.train_as_the_article(
            article.ArticleTransformer(article.graph_as_published).to(device), STEPS, reset=False
        ),
        "exact derivatives": article.train_as_the_article(exact_network(device), STEPS, reset=True),
    }
    printed = courses["the article's rules"]
    print(f"before step 1, summed loss {printed[0][1]!r}\n{printed[0][0]}")
    for step in range(10, STEPS + 1, 10):
        print(f"after {step} steps\n{printed[step][0]}")
    print(
        f"\nafter 10 steps, class 1 of the first sentence, {courses['its listing as published'][10][0][0, 0]:.8f} with"
    )
    print("the listing as published (it multiplies by `dgraph` where the run that was printed multiplied by `ds`)\n")
    for step in (10, STEPS):
        rows = [(name, f"{course[step][0][0, 0]:.6f}  {course[step][0][1, 1]:.6f}") for name, course in courses.items()]
        print(table(f"probability of the right classes after {step} steps", rows))
    return courses


def draw_courses(courses: dict[str, list[tuple[Array, float]]], path: Path) -> None:
    """The probability of the right class of both sentences, step by step."""
    figure, ax = pyplot().subplots(figsize=(8, 4.5), layout="constrained")
    for (name, course), colour in zip(courses.items(), ("#d94801", "#fdae6b", "#08519c")):
        ax.plot([y[0, 0] for y, _ in course], color=colour, label=f"{name}: first sentence")
        ax.plot([y[1, 1] for y, _ in course], color=colour, linestyle="--", label="second sentence")
    ax.set(xlabel="step", ylabel="probability of the right class", ylim=(0, 1), title="the NumPy article's run")
    ax.legend(frameon=False, fontsize=8)
    save_figure(figure, path)


# 2. The lesson


@dataclass(frozen=True)
class Rule:
    """A derivative of the article: its operation, the same operation differentiated exactly, and the arguments."""

    name: str
    operation: Any
    exact: Any
    inputs: tuple[Array, ...]
    argument: int = 0

    def relative_error(self, seed: int = 0) -> float:
        """``|g - g_exact| / |g_exact|``, for a random gradient of the output."""
        got, expected = (self._gradient(f, np.random.default_rng(seed)) for f in (self.operation, self.exact))
        return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))

    def complaint(self) -> str | None:
        """What ``check_grads`` says; None if the rule is right here."""
        before, at, after = (
            self.inputs[: self.argument], self.inputs[self.argument], self.inputs[self.argument + 1 :]
        )  # fmt: skip
        try:
            mg.check_grads(lambda x: self.operation(*before, x, *after), [at], order=1)
        except mg.GradientError as error:
            return str(error)
        return None

    def _gradient(self, function: Any, rng: np.random.Generator) -> Array:
        output, pullback = mg.vjp(function, *self.inputs)
        return np.asarray(pullback(rng.standard_normal(np.shape(output)))[self.argument])


def rules_at(x: Array, network: TwoLayerTransformer) -> list[Rule]:
    """Every rule at the values that it meets in the second layer of ``network``, whose first call was with x too."""
    h = network._hidden(x, None).numpy()
    A = article.graph(h)
    message = A @ h
    W, b = network.affine_2.weight.numpy(), network.affine_2.bias.numpy()
    first = network.affine_2.first_x
    z = (message @ W + b).sum(axis=1)
    t = np.eye(2)

    def attention(h: Any) -> Any:
        return mg.softmax(h @ np.swapaxes(h, -1, -2) / h.shape[-1] ** 0.5)

    def affine(x: Any, W: Any) -> Any:
        return article.affine(x, W, b, first)

    def loss(z: Any) -> Any:
        return article.softmax_with_loss(z, t)

    def exact_loss(z: Any) -> Any:
        return -np.sum(t * np.log(mg.softmax(z) + 1e-7))

    return [
        Rule("softmax, dx", article.softmax, mg.softmax, (z,)),
        Rule("attention weights, dh", article.graph, attention, (h,)),
        Rule("attention weights as published, dh", article.graph_as_published, attention, (h,)),
        Rule("message passing, dA", article.pass_messages, np.matmul, (A, h)),
        Rule("message passing, dh", article.pass_messages, np.matmul, (A, h), 1),
        Rule("affine, dx", affine, lambda x, W: x @ W + b, (message, W)),
        Rule("affine, dW", affine, lambda x, W: x @ W + b, (message, W), 1),
        Rule("softmax with loss, dz", loss, exact_loss, (z,)),
    ]


def show_lesson(seed: int) -> None:
    """Each rule at the article's tokens, and at tokens that differ."""
    x, _ = article.article_batch()
    network = article.ArticleTransformer()
    article.train_as_the_article(network, 20, reset=False)
    distinct = np.asarray(2 * np.random.default_rng(seed).standard_normal(x.shape))
    at_article, at_distinct = rules_at(x, network), rules_at(distinct, network)
    print(
        "\nthe article's rules against finite differences (check_grads) and by |error| / |exact gradient|, after 20 steps"
    )
    print(" " * 36 + f"{'all tokens alike':>24}{'tokens that differ':>24}")
    for rules in zip(at_article, at_distinct):
        cells = [f"{'wrong' if rule.complaint() else 'right':>13}{rule.relative_error():11.1e}" for rule in rules]
        print(f"{rules[0].name:36}" + "".join(cells))
    print(f'check_grads on the softmax: "{at_distinct[0].complaint()}"')


def share_through_scores(network: TwoLayerTransformer, x: Any, t: Any) -> float:
    """How much of the gradient of W_1 comes through the attention *weights* of the second layer: a part of its norm."""
    gradients = []
    attention = network.attention_2
    for network.attention_2 in (attention, ConstantWeights()):
        network.zero_grad()
        network.loss(x, t).backward()
        gradients.append(network.affine_1.weight.grad.numpy().copy())
    network.attention_2 = attention
    network.zero_grad()
    whole, without = gradients
    return float(np.linalg.norm(whole - without) / np.linalg.norm(whole))


class ConstantWeights(nn.Module):
    """Attention whose weights count as constants in the derivative. (No masks: nothing is padding here.)"""

    def forward(self, h: Any, *, key_mask: None = None) -> mg.Tensor:
        return self.attention_weights(h) @ h

    def attention_weights(self, h: Any, *, key_mask: None = None) -> mg.Tensor:
        return nn.SimplifiedAttention().attention_weights(h).detach()


class UniformWeights(ConstantWeights):
    """The baseline: every token looks at all tokens alike."""

    def attention_weights(self, h: Any, *, key_mask: None = None) -> mg.Tensor:
        weights = super().attention_weights(h)
        return mg.Tensor(np.full_like(weights.data, 1 / h.shape[1]))


# 3. Tokens that differ

KINDS, LENGTH, HIDDEN = 6, 4, 8


def twin_sentences(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Sentences of four tokens, each of one of six kinds and with a sign; one kind occurs twice, the twins.

    The class is whether the twins have the same sign. Whoever mixes all tokens alike loses which sign was whose.

    Returns:
        x (count, 4, 7): the kind, one-hot, times 3, and the sign; t (count, 2) one-hot.
    """
    kinds = np.array([rng.permutation(KINDS)[:LENGTH] for _ in range(count)])
    kinds[:, 1] = kinds[:, 0]
    kinds = rng.permuted(kinds, axis=1)
    signs = rng.choice([-1, 1], (count, LENGTH))
    twins = kinds[:, :, None] == kinds[:, None, :]  # (count, 4, 4), also each token with itself
    same = (signs[:, None, :] * signs[:, :, None] * twins).sum(axis=(1, 2)) > LENGTH
    x = np.concatenate([3.0 * np.eye(KINDS)[kinds], signs[:, :, None]], axis=-1)
    return x.astype(np.float32), np.eye(2, dtype=np.float32)[same.astype(int)]


def train_on_twins(
    attention: Any, train: Any, epochs: int, arguments: Any
) -> tuple[TwoLayerTransformer, float, list[Array]]:
    """A trained network, and of the untrained one :func:`share_through_scores` and :func:`first_weights`."""
    config = TwoLayerConfig(KINDS + 1, HIDDEN, 2, std=0.5)
    network = TwoLayerTransformer(config, rng=np.random.default_rng(arguments.seed)).to(arguments.device)
    network.attention_1, network.attention_2 = attention(), attention()
    share, before = share_through_scores(network, *train), first_weights(network, train[0])
    batches = nn.Batches(train, 64, seed=arguments.seed)
    nn.fit(
        network, batches, lambda model, batch: model.loss(*batch), nn.Adam(network.parameters(), 0.02), epochs=epochs
    )
    return network, share, before


def accuracy(network: TwoLayerTransformer, x: Any, t: Any) -> float:
    with mg.no_grad():
        return float((network(x).data.argmax(axis=1) == t.argmax(axis=1)).mean())


def show_distinct_tokens(arguments: Any) -> None:
    """Train with attention and without, and see what the second layer's weights do (the first layer's depend on x alone)."""
    rng = np.random.default_rng([arguments.seed, 1])
    count, epochs = (256, 15) if arguments.quick else (1024, 40)
    train, test = ([to_device(a, arguments.device) for a in twin_sentences(n, rng)] for n in (count, 1000))
    print("\ntokens that differ: do the two tokens of the same kind have the same sign?")
    network, share, before = train_on_twins(nn.SimplifiedAttention, train, epochs, arguments)
    after = first_weights(network, train[0])
    rows = [("attention", accuracy(network, *test))]
    network.attention_2 = UniformWeights()
    rows.append(("  then its second layer made uniform", accuracy(network, *test)))
    uniform, _, _ = train_on_twins(UniformWeights, train, epochs, arguments)
    rows.append(("uniform weights in both layers, trained so", accuracy(uniform, *test)))
    rows.append(("the more frequent class", float(test[1].mean(axis=0).max())))
    print(table("accuracy on 1,000 new sentences", rows))
    alike = share_through_scores(exact_network(), *article.article_batch())
    print(f"part of W_1's first gradient that comes through the second layer's attention weights: {share:.1%}")
    print(f"(in the article's run, where all tokens are alike: {alike:.1%})")
    print(f"from {before[1].min():.3f}-{before[1].max():.3f} in one sentence, those weights move to", end=" ")
    print(f"{after[1].min():.3f}-{after[1].max():.3f}. They cannot go far: h comes from a softmax,")
    print(
        f"so scores are below 1/sqrt({HIDDEN}), and here the task does not ask for more: the first layer finds the twins."
    )
    draw_attention(before, after, train[0][:1], arguments.out / "article_attention.png")


def first_weights(network: TwoLayerTransformer, x: Any) -> list[Array]:
    """The attention weights of both layers in the first sentence."""
    return [weights.numpy()[0] for weights in network.attention_weights(x[:1])]


def draw_attention(before: list[Array], after: list[Array], x: Any, path: Path) -> None:
    """The weights of both layers in one sentence. The first layer has nothing to learn: its weights depend on x alone."""
    x = mg.Tensor(x).numpy()[0]
    labels = ["ABCDEF"[row[:KINDS].argmax()] + ("+" if row[KINDS] > 0 else "−") for row in x]
    figure, axes = pyplot().subplots(1, 3, figsize=(10, 3.6), layout="constrained")
    panels = [("first layer (depends on x alone)", before[0]), ("second layer, untrained", before[1])]
    for ax, (title, weights) in zip(axes, [*panels, ("second layer, trained", after[1])]):
        image = ax.imshow(weights, cmap="Blues")
        ax.set_xticks(range(LENGTH), labels)
        ax.set_yticks(range(LENGTH), labels)
        ax.set_title(title, fontsize=10)
        figure.colorbar(image, ax=ax, shrink=0.8)
    axes[0].set(xlabel="looks at", ylabel="token")
    save_figure(figure, path)


# 4. By hand, written, and from the tape


def arguments_of_a_step(seed: int | None = None) -> tuple[Array, ...]:
    """Return x, t and the parameters of the article's first step, or random ones, whose tokens differ."""
    x, t = article.article_batch()
    parameters = [np.asarray(parameter.data) for parameter in article.ArticleTransformer().parameters()]
    if seed is None:
        return x, t, *parameters
    rng = np.random.default_rng([seed, 2])
    return np.asarray(2 * rng.standard_normal(x.shape)), t, *(rng.standard_normal(array.shape) for array in parameters)


def show_gradients(title: str, program: Any, arguments: tuple[Array, ...]) -> None:
    """Print for each parameter how far the other gradients are from those of the tape."""
    right = hand.tape(*arguments)
    columns = [
        hand.by_hand(*arguments)[1:],
        hand.by_hand(*arguments, rules=hand.EXACT)[1:],
        program(*arguments)[1:],
        hand.finite_differences(*arguments),
    ]
    headings = ("by hand", "corrected", "written", "differences", "|gradient|")
    print(f"{title:24}" + "".join(f"{heading:>13}" for heading in headings))
    for i, name in enumerate(hand.PARAMETERS):
        off = [hand.largest_difference([column[i]], [right[i]]) for column in columns]
        print(f"  {name:22}" + "".join(f"{number:13.1e}" for number in (*off, np.abs(right[i]).max())))


def show_three_gradients(seed: int, out: Path) -> None:
    """Compare the article's gradient, the program that `mg.write_numpy` writes, and finite differences with the tape."""
    first, distinct = arguments_of_a_step(), arguments_of_a_step(seed)
    program = mg.write_numpy(hand.network, *first, argnum=tuple(range(hand.FIRST, len(first))))
    program.save(out / "numpy_article_step.py")
    print(
        "\nlargest difference from the gradient of the tape: the article's gradient by hand, the same with four rules"
    )
    print("corrected, the program that mg.write_numpy writes, and finite differences")
    show_gradients("the article's first step", program, first)
    show_gradients("tokens that differ", program, distinct)
    print(
        "The article's derivative is wrong in four rules, and finite differences agree with the tape. The error of a rule"
    )
    print(
        "is the largest in a gradient if this rule is the article's and the other three are exact. The article's loss is"
    )
    print(
        "a sum over the batch, but its rule is that of the mean. Its softmax rule has only the diagonal of the Jacobian."
    )
    alike, unlike = hand.error_of_each_rule(*first), hand.error_of_each_rule(*distinct)
    print(f"{'rule of':14}{'the article':17}{'exact':41}{'first step':>12}{'tokens differ':>16}")
    for name in (field.name for field in fields(hand.Rules)):
        wrong, exact = getattr(hand.ARTICLE, name), getattr(hand.EXACT, name)
        print(f"  {name:12}{wrong.text:17}{exact.text:41}{alike[name]:12.1e}{unlike[name]:16.1e}")
    ours, theirs = hand.statements(str(program)), hand.statements(hand.by_hand)
    print(f"statements: {theirs} by hand, {ours} in {out / 'numpy_article_step.py'}, {ours / theirs:.2f} times as many")


def main() -> None:
    parser = argument_parser(__doc__, quick="a few epochs on few sentences in the third part")
    arguments = parser.parse_args()
    make_folder(arguments.out)
    draw_courses(show_article_run(arguments.device), arguments.out / "article_training.png")
    show_lesson(arguments.seed)
    show_distinct_tokens(arguments)
    show_three_gradients(arguments.seed, arguments.out)


if __name__ == "__main__":
    run(main)
