"""One search: its candidates, its people, and what each part of it may cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import delayed

from ..exceptions import PrivacyError
from ..noise import RandomBits
from ..privacy import PrivacyGuarantee, compose, parallel
from ..privacy._exact import claim_at_least, claim_at_most
from ._candidates import Fitting, final, fit_to_promise, shared_releases
from ._progress import results
from ._rows import people_by_label, take
from ._slots import slot_sizes, split_people
from ._stopping import RandomStopping
from ._votes import Voters

_REFIT = 2  # candidates that would cost as much as the fit on everybody

Budget = tuple[float, float]  # epsilon and delta
Data = tuple[Any, Any, Any]  # X, y and groups


@dataclass(frozen=True)
class Plan:
    """What is released, and what it promises: from public facts alone.

    Parameters
    ----------
    guarantee : PrivacyGuarantee
        That of everything.
    costs : dict of PrivacyGuarantee
        Those of the parts, for the user.
    training, refit : (epsilon, delta)
        The budgets of one candidate, and of the fit on everybody.
    choice : float
        The epsilon of the choice, or of one noisy score.
    releases : list of lists of int
        Candidates that share a release, its leader first.
    promised, refitted : dict of PrivacyGuarantee
        What candidates promise when they are trained, and fitted on everybody.
    stopping : RandomStopping, default=None
        How a search stops at random.
    """

    guarantee: PrivacyGuarantee
    costs: dict[str, PrivacyGuarantee]
    training: Budget = (0.0, 0.0)
    refit: Budget = (0.0, 0.0)
    choice: float = 0.0
    releases: list[list[int]] = field(default_factory=list)
    promised: dict[int, PrivacyGuarantee] = field(default_factory=dict)
    refitted: dict[int, PrivacyGuarantee] = field(default_factory=dict)
    stopping: RandomStopping | None = None


class Task:
    """A search over the data of people.

    Parameters
    ----------
    search : PrivateGridSearchCV
        Its parameters are read.
    candidates : sequence of dict
        Public parameters.
    data : tuple
        X, y and groups; *private*.
    bits : RandomBits
        The source of randomness, of which nothing is asked here.
    """

    def __init__(
        self,
        search: Any,
        candidates: Sequence[dict[str, Any]],
        data: Data,
        bits: RandomBits,
    ) -> None:
        self.candidates, self.data, self.bits = candidates, data, bits
        self._search = search
        self.unit = "row" if data[2] is None else "person"
        self._budget = float(search.epsilon), float(search.delta)
        self._fitting = Fitting(clone(search.estimator), None, bits.seeded)
        self._fitting.rehearse(candidates[0], self._budget, self.unit, data)
        if is_classifier(search.estimator) and not search._is_strict():
            self._read_classes(data[1])
        self._codes, self.n_people, _ = people_by_label(data[2], data[0])
        self._n_train, _ = slot_sizes(search.cv, search.selection_size, self.n_people)

    def _read_classes(self, y: Any) -> None:
        """The labels of everybody, of which a slot might miss some, unless stated."""
        estimators = [
            self._fitting.candidate(c, self._budget, 0) for c in self.candidates
        ]
        if any(getattr(final(made), "classes", None) is None for made in estimators):
            classes = np.unique(np.asarray(y))
            self._fitting = replace(self._fitting, classes=classes)

    def exhaustive(self) -> Plan:
        """Every candidate once, a choice, and a fit on everybody."""
        everything = range(len(self.candidates))
        if len(everything) == 1:
            refitted = self._rehearse(everything, self._budget, self.data)
            costs = {"refit": refitted[0]}
            return Plan(
                guarantee=refitted[0],
                costs=costs,
                refit=self._budget,
                refitted=refitted,
            )
        releases = shared_releases(self._search.estimator, self.candidates)
        share = self._search.search_share
        if share is None:
            share = len(releases) / (len(releases) + _REFIT)
        divided = [_divided(amount, float(share)) for amount in self._budget]
        search, refit = zip(*divided, strict=True)
        training = tuple(_part(amount, len(releases)) for amount in search)
        refitted = self._rehearse(everything, refit, self.data)
        leaders = [group[0] for group in releases]
        first = self._of_people(np.arange(self._n_train))
        promised = self._rehearse(leaders, training, first)
        choice = PrivacyGuarantee(
            definition="pure-dp",
            epsilon=search[0],
            unit=self.unit,
            seeded=self.bits.seeded,
        )
        costs = {
            "candidates": compose(*promised.values()),
            "choice": choice,
            "refit": parallel(*refitted.values()),  # of whichever is chosen
        }
        total = compose(parallel(costs["candidates"], choice), costs["refit"])
        return Plan(
            guarantee=self._within_budget(total),
            costs=costs,
            training=training,
            choice=search[0],
            releases=releases,
            promised=promised,
            refit=refit,
            refitted=refitted,
        )

    def stopping(self, stopping: RandomStopping) -> Plan:
        """Random candidates, a secret number of times."""
        epsilon = stopping.run_epsilon(self._budget[0])
        first = self._of_people(np.arange(self._n_train))
        everything = range(len(self.candidates))
        self._rehearse(everything, (epsilon, 0.0), self.data)  # refuses what is refused
        promised = self._rehearse(everything, (epsilon, 0.0), first)
        run = parallel(*promised.values())
        return Plan(
            guarantee=replace(run, epsilon=self._budget[0]),
            costs={"run": run},
            training=(epsilon, 0.0),
            choice=epsilon,
            promised=promised,
            stopping=stopping,
        )

    def split(self) -> tuple[Data, Voters]:
        """The data of the people who train, and those who score."""
        search = self._search
        train, selection = split_people(
            search.cv, search.selection_size, self.n_people, self.bits
        )
        X, y, _ = self.data
        codes = self._codes
        if codes is None:
            return self._of_people(train), Voters(X, y, selection, None, len(selection))
        rows = np.flatnonzero(np.isin(codes, selection))
        renumbered = np.searchsorted(selection, codes[rows])
        return self._of_people(train), Voters(X, y, rows, renumbered, len(selection))

    def train(
        self,
        jobs: Iterable[tuple[int, Budget, PrivacyGuarantee]],
        data: Data,
        n_jobs: int | None,
        *,
        verbose: bool = False,
    ) -> list[Any]:
        """Fit candidates within their budgets, with seeds that are drawn before.

        A bar counts the fits that are done: never ask for it if their number is secret.
        """

        def ready(k: int, budget: Budget) -> Any:
            seed = int(self.bits.words(1)[0]) if self.bits.seeded else 0
            return self._fitting.candidate(self.candidates[k], budget, seed)

        tasks = [(ready(k, budget), promised) for k, budget, promised in jobs]
        calls = [delayed(fit_to_promise)(*task, data) for task in tasks]
        return results(calls, n_jobs, verbose=verbose)

    def _rehearse(
        self, indices: Iterable[int], budget: Budget, data: Data
    ) -> dict[int, PrivacyGuarantee]:
        return {
            k: self._fitting.rehearse(self.candidates[k], budget, self.unit, data)
            for k in indices
        }

    def _of_people(self, people: np.ndarray) -> Data:
        rows = people
        if self._codes is not None:
            rows = np.flatnonzero(np.isin(self._codes, people))
        X, y, groups = self.data
        return take(X, rows), take(y, rows), take(groups, rows)

    def _within_budget(self, total: PrivacyGuarantee) -> PrivacyGuarantee:
        """The stated budget, after a proof that no more is spent."""
        epsilon, delta = self._budget
        if not (total.epsilon <= epsilon and total.delta <= delta):
            raise PrivacyError("the parts of the search cost more than its budget")
        return replace(total, epsilon=epsilon)


def _divided(amount: float, share: float) -> Budget:
    """The shares of search and refit: their sum is at most the amount."""
    if amount == 0:
        return 0.0, 0.0
    search = share * amount
    return search, claim_at_most(Fraction(repr(amount)) - Fraction(repr(search)))


def _part(amount: float, count: int) -> float:
    """A number that `count` times over is at most the amount, as guarantees add."""
    part = claim_at_most(Fraction(repr(amount)) / count)
    while part > 0 and _times(part, count) > amount:  # each sum is rounded up
        part = math.nextafter(part, 0.0)
    return part


def _times(part: float, count: int) -> float:
    total = part
    for _ in range(count - 1):
        total = claim_at_least(Fraction(repr(total)) + Fraction(repr(part)))
    return total
