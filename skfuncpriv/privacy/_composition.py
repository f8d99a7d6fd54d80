"""The tightest bound that can be computed for several releases about the same people.

``a + b`` adds what two guarantees print. At a delta that is stated once for all of them
much less can be claimed: the losses of the releases partly cancel.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from ..exceptions import PrivacyError
from ._amount import Amount
from ._composed_loss import METHODS, Parts, concentrated_rho, smallest_epsilon
from ._conversion import check_open_delta
from ._exact import claim_at_least, decimal_reading
from ._guarantee import PrivacyGuarantee, guarantee_of
from ._partition import check_guarantees


def compose(
    *guarantees: PrivacyGuarantee, delta: float | None = None, method: str = "auto"
) -> PrivacyGuarantee:
    """Bound the loss of several releases, each of which may depend on those before.

    Parameters
    ----------
    *guarantees : PrivacyGuarantee
        *Public*. What each release promises.
    delta : float, optional
        *Public*. The delta of all releases together, in (0, 1), which buys a smaller
        epsilon. By default the guarantees are added.
    method : str, default="auto"
        The smallest epsilon of the methods that apply: "basic", "concentrated" and,
        unless it would take more than about a second, "optimal". Each of them can be
        asked for alone; "dp-accounting" asks the package of that name.

    Returns
    -------
    PrivacyGuarantee
        An approx-dp guarantee at `delta`, or without one the sum of the guarantees.
        Every number is rounded up.

    Raises
    ------
    PrivacyError
        If unit, neighbours or metric differ, the deltas of the parts exceed `delta`, or
        the method does not know one of the definitions.
    ValueError
        If there is no guarantee, or delta or the method is not one of those above.
    ImportError
        If dp-accounting is asked for and not installed.

    Notes
    -----
    For each pair of neighbours an (epsilon_i, delta_i)-DP release is a random function
    of the answer of randomised response that gives the input away with probability
    delta_i and is epsilon_i-DP otherwise [1]_. That holds after each outcome of earlier
    releases, so all answers together tell no less than all releases. With probability
    1 - prod(1 - delta_i) one of them is given away; what is left of delta is

    h = 1 - (1 - delta) / prod(1 - delta_i),

    and pays for the others:

    - *basic*: the sum of epsilon_i, and of zcdp parts by their conversion at h.
    - *concentrated*: the Renyi divergences of each order alpha add [2]_, alpha rho for
      a zcdp part and, exactly,
      log(cosh((alpha - 1/2) epsilon) / cosh(epsilon/2)) / (alpha - 1) for randomised
      response; the sum is converted at h [3]_, at the best order. Beyond 10,000
      different epsilons some count as the next larger one.
    - *optimal*: the smallest epsilon there is for parts that are pure or approximate,
      from the law of the total loss ([1]_, [4]_) on a public lattice. An epsilon
      between two points becomes a mixture of responses at both, which tells more;
      rounding is bounded and paid for, so the result is never below the optimum.
      Some 10,000 equal parts or 4,000 different ones are quick enough for
      "auto": steps of work are counted, not time, so the claim is the same everywhere.
    - *dp-accounting*: the privacy loss distribution of that package, pessimistic up to
      its floating-point errors; for pure and approximate parts. Never used by "auto".

    Without a delta a pure part among zcdp ones counts rho = epsilon tanh(epsilon/2),
    less than the epsilon^2/2 of ``+``. Proof: with lambda = alpha - 1 and t = epsilon/2
    the claim is f(lambda) = log(cosh((2 lambda + 1) t) / cosh t) -
    2 lambda (lambda + 1) t tanh t <= 0. Now f(0) = 0 and f'(lambda) =
    2 t [tanh((2 lambda + 1) t) - (2 lambda + 1) tanh t] <= 0, for tanh is concave on
    [0, inf) and 0 at 0. As alpha tends to 1 it is an equality.

    What is released next may depend on what was seen; the list of guarantees, and where
    it ends, may not: for that, keep a :class:`BudgetLedger`.

    References
    ----------
    .. [1] P. Kairouz, S. Oh and P. Viswanath, "The composition theorem for differential
       privacy", ICML 2015.
    .. [2] I. Mironov, "Renyi differential privacy", CSF 2017.
    .. [3] C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for
       differential privacy", NeurIPS 2020.
    .. [4] J. Murtagh and S. Vadhan, "The complexity of computing the optimal
       composition of differential privacy", TCC 2016.

    Examples
    --------
    >>> from skfuncpriv.privacy import PrivacyGuarantee, compose
    >>> charts = [PrivacyGuarantee(definition="pure-dp", epsilon=0.1)] * 100
    >>> compose(*charts).epsilon, round(compose(*charts, delta=1e-6).epsilon, 2)
    (10.0, 4.77)
    """
    check_guarantees("compose", guarantees)
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
    _check_alike(guarantees)
    if delta is None:
        if method not in ("auto", "basic"):
            raise ValueError(f"method={method!r} needs a delta, got None")
        return _sum(guarantees, exact=method == "basic")
    delta = check_open_delta(delta)
    if guarantees[0].metric is not None:
        raise PrivacyError(
            "guarantees per unit of distance only add; convert each with "
            "to_approx_dp(delta, radius=...) to compose at a delta"
        )
    epsilon = smallest_epsilon(Parts.of(guarantees, delta), method)
    return guarantee_of(
        Amount(epsilon=decimal_reading(epsilon), delta=decimal_reading(delta)),
        "approx-dp",
        like=guarantees[0],
        seeded=any(guarantee.seeded for guarantee in guarantees),
    )


def _check_alike(guarantees: tuple[PrivacyGuarantee, ...]) -> None:
    for field in ("unit", "neighbours", "metric"):
        found = {getattr(guarantee, field) for guarantee in guarantees}
        if len(found) > 1:
            names = sorted(str(name) for name in found)
            raise PrivacyError(
                f"guarantees with different {field} do not compose: {names}"
            )


def _sum(guarantees: tuple[PrivacyGuarantee, ...], *, exact: bool) -> PrivacyGuarantee:
    """Basic composition, pure parts among concentrated ones at their exact rho."""
    definitions = {guarantee.definition for guarantee in guarantees}
    if {"zcdp", "approx-dp"} <= definitions:
        raise PrivacyError("zcdp and approx-dp compose at a stated delta: give delta=")
    total: PrivacyGuarantee = reduce(add, guarantees)
    if exact or definitions != {"zcdp", "pure-dp"}:
        return total
    claim = claim_at_least(concentrated_rho(guarantees))
    return guarantee_of(
        Amount(rho=decimal_reading(claim)), "zcdp", like=total, seeded=total.seeded
    )
