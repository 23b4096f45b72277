# %% [markdown] name="title"
# # Lesson 10: attention, from the inner product to many heads
#
# What a word means depends on the words around it. **Attention** lets each word look at the others and take over what
# it needs. It is made of three things that you know: an inner product, softmax, and a weighted sum. In this lesson you
# put them together, hide what must not be seen, and see what a trained attention looks at.
#
# You need: lessons 1 to 6. Time: 20 minutes.

# %%
from pathlib import Path

import numpy as np

import minigrad as mg
import nn
from nn import functional as F

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
# A Python dictionary compares what you ask for with its keys, and gives the value of the one key that is *equal*.
# Attention is a soft dictionary: it gives a bit of every value, the more of it the better the key fits. What you ask
# with is called the **query**, and how well it fits a key is their **inner product**: multiply number by number, and
# add up. It is large if the two point in the same direction, 0 if they stand at right angles, and negative if they
# point against each other.
#
#     s = q @ K.T
#     p = softmax(s)
#     out = p @ V
#     loss = sum(out)
#
# `s` holds a score for each row of `K`, a key. Softmax makes weights of the scores: positive, and together 1. And
# `out` is the sum of the rows of `V`, the values, with these weights. Here the query is [1, 0]. The keys are [2, 0],
# [0, 2] and [1, 1], and their values 1, 2 and 6. Which key fits best? And if it fitted even better, what would the
# answer do? Guess, then open `out/lessons/10_open.html`.

# %%
q = mg.Tensor([[1.0, 0.0]], requires_grad=True, name="q")
K = mg.Tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], requires_grad=True, name="K")
V = mg.Tensor([[1.0], [2.0], [6.0]], requires_grad=True, name="V")
with mg.trace():
    s = q @ K.T
    p = mg.softmax(s)
    out = p @ V
    loss = np.sum(out)
print("scores", s.data.ravel(), " weights", p.data.ravel().round(3), f" answer {out.item():.3f}")
mg.explain(loss, OUT / "10_open.html", {"q": q, "K": K, "V": V}, language=LANGUAGE, lesson="course/10_open")

# %% [markdown] name="many"
# ## All words ask at once
#
# In a sentence every word asks, so there are as many queries as words. Put them into the rows of a matrix `Q`. Then
# `Q @ K.T` holds all scores: **row i is what word i asks, column j is who is asked**. Each row is one question of its
# own, so softmax goes along the rows (the last axis, `axis=-1`), and each row of weights sums to 1. The sum of a
# column says how much all words together look at one word. It can be any number.
#
# The rows of `Q`, `K` and `V` are made from the same words, with three matrices that are learned: `Q = x @ W_q` and
# so on. A word can ask for one thing, be found by another, and hand over a third. `F.attention_weights` is the
# softmax of the scores, which it divides by a number first; the next section says why.

# %%
rng = np.random.default_rng(3)
x = rng.normal(size=(4, 6))
W_q, W_k, W_v = (rng.normal(size=(6, 6)) for _ in range(3))
Q, K, V = x @ W_q, x @ W_k, x @ W_v
weights = F.attention_weights(Q, K)
print(weights.round(2))
print("rows:", weights.sum(axis=1).round(2), " columns:", weights.sum(axis=0).round(2))

# %% [markdown] name="scale"
# ## Why divide by the square root of d?
#
# An inner product of `d` numbers is a sum of `d` products. If the numbers are random and of size 1, the positive and
# the negative products partly cancel, and the sum is of size √d: for d = 1024 about 32. Softmax of such scores is
# nearly "all or nothing". Then it hardly reacts to a nudge: its slopes are products of weights, such as p (1 - p) on
# the diagonal (lesson 6), and almost 0 when one weight is almost 1. So nearly nothing arrives at the queries and keys,
# and they do not learn. Dividing the scores by √d keeps them at size 1, for every d.

# %%
widths, biggest, slopes = [2, 8, 32, 128, 512, 1024], {}, {}
for name in ("not scaled", "divided by √d"):
    biggest[name], slopes[name] = [], []
    for d in widths:
        query, keys = rng.normal(size=(1000, 1, d)), rng.normal(size=(1000, 10, d))
        p = F.attention_weights(query, keys, scale=1.0 if name == "not scaled" else None)[:, 0]
        biggest[name].append(p.max(axis=1).mean())
        slopes[name].append((p * (1 - p)).sum(axis=1).mean())
    print(f"{name}, d = 1024: largest of ten weights {biggest[name][-1]:.2f}, slopes {slopes[name][-1]:.2f}")

figure, both = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axes, numbers, title in ((both[0], biggest, "The largest of ten weights"), (both[1], slopes, "Sum of p (1 - p)")):
    for name, values in numbers.items():
        axes.semilogx(widths, values, "o-", base=2, label=name)
    axes.set(xlabel="d, the width of queries and keys", title=title, ylim=(0, 1))
both[0].legend(loc="lower right")
figure.savefig(OUT / "10_scale.png", dpi=120)

# %% [markdown] name="masks"
# Without the scale the largest of ten weights is 0.97 on the average, with it 0.32, whatever the width.
#
# ## Masks
#
# Not every word may look at every other. In a text that is being written, a word must not see the words after it
# (**causal**: from the past only). And sentences of different lengths are filled up to one length with **padding**, at
# which no word should look. A **mask** says which word may look at which.
#
# It acts on the scores, *before* the softmax: what is hidden gets the score minus infinity. exp of it is 0, and the
# others share the whole weight. Setting *weights* to 0 after the softmax is wrong in two ways: rows do not sum to 1,
# and the hidden word still has its part in the sum that all were divided by. To see it, change the last word, which
# words 0 to 2 must not see, and look at the weights of word 2:

# %%
past = nn.causal_mask(4)
print("1 is True, may look:", past.astype(int).tolist())
changed = K * [[1], [1], [1], [-1]]
for keys in (K, changed):
    before, after = F.attention_weights(Q, keys, past)[2], (F.attention_weights(Q, keys) * past)[2]
    print("masked before the softmax:", before.round(2), " after it:", after.round(2), "sum", after.sum().round(2))

# %% [markdown] name="rows"
# Masked before the softmax, nothing changes. Masked after it, what word 2 takes of itself falls from 0.77 to 0.01, as
# the hidden word now takes nearly all.
#
# ## Implement: tasks 10.1 and 10.2
#
# Task **10.1**: attention with a causal mask. Task **10.2**: its backward pass. There is no new rule in it, just two
# matrix products and a softmax, as in lesson 6. `minigrad learn check 10.1`.
#
# ## Where a word stands
#
# Attention itself does not know places. A word looks at all others by what they *are*; if we shuffle the words, the
# answers are shuffled in the same way. To "bites", both sentences "dog bites man" and "man bites dog" are the same. A
# code of the place changes this: each place `t` has its own row of d numbers, which is added to the word's row.
#
#     P[t, 2 i] = sin(t / 10000 ** (2 i / d))        P[t, 2 i + 1] = cos(t / 10000 ** (2 i / d))
#
# Think of the hands of several clocks. A pair of sine and cosine says where one hand points. The first hand turns
# fast and tells neighbours apart; the last one turns very slowly and tells the beginning of a long text from its end.

# %%
order = [2, 0, 3, 1]
answers = F.scaled_dot_product_attention(Q, K, V)
shuffled = F.scaled_dot_product_attention(Q[order], K[order], V[order])
print("shuffled words get the same answers, shuffled:", np.allclose(shuffled, answers[order]))

codes = nn.sinusoids(40, 16)  # Vaswani et al. 2017, section 3.5
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[3, 2])
for column in (0, 4, 8):
    left.plot(codes[:, column], ".-", label=f"P[:, {column}]")
left.set(xlabel="place t", ylabel="number in its row", title="Three columns of P: fast, slower, slow", ylim=(-1.1, 1.5))
left.legend(loc="upper center", ncols=3)
figure.colorbar(right.imshow(codes @ codes.T, cmap="Blues"), ax=right)
right.set(xlabel="place", ylabel="place", title="Inner products of all rows of P")
figure.savefig(OUT / "10_places.png", dpi=120)
for place in (0, 20):
    print(f"place {place} and the next ones, inner products:", (codes[place : place + 4] @ codes[place]).round(2))

# %% [markdown] name="trained"
# In the picture on the right, each diagonal has one colour: the inner product of two rows depends only on how far the
# places are apart, wherever they are. It is largest for a place with itself. So attention, which is made of inner
# products, can look for "the word before me".
#
# ## Implement: task 10.4
#
# Task **10.4**: write `P`, for every number of places and every width.
#
# ## Trained attention
#
# There are many kinds of attention. They differ in three choices: **how a score is made**, **who may look where**, and
# **what queries, keys and values are made of**. The rest, softmax and weighted sum, is the same for nearly all. Three
# of them are here, and the appendix at the end of this lesson has thirteen.
#
# They look at "the cat saw the dog". Each is trained by itself on 60 such sentences. At each place it must name a word:
# at "the" the noun after it, at a noun the verb, and at the verb the word that does it. It knows only what attention
# hands over, so a word must look at the word that it names. The words' rows are learned, and a row of `P` is added to
# each.

# %%
words = ["the", "cat", "dog", "bird", "fox", "hen", "saw", "heard", "fed"]
sentences = np.array([[0, a, verb, 0, b] for a in range(1, 6) for verb in (6, 7, 8) for b in range(1, 6) if a != b])
wanted = sentences[:, [1, 2, 1, 4, 2]]  # for each place the word to name
rng = np.random.default_rng(5)
new = {"rng": rng, "dtype": np.float64}
places = nn.sinusoids(5, 8)


def train(layer, settings):
    """Return the rows of the sentences after the training, and the loss."""
    table = nn.Parameter(rng.normal(0, 0.3, (9, 8)))
    width = layer(table[sentences] + places, **settings).shape[-1]
    last = nn.Parameter(rng.normal(0, 0.3, (width, 9)))
    one_query, padded = isinstance(layer, nn.ContextAttention), "key_mask" in settings
    labels = sentences[:, 1] if one_query else np.where(np.arange(5) < 3, wanted, -1) if padded else wanted
    optimizer = nn.Adam([table, last, *(layer.parameters() if isinstance(layer, nn.Module) else [])], lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.cross_entropy(layer(table[sentences] + places, **settings) @ last, labels, ignore_index=-1)
        loss.backward()
        optimizer.step()
    return table.data[sentences] + places, loss.item()


def train_all(variants):
    """Return the rows of the first sentence in the last training, and of each training the weights and the loss."""
    maps, losses = {}, {}
    for name, (layer, settings) in variants.items():
        rows, losses[name] = train(layer, settings)
        maps[name] = layer.attention_weights(rows, **settings).data[:1]
    print("losses:", {name: round(loss, 2) for name, loss in losses.items()})
    return rows[:1], maps, losses


def draw(maps, count, file):
    """Draw the maps in ``count`` rows of four."""
    seen = [words[i] for i in sentences[0]]
    figure, several = plt.subplots(count, 4, figsize=(9, 0.5 + 2.3 * count), layout="constrained")
    for axes, (name, weights) in zip(several.flat, maps.items()):
        panel = weights.reshape(-1, 5)
        axes.imshow(panel, cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(5), seen, rotation=90, fontsize=8)
        axes.set_yticks(range(len(panel)), seen if len(panel) == 5 else ["query"], fontsize=8)
        axes.set_title(name, fontsize=9)
    figure.suptitle("Who (row) looks at whom (column): dark is much")
    figure.savefig(OUT / file, dpi=120)


scaled, learned = nn.DotProductAttention(scale=True), nn.MultiplicativeAttention(8, 8, **new)
heads = nn.MultiHeadAttention(8, 2, **new)
x, maps, losses = train_all({"divided by √d": (scaled, {}), "multiplicative": (learned, {}), "heads": (heads, {})})
maps |= {f"head {i} of 2": head for i, head in enumerate(maps.pop("heads").swapaxes(0, 1))}
draw(maps, 1, "10_maps.png")

# %% [markdown] name="heads"
# Look at the maps. In the first, only the words' rows are learned, and a row is query and key at once. Then the score
# of two words is the same both ways, and that of a word with itself is large. So most words look at themselves, and
# the loss stays larger. In the second, "multiplicative", the score is `(q W) · k`, and `W` is learned. There each word
# looks at the word that it must name. The last two maps are of one attention with two heads, the next section.
#
# ## Many heads
#
# One softmax makes one mean. But a word may have several questions: which word does it belong to? who did it? So the
# columns of `Q`, `K` and `V` are cut into pieces, the **heads**, and each head attends with its own columns. Then the
# answers are laid side by side, and a last matrix mixes them. With NumPy, and against `nn.MultiHeadAttention`:

# %%
Q, K, V = heads.query(x).data[0], heads.key(x).data[0], heads.value(x).data[0]  # (5, 8) each
first = F.scaled_dot_product_attention(Q[:, :4], K[:, :4], V[:, :4])
second = F.scaled_dot_product_attention(Q[:, 4:], K[:, 4:], V[:, 4:])
by_hand = heads.output(np.concatenate([first, second], axis=1))
print("the same:", np.allclose(by_hand.data, heads(x).data[0]))
print("Q[:, :4] shares the memory of Q:", np.shares_memory(Q, Q[:, :4]))
for count in (1, 2, 8):
    layer = nn.MultiHeadAttention(8, count, **new)
    print(f"{count} heads: {sum(parameter.size for parameter in layer.parameters())} numbers to learn")

# %% [markdown] name="break"
# A head is a **slice**: columns of the same arrays, nothing is copied. So 8 heads learn as many numbers as one, 288
# here, and multiply as often. Only the number of softmaxes is new: 8, each over narrower vectors (d is the width of a
# *head*).
#
# ## Implement: task 10.3
#
# Task **10.3**: cut into heads and put together again, for a whole batch at once, without a loop.
#
# ## Break
#
# Two of five places are padding. A friend has written the mask, and checks it: "the rows of the padding are 0, so no
# word looks at it". Then other numbers are put into the padding, and the answers of the *words* change. Find the fault
# **before** you read on. Which index of a mask belongs to the word that looks?

# %%
is_word = np.array([True, True, True, False, False])


def broken_mask(is_word):
    return np.tile(is_word[:, None], (1, len(is_word)))


print(scaled.attention_weights(x, mask=broken_mask(is_word)).data[0].round(2))
for one in (x, np.where(is_word[:, None], x, 1.0)):  # in the second, the padding holds other numbers
    print("the first word's answer:", scaled(one, mask=broken_mask(is_word)).data[0, 0, :3].round(2), "...")

# %% [markdown] name="confusions"
# ## What people stumble over
#
# **"Does True mean look, or hidden?"** In minigrad, True always means *may look*. Elsewhere it may be the opposite,
# even for two masks of one library. A mask with the opposite meaning raises no error. Hide a word, and see in a map if
# its column is white.
#
# **"Which axis has the softmax?"** The axis of the keys, the last one. Along the other axis each *column* sums to 1,
# and the words would compete for being looked at by others, which is another thing. With as many queries as keys no
# shape tells you. Print the sums.
#
# **"Everything is NaN (not a number)."** Perhaps a row is masked wholly: all its scores are minus infinity, and
# softmax divides 0 by 0. One NaN is enough, as the next layers mix it with everything. Some write -1e9 instead of
# infinity. Then there is no NaN, but such a row takes the *mean of what is hidden*, silently. In minigrad a query
# that may look nowhere gets zeros:

# %%
scores, nowhere = np.array([[1.0, 2.0]]), np.array([[False, False]])
with np.errstate(invalid="ignore"):
    infinite, finite = (mg.softmax(np.where(nowhere, scores, hidden)) for hidden in (-np.inf, -1e9))
print("-inf:", infinite, " -1e9:", finite)
print("minigrad:", F.attention_weights(np.array([[1.0]]), np.array([[1.0], [2.0]]), nowhere))

# %% [markdown] name="close"
# ## Once more: two words, causal, backward
#
#     s = q @ k.T
#     m = where(allowed, s, -inf)
#     p = softmax(m)
#     out = p @ v
#     loss = sum(out)
#
# Queries, keys and values are one number wide: `q` is [1, 2], `k` is [0, 1], `v` is [1, 3], upright. Word 0 may see
# itself only, word 1 may see both. The second row of `s` is [0, 2], and its weights are 0.1192 and 0.8808. On paper:
# which gradient arrives at `m`, and which at `q`? (Each score's slope is its weight times (its value - the answer).)
# Then `out/lessons/10_close.html`.

# %%
q = mg.Tensor([[1.0], [2.0]], requires_grad=True, name="q")
k = mg.Tensor([[0.0], [1.0]], requires_grad=True, name="k")
v = mg.Tensor([[1.0], [3.0]], requires_grad=True, name="v")
allowed = nn.causal_mask(2)
with mg.trace():
    s = q @ k.T
    m = np.where(allowed, s, -np.inf)
    p = mg.softmax(m)
    out = p @ v
    loss = np.sum(out)
loss.backward()
print("weights:", p.data[1].round(4), " answers:", out.data.ravel().round(4))
q_slopes, k_slopes, v_slopes = (tensor.grad.data.ravel() for tensor in (q, k, v))
print("gradients: q", q_slopes.round(2), " k", k_slopes.round(2), " v", v_slopes.round(4))
mg.explain(loss, OUT / "10_close.html", {"q": q, "k": k, "v": v}, language=LANGUAGE, lesson="course/10_close")

# %% [markdown] name="remember"
# ## What to remember
#
# - Attention: a score for each query and key, softmax over the keys, the weighted sum of the values.
# - Row i of the scores asks, column j is asked. Rows of weights sum to 1.
# - Divide by √d, or softmax becomes all or nothing, and hardly anything is learned.
# - Masks act before the softmax. True means "may look" in minigrad; check what it means elsewhere.
# - Attention does not know places. A code of the place, sines and cosines, is added to each word's row.
# - The kinds differ in the score, in who may look where, and in what queries, keys and values are made of.
# - Heads are slices of the columns: several softmaxes for the price of one.
#
# ## Explain
#
# Write one paragraph: *How does a word get its answer, and why must a mask act before the softmax?* Then compare.
#
# ---
#
# **Model answer.** The word's query is compared with the key of each word by an inner product, divided by √d so that
# its size does not depend on the width. Softmax makes positive weights of these scores, which sum to 1, and the answer
# is the sum of all values with these weights. Softmax divides by a sum over all keys, and a hidden word in that sum
# would change all weights, even if its own were then set to 0. With the score minus infinity it adds exp(-∞) = 0, as
# if it were not there, forward and backward.
#
# **The planted fault.** `is_word[:, None]` hides rows: the padding asks nothing. But its columns are open, and the
# words look at it. It must be `is_word[None, :]`, repeated for each row: columns belong to the words that are looked
# at. (`key_mask` does that.) The padding's own rows do not matter, because no word looks at them.
#
# ## Appendix: thirteen kinds of attention
#
# This table is for looking things up; you need not learn it. It is ordered by what each kind chooses.
#
# | in `nn` | the score, or the choice | what for |
# |---|---|---|
# | `DotProductAttention` | `q · k`, with `scale=True` divided by √d | the simplest; nothing to learn |
# | `CosineScore` | the cosine of the angle | the lengths of vectors do not count |
# | `MultiplicativeAttention` (`GeneralScore`) | `(q W) · k` | learns what goes with what; two widths |
# | `AdditiveAttention` | `v · tanh(q W + k U + b)` | a small network as a score; the oldest |
# | `Attention`, `SelfAttention` | `x W + b` of the inputs | one query, or a sentence that looks at itself |
# | `KeyValueAttention` | one vector is cut: a part is key, the rest is value | what finds a word need not be what it says |
# | `ContextAttention` | one learned query for all sentences | makes one vector of a sentence |
# | `LocalAttention` | only places at most `radius` away | long texts |
# | `PredictiveLocalAttention` | predicts the place to look at | a window that moves |
# | `GlobalAttention` | any score, all keys | the base of all these |
# | `SimplifiedAttention` | words are queries, keys and values at once | all the steps, and nothing to learn |
# | `MessagePassing` | the weights are given: a graph | when you know who is linked to whom |
# | `MultiHeadAttention` | several at once, see above | Transformers |
#
# Twelve variants, trained on the same sentences. "context" has one query, and names the word that does it.

# %%
near, padding = nn.window_mask(5, 1), nn.padding_mask([3] * 60, 5)
_, family, family_losses = train_all(
    {
        "dot product": (nn.DotProductAttention(), {}),
        "cosine": (nn.GlobalAttention(nn.CosineScore()), {}),
        "simplified": (nn.SimplifiedAttention(), {}),
        "a given graph": (nn.MessagePassing(), {"adjacency": near / near.sum(axis=1, keepdims=True)}),
        "additive": (nn.AdditiveAttention(8, 8, **new), {}),
        "self": (nn.SelfAttention(8, **new), {}),
        "key-value": (nn.KeyValueAttention(4, 4, **new), {}),
        "context": (nn.ContextAttention(8, **new), {}),
        "causal mask": (nn.MultiplicativeAttention(8, 8, **new), {"causal": True}),
        "3 words, 2 padding": (nn.MultiplicativeAttention(8, 8, **new), {"key_mask": padding}),
        "local": (nn.LocalAttention(1, nn.GeneralScore(8, 8, **new)), {}),
        "local, predicted": (nn.PredictiveLocalAttention(8, 1, score=nn.GeneralScore(8, 8, **new), **new), {}),
    }
)
draw(family, 3, "10_family.png")
print("local, predicted: the rows sum to", family["local, predicted"][0].sum(axis=1).round(2))

# %% [markdown] name="family"
# - In the first row nothing is learned but the words' rows. The loss is largest for the dot product alone, and smaller
#   if that is divided by √d, as above.
# - In the second row the score is learned, too.
# - In the third row not every place may be seen. A mask leaves white columns or corners. The causal one hides every
#   word that comes later, and with it most of the answers. In "local", "dog" may look only at its neighbours, and its
#   verb is two places away. Only the predicted window has rows that do not sum to 1: its weights are multiplied by a
#   bell around the predicted place, so that the place gets a gradient.
