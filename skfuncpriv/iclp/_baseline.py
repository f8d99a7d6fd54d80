"""What the published baselines share: one sum, one draw of noise, nothing after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np

from .._base import warn_if_noise_dominates
from .._observations import filled
from .._sklearn import check_feature_names
from ..basis import Basis
from ..blocks import open_rows
from ..curves import Curves
from ..noise import FixedPoint, NoiseLaw, random_bits, release_lattice
from ..privacy import PrivacyGuarantee
from ..summaries import ValueBounds
from ._curve_mean import CurveMean, check_noise
from ._parameters import CurveReading, output_grid, public_domain, public_values


class MeanSummary(ABC):
    """What is summed over people, and the noise that it gets; public facts only.

    Everything is measured in units of the norm bound, and the released mean is the
    noisy sum over n in terms of the functions of `basis`.
    """

    law: NoiseLaw
    basis: Basis

    @property
    @abstractmethod
    def expected_square(self) -> float:
        """The expected squared L2 norm of the noise of the mean."""

    @abstractmethod
    def sum(self, curves: Curves, codes: np.ndarray | None) -> FixedPoint:
        """The exact sum of bounded contributions, of all people or of some of them."""

    @abstractmethod
    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release promises."""


class BaselineMean(CurveMean):
    """Base of means that are released as they are, without denoising."""

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> BaselineMean:  # noqa: ARG002
        """Release the mean of the curves.

        Parameters
        ----------
        X : array-like, frame, Curves, FDataGrid or Blocks
            *Private.* One curve per row: shape (n_rows, n_points) or (n_rows, n_points,
            n_outputs), or irregular curves; or rows in blocks: a memory map, `Blocks`,
            a dask array or frame.
        y : None
            Ignored; labels of people are `groups`.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. A person's curves are averaged into one contribution. None makes
            every row a person, and the guarantee says so.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        self._check_parameters()
        bits = random_bits(self.random_state)
        rows = open_rows(X, groups=groups)
        domain = public_domain(self, rows.X)
        curves = rows.read(CurveReading.of(self, domain))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(curves.n_curves)
        values = public_values(self, curves.n_outputs, domain, curves.grid)
        rows.map(partial(filled, center=values.center))
        summary = self._summary(n_people, domain, values, curves.grid)
        grid = output_grid(self.grid, curves.grid, domain)
        functions = summary.basis.evaluate(grid)
        check_noise(summary.law, values.norm_bound / n_people)
        remedy = "epsilon, more people or tighter bounds"
        warn_if_noise_dominates(summary.expected_square, 1.0, remedy)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: bounded contributions and their exact sum.
            total = rows.sum(summary.sum)

            # Step 2: charge, then draw the noise once.
            guarantee = summary.guarantee(unit, bits.seeded)
            self._open_release(guarantee, n_people)
            lattice = release_lattice(summary.law.smallest_scale, total)
            released = lattice.to_float(summary.law.release(total, lattice, bits))

            # Step 3: public post-processing.
            self.basis_, self.grid_, self.law_ = summary.basis, grid, summary.law
            self.n_people_, self.norm_bound_ = n_people, values.norm_bound
            self._set_curve(released, values, functions, curves.is_vector)
        vars(self).pop("n_features_in_", None)
        if curves.is_regular:
            self.n_features_in_ = len(grid)
        self.guarantee_ = guarantee
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check everything that does not depend on the form of the data."""

    @abstractmethod
    def _summary(
        self,
        n_people: int,
        domain: tuple[float, float],
        values: ValueBounds,
        grid: np.ndarray | None,
    ) -> MeanSummary:
        """What is summed, chosen from public facts."""

    def _set_curve(
        self,
        released: np.ndarray,
        values: ValueBounds,
        functions: np.ndarray,
        is_vector: bool,
    ) -> None:
        """Turn the released sum into a mean curve."""
        n_outputs = len(values.low)
        shape = (-1, n_outputs) if is_vector else (-1,)
        self.coef_ = self.release_ = (self._unit * released).reshape(shape)
        self.weights_ = np.ones(len(self.coef_))
        middle = np.broadcast_to(values.center, (len(functions), n_outputs))
        self._center = middle.copy() if is_vector else middle[:, 0].copy()
        largest = self.law_.std.max()  # squares of it could overflow
        std = (self.law_.std / largest).reshape(-1, n_outputs)
        deviation = np.sqrt(np.square(functions) @ np.square(std))
        self.noise_std_ = (self._unit * largest * deviation).reshape(self._center.shape)
        self.mean_ = functions @ self.coef_ + self._center
