"""Every private import from scikit-learn, in one place."""

from sklearn.utils import _safe_indexing as safe_indexing  # noqa: F401
from sklearn.utils.validation import (
    _check_feature_names as check_feature_names,  # noqa: F401
)
from sklearn.utils.validation import (
    _num_samples as count_samples,  # noqa: F401
)
