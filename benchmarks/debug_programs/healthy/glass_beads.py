import numpy as np
import minigrad as mg
import nn


def beads(rng, count):
    """Colour readings of beads on scales of their own; which of three workshops made the bead?"""
    shop = rng.integers(0, 3, count)
    reading = np.array([[3, 0, 1], [0, 2, 4], [2, 3, 0]])[shop] + rng.standard_normal((count, 3))
    return (reading * [1, 10, 0.1] + [5, 50, 0]).astype(np.float32), shop


def accuracy(model, x, y):
    model.eval()
    with mg.no_grad():
        right = np.mean(model(x).numpy().argmax(axis=1) == y)
    model.train()
    return right


def main():
    rng = np.random.default_rng(13)
    x, y = beads(rng, 900)
    mean, deviation = x[:600].mean(axis=0), x[:600].std(axis=0)
    x = (x - mean) / deviation
    model = nn.Sequential(
        nn.Affine(3, 32, rng=rng), nn.BatchNorm(32), mg.relu, nn.Dropout(0.4, rng=rng), nn.Affine(32, 3, rng=rng),
    )
    optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(12):
        for rows in np.split(rng.permutation(600), 20):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d} loss {loss.item():.3f} accuracy {accuracy(model, x[600:], y[600:]):.3f}")
    alone = [accuracy(model, x[i : i + 1], y[i : i + 1]) for i in range(600, 900)]
    print(f"one bead at a time {np.mean(alone):.3f}")


main()
