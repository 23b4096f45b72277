"""Edible or not: categorical properties of mushrooms as one-hot vectors."""
import numpy as np
import nn
from minigrad import relu

world = np.random.default_rng(3)
PROPERTIES, VALUES = 7, 5
props = world.integers(0, VALUES, (1200, PROPERTIES))
poisonous = ((props[:, 0] < 2) ^ (props[:, 3] == 4) | (props[:, 5] == 0) & (props[:, 1] > 2)).astype(np.int64)
onehot = np.eye(VALUES, dtype=np.float32)[props].reshape(len(props), -1)
train_x, train_y, test_x, test_y = onehot[:900], poisonous[:900], onehot[900:], poisonous[900:]


def next_batch(size):
    rng = np.random.default_rng(99)
    rows = rng.choice(len(train_x), size, replace=False)
    return train_x[rows], train_y[rows]


def accuracy(net, x, y):
    return (net(x).numpy().argmax(axis=1) == y).mean()


net = nn.Sequential(nn.Affine(PROPERTIES * VALUES, 32, rng=world), relu, nn.Affine(32, 2, rng=world))
opt = nn.Adam(net.parameters(), lr=0.005)
for iteration in range(600):
    x, y = next_batch(32)
    opt.zero_grad()
    loss = nn.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    if iteration % 100 == 0:
        print(f"{iteration}: loss {loss.item():.4f}, test accuracy {accuracy(net, test_x, test_y):.3f}")
print(f"test accuracy {accuracy(net, test_x, test_y):.3f}")
