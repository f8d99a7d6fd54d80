"""The private mean of curves of which each is known on a part of the domain only.

Two functions are released together, how many people are observed at t and the sum of
their values there; the mean of those observed at t is found from them afterwards.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Tags

from .._base import PrivateEstimator, plans, warn_if_noise_dominates
from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from .._validation import check_count
from ..blocks import open_rows
from ..noise import IndependentGaussian, RandomBits, random_bits, release_lattice
from ..summaries import ValueBounds
from ._curve_mean import CurveMean
from ._parameters import output_grid, public_domain
from ._sparse_data import read_observations, sum_masked
from ._sparse_parameters import (
    check_sparse_parameters,
    sparse_plan,
    sparse_values,
    support_rule,
)
from ._sparse_plan import SparsePlan
from ._sparse_solve import coverage_at, released_table, solve_release


class PrivateSparseMean(CurveMean):
    """Mean of curves observed sparsely, irregularly and not to the end, released once.

    At each point it is the mean of the people who are *observed* there: a person whose
    curve ends early is neither extended nor counted as zero afterwards.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped. Take them
        from what is known without the data, never from the data.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None takes that of
        `basis`, or (0, 1) for a wide table.
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
    kernel : str, kernel object or callable, default=None
        *Public.* Use the Karhunen-Loeve basis of this kernel; see `KernelBasis`.
    basis : Basis, default=None
        *Public.* The basis; None is that of `kernel`, or cosines.
    n_basis : int or "pss", default="pss"
        *Public.* How many functions the sum of values is projected on; "pss" selects
        from public facts.
    center : float, or array of shape (n_outputs,), default=None
        *Public.* Subtracted before clipping; None is the middle of the bounds. Where
        nobody is observed, the mean tends to it.
    max_gap : float, default=None
        *Public.* Neighbouring observations that are further apart, in units of the
        domain, are not joined by a straight line; None joins all of one curve.
    reach : float, default=None
        *Public.* How far a curve counts as known, and constant, beyond an observation
        without a neighbour on that side; None is a fiftieth of the domain.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.
    verbose : bool, default=False
        Show a progress bar while curves are projected.

    Attributes
    ----------
    mean_ : ndarray, shape (n_points,) or (n_points, n_outputs)
        Released. The mean curve on `grid_`.
    coverage_ : ndarray, shape (n_points,)
        Released. The share of people observed at each point of `grid_`.
    noise_std_ : ndarray, shape of `mean_`
        Released. Standard deviation of `mean_` given the release, from the public law
        and the released coverage: that of the noise where people are observed, and
        what the prior leaves open where they are few.
    coef_ : ndarray, shape (n_functions,) or (n_functions, n_outputs)
        Released. Coefficients of ``mean_ - center`` in `basis_`.
    coef_root_ : ndarray, shape (n_outputs, n_functions, n_functions)
        Released. Matrices R, one for each output: R R^T is the covariance of that
        column of `coef_` given the release.
    release_ : ndarray, shape (n_coefficients, 1 + n_outputs)
        Released. What everything else is computed from: coefficients of the coverage
        less one, then of coverage times scaled mean, see Notes.
    grid_ : ndarray, shape (n_points,)
        Public points of the domain.
    basis_ : Basis
        Public orthonormal basis.
    law_ : NoiseLaw
        Public law of the noise of `release_`, in units of ``norm_bound_ / n_people_``.
    norm_bound_ : float
        Public bound on the norm of a contribution, the root of the domain's width.
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

    See Also
    --------
    ICLPMean : For curves that everybody has on the whole domain.

    Notes
    -----
    *Estimand.* Let S_i be the support of curve y_i: the stretches between neighbouring
    observations, unless they are more than `max_gap` apart, and `reach` beyond the
    observations at their ends. The mean at t is sum_i y_i(t) 1{t in S_i} over
    sum_i 1{t in S_i}. If people leave for reasons that go with their values, that is
    not the mean of all people.

    *Contribution.* With the clipped values scaled to g_i in [-1, 1] (by the larger
    distance r of a bound from the center), person i contributes the coefficients of
    the two functions u_i = (1{S_i} - 1, 1{S_i} g_i). At each t that is (-1, 0) or
    (0, g_i(t)), of norm at most one in both cases: so the squared L2 norm of u_i is at
    most the width of the domain, as it is for g_i alone, and the mask needs no budget
    of its own. With d outputs the second part is g_i / sqrt(d). Projection does not
    lengthen, and vectors are clipped to the ball last. A curve without observations is
    (-1, 0) everywhere. The rows of one person are averaged in the ball, rows without
    observations too.

    *Sensitivity.* Neighbours replace one person's data, so the sum of contributions
    moves by at most twice the radius; that is attained by one curve on the upper and
    one on the lower bound. `law_` is calibrated to that ball in exact arithmetic.

    *Mean.* The released functions obey num = den * f, which is solved for f in
    coefficients, the normal equations of local averaging. Smooth curves have prior
    coefficients N(0, a (1 + k)^(-2 s)), averaged over a public grid of (a, s) by
    marginal likelihood; noise is taken as normal with the variances of the law, and
    errors of the coverage as additional noise. It costs nothing: the guarantee is
    that of the release.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".
    .. [2] Yao, Mueller and Wang (2005), "Functional data analysis for sparse
       longitudinal data".

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import PrivateSparseMean
    >>> X = np.tile([50.0, 60.0, 65.0, 68.0], (500, 1))
    >>> X[:400, 3] = np.nan  # most are not seen at the end
    >>> model = PrivateSparseMean(bounds=(40, 100), domain=(0, 300)).fit(X)
    >>> model.mean_.shape, model.coverage_.shape
    ((4,), (4,))
    """

    def __init__(
        self,
        *,
        bounds: Any,
        domain: Any = None,
        grid: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "auto",
        kernel: Any = None,
        basis: Any = None,
        n_basis: int | str = "pss",
        center: Any = None,
        max_gap: float | None = None,
        reach: float | None = None,
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
        self.kernel = kernel
        self.basis = basis
        self.n_basis = n_basis
        self.center = center
        self.max_gap = max_gap
        self.reach = reach
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = PrivateEstimator.__sklearn_tags__(self)
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        groups: Any = None,
    ) -> PrivateSparseMean:
        """Release coverage and mean of the curves.

        Parameters
        ----------
        X : Curves, array-like, frame, FDataGrid, FDataIrregular or Blocks
            *Private.* Irregular curves, or one curve per row, of shape (n_rows,
            n_points) or (n_rows, n_points, n_outputs), NaN where it is not observed;
            with several outputs, where one of them is NaN. What `Curves` filled in,
            with ``missing="interpolate"``, counts as observed. Or rows in blocks: a
            memory map, `Blocks`, a dask array or frame.
        y : None
            Ignored; labels of people are `groups`.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. A person's curves are averaged into one contribution. None makes
            every row a person, and the guarantee says so.

        Returns
        -------
        self : PrivateSparseMean
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        check_sparse_parameters(self)
        bits = random_bits(self.random_state)
        rows = open_rows(X, groups=groups)
        domain = public_domain(self, rows.X)
        rule = support_rule(self, domain)
        how = {"grid": self.grid, "domain": domain, "strict": self._is_strict()}
        data = rows.read(partial(read_observations, **how))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(data.n_curves)
        values = sparse_values(self, domain, data.n_outputs)
        n_points = None if data.grid is None else len(data.grid)
        plan, basis = sparse_plan(self, n_people, data.n_outputs, domain, n_points)
        grid = output_grid(self.grid, data.grid, domain)
        law = plan.law
        remedy = "epsilon, more people or fewer functions"
        warn_if_noise_dominates(plan.expected_square, 1.0, remedy)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: bounded contributions and their exact sum.
            facts = {"basis": basis.first(plan.n_functions), "values": values}
            facts |= {"rule": rule, "verbose": rows.shown(self.verbose)}
            total = rows.sum(partial(sum_masked, plan=plan, **facts))

            # Step 2: charge, then draw the noise once.
            guarantee = plan.guarantee(unit, bits.seeded)
            self._open_release(guarantee, n_people)
            lattice = release_lattice(law.smallest_scale, total)
            released = lattice.to_float(law.release(total, lattice, bits))

            # Step 3: public post-processing.
            self.basis_, self.grid_ = basis, grid
            self._set_release(released, plan, values, data.is_vector)
        vars(self).pop("n_features_in_", None)
        if data.grid is not None:
            self.n_features_in_ = len(grid)
        self.guarantee_ = guarantee
        return self

    def noise_band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return a simultaneous band around the mean, given the release.

        With probability `level` under the prior of smooth curves the mean of the people
        observed lies within it on the whole grid: it covers noise and what smoothing
        leaves open. It covers neither jumps that are too sharp for the functions
        released, nor the sampling of these people from a population.

        Parameters
        ----------
        level : float, default=0.95
            The probability, in (0, 1).

        Returns
        -------
        lower, upper : ndarray, shape of `mean_`
            The ends of the band.
        """
        reach = self._band_reach(level)
        return self.mean_ - reach, self.mean_ + reach

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw deviations of the mean, given the release, from fresh random bits.

        Parameters
        ----------
        n_samples : int, default=1
            How many curves.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray, shape (n_samples,) + shape of `mean_`
            Curves on `grid_` whose standard deviation is `noise_std_`.
        """
        return super().sample(n_samples, random_state)

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        """What would be released, if everybody were observed everywhere."""
        check_sparse_parameters(self)
        n_people = check_count(n_samples, "n_samples")
        n_outputs = check_count(n_outputs, "n_outputs")
        domain = public_domain(self)
        values = sparse_values(self, domain, n_outputs)
        if n_points is not None:
            check_count(n_points, "n_points")
        elif self.grid is not None and not isinstance(self.grid, str):
            n_points = len(output_grid(self.grid, None, domain))
        plan, _ = sparse_plan(self, n_people, n_outputs, domain, n_points)
        square = values.largest_norm * values.largest_norm
        return PlannedRelease(
            n_people=n_people,
            epsilon=plan.epsilon,
            delta=plan.spent_delta,
            mechanism=plan.mechanism,
            n_functions=plan.n_functions,
            bias=plan.bias * square,
            sampling=square / n_people,
            noise=plan.expected_square * square,
            released="the released mean",
            size=domain[1] - domain[0],
        )

    def _set_release(
        self, released: np.ndarray, plan: SparsePlan, values: ValueBounds, vector: bool
    ) -> None:
        """Turn the released sum of unit-ball contributions into a mean curve."""
        width = self.basis_.domain[1] - self.basis_.domain[0]
        self.norm_bound_, self.n_people_ = float(np.sqrt(width)), plan.n_people
        self.law_ = plan.law
        self.release_ = self._unit * released_table(released, plan)
        solved, functions = solve_release(released, plan, self.basis_), self._functions
        unit = self.norm_bound_ * values.reach
        columns = slice(None) if vector else 0
        coef = np.stack([part.mean for part in solved.outputs], axis=1) * unit
        deviation = np.stack([part.std(functions) for part in solved.outputs], axis=1)
        self.coverage_ = coverage_at(solved.coverage, functions)
        self.coef_ = coef[:, columns]
        roots = [part.root for part in solved.outputs]
        self.coef_root_ = np.stack(roots) * unit[:, None, None]
        self.noise_std_ = (deviation * values.reach)[:, columns]
        middle = np.broadcast_to(values.center, (len(functions), plan.n_outputs))
        self._center = middle[:, columns].copy()
        self.mean_ = self.basis_.evaluate(self.grid_) @ self.coef_ + self._center

    @property
    def _functions(self) -> np.ndarray:
        """The functions of the basis on the grid, without a unit."""
        return self.norm_bound_ * self.basis_.evaluate(self.grid_)

    def _noise_curves(self, n_curves: int, bits: RandomBits) -> np.ndarray:
        """Deviations of the mean from its estimate, given the release."""
        functions, curves = self.basis_.evaluate(self.grid_), []
        law = IndependentGaussian((1.0,) * self.basis_.n_basis)
        for root in self.coef_root_:
            curves.append(law.sample(n_curves, bits) @ (functions @ root).T)
        return np.stack(curves, axis=-1).reshape(n_curves, *self.mean_.shape)
