"""Densities released under differential privacy."""

from ._kde import PrivateKDE

__all__ = ["PrivateKDE"]
