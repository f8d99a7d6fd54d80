"""Privacy-safe selection: the parameters of a release, and its errors, before data.

What an estimator chooses for itself follows from the number of people, the budget,
bounds and spectra. It can be read, compared and changed without touching anybody's
data, and costs no budget.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from numbers import Number
from typing import Any

from sklearn.base import clone

from ._planned import PlannedRelease
from ._validation import check_count, check_delta, check_positive

_ERRORS = ("bias", "sampling", "noise")
_COLUMNS = {
    "people": "n_people",
    "epsilon": "epsilon",
    "delta": "delta",
    "mechanism": "mechanism",
    "M": "n_functions",
    "eta": "eta",
    "psi": "psi",
    "bandwidth": "bandwidth",
    **{name: name for name in _ERRORS},
}
_LEGEND = "M is the number of functions; bias, sampling and noise ({} denoising) are"


@dataclass(frozen=True, repr=False)
class ParameterTable:
    """What an estimator would choose for numbers of people and budgets.

    Parameters
    ----------
    rows : tuple of PlannedRelease
        *Public.* One for each combination, in the order in which they were asked for.

    Notes
    -----
    `delta` is what the mechanism would spend of it, nothing if its noise is pure.
    `bias` is a bound over the smooth functions that the estimator plans for, `sampling`
    a bound on the error of the same people without noise, and `noise` the expected
    error of the noise, for means what denoising is expected to leave of it, each a
    squared L2 norm in the units of what is released, of all outputs together. The text
    shows them per point: the square root of error / size, with the size of the domain.
    Parameters that a mechanism does not have are None, and columns without any are left
    out of the text. A psi of 0 is no penalty. M in the text is `n_functions` in the
    rows.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean, privacy_safe_parameters
    >>> model = ICLPMean(bounds=(0, 1), n_basis=5)
    >>> table = privacy_safe_parameters(model, [100, 1000])
    >>> [row.n_functions for row in table]
    [5, 5]
    """

    rows: tuple[PlannedRelease, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))

    def __iter__(self) -> Iterator[PlannedRelease]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> PlannedRelease:
        return self.rows[index]

    def to_frame(self) -> Any:
        """Return the table as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per combination, all columns, errors as squared L2 norms.
        """
        import pandas as pd

        fields = list(map(asdict, self.rows))
        data = {name: [row[key] for row in fields] for name, key in _COLUMNS.items()}
        return pd.DataFrame(data)

    def to_text(self, size: float | None = None) -> str:
        """Return the table as aligned text.

        Parameters
        ----------
        size : float, default=None
            The size of the domain, in its units, if it is another one than the
            estimator's: errors are shown as root mean squares at a point, sqrt(error /
            size), in the units of the values. None takes what the rows state; without
            a size they are shown as squared L2 norms.

        Returns
        -------
        str
            A line of names, a line per row, and what M and the errors are.
        """
        size = self._size if size is None else size
        lines = self._cells(size)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ["  ".join(map(str.rjust, line, widths)) for line in lines]
        return "\n".join([*aligned, self._legend, self._meaning(size)])

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        head, *body = self._cells(self._size)
        rows = [f"<tr>{_tagged('th', head)}</tr>"]
        rows += [f"<tr>{_tagged('td', line)}</tr>" for line in body]
        legend = f"{self._legend} {self._meaning(self._size)}"
        return f"<table>{''.join(rows)}<caption>{legend}</caption></table>"

    @property
    def _legend(self) -> str:
        """What M is, and which noise is meant."""
        is_denoised = bool(self.rows) and all(row.denoised for row in self.rows)
        return _LEGEND.format("after" if is_denoised else "before")

    @property
    def _size(self) -> float | None:
        """The size of the domain, if all rows state the same."""
        sizes = {row.size for row in self.rows}
        return sizes.pop() if len(sizes) == 1 else None

    def _meaning(self, size: float | None) -> str:
        """What the numbers of errors are, and what the errors are of."""
        several = {(row.released, row.place) for row in self.rows}
        default = "what is released", "at a point"
        released, place = several.pop() if len(several) == 1 else default
        if size is None:
            return f"squared L2 norms of errors of {released}, which add up"
        return f"root mean squares of errors of {released} {place}"

    def _cells(self, size: float | None) -> list[list[str]]:
        """The names of the columns, and the texts of every row."""
        fields = [asdict(row) for row in self.rows]
        shown = [
            name
            for name, key in _COLUMNS.items()
            if any(row[key] is not None for row in fields)
        ]

        def text(name: str, value: Any) -> str:
            if size is not None and name in _ERRORS:
                value = math.sqrt(value / size)
            return _as_text(value)

        body = [[text(name, row[_COLUMNS[name]]) for name in shown] for row in fields]
        return [shown, *body]


def privacy_safe_parameters(
    estimator: Any,
    n_people: Any,
    *,
    epsilon: Any = None,
    delta: Any = None,
    n_outputs: int = 1,
    n_points: int | None = None,
) -> ParameterTable:
    """Tell what an estimator would choose, and how large its errors would be.

    Parameters
    ----------
    estimator : estimator
        *Public.* An instance with its bounds, kernel or basis. It need not be fitted,
        is left as it is, and nothing is charged to its ledger.
    n_people : int or sequence of int
        *Public.* Numbers of people.
    epsilon, delta : float or sequence of float, default=None
        *Public.* Budgets; None is that of the estimator.
    n_outputs : int, default=1
        *Public.* The number of values of a curve at each point; for a density the
        number of features.
    n_points : int, default=None
        *Public.* The number of points of wide data, if they share a grid that the
        estimator does not state.

    Returns
    -------
    ParameterTable
        One row for each combination, deltas changing fastest, people slowest.

    Raises
    ------
    TypeError
        If the estimator is not an instance, or does not plan its release.
    ValueError
        If a number is out of its range.
    PrivacyError
        If the guarantee cannot be kept for one of the combinations.

    Notes
    -----
    Choices that are made from data leak what they were made from, unless they are paid
    for. Those in the table are functions of what everybody knows, as in the
    privacy-safe selection of [1]_: fitting chooses them in the same way.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".

    Examples
    --------
    >>> from skfuncpriv import ICLPMean, privacy_safe_parameters
    >>> model = ICLPMean(bounds=(0, 100), domain=(0, 24), kernel="matern32")
    >>> table = privacy_safe_parameters(model, [100, 1000], epsilon=[0.5, 1])
    >>> [(row.n_people, row.epsilon) for row in table]
    [(100, 0.5), (100, 1.0), (1000, 0.5), (1000, 1.0)]
    """
    name = getattr(estimator, "__name__", type(estimator).__name__)
    if isinstance(estimator, type) or not hasattr(estimator, "_planned_release"):
        raise TypeError(
            "estimator must be an instance of an estimator that plans its release "
            "from public facts, such as ICLPMean(bounds=(0, 1)) or PrivateKDE("
            f"bounds=(0, 1)), got {name}"
        )
    people = _several(n_people, "n_people", check_count)
    parameters = estimator.get_params(deep=False)
    budgets = {}
    for key, value, check in (
        ("epsilon", epsilon, check_positive),
        ("delta", delta, check_delta),
    ):
        if value is None:
            continue
        if key not in parameters:
            raise ValueError(f"{name} has no {key}: leave it out")
        budgets[key] = _several(value, key, check)
    rows = []
    for number, *budget in product(people, *budgets.values()):
        model = clone(estimator).set_params(**dict(zip(budgets, budget, strict=True)))
        rows.append(model._planned_release(number, n_outputs, n_points))
    return ParameterTable(tuple(rows))


def _several(values: Any, name: str, check: Callable[[Any, str], Any]) -> list[Any]:
    """One number or several, each of them checked."""
    is_one = isinstance(values, Number | str) or not isinstance(values, Iterable)
    numbers = [check(value, name) for value in ([values] if is_one else values)]
    if not numbers:
        raise ValueError(f"{name} must be a number or a sequence of numbers, got none")
    return numbers


def _as_text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return " ".join(map(_as_text, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _tagged(tag: str, cells: list[str]) -> str:
    return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
