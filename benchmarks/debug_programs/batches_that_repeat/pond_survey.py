# %% a survey of ponds: is the water healthy?
import numpy as np
import nn

data_rng = np.random.default_rng(30)
readings = data_rng.normal(size=(500, 10)).astype(np.float32)
healthy = (readings[:, 0] * readings[:, 1] + readings[:, 2] > 0).astype(np.int64)
train_x, train_y = readings[:400], healthy[:400]
test_x, test_y = readings[400:], healthy[400:]


# %% sampling
def sample(size):
    rng = np.random.default_rng(1234)
    rows = rng.choice(len(train_x), size, replace=False)
    return train_x[rows], train_y[rows]


# %% the network
init = np.random.default_rng(2)
model = nn.Sequential(nn.Affine(10, 32, rng=init), np.tanh, nn.Affine(32, 2, rng=init))
optimizer = nn.Adam(model.parameters(), lr=0.01)

# %% training
for step in range(600):
    x, y = sample(16)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% result
accuracy = (model(test_x).numpy().argmax(axis=1) == test_y).mean()
print(f"training loss {loss.item():.4f}, test accuracy {accuracy:.2f}")
