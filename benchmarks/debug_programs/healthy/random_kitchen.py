"""Sum of spices -> heat of a curry. The first layer stays random on purpose; only the readout is trained."""
import numpy as np
import nn


class RandomFeatures(nn.Module):
    def __init__(self, inputs, features, rng):
        self.directions = nn.Buffer(rng.normal(size=(inputs, features)).astype(np.float32))
        self.phases = nn.Buffer(rng.uniform(0, 2 * np.pi, features).astype(np.float32))
        self.scale = np.float32(np.sqrt(2 / features))
        self.readout = nn.Affine(features, 1, rng=rng)

    def forward(self, x):
        return self.readout(self.scale * np.cos(x @ self.directions + self.phases) * 4)


rng = np.random.default_rng(204)
spices = rng.uniform(0, 2, (700, 3)).astype(np.float32)
heat = np.sin(2 * spices[:, 0]) * spices[:, 1] + 0.5 * spices[:, 2] ** 2
heat = (heat - heat.mean())[:, None].astype(np.float32)


def objective(model, batch):
    x, y = batch
    return nn.mean_squared_error(model(x), y)


model = RandomFeatures(3, 128, np.random.default_rng(1))
batches = nn.Batches([spices[:600], heat[:600]], 50, seed=0)
history = nn.fit(
    model, batches, objective, nn.Adam(model.parameters(), lr=0.02), epochs=60, progress=False,
    schedule=nn.cosine_schedule(0.02, 60 * len(batches)),
    validate=lambda m: {"unseen": objective(m, (spices[600:], heat[600:])).item()},
)
print("trained numbers:", model.num_parameters, " variance of the heat:", heat.var().round(3))
print("loss", round(history.losses[0], 4), "->", round(history.losses[-1], 4))
print("unseen", round(history.metric("unseen")[0], 4), "->", round(history.metric("unseen")[-1], 4))
