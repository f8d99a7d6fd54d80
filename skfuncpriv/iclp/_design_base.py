"""A design: the public map from what a row holds to bounded features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """Features x of a row, of norm at most one, and the penalty of coefficients.

    Everything is public. A linear function of a row is theta' x; the penalty of theta
    is psi * sum_j penalty_j theta_j^2. In whitened features x_j / sqrt(penalty_j) it
    is psi times the plain squared norm, and norms only shrink.

    Parameters
    ----------
    penalty : ndarray, shape (p,)
        Weights of squared coefficients, at least one.
    energy : ndarray, shape (p,)
        Mean squares of the features in a public reference problem, from which tuning
        parameters are chosen; no promise about data.
    constant : float
        The value of the first feature in every row; zero if there is none.
    """

    penalty: np.ndarray = field(init=False)
    energy: np.ndarray = field(init=False)
    constant: float = field(init=False, default=0.0)

    @property
    def size(self) -> int:
        """The number p of features."""
        return len(self.penalty)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many features may be taken, in increasing order."""
        return (self.size,)

    @property
    def missed(self) -> np.ndarray:
        """Entry k: root mean square of what k + 1 whitened features miss of all."""
        tail = np.cumsum((self.energy / self.penalty)[::-1])[::-1]
        return np.sqrt(np.append(tail[1:], 0.0))

    @property
    def n_columns(self) -> int | None:
        """The number of columns of a table that is read; None if there is none."""
        return None

    @property
    def points(self) -> list[np.ndarray]:
        """Where the coefficient function of each curve predictor is given."""
        return []

    def named(self, parts: list) -> Any:
        """One thing for each predictor, as the user names predictors."""
        return parts[0]

    @abstractmethod
    def first(self, size: int) -> Design:
        """The first features alone."""

    @abstractmethod
    def read(self, X: Any) -> Any:
        """Rows of another data set in the same form; it has a length."""

    def seen(self, rows: Any) -> np.ndarray | None:  # noqa: ARG002
        """Which rows hold data, *private*; None is all of them."""
        return None

    @abstractmethod
    def transform(self, rows: Any, codes: np.ndarray | None = None) -> np.ndarray:
        """Features of every row, shape (n_rows, p).

        Parameters
        ----------
        rows : rows
            What `read` returns; *private*.
        codes : ndarray of int, shape (n_rows,), default=None
            The person of each row; None makes every row a person; *private*.

        Returns
        -------
        ndarray
            Norms are at most one, up to rounding (``KAPPA``), clipped last. Features
            of a person are a function of that person's rows alone, to the last bit;
            those of a row without data are zero.
        """

    def transform_alike(self, rows: Any) -> np.ndarray:
        """Features of rows, each rounded alike whatever rows stand beside it."""
        return self.transform(rows)

    @abstractmethod
    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """A linear function of features in units of what a row holds.

        Parameters
        ----------
        theta : ndarray, shape (p, q)
            Coefficients of features; *released* or public.

        Returns
        -------
        intercept : ndarray, shape (q,)
            What is left where a row holds zeros.
        parts : list of ndarray, shape (..., q)
            Slopes of numbers, shape (d, q); coordinates in an expansion, theta itself;
            or for each curve predictor a function, shape (n_points, d, q), whose L2
            inner product with the curve is what it adds.
        """

    def whitened(self, rows: Any, codes: np.ndarray | None = None) -> np.ndarray:
        """Features in which the penalty is the plain squared norm."""
        return self.transform(rows, codes) / np.sqrt(self.penalty)

    def _set(self, penalty: Any, energy: Any, constant: float = 0.0) -> None:
        """Set the public facts of an instance that is being built."""
        for name, value in (("penalty", penalty), ("energy", energy)):
            array = np.array(value, dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "constant", float(constant))
