"""Released coefficients: the laws of the noise, and what is and is not released."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skfuncpriv import GeoPrivateCoefficients
from skfuncpriv.basis import BSplineBasis, MonomialBasis, SincBasis
from skfuncpriv.exceptions import NoiseDominatesWarning, PrivacyError
from skfuncpriv.privacy import BudgetLedger
from tests.local.functions import BASES

N = 20_000
P_MIN = 1e-9  # with fewer than 500 such tests a false alarm has odds below 1e-6
_SPREAD = 6.2  # standard errors, as rare


def released(model, rows):
    """Noise alone: releases minus what was given."""
    rows = np.asarray(rows, dtype=float)
    return model.fit(rows).transform(rows) - rows


def agrees(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > P_MIN


def close(sample, wanted):
    error = sample.std() / np.sqrt(len(sample))
    return abs(sample.mean() - wanted) < _SPREAD * error


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 27, 50])
def test_law_under_geo_privacy(size):
    model = GeoPrivateCoefficients(epsilon=0.1, denoise=False, random_state=size)
    noise = released(model, np.full((N, size), 30.0))
    radius = np.linalg.norm(noise, axis=1)
    assert agrees(radius, stats.gamma(size, scale=10.0))
    assert close(radius, size / 0.1)
    assert close(radius**2, size * (size + 1) / 0.1**2)
    assert model.expected_error() == pytest.approx(size * (size + 1) / 0.1**2)
    assert_allclose(model.noise_std_, np.sqrt(size + 1) / 0.1, rtol=1e-12)
    for column in range(min(size, 3)):
        check_uniform(noise[:, column] / radius, size)


def check_uniform(cosine, size):
    """One coordinate of a uniform direction; two signs if there is one dimension."""
    if size == 1:
        assert stats.binomtest(int((cosine > 0).sum()), len(cosine)).pvalue > P_MIN
    else:
        half = stats.beta((size - 1) / 2, (size - 1) / 2)
        assert agrees((1 + cosine) / 2, half)


@pytest.mark.parametrize("size", range(1, 51))
def test_radius_in_every_dimension(size):
    model = GeoPrivateCoefficients(epsilon=2.0, denoise=False, random_state=size)
    radius = np.linalg.norm(released(model, np.zeros((2000, size))), axis=1)
    assert agrees(radius, stats.gamma(size, scale=0.5))


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_law_under_concentrated_geo_privacy(size):
    model = GeoPrivateCoefficients(rho=0.02, denoise=False, random_state=size)
    noise = released(model, np.full((N, size), -3.0))
    deviation = 1 / np.sqrt(2 * 0.02)
    for column in noise.T[:3]:
        assert agrees(column, stats.norm(scale=deviation))
    square = np.sum(noise**2, axis=1)
    assert agrees(square / deviation**2, stats.chi2(size))
    assert model.expected_error() == pytest.approx(size / (2 * 0.02))
    assert_allclose(model.noise_std_, deviation, rtol=1e-12)
    off = (noise.T @ noise / N)[np.triu_indices(size, 1)]
    assert (abs(off) < _SPREAD * deviation**2 / np.sqrt(N)).all()


GRAMS = {
    "monomial": MonomialBasis(5, (0.0, 2.0)),
    "spline": BSplineBasis(8, (0.0, 600.0)),
    "sinc": SincBasis(6),
}


@pytest.mark.parametrize("basis", GRAMS.values(), ids=GRAMS)
@pytest.mark.parametrize("as_gram", [True, False])
def test_law_with_a_gram_matrix(basis, as_gram):
    gram, size = basis.gram(), basis.n_basis
    space = {"gram": gram} if as_gram else {"basis": basis}
    model = GeoPrivateCoefficients(epsilon=0.5, denoise=False, random_state=1, **space)
    noise = released(model, np.zeros((N, size)))
    radius = np.sqrt(np.einsum("ni,ij,nj->n", noise, gram, noise))
    assert agrees(radius, stats.gamma(size, scale=2.0))
    white = noise @ np.linalg.cholesky(gram)
    check_uniform(white[:, 0] / np.linalg.norm(white, axis=1), size)
    check_uniform(white[:, -1] / np.linalg.norm(white, axis=1), size)
    for column, wanted in zip(noise.T, model.noise_std_, strict=True):
        assert close(column**2, wanted**2)
    concentrated = GeoPrivateCoefficients(
        rho=0.5, denoise=False, random_state=1, **space
    )
    noise = released(concentrated, np.zeros((N, size)))
    assert agrees(np.einsum("ni,ij,nj->n", noise, gram, noise), stats.chi2(size))


def test_outputs_share_the_gram_matrix():
    gram = np.array([[2.0, 0.9], [0.9, 1.0]])
    model = GeoPrivateCoefficients(
        epsilon=1.0, gram=gram, n_outputs=2, denoise=False, random_state=0
    )
    noise = released(model, np.zeros((N, 4))).reshape(N, 2, 2)
    square = np.einsum("nia,ij,nja->n", noise, gram, noise)
    assert agrees(np.sqrt(square), stats.gamma(4))


def exact_loss(model, shift, gram):
    """What the law loses when the center moves, over what it may lose."""
    loss = Fraction(model.law_.loss(shift))
    h = [Fraction(float(x)) for x in shift]
    square = sum(
        h[i] * Fraction(float(gram[i, j])) * h[j]
        for i in range(len(h)) for j in range(len(h))
    )  # fmt: skip
    if model.rho is not None:
        return float(loss / square / Fraction(model.rho))
    return float(loss**2 / square / Fraction(model.epsilon) ** 2) ** 0.5


@pytest.mark.parametrize("budget", [{"epsilon": 0.3}, {"rho": 0.7}], ids=str)
@pytest.mark.parametrize("name", ["plain", *BASES])
def test_worst_loss_is_the_budget(name, budget):
    """Never above it, in exact arithmetic, and no needless noise either."""
    basis = BASES.get(name)
    size = 6 if basis is None else basis.n_basis
    gram = np.eye(size) if basis is None else basis.gram()
    model = GeoPrivateCoefficients(basis=basis, **budget).fit(np.zeros((1, size)))
    values, vectors = np.linalg.eigh(gram)
    shifts = [*np.eye(size), *vectors.T, *(vectors / np.sqrt(values)).T]
    shifts += list(np.random.default_rng(0).normal(size=(5, size)))
    ratios = [exact_loss(model, shift, gram) for shift in shifts]
    assert min(ratios) >= 0.99
    assert max(ratios) <= 1 + 2.0**-50  # a loss is rounded up


@pytest.mark.parametrize("budget", [{"epsilon": 0.25}, {"rho": 0.5}], ids=str)
@pytest.mark.parametrize("columns", [4, 3])
def test_noise_pays_for_a_gram_matrix_that_is_itself_rounded(budget, columns):
    """That of an orthonormal basis may be off by some units of rounding."""
    gram = np.eye(4)
    rounded = gram - 2.0**-49
    model = GeoPrivateCoefficients(gram=gram, n_coefficients=columns, **budget)
    model.fit(np.zeros((1, 4)))
    shift = np.ones(columns)
    rounded = rounded[:columns, :columns]
    assert 1 - 1e-12 < exact_loss(model, shift, rounded) <= 1


@pytest.mark.parametrize("size", [2, 4, 6, 9, 12, 15, 22, 40])
def test_singular_bases_are_refused_or_safe(size):
    """High powers are refused before anything happens, never pseudo-inverted."""
    basis = MonomialBasis(size)
    model = GeoPrivateCoefficients(epsilon=1.0, basis=basis)
    rows = np.zeros((1, size))
    if size > 6:
        with pytest.raises(PrivacyError, match=r"singular in .*BasisProjector"):
            model.fit(rows)
        assert not hasattr(model, "guarantee_")
        return
    model.fit(rows)
    weakest = np.linalg.eigh(basis.gram())[1][:, 0]
    assert 0.99 <= exact_loss(model, weakest, basis.gram()) <= 1


def test_a_gram_matrix_with_a_zero_is_refused():
    for gram in (np.ones((2, 2)), [[1.0, 1e-150], [1e-150, 1e-300]]):
        with pytest.raises(PrivacyError, match="singular in floating point"):
            GeoPrivateCoefficients(epsilon=1.0, gram=gram).fit(np.zeros((1, 2)))
    units = GeoPrivateCoefficients(epsilon=1.0, gram=np.diag([1e-9, 1e9]))
    units.fit(np.zeros((1, 2)))  # other units only
    assert_allclose(units.noise_std_, np.sqrt(3) * np.sqrt([1e9, 1e-9]), rtol=1e-6)


@pytest.mark.parametrize(
    "gram",
    [np.eye(3), [[1.0, 0.1], [0.2, 1.0]], -np.eye(2), [[np.nan, 0], [0, 1]], [1.0, 2]],
)
def test_what_is_no_gram_matrix_is_refused(gram):
    with pytest.raises(ValueError, match="gram must be a symmetric positive definite"):
        GeoPrivateCoefficients(epsilon=1.0, gram=gram).fit(np.zeros((1, 2)))


# Missing coefficients


@pytest.mark.parametrize("budget", [{"epsilon": 0.5}, {"rho": 0.125}], ids=str)
def test_missing_coefficients_take_neither_noise_nor_dimension(budget):
    rows = np.zeros((N, 5))
    rows[:, [1, 4]] = np.nan
    rows[::2, 0] = np.nan
    model = GeoPrivateCoefficients(denoise=False, random_state=3, **budget)
    noise = released(model, rows)
    assert_array_equal(np.isnan(noise), np.isnan(rows))
    for part, size in ((noise[::2], 2), (noise[1::2], 3)):
        radius = np.linalg.norm(np.nan_to_num(part), axis=1)
        kind = stats.gamma if "epsilon" in budget else stats.chi
        assert agrees(radius, kind(size, scale=2))


def test_what_is_left_of_an_orthogonal_basis_keeps_its_units():
    rows = np.zeros((N, 3))
    rows[:, 0] = np.nan
    model = GeoPrivateCoefficients(
        epsilon=1.0, gram=np.diag([1.0, 100.0, 4.0]), denoise=False, random_state=4
    )
    noise = released(model, rows)[:, 1:]
    assert agrees(np.linalg.norm(noise * [10.0, 2.0], axis=1), stats.gamma(2))
    for column, size in zip(noise.T, (10.0, 2.0), strict=True):
        assert close(np.square(column * size), 3.0)  # E r^2 = 2 * 3, over 2


@pytest.mark.parametrize("basis", [MonomialBasis(4), BSplineBasis(6)])
def test_leaving_out_parts_of_a_basis_that_is_not_orthonormal_is_refused(
    basis, tmp_path
):
    """Two functions in [0, 1], 0.125 apart, may have first coefficients 0.5 apart.

    Their first coefficients with the noise of the first function alone tell them apart
    as if they were 0.5 apart.
    """
    gram, size = basis.gram(), basis.n_basis
    inverse = np.linalg.inv(gram)
    shift = inverse[:, 0] / inverse[0, 0]  # smallest norm with a first coefficient of 1
    assert shift @ gram @ shift < 0.95 * gram[0, 0]
    rows = np.zeros((3, size))
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=9.0, metric="L2")
    budget = {"epsilon": 1.0, "ledger": str(ledger.path)}
    for stated in ({"basis": basis}, {"gram": gram}):
        with pytest.raises(PrivacyError, match="cannot be left out"):
            GeoPrivateCoefficients(n_coefficients=1, **stated, **budget).fit(rows)
        model = GeoPrivateCoefficients(norm_bound=1.0, **stated, **budget).fit(rows)
        assert model.n_coefficients_ == size  # "auto" leaves nothing out
        holes = rows.copy()
        holes[1, 0] = np.nan
        with pytest.raises(PrivacyError, match="cannot be left out"):
            model.transform(holes)
    assert ledger.history() == []


def test_noise_that_dominates_is_warned_of_from_public_facts():
    for data in (np.zeros((2, 3)), np.full((2, 3), 1e9)):
        with pytest.warns(NoiseDominatesWarning, match="larger budget or tighter"):
            GeoPrivateCoefficients(epsilon=1.0, norm_bound=1.0).fit(data)


def test_rows_without_anything_stay_so():
    rows = np.array([[np.nan] * 3, [1.0, 2.0, 3.0]])
    for denoise in (True, False):
        model = GeoPrivateCoefficients(epsilon=1.0, denoise=denoise).fit(rows)
        out = model.transform(rows)
        assert np.isnan(out[0]).all()
        assert np.isfinite(out[1]).all()
