"""Sort stamps into ten series. A little noise on each batch makes the network robust."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(97)
patterns = rng.normal(size=(10, 24))


def stamps(count):
    series = rng.integers(0, 10, count)
    return (patterns[series] * 0.7 + 0.4 * rng.normal(size=(count, 24))).astype(np.float32), series


x, y = stamps(500)
x_new, y_new = stamps(500)
model = nn.Sequential(nn.Affine(24, 32, rng=rng), mg.relu, nn.Affine(32, 10, rng=rng))
optimizer = nn.SGD(model.parameters(), lr=0.05)
for epoch in range(40):
    losses = []
    for start in range(0, 500, 50):
        batch = x[start : start + 50]
        batch += rng.normal(size=batch.shape).astype(np.float32) * 0.7
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(batch), y[start : start + 50])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 8 == 7:
        accuracy = (model(x_new).numpy().argmax(axis=1) == y_new).mean()
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, accuracy on new stamps {accuracy:.3f}")
