"""Parameters of a release of one curve in pieces, before anything is read."""

from __future__ import annotations

from typing import Any

from .._validation import check_count, check_flag

_CHOICES = {"projection": ("before", "after"), "parameter": ("time", "arc length")}


def check_curve_parameters(estimator: Any) -> None:
    """Check what does not depend on the form of the data."""
    for name in ("denoise", "merge"):
        check_flag(getattr(estimator, name), name)
    for name, allowed in _CHOICES.items():
        value = getattr(estimator, name)
        if value not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
    if estimator.merge and estimator.pieces != "svt":
        raise ValueError("merge=True needs pieces='svt', a choice it can refine")


def count_pieces(estimator: Any) -> int:
    """The largest number of pieces."""
    largest = check_count(estimator.max_pieces, "max_pieces")
    if estimator.pieces == "svt":
        return 1 << (largest - 1).bit_length()
    if estimator.pieces == "auto":
        return largest
    return check_count(estimator.pieces, "pieces")
