"""Release functions under differential privacy, as scikit-learn estimators."""

__version__ = "0.1.dev0"
