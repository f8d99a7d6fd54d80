"""The private mean curve of people who each hold a curve.

The ICLP mechanism of Lin and Reimherr, recalibrated and extended: the release is one
correctly rounded draw of noise on exact sums of bounded coefficients.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from .._base import plans
from .._observations import filled
from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from ..basis import SmoothCosineBasis
from ..blocks import open_rows
from ..noise import random_bits
from ._contributions import (
    CurveCoefficients,
    CurveContributions,
    draw_release,
    thresholded,
)
from ._curve_mean import check_noise
from ._denoised_mean import DenoisedMean
from ._parameters import (
    CurveReading,
    check_parameters,
    output_grid,
    planned_release,
    public_domain,
    public_plan,
    public_values,
    warn_if_noise_dominates,
)
from ._rounds import (
    Ball,
    Shares,
    plan_rounds,
    release_in_rounds,
    sum_of_first_round,
    two_rounds_help,
)


class ICLPMean(DenoisedMean):
    """Mean curve of n people, released under differential privacy.

    The curves are projected on a public orthonormal basis, the coefficients of each
    person are clipped to a public ball and summed exactly, noise is added once and
    rounded correctly, and the release is denoised with the known law of that noise.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped. Take them
        from what is known without the data, never from the data.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None takes that of
        `basis`, or (0, 1).
    grid : array-like, shape (n_points,), or "columns", default=None
        *Public.* Where wide data are observed, and where `mean_` is given. None is
        equally spaced on the domain (101 points for irregular curves); "columns"
        reads the names of the columns of a frame.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    delta : float, default=0.0
        *Public.* With delta > 0 Gaussian noise may be used.
    mechanism : {"auto", "laplace", "spherical", "block-spherical", "gaussian"}, \
default="auto"
        *Public.* The noise law; "auto" has the smallest predicted error.
    noise : {"matched", "kernel"}, default="matched"
        *Public.* The profile of independent Laplace scales: of the smallest variance,
        or proportional to sqrt(lambda_j) as published.
    penalty : {"qr", "ar"}, default="qr"
        *Public.* The published quadratic or absolute penalty; see Notes.
    kernel : str, kernel object or callable, default=None
        *Public.* Use the Karhunen-Loeve basis of this kernel; see `KernelBasis`.
    basis : Basis, default=None
        *Public.* The basis; None is that of `kernel`, or a `SmoothCosineBasis`.
    n_basis : int or "pss", default="pss"
        *Public.* How many functions are used; "pss" selects from public facts.
    eta : float or "pss", default="pss"
        *Public.* The exponent of the penalty, > 1/2; "pss" selects it.
    psi : float, "pss" or "rate", default="pss"
        *Public.* The strength of the penalty, in units of lambda^eta for "qr", of the
        norm bound for "ar"; "pss" minimises a risk bound, "rate" is the plug-in rate
        of the published kind. Denoising replaces the quadratic penalty.
    center : float, or array of shape (n_outputs,) or (n_points[, n_outputs]), \
default=None
        *Public.* Subtracted before clipping; None is the middle of the bounds.
    norm_bound : float, default=None
        *Public.* A bound on the L2 norm of a centred curve, tighter than that which
        follows from `bounds`.
    denoise : bool, default=True
        *Public.* Average the release over prior laws of smooth curves. It is free:
        the guarantee is the same.
    rounds : {"auto", 1, 2}, default="auto"
        *Public.* With two rounds, a rough mean and a radius around it are released
        from small shares of epsilon, and then the mean of what is left within that
        radius: less noise where curves fill little of what `bounds` allow, somewhat
        more where they fill all of it. "auto" takes two where people times epsilon is
        at least 2000, `mechanism` is "auto", and the denoiser shrinks.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.
    verbose : bool, default=False
        Show a progress bar while irregular curves are projected.

    Attributes
    ----------
    mean_ : ndarray, shape (n_points,) or (n_points, n_outputs)
        Released. The mean curve on `grid_`.
    coef_ : ndarray, shape (n_functions,) or (n_functions, n_outputs)
        Released. Coefficients of ``mean_ - center`` in `basis_`.
    coef_std_ : ndarray, shape of `coef_`
        Public or released. How far each coefficient may be from that without noise, a
        standard deviation given the release; see `noise_band`. With ``denoise=False``
        that of its noise, which is public.
    release_ : ndarray, shape of `coef_`
        Released. The coefficients before denoising, those of the rough mean included.
    grid_ : ndarray, shape (n_points,)
        Public points of the domain.
    basis_ : Basis
        Public orthonormal basis.
    law_ : NoiseLaw
        Public law of the noise of `release_`, in units of ``norm_bound_ / n_people_``;
        of the last round.
    eta_, psi_ : float
        Public exponent and strength of the penalty; psi 0 is none.
    weights_ : ndarray, shape (n_functions,)
        Public factors that the quadratic penalty multiplies `release_` by.
    norm_bound_ : float
        Public with one round: the bound on the norm of a contribution. With two the
        radius of the second, which is *released*.
    rounds_ : int
        Public number of rounds.
    noise_std_ : ndarray, shape of `mean_`
        Public or released. The standard deviation of the curve, given the release, from
        that without noise. With ``denoise=False`` that of its noise, which is public.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of wide data.

    Raises
    ------
    PrivacyError
        If the guarantee cannot be kept; raised before anything is charged or drawn.
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Contribution.* c_i is the vector of L2 inner products of the clipped and centred
    curve with orthonormal functions, averaged over a person's rows and shrunk into the
    ball of radius tau: `norm_bound`, or the L2 norm that `bounds` imply.

    *Sensitivity.* Neighbours replace one person's data, so the sum of contributions
    moves by at most 2 tau in Euclidean norm.

    *Law.* Laplace, spherical Laplace (whole or in blocks) or Gaussian, calibrated to
    that ball in exact arithmetic; the guarantee is pure epsilon-DP, or
    (epsilon, delta)-DP for the Gaussian law.

    *Penalties.* "qr" multiplies coefficient j by lambda_j^eta / (lambda_j^eta + psi),
    which after the noise is the same release as before it; "ar" soft-thresholds at
    psi / (2 lambda_j^(eta / 2)). lambda_j are the eigenvalues of the operator on a
    domain of length one. With ``denoise=True`` the denoiser takes the place of the
    quadratic penalty and shrinks by what the release shows.

    *Two rounds.* Round 1 and the choice of the radius r spend their shares of epsilon;
    the second round is again a mean of contributions c_i - C in a ball, clipped to r,
    where C and r have been released: with these fixed, its sensitivity is 2 r. Shares
    add up, exactly, to at most epsilon (delta belongs to the second round). Where r is
    not below tau, the second round takes c_i itself.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".

    Examples
    --------
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.datasets import load_elnino
    >>> years = load_elnino()
    >>> model = ICLPMean(bounds=(15, 32), domain=(0, 12), grid=years.grid)
    >>> model.fit(years.data).mean_.shape
    (12,)
    """

    _default_basis = SmoothCosineBasis

    def __init__(
        self,
        *,
        bounds: Any,
        domain: Any = None,
        grid: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "auto",
        noise: str = "matched",
        penalty: str = "qr",
        kernel: Any = None,
        basis: Any = None,
        n_basis: int | str = "pss",
        eta: float | str = "pss",
        psi: float | str = "pss",
        center: Any = None,
        norm_bound: float | None = None,
        denoise: bool = True,
        rounds: int | str = "auto",
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.bounds = bounds
        self.domain = domain
        self.grid = grid
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.noise = noise
        self.penalty = penalty
        self.kernel = kernel
        self.basis = basis
        self.n_basis = n_basis
        self.eta = eta
        self.psi = psi
        self.center = center
        self.norm_bound = norm_bound
        self.denoise = denoise
        self.rounds = rounds
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> ICLPMean:  # noqa: ARG002
        """Release the mean of the curves.

        Parameters
        ----------
        X : array-like, frame, Curves, FDataGrid or Blocks
            *Private.* One curve per row: shape (n_rows, n_points) or (n_rows, n_points,
            n_outputs), or irregular curves; or rows in blocks: a memory map, `Blocks`,
            a dask array or frame.
        y : None
            Ignored; labels of people are `groups`.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. A person's curves are averaged into one contribution. None makes
            every row a person, and the guarantee says so.

        Returns
        -------
        self : ICLPMean
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        check_parameters(self)
        self._check_rounds()
        bits = random_bits(self.random_state)
        rows = open_rows(X, groups=groups)
        domain = public_domain(self, rows.X)
        curves = rows.read(CurveReading.of(self, domain))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(curves.n_curves)
        values = public_values(self, curves.n_outputs, domain, curves.grid)
        rows.map(partial(filled, center=values.center))
        n_points = len(curves.grid) if curves.is_regular else None
        facts = (n_people, curves.n_outputs, domain, n_points)
        plan, basis = public_plan(self, *facts)
        shares = self._shares(n_people, plan.expected_square)
        guarantee = plan.guarantee(unit, bits.seeded)
        if shares is not None:
            rough, fine = self._with(shares.rough, 0.0), self._with(shares.fine)
            rounds = plan_rounds(rough, fine, shares.radius, facts)
            plan, basis = rounds.fine_for(1.0), rounds.basis
            last = plan.guarantee(unit, bits.seeded)
            guarantee = replace(last, epsilon=float(self.epsilon))
        check_noise(plan.law, values.norm_bound / n_people)
        grid = output_grid(self.grid, curves.grid, domain)
        functions = basis.evaluate(grid)
        warn_if_noise_dominates(plan)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: bounded contributions, and the exact sum for the first round.
            how = (basis, values, curves.grid, rows.shown(self.verbose))
            if shares is None:
                total = rows.sum(CurveContributions.of(plan, *how))
                total = thresholded(total, plan)
            else:
                rows.per_person(CurveCoefficients.of(*how))
                total = sum_of_first_round(rows, rounds)

            # Step 2: charge, then draw the noise, once in each round.
            self._open_release(guarantee)
            ball = Ball.unit(plan.size)
            if shares is None:
                released = draw_release(plan, total, bits)
            else:
                released, plan, ball = release_in_rounds(rows, total, rounds, bits)

            # Step 3: public post-processing.
            self.basis_, self.grid_ = basis.first(len(plan.spectrum)), grid
            functions = functions[:, : len(plan.spectrum)]
            self._set_release(released, plan, values, functions, curves.is_vector, ball)
        vars(self).pop("n_features_in_", None)
        if curves.is_regular:
            self.n_features_in_ = len(grid)
        self.rounds_ = 1 if shares is None else 2
        self.guarantee_ = guarantee
        return self

    def _check_rounds(self) -> None:
        if self.rounds not in ("auto", 1, 2) or isinstance(self.rounds, bool):
            raise ValueError(f"rounds must be 'auto', 1 or 2, got {self.rounds!r}")
        if self.rounds == 2 and not self._may_have_rounds:
            raise ValueError(
                "rounds=2 needs mechanism='auto', noise='matched', penalty='qr' and "
                "denoise=True"
            )

    @property
    def _may_have_rounds(self) -> bool:
        plain = (self.mechanism, self.noise, self.penalty) == ("auto", "matched", "qr")
        return plain and bool(self.denoise)

    def _shares(self, n_people: int, noise: float) -> Shares | None:
        """How epsilon is divided between two rounds; None for one.

        `noise` is the expected square of a single round, for a norm bound of one.
        """
        epsilon = float(self.epsilon)
        helps = self.rounds == "auto" and two_rounds_help(n_people, epsilon, noise)
        if self._may_have_rounds and (helps or self.rounds == 2):
            return Shares.of(epsilon, n_people)
        return None

    def _with(self, epsilon: float, delta: float | None = None) -> ICLPMean:
        """The same estimator with another budget."""
        delta = self.delta if delta is None else delta
        return clone(self).set_params(epsilon=epsilon, delta=delta, rounds=1)

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        sizes = (n_samples, n_outputs, n_points)
        planned = planned_release(self, *sizes)
        # a bound of the sampling error is the squared norm bound over n
        noise = planned.noise / (planned.sampling * planned.n_people)
        shares = self._shares(planned.n_people, noise)
        if shares is None:
            return planned
        fine = planned_release(self._with(shares.fine), *sizes)
        return replace(fine, epsilon=planned.epsilon)
