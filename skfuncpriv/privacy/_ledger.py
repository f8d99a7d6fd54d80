"""The budget of one data set, in a file that every process charges.

A mechanism names the file by its path, charges it before it draws any noise, and draws
nothing if the charge is refused. Charges add by basic composition, in exact decimals.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from .._validation import check_count
from ..exceptions import BudgetExceededError, PrivacyError
from . import _ledger_file as ledger_file
from ._guarantee import (
    PrivacyGuarantee,
    amount_in,
    composed_definition,
    guarantee_of,
)
from ._ledger_file import LedgerRecord


class BudgetLedger:
    """Budget of privacy loss kept in an SQLite file.

    ``BudgetLedger(path, epsilon=3.0)`` creates the file, or opens the one that holds
    the very same budget; ``BudgetLedger(path)`` opens an existing one.

    Parameters
    ----------
    path : str or path-like
        Public name of the file. A relative path is resolved, and symbolic links are
        followed, once, when the object is made.
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

    Attributes
    ----------
    path : Path
        The absolute path of the file.

    Raises
    ------
    ValueError
        If the numbers do not make a budget.
    PrivacyError
        If the file is missing, damaged, no ledger, or holds another budget.

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
    one on a network drive without locks. A copy or a restored backup forgets charges;
    checksums notice damage, not an owner who edits the file.

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
    ) -> None:
        self.path = Path(path).resolve()
        if epsilon is None and rho is None:
            rest = (delta, definition, neighbours, unit, metric)
            if rest != (0.0, None, "replace-one", "row", None):
                raise ValueError(
                    "to create a ledger give epsilon or rho as well; to open one give "
                    "its path alone"
                )
            with ledger_file.reading(self.path) as database:
                ledger_file.check_pages(database)
                ledger_file.read_state(database)
            return
        budget = PrivacyGuarantee(
            definition=definition or _infer_definition(rho, delta, metric),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            neighbours=neighbours,
            unit=unit,
            metric=metric,
        )
        with ledger_file.writing(self.path, create=True) as database:
            if ledger_file.is_empty(database):
                ledger_file.create_tables(database, budget)
            ledger_file.check_pages(database)
            found = ledger_file.read_state(database).budget
            if found != budget:
                raise PrivacyError(
                    f"the ledger at {str(self.path)!r} holds another budget: {found}; "
                    "open it with BudgetLedger(path)"
                )

    def __repr__(self) -> str:
        name = f"BudgetLedger({str(self.path)!r})"
        try:
            with ledger_file.reading(self.path) as database:
                state = ledger_file.read_state(database)
            spent = guarantee_of(
                state.spent, state.budget.definition, like=state.budget, seeded=False
            )
            left, has_delta = _remaining(state), state.budget.delta > 0
        except Exception:  # a text about an object must never fail
            return f"<{name}: cannot be read>"
        spent_text, left_text = (_numbers(part, has_delta) for part in (spent, left))
        return f"<{name}: spent {spent_text}, remaining {left_text}>"

    @property
    def budget(self) -> PrivacyGuarantee:
        """The total, as a guarantee."""
        with ledger_file.reading(self.path) as database:
            return ledger_file.read_state(database).budget

    @property
    def spent(self) -> PrivacyGuarantee:
        """What was charged so far, rounded up; epsilon or rho is 0.0 at first."""
        with ledger_file.reading(self.path) as database:
            state = ledger_file.read_state(database)
            return guarantee_of(
                state.spent,
                state.budget.definition,
                like=replace(state.budget, distance_error=state.distance_error),
                seeded=state.seeded,
            )

    @property
    def remaining(self) -> PrivacyGuarantee:
        """The largest charge that still fits, rounded down; epsilon or rho may be 0."""
        with ledger_file.reading(self.path) as database:
            return _remaining(ledger_file.read_state(database))

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

        Examples
        --------
        >>> import tempfile
        >>> from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(f"{folder}/budget.db", rho=1.0)
        ...     ledger.charge(PrivacyGuarantee(definition="zcdp", rho=0.2), times=3)
        ...     print(ledger.spent.rho)
        0.6
        """
        if not isinstance(guarantee, PrivacyGuarantee):
            raise TypeError(f"guarantee must be a PrivacyGuarantee, got {guarantee!r}")
        if not (isinstance(label, str) and label.isprintable()):
            raise ValueError(f"label must be text on one line, got {label!r}")
        times = check_count(times, "times")
        ledger_file.check_times(times)
        guarantee = _read_back(guarantee)
        with ledger_file.writing(self.path) as database:
            state = ledger_file.read_state(database)
            definition = state.budget.definition
            _check_match(state.budget, guarantee)
            spent = state.spent + amount_in(definition, guarantee).times(times)
            if spent == state.spent or not state.spent.fits(spent):
                raise PrivacyError(
                    f"a charge must cost something, which {times} x [{guarantee}] does "
                    "not; nothing was charged"
                )
            if not spent.fits(amount_in(definition, state.budget)):
                raise BudgetExceededError(
                    f"charging {times} x [{guarantee}] exceeds what is left, "
                    f"[{_remaining(state)}], in the ledger at {str(self.path)!r}; "
                    "nothing was charged"
                )
            record = LedgerRecord(ledger_file.now(), label, guarantee, times)
            ledger_file.append_charge(database, state, record, spent)

    def history(self) -> list[LedgerRecord]:
        """List every charge, oldest first.

        Returns
        -------
        list of LedgerRecord
            Time, label, guarantee and how often it was charged at once.

        Raises
        ------
        PrivacyError
            If a record is damaged.

        Examples
        --------
        >>> import tempfile
        >>> from skfuncpriv.privacy import BudgetLedger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     BudgetLedger(f"{folder}/budget.db", epsilon=1.0).history()
        []
        """
        with ledger_file.reading(self.path) as database:
            return ledger_file.read_records(database)


def _read_back(guarantee: PrivacyGuarantee) -> PrivacyGuarantee:
    """The charge as the file will give it back, or a refusal of what it could not."""
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


def _infer_definition(rho: Any, delta: Any, metric: Any) -> str:
    if metric is not None:
        return "geo" if rho is None else "concentrated-geo"
    if rho is not None:
        return "zcdp"
    return "pure-dp" if delta == 0 else "approx-dp"


def _check_match(budget: PrivacyGuarantee, guarantee: PrivacyGuarantee) -> None:
    if budget.metric is None and guarantee.metric is not None:
        raise PrivacyError(
            f"the charge is per unit of {guarantee.metric} distance and the ledger is "
            f"not: create one with BudgetLedger(path, ..., metric={guarantee.metric!r})"
        )
    try:
        definition = composed_definition(budget, guarantee)
    except PrivacyError as error:
        raise PrivacyError(f"the charge does not match the ledger: {error}") from None
    if definition != budget.definition:
        raise PrivacyError(
            f"a ledger for {budget.definition} cannot be charged with "
            f"{guarantee.definition}"
        )


def _numbers(amount: PrivacyGuarantee, has_delta: bool) -> str:
    """The numbers of a guarantee, without its words."""
    if amount.epsilon is None:
        return f"rho={amount.rho!r}"
    delta = f" delta={amount.delta!r}" if has_delta else ""
    return f"epsilon={amount.epsilon!r}{delta}"


def _remaining(state: ledger_file.LedgerState) -> PrivacyGuarantee:
    definition = state.budget.definition
    return guarantee_of(
        amount_in(definition, state.budget) - state.spent,
        definition,
        like=state.budget,
        seeded=False,
        round_down=True,
    )
