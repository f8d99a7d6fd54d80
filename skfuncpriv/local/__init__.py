"""The local model: each person's own function, private before it leaves the device."""

from ._coefficients import GeoPrivateCoefficients
from ._curve import GeoPrivateCurve
from ._piecewise_curve import PiecewiseCurve
from ._pipeline import (
    geo_private_pipeline,
    pipeline_guarantee,
    reconstruction_score,
    search_guarantee,
)
from ._projector import BasisProjector
from ._selector import SVTBasisSelector
from ._traces import arc_length_curves, to_degrees, to_metres

__all__ = [
    "BasisProjector",
    "GeoPrivateCoefficients",
    "GeoPrivateCurve",
    "PiecewiseCurve",
    "SVTBasisSelector",
    "arc_length_curves",
    "geo_private_pipeline",
    "pipeline_guarantee",
    "reconstruction_score",
    "search_guarantee",
    "to_degrees",
    "to_metres",
]
