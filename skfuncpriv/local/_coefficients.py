"""Geo-private coefficients: a person's function, hidden before it leaves the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._base import warn_if_noise_dominates
from .._validation import check_count, check_flag
from ..basis import Basis, TensorBasis
from ..blocks._partitions import is_dask
from ..denoise import spectral_average
from ..noise import NoiseLaw, RandomBits, random_bits, release_lattice
from ._base import CoefficientPrivatizer
from ._bounds import check_basis, coefficient_bound, domain_of, energy_of
from ._budget import GeoBudget
from ._lazy import in_form
from ._rows import check_jobs, map_rows, read_rows
from ._space import CoefficientSpace, spherical_part


class GeoPrivateCoefficients(CoefficientPrivatizer):
    """Coefficients of each row's function, released under geo-privacy.

    Every row is the function of another person, and gets noise of its own: two
    functions are harder to tell apart the closer they are in L2. This is the mechanism
    of the local model: it runs where the data are, and what leaves is private already.

    Parameters
    ----------
    epsilon : float, default=None
        *Public.* Loss per unit of L2 distance: eps-GP, spherical Laplace noise. Give
        either `epsilon` or `rho`; `epsilon_for_radius` helps to choose.
    rho : float, default=None
        *Public.* Loss per squared unit of L2 distance: rho-CGP, Gaussian noise.
    basis : Basis or TensorBasis, default=None
        *Public.* The functions that the coefficients belong to; None is an orthonormal
        basis in the order of frequency, as `BasisProjector` makes.
    gram : array-like of shape (m, m), default=None
        *Public.* Inner products of the functions, instead of `basis`.
    n_coefficients : int, "auto" or None, default="auto"
        *Public.* Only the first so many of each output are released, the rest become
        NaN. "auto"
        chooses from `epsilon` and the public bound on the norm, if there is one and
        `basis` is ordered by frequency; None releases all.
    n_outputs : int, default=1
        *Public.* How many consecutive coefficients share a frequency: the number of
        values of a vector-valued function.
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,), default=None
        *Public.* Bounds of the values of the functions, as given to `BasisProjector`;
        they sharpen the denoising and the choice of `n_coefficients`.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, needed with `bounds`; None takes that
        of `basis`, or (0, 1).
    center : float or array of shape (n_outputs,), default=None
        *Public.* As given to `BasisProjector`.
    norm_bound : float, default=None
        *Public.* A bound on the norm of the coefficients, instead of `bounds` or
        tighter. It sharpens the denoising; nothing is clipped to it.
    denoise : bool, default=True
        *Public.* Average each release over prior laws of smooth functions. It is free:
        the guarantee is the same. False is the published mechanism.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger`, charged by every `transform` before
        noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.
    n_jobs : int, default=None
        Threads, by joblib.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    law_ : NoiseLaw
        Public law of the noise of a row whose coefficients are all present.
    noise_std_ : ndarray of shape (m,)
        Public standard deviation of that noise; NaN where nothing is released.
    n_coefficients_ : int
        Public number of coefficients that are released of each output.
    norm_bound_ : float or None
        Public bound on the norm of the coefficients.
    guarantee_ : PrivacyGuarantee
        What is promised of each row, in units of the metric.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns.

    Raises
    ------
    PrivacyError
        If the basis is singular in floating point, or the guarantee cannot be kept;
        raised before anything is charged or drawn.
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Metric.* dist^2 = integral norm(q - q')^2 dt = (a - a')^T G (a - a'), G the Gram
    matrix of the basis [1]_.

    *Law.* GP: density proportional to exp(-eps norm(z)_G), so the log density moves by
    at most eps dist; the radius is Gamma(m, 1/eps), E norm^2 = m (m + 1) / eps^2. CGP:
    N(0, G^-1 / (2 rho)), Renyi divergence of order alpha at most alpha rho dist^2;
    E norm^2 = m / (2 rho). Noise that ignores G is not private in this metric.

    *Release.* round_g(a + Z), a the float64 coefficients as they are, Z an exact draw,
    correctly rounded to a public lattice: no bit of the output depends on the
    coefficients otherwise. Coefficients of orthogonal functions are clipped beyond
    2^61 lattice steps, which brings no two functions further apart; of others they are
    refused.

    *NaN* passes through: which coefficients are missing is public, or was chosen
    privately and paid for by an earlier step. They take no noise and no dimension.
    Leaving out coefficients of an orthogonal basis brings no two functions further
    apart; with a `basis` or `gram` that is not orthogonal it may, and is refused.

    *Number of coefficients.* With m d of them the noise has energy
    m d (m d + 1) / eps^2; a function of norm tau has a tail of at most about
    (0.13 tau)^2 / m^2 beyond m frequencies. "auto" takes the m where both are equal
    under GP; under CGP, where noise is independent, it releases all of them.

    References
    ----------
    .. [1] "Function privatization in the local model": the mechanism for functions in
       the span of a basis.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import GeoPrivateCoefficients
    >>> model = GeoPrivateCoefficients(epsilon=0.1).fit(np.zeros((1, 3)))
    >>> model.transform([[50.0, 20.0, 0.0], [0.0, 0.0, 0.0]]).shape
    (2, 3)
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        basis: Basis | TensorBasis | None = None,
        gram: Any = None,
        n_coefficients: int | str | None = "auto",
        n_outputs: int = 1,
        bounds: Any = None,
        domain: Any = None,
        center: Any = None,
        norm_bound: float | None = None,
        denoise: bool = True,
        ledger: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.basis = basis
        self.gram = gram
        self.n_coefficients = n_coefficients
        self.n_outputs = n_outputs
        self.bounds = bounds
        self.domain = domain
        self.center = center
        self.norm_bound = norm_bound
        self.denoise = denoise
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> GeoPrivateCoefficients:  # noqa: ARG002
        """Fix the noise from public facts; no value is looked at.

        Parameters
        ----------
        X : array-like of shape (n, m), or array or frame of dask
            *Private.* Only the number of columns is used.
        y, groups : None
            Ignored.

        Returns
        -------
        self : GeoPrivateCoefficients
            The fitted transformer.
        """
        self._forget()
        self._check_ledger()
        check_jobs(self.n_jobs)
        budget = GeoBudget.from_parameters(self.epsilon, self.rho)
        seeded = random_bits(self.random_state).seeded
        check_flag(self.denoise, "denoise")
        check_basis(self.basis)
        read_rows(self, in_form(X), reset=True)
        largest = self._n_frequencies()
        domain = domain_of(self.basis) if self.domain is None else self.domain
        if self.basis is not None and tuple(domain) != domain_of(self.basis):
            raise ValueError(
                f"domain {domain} is not that of the basis, {domain_of(self.basis)}"
            )
        self.norm_bound_ = coefficient_bound(
            self.norm_bound, self.bounds, domain, self.n_outputs, self.center
        )
        space = CoefficientSpace.from_parameters(
            self.n_features_in_, self.basis, self.gram, self.n_outputs
        )
        self.n_coefficients_ = self._count(budget, space, largest)
        kept = self.n_coefficients_ * self.n_outputs
        self._space, self._budget = space.restricted(np.arange(kept)), budget
        self.law_ = self._space.law(budget)
        self.noise_std_ = np.full(self.n_features_in_, np.nan)
        self.noise_std_[:kept] = self.law_.std
        if self.denoise:  # what is not possible is refused before any charge
            self._denoised(np.empty((0, kept)), self._space, self.law_)
        if self.norm_bound_ is not None:
            remedy = "budget or tighter bounds"
            warn_if_noise_dominates(self._expected_square(), self.norm_bound_, remedy)
        self.guarantee_ = budget.guarantee(seeded)
        return self

    def transform(self, X: Any, groups: Any = None) -> np.ndarray:
        """Release every row, with fresh noise.

        Parameters
        ----------
        X : array-like of shape (n, m), or array or frame of dask
            *Private.* The coefficients of one function per row; NaN passes through.
            For dask all is charged at once, and released when it is computed.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row. The ledger is charged as
            often as the person with most rows has rows, which it then shows; None makes
            every row a person.

        Returns
        -------
        ndarray of shape (n, m)
            Released. NaN where nothing was released. An array of dask for dask.
        """
        check_is_fitted(self)
        self._check_ledger()
        if is_dask(X):
            return self._transform_lazily(X, groups, (self.n_features_in_,))
        rows = self._read(X)
        return self._released(rows, self._open_transform(X, len(rows), groups))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw noise like that which is added, from fresh random bits.

        Parameters
        ----------
        n_samples : int, default=1
            How many noise functions.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray of shape (n_samples, m)
            Coefficients of noise alone; NaN where nothing is released.
        """
        check_is_fitted(self)
        n_samples = check_count(n_samples, "n_samples")
        noise = np.full((n_samples, self.n_features_in_), np.nan)
        bits = random_bits(random_state, purpose=1)
        noise[:, : self.law_.size] = self.law_.sample(n_samples, bits)
        return noise

    def expected_error(self) -> float:
        """Predict the noise of a release.

        Returns
        -------
        float
            The expected squared L2 norm of the noise function before denoising.
        """
        check_is_fitted(self)
        return self._expected_square()

    def _expected_square(self) -> float:
        return self._budget.expected_square(self.law_.size)

    def _count(self, budget: GeoBudget, space: CoefficientSpace, largest: int) -> int:
        """How many coefficients of each output are released."""
        count = self.n_coefficients
        if count is None or (count == "auto" and not space.may_be_cut):
            return largest
        if count == "auto":
            return budget.frequencies_worth(self.norm_bound_, self.n_outputs, largest)
        return min(check_count(count, "n_coefficients"), largest)

    def _read(self, X: Any) -> np.ndarray:
        rows = read_rows(self, X, reset=False)
        self._space.check_rows(self._present(rows), rows, self.law_)
        return rows

    def _released(self, rows: np.ndarray, bits: RandomBits) -> np.ndarray:
        def release(chunk: slice, index: int) -> np.ndarray:
            return self._release(rows[chunk], bits.spawn(index))

        out = np.full_like(rows, np.nan)
        return map_rows(release, out, n_jobs=self.n_jobs, verbose=self.verbose)

    def _release(self, rows: np.ndarray, bits: RandomBits) -> np.ndarray:
        """Noise on what is present, row by row; NaN elsewhere."""
        released = np.full(rows.shape, np.nan)
        for columns, chosen in _patterns(self._present(rows)):
            space = self._space.restricted(columns)
            law = space.law(self._budget)
            lattice = release_lattice(law.smallest_scale)
            values = rows[np.ix_(chosen, columns)]
            noisy = lattice.to_float(law.release(values, lattice, bits))
            if self.denoise:
                noisy = self._denoised(noisy, space, law)
            released[np.ix_(chosen, columns)] = noisy
        return released

    def _present(self, rows: np.ndarray) -> np.ndarray:
        """Which coefficients are released, bool of the shape of `rows`."""
        present = ~np.isnan(rows)
        present[:, self.law_.size :] = False
        return present

    def _denoised(
        self, noisy: np.ndarray, space: CoefficientSpace, law: NoiseLaw
    ) -> np.ndarray:
        white = spectral_average(
            space.to_orthonormal(noisy),
            spherical_part(law),
            energy_bound=energy_of(self.norm_bound_),
            ranks=space.ranks,
        )
        return space.from_orthonormal(white)


def _patterns(present: np.ndarray) -> Any:
    """Pairs (columns that are present, rows with just these columns present)."""
    if (present == present[0]).all():
        columns = np.flatnonzero(present[0])
        if columns.size:
            yield columns, np.arange(len(present))
        return
    patterns, owner = np.unique(present, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if pattern.any():
            yield np.flatnonzero(pattern), np.flatnonzero(owner.ravel() == k)
