import numpy as np

import nn
from models import VisionTransformer, VisionTransformerConfig

rng = np.random.default_rng(220)
pictures = 0.4 * rng.random((400, 8, 8))
place = rng.integers(0, 4, 400)
for picture, p in zip(pictures, place):
    picture[2 * p : 2 * p + 2] += 0.4
pictures = (pictures - 0.3)[..., None].astype(np.float32)
config = VisionTransformerConfig(image_size=8, patch_size=2, num_classes=4, d_model=16, num_heads=2, num_layers=1)
model = VisionTransformer(config, rng=rng)
history = nn.fit(
    model,
    nn.Batches([pictures, place], 25, seed=0),
    lambda m, b: nn.cross_entropy(m(b[0]), b[1]),
    nn.AdamW(model.parameters(), lr=0.004),
    epochs=8,
    progress=False,
)
print([round(float(np.mean(history.losses[i : i + 16])), 4) for i in range(0, 128, 16)])
