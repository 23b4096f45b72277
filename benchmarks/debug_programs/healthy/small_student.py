# A small network learns from a large one.
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(8)
CLASSES, WIDTH, T = 8, 10, 3.0
middle = rng.normal(size=(CLASSES, 2, WIDTH)) * 1.4


def draw(n):
    label = rng.integers(0, CLASSES, n)
    return (middle[label, rng.integers(0, 2, n)] + rng.normal(size=(n, WIDTH))).astype(np.float32), label


def mlp(hidden):
    return nn.Sequential(nn.Affine(WIDTH, hidden, rng=rng), mg.relu, nn.Affine(hidden, CLASSES, rng=rng))


def accuracy(net, x, label):
    return float(np.mean(net(x).numpy().argmax(axis=1) == label))


x, label = draw(2000)
x_new, label_new = draw(1000)

teacher = mlp(96)
nn.fit(
    teacher, nn.Batches([x, label], 50, seed=0), lambda net, b: nn.cross_entropy(net(b[0]), b[1]),
    nn.Adam(teacher.parameters(), lr=3e-3), epochs=6, progress=False,
)
print("teacher", accuracy(teacher, x_new, label_new))

with mg.no_grad():
    soft = mg.softmax(teacher(x) / T).numpy()

student = mlp(16)
adam = nn.Adam(student.parameters(), lr=5e-3)
for epoch in range(15):
    for rows in rng.permutation(2000).reshape(-1, 50):
        logits = student(x[rows])
        towards_teacher = -(soft[rows] * mg.log_softmax(logits / T)).sum(axis=1).mean()
        loss = 0.7 * T * T * towards_teacher + 0.3 * nn.cross_entropy(logits, label[rows])
        adam.zero_grad()
        loss.backward()
        adam.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}")
print("student", accuracy(student, x_new, label_new))
