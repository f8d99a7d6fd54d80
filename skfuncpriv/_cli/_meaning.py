"""A geo-private guarantee in plain words: metres and odds. Public facts only."""

from __future__ import annotations

import math
import textwrap
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from skfuncpriv.plotting._frame import detail_in_words
from skfuncpriv.privacy import PrivacyGuarantee, rho_for_approx_dp

WIDTH = 88
_ODDS = 3.0  # what a budget is translated into, where no odds were asked for
_DELTA = 1e-6  # the same for a rho without a delta
_ROUND_DOWN = 1 - 1e-12


def in_words(
    guarantee: PrivacyGuarantee,
    domain: Any,
    hide: float | None,
    odds: float | None,
    delta: float | None = None,
) -> str:
    """What the guarantee says of two traces, in metres that hold all the time."""
    chance = ""
    if guarantee.epsilon is None:
        chance = f" (but for a chance of {delta or _DELTA:g}"
        chance += ")" if hide is not None else "; another --delta, another distance)"
    if hide is None or odds is None:
        hide, odds = hidden(guarantee, domain, delta), _ODDS
    within = metres(rounded(hide, 3, up=False))
    text = (
        "In words: who sees the release and wonders which of two traces it was, that "
        f"are nowhere further apart than {within}, changes the odds by at most a "
        f"factor {rounded(odds, 4, up=True):g}{chance}."
    )
    if guarantee.epsilon is not None:
        text += (
            f" Twice as far apart, by at most {rounded(odds**2, 4, up=True):g}. Traces "
            "much further apart can be told apart, by design."
        )
    if guarantee.seeded:
        text += " SEEDED: none of this holds for who knows the seed."
    return text


def unit_in_words(
    guarantee: PrivacyGuarantee, domain: Any, hide: float | None, no_times: bool
) -> str:
    """What the L2 distance of the guarantee is, and the number that is added to it."""
    if hide is None:
        hide = hidden(guarantee, domain)
    unit = "m" if no_times else "m * sqrt(s)"
    error, distance = guarantee.distance_error, hide * math.sqrt(domain[1] - domain[0])
    text = (
        f"The L2 distance of the guarantee adds up over the domain, in {unit}: traces "
        f"that are {metres(hide)} apart all the time are {distance:.3g} apart."
    )
    if not error:
        return text
    text += f" The {error:g} beside it is what rounding in the computer may add, "
    if error < 0.01 * distance:
        share = rounded(100 * error / distance, 1, up=True)
        return f"{text}which is negligible: at most {share:g} % of that."
    return f"{text}which matters here: the budget is large."


def headline(
    guarantee: PrivacyGuarantee,
    hide: float | None,
    odds: float | None,
    delta: float | None,
) -> str:
    """The guarantee in a title: three digits, never better than what holds."""
    if hide is not None and odds is not None:
        within = metres(rounded(hide, 3, up=False))
        text = f"hidden within {within} at odds {rounded(odds, 3, up=True):g}"
        if guarantee.epsilon is None:
            text += f", but for a chance of {rounded(delta or 0, 3, up=True):g}"
    elif guarantee.epsilon is not None:
        text = f"epsilon = {rounded(guarantee.epsilon, 3, up=True):g} per unit of "
        text += "L2 distance"
    else:
        text = f"rho = {rounded(guarantee.rho or 0, 3, up=True):g} per squared unit of "
        text += "L2 distance"
    return text + (" - SEEDED: no privacy" if guarantee.seeded else "")


def noise_in_words(model: Any, noise: float) -> str:
    """How far a point is typically moved, and what is left out."""
    denoised = "before denoising" if model.denoise else "not denoised"
    return (
        f"{metres(noise)} {denoised}, plus the detail that is lost "
        f"({detail_in_words(model.n_coefficients_, is_plane=True)})"
    )


def metres(distance: float) -> str:
    """A distance with three digits, in metres or kilometres."""
    if distance < 999.5:
        return f"{distance:.3g} m"
    if distance < 999_500:
        return f"{distance / 1000:.3g} km"
    return f"{distance / 1000:,.0f} km"


def rounded(number: float, digits: int, *, up: bool) -> float:
    """A number >= 0 with so many digits, on the side that is safe to state."""
    exact = Decimal(repr(float(number)))
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(step, ROUND_CEILING if up else ROUND_FLOOR))


def filled(text: str) -> str:
    """Lines of a paragraph."""
    return textwrap.fill(text, WIDTH)


def hidden(
    guarantee: PrivacyGuarantee, domain: Any, delta: float | None = None
) -> float:
    """The metres within which the odds change by at most `_ODDS`, rounded down."""
    if guarantee.epsilon is not None:
        distance = math.log(_ODDS) / guarantee.epsilon
    else:
        rho = rho_for_approx_dp(math.log(_ODDS), delta or _DELTA)
        distance = math.sqrt(rho / (guarantee.rho or 1.0))
    low, high = domain
    radius = (distance - guarantee.distance_error) / math.sqrt(high - low)
    return rounded(max(radius * _ROUND_DOWN, 0.0), 3, up=False)
