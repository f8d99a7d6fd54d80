"""The display of a function of one feature, and that of a budget."""

import sys
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfuncpriv import (
    BernsteinReleaser,
    BudgetDisplay,
    BudgetLedger,
    FunctionDisplay,
    GaussianProcessReleaser,
    PrivacyGuarantee,
    PrivateKernelRegressor,
)
from skfuncpriv.gaussian_process import ExponentialKernel

X = np.linspace(0, 4, 9)


def fitted(**attributes):
    return types.SimpleNamespace(
        predict=lambda T: T[:, 0] ** 2,
        decision_function=lambda T: -T[:, 0],
        guarantee_="epsilon = 1",
        **attributes,
    )


def test_line_band_and_reference_are_the_arrays():
    noise = np.linspace(1, 2, 9)
    display = FunctionDisplay(X, X**2, noise=noise, level=0.9, reference=X)
    assert display.plot() is display
    assert_array_equal(display.line_.get_xydata(), np.column_stack([X, X**2]))
    assert_array_equal(display.reference_line_.get_ydata(), X)
    edges = display.fill_.get_paths()[0].vertices[:, 1]
    assert_allclose(edges.max(), 16 + 2 * 1.6448536, rtol=1e-6)
    assert_allclose(edges.min(), -1.6448536, rtol=1e-6)
    plt.close("all")


def test_a_function_is_drawn_at_public_points_only():
    model = fitted(noise_std=lambda T: 0.5 + T[:, 0])
    display = FunctionDisplay.from_estimator(model, X, feature_name="age in years")
    assert_array_equal(display.line_.get_ydata(), X**2)
    edges = display.fill_.get_paths()[0].vertices
    assert_allclose(edges[:, 1].max(), 16 + 4.5 * 1.959964, rtol=1e-6)
    assert display.ax_.get_xlabel() == "age in years"
    assert display.ax_.get_title(loc="left") == "epsilon = 1"
    other = FunctionDisplay.from_estimator(
        model, X, display.ax_, response="decision_function", name="score"
    )
    assert other.fill_ is None  # the noise is that of predictions
    assert_array_equal(other.line_.get_ydata(), -X)
    assert other.line_.get_color() != display.line_.get_color()
    plt.close("all")


REAL = {  # and the least and most that a band for 0.95 should hold of their noise
    "Laplace": (
        BernsteinReleaser(
            estimator=lambda X, y: wave,
            bounds=(0.0, 4.0),
            sensitivity=0.1,
            degree=8,
            y_bounds=(-1.0, 1.0),
        ),
        (0.937, 0.951),
    ),
    "Gauss": (
        GaussianProcessReleaser(
            estimator=lambda X, y: wave,
            bounds=(0.0, 4.0),
            sensitivity=0.1,
            kernel=ExponentialKernel(0.5),
            delta=0.01,
            points=[[0.5], [3.0]],  # far from them it has no noise
        ),
        (0.949, 0.951),
    ),
}


def wave(t):
    return np.sin(t[:, 0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "holds"), REAL.values(), ids=REAL)
def test_a_band_holds_the_noise_at_each_point(model, holds):
    rows = np.zeros((9, 1))
    exact = clone(model).set_params(epsilon=1e6).fit(rows, rows[:, 0])
    model = clone(model).set_params(random_state=np.random.RandomState(0))
    display = FunctionDisplay.from_estimator(model.fit(rows, rows[:, 0]), X)
    vertices = display.fill_.get_paths()[0].vertices
    width = np.array(
        [(v := vertices[vertices[:, 0] == x, 1]).max() - v.min() for x in X]
    )
    n = 500
    noise = np.empty((n, len(X)))
    for k in range(n):
        model.fit(rows, rows[:, 0])
        noise[k] = model.predict(X[:, None]) - exact.predict(X[:, None])
    held = (np.abs(noise) <= width / 2).mean(axis=0)
    sd = np.sqrt(0.05 * 0.95 / n)
    assert (held >= holds[0] - 5 * sd).all()
    assert (held <= holds[1] + 5 * sd).all()
    ratio = noise.std(axis=0) / (width / 2 / 1.959964)
    assert_allclose(ratio, 1.0, atol=5 * np.sqrt(5 / 4 / n))  # kurtosis 6 at most
    plt.close("all")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("is_series", [True, False], ids=["series", "array"])
def test_a_column_has_its_name_in_the_library_of_its_table(library, is_series):
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"dose": np.linspace(0, 1, 40)})
    seen = []
    model = types.SimpleNamespace(
        predict=lambda T: (seen.append(type(T)), T["dose"].to_numpy())[1],
        guarantee_="g",
        feature_names_in_=np.array(["dose"]),
    )
    points = table["dose"] if is_series else table["dose"].to_numpy()
    display = FunctionDisplay.from_estimator(model, points)
    assert display.ax_.get_xlabel() == "dose"
    if is_series:
        assert seen == [type(table)]
    plt.close("all")


def test_names_need_no_pandas(monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)  # an import fails
    x = polars.DataFrame({"dose": np.linspace(0, 1, 300)})
    model = PrivateKernelRegressor(bounds=(0, 1), y_bounds=(0, 1), random_state=0)
    model.fit(x, x["dose"].to_numpy())
    display = FunctionDisplay.from_estimator(model, np.linspace(0, 1, 9))
    assert display.ax_.get_xlabel() == "dose"
    plt.close("all")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"values": X[:-1]}, "one shape"),
        ({"points": X[:, None]}, "one shape"),
        ({"reference": X[:2]}, "reference must have"),
        ({"noise": 1.0, "level": 1.0}, "level must lie"),
    ],
)
def test_what_does_not_fit_is_refused(change, text):
    with pytest.raises(ValueError, match=text):
        FunctionDisplay(**{"points": X, "values": X, **change}).plot()


def test_what_was_not_released_is_not_drawn():
    with pytest.raises(NotFittedError):
        FunctionDisplay.from_estimator(types.SimpleNamespace(predict=None), X)


def test_a_budget_is_drawn_by_label(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=2.0)
    empty = BudgetDisplay.from_ledger(ledger)
    assert [bar[0].get_width() for bar in empty.bars_] == [2.0]
    for label, epsilon in (("mean", 0.5), ("density", 0.25), ("mean", 0.5)):
        guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=epsilon)
        ledger.charge(guarantee, label)
    display = BudgetDisplay.from_ledger(ledger)
    assert [bar[0].get_width() for bar in display.bars_] == [1.0, 0.25, 0.75]
    assert [bar[0].get_x() for bar in display.bars_] == [0.0, 1.0, 1.25]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["mean: 1", "density: 0.25", "left: 0.75"]
    plt.close("all")


def test_scopes_are_drawn_beside_each_other_on_one_scale(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=3.0)
    guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=0.5)
    _, panels = plt.subplots(3, figsize=(7, 6), sharex=True, layout="constrained")
    shares = {"Ada $a$": 2.0, "Ben": 0.5, "Cleo": 0.25}
    for (name, share), ax in zip(shares.items(), panels, strict=True):
        scope = BudgetLedger(ledger.add_scope(name, epsilon=share))
        if name == "Ben":
            scope.charge(guarantee, "mean")
        display = BudgetDisplay.from_ledger(scope, ax)
        title = ax.get_title(loc="left").replace("\n", " ")
        assert title == f"{name}: {scope.budget}".replace("$", r"\$")
        assert sum(bar[0].get_width() for bar in display.bars_) == share
    assert {ax.get_xlim() for ax in panels} == {(0.0, 2.04)}
    panels[0].figure.canvas.draw()
    for ax in panels:  # the title stands above the legend
        legend = ax.get_legend().get_window_extent()
        assert ax._left_title.get_window_extent().y0 >= legend.y1 - 8
    assert BudgetDisplay.from_ledger(scope, title="x").ax_.get_title(loc="left") == "x"
    plt.close("all")


def test_parts_of_a_partition_are_not_added(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=2.0)
    guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=0.5)
    for address in ledger.add_partition("site", ["a", "b"]).values():
        BudgetLedger(address).charge(guarantee, "mean")
    display = BudgetDisplay.from_ledger(ledger)
    assert [bar[0].get_width() for bar in display.bars_] == [0.5, 1.5]
    plt.close("all")


@pytest.mark.parametrize(("amounts", "budget"), [({"a": -1.0}, 1.0), ({}, 0.0)])
def test_impossible_budgets_are_refused(amounts, budget):
    with pytest.raises(ValueError, match="amounts must be"):
        BudgetDisplay(amounts, budget).plot()


def test_what_is_spent_is_rounded_up_and_what_is_left_down():
    display = BudgetDisplay({"a": 1.00004, "b": 0.1 + 0.2}, budget=2.30003).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a: 1.001", "b: 0.3", "left: 0.9999"]
