"""What is spent of a budget, in all and by scope, and what a charge adds to it.

A scope is a part of the work with a cap of its own: what it is charged is charged to
the total as well. A partition is a set of disjoint groups of people: it costs the total
the largest of what its parts were charged, each number for itself, because the data of
one person stand in one of them. Parts are scopes with names such as ``region/north``.
Everything here is a value: a charge gives a new state, or raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import reduce
from typing import Any

from ..exceptions import BudgetExceededError, PrivacyError
from ._amount import Amount
from ._exact import claim_at_least, claim_at_most
from ._guarantee import (
    PrivacyGuarantee,
    amount_in,
    composed_definition,
    guarantee_of,
)
from ._partition import check_people_stay

_SLASH = "/"
_UNITS = {
    "person": "this ledger is per person: pass groups= to fit",
    "row": "this ledger is per row: leave out groups, or create a ledger per person "
    "with BudgetLedger(path, ..., unit='person')",
}


@dataclass(frozen=True)
class Account:
    """What was charged to the total, to a scope or to a part."""

    spent: Amount = field(default_factory=Amount)
    seeded: bool = False
    distance_error: float = 0.0
    cap: PrivacyGuarantee | None = None
    people: int | None = None

    def plus(self, cost: Amount, guarantee: PrivacyGuarantee) -> Account:
        """The account after a charge."""
        return replace(
            self,
            spent=self.spent + cost,
            seeded=self.seeded or guarantee.seeded,
            distance_error=max(self.distance_error, guarantee.distance_error),
        )


@dataclass(frozen=True)
class LedgerState:
    """A budget, the account of all charges, and those of scopes and parts by name."""

    budget: PrivacyGuarantee
    total: Account = field(default_factory=Account)
    scopes: Mapping[str, Account] = field(default_factory=dict)

    def account(self, scope: str) -> Account:
        """That of a scope or part, of a partition, or of the total for ``""``."""
        if not scope:
            return self.total
        if scope in self.scopes:
            return self.scopes[scope]
        parts = self.parts(scope)
        if not parts:
            known = ", ".join(map(repr, self.scopes)) or "none"
            raise PrivacyError(
                f"the ledger has no scope {scope!r}: add it with add_scope or "
                f"add_partition; there are: {known}"
            )
        return Account(
            _largest(parts),
            any(part.seeded for part in parts.values()),
            max(part.distance_error for part in parts.values()),
        )

    def parts(self, partition: str) -> dict[str, Account]:
        """The accounts of the parts of a partition; empty if it is none."""
        start = partition + _SLASH
        return {
            name: account
            for name, account in self.scopes.items()
            if name.startswith(start)
        }

    def available(self, scope: str) -> Amount:
        """The largest cost that a charge to the scope may have.

        What the parts of a partition have spent less than the costliest of them is
        free to the total. A partition has room for what each of its parts has room for.
        """
        account = self.account(scope)
        left = self._amount(self.budget) - self.total.spent
        if scope and scope not in self.scopes:
            rooms = map(self.available, self.parts(scope))
            return reduce(Amount.smaller, rooms)
        if _SLASH in scope:
            left = left + (_largest(self._siblings(scope)) - account.spent)
        if account.cap is not None:
            left = left.smaller(self._amount(account.cap) - account.spent)
        return left

    def charged(
        self, scope: str, guarantee: PrivacyGuarantee, times: int, where: str
    ) -> LedgerState:
        """The state after a charge that matches, costs something and fits."""
        account = self.account(scope)
        if scope and scope not in self.scopes:
            raise PrivacyError(
                f"{scope!r} is a partition: charge one of its parts, or the ledger for "
                "what is released about everyone"
            )
        _check_match(self.budget, guarantee)
        cost = self._amount(guarantee).times(times)
        after = account.plus(cost, guarantee)
        if after.spent == account.spent or not account.spent.fits(after.spent):
            raise PrivacyError(
                "a charge must cost something, which "
                f"{_copies(guarantee, times)} does not; nothing was charged"
            )
        if not cost.fits(self.available(scope)):
            left = self.available(scope)
            raise BudgetExceededError(
                f"asked {self._text(cost)}, left {self._text(left, round_down=True)}: "
                f"charging {_copies(guarantee, times)} exceeds what is left, "
                f"[{self.remaining(scope)}], in {where}; nothing was charged"
            )
        if not scope:
            return replace(self, total=after)
        scopes = {**self.scopes, scope: after}
        if _SLASH in scope:
            before = _largest(self._siblings(scope))
            cost = before.larger(after.spent) - before
        return replace(self, total=self.total.plus(cost, guarantee), scopes=scopes)

    def with_scope(self, name: str, cap: PrivacyGuarantee) -> LedgerState:
        """The state with a cap on a new scope, or on a part that has none."""
        account = self.scopes.get(name, Account())
        if account.cap == cap:
            return self
        if account.cap is not None:
            raise PrivacyError(f"{name!r} has another cap, [{account.cap}]")
        if _SLASH in name and name not in self.scopes:
            raise PrivacyError(f"{name!r} is no part of a partition of the ledger")
        if self.parts(name):
            raise PrivacyError(f"{name!r} is a partition: cap its parts")
        self._check_cap(cap)
        if not account.spent.fits(self._amount(cap)):
            raise PrivacyError(f"{name!r} has spent more than [{cap}] already")
        return replace(self, scopes={**self.scopes, name: replace(account, cap=cap)})

    def with_partition(
        self, name: str, people: Mapping[str, int | None], cap: PrivacyGuarantee | None
    ) -> LedgerState:
        """The state with parts that have spent nothing."""
        check_people_stay(self.budget)
        parts = {
            name + _SLASH + part: Account(cap=cap, people=size)
            for part, size in people.items()
        }
        found = self.parts(name)
        if found or name in self.scopes:
            same = found.keys() == parts.keys() and all(
                found[key].people == part.people and cap in (None, found[key].cap)
                for key, part in parts.items()
            )
            if not same:
                raise PrivacyError(f"{name!r} is taken, by other parts or caps")
            return self
        if cap is not None:
            self._check_cap(cap)
        return replace(self, scopes={**self.scopes, **parts})

    def limit(self, scope: str) -> PrivacyGuarantee:
        """The cap of a scope, or the budget where there is none."""
        return self.account(scope).cap or self.budget

    def spent(self, scope: str) -> PrivacyGuarantee:
        """What was charged to the scope, as a guarantee, rounded up."""
        account = self.account(scope)
        return guarantee_of(
            account.spent,
            self.budget.definition,
            like=replace(self.budget, distance_error=account.distance_error),
            seeded=account.seeded,
        )

    def remaining(self, scope: str) -> PrivacyGuarantee:
        """The largest charge that still fits, rounded down."""
        return guarantee_of(
            self.available(scope),
            self.budget.definition,
            like=self.budget,
            seeded=False,
            round_down=True,
        )

    def _amount(self, guarantee: PrivacyGuarantee) -> Amount:
        return amount_in(self.budget.definition, guarantee)

    def _text(self, amount: Amount, *, round_down: bool = False) -> str:
        """The numbers of an amount, in the definition of the budget."""
        to_float = claim_at_most if round_down else claim_at_least
        name = "rho" if self.budget.epsilon is None else "epsilon"
        text = f"{name} = {to_float(getattr(amount, name))!r}".removesuffix(".0")
        if self.budget.delta > 0:
            text += f" and delta = {to_float(amount.delta)!r}".removesuffix(".0")
        return text

    def _siblings(self, part: str) -> dict[str, Account]:
        return self.parts(part.partition(_SLASH)[0])

    def _check_cap(self, cap: PrivacyGuarantee) -> None:
        if not self._amount(cap).fits(self._amount(self.budget)):
            raise PrivacyError(
                f"the cap [{cap}] exceeds the budget of the ledger, [{self.budget}]"
            )


def state_text(state: LedgerState) -> str:
    """What is spent and capped, as the file holds it."""
    accounts = {"": state.total, **state.scopes}
    return json.dumps({name: _fields(account) for name, account in accounts.items()})


def parse_state(budget: PrivacyGuarantee, text: str) -> LedgerState:
    """The state of a ledger from its budget and its text."""
    scopes = {name: _account(fields) for name, fields in json.loads(text).items()}
    total = scopes.pop("")
    return LedgerState(budget, total, scopes)


def amount_fields(amount: Amount) -> dict[str, str]:
    """An exact amount as the file holds it."""
    return {
        "epsilon": str(amount.epsilon),
        "delta": str(amount.delta),
        "rho": str(amount.rho),
    }


def _fields(account: Account) -> dict[str, Any]:
    return {
        **amount_fields(account.spent),
        "seeded": account.seeded,
        "distance_error": account.distance_error,
        "cap": None if account.cap is None else account.cap.to_dict(),
        "people": account.people,
    }


def _account(fields: dict[str, Any]) -> Account:
    cap = fields["cap"]
    return Account(
        Amount(*(Decimal(fields[name]) for name in ("epsilon", "delta", "rho"))),
        fields["seeded"],
        fields["distance_error"],
        None if cap is None else PrivacyGuarantee.from_dict(cap),
        fields["people"],
    )


def _largest(parts: Mapping[str, Account]) -> Amount:
    return reduce(Amount.larger, (part.spent for part in parts.values()))


def _copies(guarantee: PrivacyGuarantee, times: int) -> str:
    return f"{times} x [{guarantee}]" if times > 1 else f"[{guarantee}]"


def _check_match(budget: PrivacyGuarantee, guarantee: PrivacyGuarantee) -> None:
    if budget.metric is None and guarantee.metric is not None:
        raise PrivacyError(
            f"the charge is per unit of {guarantee.metric} distance and the ledger is "
            f"not: create one with BudgetLedger(path, ..., metric={guarantee.metric!r})"
        )
    try:
        definition = composed_definition(budget, guarantee)
    except PrivacyError as error:
        text = f"the charge does not match the ledger: {error}"
        if budget.unit != guarantee.unit:
            text += f"; {_UNITS[budget.unit]}"
        raise PrivacyError(text) from None
    if definition != budget.definition:
        raise PrivacyError(
            f"a ledger for {budget.definition} cannot be charged with "
            f"{guarantee.definition}"
        )
