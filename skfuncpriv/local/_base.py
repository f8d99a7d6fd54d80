"""What the private estimators of the local model share: they draw in ``transform``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags

from .._base import PrivateEstimator, people_of
from .._validation import check_count
from ..exceptions import PrivacyError
from ..noise import RandomBits, random_bits


class LocalPrivatizer(TransformerMixin, PrivateEstimator):
    """Base of estimators that make each row private with noise of its own.

    `fit` fixes the law of the noise from public facts and sets `guarantee_`;
    `transform` reads its rows, calls `_open_transform`, and only then draws.
    """

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Fit to the form of the data, then release every row.

        Parameters
        ----------
        X : array-like
            *Private.* As in `transform`.
        y : None
            Ignored.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row; see `transform`.

        Returns
        -------
        ndarray
            What `transform` returns.
        """
        return self.fit(X, y).transform(X, groups=groups)

    def _open_transform(
        self, X: Any, n_rows: int, groups: Any, purpose: int = 0
    ) -> RandomBits:
        """Charge what `fit` has promised, and return the source of the noise.

        Once for each row of the person with most rows: a person's releases add up.
        """
        self._check_ledger()
        codes, _, _ = people_of(groups, X, n_rows)
        times = 1 if codes is None else int(np.bincount(codes).max())
        bits = random_bits(self.random_state, purpose=purpose)
        if bits.seeded != self.guarantee_.seeded:
            raise PrivacyError(
                "random_state was changed after fit, so the guarantee no longer says "
                "whether releases are seeded: fit again"
            )
        self._charge(self.guarantee_, times)
        return bits


class CoefficientPrivatizer(OneToOneFeatureMixin, LocalPrivatizer):
    """The same for rows of coefficients, of which some may be NaN."""

    def inverse_transform(self, X: Any) -> Any:
        """Return the coefficients as they are, so that a pipeline goes back.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Coefficients.

        Returns
        -------
        array-like of shape (n, m)
            `X` itself.
        """
        return X

    def _n_frequencies(self) -> int:
        """How many frequencies the columns have, one per group of outputs."""
        n_outputs = check_count(self.n_outputs, "n_outputs")
        count, rest = divmod(self.n_features_in_, n_outputs)
        if rest:
            raise ValueError("n_outputs must divide the number of coefficients")
        return count

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
