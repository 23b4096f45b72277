"""Beside other libraries, as a user meets them: what passes from one to the other, and what is refused in words."""

import importlib.util
import operator
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import DTypeError, ShapeError, Tensor, UnsupportedError
from minigrad.guards.warnings import PointedAtTheUser

A = np.arange(6.0).reshape(2, 3)
ROOT = Path(__file__).parents[1]


def tracked(array: Any = A) -> Any:
    return Tensor(array, requires_grad=True)


# --- DLPack ---


def test_numpy_takes_a_tensor_by_dlpack_and_shares_its_memory() -> None:
    t = Tensor(A)
    a = np.from_dlpack(t)
    assert t.__dlpack_device__() == (1, 0) and np.shares_memory(a, t.data)
    assert not np.shares_memory(np.from_dlpack(t, copy=True), t.data)


@pytest.mark.parametrize("made", [tracked, lambda: tracked() * 2.0])
def test_dlpack_refuses_what_is_tracked(made: Callable[[], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"requires a gradient.*off from the tape.*t\.detach\(\).*t\.numpy\(\)"):
        np.from_dlpack(made())
    np.testing.assert_array_equal(np.from_dlpack(made().detach()), made().data)


def test_a_write_through_dlpack_is_noticed() -> None:
    w = tracked()
    loss = (w * w).sum()
    torch = pytest.importorskip("torch")
    torch.from_dlpack(w.detach())[0, 0] = 7.0
    with pytest.raises(mg.GraphError, match="changed in place"):
        loss.backward()


def test_an_array_that_is_read_only_is_not_handed_out_for_writing() -> None:
    t: Any = np.broadcast_to(Tensor(A), (2, 2, 3))
    assert not np.from_dlpack(t).flags.writeable


# --- PyTorch ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool, np.complex64])
def test_torch_takes_a_tensor(dtype: Any) -> None:
    torch = pytest.importorskip("torch")
    t = Tensor(A.astype(dtype))
    for take, shared in (
        (torch.tensor, False),
        (torch.as_tensor, True),
        (torch.asarray, True),
        (torch.from_dlpack, True),
    ):
        got = take(t)
        assert (tuple(got.shape), got.numpy().dtype) == (t.shape, t.dtype)
        np.testing.assert_array_equal(got.numpy(), t.data)
        assert np.shares_memory(got.numpy(), t.data) is shared
    assert torch.tensor(t[0, 0]).shape == ()
    back = Tensor(torch.tensor(t))
    assert back.dtype == dtype and back.tolist() == t.tolist()


def test_torch_refuses_what_is_tracked_with_our_words() -> None:
    torch = pytest.importorskip("torch")
    for take in (torch.tensor, torch.as_tensor, torch.from_dlpack):
        with pytest.raises(UnsupportedError, match=r"t\.detach\(\)"):
            take(tracked())
    assert torch.tensor(tracked().detach()).tolist() == A.tolist()


# --- Containers with an arithmetic of their own ---

CONTAINERS: dict[str, Callable[[], Any]] = {
    "column": lambda: pytest.importorskip("pandas").Series([3.0, 1.5, 2.0], index=[7, 8, 9]),
    "frame": lambda: pytest.importorskip("pandas").DataFrame([[3.0, 1.5, 2.0]], columns=["a", "b", "c"]),
    "index": lambda: pytest.importorskip("pandas").Index([3.0, 1.5, 2.0]),
    "DataArray": lambda: pytest.importorskip("xarray").DataArray([3.0, 1.5, 2.0], dims="x"),
    "Variable": lambda: pytest.importorskip("xarray").Variable("x", [3.0, 1.5, 2.0]),
    "Dataset": lambda: pytest.importorskip("xarray").Dataset({"a": ("x", [3.0, 1.5, 2.0])}),
}
OPERATORS: list[Any] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.matmul,
    operator.mod,
]
OPERATORS += [operator.floordiv, np.multiply, np.maximum, np.arctan2]


@pytest.mark.parametrize("swapped", [False, True], ids=["tensor first", "tensor last"])
@pytest.mark.parametrize("kind", CONTAINERS)
def test_an_operator_with_a_container_is_refused_or_keeps_the_gradient(kind: str, swapped: bool) -> None:
    container = CONTAINERS[kind]()
    plain = (container["a"] if kind == "Dataset" else container).to_numpy() if kind != "Variable" else container.values
    kept = 0
    for function in OPERATORS:

        def f(x: Any, other: Any, function: Any = function) -> Any:
            return function(other, x) if swapped else function(x, other)

        x, y = tracked([1.0, 2.5, 2.0]), tracked([1.0, 2.5, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            try:
                result = f(x, container)
            except (TypeError, ValueError):
                continue
        found = result["a"] if kind == "Dataset" else result
        tensor = found if isinstance(found, Tensor) else found.data
        assert isinstance(tensor, Tensor) and tensor.requires_grad, function
        tensor.sum().backward()
        f(y, plain).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy(), str(function))
        kept += 1
    if not swapped:  # otherwise the other library has the first word
        assert kept == {"column": 11, "frame": 10, "index": 11}.get(kind, 0)
    elif kind in ("DataArray", "Variable", "Dataset"):
        assert kept == 10


@pytest.mark.parametrize("transform", [mg.grad, mg.value_and_grad, mg.jacobian, mg.elementwise_grad])
def test_a_function_that_returns_a_container_around_a_tensor_is_told_so(transform: Any) -> None:
    xarray = pytest.importorskip("xarray")
    row = xarray.DataArray([3.0, 1.5, 2.0], dims="x")
    with pytest.raises(UnsupportedError, match=r"a DataArray around a Tensor.*return the .*\.data of the DataArray"):
        transform(lambda x: (row * x).sum())(np.ones(3))
    np.testing.assert_array_equal(mg.grad(lambda x: (row * x).sum().data)(np.ones(3)), row.values)


# --- pandas ---


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "y": [0, 1, 1], "text": ["x", "y", "z"]}, index=[7, 7, 9]
    )


def test_batches_of_columns_and_frames() -> None:
    df = frame()
    batches = nn.Batches([df[["a", "b"]], df["y"]], 2, seed=0, shuffle=False)
    (x, y), (last, _) = batches.epoch(0)
    assert type(x) is np.ndarray and type(y) is np.ndarray
    assert (x.tolist(), y.tolist(), last.tolist()) == ([[1, 4], [2, 5]], [0, 1], [[3, 6]])
    rows = nn.Batches([df["a"].iloc[[2, 0, 1]]], 3, seed=0, shuffle=False)  # by position, whatever the labels
    assert next(rows.epoch(0))[0].tolist() == [3, 1, 2]
    assert len(nn.Batches([df, df["y"]], 2, seed=0, collate=lambda indices: df.iloc[indices])) == 2


def test_what_is_no_number_in_a_frame_is_named() -> None:
    df = frame()
    for part in (df["text"], df):
        with pytest.raises(DTypeError, match=r"cannot make an array of numbers from (Series|DataFrame)"):
            nn.Batches([part], 2, seed=0)
    with pytest.raises(ShapeError, match="equal numbers of rows"):
        nn.Batches([df["a"], df["y"].iloc[:2]], 2, seed=0)


def test_a_model_is_trained_on_a_frame(tmp_path: Any) -> None:
    df = frame()
    model = nn.Sequential(
        nn.Affine(2, 8, rng=np.random.default_rng(0)), mg.relu, nn.Affine(8, 2, rng=np.random.default_rng(1))
    )
    optimizer = nn.Adam(model.parameters(), 0.05)
    for epoch in range(60):
        for x, y in nn.Batches([df[["a", "b"]], df["y"]], 2, seed=0).epoch(epoch):
            loss = nn.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            model.zero_grad()
    df["guess"] = model(df[["a", "b"]]).detach().argmax(axis=-1)  # and back into it
    df["logit"] = model(df[["a", "b"]]).detach()[:, 1]
    assert df["guess"].tolist() == [0, 1, 1] and df["logit"].dtype == np.float32


# --- SciPy ---


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_scipy_minimizes_with_our_gradients() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    start = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    for found in (
        optimize.minimize(mg.value_and_grad(rosenbrock), start, jac=True, method="BFGS", tol=1e-8),
        optimize.minimize(
            rosenbrock, start, jac=mg.grad(rosenbrock), hess=mg.hessian(rosenbrock), method="Newton-CG", tol=1e-8
        ),
    ):
        np.testing.assert_allclose(found.x, np.ones(5), atol=1e-4)
    error = optimize.check_grad(rosenbrock, mg.grad(rosenbrock), start)
    assert error < 1e-4
    roots = optimize.root(lambda x: x**3 - [1.0, 8.0], [2.0, 3.0], jac=mg.jacobian(lambda x: x**3 - [1.0, 8.0]))
    np.testing.assert_allclose(roots.x, [1, 2], rtol=1e-8)


def test_scipy_takes_untracked_tensors_as_arrays() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    np.testing.assert_allclose(linalg.expm(Tensor(np.zeros((2, 2)))), np.eye(2))
    with pytest.raises(UnsupportedError, match=r"t\.numpy\(\)"):
        linalg.expm(tracked(np.zeros((2, 2))))


# --- scikit-learn, Matplotlib ---


def test_scikit_learn_fits_the_values() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    x = tracked([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 4.0]])
    for values in (x.numpy(), x.detach()):
        model = linear_model.LinearRegression().fit(values, [1.0, 2.0, 3.0, 4.0])
        assert type(model.predict(values)) is np.ndarray
    with pytest.raises(UnsupportedError, match=r"t\.numpy\(\)"):
        linear_model.LinearRegression().fit(x, [1.0, 2.0, 3.0, 4.0])


def test_scikit_learn_carries_the_filters_of_warnings_to_its_workers() -> None:
    """It makes them anew from their patterns, ours too."""
    selection = pytest.importorskip("sklearn.model_selection")
    linear_model = pytest.importorskip("sklearn.linear_model")
    x = np.arange(8.0)[:, None]
    with warnings.catch_warnings():
        warnings.filters.insert(0, ("ignore", PointedAtTheUser(), RuntimeWarning, None, 0))  # type: ignore[attr-defined]
        scores = selection.cross_val_score(linear_model.LinearRegression(), x, 2 * x[:, 0], cv=2)
    assert scores.tolist() == pytest.approx([1, 1])


@pytest.mark.thorough
def test_the_estimator_of_the_docs_is_one_that_scikit_learn_takes(tmp_path: Path) -> None:
    """The class on the page in a module of its own: clone, a search in a pipeline, and joblib's file in a new process."""
    base, selection = pytest.importorskip("sklearn.base"), pytest.importorskip("sklearn.model_selection")
    joblib, pipelines = pytest.importorskip("joblib"), pytest.importorskip("sklearn.pipeline")
    scalers, data = pytest.importorskip("sklearn.preprocessing"), pytest.importorskip("sklearn.datasets")
    page = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    program = (
        page.partition("## A model in scikit-learn")[2].partition("```python\n")[2].partition("x, y = load_iris")[0]
    )
    (tmp_path / "own_estimator.py").write_text(program, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("own_estimator", tmp_path / "own_estimator.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "own_estimator", module)
        spec.loader.exec_module(module)
        x, y = data.load_iris(return_X_y=True)
        y = np.array(["setosa", "versicolor", "virginica"])[y]
        network = module.Network(hidden=4, epochs=20).fit(x, y)
        copy = base.clone(network)
        assert copy.get_params() == network.get_params() and not hasattr(copy, "model_")
        np.testing.assert_array_equal(copy.fit(x, y).predict(x), network.predict(x))  # a seed decides all
        pipeline = pipelines.make_pipeline(scalers.StandardScaler(), module.Network(epochs=20))
        search = selection.GridSearchCV(pipeline, {"network__hidden": [1, 16]}, cv=3).fit(x, y)
        assert search.best_params_ == {"network__hidden": 16} and search.best_score_ > 0.93
        joblib.dump(search.best_estimator_, tmp_path / "iris.joblib")
        expected = search.best_estimator_.predict(x)
    code = "import joblib, sys; print(*joblib.load('iris.joblib').predict(joblib.load('x.joblib')))"
    joblib.dump(x, tmp_path / "x.joblib")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.split() == expected.tolist()


def test_matplotlib_plots_what_is_detached() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes, t = figure.subplots(), tracked()
    (line,) = axes.plot(t.detach()[0], t.detach()[1])
    assert line.get_ydata().tolist() == A[1].tolist()
    axes.plot([loss.item() for loss in t.sum(axis=0)])
    axes.scatter(t.detach()[0], t.detach()[1], c=t.detach()[0])
    axes.imshow(t.detach())
    axes.hist(t.detach().ravel())
    figure.canvas.draw()
    with pytest.raises(mg.MinigradError, match=r"t\.numpy\(\)|detach\(\)"):
        axes.plot(t)


# --- einops, through the array API's names ---


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (lambda ops, t: ops.rearrange(t, "a (b c) -> c (a b)", c=1), lambda a: a.reshape(1, 6)),
        (lambda ops, t: ops.rearrange(t, "a b -> b a 1"), lambda a: a.T[..., None]),
        (lambda ops, t: ops.reduce(t, "a b -> a", "mean"), lambda a: a.mean(1)),
        (lambda ops, t: ops.reduce(t, "a b -> b", "max"), lambda a: a.max(0)),
        (lambda ops, t: ops.repeat(t, "a b -> (a r) b", r=2), lambda a: a.repeat(2, 0)),
        (lambda ops, t: ops.rearrange([t, t], "n a b -> a (n b)"), lambda a: np.hstack([a, a])),
        (lambda ops, t: ops.pack([t, t], "* b")[0], lambda a: np.vstack([a, a])),
    ],
)
def test_einops(f: Callable[..., Any], want: Callable[[Any], Any]) -> None:
    """By ``einops.array_api``; ``einops.rearrange`` itself knows only libraries that its own private classes name."""
    ops = pytest.importorskip("einops.array_api", reason="needs einops: pip install einops")
    t = tracked()
    got = f(ops, t)
    assert isinstance(got, Tensor) and got.requires_grad
    np.testing.assert_array_equal(got.data, want(A))
    mg.check_grads(lambda x: f(ops, x), [A])


def test_the_namespace_is_numpys() -> None:
    t = tracked()
    xp = t.__array_namespace__(api_version="2024.12")
    assert xp is np and xp.permute_dims(t, (1, 0)).requires_grad
