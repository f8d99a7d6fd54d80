"""What the private estimators of the local model share: they draw in ``transform``."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags

from .._base import PrivateEstimator, people_of
from .._validation import check_count
from ..blocks._most_rows import most_rows_of_a_person
from ..exceptions import PrivacyError
from ..noise import KeyedBits, RandomBits, random_bits
from ._lazy import PromisedRows, check_lazily, refuse_containers


class LocalPrivatizer(TransformerMixin, PrivateEstimator):
    """Base of estimators that make each row private with noise of its own.

    `fit` fixes the law of the noise from public facts and sets `guarantee_`;
    `transform` reads its rows, calls `_open_transform`, and only then draws.

    Notes
    -----
    Arrays and frames of dask are charged when `transform` is called, and released where
    the rows are when the result is computed. Whatever is computed again gets the same
    noise: it depends on a secret of this one `transform`, on the partition, and on the
    rows in it (`KeyedBits`). The secret is part of the graph, which is as private as
    the rows. No error could be refunded then, so values that are not finite are no
    error, but the public centre, as in strict mode.

    `transform` reads every partition once, before it charges, so that a partition with
    other rows than those is refused when it is computed: a graph is evaluated twice, or
    once if it was persisted before.
    """

    def fit_transform(
        self, X: Any, y: Any = None, groups: Any = None, **options: Any
    ) -> Any:
        """Fit to the form of the data, then release every row.

        Parameters
        ----------
        X : array-like
            *Private.* As in `transform`.
        y : None
            Ignored.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row; see `transform`.
        **options
            *Public.* What else `transform` takes, as the `grid` of curves.

        Returns
        -------
        ndarray
            What `transform` returns.
        """
        return self.fit(X, y).transform(X, groups=groups, **options)

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
        self._pay(bits, times)
        return bits

    def _transform_lazily(
        self, X: Any, groups: Any, shape: Any, *public: Any, purpose: int = 0
    ) -> Any:
        """Charge, and promise what `_transform_block` makes of rows of dask.

        Rows of the result have a public `shape`; `public` arguments go to each block.
        """
        self._check_ledger()
        refuse_containers(self)
        worker = copy.copy(self)
        worker.ledger, worker.random_state, worker.verbose = None, None, None
        worker._strict = True  # values that are not finite are no error any more
        check_lazily(X, worker._read)
        times = 1 if groups is None else most_rows_of_a_person(X, groups)
        bits = KeyedBits.fresh(self.random_state, purpose)
        rows = PromisedRows(X, bits)
        self._pay(bits, times)
        return rows.release(partial(worker._transform_block, *public), shape)

    def _pay(self, bits: RandomBits, times: int) -> None:
        if bits.seeded != self.guarantee_.seeded:
            raise PrivacyError(
                "random_state was changed after fit, so the guarantee no longer says "
                "whether releases are seeded: fit again"
            )
        self._charge(self.guarantee_, times)


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

    def _transform_block(self, X: Any, bits: RandomBits) -> np.ndarray:
        return self._released(self._read(X), bits)

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
