"""An extruder: melt pressure from eleven sensors. While it trains, the sensitivity to each sensor is noted for the report."""
import numpy as np
import minigrad as mg
import nn

SENSORS = ["zone 1", "zone 2", "zone 3", "zone 4", "screw", "torque", "feed", "moisture", "filter", "cooling", "line"]
rng = np.random.default_rng(21)
x = rng.normal(size=(1400, 11)).astype(np.float32)
pressure = 0.9 * x[:, 4] - 0.6 * x[:, 2] * x[:, 3] + 0.8 * np.tanh(2 * x[:, 8]) + 0.4 * x[:, 6] + 0.1 * rng.normal(size=1400)
scale = pressure[:1000].mean(), pressure[:1000].std()
y = ((pressure - scale[0]) / scale[1]).astype(np.float32)[:, None]
x_train, y_train, x_test, y_test = x[:1000], y[:1000], x[1000:], y[1000:]


class Extruder(nn.Module):
    def __init__(self, width, rng):
        self.first, self.second = nn.Affine(11, width, rng=rng), nn.Affine(width, width, rng=rng)
        self.out = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        return self.out(np.tanh(self.second(np.tanh(self.first(x)))))


def sensitivity(model, rows):
    """The mean derivative of the pressure with respect to each sensor."""
    probe = mg.Tensor(rows, requires_grad=True)
    model(probe).mean().backward()
    return np.abs(probe.grad.numpy()).sum(axis=0)


def main(epochs=15):
    model = Extruder(24, np.random.default_rng(4))
    optimizer = nn.SGD(model.parameters(), lr=0.03, momentum=0.9)
    batches = nn.Batches([x_train, y_train], 50, seed=8)
    noted = []
    for epoch in range(epochs):
        for inputs, targets in batches.epoch(epoch):
            optimizer.zero_grad()
            noted.append(sensitivity(model, x_train[:64]))
            loss = nn.mean_squared_error(model(inputs), targets)
            loss.backward()
            optimizer.step()
        with mg.no_grad():
            error = np.sqrt(np.mean((model(x_test).numpy() - y_test) ** 2))
        print(f"epoch {epoch}  loss {loss.item():.4f}  error in test {error:.4f}")
    last = np.mean(noted[-20:], axis=0)
    print("most sensitive to", ", ".join(SENSORS[i] for i in np.argsort(-last)[:4]))


if __name__ == "__main__":
    main()
