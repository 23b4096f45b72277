import numpy as np
import nn
from minigrad import gelu

rng = np.random.default_rng(58)
n = 260
income = rng.lognormal(7.8, 0.4, n)
debt = rng.lognormal(8.0, 0.8, n)
years = rng.integers(0, 30, n)
others = rng.normal(size=(n, 9))
X = np.column_stack([np.log(income) - 7.8, np.log(debt) - 8.0, years / 15 - 1, others]).astype(np.float32)
repaid = (1.5 * X[:, 0] - X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n) > 0).astype(np.int64)

order = rng.permutation(n)
X = X[order]
order = rng.permutation(n)
repaid = repaid[order]
X_train, X_valid = X[:160], X[160:]
y_train, y_valid = repaid[:160], repaid[160:]

model = nn.Sequential(nn.Affine(12, 64, rng=rng), gelu, nn.Affine(64, 64, rng=rng), gelu, nn.Affine(64, 2, rng=rng))


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


def validate(model):
    logits = model(X_valid)
    return {"loss": nn.cross_entropy(logits, y_valid).item(), "accuracy": np.mean(logits.numpy().argmax(1) == y_valid)}


history = nn.fit(
    model, nn.Batches([X_train, y_train], 20, seed=1), loss, nn.Adam(model.parameters(), lr=0.003), epochs=16,
    validate=validate, progress=False,
)
for epoch in range(3, 16, 4):
    train_loss = np.mean(history.losses[8 * epoch : 8 * (epoch + 1)])
    print(f"epoch {epoch + 1}: train {train_loss:.3f} valid {history.metric('loss')[epoch]:.3f} accuracy {history.metric('accuracy')[epoch]:.3f}")
