"""A private choice of how many coefficients are worth their noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import check_count
from ..blocks._partitions import is_dask
from ..noise import OperatingSystemBits, RandomBits, random_bits
from ..privacy import (
    permute_and_flip,
    sparse_coefficients,
    sparse_vector,
)
from ._base import CoefficientPrivatizer
from ._budget import SELECTION_SHARE, GeoBudget
from ._lazy import in_form
from ._rows import check_jobs, map_rows, read_rows, scaled_norms

METHODS = ("svt", "permute-and-flip", "coefficients")


class SVTBasisSelector(CoefficientPrivatizer):
    """Choose privately, row by row, which coefficients will be released.

    Few coefficients miss a part of the function, many need much noise. A share of the
    budget buys the choice between 1, 2, 4, 8, ... frequencies that fits each row.
    Coefficients that are not chosen become NaN; the others are *not yet private*:
    `GeoPrivateCoefficients` must follow.

    Parameters
    ----------
    epsilon : float, default=None
        *Public.* What the choice costs per unit of L2 distance. Give either `epsilon`
        or `rho`.
    rho : float, default=None
        *Public.* What it costs per squared unit, under concentrated geo-privacy.
    release_epsilon, release_rho : float, default=None
        *Public.* The budget of the release that follows, whose noise the choice weighs.
        None takes four times the budget of the choice: a fifth for selection is the
        rule of this package.
    method : {"svt", "permute-and-flip", "coefficients"}, default="svt"
        *Public.* "svt" stops at the first number of frequencies that leaves less than
        its noise would add; "permute-and-flip" weighs all of them at once;
        "coefficients" chooses single large coefficients, of each output by itself.
        Coefficients must be orthonormal, and in the order of frequency for the first
        two.
    max_basis : int, default=None
        *Public.* At most so many frequencies are chosen; None is all there are.
    max_selected : int, default=8
        *Public.* At most so many coefficients are chosen by "coefficients".
    n_outputs : int, default=1
        *Public.* How many consecutive coefficients share a frequency.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger`, charged by every `transform`.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* choice,
        which gives no privacy: for tests and teaching.
    n_jobs : int, default=None
        Threads, by joblib.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    sizes_ : ndarray of int
        Public numbers of coefficients between which "svt" and "permute-and-flip"
        choose.
    thresholds_ : ndarray of float
        Public thresholds: expected norms of the noise to come, in units of the
        coefficients.
    guarantee_ : PrivacyGuarantee
        What the choice costs each row; the release costs its own budget.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns.

    Raises
    ------
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Queries.* r_k = norm of the coefficients beyond the first k, NaN counting as zero:
    1-Lipschitz in L2, and for growing k of gradients with inner products r_k / r_j
    >= 0. `sparse_vector` finds the first k with r_k noisily below the expected norm of
    the noise of k coefficients (m / eps, or sqrt(m / (2 rho))); `permute_and_flip` has
    the scores -sqrt(r_k^2 + noise_k^2), 1-Lipschitz too; `sparse_coefficients` takes
    those with abs(c_j) noisily above what one more coefficient adds to the noise,
    sqrt(2 max_selected) / eps, or 1 / sqrt(2 rho).

    *Guarantee.* eps-GP; rho buys epsilon = sqrt(2 rho), as eps-GP is (eps^2/2)-CGP.

    References
    ----------
    .. [1] "Function privatization in the local model": the number of basis functions
       by the sparse vector technique.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import SVTBasisSelector
    >>> rows = np.array([[900.0, 800.0, 0.0, 0.0], [900.0, 0.0, 0.0, 0.0]])
    >>> selector = SVTBasisSelector(epsilon=0.05, random_state=2).fit(rows)
    >>> np.isnan(selector.transform(rows)).sum(axis=1)
    array([2, 3])
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        release_epsilon: float | None = None,
        release_rho: float | None = None,
        method: str = "svt",
        max_basis: int | None = None,
        max_selected: int = 8,
        n_outputs: int = 1,
        ledger: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.release_epsilon = release_epsilon
        self.release_rho = release_rho
        self.method = method
        self.max_basis = max_basis
        self.max_selected = max_selected
        self.n_outputs = n_outputs
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> SVTBasisSelector:  # noqa: ARG002
        """Fix the possible choices from public facts; no value is looked at.

        Parameters
        ----------
        X : array-like of shape (n, m), or array or frame of dask
            *Private.* Only the number of columns is used.
        y, groups : None
            Ignored.

        Returns
        -------
        self : SVTBasisSelector
            The fitted transformer.
        """
        self._forget()
        self._check_ledger()
        check_jobs(self.n_jobs)
        budget = GeoBudget.from_parameters(self.epsilon, self.rho)
        release = self._release_budget(budget)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, got {self.method!r}")
        seeded = random_bits(self.random_state).seeded
        read_rows(self, in_form(X), reset=True)
        largest, n_outputs = self._n_frequencies(), self.n_outputs
        if self.max_basis is not None:
            largest = min(largest, check_count(self.max_basis, "max_basis"))
        doubling = 2 ** np.arange(largest.bit_length())
        sizes = np.unique(np.append(doubling, largest)) * n_outputs
        self._method, self._cost = self.method, budget.selection_epsilon
        if self.method == "coefficients":
            self._n_hits = check_count(self.max_selected, "max_selected")
            sizes = np.array([largest * n_outputs])
            self.thresholds_ = np.array([release.marginal_norm(self._n_hits)])
        else:
            self.thresholds_ = np.array([release.expected_norm(m) for m in sizes])
        self.sizes_ = sizes
        nobody = np.empty((0, self.n_features_in_))
        self._chosen(nobody, OperatingSystemBits())  # refused before any charge, if so
        rounding = 0.0
        if self.method == "permute-and-flip":  # scores are rounded near the thresholds
            rounding = float(self.thresholds_.max()) * 2.0**-50
        self.guarantee_ = budget.guarantee(seeded, rounding)
        return self

    def transform(self, X: Any, groups: Any = None) -> np.ndarray:
        """Set the coefficients that are not chosen to NaN, with fresh noise per row.

        Parameters
        ----------
        X : array-like of shape (n, m), or array or frame of dask
            *Private.* The coefficients of one function per row; NaN counts as zero.
            For dask all is charged at once, and chosen when it is computed.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row. The ledger is charged as
            often as the person with most rows has rows, which it then shows; None makes
            every row a person.

        Returns
        -------
        ndarray of shape (n, m)
            *Private.* Which entries are NaN is released; the others are the
            coefficients as they were. An array of dask for dask.
        """
        check_is_fitted(self)
        self._check_ledger()
        if is_dask(X):
            shape = (self.n_features_in_,)
            return self._transform_lazily(X, groups, shape, purpose=2)
        rows = self._read(X)
        bits = self._open_transform(X, len(rows), groups, purpose=2)
        return self._released(rows, bits)

    def _read(self, X: Any) -> np.ndarray:
        return read_rows(self, X, reset=False)

    def _released(self, rows: np.ndarray, bits: RandomBits) -> np.ndarray:
        def select(chunk: slice, index: int) -> np.ndarray:
            part = rows[chunk]
            return np.where(self._chosen(part, bits.spawn(index)), part, np.nan)

        out = np.full_like(rows, np.nan)
        return map_rows(select, out, n_jobs=self.n_jobs, verbose=self.verbose)

    def _release_budget(self, budget: GeoBudget) -> GeoBudget:
        """What the noise of the release will cost."""
        given = self.release_epsilon is not None or self.release_rho is not None
        if given:
            return GeoBudget.from_parameters(
                self.release_epsilon, self.release_rho, prefix="release_"
            )
        return budget.scaled((1 - SELECTION_SHARE) / SELECTION_SHARE)

    def _chosen(self, rows: np.ndarray, bits: RandomBits) -> np.ndarray:
        """Which coefficients are chosen, bool of the shape of `rows`."""
        known = np.nan_to_num(rows, nan=0.0)
        if self._method == "coefficients":
            chosen = np.zeros(rows.shape, dtype=bool)
            chosen[:, : self.sizes_[0]] = sparse_coefficients(
                known[:, : self.sizes_[0]],
                epsilon=self._cost,
                thresholds=self.thresholds_[0],
                n_hits=self._n_hits,
                bits=bits,
            )
            return chosen
        if self._method == "svt":
            index = sparse_vector(
                lambda k, active: tail_norms(known[active], self.sizes_[k]),
                epsilon=self._cost,
                thresholds=self.thresholds_,
                max_queries=len(self.sizes_),
                bits=bits,
                n_rows=len(rows),
                aligned=True,
            )
        else:
            tails = np.stack([tail_norms(known, size) for size in self.sizes_], axis=1)
            scores = -np.hypot(tails, self.thresholds_)
            index = permute_and_flip(scores, epsilon=self._cost, bits=bits)
        return np.arange(rows.shape[1]) < self.sizes_[index][:, None]


def tail_norms(rows: np.ndarray, size: int) -> np.ndarray:
    """Norms of the coefficients beyond the first `size`."""
    return scaled_norms(rows[:, size:])
