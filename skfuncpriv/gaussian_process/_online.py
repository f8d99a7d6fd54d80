"""A private function that answers queries one at a time.

Hall, Rinaldo and Wasserman's online mode: the curator keeps the function, and draws the
noise of a new point conditionally on all noise that was drawn before.
"""

from __future__ import annotations

import math
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator
from .._tables import as_numbers
from ..exceptions import PrivacyError
from ..noise import random_bits
from ..privacy import PrivacyGuarantee
from ._answers import Answers
from ._conditioning import keys_of
from ._kernels import Kernel
from ._online_release import OnlineRelease, public_facts

_BAD_POINTS = (
    "points must be finite numbers in an array of shape (n_points, n_axes); for one "
    "axis a number or a list of numbers will do"
)
_NO_COPY = (
    "a fitted OnlineGaussianProcess holds the private function, and a copy could "
    "answer one point twice: give a path and call resume(function) in the other process"
)


class OnlineGaussianProcess(PrivateEstimator):
    """Answer queries to a private function one at a time, with one budget for all.

    The object belongs to the curator and holds the function. Each answer is its value
    plus noise of a Gaussian process, drawn conditionally on all earlier answers and
    rounded once. A point that was answered before gets the same answer for ever.

    Parameters
    ----------
    kernel : Kernel
        *Public.* The covariance of the noise, and the kernel of the space in which the
        function moves. `ExponentialKernel` in one dimension answers query i in
        O(log i), any other kernel in O(i^2). A kernel that takes any number of axes
        takes one. To resume with a kernel class of your own its repr must state it.
    sensitivity : float
        *Public.* A bound on norm(f - f') in the space of the kernel, over the functions
        of neighbouring data sets, in units of the values.
    path : str, default=None
        *Public.* The file that keeps the answers. None keeps them in memory, for this
        process alone.
    epsilon : float, default=1.0
        *Public.* The budget of all answers together, > 0.
    delta : float, default=0.0
        *Public.* The budget, > 0 unless `rho` is given.
    rho : float, default=None
        *Public.* The budget of zero-concentrated differential privacy, instead of
        epsilon and delta.
    calibration : {"analytic", "classic"}, default="analytic"
        *Public.* The exact condition on Gaussian noise, or the published constant.
    max_points : int, default=None
        *Public.* How many points are answered at most. None is 1,000,000 for the
        exponential kernel in one dimension, and 2,000 for others.
    value_error : float, default=None
        *Public.* How far a number that `function` returns may lie from the ideal one,
        in units of the values. None is 2^-30 of the sensitivity; a larger error costs
        more noise at points that nearly coincide.
    unit : {"row", "person"}, default="row"
        *Public.* What neighbouring data sets differ in.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged once, by `fit`.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    guarantee_ : PrivacyGuarantee
        What all answers together promise, and per which unit.
    noise_std_ : float
        Public standard deviation of the noise of one answer.
    nugget_ : float
        Public share of the noise variance that may be white noise; see Notes.
    n_axes_ : int
        Public number of axes of a point.

    Raises
    ------
    PrivacyError
        If the guarantee cannot be kept, or the file is not that of this release.
    BudgetExceededError
        If the ledger has not enough left; no file is made and nothing is drawn.
    ValueError, TypeError
        If parameters or points are malformed.

    Notes
    -----
    *Mechanism.* With weights w_ij and s_i that depend on points alone,
    answer_i = round(f(t_i) + sum_j w_ij (answer_j - f(t_j)) + sigma s_i Z_i), where Z_i
    is an exact standard normal draw and rounding is to a public lattice.

    *Functions.* A density estimate ``kde`` with a Gaussian kernel of bandwidth h has
    ``kernel=GaussianKernel(h)``, the sensitivity of `kde_sensitivity` and the function
    ``lambda points: np.exp(kde.score_samples(points))``; see `ridge_sensitivity` and
    `erm_sensitivity` for others.

    *Universe.* The functions that may be the private one are finite, and at most 2^20
    times `sensitivity` in absolute value: for such values all rounding is paid for, and
    no answer is ever clipped. That is the curator's to ensure, like `sensitivity`: a
    function with another value is refused with a ValueError, which tells as much.

    *Theorem.* All answers together, to points that may be chosen in view of earlier
    answers, are as private as one Gaussian mechanism of deviation sigma and
    sensitivity norm(f - f'). *Proof.* Given the answers so far, neighbours differ in
    the centre of the next one by sigma s_i d_i = <f - f', K_i - sum_j w_ij K_j>. These
    functions are orthogonal with norms s_i, so sum d_i^2 <= m^2, m = norm(f - f') /
    sigma, for every sequence of points. The privacy loss is the sum of d_i Z_i +
    d_i^2 / 2, each d_i known before Z_i is drawn; with one more term that fills
    sum d_i^2 up to m^2, E exp(u sum d_i Z_i - u^2 m^2 / 2) = 1 for every u by
    induction, so the loss is normal with mean m^2 / 2 and variance m^2. Rounding
    changes nothing: d_i is bounded given any earlier answers, rounded or not.

    *Floats.* Points that nearly coincide would show the rounding errors of f. A nugget,
    found from `max_points` and `value_error`, keeps s_i away from zero, and the
    sensitivity is raised by 2^-7, which pays for them; see `_conditioning`. The answers
    have the law N(f, sigma^2 K) up to that nugget. A Gaussian kernel whose matrix has a
    condition number above 2^20 is refused.

    *Files.* The file holds points, answers and public facts, no value of f; only its
    owner may read it. An answer is on the disk before it is returned, so neither a
    crash nor a second process leads to a second noise for one point. An old copy that
    is put back in its place does: never restore it from a backup. So would a copy at
    another place, which `resume` refuses: a moved file must be moved back. `resume`
    must be given the function of `fit`; every other one costs as much as another
    release.

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions and
       functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import OnlineGaussianProcess
    >>> from skfuncpriv.gaussian_process import ExponentialKernel
    >>> kernel = ExponentialKernel(gamma=2.0)
    >>> gp = OnlineGaussianProcess(kernel=kernel, sensitivity=0.01, delta=1e-6)
    >>> gp.fit(lambda points: np.sin(points[:, 0])).predict([0.1, 0.7]).shape
    (2,)
    """

    # What predict is called with are arguments, no metadata to be routed.
    __metadata_request__predict = {"T": metadata_routing.UNUSED}  # noqa: RUF012
    __metadata_request__fit = {"function": metadata_routing.UNUSED}  # noqa: RUF012

    def __init__(
        self,
        *,
        kernel: Kernel,
        sensitivity: float,
        path: str | None = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        rho: float | None = None,
        calibration: str = "analytic",
        max_points: int | None = None,
        value_error: float | None = None,
        unit: str = "row",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.sensitivity = sensitivity
        self.path = path
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.calibration = calibration
        self.max_points = max_points
        self.value_error = value_error
        self.unit = unit
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, function: Any) -> OnlineGaussianProcess:
        """Start a release: charge the ledger once, and make the file if there is one.

        Parameters
        ----------
        function : callable
            *Private.* ``function(points)`` maps an array of shape (n_points, n_axes) to
            the values at its rows, shape (n_points,), always the same ones: finite
            numbers, at most 2^20 times `sensitivity` in absolute value.

        Returns
        -------
        self : OnlineGaussianProcess
            Ready to answer.
        """
        bits, facts, path = self._read_parameters(function)
        if path is not None and path.exists():
            raise PrivacyError(
                f"the file {str(path)!r} is there already: call resume(function) to go "
                "on with its release, or give another path for a new one"
            )
        if path is not None and not os.access(path.parent, os.W_OK):
            raise PrivacyError(f"the folder of {str(path)!r} cannot be written")
        guarantee = PrivacyGuarantee.from_dict(facts["stated"]["guarantee"])
        self._open_release(guarantee)
        self._start(
            OnlineRelease(function, self.kernel, Answers.create(path, facts), bits)
        )
        return self

    def resume(self, function: Any) -> OnlineGaussianProcess:
        """Go on with the release in the file, in this process too; nothing is charged.

        Parameters
        ----------
        function : callable
            *Private.* The function that was given to `fit`: the curator answers for
            that. A function far away from the answers in the file is refused.

        Returns
        -------
        self : OnlineGaussianProcess
            Ready to answer.
        """
        _, facts, path = self._read_parameters(function)
        if path is None:
            raise PrivacyError("only a release with a path can be resumed")
        answers = Answers.open(path)
        for name, stated in facts["stated"].items():
            found = answers.facts["stated"][name]
            if found != stated:
                raise PrivacyError(
                    f"the release at {str(path)!r} was made with another {name}: "
                    f"{found}, not {stated}"
                )
        # A seed must not repeat the noise of the first process.
        bits = random_bits(self.random_state, purpose=1 + answers.count)
        release = OnlineRelease(function, self.kernel, answers, bits)
        release.check_function()
        self._start(release)
        return self

    def predict(self, T: Any) -> np.ndarray:
        """Answer queries, in their order; each answer stays the same for ever.

        Parameters
        ----------
        T : array-like, shape (n_points, n_axes)
            *Public.* The points. One number, or shape (n_points,), will do for one
            axis; shape (n_axes,) is a single point of several.

        Returns
        -------
        ndarray, shape (n_points,), or () for a single point
            Released. The noisy values at the points.

        Raises
        ------
        ValueError
            If a point is not made of finite numbers, or a value of the function is not
            finite or too large; nothing is drawn then.
        PrivacyError
            If there would be more than `max_points` answers, the kernel is found to be
            no covariance of variance one, or the file cannot be used; then no answer is
            given, and no noise is kept.
        """
        if not self.__sklearn_is_fitted__():  # a check of its own takes 5 microseconds
            check_is_fitted(self)
        self._check_ledger()  # it draws noise, from a source that fit was given
        if type(T) is float and self.n_axes_ == 1 and math.isfinite(T):
            return np.array(self._release.answer_one(T + 0.0))
        points = as_numbers(T)
        shape = points.shape
        if self.n_axes_ > 1 or points.ndim > 1:
            if points.ndim == 0 or shape[-1] != self.n_axes_:
                raise ValueError(f"{_BAD_POINTS}; this kernel has {self.n_axes_} axes")
            shape = shape[:-1]
        if not np.isfinite(points).all():
            raise ValueError(_BAD_POINTS)
        points = points.reshape(-1, self.n_axes_) + 0.0  # -0.0 and 0.0 are one point
        return self._release.answer(keys_of(points)).reshape(shape)

    def __getstate__(self) -> Any:
        if self.__sklearn_is_fitted__():
            raise PrivacyError(_NO_COPY)
        return super().__getstate__()

    def _read_parameters(self, function: Any) -> Any:
        """The source of noise, the public facts and the path, all checked."""
        if not callable(function):
            raise TypeError(
                f"function must be a callable of points, got {type(function).__name__}"
            )
        self._check_ledger()
        if not isinstance(self.path, str | PathLike | None):
            raise TypeError(f"path must name a file, got {self.path!r}")
        bits = random_bits(self.random_state)
        facts = public_facts(self, bits.seeded)
        path = None if self.path is None else Path(self.path).resolve()
        return bits, facts, path

    def _start(self, release: OnlineRelease) -> None:
        self._release, facts = release, release.facts
        self.n_axes_ = self.kernel.n_axes or 1
        self.nugget_ = facts["nugget"]
        self.noise_std_ = facts["deviation"] * (1 + self.nugget_) ** 0.5
        self.guarantee_ = PrivacyGuarantee.from_dict(facts["stated"]["guarantee"])
