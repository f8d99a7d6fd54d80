"""Densities released under differential privacy."""

from ._bernstein import BernsteinReleaser
from ._kde import PrivateKDE
from ._lattice_bumps import kde_lattice_sensitivity, kde_sup_sensitivity

__all__ = [
    "BernsteinReleaser",
    "PrivateKDE",
    "kde_lattice_sensitivity",
    "kde_sup_sensitivity",
]
