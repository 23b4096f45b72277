# Level of a glacier lake (m) from sun, rain, and the temperatures of two days; robust to some bad gauges.
import numpy as np
import nn

rng = np.random.default_rng(11)
days = 250
weather = rng.standard_normal((days, 4)).astype(np.float32)
sun, rain, today, yesterday = weather.T
level = (0.8 * rain + 0.6 * yesterday * (yesterday > 0) + 0.3 * sun * today).astype(np.float32)
level[rng.choice(days, 6)] += 4.0

model = nn.Sequential(
    nn.Affine(4, 32, rng=rng),
    np.tanh,
    nn.Affine(32, 1, rng=rng),
)


def batch_loss(model, batch):
    weather, level = batch
    misfit = model(weather) - level
    return (np.sqrt(1 + misfit ** 2) - 1).mean()


batches = nn.Batches([weather[:200], level[:200]], 25, seed=0)
history = nn.fit(
    model,
    batches,
    batch_loss,
    nn.RMSProp(model.parameters(), lr=0.003),
    epochs=50,
    clip_norm=5.0,
    progress=False,
)
for epoch in range(0, 50, 10):
    print(epoch, np.mean(history.losses[epoch * len(batches):(epoch + 1) * len(batches)]).round(4))

said = model(weather[200:]).numpy()[:, 0]
truth = level[200:]
print("median miss", np.median(np.abs(said - truth)).round(3))
print("correlation", np.corrcoef(said, truth)[0, 1].round(3))
