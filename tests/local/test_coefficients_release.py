"""What is released: how many coefficients, on which lattice, from which bits."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from skfuncpriv import GeoPrivateCoefficients
from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    MonomialBasis,
    TensorBasis,
)
from skfuncpriv.denoise import spectral_average
from skfuncpriv.noise import NoiseLaw, SphericalLaplace, release_lattice

N = 20_000
_SPREAD = 6.2  # standard errors: odds of 1e-9


# How many coefficients


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_number_of_coefficients(n_outputs):
    rows = np.zeros((1, 40))

    def count(**parameters):
        model = GeoPrivateCoefficients(n_outputs=n_outputs, **parameters).fit(rows)
        out = model.transform(rows)
        count = model.n_coefficients_ * n_outputs
        assert np.isfinite(out[:, :count]).all()
        assert np.isnan(out[:, count:]).all()
        assert_array_equal(np.isnan(model.noise_std_), np.isnan(out[0]))
        assert_array_equal(np.isnan(model.sample(1)), np.isnan(out))
        return count

    assert count(epsilon=1.0) == 40  # nothing is known
    assert count(epsilon=1.0, n_coefficients=None, norm_bound=1.0) == 40
    assert count(epsilon=1.0, n_coefficients=3) == 3 * n_outputs
    assert count(epsilon=1.0, n_coefficients=99) == 40
    assert count(epsilon=1e-9, norm_bound=1.0) == n_outputs
    assert count(epsilon=1e9, norm_bound=1.0) == 40
    assert count(rho=1e-9, norm_bound=1.0) == 40
    wanted = round(np.sqrt(0.13 * 0.5 * 1000 / n_outputs))
    assert count(epsilon=0.5, norm_bound=1000.0) == wanted * n_outputs
    assert count(epsilon=0.5, bounds=(-500, 500), domain=(0, 4)) == (
        round(np.sqrt(0.13 * 0.5 * 1000 / np.sqrt(n_outputs))) * n_outputs
    )


def test_positions_are_no_frequencies():
    """The first splines are those at the left end: nothing is cut off behind them."""
    model = GeoPrivateCoefficients(
        epsilon=1e-6, basis=BSplineBasis(9).orthonormalize(), bounds=(0, 1)
    ).fit(np.zeros((1, 9)))
    assert model.n_coefficients_ == 9


def test_bounds_and_norm_bounds():
    def bound(**parameters):
        model = GeoPrivateCoefficients(epsilon=1.0, n_outputs=2, **parameters)
        return model.fit(np.zeros((1, 4))).norm_bound_

    assert bound() is None
    assert bound(norm_bound=3) == 3.0
    assert bound(bounds=(-2, 1), domain=(0, 4)) == pytest.approx(2 * 2 * np.sqrt(2))
    assert bound(bounds=(1, 3)) == pytest.approx(np.sqrt(2))
    assert bound(bounds=(1, 3), norm_bound=0.5) == 0.5
    assert bound(bounds=(0, 3), center=1, domain=np.array([0.0, 1.0])) == (
        pytest.approx(2 * np.sqrt(2))
    )
    squares = TensorBasis((CosineBasis(2, (0, 4)), CosineBasis(1, (0, 9))))
    assert bound(bounds=(-1, 1), basis=squares) == pytest.approx(6 * np.sqrt(2))
    domain = CosineBasis(2, (0, 16))
    assert bound(bounds=(-1, 1), basis=domain) == pytest.approx(4 * np.sqrt(2))


def test_another_domain_than_that_of_the_basis_is_refused():
    for basis, domain in (
        (CosineBasis(2, (0, 4)), (0, 1)),
        (CosineBasis(2), (0, 4)),
        (TensorBasis((CosineBasis(2, (0, 4)), CosineBasis(1))), (0, 1)),
    ):
        model = GeoPrivateCoefficients(epsilon=1.0, basis=basis, domain=domain)
        with pytest.raises(ValueError, match="is not that of the basis"):
            model.fit(np.zeros((1, 2)))


def test_a_stack_of_rows_is_refused():
    with pytest.raises(ValueError, match=r"array of shape \(n, m\)"):
        GeoPrivateCoefficients(epsilon=1.0).fit(np.zeros((2, 3, 4)))


# The lattice, and what the output depends on


@pytest.mark.parametrize("budget", [{"epsilon": 0.3}, {"rho": 5.0}], ids=str)
def test_releases_are_points_of_the_public_lattice(budget):
    rows = np.random.default_rng(0).normal(size=(300, 4)) * 10.0 ** np.arange(-3, 1)
    model = GeoPrivateCoefficients(denoise=False, **budget).fit(rows)
    step = release_lattice(model.law_.smallest_scale).step
    assert step <= 2.0**-20 * model.law_.smallest_scale
    out = model.transform(rows)
    assert_array_equal(out, np.rint(out / step) * step)
    assert_array_equal(model.inverse_transform(out), out)


def test_what_is_released_is_the_very_coefficient(monkeypatch):
    """Without noise the mechanism is rounding to the lattice: nothing else is lost."""
    seen = []

    def release(law, value, lattice, bits):
        seen.append(np.array(value))
        return np.rint(value / lattice.step).astype(np.int64)

    monkeypatch.setattr(NoiseLaw, "release", release)
    rows = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    model = GeoPrivateCoefficients(epsilon=1.0, denoise=False).fit(rows)
    out = model.transform(rows)
    assert_array_equal(seen[0], rows.astype(float))
    assert_allclose(out, rows, atol=2.0**-20)


def test_huge_coefficients_are_fine():
    rows = np.array([[1e308, -1e308, 5e-324], [np.finfo(float).max, 0, -0.0]])
    for denoise in (True, False):
        for space in ({}, {"gram": np.diag([1.0, 2.0, 3.0])}):
            model = GeoPrivateCoefficients(epsilon=0.5, denoise=denoise, **space)
            out = model.fit(rows).transform(rows)
            assert np.isfinite(out).all()
            assert out[0, 0] > 1e10
            assert out[0, 1] < -1e10
    model = GeoPrivateCoefficients(epsilon=0.5, gram=[[1.0, 0.9], [0.9, 1.0]])
    with pytest.raises(ValueError, match=r"must not exceed 2\^61"):
        model.fit(rows[:, :2]).transform(rows[:, :2])  # clipping one moves the other


@pytest.mark.parametrize("power", [-100, -30, 30, 100])
def test_budgets_of_any_unit(power):
    for budget in ({"epsilon": 10.0**power}, {"rho": 10.0**power}):
        model = GeoPrivateCoefficients(**budget, random_state=0).fit(np.ones((1, 4)))
        scale = model.noise_std_[0]
        out = model.transform(np.full((1, 4), 50 * scale))
        assert_allclose(out, 50 * scale, rtol=0.3)


def test_every_row_has_noise_of_its_own():
    rows = np.tile([5.0, 1.0], (N, 1))
    model = GeoPrivateCoefficients(epsilon=1.0, denoise=False).fit(rows)
    first, second = model.transform(rows), model.transform(rows)
    assert len(np.unique(first[:, 0])) > 0.99 * N
    for one, two in ((first[:-1, 0], first[1:, 0]), (first[:, 0], second[:, 0])):
        correlation = stats.spearmanr(one, two).statistic
        assert abs(correlation) < _SPREAD / np.sqrt(N)


def test_seeds_repeat_chunk_by_chunk_with_any_number_of_threads():
    rows = np.random.default_rng(2).normal(size=(20_000, 2))  # three chunks
    model = GeoPrivateCoefficients(epsilon=1.0, random_state=7).fit(rows)
    out = model.transform(rows)
    assert_array_equal(clone(model).set_params(n_jobs=2).fit(rows).transform(rows), out)
    assert_array_equal(model.transform(rows), out)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(rows), out)
    other = clone(model).set_params(random_state=8).fit(rows).transform(rows)
    assert (other != out).any(axis=1).all()


def test_chunks_of_a_seeded_release_have_noise_of_their_own():
    rows = np.zeros((20_000, 2))
    model = GeoPrivateCoefficients(epsilon=1.0, random_state=7, denoise=False)
    noise = model.fit(rows).transform(rows)
    assert len(np.unique(noise[:, 0].round(3))) > 0.2 * len(rows)
    for start in (8192, 16384):
        assert (noise[start : start + 3000] != noise[:3000]).all(axis=1).mean() > 0.99


def test_progress_is_shown_on_request(capfd):
    rows = np.zeros((3, 2))
    GeoPrivateCoefficients(epsilon=1.0).fit_transform(rows)
    assert capfd.readouterr() == ("", "")
    GeoPrivateCoefficients(epsilon=1.0, verbose=True).fit_transform(rows)
    assert "100%" in capfd.readouterr().err


def test_frames_in_and_out():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"cosine0": [1.0, 2.0], "cosine1": [3.0, np.nan]}, index=[4, 5])
    model = GeoPrivateCoefficients(epsilon=1.0).set_output(transform="pandas")
    out = model.fit(X).transform(X)
    assert out.columns.tolist() == ["cosine0", "cosine1"]
    assert out.index.tolist() == [4, 5]
    assert_array_equal(out.isna(), X.isna())
    assert model.get_feature_names_out().tolist() == ["cosine0", "cosine1"]


def test_sample_is_noise_from_fresh_bits():
    model = GeoPrivateCoefficients(epsilon=0.5, random_state=3).fit(np.zeros((1, 3)))
    draws = model.sample(N, random_state=1)
    radius = np.linalg.norm(draws, axis=1)
    assert stats.kstest(radius, stats.gamma(3, scale=2.0).cdf).pvalue > 1e-9
    assert_array_equal(model.sample(2, random_state=1), draws[:2])
    assert (model.sample(1) != model.sample(1)).any()
    assert model.guarantee_.seeded
    out = clone(model).set_params(denoise=False).fit_transform(np.zeros((9, 3)))
    assert not np.isin(model.sample(9, random_state=3), out).any()


# Denoising


@pytest.mark.parametrize("budget", [{"epsilon": 0.5}, {"rho": 0.1}], ids=str)
def test_denoising_is_free_and_helps(budget):
    size = 16
    signal = 60.0 * (1.0 + np.arange(size)) ** -2.0
    rows = np.tile(signal, (2000, 1))
    noisy = GeoPrivateCoefficients(denoise=False, random_state=5, **budget).fit(rows)
    ours = clone(noisy).set_params(denoise=True).fit(rows)
    assert ours.guarantee_ == noisy.guarantee_
    assert ours.law_ == noisy.law_
    errors = [np.sum((m.transform(rows) - rows) ** 2, axis=1) for m in (noisy, ours)]
    gain = errors[0] - errors[1]
    assert gain.mean() - _SPREAD * gain.std() / np.sqrt(2000) > 0.3 * errors[0].mean()


def test_denoising_with_a_gram_matrix_helps_in_its_metric():
    basis = BSplineBasis(10)
    gram = basis.gram()
    rows = np.tile(np.full(10, 0.5), (1000, 1))
    parameters = {"epsilon": 1.0, "basis": basis, "bounds": (-1, 1), "random_state": 5}
    errors = []
    for denoise in (False, True):
        model = GeoPrivateCoefficients(denoise=denoise, **parameters)
        gap = model.fit(rows).transform(rows) - rows
        errors.append(np.einsum("ni,ij,nj->n", gap, gram, gap))
    gain = errors[0] - errors[1]
    assert gain.mean() - _SPREAD * gain.std() / np.sqrt(1000) > 0.5 * errors[0].mean()


def test_a_row_depends_on_no_other_row():
    rows = np.random.default_rng(6).normal(size=(40, 5))
    model = GeoPrivateCoefficients(epsilon=1.0, random_state=0).fit(rows)
    out = model.transform(rows)
    others = rows.copy()
    others[1:] *= 1e9
    assert_allclose(model.transform(others)[0], out[0], rtol=1e-12)


def test_denoising_happens_in_orthonormal_coordinates():
    """In those of Gram-Schmidt, whose order is that of the functions."""
    basis = MonomialBasis(5, (0.0, 2.0))
    rows = np.random.default_rng(7).normal(size=(20, 5))
    noisy = GeoPrivateCoefficients(
        epsilon=2.0, basis=basis, denoise=False, random_state=0
    ).fit(rows)
    ours = clone(noisy).set_params(denoise=True).fit(rows).transform(rows)
    root = np.linalg.cholesky(basis.gram()).T
    law = SphericalLaplace(5, 0.5)
    wanted = spectral_average(noisy.transform(rows) @ root.T, law)
    wanted = wanted @ np.linalg.inv(root).T
    assert_allclose(ours, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("gram", [None, np.diag([1.0, 4.0, 9.0, 16.0, 25.0])])
def test_denoising_knows_the_frequencies_that_are_present(gram):
    rows = np.tile([5.0, np.nan, 1.0, 0.5, np.nan], (20, 1))
    noisy = GeoPrivateCoefficients(
        epsilon=2.0, gram=gram, denoise=False, random_state=0
    ).fit(rows)
    ours = clone(noisy).set_params(denoise=True).fit(rows).transform(rows)
    present = np.array([0, 2, 3])
    sizes = np.ones(3) if gram is None else np.sqrt(np.diag(gram))[present]
    white = noisy.transform(rows)[:, present] * sizes
    law = SphericalLaplace(3, 0.5)
    wanted = spectral_average(white, law, ranks=present) / sizes
    assert_allclose(ours[:, present], wanted, rtol=1e-9)
    assert np.isnan(ours[:, [1, 4]]).all()
    others = spectral_average(white, law) / sizes
    assert np.abs(others - wanted).max() > 0.01
