"""Densities released under differential privacy."""
