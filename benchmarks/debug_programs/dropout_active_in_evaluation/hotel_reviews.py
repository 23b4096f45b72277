import numpy as np
import minigrad as mg
import models
import nn

# Praise (1) or complaint (0)?  The words are ids: 1-9 kind words, 10-18 harsh ones, the rest neutral.
WORDS, LENGTH = 40, 8
rng = np.random.default_rng(12)


def write(n):
    mood = rng.integers(0, 2, n)
    ids = rng.integers(19, WORDS, (n, LENGTH))
    for i in range(n):
        places = rng.choice(LENGTH, 3, replace=False)
        right, wrong = (1, 10) if mood[i] else (10, 1)
        ids[i, places[:2]] = right + rng.integers(0, 9, 2)
        ids[i, places[2]] = wrong + rng.integers(0, 9)
    return ids, mood


train_ids, train_mood = write(384)
test_ids, test_mood = write(300)

config = models.ClassifierConfig(WORDS, 2, d_model=16, num_heads=2, num_layers=1, hidden=32, dropout=0.4)
net = models.TransformerClassifier(config, rng=np.random.default_rng(0))
opt = nn.Adam(net.parameters(), lr=0.01)
loader = nn.Batches([train_ids, train_mood], 64, seed=4)

for epoch in range(25):
    total = 0.0
    for ids, mood in loader.epoch(epoch):
        opt.zero_grad()
        loss = nn.cross_entropy(net(ids), mood)
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(epoch + 1, f"{total / len(loader):.3f}")


def judge(ids):
    with mg.no_grad():
        return net(ids).numpy().argmax(axis=1)


first = judge(test_ids)
print("accuracy", np.mean(first == test_mood).round(3))
print("reviews judged otherwise when asked again", int(np.sum(first != judge(test_ids))))
