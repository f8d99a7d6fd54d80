"""Bounded contributions of people and their exact integer sums."""

from ._ball import BallContributions, BallSum
from ._people import person_averages, person_codes
from ._product import ExactProduct

__all__ = [
    "BallContributions",
    "BallSum",
    "ExactProduct",
    "person_averages",
    "person_codes",
]
