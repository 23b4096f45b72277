import numpy as np
import minigrad as mg
import nn

# forty spectral bands of honey; three of them depend on the region it comes from
REGIONS, BANDS, JARS = 3, 40, 420


def laboratory(rng):
    region = rng.integers(0, REGIONS, JARS)
    spectra = rng.standard_normal((JARS, BANDS))
    spectra[np.arange(JARS), region] += 2.0
    relabelled = rng.random(JARS) < 0.15                 # jars that were filled elsewhere
    region = np.where(relabelled, rng.integers(0, REGIONS, JARS), region)
    return spectra.astype(np.float32), region


spectra, region = laboratory(np.random.default_rng(50))
known, tested = slice(0, 120), slice(120, None)

rng = np.random.default_rng(51)
model = nn.Sequential(
    nn.Affine(BANDS, 256, rng=rng),
    mg.relu,
    nn.Affine(256, 64, rng=rng),
    mg.relu,
    nn.Affine(64, REGIONS, rng=rng),
)


def loss(model, batch):
    x, labels = batch
    return nn.cross_entropy(model(x), labels)


def validate(model):
    logits = model(spectra[tested])
    right = logits.numpy().argmax(axis=1) == region[tested]
    return {"loss": nn.cross_entropy(logits, region[tested]).item(), "right": right.mean()}


history = nn.fit(
    model,
    nn.Batches([spectra[known], region[known]], 30, seed=5),
    loss,
    nn.AdamW(model.parameters(), lr=0.001, weight_decay=0.0),
    epochs=150,
    validate=validate,
    progress=False,
)
print("training", np.round(history.losses[-4:], 4))
print("tested  ", np.round(history.metric("loss")[::15], 3))
print("after the last epoch:", validate(model))
