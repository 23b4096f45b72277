import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(106)
patterns = rng.normal(size=(16, 20))
number = rng.integers(0, 16, 400)
pictures = (patterns[number] + 0.2 * rng.normal(size=(400, 20))).astype(np.float32)


class Coder(nn.Module):
    """Eight bits per picture: rounded on the way forward, passed through on the way back."""

    def __init__(self, bits):
        self.up = nn.Affine(20, 32, rng=rng)
        self.bits = nn.Affine(32, bits, rng=rng)
        self.down = nn.Affine(bits, 32, rng=rng)
        self.out = nn.Affine(32, 20, rng=rng)

    def forward(self, x):
        soft = mg.sigmoid(self.bits(np.tanh(self.up(x))))
        hard = soft + mg.stop_gradient(np.round(soft) - soft)
        return self.out(np.tanh(self.down(2 * hard - 1))), hard


coder = Coder(8)
opt = nn.Adam(coder.parameters(), lr=0.005)
batches = nn.Batches([pictures], 40, seed=5)
for epoch in range(60):
    for (x,) in batches.epoch(epoch):
        opt.zero_grad()
        again, bits = coder(x)
        loss = nn.mean_squared_error(again, x)
        loss.backward()
        opt.step()
    if epoch % 12 == 11:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")
again, bits = coder(pictures)
print("variance", pictures.var().round(3), "left", np.mean((again.numpy() - pictures) ** 2).round(4), "codes", len(np.unique(bits.numpy(), axis=0)))
