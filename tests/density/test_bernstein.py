"""The Bernstein mechanism: what one person can change, what it costs, what it gives."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KernelDensity

from skfuncpriv import BernsteinReleaser, NoiseDominatesWarning
from skfuncpriv.basis._bernstein_operator import BernsteinOperator
from skfuncpriv.density import _bernstein as module
from skfuncpriv.density import kde_lattice_sensitivity, kde_sup_sensitivity
from skfuncpriv.density._lattice_bumps import LatticeBumps, largest_sum
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.noise import NoiseLaw
from skfuncpriv.privacy import BudgetLedger, audit
from skfuncpriv.testing import recorded, silenced

quiet = pytest.mark.filterwarnings("ignore:the noise is expected")


def model(**parameters):
    facts = {"estimator": KernelDensity(bandwidth=0.2), "bounds": (-1.0, 3.0)}
    return BernsteinReleaser(**(facts | {"random_state": 0} | parameters))


def rows(n=200, n_axes=1, seed=0):
    return np.random.default_rng(seed).normal(1.0, 0.7, size=(n, n_axes))


def density(data, points, bandwidth):
    """A Gaussian kernel density, written a second time."""
    gap = (points[:, None, :] - data) / bandwidth
    height = np.prod(np.broadcast_to(bandwidth, data.shape[1]) * math.sqrt(2 * math.pi))
    return np.exp(-0.5 * np.square(gap).sum(axis=2)).mean(axis=1) / height


# What one person can change


def lattice_values(data, groups=None, **parameters):
    """The one release of a fit, with the exact values that it hides."""
    with recorded() as releases:
        model(**parameters).fit(data, groups=groups)
    (released,) = releases
    return released


CASES = {
    "narrow": {"degree": 20},
    "wide": {"degree": 4, "estimator": KernelDensity(bandwidth=8.0)},
    "medium": {"degree": 9, "estimator": KernelDensity(bandwidth=1.0)},
    "coarse": {"degree": 1, "estimator": KernelDensity(bandwidth=0.01)},
}
PLANE = {
    "isotropic": {"degree": 6},
    "axes": {"degree": 5, "estimator": GaussianKernel((0.3, 2.0))},
}


def candidates(n_axes):
    """What the replaced person may hold; some of it absurd."""
    line = np.concatenate([np.linspace(-1, 3, 41), [-1e300, 1e300, 0.987]])
    if n_axes == 1:
        return line[:, None]
    return np.array(list(itertools.product(line[::4], repeat=2)))


def check_pairs(released, epsilon=1.0, at_least=0.0):
    """The exact loss of every pair of neighbours, and that of the worst one."""
    step = Fraction(released[0].value.lattice.step)
    scale = Fraction(released[0].law.scales[0])
    assert {r.law.scales for r in released} == {released[0].law.scales}
    table = np.array([r.value.values.astype(object) for r in released])
    losses = [
        sum(abs(a - b) for a, b in zip(one, two, strict=True)) * step / scale
        for one, two in itertools.combinations(table.tolist(), 2)
    ]
    assert at_least * epsilon <= max(losses) <= epsilon


@quiet
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_pair_of_neighbours_loses_more_than_epsilon(case):
    others = rows(2)
    released = [
        lattice_values(np.vstack([others, person]), **case) for person in candidates(1)
    ]
    check_pairs(released, at_least=0.995 if case["degree"] in (1, 20) else 0.7)


@quiet
@pytest.mark.parametrize("case", PLANE.values(), ids=PLANE)
def test_no_pair_of_neighbours_in_the_plane_loses_more(case):
    others = rows(2, 2)
    released = [
        lattice_values(np.vstack([others, person]), **case) for person in candidates(2)
    ]
    check_pairs(released, at_least=0.3)


@quiet
def test_people_with_any_number_of_rows():
    rng = np.random.default_rng(1)
    released = []
    for n_rows in (1, 2, 5, 40):
        for _ in range(6):
            own = rng.choice(candidates(1)[:, 0], n_rows)[:, None]
            table = np.vstack([rows(3), own])
            groups = [0, 1, 2] + [3] * n_rows
            released.append(lattice_values(table, groups, degree=20))
    check_pairs(released, at_least=0.5)


@pytest.mark.parametrize("bandwidth", [1e-5, 0.01, 0.06, 0.07, 0.5, 40.0])
@pytest.mark.parametrize("degree", [1, 3, 10, 64])
def test_the_largest_sum_of_a_bump(bandwidth, degree):
    """Never below what a search finds, and hardly above."""
    x = np.concatenate(
        [np.linspace(0, 1, 4001), np.arange(degree + 1) / degree,
         np.random.default_rng(0).uniform(size=2000)]
    )  # fmt: skip
    nodes = np.arange(degree + 1) / degree
    found = np.exp(-0.5 * ((x[:, None] - nodes) / bandwidth) ** 2).sum(axis=1).max()
    assert found <= largest_sum(bandwidth, degree) <= found * 1.0001


def test_both_sensitivities():
    sup = kde_sup_sensitivity(100, (0.5, 0.25), 2)
    assert sup == pytest.approx(1 / (2 * math.pi * 0.125 * 100), rel=1e-9)
    # Narrow bumps meet one lattice point each, wide ones meet all.
    narrow = kde_lattice_sensitivity(100, (0.5, 0.25), 4, ((0, 0), (100, 100)))
    assert narrow == pytest.approx(2 * sup, rel=1e-5)
    # Wide ones meet all, where they can differ but little.
    wide = kde_lattice_sensitivity(100, 3.0, 1, (0, 1))
    lost = 2 * (1 - math.exp(-0.5 / 9))
    assert wide == pytest.approx(lost * kde_sup_sensitivity(100, 3.0), rel=1e-7)
    fitted = model(degree=12).fit(rows())
    stated = kde_lattice_sensitivity(200, 0.2, 12, (-1.0, 3.0))
    assert fitted.sensitivity_ == pytest.approx(stated, rel=1e-9)
    assert stated < 13 * kde_sup_sensitivity(200, 0.2)
    for bad in ({"n": 0}, {"bandwidth": -1.0}, {"bandwidth": (1.0, 2.0, 3.0)}):
        with pytest.raises(ValueError, match="must be"):
            kde_sup_sensitivity(**({"n": 3, "bandwidth": 1.0, "n_axes": 2} | bad))


def test_sums_do_not_depend_on_order_or_blocks(monkeypatch):
    bumps = LatticeBumps(500, (0.1, 0.3), 8)
    rng = np.random.default_rng(3)
    points, codes = rng.uniform(size=(500, 2)), rng.integers(0, 120, 500)
    people = LatticeBumps(120, (0.1, 0.3), 8)
    order = rng.permutation(500)
    plain, owned = bumps.sum(points).values, people.sum(points, codes).values
    monkeypatch.setattr("skfuncpriv.density._lattice_bumps._CHUNK_VALUES", 300)
    np.testing.assert_array_equal(bumps.sum(points[order]).values, plain)
    np.testing.assert_array_equal(people.sum(points[order], codes[order]).values, owned)
    exact = np.exp(
        -0.5
        * sum(
            np.square((points[:, k, None] - np.arange(9) / 8) / h).reshape(500, *shape)
            for k, (h, shape) in enumerate(((0.1, (9, 1)), (0.3, (1, 9))))
        )
    )
    np.testing.assert_allclose(
        bumps.lattice.to_float(plain), exact.sum(axis=0).ravel(), atol=500 * 2.0**-18
    )
    weighted = LatticeBumps(500, (0.1, 0.3), 8, is_weighted=True)
    assert weighted.sensitivity >= bumps.sensitivity
    halves = weighted.sum(points, shares=np.full(500, 0.5))
    np.testing.assert_allclose(
        bumps.lattice.to_float(halves.values),
        exact.sum(axis=0).ravel() / 2,
        atol=500 * 2.0**-18,
    )
    with pytest.raises(ValueError, match="more contributions"):
        people.sum(points)


@pytest.mark.parametrize("bandwidth", [(2.0,), (2.0, 0.7)])
def test_sums_of_many_rows_are_exact(bandwidth):
    n = 30_000
    bumps = LatticeBumps(n, bandwidth, 1)
    points = np.random.default_rng(4).uniform(size=(n, len(bandwidth)))
    total = np.zeros(bumps.size, dtype=np.int64)
    for start in range(0, n, 1000):
        first, *rest = bumps._factors(points[start : start + 1000], None)
        table = first if not rest else np.einsum("nv,nw->nvw", first, rest[0])
        total += table.reshape(1000, -1).astype(np.int64).sum(axis=0)
    assert total.max() > 2**53
    np.testing.assert_array_equal(bumps.sum(points).values, total)


def test_a_weight_of_zero_is_a_neighbour_of_one():
    """Whose bump is as wide as the box, and whose values never are near zero."""
    bumps = LatticeBumps(1, (2.0,), 6, is_weighted=True)
    points = np.array([[0.5]])
    change = bumps.sum(points, shares=np.ones(1)).values
    assert not bumps.sum(points, shares=np.zeros(1)).values.any()
    assert 0.9 * bumps.sensitivity <= change.sum() <= bumps.sensitivity
    with pytest.raises(ValueError, match="is_weighted"):
        LatticeBumps(1, (2.0,), 6).sum(points, shares=np.zeros(1))


def test_too_many_points_are_refused():
    with pytest.raises(PrivacyError, match="choose a smaller degree"):
        model(degree=127).fit(rows(20, 3))


# What it costs


def constant(level):
    return lambda X, y: lambda points: np.full(len(points), level)


@pytest.mark.parametrize("leak", [1.0, math.sqrt(2)], ids=["sound", "small scale"])
def test_an_audit_of_values(leak, monkeypatch):
    """Below epsilon, and above it for noise that is too small by sqrt(2)."""
    original = module.laplace_scale
    monkeypatch.setattr(module, "laplace_scale", lambda *a: original(*a) / leak)
    state = np.random.RandomState(7)
    epsilon, stated, n = 1.0, 0.5, 40_000
    scale = 2 * stated / epsilon

    def mechanism(level, n_trials):
        """Many releases of two values that move together: one fit gives the law."""
        fitted = model(
            estimator=constant(level), sensitivity=stated, degree=1, order=1,
            random_state=state, epsilon=epsilon,
        ).fit(rows(3))  # fmt: skip
        noise = fitted.sample(n_trials, [[-1.0], [3.0]], random_state=state)
        with silenced_floats():
            center = clone(fitted).fit(rows(3)).predict([[-1.0], [3.0]])
        return center + noise

    def likelihood_ratio(values):
        return (np.abs(values - stated) - np.abs(values)).sum(axis=1) / scale

    result = audit(
        mechanism, 0.0, stated, n_trials=n, statistic=likelihood_ratio,
        confidence=1 - 1e-7, batch=True,
    )  # fmt: skip
    if leak == 1:
        assert 0.8 * epsilon <= result.epsilon_lower <= epsilon
    else:
        assert result.epsilon_lower > epsilon
    with recorded() as releases:
        model(
            estimator=constant(0.0), sensitivity=stated, degree=3, epsilon=epsilon
        ).fit(rows(3))
    loss = releases[0].law.loss(np.ones(4))  # in units of the stated sensitivity
    assert loss == pytest.approx(leak * epsilon, rel=1e-8)
    assert leak > 1 or loss <= epsilon


def silenced_floats():
    """No noise on values that are floats, not integers of a lattice."""

    def release(law, value, lattice, bits):
        return np.rint(np.asarray(value) / lattice.step).astype(np.int64)

    patch = pytest.MonkeyPatch.context()

    class Context:
        def __enter__(self):
            patch.__enter__().setattr(NoiseLaw, "release", release)

        def __exit__(self, *error):
            patch.__exit__(*error)

    return Context()


def test_the_released_noise_is_laplace():
    """The noise of many values of one release, by its first two moments."""
    fitted = model(
        degree=1000, order=1, epsilon=3.0, estimator=constant(0.0), sensitivity=1.0
    )
    with recorded() as releases:
        fitted.fit(rows(5))
    (released,) = releases
    noise = released.lattice.to_float(released.integers) / released.law.scales[0]
    n = noise.size
    assert abs(noise.mean()) < 5 * math.sqrt(2 / n)
    assert abs(np.abs(noise).mean() - 1) < 5 / math.sqrt(n)
    assert abs(np.square(noise).mean() - 2) < 5 * math.sqrt(20 / n)
    assert released.law.scales[0] == pytest.approx(1001 / 3.0, rel=1e-8)


# What it gives


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_a_huge_budget_gives_the_polynomial_of_the_density(order, n_axes):
    data = rows(300, n_axes)
    fitted = model(degree=15, order=order, epsilon=1e7).fit(data)
    points = np.random.default_rng(5).uniform(-1, 3, size=(200, n_axes))
    nodes = np.linspace(-1, 3, 16)
    mesh = np.stack(np.meshgrid(*[nodes] * n_axes, indexing="ij"), axis=-1)
    values = density(np.clip(data, -1, 3), mesh.reshape(-1, n_axes), 0.2)
    operator = BernsteinOperator(15, order, n_axes)
    coef = operator.coefficients(values.reshape((16,) * n_axes))
    expected = operator.evaluate(coef, (points + 1) / 4)
    np.testing.assert_allclose(fitted.predict(points), expected, atol=1e-4)


def test_a_huge_budget_converges_to_the_density_of_scikit_learn():
    data, points = rows(2000), np.linspace(-1, 3, 101)[:, None]
    kde = KernelDensity(bandwidth=0.4)
    clipped = np.clip(data, -1, 3)
    expected = np.exp(clone(kde).fit(clipped).score_samples(points))
    errors = [
        np.abs(
            model(estimator=kde, degree=degree, order=order, epsilon=1e7)
            .fit(data)
            .predict(points)
            - expected
        ).max()
        / expected.max()
        for degree, order in ((30, 1), (30, 3), (250, 3))
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.003


def test_rows_beyond_the_bounds_count_at_the_bounds():
    data = rows(100)
    data[:10] = 1e308
    data[10:20] = -1e308
    one = model(degree=12).fit(data)
    two = model(degree=12).fit(np.clip(data, -1.0, 3.0))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    ends = one.predict([[-1.0], [3.0]])
    np.testing.assert_array_equal(one.predict([[-7.0], [1e300]]), ends)


@quiet
def test_someone_with_many_rows_weighs_as_much_as_someone_with_one():
    data = np.vstack([rows(3), np.full((50, 1), 2.0)])
    groups = ["a", "b", "c"] + ["d"] * 50
    once = model(degree=10).fit(data[:4], groups=groups[:4])
    often = model(degree=10).fit(data, groups=groups)
    np.testing.assert_allclose(often.coef_, once.coef_, atol=1e-9)
    assert often.guarantee_.unit == "person"
    assert often.n_people_ == 4
    assert model(degree=10).fit(data).guarantee_.unit == "row"


@pytest.mark.parametrize("n_axes", [1, 2])
def test_units_change_the_density_exactly(n_axes):
    data, points = rows(150, n_axes), rows(20, n_axes, seed=4)
    plain = model().fit(data)
    longer = model(
        estimator=KernelDensity(bandwidth=1.6), bounds=(-8.0, 24.0)
    ).fit(8 * data)  # fmt: skip
    assert longer.degree_ == plain.degree_
    factor = 8.0**-n_axes
    np.testing.assert_array_equal(longer.coef_, factor * plain.coef_)
    np.testing.assert_allclose(
        longer.predict(8 * points), factor * plain.predict(points), rtol=1e-9
    )
    assert longer.noise_std_ == pytest.approx(factor * plain.noise_std_, rel=1e-12)


@pytest.mark.parametrize("n_axes", [1, 2])
def test_noise_std_is_that_of_noise_functions(n_axes):
    fitted = model(degree=7, order=3).fit(rows(200, n_axes))
    points = np.random.default_rng(0).uniform(-1, 3, size=(400, n_axes))
    squares = np.square(fitted.sample(600, points, random_state=1)).mean(axis=1)
    error = squares.std() / math.sqrt(len(squares))
    # The points are random, too: their mean square differs from the integral.
    operator = fitted._operator
    coef = np.eye(8**n_axes).reshape(-1, *(8,) * n_axes)
    exact = sum(
        np.square(
            fitted._operator.evaluate(
                fitted._operator.coefficients(c), (points + 1) / 4
            )
        ).mean()
        for c in coef
    )
    ratio = exact / operator.noise_square
    assert abs(squares.mean() - ratio * fitted.noise_std_**2) < 5 * error
    assert 0.8 < ratio < 1.25


# The choice of the degree


def test_the_degree_follows_from_public_facts():
    choices = {}
    for n, epsilon, bandwidth, order in [
        (200, 1.0, 0.4, 2), (2000, 1.0, 0.4, 2), (200, 10.0, 0.4, 2),
        (2000, 1.0, 0.8, 2), (2000, 1.0, 0.4, 4),
    ]:  # fmt: skip
        kde = KernelDensity(bandwidth=bandwidth)
        facts = {"estimator": kde, "epsilon": epsilon, "order": order}
        degrees = {model(**facts).fit(rows(n, seed=k)).degree_ for k in range(3)}
        assert len(degrees) == 1
        choices[n, epsilon, bandwidth, order] = degrees.pop()
    base = choices[200, 1.0, 0.4, 2]
    assert choices[2000, 1.0, 0.4, 2] == choices[200, 10.0, 0.4, 2] > base
    assert choices[2000, 1.0, 0.8, 2] < choices[2000, 1.0, 0.4, 2]
    assert choices[2000, 1.0, 0.4, 4] < choices[2000, 1.0, 0.4, 2]


def test_the_chosen_degree_is_nearly_the_best_for_the_worst_density():
    """All points at one place, for which the bound is meant."""
    data, points = np.full((1000, 1), 1.0), np.linspace(-1, 3, 201)[:, None]
    expected = density(data, points, 0.4)

    def mean_error(n_fits=8, **parameters):
        kde = KernelDensity(bandwidth=0.4)
        fits = [
            model(estimator=kde, random_state=k, **parameters).fit(data)
            for k in range(n_fits)
        ]
        return np.mean([np.square(fit.predict(points) - expected) for fit in fits])

    chosen = mean_error()
    others = [mean_error(degree=degree) for degree in (4, 11, 32, 64, 128)]
    assert chosen <= 1.5 * min(others)
    assert max(others) > 3 * chosen


def test_the_degree_for_a_callable_needs_the_size_of_its_values():
    facts = {"estimator": constant(1.0), "sensitivity": 0.01}
    with pytest.raises(PrivacyError, match="state y_bounds"):
        model(**facts).fit(rows())
    small = model(**facts, y_bounds=(-1, 1)).fit(rows()).degree_
    large = model(**facts, y_bounds=(-100, 100)).fit(rows()).degree_
    assert 1 < small < large
    scaled = model(estimator=constant(8.0), sensitivity=0.08, y_bounds=(-8, 8))
    plain = model(**facts, y_bounds=(-1, 1))
    np.testing.assert_array_equal(scaled.fit(rows()).coef_, 8 * plain.fit(rows()).coef_)


# Callables


def mean_of_targets(X, y):
    """A function of private rows, the same everywhere."""
    return lambda points: np.full(len(points), np.mean(y)) + 0 * points[:, 0]


def test_targets_are_clipped():
    facts = {"estimator": mean_of_targets, "sensitivity": 0.02, "epsilon": 1e7}
    y = np.full(100, 1e9)
    fitted = model(**facts, y_bounds=(-1.0, 1.0), degree=3).fit(rows(100), y)
    np.testing.assert_allclose(fitted.predict([[0.0], [2.0]]), 1.0, atol=1e-6)
    with pytest.raises(ValueError, match="one finite number per row"):
        model(**facts, y_bounds=(-1.0, 1.0), degree=3).fit(rows(100), y[:-1])


def test_values_that_are_not_finite_count_as_zero():
    def broken(X, y):
        return lambda points: np.where(points[:, 0] < 0, np.nan, 1 / (points[:, 0] - 3))

    facts = {"estimator": broken, "sensitivity": 1.0, "degree": 4, "order": 1}
    fitted = model(**facts, epsilon=1e8).fit(rows())
    expected = [0.0, 1 / (0.0 - 3), 1 / (1.0 - 3), 1 / (2.0 - 3), 0.0]
    np.testing.assert_allclose(fitted.coef_, expected, atol=1e-5)


BAD = [
    ({"estimator": 3}, TypeError, "estimator must be an unfitted KernelDensity"),
    ({"estimator": KernelDensity}, TypeError, "estimator must be an unfitted"),
    ({"estimator": KernelDensity(kernel="tophat")}, PrivacyError, "tophat"),
    ({"estimator": KernelDensity(bandwidth="scott")}, PrivacyError, "state a number"),
    ({"estimator": KernelDensity().fit([[1.0]])}, ValueError, "it holds private data"),
    ({"estimator": GaussianKernel(((1.0,),))}, PrivacyError, "a bandwidth per axis"),
    ({"estimator": GaussianKernel((1.0, 2.0))}, ValueError, "one for each of 1 axes"),
    ({"sensitivity": 0.1}, ValueError, "sensitivity must be 'auto'"),
    ({"y_bounds": (0, 1)}, ValueError, "no meaning for a density"),
    ({"degree": 0}, ValueError, "degree must be an integer >= 1"),
    ({"degree": "auto"}, ValueError, "degree must be an integer >= 1"),
    ({"order": 0}, ValueError, "order must be an integer >= 1"),
    ({"order": 9}, ValueError, "order must be at most 8"),
    ({"bounds": (1, 0)}, ValueError, "bounds must"),
    ({"bounds": (-1e308, 1e308)}, ValueError, "choose another unit|distance overflows"),
    ({"ledger": 5}, TypeError, "ledger must be the path"),
    ({"estimator": constant(0.0)}, PrivacyError, "sensitivity must be stated"),
    (
        {"estimator": constant(0.0), "sensitivity": -1.0, "degree": 2},
        ValueError,
        "sensitivity must be a finite number > 0",
    ),
    (
        {"estimator": lambda X, y: lambda t: t, "sensitivity": 1.0, "degree": 2},
        ValueError,
        "one value per point",
    ),
]


@pytest.mark.parametrize(("parameters", "error", "text"), BAD)
def test_bad_parameters_are_refused_and_nothing_is_charged(
    parameters, error, text, tmp_path
):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    facts = {"ledger": str(ledger.path)} | parameters
    with recorded() as releases, pytest.raises(error, match=text):
        model(**facts).fit(rows())
    assert releases == []
    assert ledger.history() == []


def test_groups_of_a_callable_are_refused():
    fitted = model(estimator=constant(0.0), sensitivity=1.0, degree=2)
    with pytest.raises(PrivacyError, match="groups is supported for densities only"):
        fitted.fit(rows(4), groups=["a", "a", "b", "c"])


def test_hopeless_noise_is_announced():
    with pytest.warns(NoiseDominatesWarning, match="a larger epsilon, or more people"):
        model(epsilon=0.01, degree=20).fit(rows(5))


def test_silence_is_the_exact_sum():
    """What the checks of all estimators rely on."""
    with silenced():
        fitted = model(degree=9, order=1).fit(rows(50))
    nodes = np.linspace(-1, 3, 10)[:, None]
    expected = density(np.clip(rows(50), -1, 3), nodes, 0.2)
    np.testing.assert_allclose(fitted.coef_, expected, atol=1e-6)
