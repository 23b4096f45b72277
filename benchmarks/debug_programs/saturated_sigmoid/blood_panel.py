# Will the patient be sent to the ward?  Four values of a blood panel, one hidden layer.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(14)
n = 300
glucose = rng.normal(100, 22, n)          # mg/dl
platelets = rng.normal(250, 60, n)        # thousands per microlitre
sodium = rng.normal(140, 4, n)            # mmol/l
crp = rng.gamma(1.5, 8.0, n)              # mg/l
risk = 0.06 * (glucose - 100) + 0.02 * (250 - platelets) + 0.12 * (crp - 12) - 0.2 * (sodium - 140)
ward = (risk + 0.3 * rng.normal(size=n) > 0).astype(float)
panel = np.column_stack([glucose, platelets, sodium, crp])

train, test = np.arange(n) < 220, np.arange(n) >= 220
W1 = mg.Tensor(rng.normal(size=(4, 16)) * 0.5, requires_grad=True)
b1 = mg.Tensor(np.zeros(16), requires_grad=True)
W2 = mg.Tensor(rng.normal(size=16) * 0.5, requires_grad=True)
b2 = mg.Tensor(0.0, requires_grad=True)


def score(x):
    hidden = mg.sigmoid(x @ W1 + b1)
    return hidden @ W2 + b2


for step in range(500):
    z = score(panel[train])
    loss = (np.logaddexp(0, z) - ward[train] * z).mean()
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= 0.3 * p.grad
        p.zero_grad()
    if step % 100 == 0:
        print("step", step, "loss", round(loss.item(), 4))

with mg.no_grad():
    print("right", np.mean((score(panel[test]).numpy() > 0) == (ward[test] > 0)).round(3))
