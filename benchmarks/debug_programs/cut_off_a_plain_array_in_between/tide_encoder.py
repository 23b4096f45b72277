import numpy as np
import nn

rng = np.random.default_rng(17)
phase = rng.uniform(0, 2 * np.pi, (300, 1))
height = rng.uniform(0.5, 1.5, (300, 1))
tides = (height * np.sin(np.arange(12) * 0.5 + phase)).astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(12, 24, rng=rng)
        self.b = nn.Affine(24, 2, rng=rng)

    def forward(self, x):
        return self.b(np.tanh(self.a(x)))


class Decoder(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(2, 24, rng=rng)
        self.b = nn.Affine(24, 12, rng=rng)

    def forward(self, code):
        return self.b(np.tanh(self.a(code)))


encoder, decoder = Encoder(rng), Decoder(rng)
parameters = [*encoder.parameters(), *decoder.parameters()]
optimizer = nn.RMSProp(parameters, lr=0.003)

for epoch in range(400):
    code = encoder(tides)
    code = (code.numpy() - code.numpy().mean(axis=0)) / (code.numpy().std(axis=0) + 1e-5)
    rebuilt = decoder(code)
    loss = ((rebuilt - tides) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 80 == 79:
        print(epoch + 1, f"{loss.item():.4f}")
