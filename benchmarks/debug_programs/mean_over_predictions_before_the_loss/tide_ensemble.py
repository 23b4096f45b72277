import numpy as np
import nn

rng = np.random.default_rng(17)
hours = rng.uniform(0, 48, (400, 1)).astype(np.float32)
tide = 1.8 * np.sin(2 * np.pi * hours / 12.4) + 0.5 * np.cos(2 * np.pi * hours / 24) + 0.05 * rng.normal(size=hours.shape)
tide = tide.astype(np.float32)


def encode(h):
    periods = (6.2, 12.4, 24.0)
    waves = [f(2 * np.pi * h / p) for p in periods for f in (np.sin, np.cos)]
    return np.concatenate(waves, axis=1).astype(np.float32)


class TideNet(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(6, 24, rng=rng)
        self.b = nn.Affine(24, 1, rng=rng)

    def forward(self, h):
        return self.b(np.tanh(self.a(encode(h))))


def criterion(model, batch):
    h, level = batch
    forecast = model(h).mean(axis=0)
    return ((forecast - level) ** 2).mean()


net = TideNet(np.random.default_rng(1))
batches = nn.Batches([hours[:320], tide[:320]], 320, seed=3)
history = nn.fit(net, batches, criterion, nn.AdamW(net.parameters(), lr=0.01), epochs=400, progress=False)
print("first losses", np.round(history.losses[:4], 3))
print("last losses ", np.round(history.losses[-4:], 3))
print("unseen rmse ", np.sqrt(np.mean((net(hours[320:]).numpy() - tide[320:]) ** 2)).round(3))
