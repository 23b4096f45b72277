"""Read the digit of a seven-segment display from a dim grey picture of 8 x 8 pixels, with a Vision Transformer."""

import numpy as np

import models
import nn

rng = np.random.default_rng(71)
SEGMENTS = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]
PLACES = {
    "a": np.s_[0, 2:6],
    "b": np.s_[1:4, 6],
    "c": np.s_[4:7, 6],
    "d": np.s_[7, 2:6],
    "e": np.s_[4:7, 1],
    "f": np.s_[1:4, 1],
    "g": np.s_[3:5, 2:6],
}


def picture(digit):
    light = rng.normal(size=(8, 8)) * 30 + 60
    for segment in SEGMENTS[digit]:
        light[PLACES[segment]] += 130
    return np.clip(light, 0, 255).astype(np.uint8)


digits = rng.integers(0, 10, 600)
grey = np.stack([picture(digit) for digit in digits])
x = (grey // 255).astype(np.float32)[..., None]

config = models.VisionTransformerConfig(image_size=8, patch_size=4, num_classes=10, d_model=32, num_layers=1)
model = models.VisionTransformer(config, rng=rng)
batches = nn.Batches([x[:500], digits[:500]], 50, seed=5)


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.005), epochs=15, progress=False)
print(history)
print("accuracy on new pictures:", (model(x[500:]).numpy().argmax(axis=1) == digits[500:]).mean())
