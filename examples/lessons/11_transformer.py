# %% [markdown] name="title"
# # Lesson 11: a Transformer that classifies, and every gradient in it
#
# All parts are there: softmax, cross-entropy, layer normalisation (lesson 6), training (lessons 14 and 9), attention
# (lesson 10). Now they become a Transformer with two layers that answers a question about a sentence. Then we go
# through all of its gradients, and see where each comes from.
#
# You need: lessons 1 to 10. Time: 20 minutes.

# %%
import runpy
from itertools import product
from pathlib import Path

import numpy as np

import minigrad as mg
import nn
from minigrad.learn.checker import right_answer
from minigrad.learn.tasks import find
from models import ClassifierConfig, TransformerClassifier, TwoLayerConfig, TwoLayerTransformer

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("A lesson draws pictures, which needs Matplotlib: pip install matplotlib") from None

LANGUAGE = "en"  # of the pages that this lesson writes: "en" or "ja"
OUT = Path("out/lessons")  # where pages and pictures go
OUT.mkdir(parents=True, exist_ok=True)

# %% [markdown] name="predict"
# ## Predict
#
# A **token** is one piece of a text, here a word. The network holds a row of numbers for each token, and its parts
# *add* something to these rows. They do not replace them:
#
#     scores = x @ x.T
#     weights = softmax(scores)
#     mixed = weights @ x
#     h = x + mixed
#
# That is attention as in lesson 10, in its barest form: the tokens themselves are queries, keys and values, and
# nothing is divided by a root. The last line matters today: `x +` is the way past of lesson 9, the **residual
# connection**.
#
# There are two tokens, [1, 0] and [0, 1]. At the end, `g` picks one number of `h`: the first of the first token. Open
# `out/lessons/11_open.html`, and count the ways that lead from `x` to `h`.

# %%
g = np.array([[1.0, 0.0], [0.0, 0.0]])
x = mg.Tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True, name="x")
with mg.trace():
    scores = x @ x.T
    weights = mg.softmax(scores)
    mixed = weights @ x
    h = x + mixed
    s = g * h
    loss = np.sum(s)
loss.backward()
print("weights:", weights.data.round(4).tolist())
print("gradient of x:", x.grad.data.round(4).tolist(), " product:", round(weights.data[0, 0] * weights.data[0, 1], 4))
mg.explain(loss, OUT / "11_open.html", {"x": x}, language=LANGUAGE, lesson="course/11_open")

# %% [markdown] name="task"
# ## The question
#
# Our language has four words, with the numbers 0 to 3, and each sentence has five. `cat` and `dog` stand in it once
# each, the other places hold `sees` or `the`. The question: which comes first, the cat (class 0) or the dog (class 1)?
# There are 160 such sentences. The network, `models.TransformerClassifier` with 8 numbers for each token, learns from
# 100 of them and is asked about the other 60.

# %%
WORDS = ["cat", "dog", "sees", "the"]
sentences = np.array([ids for ids in product(range(4), repeat=5) if ids.count(0) == 1 and ids.count(1) == 1])
sentences = np.random.default_rng(0).permutation(sentences)
labels = (np.argmax(sentences == 1, axis=1) < np.argmax(sentences == 0, axis=1)).astype(int)
print(len(sentences), "sentences, the first:", [WORDS[i] for i in sentences[0]], "its class:", labels[0])


def new_model(dropout=0.0):
    config = ClassifierConfig(4, 2, d_model=8, num_heads=2, num_layers=2, hidden=16, dropout=dropout)
    return TransformerClassifier(config, rng=np.random.default_rng(1))


model = new_model()
print(model.num_parameters, "numbers to learn")

# %% [markdown] name="forward"
# This is what `model(sentences)` does, line by line:
#
# | | line | what it is |
# |---|---|---|
# | 1 | `x = E[ids] + P` | each word's row of the **embedding** `E`, and the code of its place (lesson 10) |
# | 2 | `x = x + attention(norm(x))` | tokens look at each other: two heads, as in lesson 10 |
# | 3 | `x = x + feed_forward(norm(x))` | each token by itself: `relu(x @ W1 + b1) @ W2 + b2` |
# | 4 | `mean(norm(x))` | the mean over the five tokens: one row for the sentence |
# | 5 | `logits = mean @ C + b` | one number for each class |
# | 6 | `loss = cross_entropy(logits, label)` | as in lesson 6 |
#
# Lines 2 and 3 together are one **layer**. There are two layers, so both lines are done twice. `norm` is layer
# normalisation. `relu(x)` is `x` where that is positive, else 0. It stands inside the **feed-forward** network.
#
# ## Every gradient, pointed at
#
# Before any training, we run the network on one sentence, go backward, and look at what has arrived at each of its
# **parameters**, the arrays that are learned. They are named by the place where they live, such as
# `layers.0.attention.query.weight`; query, key, value and the last matrix of the attention have a `weight` and a `bias`
# each. Our sentence is "cat sees dog sees sees", without the word `the`. **Predict:** for which parameter is the
# gradient zero in any case? And which row of `E` gets none?

# %%
ids = np.array([[0, 2, 1, 2, 2]])
loss = nn.cross_entropy(model(ids), np.array([0]))
loss.backward()
norms = {name: np.linalg.norm(parameter.grad.data) for name, parameter in model.named_parameters()}
lengths = np.linalg.norm(model.embedding.weight.grad.data, axis=1)
print("rows of E, how long their gradients are:", {word: f"{lengths[i]:.3f}" for i, word in enumerate(WORDS)})
print("key bias below a millionth:", norms["layers.0.attention.key.bias"] < 1e-6)

colors = {"attention.": "tab:blue", "feed_forward.": "tab:green", "norm": "tab:gray"}
figure, axes = plt.subplots(figsize=(7, 7), layout="constrained")
bars = [next((color for part, color in colors.items() if part in name), "tab:orange") for name in norms]
axes.barh(list(norms), list(norms.values()), color=bars)
axes.invert_yaxis()
axes.tick_params(axis="y", labelsize=7)
axes.set(xscale="log", xlim=(1e-10, 10), xlabel="length of the gradient")
axes.set_title("Blue: attention, green: feed-forward, gray: norms, orange: E, C, b", fontsize=10)
figure.savefig(OUT / "11_gradients.png", dpi=120)

# %% [markdown] name="walk"
# Walk backward with the table of the lines above, from the bottom up.
#
# **Line 6.** The logits get the probabilities, with 1 subtracted at the right class (lesson 6). All gradients of the
# network begin with these two numbers.
#
# **Lines 5 and 4.** A matrix and a bias, as in lesson 4. The mean hands each of the five tokens a fifth. So a gradient
# arrives at *every* token, and from the mean it is the same for all.
#
# **Lines 3 and 2.** Each `x +` has two ways back: past the part, where the gradient stays as it is, and through the
# part, where it is changed and leaves something at every weight. The two are added. Attention leads to other tokens:
# the gradient of token 0 also goes to the tokens that it looked at.
#
# **Line 1.** The gradient of `x` arrives at the rows of `E`. A row gets the sum over all places where its word
# stands: three for `sees`, and none for `the`, whose gradient is 0. `P` is a constant and gets nothing.
#
# **The gradient that is always 0** is that of the *key bias*: a vector that is added to each key. All scores of a
# query then change by the same amount, the inner product of query and bias, and softmax does not see an amount that
# is added to a whole row (lesson 6). So this bias has no effect, and what has no effect has a zero slope. In the
# picture its two bars end far to the left of all others: what is left there is rounding.
#
# ## Two ways, measured
#
# Take line 2 of the first layer by itself, and let some `g` arrive. `pull` is the backward walk, as in lesson 4.

# %%
layer = model.layers[0]
tokens = model.positions(model.embedding(ids)).data
g = np.random.default_rng(2).normal(size=tokens.shape).astype(np.float32)


def attend(x):
    return layer.attention(layer.attention_norm(x))


_, pull = mg.vjp(attend, tokens)
_, pull_both = mg.vjp(lambda x: x + attend(x), tokens)
through, both = pull(g)[0], pull_both(g)[0]
print("through the part:", f"{np.linalg.norm(through.data):.2f}", " past it:", f"{np.linalg.norm(g):.2f}", end="")
print("  both:", f"{np.linalg.norm(both.data):.2f}", " both is the sum:", np.allclose(both, g + through, atol=1e-5))

# %% [markdown] name="ways"
# The printed numbers are lengths, and lengths of arrows with different directions do not add up; the arrows do. The
# part alone could make the gradient small, or turn it. With the way past, the first layer gets what the last layer
# got, *plus* something. That is why networks of a hundred layers can be trained.
#
# ## Implement: task 11.1
#
# Task **11.1**: a layer and a classifier in NumPy, without norms and with one head, and all gradients by hand. It is
# the longest backward pass of the course, but you have done each of its steps before. Write down the shapes first.
#
# ## Where a word stands
#
# Attention does not know places (lesson 10). If we shuffle the tokens, the answers are shuffled in the same way, and
# their mean stays the same. So "cat sees dog" and "dog sees cat" would be one and the same. `P`, the code of the
# places, changes this. Let us train with `P` and without it.


# %%
def train(model, steps=60):
    optimizer, losses = nn.Adam(model.parameters(), lr=0.005), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(sentences[:100]), labels[:100])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def right(model):
    with mg.no_grad():  # without notes: only the answers are wanted
        return (model(sentences[100:]).data.argmax(axis=1) == labels[100:]).mean()


blind = new_model()
blind.positions = lambda x, key_mask: x  # no place is added
losses, blind_losses = train(model), train(blind)
print(f"of the sentences that it never saw: {right(model):.0%} right with P, {right(blind):.0%} without")
for one in (model, blind):
    print("cat first, dog first:", one(np.array([[0, 2, 1], [1, 2, 0]])).data.astype(float).round(2).tolist())

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(losses, color="tab:blue", label="with positions")
axes.plot(blind_losses, color="tab:red", label="without positions")
axes.axhline(np.log(2), color="gray", linestyle="--", label="a guess: log 2 = 0.693")
axes.set(xlabel="step", ylabel="loss", title="Who comes first?")
axes.legend()
figure.savefig(OUT / "11_positions.png", dpi=120)

# %% [markdown] name="own"
# The last two lines are the logits of "cat sees dog" and "dog sees cat". With `P`, class 0 is larger in one of them
# and class 1 in the other. Without `P` both get the same logits, and the loss stays near that of a guess, 0.693.
#
# ## Your own block learns the same
#
# Now the layer and the classifier of task 11.1 learn these sentences. The next cell takes `11_1_transformer_block.py`
# from the folder in which you run it. If your answer is missing or not right yet, it takes the course's solution.
# `classifier` returns the loss and the gradients of one sentence. The cell adds what is missing: the rows of `E`, the
# mean over the 100 sentences, and Adam. There are 304 numbers to learn, instead of 1266.

# %%
file = right_answer(find("11.1"), Path())
classifier = runpy.run_path(str(file))["classifier"]
rng, P = np.random.default_rng(2), nn.sinusoids(5, 8)
shapes = {"E": (4, 8), "W1": (8, 16), "W2": (16, 8), "C": (8, 2)}
sizes = {"E": 1.0, "W1": 8**-0.5, "W2": 16**-0.5, "C": 8**-0.5}
own = {name: nn.Parameter(rng.normal(0, sizes[name], shape)) for name, shape in shapes.items()}
print(sum(parameter.size for parameter in own.values()), "numbers to learn")


def classified(ids, label):
    x = own["E"].data[ids] + P[: len(ids)]
    return classifier(x, own["W1"].data, own["W2"].data, own["C"].data, label)


optimizer, own_losses = nn.Adam(own.values(), lr=0.03), []
for _ in range(60):
    gradients, own_loss = [np.zeros(shape) for shape in shapes.values()], 0.0
    for sentence, label in zip(sentences[:100], labels[:100], strict=True):
        one_loss, to_x, *to_weights = classified(sentence, label)
        np.add.at(gradients[0], sentence, to_x / 100)  # a word that stands there twice gets both
        for gradient, to_weight in zip(gradients[1:], to_weights, strict=True):
            gradient += to_weight / 100
        own_loss += one_loss / 100
    for parameter, gradient in zip(own.values(), gradients, strict=True):
        parameter.grad = mg.Tensor(gradient)
    optimizer.step()
    own_losses.append(own_loss)

guesses = [int(classified(sentence, 0)[0] > classified(sentence, 1)[0]) for sentence in sentences[100:]]
whose = "the course's block" if file == find("11.1").solution else "your block"
print(f"{whose}: loss {own_losses[-1]:.2f}, {np.mean(guesses == labels[100:]):.0%} of the other sentences right")
print(f"the model:  loss {losses[-1]:.2f}, {right(model):.0%}")

x = own["E"].data[ids[0]] + P
figure, (left, middle) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(losses, color="tab:blue", label="models.TransformerClassifier")
left.plot(own_losses, color="tab:orange", label="the block of task 11.1")
left.axhline(np.log(2), color="gray", linestyle="--", label="a guess")
left.set(xlabel="step", ylabel="loss", title="The same sentences")
left.legend()
middle.imshow(mg.softmax(x @ x.T / np.sqrt(8)), cmap="Blues", vmin=0, vmax=1)
middle.set_xticks(range(5), [WORDS[i] for i in ids[0]])
middle.set_yticks(range(5), [WORDS[i] for i in ids[0]])
middle.set_title("Who (row) looks at whom (column)", fontsize=10)
figure.savefig(OUT / "11_own_block.png", dpi=120)

# %% [markdown] name="dropout"
# Both losses go far below that of a guess, and both networks are right about sentences that they never saw. Yours needs
# no norm for that, and no matrices for queries, keys and values. In the picture on the right are its attention weights
# after the training. `cat` and `dog` look at themselves: a row scores highest with itself, as it is query and key. So
# what tells the place of a word is `relu(h @ W1) @ W2` here. Where a word must look at *another* one, the block needs
# matrices of its own for queries and keys (lesson 10).
#
# ## Training and using are two modes
#
# A small network can learn its sentences by heart. One remedy is **dropout**: in training, each number is set to 0
# with probability `rate`, at random, and those that are left are divided by `1 - rate`, so that the mean stays. The
# network cannot rely on any single number. When it is *used*, nothing is dropped. So a model has two modes:
# `model.train()`, in which it begins, and `model.eval()`.

# %%
careless = new_model(dropout=0.3)
for mode in (careless.train, careless.eval):
    mode()  # careless.train(), then careless.eval()
    answers = [mg.softmax(careless(ids)).data[0, 0] for _ in range(3)]
    print(f"{mode.__name__}: the same three times:", answers[0] == answers[1] == answers[2])

# %% [markdown] name="break"
# ## Break
#
# A learner has written dropout by hand, forward and backward. With rate 0 it is right. With rate 0.5 it is wrong, and
# there is no error. Find the fault **before** you read on. Compare what was dropped with where a gradient arrives.


# %%
class BrokenDropout:
    def __init__(self, rate, rng):
        self.rate, self.rng = rate, rng

    def factors(self, shape):
        return (self.rng.random(shape) >= self.rate) / (1 - self.rate)

    def forward(self, x):
        return x * self.factors(x.shape)

    def backward(self, g):
        return g * self.factors(g.shape)


for rate in (0.0, 0.5):
    broken = BrokenDropout(rate, np.random.default_rng(0))
    print(f"rate {rate}: forward", broken.forward(np.ones(8)), " backward", broken.backward(np.ones(8)))

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"Does the way past double the gradient?"** Only if the part gave back the same. It gives something else: small,
# or of the other sign. What counts is that the sum does not vanish when the part's share does.
#
# **"If I add `P` to the word's row, is the word not spoiled?"** It is mixed, but not lost. With enough numbers in a
# row, the matrices of queries, keys and values can learn to read the word in some directions and the place in others.
#
# **"Is `eval()` the same as `no_grad()`?"** No. `eval()` changes what the layers *compute*. `no_grad()` changes only
# whether the tape takes notes; it saves memory and changes no number. In use, you want both.
#
# **"A gradient is exactly 0. Is that a fault?"** Ask what the parameter has an effect on. Here a word that does not
# occur has none, nor has the key bias. But if a whole layer gets 0 or `None`, then a way is cut.
#
# ## Once more: the smallest two-layer Transformer
#
# The last page is `models.TwoLayerTransformer`: two layers with bare attention, as on the first page but divided by a
# root, each followed by a matrix and a bias. It has *no* way past. It comes from an article in which all of its
# gradients are derived by hand; `docs/articles.md` tells which rules there are only nearly right. With one sentence
# of two tokens the program is
#
#     seen = attention(x)
#     h = softmax(seen @ W1 + b1)
#     seen_again = attention(h)
#     scores = seen_again @ W2 + b2
#     z = sum of the two rows of scores
#     loss = cross_entropy(z, 0)
#
# For our numbers `z` is [1, 1]. On paper: the probabilities, the gradient of `z`, and the gradient of `b2`, which is
# added to *both* rows. Then open `out/lessons/11_close.html`.

# %%
two = TwoLayerTransformer(TwoLayerConfig(2, 2, 2), rng=np.random.default_rng(0), dtype=np.float64)
two.affine_1.weight.data[...] = two.affine_2.weight.data[...] = np.eye(2)
x = mg.Tensor([[[1.0, 0.0], [0.0, 1.0]]], requires_grad=True, name="x")
with mg.trace():
    seen = two.attention_1(x)
    h = mg.softmax(two.affine_1(seen))
    seen_again = two.attention_2(h)
    scores = two.affine_2(seen_again)
    z = scores.sum(axis=1)
    loss = nn.cross_entropy(z, np.array([0]))
loss.backward()
print("z:", z.data.round(4).tolist(), " loss:", round(loss.item(), 4), " gradient of b2:", two.affine_2.bias.grad.data)
print("seen_again:", seen_again.data.round(4).tolist())
mg.explain(loss, OUT / "11_close.html", two, language=LANGUAGE, lesson="course/11_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A Transformer keeps a row of numbers for each token; each part *adds* to it.
# - Every `x +` has two ways back: past the part, unchanged, and through it. Add them.
# - The gradient of a word's row is the sum over all places where the word stands. What has no effect has gradient 0.
# - Attention does not know places. Positions are added to the tokens; they are constants here.
# - `train()` and `eval()` change what is computed, `no_grad()` only what is noted.
#
# ## Explain
#
# Write one paragraph: *How does the gradient get from the loss to the row of the word `cat`?* Then compare.
#
# ---
#
# **Model answer.** The logits get the probabilities, with 1 subtracted at the right class. Through the last matrix
# that reaches the mean, and the mean hands every token an equal share. Each layer, from the last to the first, has
# two residual connections. At each of them the gradient goes two ways: past the part, unchanged, and through it,
# where it also leaves the gradients of the weights. Attention hands it on to the tokens that were looked at, so the
# row of `cat` gets something from places where `cat` does not stand. At the bottom the code of the place gets
# nothing, being a constant, and what arrives at all places where `cat` stands is added up.
#
# **The planted fault.** `factors` throws the dice anew each time it is called, so `backward` keeps and drops other
# numbers than `forward` did: a number that was 0 in the run gets a gradient, and one that counted gets none. Keep the
# factors of the run: `self.kept = ...` in `forward`, used in `backward`. With rate 0 all factors are 1, and a test
# sees nothing.
