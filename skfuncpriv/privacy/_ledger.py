"""The budget of one data set, in a file that every process charges.

A mechanism names the file by its path, charges it before it draws any noise, and draws
nothing if the charge is refused. Charges add by basic composition, in exact decimals;
named scopes and parts of partitions have accounts of their own within the total.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from html import escape
from os import PathLike

from .._validation import check_count
from . import _ledger_file as ledger_file
from ._guarantee import PrivacyGuarantee
from ._ledger_arguments import (
    budget_of,
    cap_of,
    check_scope_name,
    check_text,
    people_of,
    read_back,
)
from ._ledger_export import write_history
from ._ledger_file import Contents, LedgerRecord
from ._ledger_handle import LedgerHandle
from ._ledger_identity import Mark
from ._ledger_state import LedgerState
from ._ledger_table import balance, ledger_table


class BudgetLedger:
    """Budget of privacy loss kept in an SQLite file.

    ``BudgetLedger(path, epsilon=3.0)`` creates the file, or opens the one that holds
    the very same budget; ``BudgetLedger(path)`` opens an existing one.

    Parameters
    ----------
    path : str or path-like
        Public name of the file, or the address of a scope in it as :meth:`scope` gives
        it. A relative path is resolved, and symbolic links are followed, once, when the
        object is made. The path of a file must not hold ``::``.
    epsilon : float, optional
        Total budget; with delta = 0 the ledger is for pure DP.
    delta : float, default=0.0
        Total delta; with delta > 0 the ledger is for approximate DP.
    rho : float, optional
        Total budget of a ledger for zero-concentrated DP, instead of epsilon.
    definition : str, optional
        As in :class:`PrivacyGuarantee`; by default it follows from the numbers and the
        metric.
    neighbours, unit : str, default="replace-one" and "row"
        What every charge must state.
    metric : str, optional
        Name of the distance: the ledger is then for geo-privacy.
    name : str, optional
        Public name of the ledger, on one line: written when it is created, compared
        when it is opened.

    Attributes
    ----------
    path : Path
        The absolute path of the file.
    scope_name : str
        The scope whose account this is; empty for the total.

    Raises
    ------
    ValueError
        If the numbers do not make a budget.
    PrivacyError
        If the file is missing, damaged, no ledger, or holds another budget or name.

    Notes
    -----
    Epsilons, deltas and rhos add (basic composition, [1]_ and [2]_), also when each
    charge is chosen after earlier releases were seen; a pure charge costs a zCDP ledger
    epsilon^2/2 [2]_. Sums are decimals without rounding: thirty charges of 0.1 fill 3.

    ``charge`` is one SQLite transaction that takes the write lock before it reads, and
    is on the disk before it returns. A file that cannot be read or written raises
    :class:`PrivacyError`, so that nothing is drawn. Reading opens the file read-only,
    except to undo what a process killed while it charged has left unfinished.
    Use one path for one file: SQLite does not protect a file with two hard links, nor
    one on a network drive without locks. Every file has a random id: an open ledger,
    also out of a pickle, and the process that opened it refuse another file at the same
    path, and an older copy that forgot charges, unless it was created there anew in
    the open. A new process cannot know; checksums notice damage, not an owner who edits
    the file. It holds the day of each charge and no time: the time between two charges
    would tell how long the work took, and so how many rows one person has, say.

    A charge to a *scope* counts in the scope and in the total. What a *partition* costs
    the total is the largest of what its parts were charged (see :func:`parallel`). All
    accounts are checked and written in the one transaction.

    References
    ----------
    .. [1] C. Dwork, K. Kenthapadi, F. McSherry, I. Mironov and M. Naor, "Our data,
       ourselves: privacy via distributed noise generation", EUROCRYPT 2006.
    .. [2] M. Bun and T. Steinke, "Concentrated differential privacy: simplifications,
       extensions, and lower bounds", TCC 2016.

    Examples
    --------
    >>> import tempfile
    >>> from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(f"{folder}/budget.db", epsilon=3.0)
    ...     ledger.charge(PrivacyGuarantee(definition="pure-dp", epsilon=0.1), "mean")
    ...     print(ledger.remaining.epsilon)
    2.9
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        definition: str | None = None,
        neighbours: str = "replace-one",
        unit: str = "row",
        metric: str | None = None,
        name: str | None = None,
    ) -> None:
        self._handle = LedgerHandle(path)
        self.path = self._handle.path
        self.scope_name = self._handle.scope
        if name is not None:
            check_text(name, "name")
        if epsilon is None and rho is None:
            rest = (delta, definition, neighbours, unit, metric)
            if rest != (0.0, None, "replace-one", "row", None):
                raise ValueError(
                    "to create a ledger give epsilon or rho as well; to open one give "
                    "its path, and its name if you like"
                )
            with self._handle.read() as (database, contents):
                ledger_file.check_pages(database)
                self._handle.check_name(contents, name)
                contents.state.account(self.scope_name)
            return
        budget = budget_of(
            epsilon,
            delta,
            rho,
            definition=definition,
            neighbours=neighbours,
            unit=unit,
            metric=metric,
        )
        self._handle.create(budget, name)

    def __repr__(self) -> str:
        name = f"BudgetLedger({self._handle.address(self.scope_name)!r})"
        try:
            return f"<{name}: {self._balance()}>"
        except Exception:  # a text about an object must never fail
            return f"<{name}: cannot be read>"

    def _repr_html_(self) -> str:
        try:
            title = f"BudgetLedger {self._handle.address(self.scope_name)}"
            return ledger_table(self, title, self._balance())
        except Exception:
            return escape(repr(self))

    def _balance(self) -> str:
        return balance(self._contents().state, self.scope_name)

    @property
    def name(self) -> str:
        """The public name given when the ledger was created, or an empty text."""
        return self._contents().name

    @property
    def budget(self) -> PrivacyGuarantee:
        """The total, or the cap of this scope if it has one, as a guarantee."""
        return self._contents().state.limit(self.scope_name)

    @property
    def spent(self) -> PrivacyGuarantee:
        """What was charged so far, rounded up; epsilon or rho is 0.0 at first."""
        return self._contents().state.spent(self.scope_name)

    @property
    def remaining(self) -> PrivacyGuarantee:
        """The largest charge that still fits, rounded down; epsilon or rho may be 0."""
        return self._contents().state.remaining(self.scope_name)

    @property
    def scopes(self) -> dict[str, int | None]:
        """All scopes and parts (``partition/part``), with the people noted for each."""
        scopes = self._contents().state.scopes
        return {name: account.people for name, account in scopes.items()}

    def scope(self, name: str) -> str:
        """Give the address of a scope, for a parameter `ledger` or to open it.

        Parameters
        ----------
        name : str
            A scope, or ``partition/part``; a partition can be opened, not charged.

        Returns
        -------
        str
            ``<absolute path>::<name>``.

        Raises
        ------
        PrivacyError
            If there is no such scope.
        """
        self._contents().state.account(name)
        return self._handle.address(name)

    def add_scope(
        self,
        name: str,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
    ) -> str:
        """Cap what a part of the work may spend of the total.

        Parameters
        ----------
        name : str
            Public name: text on one line without ``:`` or ``/``. The name of a part,
            ``partition/part``, caps the part.
        epsilon, delta, rho : float
            The cap, in the definition of the ledger and not above its budget.

        Returns
        -------
        str
            The address of the scope; see :meth:`scope`.

        Raises
        ------
        ValueError
            If the name or the numbers do not serve.
        PrivacyError
            If the scope has another cap already (the same one is left alone), or the
            cap exceeds the budget.
        """
        check_scope_name(name)
        cap = cap_of(self._contents().state.budget, epsilon, delta, rho)
        self._add(name, lambda state: state.with_scope(name, cap))
        return self._handle.address(name)

    def add_partition(
        self,
        name: str,
        parts: Mapping[str, int] | Sequence[str],
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
    ) -> dict[str, str]:
        """Account for disjoint public groups of people in parallel.

        Parameters
        ----------
        name : str
            Public name of the partition.
        parts : mapping from str to int, or sequence of str
            Public names of the parts, with the number of people in each if it shall be
            noted: for example ``PeoplePartition.sizes``.
        epsilon, delta, rho : float, optional
            A cap for each part; by default only the total limits them.

        Returns
        -------
        dict
            The address of each part; see :meth:`scope`.

        Raises
        ------
        ValueError
            If names or numbers do not serve.
        PrivacyError
            If the name is taken (the same partition is left alone), the cap exceeds the
            budget, or neighbours are not those of :func:`parallel`.
        """
        people = people_of(name, parts)
        cap = None
        if not (epsilon is None and rho is None and delta == 0):
            cap = cap_of(self._contents().state.budget, epsilon, delta, rho)
        self._add(name, lambda state: state.with_partition(name, people, cap))
        return {part: self._handle.address(f"{name}/{part}") for part in people}

    def charge(
        self, guarantee: PrivacyGuarantee, label: str = "", *, times: int = 1
    ) -> None:
        """Charge a guarantee, or refuse it and write nothing.

        Parameters
        ----------
        guarantee : PrivacyGuarantee
            What one release promises; seeded ones are charged all the same.
        label : str, default=""
            Public text on one line for the history.
        times : int, default=1
            How many such releases are charged at once, at most 2**63 - 1.

        Raises
        ------
        BudgetExceededError
            If the charge does not fit what is left.
        PrivacyError
            If definition, unit, neighbours or metric do not match the ledger, the
            charge costs nothing (what is left of an empty ledger, say) or could not be
            read back, or the file cannot be used.
        """
        guarantee = read_back(guarantee)
        check_text(label, "label")
        times = check_count(times, "times")
        ledger_file.check_times(times)
        scope = self.scope_name
        where = f"the ledger at {str(self.path)!r}"
        if scope:
            where = f"the scope {scope!r} of {where}"

        def charged(database: sqlite3.Connection, before: Contents) -> Mark:
            after = before.state.charged(scope, guarantee, times, where)
            today = ledger_file.today()
            record = LedgerRecord(today, label, guarantee, times, scope)
            return ledger_file.append_charge(database, before, record, after)

        self._handle.write(charged)

    def history(self) -> list[LedgerRecord]:
        """List every charge, or those to this scope or partition, oldest first.

        Returns
        -------
        list of LedgerRecord
            Day, label, guarantee, how often it was charged at once, and the scope.

        Raises
        ------
        PrivacyError
            If a record is damaged.
        """
        return self._history()[1]

    def export(self, path: str | PathLike[str]) -> None:
        """Write the history into a new file: public facts only.

        Parameters
        ----------
        path : str or path-like
            Ends in ``.csv`` (one line a charge) or ``.json`` (budget and scopes, too).

        Raises
        ------
        FileExistsError
            If there is such a file.
        ValueError
            If the ending is another one.
        PrivacyError
            If a record is damaged.
        """
        write_history(path, *self._history())

    def _contents(self) -> Contents:
        with self._handle.read() as (_, contents):
            return contents

    def _history(self) -> tuple[Contents, list[LedgerRecord]]:
        with self._handle.read() as (database, contents):
            records = ledger_file.read_records(database)
        own = self.scope_name
        inside = [
            record
            for record in records
            if not own or record.scope == own or record.scope.startswith(f"{own}/")
        ]
        return contents, inside

    def _add(self, name: str, change: Callable[[LedgerState], LedgerState]) -> None:
        if self.scope_name:
            raise ValueError("scopes are added to the ledger itself, not to a scope")

        def added(database: sqlite3.Connection, before: Contents) -> Mark | None:
            after = change(before.state)
            if after == before.state:
                return None
            return ledger_file.append_scope(database, before, name, after)

        self._handle.write(added)
