# %% will a glaze crack? kiln log: peak temperature (K), cooling (K/h), humidity (%), thickness (um)
import numpy as np
import nn
from minigrad import sigmoid

rng = np.random.default_rng(90)
count = 400
log = np.column_stack([
    rng.normal(1480, 40, count),
    rng.normal(150, 45, count),
    rng.uniform(10, 90, count),
    rng.normal(420, 80, count),
])
danger = (log[:, 0] - 1480) / 40 * (log[:, 1] - 150) / 45 + (log[:, 3] - 420) / 80
cracked = (danger + 0.2 * rng.normal(size=count) > 0).astype(np.float32)

# %%
inputs = log.astype(np.float32)
inputs_train, inputs_test = inputs[:300], inputs[300:]
y_train, y_test = cracked[:300, None], cracked[300:, None]

# %%
class Glaze(nn.Module):
    def __init__(self):
        self.first = nn.Affine(4, 16, rng=rng)
        self.second = nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        return self.second(sigmoid(self.first(x)))


glaze = Glaze()
sgd = nn.SGD(glaze.parameters(), lr=0.3, momentum=0.9)
for epoch in range(500):
    sgd.zero_grad()
    loss = nn.binary_cross_entropy_with_logits(glaze(inputs_train), y_train)
    loss.backward()
    sgd.step()
    if epoch % 100 == 0:
        print(epoch, round(loss.item(), 4))

# %%
print("loss", round(loss.item(), 4), "right on the last hundred:", ((glaze(inputs_test).numpy() > 0) == y_test).mean())
