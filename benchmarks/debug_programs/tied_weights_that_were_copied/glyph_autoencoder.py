"""Linear-ish autoencoder of 30 measurements of handwriting, with tied weights, trained in mini-batches."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(171)
styles = rng.normal(size=(500, 3))
basis = np.linalg.qr(rng.normal(size=(30, 3)))[0].T
glyphs = styles @ basis * 2 + 0.05 * rng.normal(size=(500, 30))


class TiedAutoencoder:
    def __init__(self, visible, hidden):
        self.W = mg.Tensor(rng.normal(size=(visible, hidden)) / np.sqrt(visible), requires_grad=True)
        self.b_hidden = mg.Tensor(np.zeros(hidden), requires_grad=True)
        self.b_visible = mg.Tensor(np.zeros(visible), requires_grad=True)
        self.W_back = self.W.numpy().T.copy()

    def parameters(self):
        return [self.W, self.b_hidden, self.b_visible]

    def encode(self, x):
        return x @ self.W + self.b_hidden

    def __call__(self, x):
        return self.encode(x) @ self.W_back + self.b_visible


model = TiedAutoencoder(30, 3)
for epoch in range(60):
    order = rng.permutation(400)
    for rows in np.split(order, 8):
        loss = ((model(glyphs[rows]) - glyphs[rows]) ** 2).mean()
        loss.backward()
        for p in model.parameters():
            p.data -= 0.5 * p.grad.data
            p.zero_grad()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")

test = glyphs[400:]
print("unseen glyphs:", ((model(test).numpy() - test) ** 2).mean().round(4), "of", test.var().round(4))
