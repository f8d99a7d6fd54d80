"""Private rows in memory, as the `fit` of an estimator uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import people_of


class MemoryRows:
    """Private rows in memory: what is asked for is computed at once.

    Parameters
    ----------
    X, y, sample_weight, groups : array-like, frame or Curves
        *Private*: the arguments of ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks._memory_rows import MemoryRows
    >>> rows = MemoryRows(np.ones((4, 2)))
    >>> rows.read(lambda X, y, weights: X).shape
    (4, 2)
    """

    in_memory = True

    def __init__(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        self.X = X
        self._data: Any = (X, y, sample_weight)
        self._groups = groups
        self._codes: np.ndarray | None = None

    def read(self, reader: Callable[..., Any]) -> Any:
        """Read the data.

        Parameters
        ----------
        reader : callable
            From X, y and weights to the data, row by row.

        Returns
        -------
        object
            What it returned; *private*.
        """
        self._data = reader(*self._data)
        return self._data

    def people(self, n_rows: int) -> tuple[int, str]:
        """Count the people.

        Parameters
        ----------
        n_rows : int
            The number of rows; *private* where there are labels of people.

        Returns
        -------
        n_people : int
            How many people there are; *public*.
        unit : str
            The unit of privacy, "person" or "row".
        """
        self._codes, n_people, unit = people_of(self._groups, self.X, n_rows)
        return n_people, unit

    def map(self, function: Callable[[Any], Any]) -> None:
        """Apply a function of the data, row by row.

        Parameters
        ----------
        function : callable
            From data to data.
        """
        self._data = function(self._data)

    def per_person(self, function: Callable[..., Any]) -> None:
        """Replace data by those of people.

        Parameters
        ----------
        function : callable
            From data and the codes of the rows' people, None if every row is another
            one, to data of people.
        """
        self._data, self._codes = function(self._data, self._codes), None

    def sum(self, function: Callable[..., Any]) -> Any:
        """Compute an exact sum.

        Parameters
        ----------
        function : callable
            From data and codes of people to a sum of integers.

        Returns
        -------
        object
            What it returned; *private*.
        """
        return function(self._data, self._codes)

    def shown(self, verbose: bool) -> bool | None:
        """Say what a function of rows may show of its progress.

        Parameters
        ----------
        verbose : bool
            *Public.* What the user asked for.

        Returns
        -------
        bool or None
            The same; None where others show the progress.
        """
        return verbose

    def alone(self, function: Callable[..., Any]) -> Any:
        """Compute what is no sum over people.

        Parameters
        ----------
        function : callable
            From data and codes of people.

        Returns
        -------
        object
            What it returned; *private*.
        """
        return function(self._data, self._codes)
