"""What a ledger says of itself: a line of text, and a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from ._ledger_arguments import numbers
from ._ledger_state import LedgerState

_LAST = 12  # charges that are shown
_STYLE = "padding:0.2em 0.8em 0.2em 0;text-align:left;vertical-align:top"


def balance(state: LedgerState, scope: str) -> str:
    """What is spent and what remains, as a text."""
    has_delta = state.budget.delta > 0
    spent, left = state.spent(scope), state.remaining(scope)
    return f"spent {numbers(spent, has_delta)}, remaining {numbers(left, has_delta)}"


def ledger_table(ledger: Any, title: str, left: str) -> str:
    """Budget and last charges of a ledger in HTML.

    Parameters
    ----------
    ledger : BudgetLedger
        The ledger, which is read.
    title, left : str
        Its name and what is spent and remains, as plain texts.

    Returns
    -------
    str
        A table with a caption; texts of users are escaped.
    """
    records = ledger.history()
    head = ("day", "label", "scope", "times", "guarantee")
    rows = [_row("th", head)]
    rows += [
        _row("td", (r.day, r.label, r.scope, r.times, r.guarantee))
        for r in records[-_LAST:]
    ]
    name = f" ({ledger.name})" if ledger.name else ""
    earlier = len(records) - _LAST
    more = f" The last {_LAST}; {earlier} earlier charges." if earlier > 0 else ""
    words = f"{title}{name}, per {ledger.budget.unit}: {left}.{more}"
    caption = f'<caption style="text-align:left">{escape(words)}</caption>'
    return f'<table class="skfuncpriv-ledger">{caption}{"".join(rows)}</table>'


def _row(tag: str, cells: Iterable[Any]) -> str:
    opening = f'<{tag} style="{_STYLE}">'
    inner = "".join(f"{opening}{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"
