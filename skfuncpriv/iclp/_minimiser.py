"""Output perturbation: a regularised minimiser on bounded features, plus noise.

beta minimises J(beta) = (1/n) sum_i w_i loss(u_i, beta' z_i) + psi norm(beta)^2 over
p x q matrices, norm(z_i) <= 1, targets u_i in [-1, 1] (or labels, or vectors of norm at
most one), n people, and weights of a person that add up to at most one. What is
computed instead has a certified duality gap; see `MinimiserPlan` for what one person
can change of it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._threads import one_blas_thread
from ..exceptions import PrivacyError
from ..gaussian_process._duality import KAPPA, Objective, RoundingErrors
from ..gaussian_process._losses import Loss, SquaredLoss
from ..gaussian_process._machine_plan import MachinePlan, NoiseBudget, public_plan
from ..gaussian_process._minimise import certified_minimiser, weighted_gram
from ..noise import FixedPoint
from ..noise._scales import root_up, round_up
from ..privacy import PrivacyGuarantee

MECHANISMS = ("spherical", "gaussian")
_CALIBRATION = "analytic"


@dataclass(frozen=True)
class MinimiserPlan(MachinePlan):
    """Everything about the release of a minimiser that is public.

    Parameters
    ----------
    loss : Loss
        The loss, of targets in [-1, 1] or labels -1 and 1.
    budget : NoiseBudget
        What the noise spends.
    n_people : int
        The number n of people.
    unit : {"row", "person"}
        Whose data is replaced between neighbours.
    n_outputs, n_features : int
        q and p.
    psi : float
        The strength of regularisation.
    gap : float
        The duality gap up to which each of the q columns is solved.
    is_joint : bool, default=False
        Whether targets are *vectors* of norm at most one, with the squared loss
        norm(u - beta' z)^2. Otherwise each of q functions has targets of its own.

    Notes
    -----
    *One function* [1]_. J is 2 psi-strongly convex; adding J(beta') >= J(beta) + psi
    norm(d)^2 and the same for the neighbour's objective J', all terms but those of the
    person who is replaced cancel: 2 psi norm(d)^2 <= (2/n) L kappa norm(d), because a
    person's term sum_r w_r loss(u_r, beta' z_r), with weights >= 0 that add up to at
    most one, is (L kappa)-Lipschitz. So norm(d) <= L kappa / (psi n) whatever the
    weights of this person and of the others. L is taken between the values that
    minimisers reach; the bound on their norm is from 2 psi norm(beta)^2 = -mean_i w_i
    slope_i f_i, which weights in [0, 1] only make smaller.

    *Ridge regression with one row per person.* Let g minimise without the last person,
    A = psi + (1/n) sum_j w_j z_j z_j' over the others. With f the minimiser with a row
    (z, u) of weight v, the normal equations give (rank one)

        f - g = A^-1 z v r' / (n + v s),    s = z' A^-1 z,    r = u - g' z in R^q.

    v / (n + v s) increases in v, so v = 1 is the worst case. With a_j = z' A^-1 z_j,
    norm(g' z) = norm((1/n) sum_j w_j a_j u_j) <= B sqrt((1/n) sum_j w_j) sqrt((1/n)
    sum_j w_j a_j^2) <= B sqrt((n-1)/n) sqrt(s - psi norm(A^-1 z)^2), for weights in
    [0, 1]. These are the two facts that the bound of `ridge_sensitivity` is made of,
    with norm(u) <= B in place of abs(y) <= B and the Frobenius norm of the rank-one
    matrix f - g, norm(A^-1 z) norm(r): it holds for weights and for vectors as it is.
    Likewise psi norm(f)^2 = mean_i w_i <u_i - f' z_i, f' z_i> <= B^2 / 4, so all
    minimisers lie in the same ball. So q outputs of a curve cost no more than one.

    *A vector and people with many rows.* The loss is Lipschitz in the value f' z in
    R^q, with the same L = 2 (B + sup norm(f' z)), and norm(d' z) <= kappa norm(d).

    *Several functions* (not joint): a person moves all q of them, each by at most that
    of one; the Frobenius norm of the move is at most sqrt(q) times as large.

    *The gap.* Each column that is released is within sqrt(gap / psi) of the minimiser's
    on both sides of a pair of neighbours: 2 sqrt(q gap / psi) is added.

    References
    ----------
    .. [1] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of
       Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process._losses import SquaredLoss
    >>> from skfuncpriv.iclp._minimiser import plan_minimiser
    >>> plan = plan_minimiser(SquaredLoss(), n_people=100, n_features=5, psi=1.0)
    >>> round(plan.sensitivity, 3)
    0.027
    """

    is_joint: bool = False

    @cached_property
    def sensitivity(self) -> float:
        """How far all coefficients move together between neighbours, rounded up."""
        move = self.loss.sensitivity(KAPPA, self.psi, self.n_people, self.unit)
        error = Fraction(root_up(Fraction(self.gap) / Fraction(self.psi)))
        if not self.is_joint:
            return root_up(self.n_outputs * (Fraction(move) + 2 * error) ** 2)
        # The bound is linear in that on targets, whose norm was rounded.
        exact = Fraction(move) * Fraction(KAPPA)
        return round_up(exact + Fraction(root_up(self.n_outputs * (2 * error) ** 2)))

    @property
    def mechanism(self) -> str:
        """The noise law, "spherical" or "gaussian"."""
        return MECHANISMS[self.budget.gaussian is not None]

    @property
    def expected_square(self) -> float:
        """The expected squared norm of the noise of all coefficients."""
        return self.law.expected_square

    @property
    def largest_norm(self) -> float:
        """A bound on the norm of all coefficients together."""
        return self.radius * (1.0 if self.is_joint else self.n_outputs**0.5)

    def guarantee(self, seeded: bool) -> PrivacyGuarantee:
        """What a release with this noise promises."""
        return self.budget.guarantee(self.unit, seeded)

    def coefficients(self, released: np.ndarray) -> np.ndarray:
        """The released numbers as a matrix, shape (q, p), in the ball of minimisers.

        The projection on the ball is post-processing: every minimiser lies in it.
        """
        coef = released.reshape(self.n_outputs, self.n_features)
        axis = None if self.is_joint else 1
        norms = np.sqrt(np.square(coef).sum(axis=axis, keepdims=True))
        return coef * np.minimum(1.0, self.radius / np.maximum(norms, 1e-300))


def plan_minimiser(
    loss: Loss,
    *,
    n_people: int,
    n_features: int,
    n_outputs: int = 1,
    unit: str = "row",
    is_joint: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    mechanism: str = "auto",
    psi: float | str = "pss",
    gap: float | None = None,
    missed: np.ndarray | None = None,
) -> MinimiserPlan:
    """Choose what is left open, from public facts alone.

    Parameters
    ----------
    loss : Loss
        *Public.* The loss; a joint one is squared.
    n_people : int
        *Public.* The number of people.
    n_features : int
        *Public.* p; with `missed` the fewest that may be taken.
    n_outputs : int, default=1
        *Public.* q.
    unit : {"row", "person"}, default="row"
        *Public.* Whose data is replaced between neighbours.
    is_joint : bool, default=False
        *Public.* Whether targets are vectors; see `MinimiserPlan`.
    epsilon, delta : float
        *Public.* The budget.
    mechanism : {"auto", "spherical", "gaussian"}, default="auto"
        *Public.* The noise law; "auto" takes the quieter one for the
        coefficients of the first.
    psi : float or "pss", default="pss"
        *Public.* The strength of regularisation, between 1e-8 and 1e4 (`check_psi`).
    gap : float, default=None
        *Public.* The duality gap of a column. None adds a 64th to the sensitivity, or
        what float64 can certify.
    missed : ndarray, shape (m,), default=None
        *Public.* Entry k: the norm of what the first k + 1 features miss of all; the
        number of features is then chosen, too. None takes `n_features`.

    Returns
    -------
    MinimiserPlan
        The plan.

    Raises
    ------
    ValueError
        If `gap` is below what can be certified, or `mechanism` is unknown.
    PrivacyError
        If Gaussian noise has no delta, or the noise leaves the range of floats.

    Notes
    -----
    "pss" minimises the bound on the expected excess risk that `public_plan` of the
    kernel machines states: psi B^2 for functions of norm at most B, the stability of
    the minimiser for sampling, and what noise adds to the mean loss where norm(z) = 1.
    A joint move is 1 / sqrt(q) of that of q functions, and its q values make q times
    the squared error of one: for both kinds the bound is the same formula.
    """
    if is_joint and not isinstance(loss, SquaredLoss):
        raise ValueError(
            f"vector targets need the squared loss, got {type(loss).__name__}: fit one "
            "function for each output instead"
        )
    if missed is None:
        missed = np.zeros(n_features)
    facts = (n_people, unit, n_outputs, missed, n_features, psi, gap)
    chosen = None
    for budget in budgets(mechanism, epsilon, delta):
        if chosen is None or _is_quieter(budget, chosen):
            chosen = public_plan(loss, budget, *facts)
    own = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
    plan = MinimiserPlan(**own, is_joint=is_joint)
    if gap is not None or not is_joint:
        return plan
    smallest = RoundingErrors(loss, plan.psi, plan.n_features).smallest_gap
    return replace(plan, gap=max(plan.gap / n_outputs, smallest))


def minimiser_value(
    plan: MinimiserPlan,
    features: np.ndarray,
    targets: np.ndarray,
    row_weights: np.ndarray | None = None,
) -> FixedPoint:
    """Compute certified minimisers, to be released with ``plan.law``.

    Parameters
    ----------
    plan : MinimiserPlan
        *Public.*
    features : ndarray, shape (n_rows, p)
        *Private.* z_i, each a function of row i alone to the last bit; divided by its
        norm here if that is above one, and zero where it is not finite.
    targets : ndarray, shape (n_rows,) or (n_rows, q)
        *Private.* Labels -1 and 1; or numbers, which are clipped to [-1, 1]; or, if the
        plan is joint, vectors, which are clipped to the unit ball.
    row_weights : ndarray, shape (n_rows,), default=None
        *Private.* Weights >= 0 that add up to at most one for each person; None is one
        for every row, and asks for the unit "row".

    Returns
    -------
    FixedPoint
        The q p coefficients, function after function, on a public lattice.

    Raises
    ------
    PrivacyError
        If a minimiser could not be certified, in a constant text: nothing may then be
        released or charged.
    """
    targets = np.asarray(targets, dtype=np.float64)
    if targets.ndim == 1:
        targets = targets[:, None]
    if row_weights is None:
        row_weights = np.ones(len(features))
    # Many small products: threads of BLAS would wait for each other.
    with np.errstate(all="ignore"), one_blas_thread():
        Z = in_unit_ball(features)
        targets = in_unit_ball(targets) if plan.is_joint else np.clip(targets, -1, 1)
        columns = np.ascontiguousarray(targets.T)
        starts = [None] * plan.n_outputs
        if isinstance(plan.loss, SquaredLoss):
            starts = _ridge(plan, Z, targets, row_weights)
        parts = [
            certified_minimiser(
                Objective(plan.loss, plan.psi, plan.n_people, Z, target, row_weights),
                plan.gap,
                start,
            )
            for target, start in zip(columns, starts, strict=True)
        ]
    values = np.concatenate([part.values for part in parts])
    return FixedPoint(values, parts[0].lattice, parts[0].bound)


def in_unit_ball(rows: np.ndarray) -> np.ndarray:
    """Rows, each divided by its norm if that is above one; zero if it is not finite.

    The norm of a row of floats is then at most `KAPPA`, and the row a function of its
    own numbers: sums run along contiguous rows, whatever the layout was.
    """
    rows = np.array(rows, dtype=np.float64, order="C")
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=1.0)
    rows /= largest  # so that no square overflows
    norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return rows / np.maximum(norms, 1.0 / largest)


def budgets(mechanism: str, epsilon: float, delta: float) -> list[NoiseBudget]:
    """What each of the noise laws to choose from would spend."""
    if mechanism not in ("auto", *MECHANISMS):
        raise ValueError(
            f"mechanism must be 'auto' or one of {MECHANISMS}, got {mechanism!r}"
        )
    if mechanism == "gaussian" and delta == 0:
        raise PrivacyError("mechanism='gaussian' needs delta > 0, got delta=0")
    spent = {"spherical": 0.0, "gaussian": delta}
    if mechanism != "auto":
        spent = {mechanism: spent[mechanism]}
    elif delta == 0:
        del spent["gaussian"]
    return [NoiseBudget(epsilon, part, None, _CALIBRATION) for part in spent.values()]


def _is_quieter(budget: NoiseBudget, plan: MachinePlan) -> bool:
    """Whether its noise is smaller, for the coefficients that were planned."""
    size = np.array([plan.n_outputs * plan.n_features])
    return bool(budget.deviation(size)[0] < plan.budget.deviation(size)[0])


def _ridge(
    plan: MinimiserPlan, Z: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> list[np.ndarray | None]:
    """All columns from one factorisation: guesses, which are certified one by one."""
    share = weights / plan.n_people
    normal = weighted_gram(Z, share) + plan.psi * np.eye(Z.shape[1])
    try:
        columns = cho_solve(cho_factor(normal), Z.T @ (share[:, None] * targets))
    except LinAlgError:
        return [None] * plan.n_outputs
    return list(np.ascontiguousarray(columns.T))
