"""Every private import from scikit-learn, in one place."""

from sklearn.utils.validation import (
    _check_feature_names as check_feature_names,  # noqa: F401
)
