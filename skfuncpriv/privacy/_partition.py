"""Releases about disjoint groups of people: the dearest one is the cost of them all."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

from ..exceptions import PrivacyError
from ._guarantee import (
    PrivacyGuarantee,
    amount_in,
    composed_definition,
    guarantee_of,
)


def parallel(*guarantees: PrivacyGuarantee) -> PrivacyGuarantee:
    """Compose releases that read disjoint groups of people.

    Parameters
    ----------
    *guarantees : PrivacyGuarantee
        *Public*. What the releases about each group promise, together: one guarantee
        per group.

    Returns
    -------
    PrivacyGuarantee
        The largest epsilon, delta, rho and distance error of them all.

    Raises
    ------
    PrivacyError
        If neighbours may differ in more than the data of one person, or the guarantees
        do not compose (see :class:`PrivacyGuarantee`).
    ValueError
        If there are none.

    Notes
    -----
    The group of each person must be public and fixed before the data are seen, as in
    :class:`PeoplePartition`. Neighbours D, D' replace the data of one person, who stays
    in a group k. All other groups hold the same data in D and in D'. Whatever is
    computed from them, also when it was chosen after seeing releases about k, is
    therefore a random function of those releases, the same one for D and D': it is
    post-processing, which costs nothing [1]_. So the loss is what group k promises, and
    the largest of the promises covers every k; the largest epsilon and the largest
    delta do so each for itself.

    Groups made from *private* values are not covered: a person whose value is replaced
    may leave one group for another one, then the data of both change and their
    guarantees must be added. Neither are neighbours that add or remove a person: the
    number of people is private then, and a public list of who is where would show it.

    References
    ----------
    .. [1] F. McSherry, "Privacy integrated queries", SIGMOD 2009.

    Examples
    --------
    >>> from skfuncpriv.privacy import PrivacyGuarantee, parallel
    >>> north = PrivacyGuarantee(definition="pure-dp", epsilon=0.5, unit="person")
    >>> south = PrivacyGuarantee(definition="pure-dp", epsilon=0.8, unit="person")
    >>> print(parallel(north, south))
    pure DP: epsilon = 0.8 per person (neighbours: replace one person's data)
    """
    check_guarantees("parallel", guarantees)
    for guarantee in guarantees:
        check_people_stay(guarantee)
    return reduce(_larger, guarantees)


def check_guarantees(function: str, guarantees: tuple[Any, ...]) -> None:
    """Refuse to compose nothing, or what are no guarantees."""
    if not guarantees:
        raise ValueError(f"{function} needs at least one guarantee, got none")
    for guarantee in guarantees:
        if not isinstance(guarantee, PrivacyGuarantee):
            kind = type(guarantee).__name__
            article = "an" if kind[0] in "aeiou" else "a"
            raise TypeError(
                f"each argument must be PrivacyGuarantee: pass them one by one, as in "
                f"{function}(*guarantees); got {article} {kind}"
            )


def check_people_stay(guarantee: PrivacyGuarantee) -> None:
    """Refuse neighbours that could differ in who belongs to a group."""
    name = guarantee.neighbours
    if name != "replace-one" and not name.startswith("replace-one within "):
        raise PrivacyError(
            "groups of people compose in parallel if neighbours replace the data of "
            f"one person, got neighbours={name!r}; add the guarantees instead"
        )


def check_part_name(name: Any, what: str) -> None:
    """Refuse what could not stand in the address of a part or a scope."""
    if not (
        isinstance(name, str)
        and name
        and name.isprintable()
        and name == name.strip()
        and not set(name) & set(":/")
    ):
        raise ValueError(
            f"{what}: a name is text on one line without ':' or '/' or blanks at its "
            f"ends, got {name!r}"
        )


def _larger(first: PrivacyGuarantee, second: PrivacyGuarantee) -> PrivacyGuarantee:
    """What holds for the data of the first and for those of the second group."""
    definition = composed_definition(first, second)
    largest = amount_in(definition, first).larger(amount_in(definition, second))
    error = max(first.distance_error, second.distance_error)
    return guarantee_of(
        largest,
        definition,
        like=replace(first, distance_error=error),
        seeded=first.seeded or second.seeded,
    )
