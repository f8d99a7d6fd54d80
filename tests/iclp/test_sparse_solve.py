"""The public side of a mean of sparse curves, against direct Bayesian arithmetic."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, truncnorm

from skfuncpriv.basis import BSplineBasis, CosineBasis, LegendreBasis
from skfuncpriv.iclp._sparse_plan import SparsePlan, best_plan
from skfuncpriv.iclp._sparse_solve import (
    Posterior,
    coverage_at,
    mean_posterior,
    quadrature_table,
    smooth_posterior,
)

SIZES, EXPONENTS = np.array([0.01, 0.3, 2.0]), (0.5, 1.5)


def direct_posterior(design, values, noise):
    """Every model of the grid by the formulas of normal laws, one after another."""
    evidence, means, covariances = [], [], []
    for exponent in EXPONENTS:
        for size in SIZES:
            spectrum = size * (1.0 + np.arange(design.shape[1])) ** (-2 * exponent)
            prior = np.diag(spectrum)
            total = design @ prior @ design.T + noise
            gain = prior @ design.T @ np.linalg.inv(total)
            evidence.append(multivariate_normal(cov=total).logpdf(values))
            means.append(gain @ values)
            covariances.append(prior - gain @ design @ prior)
    weights = np.exp(np.array(evidence) - max(evidence))
    weights /= weights.sum()
    mean = weights @ means
    spread = np.array(means) - mean
    covariance = np.tensordot(weights, covariances, 1)
    return mean, covariance + (spread.T * weights) @ spread


@pytest.mark.parametrize("shape", [(4, 4), (4, 9), (9, 4)])
def test_posterior_is_that_of_normal_laws(shape):
    rng = np.random.default_rng(3)
    design, root = rng.normal(size=shape), rng.normal(size=(shape[0], shape[0]))
    noise = root @ root.T + 0.1 * np.eye(shape[0])
    values = 3 * rng.normal(size=shape[0])
    found = smooth_posterior(design, values, noise, (SIZES, EXPONENTS))
    mean, covariance = direct_posterior(design, values, noise)
    np.testing.assert_allclose(found.mean, mean, atol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-9)


@pytest.mark.parametrize("middle", [-9.0, -0.3, 0.0, 0.2, 0.5, 0.9, 1.0, 1.4, 30.0])
@pytest.mark.parametrize("std", [1.0, 0.1, 0.02])
def test_coverage_is_the_mean_of_a_normal_law_within_its_bounds(middle, std):
    posterior = Posterior(np.array([middle - 1]), np.array([[(4 * std) ** 2]]))
    found = coverage_at(posterior, np.ones((1, 1)))[0]
    assert 0 < found <= 1
    if -10 * std < middle < 1 + 10 * std:  # farther out, scipy itself is not exact
        ends = (0 - middle) / std, (1 - middle) / std
        nodes, weights = np.polynomial.legendre.leggauss(400)
        points = (nodes + 1) / 2
        density = truncnorm.pdf(points, *ends, loc=middle, scale=std)
        expected = (weights * density) @ points / (weights @ density)
        assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "basis", [CosineBasis(8, (0, 5)), LegendreBasis(8, (0, 5)), BSplineBasis(9, (0, 5))]
)
def test_products_of_three_functions_are_integrated(basis):
    table = quadrature_table(basis.orthonormalize())
    assert table.weights.sum() == pytest.approx(1)
    ones = np.ones(len(table.weights))
    np.testing.assert_allclose(
        table.products(ones, basis.n_basis), np.eye(basis.n_basis), atol=1e-9
    )
    finer = np.linspace(0, 5, 200_001)
    functions = np.sqrt(5) * basis.orthonormalize().evaluate(finer)
    f = functions[:, 3]
    direct = np.trapezoid(f * functions[:, 2] * functions[:, 5], finer) / 5
    found = table.products(table.functions[:, 3], basis.n_basis)[2, 5]
    assert found == pytest.approx(direct, abs=1e-7)


def test_exact_numbers_give_the_exact_mean():
    """num = den * f with tiny noise and known coverage: f comes back."""
    basis = CosineBasis(20)
    table = quadrature_table(basis)
    t = table.functions[:, 1] / np.sqrt(2)  # cos(pi t)
    den, f = 0.5 + 0.3 * t, 0.2 + 0.5 * t - 0.1 * (2 * t**2 - 1)
    numerator = table.functions.T @ (table.weights * den * f)
    known = Posterior(np.zeros(20), 1e-18 * np.eye(20))
    known.mean[:2] = -0.5, 0.3 / np.sqrt(2)
    solved = mean_posterior(numerator, np.full(20, 1e-6), known, den, table)
    np.testing.assert_allclose(table.functions @ solved.mean, f, atol=1e-4)
    blurred = Posterior(known.mean, 1e-2 * np.eye(20))
    unsure = mean_posterior(numerator, np.full(20, 1e-6), blurred, den, table)
    ratio = unsure.std(table.functions) / solved.std(table.functions)
    assert ratio.min() > 10


@pytest.mark.parametrize("mechanism", ["spherical", "block-spherical", "laplace"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_predicted_variances_are_those_of_the_law(mechanism, n_outputs):
    plan = SparsePlan(70, 6, n_outputs, 0.8, mechanism=mechanism)
    variances = np.square(plan.law.std / 70)
    expected = np.repeat(plan.variances, plan.sizes)
    np.testing.assert_allclose(variances, expected, rtol=1e-9)


def test_gaussian_noise_is_chosen_where_it_is_smaller():
    pure = ("spherical", "block-spherical", "laplace")
    few = best_plan(1000, 1, 1.0, 1e-6, (*pure, "gaussian"), 8, True)
    many = best_plan(1000, 1, 1.0, 1e-6, (*pure, "gaussian"), 60, True)
    assert few.mechanism == "block-spherical"
    assert many.mechanism == "gaussian"
    assert many.guarantee("row", True).delta == 1e-6
    assert few.guarantee("row", True).delta == 0
    sizes = [
        best_plan(n, 1, 1.0, 0.0, pure, 128, False).n_functions
        for n in (100, 10_000, 10**9)
    ]
    assert sizes == sorted(set(sizes))
