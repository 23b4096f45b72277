"""Glyphs on stones, 9 x 9 pixels: a cross, a ring or a bar, somewhere on the stone."""
import numpy as np
import minigrad as mg
import nn

SHAPES = [
    np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]),
    np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]]),
    np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]]),
]


def stones(count, rng):
    glyph = rng.integers(3, size=count)
    picture = rng.normal(0, 0.25, (count, 1, 9, 9))
    for image, kind in zip(picture, glyph):
        i, j = rng.integers(7, size=2)
        image[0, i:i + 3, j:j + 3] += SHAPES[kind]
    return picture.astype(np.float32), glyph


def accuracy(model, data):
    model.eval()
    with mg.no_grad():
        right = np.mean(model(data[0]).numpy().argmax(axis=1) == data[1])
    model.train()
    return right


def main():
    rng = np.random.default_rng(58)
    data, test = stones(600, rng), stones(200, rng)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, rng=rng), nn.BatchNorm(8), mg.relu,
        nn.Conv2d(8, 16, 3, rng=rng), nn.BatchNorm(16), mg.relu, nn.MaxPool2d(5),
        nn.Flatten(), nn.Dropout(0.2, rng=rng), nn.Affine(16, 3, rng=rng),
    )
    optimizer = nn.Adam(model.parameters(), lr=0.005)
    step = 0
    for epoch in range(12):
        for picture, glyph in nn.Batches(data, 30, seed=epoch).epoch(0):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(picture), glyph)
            loss.backward()
            optimizer.step()
            if step % 60 == 0:
                print(f"step {step}: loss {loss.item():.4f}, new stones {accuracy(model, test):.3f}")
            step += 1
    print(f"at the end {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
