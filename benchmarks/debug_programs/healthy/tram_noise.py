"""One long recording, read in pieces of ten samples: a recurrent network predicts the next sample."""
import numpy as np
from minigrad import Tensor
import nn

rng = np.random.default_rng(104)
time = np.arange(2000)
sound = np.sin(0.3 * time) * np.sin(0.021 * time) + 0.02 * rng.normal(size=2000)
streams = sound.reshape(8, 250)


class Listener(nn.Module):
    def __init__(self, units):
        self.cell = nn.RNNCell(1, units, rng=rng)
        self.tell = nn.Affine(units, 1, rng=rng)
        self.units = units

    def forward(self, piece, h):
        said = []
        for t in range(piece.shape[1]):
            h = self.cell(piece[:, t : t + 1], h)
            said.append(self.tell(h))
        return np.concatenate(said, axis=1), h


listener = Listener(20)
opt = nn.Adam(listener.parameters(), lr=0.005)
for tour in range(15):
    state = Tensor(np.zeros((8, listener.units), np.float32))
    total = []
    for start in range(0, 240, 10):
        piece = streams[:, start : start + 10].astype(np.float32)
        following = streams[:, start + 1 : start + 11].astype(np.float32)
        said, state = listener(piece, state)
        loss = nn.mean_squared_error(said, following)
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = state.detach()
        total.append(loss.item())
    if tour % 3 == 2:
        print("tour", tour + 1, "loss", np.mean(total).round(4))
print("variance of the sound", sound.var().round(3))
