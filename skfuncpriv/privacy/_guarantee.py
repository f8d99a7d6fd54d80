"""What a release promises: definition, numbers, neighbours and unit.

A guarantee is a value. ``a + b`` is the guarantee of releasing both; nothing is ever
changed in place. Its numbers are read as the decimals they print, sums are exact in
decimal arithmetic, and whatever must be rounded is rounded up: a promise of many
digits is printed with few of them, and with a number that is never too small.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from html import escape
from typing import Any, ClassVar

from .._validation import check_delta, check_positive, check_real
from ..exceptions import PrivacyError
from ._amount import DEFINITIONS, Amount, joint_definition
from ._conversion import check_open_delta, zcdp_epsilon
from ._exact import EXACT, claim_at_least, claim_at_most, decimal_reading
from ._words import all_digits, words_of

UNITS = ("row", "person")


@dataclass(frozen=True, kw_only=True)
class PrivacyGuarantee:
    """Privacy guarantee of one release, or of several composed with ``+``.

    With neighbours D, D' (data sets that differ in one unit), a mechanism M is
    *pure-dp* if P(M(D) in E) <= exp(epsilon) P(M(D') in E) for every event E;
    *approx-dp* if <= exp(epsilon) P(M(D') in E) + delta; *zcdp* if the Renyi divergence
    of every order alpha > 1 is at most alpha rho. *geo* replaces epsilon by epsilon
    times the distance of the two inputs, *concentrated-geo* replaces rho by rho times
    its square.

    Parameters
    ----------
    definition : {"pure-dp", "approx-dp", "zcdp", "geo", "concentrated-geo"}
        What is promised.
    epsilon : float or None, default=None
        Finite and > 0 for pure-dp, approx-dp and geo; None for the other two.
    delta : float, default=0.0
        In (0, 1) for approx-dp, 0 for all others.
    rho : float or None, default=None
        Finite and > 0 for zcdp and concentrated-geo; None for the other three.
    neighbours : str, default="replace-one"
        The relation: "replace-one", "add-remove", or a description of another one.
    unit : {"row", "person"}, default="row"
        Whose data may differ between neighbours.
    metric : str or None, default=None
        Name of the distance, for example "L2"; required for the two geo definitions.
    distance_error : float, default=0.0
        What floats add to the distance of two inputs, in its unit: a geo guarantee is
        then epsilon (distance + error), or rho (distance + error)^2.
    seeded : bool, default=False
        Whether the noise came from a seed: there is no privacy then, for whoever knows
        it, or sees two releases made with it, can undo the noise.

    Raises
    ------
    ValueError
        If a number or a name does not belong to the definition.

    Notes
    -----
    ``+`` is basic composition: epsilons and deltas add (Dwork et al. 2006), rhos add
    [1]_, and the larger distance error covers both. Pure and zcdp compose to zcdp with
    epsilon^2/2 for the pure part [1]_. Zcdp and approx-dp are refused: convert first
    with :meth:`to_approx_dp`. Different units, neighbours or metrics are refused.
    Numbers are read as the decimals they print: 0.1 + 0.2 is 0.3. ``sum`` works, too.

    ``str`` shows numbers of up to five digits as they are, and rounds longer ones up;
    the attributes hold all digits.

    References
    ----------
    .. [1] M. Bun and T. Steinke, "Concentrated differential privacy: simplifications,
       extensions, and lower bounds", TCC 2016.

    Examples
    --------
    >>> from skfuncpriv.privacy import PrivacyGuarantee
    >>> mean = PrivacyGuarantee(definition="pure-dp", epsilon=0.1, unit="person")
    >>> density = PrivacyGuarantee(definition="pure-dp", epsilon=0.2, unit="person")
    >>> print(mean + density)
    pure DP: epsilon = 0.3 per person (neighbours: replace one person's data)
    """

    definition: str
    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None
    neighbours: str = "replace-one"
    unit: str = "row"
    metric: str | None = None
    distance_error: float = 0.0
    seeded: bool = False
    # What is left of a budget shows all digits: it must not be rounded up either.
    _shows_all: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.definition not in DEFINITIONS:
            raise ValueError(
                f"definition must be one of {list(DEFINITIONS)}, "
                f"got {self.definition!r}"
            )
        _, needs_epsilon, needs_delta, needs_metric = DEFINITIONS[self.definition]
        self._set_amount("epsilon", needs_epsilon)
        self._set_amount("rho", not needs_epsilon)
        object.__setattr__(self, "delta", check_delta(self.delta))
        if needs_delta != (self.delta > 0):
            rule = "in (0, 1)" if needs_delta else "0"
            raise ValueError(
                f"delta must be {rule} for {self.definition}, got {self.delta!r}"
            )
        if needs_metric != (self.metric is not None):
            rule = "a name such as 'L2'" if needs_metric else "None"
            raise ValueError(
                f"metric must be {rule} for {self.definition}, got {self.metric!r}"
            )
        error = check_real(self.distance_error, "distance_error")
        if error < 0 or (error > 0 and not needs_metric):
            raise ValueError(
                "distance_error must be >= 0, and 0 without a metric, "
                f"got {self.distance_error!r}"
            )
        object.__setattr__(self, "distance_error", error)
        if self.metric is not None:
            _check_name(self.metric, "metric")
        _check_name(self.neighbours, "neighbours")
        if self.unit not in UNITS:
            raise ValueError(f"unit must be one of {list(UNITS)}, got {self.unit!r}")
        if not isinstance(self.seeded, bool):
            raise ValueError(f"seeded must be True or False, got {self.seeded!r}")

    def __add__(self, other: PrivacyGuarantee) -> PrivacyGuarantee:
        if not isinstance(other, PrivacyGuarantee):
            return NotImplemented
        definition = composed_definition(self, other)
        total = amount_in(definition, self) + amount_in(definition, other)
        farther = max(self, other, key=lambda part: part.distance_error)
        return guarantee_of(
            total, definition, like=farther, seeded=self.seeded or other.seeded
        )

    def __radd__(self, other: object) -> PrivacyGuarantee:
        return self if type(other) is int and other == 0 else NotImplemented  # of sum

    def to_approx_dp(
        self, delta: float, *, radius: float | None = None
    ) -> PrivacyGuarantee:
        """Convert to approximate differential privacy at ``delta``.

        Parameters
        ----------
        delta : float
            The delta to pay, in (0, 1).
        radius : float, optional
            Required for the two geo definitions and refused for the others: the
            promise then covers inputs at most this far apart, in units of the metric.

        Returns
        -------
        PrivacyGuarantee
            An approx-dp guarantee, every number rounded up.

        Raises
        ------
        PrivacyError
            If a radius is missing or has no meaning, or the guarantee already has a
            larger delta.

        Notes
        -----
        A rho-zCDP mechanism satisfies, for every order alpha > 1,
        epsilon = alpha rho + log(1 - 1/alpha) - (log delta + log alpha)/(alpha - 1)
        (Proposition 12 of [1]_). The best order is used; the result never exceeds
        rho + 2 sqrt(rho log(1/delta)). Within a radius r, geo-privacy is pure DP with
        epsilon r and concentrated geo-privacy is zCDP with rho r^2.

        References
        ----------
        .. [1] C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for
           differential privacy", NeurIPS 2020.

        Examples
        --------
        >>> from skfuncpriv.privacy import PrivacyGuarantee
        >>> guarantee = PrivacyGuarantee(definition="zcdp", rho=0.5)
        >>> round(guarantee.to_approx_dp(1e-6).epsilon, 3)
        5.222
        """
        delta = check_open_delta(delta)
        if self.delta > delta:
            raise PrivacyError(
                f"the guarantee already has delta = {self.delta!r}, larger than the "
                f"delta = {delta!r} asked for"
            )
        amount = amount_in(self.definition, self)
        neighbours = self.neighbours
        if self.metric is not None:
            if radius is None:
                raise PrivacyError(
                    f"{self.definition} is a guarantee per unit of distance; state "
                    "radius=, the largest distance it shall cover"
                )
            reach = EXACT.add(
                decimal_reading(check_positive(radius, "radius")),
                decimal_reading(self.distance_error),
            )
            amount = Amount(
                epsilon=EXACT.multiply(amount.epsilon, reach),
                rho=EXACT.multiply(EXACT.multiply(amount.rho, reach), reach),
            )
            neighbours = (
                f"{neighbours} within {self.metric} distance {all_digits(radius)}"
            )
        elif radius is not None:
            raise PrivacyError(
                f"radius belongs to the geo definitions, not to {self.definition}"
            )
        if self.epsilon is None:
            epsilon = zcdp_epsilon(
                Fraction(amount.rho), Fraction(decimal_reading(delta))
            )
        else:
            epsilon = claim_at_least(amount.epsilon)
        kind = PrivacyGuarantee if epsilon > 0 else NoLoss
        return kind(
            definition="approx-dp",
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            unit=self.unit,
            seeded=self.seeded,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as a dictionary that JSON can hold.

        Returns
        -------
        dict
            One entry per constructor parameter.

        Examples
        --------
        >>> from skfuncpriv.privacy import PrivacyGuarantee
        >>> PrivacyGuarantee(definition="zcdp", rho=0.5).to_dict()["rho"]
        0.5
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> PrivacyGuarantee:
        """Rebuild a guarantee from the dictionary of :meth:`to_dict`.

        Parameters
        ----------
        fields : dict
            One entry per constructor parameter; those left out take their default.

        Returns
        -------
        PrivacyGuarantee
            A guarantee equal to the one that was written.

        Raises
        ------
        ValueError
            If a value does not belong to the definition.
        TypeError
            If a name is no parameter.

        Examples
        --------
        >>> from skfuncpriv.privacy import PrivacyGuarantee
        >>> fields = {"definition": "pure-dp", "epsilon": 1.0}
        >>> PrivacyGuarantee.from_dict(fields).epsilon
        1.0
        """
        return cls(**fields)

    def __str__(self) -> str:
        return words_of(self, shows_all=self._shows_all)

    def _repr_html_(self) -> str:
        return f'<span class="skfuncpriv-guarantee">{escape(str(self))}</span>'

    def _set_amount(self, name: str, needed: bool) -> None:
        """Epsilon or rho as a plain float, or None where it has no meaning."""
        value = getattr(self, name)
        if needed:
            object.__setattr__(self, name, self._check_amount(value, name))
        elif value is not None:
            raise ValueError(
                f"{name} must be None for {self.definition}, got {value!r}"
            )

    @staticmethod
    def _check_amount(value: Any, name: str) -> float:
        return check_positive(value, name)


class NoLoss(PrivacyGuarantee):
    """An amount of zero: what a ledger has spent at first, or has left at last."""

    @staticmethod
    def _check_amount(value: Any, name: str) -> float:
        if check_real(value, name) != 0:
            raise ValueError(f"{name} must be 0 where nothing is lost, got {value!r}")
        return 0.0


def composed_definition(first: PrivacyGuarantee, second: PrivacyGuarantee) -> str:
    """The definition in which two guarantees compose, or the reason why they do not."""
    definition = joint_definition(first.definition, second.definition)
    if definition is None:
        central = first.metric is None and second.metric is None
        remedy = "zcdp one with to_approx_dp(delta)"
        if not central:
            remedy = "geo one with to_approx_dp(delta, radius=...)"
        raise PrivacyError(
            f"{first.definition} and {second.definition} do not compose; convert the "
            f"{remedy} first"
        )
    for field in ("unit", "neighbours", "metric"):
        one, two = getattr(first, field), getattr(second, field)
        if one != two:
            raise PrivacyError(
                f"guarantees with different {field} do not compose: {one!r} and {two!r}"
            )
    return definition


def amount_in(definition: str, guarantee: PrivacyGuarantee) -> Amount:
    """The exact cost of a guarantee in a definition it composes in."""
    if guarantee.epsilon is None:
        return Amount(rho=decimal_reading(guarantee.rho or 0.0))
    amount = Amount(
        decimal_reading(guarantee.epsilon), decimal_reading(guarantee.delta)
    )
    needs_epsilon = DEFINITIONS[definition][1]
    return amount if needs_epsilon else amount.concentrated()


def guarantee_of(
    amount: Amount,
    definition: str,
    *,
    like: PrivacyGuarantee,
    seeded: bool,
    round_down: bool = False,
) -> PrivacyGuarantee:
    """The guarantee of an exact amount: a claim rounds up, what is left rounds down."""
    to_float = claim_at_most if round_down else claim_at_least
    needs_epsilon = DEFINITIONS[definition][1]
    main = to_float(amount.epsilon if needs_epsilon else amount.rho)
    delta = to_float(amount.delta)
    if delta >= 1:
        raise PrivacyError("the deltas sum to 1 or more: no guarantee is left")
    if definition == "approx-dp" and delta == 0:
        definition = "pure-dp"
    kind = PrivacyGuarantee if main > 0 else NoLoss
    guarantee = kind(
        definition=definition,
        epsilon=main if needs_epsilon else None,
        delta=delta,
        rho=None if needs_epsilon else main,
        neighbours=like.neighbours,
        unit=like.unit,
        metric=like.metric,
        distance_error=like.distance_error,
        seeded=seeded,
    )
    if round_down:
        object.__setattr__(guarantee, "_shows_all", True)
    return guarantee


def _check_name(value: Any, name: str) -> None:
    if not (isinstance(value, str) and value and value.isprintable()):
        raise ValueError(f"{name} must be a name on one line, got {value!r}")
