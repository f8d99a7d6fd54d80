"""A mechanism as others would write it: the private mean of one number per person."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from skfuncpriv import PrivateEstimator
from skfuncpriv.noise import SphericalLaplace, random_bits, release_lattice
from skfuncpriv.privacy import PrivacyGuarantee
from skfuncpriv.summaries import BallContributions

REFUSAL = "X must be a table, not sparse, without NaN or infinity. Reshape your data."
COLLECTED = "X is of dask, and its rows would all be collected: call .compute() first."


class PrivateNumberMean(PrivateEstimator):
    """Mean of the first column of a table, one row per person.

    Attributes
    ----------
    mean_ : ndarray, shape (1,)
        Released. The mean.
    guarantee_ : PrivacyGuarantee
        What is promised.
    """

    def __init__(self, *, bounds, epsilon=1.0, ledger=None, random_state=None):
        self.bounds = bounds
        self.epsilon = epsilon
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X, y=None):
        # Step 0: public facts, and the form of the data.
        self._check_ledger()
        bits = random_bits(self.random_state)
        guarantee = PrivacyGuarantee(
            definition="pure-dp", epsilon=self.epsilon, seeded=bits.seeded
        )
        rows = self._read(X, reset=True)
        n_people, (low, high) = len(rows), self.bounds
        center = (low + high) / 2
        ball = BallContributions(n_people, 1, radius=high - center)
        law = SphericalLaplace.scale_for(self.epsilon, ball.sensitivity, size=1)
        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: bounded contributions, and their exact sum.
            total = ball.sum(np.clip(rows[:, :1], low, high) - center)
            # Step 2: charge, then draw the noise, once.
            self._open_release(guarantee, n_people)
            lattice = release_lattice(law.smallest_scale, total)
            released = law.release(total, lattice, bits)
            # Step 3: public post-processing.
            self.mean_ = center + lattice.to_float(released) / n_people
        self.guarantee_ = guarantee
        return self

    def predict(self, X):
        check_is_fitted(self)
        return np.repeat(self.mean_, len(self._read(X, reset=False)))

    def _read(self, X, reset):
        if hasattr(type(X), "__dask_graph__"):
            raise TypeError(COLLECTED)
        rows = np.asarray(X)
        is_table = rows.ndim == 2 and rows.size and rows.dtype.kind in "fiu"
        if not (is_table and np.isfinite(rows).all()):
            raise ValueError(REFUSAL)  # scikit-learn's own texts would quote values
        validate_data(self, X, reset=reset, skip_check_array=True)  # names, columns
        return rows
