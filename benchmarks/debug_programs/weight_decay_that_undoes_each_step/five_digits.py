import numpy as np

import nn

# Small pictures of digits, as a logistic regression and as a network
rng = np.random.default_rng(145)
prototype = rng.normal(size=(5, 49))
digit = rng.integers(0, 5, 600)
x = (prototype[digit] + 1.2 * rng.normal(size=(600, 49))).astype(np.float32)


def train(model, epochs):
    optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.5, weight_decay=4.0)
    for epoch in range(epochs):
        for rows in np.split(rng.permutation(500), 10):
            loss = nn.cross_entropy(model(x[rows]), digit[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            accuracy = (model(x[500:]).numpy().argmax(axis=1) == digit[500:]).mean()
            print(f"  epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")


print("network")
train(nn.Sequential(nn.Affine(49, 32, rng=rng), np.tanh, nn.Affine(32, 5, rng=rng)), 20)
