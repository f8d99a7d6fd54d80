"""Parameters from public facts: those that fits use, for every estimator that plans."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from sklearn.base import clone

import skfuncpriv
from skfuncpriv import (
    BasisProjector,
    BernsteinMean,
    BudgetLedger,
    FRLMean,
    ICLPMean,
    ParameterTable,
    PrivateKDE,
    privacy_safe_parameters,
)
from skfuncpriv._planned import PlannedRelease
from skfuncpriv.basis import CosineBasis, KernelBasis
from skfuncpriv.density._bandwidth import kernel_bias
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp._parameters import public_plan
from skfuncpriv.noise import NoiseLaw, OperatingSystemBits, SeededBits

N_PEOPLE = 150
UNIT = {"bounds": (0.0, 1.0)}
CURVE = {**UNIT, "domain": (0.0, 1.0)}
MEANS = {
    "denoised": ICLPMean(**UNIT),
    "plain": ICLPMean(**UNIT, denoise=False),
    "published": ICLPMean(
        **UNIT, kernel="matern32", noise="kernel", mechanism="laplace", denoise=False
    ),
    "rate": ICLPMean(**UNIT, kernel="exponential", psi="rate", denoise=False),
    "absolute": ICLPMean(**UNIT, penalty="ar", mechanism="laplace", eta=1.5),
    "gaussian": ICLPMean(**UNIT, mechanism="gaussian", delta=1e-6),
    "basis": ICLPMean(**UNIT, basis=CosineBasis(9)),
    "frl": FRLMean(**UNIT),
    "frl-spherical": FRLMean(**UNIT, mechanism="spherical", n_basis=7),
    "bernstein": BernsteinMean(**UNIT),
    "bernstein-plain": BernsteinMean(**UNIT, order=1, degree=12),
}
DENSITIES = {
    "bins": PrivateKDE(**UNIT),
    "number": PrivateKDE(**UNIT, bandwidth=0.08),
    "scott": PrivateKDE(**UNIT, bandwidth="scott", denoise=False),
    "quartiles": PrivateKDE(**UNIT, bandwidth="private-iqr"),
    "process": PrivateKDE(**UNIT, mechanism="gaussian_process", delta=1e-6),
    "iclp": PrivateKDE(**UNIT, mechanism="iclp"),
    "iclp-quartiles": PrivateKDE(**UNIT, mechanism="iclp", bandwidth="private-iqr"),
    "lattice": PrivateKDE(**UNIT, mechanism="bernstein", bandwidth=0.1),
    "gaussian": PrivateKDE(**UNIT, noise="gaussian", delta=1e-6),
    "circle": PrivateKDE(**UNIT, boundary="periodic"),
}
OTHERS = {
    "covariance": skfuncpriv.ICLPCovariance(**UNIT),
    "components": skfuncpriv.PrivateFPCA(**UNIT),
    "sparse": skfuncpriv.PrivateSparseMean(**CURVE),
    "regressor": skfuncpriv.ICLPRegressor(X_bounds=(0.0, 1.0), y_bounds=(0.0, 1.0)),
    "classifier": skfuncpriv.ICLPClassifier(X_bounds=(0.0, 1.0), classes=(0, 1)),
}
ALL = {**MEANS, **{f"density-{k}": v for k, v in DENSITIES.items()}, **OTHERS}
each_mean = pytest.mark.parametrize("model", MEANS.values(), ids=MEANS)
each_density = pytest.mark.parametrize("model", DENSITIES.values(), ids=DENSITIES)
each_estimator = pytest.mark.parametrize("model", ALL.values(), ids=ALL)


def curves(seed=0):
    return np.random.default_rng(seed).uniform(-1, 2, (N_PEOPLE, 30))


# The table is that of the fits


@each_mean
def test_parameters_are_those_of_a_fit(model):
    model = clone(model).set_params(epsilon=4.0, random_state=0)
    (row,) = privacy_safe_parameters(model, N_PEOPLE, n_points=30)
    for X in (curves(), np.zeros((N_PEOPLE, 30))):
        fit = clone(model).fit(X)
        assert row.n_functions == len(fit.coef_)
        assert (row.n_people, row.epsilon) == (fit.n_people_, fit.guarantee_.epsilon)
        assert row.delta == fit.guarantee_.delta
        law = type(fit.law_).__name__.lower().replace("independent", "")
        assert law.startswith(row.mechanism.replace("-", ""))
        if hasattr(fit, "psi_"):
            assert row.psi == fit.psi_
            assert row.eta == (fit.eta_ if fit.psi_ else None)
        assert row.sampling >= fit.norm_bound_**2 / N_PEOPLE * (1 - 1e-12)
        fine = np.linspace(0, 1, 2001)
        weights = fit.weights_
        if getattr(fit, "denoise", False):  # what is expected to be left
            plan, _ = public_plan(fit, N_PEOPLE, 1, (0.0, 1.0), 30)
            weights = plan.expected_weights
        functions = fit.basis_.evaluate(fine) * weights
        unit = fit.norm_bound_ / N_PEOPLE
        square = np.square(functions * (unit * fit.law_.std)).sum(axis=1)
        assert row.noise == pytest.approx(np.trapezoid(square, fine), rel=2e-3)
        assert row.noise == fit.expected_error(N_PEOPLE, n_points=30)
    assert row.risk == row.bias + row.sampling + row.noise


def test_rows_of_iclp_tell_denoising_from_a_penalty():
    (denoised,) = privacy_safe_parameters(MEANS["denoised"], 1000)
    assert (denoised.psi, denoised.eta) == (0.0, None)
    (plain,) = privacy_safe_parameters(MEANS["plain"], 1000)
    assert plain.psi > 0
    assert plain.eta > 0.5
    rates = privacy_safe_parameters(MEANS["rate"], [100, 10**4], epsilon=[1.0, 10.0])
    strengths = [row.psi for row in rates]  # a power of n epsilon
    assert strengths[0] > strengths[1] == pytest.approx(strengths[0] ** 1.5)
    assert strengths[2] == pytest.approx(strengths[0] ** 2)
    assert strengths[3] == pytest.approx(strengths[0] ** 2.5)


@each_density
def test_parameters_are_those_of_a_density(model):
    model = clone(model).set_params(epsilon=4.0, random_state=0)
    (row,) = privacy_safe_parameters(model, N_PEOPLE)
    X = np.random.default_rng(0).normal(0.5, 1 / 12, (N_PEOPLE, 1))
    releases = []
    with pytest.MonkeyPatch.context() as patch:
        release = NoiseLaw.release

        def recorded(law, *arguments):
            releases.append(law)
            return release(law, *arguments)

        patch.setattr(NoiseLaw, "release", recorded)
        fit = model.fit(X)
    assert row.delta == fit.guarantee_.delta
    assert row.epsilon == fit.guarantee_.epsilon == 4.0
    if model.bandwidth == "private-iqr":  # known after the release only
        assert row.bandwidth is None
        assert 0 < row.noise < math.inf
        return
    assert row.n_functions == releases[-1].size
    assert row.bandwidth == pytest.approx(fit.bandwidth_)
    if model.bandwidth != "pss" or model.mechanism != "auto":
        assert row.bias == pytest.approx(kernel_bias(np.array([row.bandwidth])))
        # Noise that is smoothed; near the bounds some of it is mirrored.
        if not (model.denoise and model.mechanism in ("auto", "iclp")):
            assert row.noise == pytest.approx(fit.noise_std_**2, rel=0.25)
    else:
        assert row.noise >= fit.noise_std_**2  # before denoising


def test_bias_and_sampling_of_a_density_by_simulation():
    """The density of reference, its curve with a kernel, and that of people."""
    t = (np.arange(4000) + 0.5) / 4000
    spread, h, n = 1 / 12, 0.08, 40
    (row,) = privacy_safe_parameters(DENSITIES["number"], n)

    def normal(x, s):
        return np.exp(-0.5 * (x / s) ** 2) / (s * math.sqrt(2 * math.pi))

    wide = normal(t - 0.5, math.hypot(spread, h))
    bias = np.mean((wide - normal(t - 0.5, spread)) ** 2)
    assert row.bias == pytest.approx(bias, rel=1e-3)
    rng = np.random.default_rng(0)
    errors = [
        np.mean((normal(t[:, None] - x, h).mean(axis=1) - wide) ** 2)
        for x in 0.5 + spread * rng.normal(size=(60, n))
    ]
    assert np.mean(errors) < row.sampling < 4 * np.mean(errors)


def test_units_of_a_density():
    for facts, sizes in (({}, (1.0, 10.0)), ({"bandwidth": "scott"}, (4.0, 8.0))):
        rows = [
            privacy_safe_parameters(PrivateKDE(bounds=(0.0, size), **facts), 500)[0]
            for size in sizes
        ]
        factor = sizes[1] / sizes[0]
        if facts:  # scikit-learn's rule does not know the units
            assert rows[0].bandwidth == pytest.approx(rows[1].bandwidth)
            continue
        assert rows[1].bandwidth == pytest.approx(factor * rows[0].bandwidth)
        for name in ("bias", "sampling", "noise"):
            scaled = getattr(rows[0], name) / factor
            assert getattr(rows[1], name) == pytest.approx(scaled)


def test_features_of_a_density():
    box = ((0.0, 0.0), (1.0, 5.0))
    (row,) = privacy_safe_parameters(PrivateKDE(bounds=box), 1000)
    assert row.bandwidth == pytest.approx((1 / 15, 5 / 15))
    assert row.n_functions == 15 * 15
    (square,) = privacy_safe_parameters(PrivateKDE(bounds=(0, 1)), 1000, n_outputs=2)
    assert square.bandwidth == pytest.approx(1 / 15)
    assert "0.0667 0.333" in str(privacy_safe_parameters(PrivateKDE(bounds=box), 1000))
    with pytest.raises(ValueError, match="bounds"):
        privacy_safe_parameters(PrivateKDE(bounds=box), 1000, n_outputs=3)


# Nothing is touched


@each_estimator
def test_nothing_is_drawn_charged_or_changed(model, tmp_path, monkeypatch):
    def fail(*arguments):
        raise AssertionError("something was drawn")

    for source in (OperatingSystemBits, SeededBits):
        monkeypatch.setattr(source, "words", fail)
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0, delta=1e-3)
    model = clone(model).set_params(ledger=str(ledger.path))
    before = str(vars(model))
    table = privacy_safe_parameters(model, [200, 2000], epsilon=(0.5, 2.0))
    assert ledger.history() == []
    assert str(vars(model)) == before
    # Every combination, people slowest, and more of either never costs more noise.
    assert [(row.n_people, row.epsilon) for row in table] == [
        (200, 0.5), (200, 2.0), (2000, 0.5), (2000, 2.0)
    ]  # fmt: skip
    risks = [row.bias + row.noise for row in table]
    assert risks[0] > risks[3]
    for row in table:
        assert isinstance(row, PlannedRelease)
        for value in (row.bias, row.sampling, row.noise):
            assert 0 <= value < math.inf
        assert row.n_functions >= 1
    assert list(privacy_safe_parameters(model, 200, epsilon=2.0)) == [table[1]]


def test_a_fitted_estimator_is_read_as_if_it_were_not():
    model = ICLPMean(**UNIT, epsilon=3.0, random_state=0).fit(curves())
    table = privacy_safe_parameters(model, 77)
    assert table == privacy_safe_parameters(ICLPMean(**UNIT, epsilon=3.0), 77)
    assert model.n_people_ == N_PEOPLE


# The table itself


def table_of(**facts):
    model = ICLPMean(**UNIT, **facts)
    return privacy_safe_parameters(
        model, np.array([100, 1000]), epsilon=[0.5, 1], delta=(0, 0.1)
    )


def test_table_is_a_frozen_sequence_of_rows():
    table = table_of()
    assert isinstance(table, ParameterTable)
    assert len(table) == len(list(table)) == 8
    assert [row.delta for row in table_of(mechanism="laplace")] == [0.0] * 8
    # deltas change fastest: Gaussian noise where there is much of it
    assert [row.mechanism == "gaussian" for row in table] == [False, True] * 4
    assert [row.delta for row in table] == [0.0, 0.1] * 4
    with pytest.raises(FrozenInstanceError):
        table.rows = ()
    assert table == table_of()


def test_text_is_aligned_and_says_units():
    table = table_of(denoise=False, psi=1e-3, eta=1.5)
    head, *body, names_of, units = str(table).split("\n")
    names = head.split()
    assert names == [
        "people", "epsilon", "delta", "mechanism", "M", "eta", "psi",
        "bias", "sampling", "noise",
    ]  # fmt: skip
    assert {len(line) for line in [head, *body]} == {len(head)}
    assert names_of.startswith("M is the number of functions; bias, sampling and noise")
    assert units == "root mean squares of errors of the released mean at a point"
    for row, line in zip(table, body, strict=True):
        cells = dict(zip(names, line.split(), strict=True))
        assert int(cells["people"]) == row.n_people
        assert cells["mechanism"] == row.mechanism
        assert int(cells["M"]) == row.n_functions
        for name in ("epsilon", "delta", "psi", "bias", "sampling", "noise"):
            value = getattr(row, name)
            if name in ("bias", "sampling", "noise"):
                value = math.sqrt(value)  # on a domain of length one
            assert float(cells[name]) == pytest.approx(value, rel=5e-3)
    assert "bandwidth" in str(privacy_safe_parameters(DENSITIES["bins"], 10))


def errors_in(text):
    """Bias, sampling and noise of every row of a text."""
    return [[float(x) for x in line.split()[-3:]] for line in text.split("\n")[1:-2]]


def test_errors_are_shown_at_a_point_where_the_domain_is_known():
    """A domain of another length has the same errors at its points."""
    facts = {"bounds": (0, 1), "mechanism": "laplace"}
    short, long = (
        privacy_safe_parameters(ICLPMean(domain=domain, **facts), [100, 900])
        for domain in ((0, 1), (0, 25))
    )
    assert str(long) == str(short)
    assert long[0].noise == pytest.approx(25 * short[0].noise)
    assert errors_in(long.to_text(9.0)) == [
        [
            pytest.approx(math.sqrt(error / 9), rel=5e-3)
            for error in (row.bias, row.sampling, row.noise)
        ]
        for row in long
    ]
    without = ParameterTable(tuple(replace(row, size=None) for row in long))
    assert str(without).endswith(
        "squared L2 norms of errors of the released mean, which add up"
    )
    assert errors_in(str(without)) == [
        [
            pytest.approx(error, rel=5e-3)
            for error in (row.bias, row.sampling, row.noise)
        ]
        for row in long
    ]
    before = ParameterTable(tuple(replace(row, denoised=False) for row in long))
    after = ParameterTable(tuple(replace(row, denoised=True) for row in long))
    assert "noise (before denoising) are\n" in str(before)
    assert "noise (after denoising) are\n" in str(after)
    mixed = ParameterTable((short[0], long[0]))
    assert "squared L2" in str(mixed)


ROWS = "for a row of a reference problem"
KNOWN = {
    "denoised": ("the released mean", 1.0, "at a point"),
    "frl": ("the released mean", 1.0, "at a point"),
    "bernstein": ("the released mean", 1.0, "at a point"),
    "sparse": ("the released mean", 1.0, "at a point"),
    "covariance": ("the released covariance", 1.0, "at a point"),
    "components": ("the released covariance", 1.0, "at a point"),
    "density-bins": ("the released density", 1.0, "at a point"),
    "regressor": ("predictions", 1.0, ROWS),
    "classifier": ("the decision function", 1.0, ROWS),
}


@pytest.mark.parametrize("name", KNOWN)
def test_every_row_says_what_its_errors_are_of(name):
    (row,) = privacy_safe_parameters(ALL[name], 500)
    assert (row.released, row.size, row.place) == KNOWN[name]


def test_sizes_are_those_of_the_domain():
    wide = {"bounds": (0, 1), "domain": (1, 4)}
    curves = skfuncpriv.ICLPRegressor(X_bounds=(0, 1), y_bounds=(0, 1), y_domain=(1, 4))
    for model, size in (
        (ICLPMean(**wide), 3.0),
        (ICLPMean(bounds=(0, 1), basis=CosineBasis(5, domain=(1, 4))), 3.0),
        (FRLMean(**wide), 3.0),
        (BernsteinMean(**wide), 3.0),
        (skfuncpriv.PrivateSparseMean(**wide), 3.0),
        (skfuncpriv.ICLPCovariance(**wide), 9.0),
        (skfuncpriv.PrivateFPCA(**wide), 9.0),
        (PrivateKDE(bounds=((0, 0), (2, 5))), 10.0),
        (curves, 3.0),
    ):
        (row,) = privacy_safe_parameters(model, 500)
        assert row.size == size
    assert row.place == f"at a point, {ROWS}"


def test_repr_is_the_table():
    table = table_of()
    assert repr(table) == str(table) == table.to_text()
    assert max(map(len, repr(table).split("\n"))) <= 100


def test_html_holds_the_same_cells():
    table = table_of()
    page = table._repr_html_()
    assert page.count("<tr>") == 9
    assert page.startswith("<table>")
    assert page.endswith("</table>")
    for cell in str(table).split("\n")[3].split():
        assert f"<td>{cell}</td>" in page


def test_frame_has_all_columns():
    table = table_of()
    frame = table.to_frame()
    assert list(frame.columns) == [
        "people", "epsilon", "delta", "mechanism", "M", "eta", "psi", "bandwidth",
        "bias", "sampling", "noise",
    ]  # fmt: skip
    assert frame["people"].tolist() == [100] * 4 + [1000] * 4
    assert frame["noise"].tolist() == [row.noise for row in table]
    assert frame["bandwidth"].isna().all()


def test_shared_facts_of_a_kernel_are_used():
    """The spectrum is a public fact: rougher kernels have other weights."""
    rows = [
        privacy_safe_parameters(
            ICLPMean(**UNIT, kernel=kernel, denoise=False, psi=1e-3, eta=1.5), 500
        )[0]
        for kernel in ("exponential", "matern52")
    ]
    visible = [
        int(np.sum(KernelBasis(kernel, 256).spectrum ** 1.5 > 1e-6))
        for kernel in ("exponential", "matern52")
    ]
    assert rows[0].n_functions > rows[1].n_functions
    for row, expected in zip(rows, visible, strict=True):
        assert row.n_functions == pytest.approx(expected, abs=1)


# Bad requests


@pytest.mark.parametrize(
    "thing", [ICLPMean, PrivateKDE, BasisProjector(), None, "ICLPMean", object(), 3]
)
def test_what_does_not_plan_is_refused(thing):
    with pytest.raises(TypeError, match="estimator must be an instance of an est"):
        privacy_safe_parameters(thing, 100)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"n_people": 0}, "n_people must be an integer >= 1"),
        ({"n_people": [10, 2.5]}, "n_people must be an integer >= 1"),
        ({"n_people": "100"}, "n_people must be an integer >= 1"),
        ({"n_people": True}, "n_people must be an integer >= 1"),
        ({"n_people": None}, "n_people must be an integer >= 1"),
        ({"n_people": []}, "got none"),
        ({"epsilon": 0}, "epsilon must be a finite number > 0"),
        ({"epsilon": [1.0, math.nan]}, "epsilon must be a finite number > 0"),
        ({"epsilon": "1"}, "epsilon must be a finite number > 0"),
        ({"epsilon": ()}, "got none"),
        ({"delta": 1.0}, "delta must be a number in"),
        ({"delta": [0.0, -1.0]}, "delta must be a number in"),
        ({"n_outputs": 0}, "n_outputs must be an integer >= 1"),
        ({"n_points": 0}, "n_points must be an integer >= 1"),
    ],
)
def test_bad_numbers_are_refused(facts, text):
    with pytest.raises(ValueError, match=text):
        privacy_safe_parameters(ICLPMean(**UNIT), **{"n_people": 10, **facts})


def test_parameters_of_the_estimator_are_checked():
    with pytest.raises(ValueError, match="BernsteinMean has no delta: leave it out"):
        privacy_safe_parameters(BernsteinMean(**UNIT), 10, delta=1e-6)
    with pytest.raises(ValueError, match="bounds"):
        privacy_safe_parameters(ICLPMean(bounds=(1, 0)), 10)
    with pytest.raises(ValueError, match="bounds"):
        privacy_safe_parameters(PrivateKDE(bounds=None), 10)
    with pytest.raises(PrivacyError, match="needs delta > 0"):
        privacy_safe_parameters(ICLPMean(**UNIT, mechanism="gaussian"), 10)
