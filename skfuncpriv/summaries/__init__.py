"""Bounded contributions of people and their exact integer sums."""

from ._ball import BallContributions, BallSum
from ._bins import BinContributions
from ._coefficients import curve_coefficients, project_in_blocks
from ._grid import SLACK, GridContributions
from ._masked import SupportRule
from ._people import (
    averages_in_blocks,
    number_of_people,
    person_averages,
    person_codes,
)
from ._product import ExactProduct
from ._value_bounds import ValueBounds

__all__ = [
    "SLACK",
    "BallContributions",
    "BallSum",
    "BinContributions",
    "ExactProduct",
    "GridContributions",
    "SupportRule",
    "ValueBounds",
    "averages_in_blocks",
    "curve_coefficients",
    "number_of_people",
    "person_averages",
    "person_codes",
    "project_in_blocks",
]
