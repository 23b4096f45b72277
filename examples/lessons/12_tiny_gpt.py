# %% [markdown] name="title"
# # Lesson 12: a tiny GPT that writes, its cache, its dice, and where the memory goes
#
# A GPT is the Transformer of lesson 11 with two changes: no token may look ahead, and the answer is the next token. You
# train one in a few seconds, let it write, make it write with less work, and see what the memory is for.
#
# You need: lessons 1 to 11. Time: 20 minutes.

# %%
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np

import minigrad as mg
import nn
from models import GPT, GPTConfig

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
# Three tokens, two numbers each, and attention as on the first page of lesson 11, but with a **causal mask**:
#
#     scores = x @ x.T
#     masked = where(allowed, scores, -inf)
#     weights = softmax(masked)
#     mixed = weights @ x
#
# `allowed` lets each token look at itself and at those before it. Elsewhere the score is minus infinity, and so the
# weight is 0 (lesson 10).
#
# At the end, `g` picks one number of `mixed`, in the row of the *second* token. Which of the three tokens get a
# gradient? Open `out/lessons/12_open.html`.

# %%
allowed = np.tril(np.ones((3, 3))) == 1
g = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
x = mg.Tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], requires_grad=True, name="x")
with mg.trace():
    scores = x @ x.T
    masked = np.where(allowed, scores, -np.inf)
    weights = mg.softmax(masked)
    mixed = weights @ x
    s = g * mixed
    loss = np.sum(s)
loss.backward()
print("weights:", weights.data.round(4).tolist())
print("gradient of x:", x.grad.data.round(4).tolist())
mg.explain(loss, OUT / "12_open.html", {"x": x}, language=LANGUAGE, lesson="course/12_open")

# %% [markdown] name="shift"
# ## The text, and the shift by one
#
# Our tokens are single characters. The model reads a piece of the text and has to say, at *each* place, which
# character comes next. So the labels are the same piece, shifted by one.

# %%
TEXT = """the cat sat on the mat. the dog sat on the log.
the cat saw the dog. the dog saw the cat.
the cat ran to the mat, and the dog ran to the log.
the dog sat, and the cat sat. the mat is red, the log is old.
"""
LENGTH = 32
CHARACTERS = sorted(set(TEXT))
ids = np.array([CHARACTERS.index(character) for character in TEXT])
print(len(TEXT), "characters,", len(CHARACTERS), "different ones")
for place in range(4):
    print(f"it sees {TEXT[: place + 1]!r:8} and should say {TEXT[place + 1]!r}")


def batch(rng):
    starts = rng.integers(0, len(ids) - LENGTH, size=8)
    pieces = np.array([ids[start : start + LENGTH + 1] for start in starts])
    return pieces[:, :-1], pieces[:, 1:]


def new_model(num_layers=2):
    config = GPTConfig(len(CHARACTERS), LENGTH, 16, num_heads=2, num_layers=num_layers, activation="relu", std=0.1)
    # In float32, rounding differs between computers, and after 250 steps so would the text that it writes.
    return GPT(config, rng=np.random.default_rng(0), dtype=np.float64)


# %% [markdown] name="teacher"
# One piece of 32 characters asks 32 questions at once. That works only because of the mask: the answer at place 3
# comes from a row that cannot know what stands at place 4.
#
# At each place the model sees the *true* text before it, even if its own guess was wrong. That is called **teacher
# forcing**. When it writes by itself later, it is not corrected; it goes on from its own mistakes.
#
# ## Training
#
# The loss is the cross-entropy of lesson 6, the mean of `-log(p)`, where `p` is the probability that the model gave to
# the right character. `exp(loss)` is called the **perplexity**. It is the number of sides of a fair die that would be
# as hard to guess: 19 characters, all equally probable, have perplexity 19. Perplexity 1 means that it always knows.


# %%
def encoded(text):
    return np.array([[CHARACTERS.index(character) for character in text]])


NEW = encoded("the dog ran to the mat, and the cat saw the red log.\n")  # its words are in the text, this order is not


def train(make_batch, steps=250):
    model, rng, losses, unseen = new_model(), np.random.default_rng(1), [], []
    optimizer = nn.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        inputs, labels = make_batch(rng)
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        with mg.no_grad():  # the held-out line is only looked at
            unseen.append(nn.cross_entropy(model(NEW[:, :LENGTH]), NEW[:, 1 : LENGTH + 1]).item())
    return model.eval(), losses, unseen


def write(model, prompt, count, **settings):
    tokens = model.generate(encoded(prompt), count, rng=np.random.default_rng(0), **settings)
    return prompt + "".join(CHARACTERS[token.item()] for token in tokens)


model, losses, unseen = train(batch)
print(f"perplexity: {np.exp(losses[0]):.0f} at first, {np.exp(np.mean(losses[-10:])):.2f} at the end")
print(f"a line that is not in the text: {np.exp(unseen[0]):.0f} at first, {np.exp(unseen[-1]):.1f} at the end")
sample = write(model, "the ", 300, temperature=1.0)
known = [sample[i : i + 12] in TEXT for i in range(len(sample) - 12)]
print(f"pieces of 12 characters that it writes: {len(known)}, in the text: {sum(known)}")
for sentence in sample.replace("\n", " ").split(". ")[:-1]:
    print("in the text:    " if sentence in TEXT.replace("\n", " ") else "not in the text:", sentence)

figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(np.exp(losses), label="pieces of the text")
axes.plot(np.exp(unseen), label="a line that is not in it")
axes.axhline(1, color="gray", linestyle="--", label="always right")
axes.set(xlabel="step", ylabel="perplexity", title="A tiny GPT learns")
axes.legend()
figure.savefig(OUT / "12_perplexity.png", dpi=120)

# %% [markdown] name="dice"
# At first the model was worse than that die. Now it is hardly ever in doubt. Does it know four lines by heart, as in
# lesson 13? Not only. A line with the same words, in an order that is not in the text, has a perplexity of 1.4. And of
# the pieces of 12 characters that it writes, about two thirds are in the text: the others it has put together, as it
# has learned which word may follow which. Some of its new sentences are right, others are wrong. (Real ones are
# measured on unseen text, too.)
#
# ## Dice
#
# The model does not give a character. It gives a number for each, the logits, and softmax makes probabilities of them.
# Which character is taken is decided by dice, with these probabilities. The **temperature** changes them first:
# `softmax(logits / temperature)`. Below 1, the probable ones become more probable. Above 1, all become more alike.

# %%
with mg.no_grad():
    logits = model(encoded("the ")).data[0, -1]
best = np.argsort(-logits)[:8]
figure, axes = plt.subplots(figsize=(6, 4))
for i, temperature in enumerate((0.5, 1.0, 2.0)):
    p = nn.token_probabilities(logits, temperature=temperature)
    axes.bar(np.arange(8) + 0.27 * (i - 1), p[best], 0.25, label=f"temperature {temperature}")
    print(f"temperature {temperature}:", repr(write(model, "the ", 40, temperature=temperature)))
axes.set_xticks(range(8), [repr(CHARACTERS[i]) for i in best])
axes.set(ylabel="probability", title="What comes after 'the '?")
axes.legend()
figure.savefig(OUT / "12_temperature.png", dpi=120)
print("temperature 0:", repr(write(model, "the ", 40, temperature=0)))
print("the 3 most probable only:", nn.token_probabilities(logits, top_k=3)[best].round(2)[:5])
print("as many as make up 0.8:  ", nn.token_probabilities(logits, top_p=0.8)[best].round(2)[:5])

# %% [markdown] name="sampling"
# **Temperature 0** is where this goes if the temperature gets smaller and smaller: the largest logit takes all. There
# are no dice, so the same text comes each time, and often it goes round in circles.
#
# With a high temperature, improbable characters are taken, too. `top_k=3` throws away all but the three most probable;
# `top_p=0.8` all but the smallest group of most probable ones that together have 0.8. What is left is divided by its
# sum, so that it adds up to 1 again.
#
# ## Implement: task 12.2
#
# Task **12.2**: the probabilities and the dice, in NumPy.
#
# ## The cache
#
# To write 32 characters, the model runs 32 times, each time over the whole text so far. That is wasteful. Because of
# the mask, the row of a token depends on nothing that comes *after* it. So when a token is added, the rows of all
# others stay what they were, in every layer.
#
# What does the new token need from the old ones? Its query is compared with their **keys**, and the weights mix their
# **values**. So these are kept, in a **cache**, and each run computes one row only. Queries are not kept: a query is
# asked once, by its own token. Let us count the rows that go through the first layer:

# %%
rows = []
feed_forward = model.layers[0].feed_forward


def counted(x):
    rows.append(x.shape[1])
    return feed_forward(x)


model.layers[0].feed_forward = counted
written = {}
for cache in (False, True):
    rows.clear()
    written[cache] = write(model, "t", 32, temperature=0.5, cache=cache)
    print("with a cache:" if cache else "without:     ", sum(rows), "rows")
model.layers[0].feed_forward = feed_forward
print("the same text:", written[True] == written[False])

piece = encoded(TEXT[:32])
caches = model.new_caches()
with mg.no_grad():
    one_by_one = [model(piece[:, i : i + 1], caches).data for i in range(32)]
    difference = np.abs(np.concatenate(one_by_one, axis=1) - model(piece).data).max()
print("the same logits, but for rounding:", difference < 1e-4, " kept in a layer: keys", caches[0].keys.shape)

# %% [markdown] name="memory"
# 528 rows are 1 + 2 + ... + 32. With a cache it is 32. And nothing else has changed: the cache is no approximation.
#
# ## Implement: task 12.1
#
# Task **12.1**: one step with a cache, in NumPy.
#
# ## Where the memory goes
#
# Training needs far more memory than writing. Why? The backward pass comes to a step with a gradient, and its rule
# needs numbers from the run: `W @ x` needs `x` and `W`, softmax its result, `relu` where `x` was positive. So *every*
# layer's numbers stay until the backward pass has come by. They grow with the number of layers, of tokens, and of
# texts in a batch. `mg.profile` says which operation keeps how much.
#
# Two ways to save. Under `no_grad()` no notes are taken, so nothing is kept (and no backward pass is possible). Or
# take no notes *inside* a layer, keep only what went into it, and run it a second time when the backward pass arrives:
# that is **checkpointing**, `mg.checkpoint(layer, x)`. It costs time, and gives the same gradients.

# %%
inputs, labels = batch(np.random.default_rng(2))


def held(model):
    """Return the megabytes that are held when the run is over, as Python counts them, and the loss."""
    tracemalloc.start()
    loss = nn.cross_entropy(model(inputs), labels)
    megabytes = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return megabytes, loss


sizes = (2, 4, 8)
curves = {"training": [], "training with checkpoints": [], "no_grad": []}
for num_layers in sizes:
    deep, gradients = new_model(num_layers), []
    with mg.no_grad():
        curves["no_grad"].append(held(deep)[0])
    with mg.profile() as costs:
        nn.cross_entropy(deep(inputs), labels)
    for way in ("training", "training with checkpoints"):
        megabytes, loss = held(deep)
        curves[way].append(megabytes)
        loss.backward()
        gradients.append(deep.embedding.weight.grad.data)
        deep.zero_grad()
        deep.layers = [partial(mg.checkpoint, layer) for layer in deep.layers]  # from now on
    print(num_layers, "layers: the same gradient with checkpoints:", np.allclose(*gradients, atol=1e-6))
most = sorted(costs.by_operation(), key=lambda row: -row.new_bytes)[:3]
print("what keeps most, in 8 layers:", {row.name: f"{row.new_bytes / 1e6:.2f} MB" for row in most})

figure, axes = plt.subplots(figsize=(6, 4))
for way, megabytes in curves.items():
    axes.plot(sizes, megabytes, "o-", label=way)
axes.set(xlabel="layers", ylabel="megabytes", title="What is held when the run is over")
axes.legend()
figure.savefig(OUT / "12_memory.png", dpi=120)

# %% [markdown] name="break"
# In training each layer adds its share; with checkpoints it adds only the row of each token. Under
# `no_grad` the layers add nothing.
#
# ## Break
#
# Another learner has written `batch` once more. The training seems to go well: after a hundred steps the perplexity is
# nearly 1. But what the model writes is strange. Find the fault **before** you read on.


# %%
def broken_batch(rng):
    starts = rng.integers(0, len(ids) - LENGTH, size=8)
    pieces = np.array([ids[start : start + LENGTH + 1] for start in starts])
    return pieces[:, 1:], pieces[:, 1:]


broken, broken_losses, _ = train(broken_batch, steps=100)
print(f"after 100 steps: perplexity {np.exp(broken_losses[-1]):.2f}; with right targets it is {np.exp(losses[99]):.2f}")
print(repr(write(broken, "the cat", 20, temperature=0)))

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"Is it not cheating to train all places at once?"** It would be, without the mask: each place would simply read
# the answer at the next. With the mask, one run gives the same as 32 separate ones.
#
# **"Then why does writing need one run for each character?"** A character has to be there before the next one can look
# at it. In training the whole text is there from the beginning.
#
# **"Temperature 0 divides by zero."** It would, so it is a case of its own: take the largest logit. And temperature 1
# does not mean "no dice", but "the model's own probabilities".
#
# **"Does perplexity count errors?"** No. A model that is mostly right, but very sure when it is wrong, has a high one.
#
# **"Can I train with the cache?"** No: it holds numbers without notes, and minigrad refuses. In training all rows are
# computed at once anyway.
#
# ## Once more: one table, used twice
#
# A GPT reads with a table `E`, the embedding, and it *answers* with the same table: the logit of a character is the
# inner product of the last row with that character's row in `E`. Our last program has three tokens, reads 0 and then
# 1, and should say 1 and then 2:
#
#     x = E[read]
#     weights = softmax(where(allowed, x @ x.T, -inf))
#     h = x + weights @ x
#     logits = h @ E.T
#     loss = cross_entropy(logits, [1, 2])
#
# At the first place the probabilities are 0.787, 0.1065, 0.1065. Token 2 is never read. Does its row of `E` get a
# gradient? Decide, then open `out/lessons/12_close.html`.

# %%
E = mg.Tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], requires_grad=True, name="E")
read, allowed = np.array([0, 1]), np.array([[True, False], [True, True]])
with mg.trace():
    x = E[read]
    masked = np.where(allowed, x @ x.T, -np.inf)
    weights = mg.softmax(masked)
    h = x + weights @ x
    logits = h @ E.T
    loss = nn.cross_entropy(logits, np.array([1, 2]))
loss.backward()
print("probabilities:", mg.softmax(logits).data.round(4).tolist())
print("gradient of E:", E.grad.data.round(4).tolist())
mg.explain(loss, OUT / "12_close.html", {"E": E}, language=LANGUAGE, lesson="course/12_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - A GPT predicts the next token at every place at once: the labels are the text, shifted by one.
# - The causal mask keeps this honest. And it keeps old rows as they are, so that a cache changes no result.
# - Perplexity is `exp(loss)`: as hard as a die with so many sides.
# - The temperature divides the logits; 0 means "take the largest". `top_k` and `top_p` throw away the rest.
# - The backward pass needs the numbers of the run, and these are where the memory goes. `no_grad` keeps none,
#   checkpoints keep few and compute again.
#
# ## Explain
#
# Write one paragraph: *Why may a GPT keep the keys and values of old tokens, and why could the network of lesson 11
# not?* Then compare.
#
# ---
#
# **Model answer.** In a GPT each token looks only at itself and at what is before it. So its row, in every layer, is
# computed from the past alone, and a token that is added later cannot change it; neither can its key and value
# change, which are made from that row. Computing them again would give the same numbers. In lesson 11 every token
# looks at every other: a new token changes the rows of all others from the first layer on, and with them all later
# keys and values. There, what was kept would be out of date.
#
# **The planted fault.** Inputs and labels are the same piece: the shift by one is missing. The model learns to say
# the character that it is looking at, which is easy, and so the perplexity is nearly 1. When it writes, it repeats
# the last character for ever. A loss that is too good is a fault until the contrary is proved: let the model write,
# or look at one input beside its label.
#
# This was the last lesson: from nudging a number to a network that writes, with every gradient in between. One thing
# is left: `python examples/own_gpt.py --answers FOLDER` makes a GPT of your own answers, trains it and opens it.
