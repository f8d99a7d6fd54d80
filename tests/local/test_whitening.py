"""The error that a whitening states is a bound, computed to 60 digits."""

from functools import cached_property

import mpmath
import numpy as np
import pytest

from skfuncpriv.basis import MonomialBasis
from skfuncpriv.local._budget import GeoBudget
from skfuncpriv.local._whitening import Whitening


def random_gram(rng, size, spread):
    table = rng.normal(size=(size, size)) * 10.0 ** rng.uniform(-spread, spread, size)
    gram = table @ table.T
    return (gram + gram.T) / 2


def exact_error(whitening):
    """norm(S^T G S - I) of the very floats of S and G."""
    with mpmath.workdps(60):
        root, gram = (
            mpmath.matrix(m.tolist()) for m in (whitening.root, whitening.gram)
        )
        deviation = root.T * gram * root - mpmath.eye(len(whitening.gram))
        return max(abs(value) for value in mpmath.eigsy(deviation, eigvals_only=True))


GRAMS = [random_gram(np.random.default_rng(k), 2 + k % 4, 1) for k in range(24)]
GRAMS += [MonomialBasis(5, (0.0, 2.0)).gram(), np.diag([1e-9, 3.0, 7e8])]


def test_the_error_is_not_exceeded():
    for gram in GRAMS:
        whitening = Whitening(gram)
        assert exact_error(whitening) <= whitening.error


class Off(Whitening):
    """A root that is longer than it should be by 1e-9."""

    @cached_property
    def root(self):
        return Whitening.root.func(self) * (1 + 1e-9)


@pytest.mark.parametrize("budget", [GeoBudget(0.5, None), GeoBudget(None, 0.5)])
def test_whatever_a_root_is_off_by_is_paid_for(budget):
    for gram in GRAMS:
        for whitening in (Whitening(gram), Off(gram)):
            error = exact_error(whitening)
            assert error <= whitening.error
            law = whitening.law(budget)
            plain = budget.law(len(gram)).smallest_scale
            least = plain * (1 - error) ** mpmath.mpf(-0.5)
            assert law.law.smallest_scale >= least
        assert exact_error(whitening) > 1.9e-9


def test_both_factors_are_triangular_and_fit_the_gram_matrix():
    for gram in GRAMS:
        whitening = Whitening(gram)
        root, factor = whitening.root, whitening.factor
        assert (np.triu(root, 1) == 0).all()
        assert (np.tril(factor, -1) == 0).all()
        sizes = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
        np.testing.assert_allclose(factor.T @ factor / sizes, gram / sizes, atol=1e-12)
        np.testing.assert_allclose(root.T @ gram @ root, np.eye(len(gram)), atol=1e-6)
