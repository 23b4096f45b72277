"""Tag each stitch of a sewing instruction: 0 none, 1 begin, 2 turn, 3 knot. Instructions are short, the rows are long."""
import numpy as np
import nn

PAD, STITCHES, ROW = 0, 12, 48
rng = np.random.default_rng(25)


def instructions(n):
    ids = np.full((n, ROW), PAD)
    tags = np.zeros((n, ROW), np.int64)
    for i in range(n):
        length = rng.integers(2, 5)
        ids[i, :length] = rng.integers(1, STITCHES, length)
        before = np.concatenate([[0], ids[i, : length - 1]])
        tags[i, :length] = np.where(before == 0, 1, 1 + (ids[i, :length] + before) % 3)
    return ids, tags


class Tagger(nn.Module):
    def __init__(self, rng):
        self.names = nn.Embedding(STITCHES, 16, rng=rng)
        self.reader = nn.RNN(16, 40, rng=rng)
        self.tag = nn.Affine(40, 4, rng=rng)

    def forward(self, ids):
        states, _ = self.reader(self.names(ids))
        return self.tag(states)


def loss(model, batch):
    ids, tags = batch
    per_place = nn.cross_entropy(model(ids), tags, reduction="none")
    return per_place.mean()


ids, tags = instructions(400)
test_ids, test_tags = instructions(150)
words = test_ids != PAD


def on_words(model):
    return {"right": np.mean(model(test_ids).numpy().argmax(axis=-1)[words] == test_tags[words])}


model = Tagger(rng)
history = nn.fit(model, nn.Batches([ids, tags], 40, seed=1), loss, nn.SGD(model.parameters(), lr=0.1, momentum=0.9),
                 epochs=8, clip_norm=1.0, validate=on_words, progress=False)
print("loss", np.round(history.losses[::20], 3), "words tagged right", np.round(history.metric("right")[1::2], 3))
