"""Small public data sets and generators of curves, for examples and tests."""

from skfuncpriv.datasets._elnino import load_elnino
from skfuncpriv.datasets._make_curves import make_curves
from skfuncpriv.datasets._storms import load_storms

__all__ = ["load_elnino", "load_storms", "make_curves"]
