"""The picture of a ledger: how much of a budget is spent, and by what."""

from __future__ import annotations

import textwrap
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from ._frame import COLOURS, NEEDS_MATPLOTLIB, dress, letters, literal

_COLUMNS, _PAD, _ROW = 3, 8, 14  # of the legend; points around it, and of its rows
_NAMED = 5  # labels with a colour of their own; the others share a grey


class BudgetDisplay:
    """How much of the budget of a ledger is spent, by label, and what is left.

    A ledger holds no data, so the picture may be shown to whoever may read it.

    Parameters
    ----------
    amounts : dict from str to float
        What releases of each label spent, in the order in which they are drawn.
    budget : float
        The whole budget.
    name : str, default="epsilon"
        What is spent: "epsilon" or "rho".
    title : str, default=None
        Words above the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure of the axes.
    bars_ : list of matplotlib BarContainer
        One for each label, and the last one for what is left.

    See Also
    --------
    skfuncpriv.BudgetLedger : The ledger.

    Examples
    --------
    >>> from skfuncpriv import BudgetDisplay
    >>> display = BudgetDisplay({"mean": 1.0, "density": 0.5}, budget=3.0).plot()
    >>> len(display.bars_)
    3
    """

    def __init__(
        self,
        amounts: Any,
        budget: float,
        *,
        name: str = "epsilon",
        title: str | None = None,
    ) -> None:
        self.amounts = amounts
        self.budget = budget
        self.name = name
        self.title = title

    @classmethod
    def from_ledger(
        cls, ledger: Any, ax: Any = None, *, title: str | None = None
    ) -> BudgetDisplay:
        """Draw a ledger, or a scope of one.

        Parameters
        ----------
        ledger : BudgetLedger
            The ledger; parts of partitions are drawn one by one, from ledgers of
            their own scopes, as their charges do not add up.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`: for scopes, one each of
            ``plt.subplots(n, sharex=True)``.
        title : str, default=None
            Words above the picture; None names the scope, if it is one, and the budget.

        Returns
        -------
        display : BudgetDisplay
            The drawn display.
        """
        name = "epsilon" if ledger.budget.epsilon is not None else "rho"
        amounts: dict[str, float] = {}
        for record in ledger.history():
            label = record.label or "without a label"
            amount = record.times * getattr(record.guarantee, name)
            amounts[label] = amounts.get(label, 0.0) + amount
        total = sum(amounts.values())
        spent = getattr(ledger.spent, name)
        if amounts and abs(total - spent) > 1e-9 * max(total, spent):
            amounts = {"releases": spent}  # parts of partitions do not add up
        budget = getattr(ledger.budget, name)
        if title is None:
            scope = f"{ledger.scope_name}: " if ledger.scope_name else ""
            title = f"{scope}{ledger.budget}"
        return cls(amounts, budget, name=name, title=title).plot(ax)

    def plot(self, ax: Any = None) -> BudgetDisplay:
        """Draw one bar in pieces.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : BudgetDisplay
            This object, with its artists.
        """
        spent = sum(self.amounts.values())
        if any(amount < 0 for amount in self.amounts.values()) or not self.budget > 0:
            raise ValueError("amounts must be >= 0 and the budget > 0")
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(NEEDS_MATPLOTLIB) from None
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 1.9), layout="constrained")
        self.ax_, self.figure_, self.bars_ = ax, ax.figure, []
        start = 0.0
        for k, (label, amount) in enumerate(self.amounts.items()):
            colour = COLOURS[k] if k < _NAMED else "0.55"
            text = f"{literal(label)}: {_above(amount)}"
            self._draw(start, amount, text, color=colour)
            start += amount
        left = max(self.budget - spent, 0.0)
        style = {"facecolor": "none", "edgecolor": "0.6", "linestyle": "--"}
        self._draw(start, left, f"left: {_below(left)}", **style)
        dress(ax, axis="x")
        ax.set(xlabel=self.name, yticks=[])
        ax.set_xlim(0, max(1.02 * max(self.budget, spent), _right_of_others(ax)))
        ax.spines["left"].set_visible(False)
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=_COLUMNS,
            fontsize="small",
            frameon=0,
        )
        if self.title is not None:
            n_rows = -(-len(self.bars_) // _COLUMNS)
            text = textwrap.fill(literal(self.title), width=letters(ax))
            style = {"fontsize": "small", "color": "0.35", "loc": "left"}
            ax.set_title(text, pad=_PAD + _ROW * n_rows, **style)  # above the legend
        return self

    def _draw(self, start: float, width: float, label: str, **style: Any) -> None:
        bar = self.ax_.barh(0, width, left=start, height=0.6, label=label, **style)
        self.bars_.append(bar)


def _right_of_others(ax: Any) -> float:
    """Where bars end in the panels that share this axis: one scale for all of them."""
    others = [each for each in ax.get_shared_x_axes().get_siblings(ax) if each != ax]
    return max((each.get_xlim()[1] for each in others if each.patches), default=0.0)


def _above(amount: float) -> str:
    """Four digits of what is spent, rounded up."""
    return _four_digits(amount, ROUND_CEILING)


def _below(amount: float) -> str:
    """Four digits of what is left, rounded down."""
    return _four_digits(amount, ROUND_FLOOR)


def _four_digits(amount: float, rounding: str) -> str:
    exact = Decimal(f"{amount:.12g}")  # without the errors of a sum of floats
    return f"{float(Context(prec=4, rounding=rounding).plus(exact)):.4g}"
