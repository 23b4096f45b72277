"""Short messages of a ferry as codes of a signal book; a Transformer says whether the ferry will be late."""

import numpy as np

import minigrad as mg
import models
import nn

CODES, LENGTH = 60, 10


def log_book(count, rng):
    messages = rng.integers(CODES, size=(count, LENGTH))
    trouble = (messages < 12).sum(axis=1)
    relief = ((messages >= 12) & (messages < 20)).sum(axis=1)
    return messages, (trouble - relief >= 1).astype(np.int64)


def draw(messages, late, size):
    rng = np.random.default_rng(0)
    rows = rng.choice(len(messages), size, replace=False)
    return messages[rows], late[rows]


def share_right(model, messages, late):
    model.eval()
    with mg.no_grad():
        right = model(messages).numpy().argmax(axis=1) == late
    model.train()
    return right.mean()


rng = np.random.default_rng(141)
messages, late = log_book(3000, rng)
new_messages, new_late = log_book(500, rng)
config = models.ClassifierConfig(CODES, 2, d_model=24, num_heads=2, num_layers=1, dropout=0.1)
model = models.TransformerClassifier(config, rng=np.random.default_rng(142))
optimizer = nn.AdamW(model.parameters(), lr=0.003, weight_decay=0.01)
schedule = nn.cosine_schedule(0.003, steps=500, warmup=25)
for step in range(500):
    ids, labels = draw(messages, late, 64)
    optimizer.lr = schedule(step)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(ids), labels)
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1}: loss {loss.item():.3f}, new messages {share_right(model, new_messages, new_late):.3f}")
print(f"always the more frequent answer: {max(new_late.mean(), 1 - new_late.mean()):.3f}")
