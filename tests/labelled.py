"""Classifiers for checks whose targets are numbers."""

from contextlib import contextmanager

import numpy as np

from skfuncpriv import ICLPClassifier, PrivateKernelClassifier


class SignClassifier(PrivateKernelClassifier):
    # Numbers between -1 and 1 are labelled by their sign; other targets are left alone.
    __doc__ = PrivateKernelClassifier.__doc__

    def fit(self, X, y=None, groups=None):
        labels = labels_of(y)
        with stated_classes(self, labels is not y):
            return super().fit(X, labels, groups)


class SignICLPClassifier(ICLPClassifier):
    # The same for the classifier of curves.
    __doc__ = ICLPClassifier.__doc__

    def fit(self, X, y=None, groups=None, sample_weight=None):
        labels = labels_of(y)
        with stated_classes(self, labels is not y):
            return super().fit(X, labels, groups, sample_weight)


def labels_of(y):
    """Texts for numbers between -1 and 1, or what y is."""
    if getattr(y, "dtype", None) == np.float64 and (np.abs(y) < 1).all():
        return np.where(y > 0, "high", "low")
    return y


@contextmanager
def stated_classes(model, are_known):
    """State the labels of numbers, which strict mode demands, for one fit."""
    stated = model.classes
    if are_known and stated is None:
        model.classes = ("high", "low")
    try:
        yield
    finally:
        model.classes = stated
