"""Sort small photos of the sea floor by how dense the kelp is, and watch which pixels matter to the network."""

import numpy as np

import minigrad as mg
import nn

SIDE, BARE, SPARSE, DENSE = 8, 0, 1, 2


def dive(count, rng):
    kind = rng.integers(3, size=count)
    photo = rng.normal(scale=0.5, size=(count, SIDE, SIDE))
    for i, k in enumerate(kind):
        for column in rng.choice(SIDE, size=2 * k, replace=False):
            photo[i, rng.integers(4) :, column] += 1.0
    return photo.reshape(count, -1).astype(np.float32), kind


def main():
    rng = np.random.default_rng(82)
    photos, kinds = dive(800, rng)
    new_photos, new_kinds = dive(400, rng)
    model = nn.Sequential(nn.Affine(SIDE * SIDE, 32, rng=rng), mg.relu, nn.Affine(32, 3, rng=rng))
    optimizer = nn.SGD(model.parameters(), lr=0.03)
    batches = nn.Batches([photos, kinds], 40, seed=12)
    for epoch in range(25):
        losses = []
        for inputs, labels in batches.epoch(epoch):
            loss = nn.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())

        probe = mg.Tensor(photos[:20], requires_grad=True)
        model(probe)[:, DENSE].sum().backward()
        rows = np.abs(probe.grad.numpy()).mean(axis=0).reshape(SIDE, SIDE).mean(axis=1)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, share of the rows {(rows / rows.sum()).round(2)}")

    with mg.no_grad():
        found = model(new_photos).numpy().argmax(axis=1)
    print(f"new photos sorted rightly: {np.mean(found == new_kinds):.2f}; called dense: {np.mean(found == DENSE):.2f}")


if __name__ == "__main__":
    main()
