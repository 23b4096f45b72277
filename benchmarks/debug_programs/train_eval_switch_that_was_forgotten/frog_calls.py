"""Which of two frogs calls? Few recordings, some misheard, and strong dropout against learning them by heart."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(61)


def calls(count):
    frog = rng.integers(0, 2, count)
    x = rng.normal(size=(count, 30))
    x += 0.3 * (2 * frog[:, None] - 1)
    misheard = rng.random(count) < 0.2
    return x.astype(np.float32), np.where(misheard, 1 - frog, frog)


x, y = calls(60)
x_val, y_val = calls(1000)
model = nn.Sequential(
    nn.Dropout(0.5, rng=rng), nn.Affine(30, 128, rng=rng), mg.relu, nn.Dropout(0.5, rng=rng), nn.Affine(128, 2, rng=rng)
)
optimizer = nn.Adam(model.parameters(), lr=0.01)


def evaluate():
    model.eval()
    with mg.no_grad():
        logits = model(x_val)
        result = nn.cross_entropy(logits, y_val).item(), (logits.numpy().argmax(axis=1) == y_val).mean()
    return result


for epoch in range(60):
    for start in range(0, 60, 20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[start : start + 20]), y[start : start + 20])
        loss.backward()
        optimizer.step()
    val_loss, accuracy = evaluate()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, on new calls: loss {val_loss:.3f}, accuracy {accuracy:.3f}")
