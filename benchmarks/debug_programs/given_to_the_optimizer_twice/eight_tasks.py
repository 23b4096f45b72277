# %% [markdown]
# Eight yes-or-no questions about the same person, one shared body and a head for each question.

# %%
import numpy as np

import nn

rng = np.random.default_rng(47)
TASKS = 8
people = rng.normal(size=(600, 10)).astype(np.float32)
pairs = np.stack([rng.choice(10, 2, replace=False) for _ in range(TASKS)])
answers = (people[:, pairs[:, 0]] * people[:, pairs[:, 1]] > 0).astype(np.float32)

# %%
body = nn.Sequential(nn.Affine(10, 48, rng=rng), np.tanh, nn.Affine(48, 48, rng=rng), np.tanh)
heads = [nn.Affine(48, 1, rng=rng) for _ in range(TASKS)]
optimizers = [nn.SGD([*body.parameters(), *head.parameters()], lr=1.6, momentum=0.9) for head in heads]

# %%
for epoch in range(40):
    for rows in np.split(rng.permutation(600), 10):
        features = body(people[rows])
        loss = 0.0
        for task, head in enumerate(heads):
            loss = loss + nn.binary_cross_entropy_with_logits(head(features)[:, 0], answers[rows, task]) / TASKS
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
