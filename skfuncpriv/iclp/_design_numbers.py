"""Designs of rows of numbers: linear in each, or a kernel's expansion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..gaussian_process._features import KernelFeatures
from ..gaussian_process._rows import read_rows
from ._design_base import Design
from ._minimiser import in_unit_ball

# Of the half width of the bounds, the deviation of a typical number or curve; squared.
TYPICAL = 1 / 9
_FEWEST = 4


@dataclass(frozen=True, eq=False)
class NumericDesign(Design):
    """x = (1, t_1, ..., t_d) / sqrt(1 + d), t the numbers scaled to [-1, 1].

    Parameters
    ----------
    low, high : ndarray, shape (d,)
        The bounds, at which numbers are clipped.
    """

    low: np.ndarray
    high: np.ndarray

    def __post_init__(self) -> None:
        count = 1 + len(self.low)
        energy = np.full(count, TYPICAL / count)
        energy[0] = 1 / count
        self._set(np.ones(count), energy, 1 / math.sqrt(count))

    @property
    def n_columns(self) -> int:
        return len(self.low)

    def first(self, size: int) -> NumericDesign:
        """All features: they have no order."""
        if size != self.size:
            raise ValueError("a linear design has all its features")
        return self

    def read(self, X: Any) -> np.ndarray:
        return read_rows(X)

    def transform(self, rows: np.ndarray, codes: Any = None) -> np.ndarray:  # noqa: ARG002
        with np.errstate(all="ignore"):
            inside = np.clip(rows, self.low, self.high)
            half = self.high / 2 - self.low / 2
            scaled = (inside - (self.low / 2 + self.high / 2)) / half
            scaled = np.clip(scaled, -1.0, 1.0) * self.constant
        ones = np.full((len(rows), 1), self.constant)
        return np.hstack([ones, scaled])

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        half = (self.high / 2 - self.low / 2)[:, None]
        slopes = self.constant * theta[1:] / half
        middle = (self.low / 2 + self.high / 2)[:, None]
        return self.constant * theta[0] - (slopes * middle).sum(axis=0), [slopes]


@dataclass(frozen=True, eq=False)
class KernelDesign(Design):
    """Coordinates of an expansion of a kernel; norms are those of the RKHS.

    Parameters
    ----------
    features : KernelFeatures
        The expansion, on a public box.
    """

    features: KernelFeatures

    def __post_init__(self) -> None:
        left = np.concatenate([[1.0], np.square(self.features.missed)])
        self._set(np.ones(self.features.size), np.maximum(-np.diff(left), 0.0))

    @property
    def sizes(self) -> tuple[int, ...]:
        fewest = min(_FEWEST, self.size)
        counts = np.geomspace(fewest, self.size, 24).round().astype(int)
        return tuple(np.unique(counts).tolist())

    @property
    def n_columns(self) -> int:
        return len(self.features.low)

    def first(self, size: int) -> KernelDesign:
        return replace(self, features=self.features.first(size))

    def read(self, X: Any) -> np.ndarray:
        return read_rows(X)

    def transform(
        self, rows: np.ndarray, codes: np.ndarray | None = None
    ) -> np.ndarray:
        if codes is None:
            return in_unit_ball(self.features.transform(rows))
        # Products of matrices of other shapes may round otherwise, and how many rows
        # others have differs between neighbours: each person's are computed apart.
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order])) + 1
        Z = np.empty((len(rows), self.size))
        for part in np.split(order, ends):
            Z[part] = self.features.transform(rows[part])
        return in_unit_ball(Z)

    def transform_alike(self, rows: np.ndarray) -> np.ndarray:
        return in_unit_ball(self.features.transform(rows, alike=True))

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        return np.zeros(theta.shape[1]), [theta]
