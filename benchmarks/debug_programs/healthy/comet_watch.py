# %% Which of five rare things does a night's plate show? Most plates show none, many batches hold none of some.
import numpy as np
import nn

rng = np.random.default_rng(90)
THINGS = ["comet", "nova", "satellite", "cloud", "moth"]
often = np.array([0.02, 0.03, 0.06, 0.1, 0.04])
shape = rng.normal(size=(5, 20)) * 1.2
present = (rng.random((3000, 5)) < often).astype(np.float32)
plates = (present @ shape + rng.normal(0, 0.7, (3000, 20))).astype(np.float32)
known, new = slice(0, 2400), slice(2400, None)
print("share of ones:", present[known].mean(axis=0).round(3))

# %%
boost = (1 - present[known].mean(axis=0)) / present[known].mean(axis=0)
model = nn.Sequential(nn.Affine(20, 32, rng=rng), np.tanh, nn.Affine(32, 5, rng=rng))


def loss(model, batch):
    plate, shows = batch
    return nn.binary_cross_entropy_with_logits(model(plate), shows, pos_weight=boost)


def balanced(model):
    guess, truth = model(plates[new]).numpy() > 0, present[new] > 0
    return {name: (guess[truth[:, k], k].mean() + 1 - guess[~truth[:, k], k].mean()) / 2 for k, name in enumerate(THINGS)}


# %%
history = nn.fit(model, nn.Batches([plates[known], present[known]], 40, seed=5), loss,
                 nn.AdamW(model.parameters(), lr=0.004), epochs=15, validate=balanced, progress=False)
print("loss", np.round([np.mean(history.losses[i : i + 60]) for i in range(0, 900, 180)], 3))
print("balanced accuracy", {name: round(float(history.metric(name)[-1]), 2) for name in THINGS})
