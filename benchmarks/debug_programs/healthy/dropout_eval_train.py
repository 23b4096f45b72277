import numpy as np

import nn
from minigrad import no_grad


class Net(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(
            nn.Affine(20, 64, rng=rng),
            nn.functional.relu,
            nn.Dropout(0.4, rng=rng),
            nn.Affine(64, 4, rng=rng),
        )

    def forward(self, x):
        return self.layers(x)


rng = np.random.default_rng(210)
centre = rng.normal(size=(4, 20))
y = rng.integers(0, 4, 1000)
x = (centre[y] + 1.2 * rng.normal(size=(1000, 20))).astype(np.float32)
net = Net(rng)
optimizer = nn.Adam(net.parameters(), lr=0.003)
for epoch in range(15):
    net.train()
    for rows in np.split(rng.permutation(800), 20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    net.eval()
    with no_grad():
        accuracy = (net(x[800:]).numpy().argmax(axis=1) == y[800:]).mean()
        full = nn.cross_entropy(net(x[:800]), y[:800]).item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: training loss {full:.4f}, accuracy {accuracy:.3f}")
