"""A geo-private guarantee in plain words: metres and odds. Public facts only."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from skfuncpriv.privacy import PrivacyGuarantee, rho_for_approx_dp

_WIDTH = 88
_ODDS = 3.0  # what a budget is translated into, where no odds were asked for
_DELTA = 1e-6
_ROUND_DOWN = 1 - 1e-12
_SHAPES = {
    1: "1 coefficient (a place, not a track)",
    2: "2 coefficients (nearly a straight line)",
}


def in_words(
    guarantee: PrivacyGuarantee, domain: Any, hide: float | None, odds: float | None
) -> str:
    """What the guarantee says of two traces, in metres that hold all the time."""
    if hide is None or odds is None:
        hide, odds = _hidden(guarantee, domain), _ODDS
    chance = ""
    if guarantee.epsilon is None:
        chance = f" (but for a chance of {_DELTA:g})"
    text = (
        f"In words: who sees the release and wonders which of two traces it was, that "
        f"are nowhere further apart than {metres(hide)}, changes the odds by at most a "
        f"factor {odds:.4g}{chance}."
    )
    if guarantee.epsilon is not None:
        text += (
            f" Twice as far apart, by at most {odds * odds:.4g}. Traces much further "
            "apart can be told apart, by design."
        )
    if guarantee.seeded:
        text += " SEEDED: none of this holds for who knows the seed."
    return textwrap.fill(text, _WIDTH)


def noise_in_words(model: Any, noise: float) -> str:
    """How far a point is typically moved."""
    denoised = "before denoising" if model.denoise else "not denoised"
    m = model.n_coefficients_
    numbers = _SHAPES.get(m, f"{m} coefficients")
    return (
        f"typically {metres(noise)} at a point, {denoised}\n"
        f"  detail     {numbers} for each coordinate; what is finer is lost"
    )


def metres(distance: float) -> str:
    """A distance with three digits, in metres or kilometres."""
    if distance < 1000:
        return f"{distance:.3g} m"
    if distance < 1e6:
        return f"{distance / 1000:.3g} km"
    return f"{distance / 1000:,.0f} km"


def _hidden(guarantee: PrivacyGuarantee, domain: Any) -> float:
    """The metres within which the odds change by at most `_ODDS`, rounded down."""
    if guarantee.epsilon is not None:
        distance = math.log(_ODDS) / guarantee.epsilon
    else:
        rho = rho_for_approx_dp(math.log(_ODDS), _DELTA)
        distance = math.sqrt(rho / (guarantee.rho or 1.0))
    low, high = domain
    hidden = (distance - guarantee.distance_error) / math.sqrt(high - low)
    hidden *= _ROUND_DOWN
    if not hidden > 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(hidden)) - 2)
    return math.floor(hidden / step) * step
