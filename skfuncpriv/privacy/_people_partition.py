"""A public partition of people: who belongs to which part, decided without the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_count
from ..noise import random_bits
from ._guarantee import PrivacyGuarantee
from ._partition import check_part_name, parallel

_PURPOSE = 11  # a stream of its own: the same seed may serve a mechanism as well


@dataclass(frozen=True)
class PeoplePartition:
    """Disjoint parts of a public list of people.

    Parameters
    ----------
    labels : sequence of str
        *Public*. The part of each person, in the order of the list.

    Attributes
    ----------
    sizes : dict
        The number of people in each part, in the order of first appearance.

    Raises
    ------
    ValueError
        If there are no people, or a label is no name (see ``BudgetLedger.add_scope``).

    Notes
    -----
    Labels must come from what anyone may know about a person, such as the hospital that
    sends the data, or from a draw of lots (:meth:`split`). They must not come from the
    private values: see :func:`parallel` for the proof, and for where it breaks.

    Examples
    --------
    >>> from skfuncpriv.privacy import PeoplePartition, PrivacyGuarantee
    >>> halves = PeoplePartition.split(10, ["train", "select"])
    >>> halves.sizes
    {'train': 5, 'select': 5}
    >>> first = PrivacyGuarantee(definition="pure-dp", epsilon=0.5)
    >>> halves.parallel({"train": first, "select": first}).epsilon
    0.5
    """

    labels: Sequence[str] = field(repr=False)
    sizes: dict[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise ValueError("labels must be a sequence of names, got one string")
        labels = np.asarray(self.labels, dtype=object)
        if labels.ndim != 1 or len(labels) == 0:
            raise ValueError("labels must be a sequence with a name for each person")
        sizes = dict(Counter(labels.tolist()))
        for name in sizes:
            check_part_name(name, "label")
        object.__setattr__(self, "labels", tuple(map(str, labels)))
        object.__setattr__(
            self, "sizes", {str(name): size for name, size in sizes.items()}
        )

    @classmethod
    def split(
        cls,
        n_people: int,
        parts: Sequence[str] | Mapping[str, int],
        *,
        random_state: Any = None,
    ) -> PeoplePartition:
        """Draw lots: who belongs to which part depends on nothing else.

        Parameters
        ----------
        n_people : int
            *Public*. The length of the list.
        parts : sequence of str, or mapping from str to int
            *Public*. Names of parts, as equal in size as can be, or the number of
            people in each.
        random_state : None, int or numpy generator, default=None
            *Public*. The source of the lots; None is the operating system. Their
            outcome is public, so that a seed does no harm.

        Returns
        -------
        PeoplePartition
            Every split into parts of these sizes is equally likely.

        Raises
        ------
        ValueError
            If a part would be empty, or the sizes do not add up to `n_people`.
        """
        n_people = check_count(n_people, "n_people")
        sizes = _sizes(n_people, parts)
        words = random_bits(random_state, purpose=_PURPOSE).words(n_people)
        order = np.argsort(words, kind="stable")
        names = np.repeat(np.array(list(sizes), dtype=object), list(sizes.values()))
        labels = np.empty(n_people, dtype=object)
        labels[order] = names
        partition = cls(labels.tolist())
        # The order of the names is the caller's, not the draw's.
        object.__setattr__(partition, "sizes", sizes)
        return partition

    def members(self, name: str) -> NDArray[np.intp]:
        """Give the places of the people of one part.

        Parameters
        ----------
        name : str
            The part.

        Returns
        -------
        ndarray of int
            Increasing indices into the list of people.

        Raises
        ------
        ValueError
            If there is no such part.
        """
        self._check_known([name])
        return np.flatnonzero(np.array(self.labels, dtype=object) == name)

    def parallel(self, guarantees: Mapping[str, PrivacyGuarantee]) -> PrivacyGuarantee:
        """Compose one release, or one sum of releases, about each part.

        Parameters
        ----------
        guarantees : mapping from str to PrivacyGuarantee
            What is promised to the people of each part; a part about which nothing is
            released may be left out.

        Returns
        -------
        PrivacyGuarantee
            As :func:`parallel` gives it.

        Raises
        ------
        PrivacyError
            If the guarantees do not compose in parallel.
        ValueError
            If a name is no part, or there is no guarantee.
        """
        self._check_known(guarantees)
        return parallel(*guarantees.values())

    def _check_known(self, names: Any) -> None:
        for name in names:
            if name not in self.sizes:
                raise ValueError(f"the parts are {list(self.sizes)}, got {name!r}")


def _sizes(n_people: int, parts: Any) -> dict[str, int]:
    if isinstance(parts, Mapping):
        sizes = {name: check_count(size, f"{name!r}") for name, size in parts.items()}
    else:
        names = [parts] if isinstance(parts, str) else list(parts)
        if len(set(names)) < len(names):
            raise ValueError(f"the names of parts must differ, got {names}")
        fewest, more = divmod(n_people, max(len(names), 1))
        sizes = {name: fewest + (i < more) for i, name in enumerate(names)}
    for name in sizes:
        check_part_name(name, "parts")
    if sum(sizes.values()) != n_people or 0 in sizes.values():
        raise ValueError(
            f"the parts must hold {n_people} people in all and none be empty, "
            f"got {sizes}"
        )
    return sizes
