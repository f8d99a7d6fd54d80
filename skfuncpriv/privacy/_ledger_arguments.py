"""What the methods of a ledger are given, checked before a file is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._validation import check_count
from ..exceptions import PrivacyError
from . import _ledger_file as ledger_file
from ._guarantee import PrivacyGuarantee
from ._partition import check_part_name


def read_back(guarantee: PrivacyGuarantee) -> PrivacyGuarantee:
    """The charge as the file will give it back, or a refusal of what it could not."""
    if not isinstance(guarantee, PrivacyGuarantee):
        raise TypeError(f"guarantee must be a PrivacyGuarantee, got {guarantee!r}")
    try:
        found = ledger_file.parse_guarantee(ledger_file.guarantee_text(guarantee))
    except (TypeError, ValueError) as error:
        raise PrivacyError(
            f"this guarantee cannot be charged, and nothing was: {error}"
        ) from error
    if found != guarantee:
        raise PrivacyError(
            f"this {type(guarantee).__name__} cannot be charged, and nothing was: it "
            "would be read back as another guarantee"
        )
    return found


def check_text(value: Any, name: str) -> None:
    """Refuse what is no text on one line."""
    if not (isinstance(value, str) and value.isprintable()):
        raise ValueError(f"{name} must be text on one line, got {value!r}")


def check_scope_name(name: Any) -> None:
    """Refuse what is neither the name of a scope nor ``partition/part``."""
    pieces = name.split("/", 1) if isinstance(name, str) else [name]
    for piece in pieces:
        check_part_name(piece, "name")


def people_of(name: Any, parts: Mapping[str, int] | Sequence[str]) -> dict[str, Any]:
    """The number of people in each part, or None where it is not noted."""
    check_part_name(name, "name")
    if isinstance(parts, Mapping):
        people: dict[str, Any] = {
            part: check_count(size, f"the number of people in {part!r}")
            for part, size in parts.items()
        }
    else:
        names = [parts] if isinstance(parts, str) else list(parts)
        people = dict.fromkeys(names)
        if len(people) < len(names):
            raise ValueError(f"the names of parts must differ, got {names}")
    if not people:
        raise ValueError("a partition has at least one part, got none")
    for part in people:
        check_part_name(part, "parts")
    return people


def budget_of(
    epsilon: Any,
    delta: Any,
    rho: Any,
    *,
    definition: str | None = None,
    metric: str | None = None,
    **rest: Any,
) -> PrivacyGuarantee:
    """A budget whose definition follows from its numbers."""
    if definition is None:
        definition = _definition_of(rho, delta, metric)
    return PrivacyGuarantee(
        definition=definition,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        metric=metric,
        **rest,
    )


def cap_of(
    budget: PrivacyGuarantee, epsilon: Any, delta: Any, rho: Any
) -> PrivacyGuarantee:
    """A cap within a budget, of its kind."""
    if (epsilon is None) != (budget.epsilon is None):
        needed = "rho" if budget.epsilon is None else "epsilon"
        raise ValueError(f"the cap of a scope in this ledger is given by {needed}")
    return budget_of(
        epsilon,
        delta,
        rho,
        metric=budget.metric,
        neighbours=budget.neighbours,
        unit=budget.unit,
    )


def numbers(amount: PrivacyGuarantee, has_delta: bool) -> str:
    """The numbers of a guarantee, without its words."""
    if amount.epsilon is None:
        return f"rho={amount.rho!r}"
    delta = f" delta={amount.delta!r}" if has_delta else ""
    return f"epsilon={amount.epsilon!r}{delta}"


def _definition_of(rho: Any, delta: Any, metric: Any) -> str:
    if metric is not None:
        return "geo" if rho is None else "concentrated-geo"
    if rho is not None:
        return "zcdp"
    return "pure-dp" if delta == 0 else "approx-dp"
