"""The scales of a sparse choice of coefficients are the best of their family."""

import pytest

from skfuncpriv.privacy._sparse_vector import sparse_coefficients_scales


@pytest.mark.parametrize("n_columns", [1, 2, 5, 17, 64, 500])
@pytest.mark.parametrize("n_hits", [1, 2, 3, 8, 100])
def test_no_other_gap_is_quieter(n_columns, n_hits):
    """Over all gaps g: b^2 = 2 h + g, a = b / g; or b^2 = m without threshold noise."""
    epsilon, hits = 0.5, min(n_hits, n_columns)
    gaps = range(1, max(n_columns, 2))
    options = [
        (2 * hits + g) * (1 + 1 / g**2) for g in gaps if 2 * hits + g < n_columns
    ]
    best = min([float(n_columns), *options]) / epsilon**2
    a, b = sparse_coefficients_scales(epsilon, n_columns, n_hits)
    assert a**2 + b**2 == pytest.approx(best, rel=1e-12)
