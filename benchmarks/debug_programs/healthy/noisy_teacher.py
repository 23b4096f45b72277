# %% a student learns from the moving average of its own weights
import numpy as np
import nn

rng = np.random.default_rng(119)
x = rng.normal(size=(400, 5)).astype(np.float32)
y = ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(np.int64)
known = np.arange(400) < 200

# %%
student = nn.Sequential(nn.Affine(5, 32, rng=rng), np.tanh, nn.Dropout(0.2, rng=rng), nn.Affine(32, 2, rng=rng))
teacher = nn.Sequential(nn.Affine(5, 32, rng=rng), np.tanh, nn.Dropout(0.2, rng=rng), nn.Affine(32, 2, rng=rng))
teacher.load_state_dict(student.state_dict())
teacher.eval()
optimizer = nn.Adam(student.parameters(), lr=0.01)

# %%
student.train()
for step in range(900):
    rows = rng.integers(0, 400, 64)
    seen = rows[known[rows]]
    optimizer.zero_grad()
    supervised = nn.cross_entropy(student(x[seen]), y[seen])
    agreement = nn.mean_squared_error(student(x[rows]), teacher(x[rows]).detach())
    loss = supervised + 0.1 * agreement
    loss.backward()
    optimizer.step()
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.data = 0.98 * slow.data + 0.02 * fast.data
    if step % 180 == 179:
        print(step + 1, round(loss.item(), 4))

# %%
right = (teacher(x[~known]).numpy().argmax(axis=1) == y[~known]).mean()
print("right on the rows without labels", right)
